//! Source to program: the whole path through the compiler, in one place.
//!
//! ```text
//! file ─ frontend ─▶ typed core ─ flatten ─▶ VCODE ─ pipeline ─▶ optimised, verified VCODE ─ crate::execute ─▶ an engine
//! ```

use crate::output::remark;
use crate::stop::Stop;
use crate::style::Style;
use nesl_frontend::core::Form;
use nesl_frontend::diagnostic::Severity;
use nesl_frontend::{Diagnostic, Options, Session};
use nesl_prim::visible;
use nesl_span::{Origin, SourceMap};
use nesl_vcode::Program;
use nesl_vcode::pipeline::{self, PassError};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file that has been checked: its forms, and the session that knows their names.
pub struct Checked {
    /// The library and the file.
    pub session: Session,
    /// Their texts.
    pub sources: SourceMap,
    /// The forms of the file, in order.
    pub forms: Vec<Form>,
}

/// Compiles a file as far as engines need it.
///
/// # Errors
/// If the file cannot be read or has errors; warnings go to standard error.
pub fn compile_file(path: &Path, style: Style) -> Result<(Program, SourceMap), Stop> {
    let (mut program, sources) = flatten_file(path, style)?;
    pipeline::optimise(&mut program, &pipeline::Options::default()).map_err(|error| pass_error(&error))?;
    Ok((program, sources))
}

/// Compiles a file to VCODE before any pass, whatever language it is in.
///
/// # Errors
/// If the file cannot be read or has errors; warnings go to standard error.
pub fn flatten_file(path: &Path, style: Style) -> Result<(Program, SourceMap), Stop> {
    if is_stack_format(path) {
        return read_stack_format(path, style);
    }
    let checked = check_file(path, style)?;
    let program = flatten(&checked, style)?;
    Ok((program, checked.sources))
}

/// Whether a file is in the stack format of CMU, by its name.
pub fn is_stack_format(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "vcode")
}

fn read_stack_format(path: &Path, style: Style) -> Result<(Program, SourceMap), Stop> {
    let text = read_source(path, style)?;
    let mut sources = SourceMap::default();
    let file = sources.add(path.display().to_string(), text.as_str(), Origin::User);
    let program = nesl_cmu::read(&text, file);
    let program = program.map_err(|error| style.failed(&format!("{}:{error}", path.display())))?;
    Ok((program, sources))
}

/// Reads and checks a file in a new session.
///
/// # Errors
/// If the file cannot be read or has errors; warnings go to standard error.
pub fn check_file(path: &Path, style: Style) -> Result<Checked, Stop> {
    let text = read_source(path, style)?;
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add(path.display().to_string(), text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    report(&checked.diagnostics, &sources, style)?;
    Ok(Checked { session, sources, forms: checked.forms })
}

/// The VCODE of a file as flattening makes it, with an entry for each instance of its `main`.
///
/// # Errors
/// Where the program does in parallel what is for serial code.
pub fn flatten(checked: &Checked, style: Style) -> Result<Program, Stop> {
    let session = &checked.session;
    // The library may have a function of that name; what counts is the file's own.
    let main = session.function("main").filter(|&main| !session.is_library_function(main));
    nesl_flatten::compile(session.program(), session.library(), &checked.forms, main).map_err(|errors| {
        let diagnostics: Vec<_> = errors.iter().map(|error| error.diagnostic(&checked.sources)).collect();
        report(&diagnostics, &checked.sources, style).err().unwrap_or_else(|| unreachable!("there are errors"))
    })
}

/// The longest source that is read, in bytes. Nobody writes that much, and to compile a text takes many times its
/// length; what gives bytes without an end, such as a device, ends here.
pub const LONGEST_SOURCE: usize = 16 << 20;

/// The text of a source file.
///
/// # Errors
/// If it cannot be read, is not text, or is longer than [`LONGEST_SOURCE`].
pub fn read_source(path: &Path, style: Style) -> Result<String, Stop> {
    let failed = |problem: String| style.failed(&format!("cannot read {}: {problem}", path.display()));
    let bytes = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(failed("it is a folder".to_owned())),
        _ => {
            let mut bytes = Vec::new();
            let read = |file: File| file.take(LONGEST_SOURCE as u64 + 1).read_to_end(&mut bytes);
            File::open(path).and_then(read).map_err(|error| failed(error.to_string()))?;
            bytes
        }
    };
    if bytes.len() > LONGEST_SOURCE {
        return Err(failed(too_long("it")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..position].iter().filter(|&&byte| byte == b'\n').count() + 1;
        failed(format!("line {line} is not valid UTF-8"))
    })
}

/// What is said of a text that is longer than [`LONGEST_SOURCE`].
pub fn too_long(what: &str) -> String {
    let limit = LONGEST_SOURCE >> 20;
    format!("{what} is longer than {limit} MiB; data belongs into files of its own, which `main` takes as arguments")
}

/// Prints warnings; errors become the end of the command, for people with a line that counts them.
///
/// # Errors
/// If there are errors.
pub fn report(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> Result<(), Stop> {
    let text: String = diagnostics.iter().map(|diagnostic| style.diagnostic(diagnostic, sources)).collect();
    match diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count() {
        0 => {
            remark(&text);
            Ok(())
        }
        _ if style == Style::Json => Err(Stop::reported(text)),
        1 => Err(Stop::reported(format!("{text}1 error"))),
        count => Err(Stop::reported(format!("{text}{count} errors"))),
    }
}

/// The end of a command whose pipeline failed: a bug of ours, unless a pass was named that does not exist.
pub fn pass_error(error: &PassError) -> Stop {
    match error {
        PassError::UnknownPass(_) => Stop::usage(format!("error: {error}; `nesl vcode --list-passes` lists them")),
        PassError::Input(_) => Stop::failed(format!("this is a bug in nesl: {error}")),
        PassError::Broken { listing, .. } => {
            Stop::reported(format!("{}\nthis is a bug in nesl: {error}", visible::text(listing)))
        }
    }
}
