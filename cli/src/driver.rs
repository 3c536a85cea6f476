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
use nesl_frontend::{Diagnostic, Imports, Opened, Options, Reader, Session};
use nesl_prim::visible;
use nesl_span::{Origin, SourceMap};
use nesl_vcode::Program;
use nesl_vcode::pipeline::{self, PassError};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the text of a program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramText {
    /// A file.
    File(PathBuf),
    /// The standard input: a file that is called `-`.
    StandardInput,
    /// The command line: forms, each with or without its `;`.
    Forms(Vec<String>),
}

impl ProgramText {
    /// The file of this name.
    pub fn of(path: &Path) -> ProgramText {
        if path == "-" { ProgramText::StandardInput } else { ProgramText::File(path.to_owned()) }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            ProgramText::File(path) => path.display().to_string(),
            ProgramText::StandardInput => "<standard input>".to_owned(),
            ProgramText::Forms(_) => "<command line>".to_owned(),
        }
    }

    /// Whether it is in the stack format of CMU, by its name.
    pub fn is_stack_format(&self) -> bool {
        matches!(self, ProgramText::File(path) if is_stack_format(path))
    }

    /// Its text.
    ///
    /// # Errors
    /// If it cannot be read, is not text, or is longer than [`LONGEST_SOURCE`].
    pub fn read(&self, style: Style) -> Result<String, Stop> {
        match self {
            ProgramText::File(path) => read_source(path, style),
            ProgramText::StandardInput => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().take(LONGEST_SOURCE as u64 + 1).read_to_end(&mut bytes);
                read.map_err(|error| error.to_string())
                    .and_then(|_| source_text(bytes))
                    .map_err(|problem| style.failed(&format!("cannot read the program on standard input: {problem}")))
            }
            ProgramText::Forms(forms) => Ok(forms
                .iter()
                .map(|form| if form.trim_end().ends_with(';') { format!("{form}\n") } else { format!("{form};\n") })
                .collect()),
        }
    }
}

/// A file that has been checked: its forms, and the session that knows their names.
pub struct Checked {
    /// The library and the file.
    pub session: Session,
    /// Their texts.
    pub sources: SourceMap,
    /// The forms of the files that it imports, then its own, in order.
    pub forms: Vec<Form>,
    /// How many of them are of other files.
    pub imported: usize,
}

/// Compiles a program as far as engines need it.
///
/// # Errors
/// If its text cannot be read or has errors; warnings go to standard error.
pub fn compile(text: &ProgramText, style: Style) -> Result<(Program, SourceMap), Stop> {
    let (mut program, sources) = to_vcode(text, style)?;
    pipeline::optimise(&mut program, &pipeline::Options::default()).map_err(|error| pass_error(&error))?;
    Ok((program, sources))
}

/// Compiles another text in the place of a program as far as engines need it.
///
/// # Errors
/// If it has errors; warnings go to standard error, if they are wanted.
pub fn compile_text(
    source: &ProgramText,
    text: String,
    warns: bool,
    style: Style,
) -> Result<(Program, SourceMap), Stop> {
    let checked = check_text(source, text, warns, style)?;
    let mut program = flatten(&checked, style)?;
    pipeline::optimise(&mut program, &pipeline::Options::default()).map_err(|error| pass_error(&error))?;
    Ok((program, checked.sources))
}

/// Compiles a program to VCODE before any pass, whatever language it is in.
///
/// # Errors
/// If its text cannot be read or has errors; warnings go to standard error.
pub fn to_vcode(text: &ProgramText, style: Style) -> Result<(Program, SourceMap), Stop> {
    if text.is_stack_format() {
        return read_stack_format(text, style);
    }
    let checked = check(text, style)?;
    let program = flatten(&checked, style)?;
    Ok((program, checked.sources))
}

/// Whether a file is in the stack format of CMU, by its name.
pub fn is_stack_format(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "vcode")
}

