//! The syntaxes in which a program may be written, a folder for each: text to tree, and tree to text.
//!
//! All of them end in the tree of [`crate::ast`], from where on a program has no syntax.

pub mod nesl;
pub mod v;

/// A syntax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// NESL, in files that end in `.nesl`, and wherever nothing says otherwise.
    #[default]
    Nesl,
    /// V, in files that end in `.v`.
    V,
}

impl Syntax {
    /// How the names of its files end.
    pub fn suffix(self) -> &'static str {
        match self {
            Syntax::Nesl => ".nesl",
            Syntax::V => ".v",
        }
    }

    /// The syntax of a file by its name.
    pub fn of(name: &str) -> Syntax {
        if name.ends_with(Syntax::V.suffix()) { Syntax::V } else { Syntax::Nesl }
    }
}
