//! Texts that are names of files: whoever leaves the `@` out gets the name instead of what is in the file.

use super::{assign, is_overloaded, is_text, takes_words};
use crate::output::remark;
use crate::style::Style;
use nesl_prim::Need;
use nesl_vcode::{Op, Program};
use std::ffi::OsString;
use std::path::Path;

/// Warns of words that are taken as texts, and are names of files.
pub fn warn_of_names(program: &Program, words: &[OsString], style: Style) {
    names_of_files(program, words).iter().for_each(|text| remark(&style.warning(text)));
}

/// What there is to say of such words. A program that opens files may want their names.
fn names_of_files(program: &Program, words: &[OsString]) -> Vec<String> {
    let mains = &program.mains;
    if words.is_empty() || takes_words(mains) || opens_files(program) {
        return Vec::new();
    }
    let Ok(given) = assign(mains, words) else { return Vec::new() };
    let Some(main) = mains.first() else { return Vec::new() };
    (main.parameters.iter().zip(given).enumerate())
        .filter(|(position, (parameter, _))| is_text(&parameter.shape) && !is_overloaded(mains, *position, parameter))
        .filter_map(|(_, (parameter, word))| {
            let word = word.filter(|word| Path::new(word).is_file())?.to_str()?;
            let is_plain = !word.starts_with(['@', '"']);
            is_plain.then(|| {
                format!("`{}` is the text \"{word}\", not the file of that name, which is @{word}", parameter.name)
            })
        })
        .collect()
}

/// Whether a program may open files.
fn opens_files(program: &Program) -> bool {
    let mut opens = false;
    for function in &program.functions {
        function.body.visit(&mut |instruction| {
            if let Op::Host(op) = &instruction.op {
                opens |= matches!(op.row().needs, Need::ReadFile | Need::WriteFile | Need::OpenFile);
            }
        });
    }
    opens
}
