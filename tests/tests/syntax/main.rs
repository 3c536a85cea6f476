//! Programs as text: `nesl fmt` lays them out, and the grammars of editors see in them what the lexer and the parser see.
//! What one syntax says of a program of the other does the same. Core has a text, too.

mod core;
mod grammars;
mod layout;
mod translation;
mod trees;
