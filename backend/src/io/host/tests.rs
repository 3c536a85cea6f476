//! The system as programs see it: real files, real processes.

use super::*;
use std::sync::{Arc, Mutex};

/// Output that a test can look at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text(text: &str) -> HostValue {
    HostValue::text(text.as_bytes().to_vec())
}

fn perform(system: &mut System, op: HostOp, operands: &[HostValue]) -> Result<Vec<HostValue>, HostError> {
    system.perform(op, operands, &|length| 0..length)
}

fn open(system: &mut System, path: &std::path::Path, mode: i64) -> HostValue {
    perform(system, HostOp::Open, &[text(path.to_str().unwrap()), HostValue::int(mode)]).unwrap().remove(0)
}

fn said(result: Result<Vec<HostValue>, HostError>) -> String {
    match result {
        Err(HostError::Message(message)) => message,
        other => panic!("expected a message, got {other:?}"),
    }
}

#[test]
fn printed_and_written_text_share_one_order() {
    let shared = Shared::default();
    let mut system = System::printing_to(Box::new(shared.clone()));
    perform(&mut system, HostOp::Print, &[text("a")]).unwrap();
    perform(&mut system, HostOp::Write(ScalarType::Char), &[HostValue::int(1), text("b")]).unwrap();
    perform(&mut system, HostOp::Print, &[text("c")]).unwrap();
    system.flush().unwrap();
    assert_eq!(*shared.0.lock().unwrap(), b"abc");
}

#[test]
fn files_are_written_appended_and_read_by_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let mut system = System::default();
    for (mode, line) in [(2, "one two\n"), (3, "three")] {
        let stream = open(&mut system, &path, mode);
        perform(&mut system, HostOp::Write(ScalarType::Char), &[stream.clone(), text(line)]).unwrap();
        perform(&mut system, HostOp::Close, std::slice::from_ref(&stream)).unwrap();
        assert!(said(perform(&mut system, HostOp::Close, &[stream])).contains("is not open"));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"one two\nthree");
    let stream = open(&mut system, &path, 1);
    let mut read =
        |most| perform(&mut system, HostOp::Read, &[stream.clone(), text(" \n"), HostValue::int(most)]).unwrap();
    assert_eq!(read(-1), [text("one"), HostValue::int(32)]);
    assert_eq!(read(2), [text("tw"), HostValue::int(-2)]);
    assert_eq!(read(9), [text("o"), HostValue::int(10)]);
    assert_eq!(read(5), [text("three"), HostValue::int(-2)]);
    assert_eq!(read(5), [text(""), HostValue::int(-1)]);
    let refused = perform(&mut system, HostOp::Write(ScalarType::Char), &[stream, text("x")]);
    assert!(said(refused).contains("open for reading"));
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut system = System::default();
    let missing = folder.path().join("missing");
    let opened = perform(&mut system, HostOp::Open, &[text(missing.to_str().unwrap()), HostValue::int(1)]);
    assert!(said(opened).starts_with("cannot open "));
    let opened = perform(&mut system, HostOp::Open, &[text(folder.path().to_str().unwrap()), HostValue::int(1)]);
    assert!(said(opened).ends_with("it is a folder"));
    let read = perform(&mut system, HostOp::Read, &[HostValue::int(77), text(""), HostValue::int(1)]);
    assert_eq!(said(read), "stream 77 is not open");
}

#[test]
fn commands_run_and_talk() {
    let mut system = System::default();
    let input = "x\n".repeat(200_000);
    let output = perform(&mut system, HostOp::Run, &[text("cat"), text(&input)]).unwrap();
    assert_eq!(output[0].as_text(), input.as_bytes());
    assert!(said(perform(&mut system, HostOp::Run, &[text("false"), text("")])).contains("`false` ended with"));
    assert!(said(perform(&mut system, HostOp::Run, &[text("no-such-command"), text("")])).contains("cannot start"));
    assert!(said(perform(&mut system, HostOp::Run, &[text(" "), text("")])).contains("no command"));

    let pipe = HostValue::int(-1);
    let streams = perform(&mut system, HostOp::Spawn, &[text("cat"), pipe.clone(), pipe, HostValue::int(2)]).unwrap();
    perform(&mut system, HostOp::Write(ScalarType::Char), &[streams[0].clone(), text("hello\nrest")]).unwrap();
    let line = perform(&mut system, HostOp::Read, &[streams[1].clone(), text("\n"), HostValue::int(-1)]).unwrap();
    assert_eq!(line, [text("hello"), HostValue::int(10)]);
    perform(&mut system, HostOp::Close, &[streams[0].clone()]).unwrap();
    let rest = perform(&mut system, HostOp::Read, &[streams[1].clone(), text("\n"), HostValue::int(-1)]).unwrap();
    assert_eq!(rest, [text("rest"), HostValue::int(-1)]);
    assert_eq!(streams[2], HostValue::int(-1));
}

