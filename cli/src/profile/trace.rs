//! `--trace`: when each thread of each rank was at which line, in the form that chrome://tracing and Perfetto read.

use nesl_backend::{Engine, Passage};
use nesl_prim::{Constants, Failure};
use nesl_span::SourceMap;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Bytes that ranks hand to rank 0 at once.
const AT_ONCE: usize = 1 << 16;

/// The events of a rank, each with a comma and a newline before it.
pub fn events(rank: usize, (passages, left_out): (&[Passage], usize), sources: &SourceMap) -> String {
    // Ranks have clocks of their own: what they have in common is the time of day.
    let (now, today) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let micros = |moment: Instant| {
        let (before, after) = (now.saturating_duration_since(moment), moment.saturating_duration_since(now));
        (today + after).saturating_sub(before).as_nanos() as f64 / 1e3
    };
    let mut text = String::new();
    let mut add = |event: serde_json::Value| text += &format!(",\n{event}");
    let name = if left_out == 0 {
        format!("rank {rank}")
    } else {
        format!("rank {rank}, without its last {left_out} passages")
    };
    add(json!({ "name": "process_name", "ph": "M", "pid": rank, "args": { "name": name } }));
    for thread in passages.iter().map(|passage| passage.thread).collect::<BTreeSet<_>>() {
        let name = if thread == 0 { "program".to_owned() } else { format!("helper {thread}") };
        add(json!({ "name": "thread_name", "ph": "M", "pid": rank, "tid": thread, "args": { "name": name } }));
    }
    for passage in passages {
        let (file, (line, _)) = (sources.file(passage.place.file), sources.line_column(passage.place));
        let source = file.text.lines().nth(line - 1).unwrap_or_default().trim();
        let duration = passage.end.saturating_duration_since(passage.begin).as_nanos() as f64 / 1e3;
        add(json!({
            "name": format!("{}:{line}", file.name), "ph": "X", "pid": rank, "tid": passage.thread,
            "ts": micros(passage.begin), "dur": duration,
            "args": { "source": source, "instructions": passage.instructions },
        }));
    }
    text
}

/// Writes the events of all ranks, which call this together: rank 0 to `out`, the others nothing.
///
/// # Errors
/// Those of the engine, and of the output on rank 0.
pub fn write<E: Engine>(engine: &mut E, own: String, out: &mut dyn Write) -> Result<io::Result<()>, Failure> {
    // What ranks have is put together as they put together what they read: as a column.
    let column = engine.import(Constants::Char(own.into_bytes())).map_err(|fault| fault.failure)?;
    let length = engine.length(&column);
    let mut written = out.write_all(b"[{\"name\": \"nesl\", \"ph\": \"M\", \"pid\": 0}");
    let mut start = 0;
    while start < length {
        let window = engine.fetch(&column, start, AT_ONCE.min(length - start)).map_err(|fault| fault.failure)?;
        start += window.elements.len();
        if let Constants::Char(bytes) = &window.elements {
            written = written.and_then(|()| out.write_all(bytes));
        }
    }
    Ok(written.and_then(|()| out.write_all(b"]\n")).and_then(|()| out.flush()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_backend::Reference;
    use nesl_span::{Origin, Span};
    use std::time::Duration;

    #[test]
    fn a_trace_is_json_with_an_event_for_each_passage() {
        let mut sources = SourceMap::default();
        let file = sources.add("a \"b\".nesl", "one;\n  two;\n", Origin::User);
        let begin = Instant::now();
        let passage = |thread, at, after: u64| Passage {
            place: Span::new(file, at, at + 1),
            thread,
            begin: begin + Duration::from_micros(after),
            end: begin + Duration::from_micros(after + 5),
            instructions: 3,
        };
        let passages = [passage(0, 0, 0), passage(2, 7, 10)];
        let mut written = Vec::new();
        write(&mut Reference::new(None), events(1, (&passages, 0), &sources), &mut written).unwrap().unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&written).unwrap();
        let events: Vec<_> = trace.as_array().unwrap().iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(events.len(), 2, "{trace}");
        assert_eq!(
            (&events[0]["name"], &events[0]["pid"], &events[0]["tid"]),
            (&"a \"b\".nesl:1".into(), &1.into(), &0.into())
        );
        assert_eq!((&events[1]["tid"], &events[1]["args"]["source"]), (&2.into(), &"two;".into()));
        let times = |event: &serde_json::Value, name: &str| event[name].as_f64().unwrap();
        assert!((times(events[1], "dur") - 5.0).abs() < 1e-6);
        // The time of day in microseconds: floats hold it to a quarter of one.
        assert!((times(events[1], "ts") - times(events[0], "ts") - 10.0).abs() <= 0.5, "{trace}");
    }
}
