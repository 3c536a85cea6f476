//! The session that knows the library.
//!
//! Its files are checked one after another, but read side by side: half of the time to the first answer is reading
//! them.

use super::{Options, Session, check_forms};
use crate::infer::environment::Environment;
use crate::render;
use crate::syntax::nesl::parser::{Parsed, parse};
use crate::syntax::v::known::Declared;
use nesl_span::{FileId, Origin, SourceMap};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// The stack of a thread that reads files of the library, which nest little.
const STACK: usize = 8 << 20;

/// As many threads more are started, at most, to read files.
const HELPERS: usize = 3;

/// # Panics
/// If the library has errors: a bug.
pub(super) fn session(sources: &mut SourceMap) -> Session {
    let add = |&(name, text): &(&'static str, &'static str)| (sources.add(name, text, Origin::Library), name);
    let files: Vec<(FileId, &str)> = nesl_stdlib::FILES.iter().map(add).collect();
    let sources = &*sources;
    let read: Vec<OnceLock<Parsed>> = files.iter().map(|_| OnceLock::new()).collect();
    let get = |index: usize| read[index].get_or_init(|| parse(files[index].0, &sources.file(files[index].0).text));
    // From the last to the first, towards whoever checks them.
    let next = AtomicUsize::new(0);
    let help = || {
        while let Some(index) = files.len().checked_sub(next.fetch_add(1, Relaxed) + 1) {
            get(index);
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..cores.min(HELPERS + 1) {
            // Where the system allows no more threads, this one reads alone.
            if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        let environment = Environment { is_library: true, ..Environment::default() };
        let (library, modules, texts) = (Vec::new(), HashMap::new(), Vec::new());
        let mut session = Session { environment, library, modules, v: Declared::default(), texts };
        for (index, (_, name)) in files.iter().enumerate() {
            let parsed = get(index);
            let mut environment = std::mem::take(&mut session.environment);
            environment.is_everyday = name.starts_with(nesl_stdlib::EVERYDAY);
            let (environment, checked) =
                check_forms(environment, sources, &parsed.forms, parsed.diagnostics.clone(), Options::default());
            let Some(environment) = environment.filter(|_| checked.diagnostics.is_empty()) else {
                let messages = checked.diagnostics.iter().map(|problem| render::render(problem, sources, false));
                panic!("the library has errors:\n{}", messages.collect::<Vec<_>>().join("\n"));
            };
            session.environment = environment;
            session.library.extend(checked.forms);
        }
        session.environment.is_library = false;
        session.environment.is_everyday = false;
        let program = &mut session.environment.program;
        program.library_functions = program.functions.len();
        session.environment.library_datatypes = session.environment.datatype_count;
        session
    })
}
