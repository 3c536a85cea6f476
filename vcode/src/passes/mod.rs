//! The passes, one file each; the order and its reasons are in [`crate::pipeline`].
//!
//! Those that replace instructions where they stand are rules over one walk, [`rewrite`]; what counts as an effect is decided
//! in [`effect`].

pub mod copy;
pub mod count;
pub mod cse;
pub mod dead;
pub mod effect;
pub mod fold;
pub mod number;
pub mod rewrite;
pub mod simplify;

#[cfg(test)]
pub(crate) mod testing {
    //! Before and after, as text.

    use crate::parse::parse;
    use crate::program::Program;
    use crate::verify::verify;

    /// Checks that a pass turns one program into another.
    #[track_caller]
    pub(crate) fn becomes(pass: fn(&mut Program), before: &str, after: &str) {
        let mut program = parse(before).unwrap_or_else(|error| panic!("before: {error}"));
        assert_eq!(verify(&program), Ok(()), "before");
        pass(&mut program);
        assert_eq!(verify(&program), Ok(()), "after");
        let expected = parse(after).unwrap_or_else(|error| panic!("after: {error}"));
        assert_eq!(program.to_string(), expected.to_string());
    }

    /// Checks that a pass leaves a program alone.
    #[track_caller]
    pub(crate) fn stays(pass: fn(&mut Program), text: &str) {
        becomes(pass, text, text);
    }
}