#[test]
fn the_environment_and_the_clock_answer() {
    let mut system = System::default();
    let path = perform(&mut system, HostOp::Environment, &[text("PATH")]).unwrap();
    assert_eq!(path[0].as_text(), std::env::var("PATH").unwrap().as_bytes());
    let unset = perform(&mut system, HostOp::Environment, &[text("NESL_NOT_SET")]).unwrap();
    assert_eq!(unset, [text(""), HostValue::Scalar(ScalarValue::Bool(false))]);
    let mut now = || match perform(&mut system, HostOp::Clock, &[HostValue::int(0)]).unwrap()[0] {
        HostValue::Scalar(ScalarValue::Float(seconds)) => seconds,
        ref other => panic!("{other:?}"),
    };
    let first = now();
    assert!(now() >= first);
}

/// The name of a new file that is to replace another.
fn begun(system: &mut System, path: &std::path::Path) -> HostValue {
    perform(system, HostOp::BeginFile, &[text(path.to_str().unwrap())]).unwrap().remove(0)
}

/// Writes a part of the elements of a file.
fn write_part(system: &mut System, part: &HostValue, skip: i64, before: usize, elements: Constants) {
    let operands = [part.clone(), HostValue::int(skip), HostValue::Column(elements)];
    system.perform(HostOp::WritePart(ScalarType::Int), &operands, &|length| before..before + length).unwrap();
}

fn end(system: &mut System, part: &HostValue, path: &std::path::Path, is_whole: bool) {
    let whole = HostValue::Scalar(ScalarValue::Bool(is_whole));
    perform(system, HostOp::EndFile, &[part.clone(), text(path.to_str().unwrap()), whole]).unwrap();
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn whole_files_are_written_by_parts_and_then_appear() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let numbers: Vec<i64> = (0..200_000).collect();
    for ranks in 1..5usize {
        std::fs::write(&path, "old").unwrap();
        let mut systems: Vec<System> = (0..ranks).map(|_| System::default()).collect();
        let part = begun(&mut systems[0], &path);
        write_part(&mut systems[0], &part, 0, 0, Constants::Char(b"head".to_vec()));
        // In any order: each knows where its part belongs.
        for rank in (0..ranks).rev() {
            let share = numbers.len() * rank / ranks..numbers.len() * (rank + 1) / ranks;
            let own = Constants::Int(numbers[share.clone()].to_vec());
            write_part(&mut systems[rank], &part, 4, share.start, own);
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        end(&mut systems[0], &part, &path, true);
        let expected = [b"head".to_vec(), numbers.iter().flat_map(|number| number.to_le_bytes()).collect()].concat();
        assert!(std::fs::read(&path).unwrap() == expected, "{ranks} ranks");
        assert_eq!(names_in(folder.path()), ["a"]);
    }
}

#[test]
fn what_is_not_whole_never_appears() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    std::fs::write(&old, "old").unwrap();
    let mut system = System::default();
    for path in [&old, &new] {
        let part = begun(&mut system, path);
        write_part(&mut system, &part, 0, 0, Constants::Int(vec![1, 2]));
        end(&mut system, &part, path, false);
    }
    // Interrupted, say.
    let part = begun(&mut system, &new);
    write_part(&mut system, &part, 0, 0, Constants::Int(vec![1, 2]));
    assert_eq!(names_in(folder.path()).len(), 2);
    drop(system);
    assert_eq!(names_in(folder.path()), ["old"]);
    assert_eq!(std::fs::read(&old).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn replacing_keeps_links_and_permissions_and_leaves_devices_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name);
    std::fs::write(name("file"), "old").unwrap();
    std::fs::set_permissions(name("file"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", name("link")).unwrap();
    symlink("nothing", name("dangling")).unwrap();
    let mut system = System::default();
    let part = begun(&mut system, &name("link"));
    end(&mut system, &part, &name("link"), true);
    assert!(std::fs::symlink_metadata(name("link")).unwrap().is_symlink());
    let metadata = std::fs::metadata(name("file")).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (0, 0o640));
    std::fs::hard_link(name("file"), name("other")).unwrap();
    for path in [name("file"), name("dangling"), folder.path().to_owned(), "/dev/null".into()] {
        assert_eq!(begun(&mut system, &path), text(""), "{}", path.display());
    }
    let missing = perform(&mut system, HostOp::BeginFile, &[text(name("no/file").to_str().unwrap())]);
    assert!(said(missing).starts_with("cannot open "));
}