fn read_stack_format(source: &ProgramText, style: Style) -> Result<(Program, SourceMap), Stop> {
    let text = source.read(style)?;
    let mut sources = SourceMap::default();
    let file = sources.add(source.name(), text.as_str(), Origin::User);
    let program = nesl_cmu::read(&text, file);
    let program = program.map_err(|error| style.failed(&format!("{}:{error}", source.name())))?;
    Ok((program, sources))
}

/// Reads and checks a program in a new session.
///
/// # Errors
/// If its text cannot be read or has errors; warnings go to standard error.
pub fn check(source: &ProgramText, style: Style) -> Result<Checked, Stop> {
    check_text(source, source.read(style)?, true, style)
}

fn check_text(source: &ProgramText, text: String, warns: bool, style: Style) -> Result<Checked, Stop> {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add(source.name(), text, Origin::User);
    let key = match source {
        ProgramText::File(path) => key(path),
        ProgramText::StandardInput | ProgramText::Forms(_) => None,
    };
    let imports = Imports::of(&mut sources, file, key.as_deref(), &mut Disk);
    let mut checked = session.check_with(&sources, file, &imports, Options::default());
    checked.diagnostics.retain(|diagnostic| warns || diagnostic.severity == Severity::Error);
    report(&checked.diagnostics, &sources, style)?;
    Ok(Checked { session, sources, forms: checked.forms, imported: checked.imported })
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

/// The files on disk: a path is seen from the folder of the file it stands in, and from the working folder where a text
/// is in no file.
pub struct Disk;

impl Reader for Disk {
    fn open(&mut self, importer: &str, path: &str) -> Result<Opened, String> {
        if path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        let path = imported(importer, path);
        if is_stack_format(&path) {
            return Err("it is VCODE, which has no definitions".to_owned());
        }
        // Who waits for a pipe, or reads the input of an editor that is served by this process, may wait for ever.
        if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err("it is no file, but a device or a pipe".to_owned());
        }
        let text = read_text(&path)?;
        let name = path.display().to_string();
        Ok(Opened { key: key(&path).unwrap_or_else(|| name.clone()), name, text })
    }
}

/// The file that a path means in the text that messages call `importer`.
pub fn imported(importer: &str, path: &str) -> PathBuf {
    let folder = if importer.starts_with('<') { None } else { Path::new(importer).parent() };
    folder.unwrap_or(Path::new("")).join(path)
}

/// The same for all paths to a file.
pub fn key(path: &Path) -> Option<String> {
    path.canonicalize().ok().map(|path| path.display().to_string())
}

/// The longest source that is read, in bytes. Nobody writes that much, and to compile a text takes many times its
/// length; what gives bytes without an end, such as a device, ends here.
pub const LONGEST_SOURCE: usize = 16 << 20;

/// The text of a source file.
///
/// # Errors
/// If it cannot be read, is not text, or is longer than [`LONGEST_SOURCE`].
pub fn read_source(path: &Path, style: Style) -> Result<String, Stop> {
    read_text(path).map_err(|problem| style.failed(&format!("cannot read {}: {problem}", path.display())))
}

fn read_text(path: &Path) -> Result<String, String> {
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Err("it is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    let read = |file: File| file.take(LONGEST_SOURCE as u64 + 1).read_to_end(&mut bytes);
    File::open(path).and_then(read).map_err(|error| error.to_string())?;
    source_text(bytes)
}

/// Bytes as the text of a program.
fn source_text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > LONGEST_SOURCE {
        return Err(too_long("it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..position].iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("line {line} is not valid UTF-8")
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
        PassError::UnknownPass(_) => Stop::usage(format!(
            "error: {error}; `nesl vcode --list-passes` lists them, and those for machine code are for --serial, those for \
             columns in parts for --partitioned"
        )),
        PassError::Input(_) => Stop::failed(format!("this is a bug in nesl: {error}")),
        PassError::Broken { listing, .. } => {
            Stop::reported(format!("{}\nthis is a bug in nesl: {error}", visible::text(listing)))
        }
    }
}
