//! Programs as text: `nesl fmt` lays them out, and the grammars of editors see in them what the lexer sees.

mod grammars;
mod layout;
