//! `--profile-html`: the lines of a program, as warm as they were busy, in one page that needs nothing else.

use super::ms;
use nesl_backend::Spent;
use nesl_prim::visible;
use nesl_span::{FileId, SourceFile, SourceMap, Span};
use std::collections::BTreeMap;

/// What of the page is the same for all.
const HEAD: &str = "\
<meta charset=\"utf-8\">
<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; font-family: ui-monospace, monospace; font-size: 13px }
td, th { padding: 0 .8em; text-align: right; white-space: pre; font-weight: normal }
td:last-child, th:last-child { text-align: left }
th, td:first-child { color: #777 }
</style>
";

/// The page.
pub fn page(places: &[(Span, Spent)], sources: &SourceMap) -> String {
    let mut files: BTreeMap<FileId, BTreeMap<usize, Spent>> = BTreeMap::new();
    let mut total = Spent::default();
    for &(place, spent) in places {
        let (line, _) = sources.line_column(place);
        files.entry(place.file).or_default().entry(line).or_default().add(spent);
        total.add(spent);
    }
    let first = files.keys().next().map_or_else(|| "nothing".to_owned(), |&id| sources.file(id).name.clone());
    let mut page = format!("<!doctype html>\n<title>{}: where the time went</title>\n{HEAD}", escaped(&first));
    page += &format!("<p>{:.3} ms in {} instructions</p>\n", ms(total.time), total.instructions);
    for (id, lines) in &files {
        page += &table(sources.file(*id), lines, total);
    }
    page
}

/// The lines of a file.
fn table(file: &SourceFile, lines: &BTreeMap<usize, Spent>, total: Spent) -> String {
    let mut text = format!(
        "<h2>{}</h2>\n<table>\n<tr><th>line<th>ms<th>share<th>instructions<th>bytes<th><th>source\n",
        escaped(&file.name)
    );
    for (number, source) in (1..).zip(file.text.lines()) {
        let source = escaped(source);
        let Some(spent) = lines.get(&number) else {
            text += &format!("<tr><td>{number}<td><td><td><td><td><td>{source}\n");
            continue;
        };
        let share = spent.time.as_secs_f64() / total.time.as_secs_f64().max(f64::MIN_POSITIVE);
        // Lines that took little can still be told from those that took nothing.
        let warmth = 0.05 + 0.8 * share.sqrt();
        let native = if spent.native { "native" } else { "" };
        text += &format!(
            "<tr style=\"background: rgba(255, 96, 0, {warmth:.2})\"><td>{number}<td>{:.3}<td>{:.1}%\
             <td>{}<td>{}<td>{native}<td>{source}\n",
            ms(spent.time),
            share * 100.0,
            spent.instructions,
            spent.bytes,
        );
    }
    text + "</table>\n"
}

/// A text that stands in a page as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible::line(text).chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::Origin;
    use std::time::Duration;

    #[test]
    fn lines_are_warm_by_their_share_and_texts_are_escaped() {
        let mut sources = SourceMap::default();
        let file = sources.add("a<b>.nesl", "one;\n\"<script>&\";\n\nfour;\n", Origin::User);
        let spent = |ms| Spent { time: Duration::from_millis(ms), instructions: ms, bytes: 8 * ms, native: false };
        let places =
            [(Span::new(file, 0, 3), spent(1)), (Span::new(file, 7, 9), spent(3)), (Span::new(file, 5, 6), spent(0))];
        let page = page(&places, &sources);
        assert!(page.starts_with("<!doctype html>\n<title>a&lt;b&gt;.nesl: where the time went</title>"), "{page}");
        assert!(page.contains("<p>4.000 ms in 4 instructions</p>"), "{page}");
        // 0.05 + 0.8 times the root of 1/4 and of 3/4.
        assert!(page.contains("0.45)\"><td>1<td>1.000<td>25.0%<td>1<td>8<td><td>one;\n"), "{page}");
        assert!(
            page.contains("0.74)\"><td>2<td>3.000<td>75.0%<td>3<td>24<td><td>&quot;&lt;script&gt;&amp;&quot;;\n"),
            "{page}"
        );
        assert!(page.contains("<tr><td>4<td><td><td><td><td><td>four;\n") && !page.contains("<script"), "{page}");
    }
}
