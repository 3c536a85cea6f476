//! The passes, one file each; the order and its reasons are in [`crate::pipeline`].
//!
//! Those that replace instructions where they stand are rules over one walk, [`rewrite`]; what counts as an effect is
//! decided in [`effect`].

pub mod accumulate;
pub mod beside;
pub mod bounds;
pub mod call_pattern;
pub mod checked;
pub mod copy;
pub mod count;
pub mod cse;
pub mod dead;
pub mod descriptor;
pub mod effect;
mod element;
mod entering;
pub mod expand_each;
pub mod fold;
pub mod fuse;
pub mod fuse_each;
pub mod grouped_reduce;
pub mod hoist;
pub mod hoist_common;
pub mod if_conversion;
pub mod inline;
pub mod keep_rows;
pub mod last_use;
mod linear;
pub mod narrow;
pub mod number;
pub mod parts;
pub mod peel;
pub mod read_early;
pub mod reduce_parts;
pub mod regular;
pub mod rematerialize;
pub mod rewrite;
pub mod rows;
pub(crate) mod scoped;
pub(crate) mod segments;
mod shared;
pub mod short_segments;
pub mod simplify;
pub mod sink;
pub mod sink_common;
mod size;
pub mod slice;
pub mod sort;
pub mod speculate;
mod strength;
pub mod unroll;
pub mod view;
pub mod windows;
mod within;
mod writer;
pub mod written_place;
pub mod zero_trip;

#[cfg(test)]
pub(crate) mod testing {
    //! Before and after, as text.

    use crate::parse::parse;
    use crate::program::Program;
    use crate::verify::verify;

    /// Checks that a pass turns one program into another.
    #[track_caller]
    pub(crate) fn becomes(pass: impl Fn(&mut Program), before: &str, after: &str) {
        let mut program = parse(before).unwrap_or_else(|error| panic!("before: {error}"));
        assert_eq!(verify(&program), Ok(()), "before");
        pass(&mut program);
        assert_eq!(verify(&program), Ok(()), "after");
        let expected = parse(after).unwrap_or_else(|error| panic!("after: {error}"));
        assert_eq!(program.to_string(), expected.to_string());
    }

    /// Checks what a pass makes of the body of a function, after removal of what is then not used. `signature` is all
    /// of the function's first line but its name.
    #[track_caller]
    pub(crate) fn body_becomes(pass: fn(&mut Program), signature: &str, before: &str, after: &str) {
        let text = |body: &str| format!("function f{signature} {{\n{body}\n}}");
        let mut expected = parse(&text(after)).unwrap_or_else(|error| panic!("after: {error}"));
        super::number::run(&mut expected);
        let tidied = |program: &mut Program| {
            pass(program);
            super::dead::run(program);
            super::number::run(program);
        };
        becomes(tidied, &text(before), &expected.to_string());
    }

    /// Checks that a pass leaves a program alone.
    #[track_caller]
    pub(crate) fn stays(pass: fn(&mut Program), text: &str) {
        becomes(pass, text, text);
    }
}
