//! Hints for what other languages write, by the tokens around a fault, and the names that unreadable pieces declare.

use super::Place;
use crate::ast::Symbol;
use crate::syntax::v::token::Token;
use std::collections::HashSet;

/// Tokens around the one that does not fit.
pub(super) struct Spot<'t> {
    /// What stands before it.
    before: &'t [(Token, Place)],
    found: Option<&'t Token>,
    /// What stands after it.
    after: &'t [(Token, Place)],
}

impl<'t> Spot<'t> {
    /// The spot at a byte of a text.
    pub(super) fn at(tokens: &'t [(Token, Place)], start: u32) -> Spot<'t> {
        let index = tokens.partition_point(|(_, place)| place.start < start);
        let found = tokens.get(index).map(|(token, _)| token);
        Spot { before: &tokens[..index], found, after: tokens.get(index + 1..).unwrap_or(&[]) }
    }

    /// The token so many places before it, from 0.
    fn back(&self, count: usize) -> Option<&'t Token> {
        let index = self.before.len().checked_sub(count + 1)?;
        self.before.get(index).map(|(token, _)| token)
    }

    fn next(&self) -> Option<&'t Token> {
        self.after.first().map(|(token, _)| token)
    }

    /// Whether a statement, a parameter or a form begins so many tokens before it.
    fn begins(&self, count: usize) -> bool {
        matches!(self.back(count), None | Some(Token::Sign(";" | "{" | "}" | "(" | ",") | Token::Word("pure")))
    }

    /// Whether it stands outside of all braces.
    pub(super) fn is_outermost(&self) -> bool {
        let count = |sign: &'static str| self.before.iter().filter(|(token, _)| *token == Token::Sign(sign)).count();
        count("{") <= count("}")
    }

    /// Whether it may be the colon of a label, `again:`.
    pub(super) fn is_label(&self) -> bool {
        let is_first = matches!(self.back(1), Some(Token::Sign(";" | "{" | "}")));
        is_first && matches!(self.back(0), Some(Token::Name(_)))
    }

    /// Whether an operand was to stand here, of which the grammar names only the names.
    fn is_operand(&self, wanted: &str) -> bool {
        wanted == "a name" && matches!(self.back(0), Some(Token::Sign(sign)) if !matches!(*sign, "." | "->"))
    }

    /// What stands before the bracket `[` that is open here.
    fn before_bracket(&self) -> Option<&'t Token> {
        let mut closed = 0;
        for (index, (token, _)) in self.before.iter().enumerate().rev() {
            match token {
                Token::Sign("]" | ")" | "}") => closed += 1,
                Token::Sign("[") if closed == 0 => {
                    return self.before.get(index.checked_sub(1)?).map(|(token, _)| token);
                }
                Token::Sign("[" | "(" | "{") if closed > 0 => closed -= 1,
                Token::Sign("[" | "(" | "{" | ";") => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether it stands in the head of a `for`.
    fn is_in_for(&self) -> bool {
        let open = self.before.iter().rposition(|(token, _)| matches!(token, Token::Sign("(" | ")" | ";" | "{" | "}")));
        open.is_some_and(|open| {
            self.before[open].0 == Token::Sign("(")
                && open > 0
                && matches!(&self.before[open - 1].0, Token::Word("for"))
        })
    }

    /// Whether a struct of this name is defined before.
    fn is_struct(&self, name: &Symbol) -> bool {
        (self.before.windows(2))
            .any(|pair| pair[0].0 == Token::Word("struct") && pair[1].0 == Token::Name(name.clone()))
    }
}

/// The hint for what stands there; `wanted` is what was expected, in words.
pub(super) fn hint(spot: &Spot<'_>, wanted: &str) -> Option<String> {
    let own = |text: &str| Some(text.to_owned());
    match spot.found? {
        Token::Sign(":") | Token::Word("in") if spot.is_in_for() => own(
            "there is no loop over elements: write `for (int i = 0; i < $v; i++)`, or `[f(x) : x in v]` for a vector",
        ),
        Token::Word("for") if wanted.contains("`]`") => {
            own("an apply-to-each is `[f(x) : x in v]`, with a filter `[f(x) : x in v : x > 0]`")
        }
        Token::Word(word) if wanted.contains("a name") && is_end_of_name(spot.next()) => {
            Some(format!("`{word}` is a word of the language: choose another name"))
        }
        Token::Sign(",") if wanted.contains("`]`") => match spot.before_bracket() {
            Some(Token::Name(name)) => Some(format!("each index has its own brackets: `{name}[i][j]`")),
            Some(Token::Sign(")" | "]")) => own("each index has its own brackets: `v[i][j]`"),
            _ => None,
        },
        Token::Text(_) if matches!(spot.back(0), Some(Token::Text(_))) => {
            own("texts side by side are joined by `><`: `\"one\" >< \"other\"`")
        }
        Token::Sign("{") if wanted.contains("an expression") || spot.is_operand(wanted) => {
            own("a struct is written `(struct name){…}`, a vector `[…]`; braces alone stand only in declarations")
        }
        Token::Word("if" | "while" | "for" | "do" | "return" | "break" | "continue")
            if spot.is_outermost() && wanted.contains("a definition") =>
        {
            own("statements stand in functions: one before it may have been closed by a `}` too many")
        }
        Token::Int(end) if spot.back(0) == Some(&Token::Sign(":")) && spot.back(1) == Some(&Token::Int(0)) => {
            Some(format!("the numbers from 0 up to, but not including, {end} are `index({end})`"))
        }
        Token::Int(_) | Token::Sign("]" | "$") if wanted.contains("a name") || wanted.contains("`in`") => {
            let is_range = spot.before.iter().rev().take(2).any(|(token, _)| *token == Token::Sign(":"));
            is_range.then(|| "the numbers from 0 up to, but not including, n are `index(n)`".to_owned())
        }
        Token::Sign(":") if wanted.contains("`]`") => own("a part of a vector is `subseq(v, start, end)`"),
        Token::Sign("=") if spot.is_outermost() => match (spot.back(0), spot.back(1)) {
            (Some(Token::Name(name)), None | Some(Token::Sign(";" | "}"))) => {
                Some(format!("a global begins with its type: `{} = …;`", declared(spot.next(), name)))
            }
            _ => None,
        },
        Token::Name(word) if matches!(&**word, "and" | "or" | "not") => {
            own("the words for truth values are `&&`, `||` and `!`")
        }
        Token::Name(name) => match spot.back(0) {
            Some(Token::Name(ty)) if spot.begins(1) => type_hint(spot, ty, name),
            Some(Token::Word("if" | "while")) => own("a condition stands in parentheses: `if (x > 0) …`"),
            Some(Token::Sign("(" | ",")) if wanted.contains("a type") => match spot.next() {
                Some(Token::Name(parameter)) => type_hint(spot, name, parameter),
                _ => None,
            },
            _ => None,
        },
        Token::Int(_) | Token::Double(_) | Token::Sign("!" | "$" | "-")
            if matches!(spot.back(0), Some(Token::Word("if" | "while"))) =>
        {
            own("a condition stands in parentheses: `if (x > 0) …`")
        }
        Token::Word("int" | "double" | "char" | "bool") if spot.back(0) == Some(&Token::Sign("<")) => {
            match spot.back(1) {
                Some(Token::Name(name))
                    if matches!(&**name, "vector" | "Vector" | "list" | "List" | "array" | "Array") =>
                {
                    own("a vector is declared by `int v[*];`")
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether what follows shows that a name was meant.
fn is_end_of_name(next: Option<&Token>) -> bool {
    matches!(next, Some(Token::Sign("=" | ";" | "," | ")" | "[" | "(")))
}

/// The declaration of a name with this first value.
fn declared(value: Option<&Token>, name: &Symbol) -> String {
    match value {
        Some(Token::Double(_)) => format!("double {name}"),
        Some(Token::Char(_)) => format!("char {name}"),
        Some(Token::Text(_)) => format!("char {name}[*]"),
        Some(Token::Sign("[" | "{")) => format!("int {name}[*]"),
        Some(Token::Word("true" | "false")) => format!("bool {name}"),
        _ => format!("int {name}"),
    }
}

/// What stands in the place of a type and is none.
fn type_hint(spot: &Spot<'_>, ty: &Symbol, name: &Symbol) -> Option<String> {
    Some(match &**ty {
        _ if spot.is_struct(ty) => format!("the type is `struct {ty}`: write `struct {ty} {name}`"),
        "string" | "String" | "str" => format!("a text is a vector of characters: `char {name}[*]`"),
        "boolean" | "Boolean" | "Bool" | "_Bool" => format!("the type of truth values is `bool`: `bool {name}`"),
        "integer" | "Integer" | "Int" | "size_t" | "int64_t" | "int32_t" | "uint64_t" | "uint32_t" | "uint8_t" => {
            format!("there is one kind of `int`, of 64 bits with a sign: `int {name}`")
        }
        "real" | "Double" | "Float" => format!("the type of numbers with a point is `double`: `double {name}`"),
        "def" | "function" | "fn" | "func" | "fun" => {
            format!("a function begins with the type of its value: `int {name}(int x) {{ … }}`")
        }
        "let" | "var" | "val" | "final" | "mut" => {
            format!(
                "a declaration begins with a type: `{} = …;`",
                declared(spot.after.get(1).map(|(token, _)| token), name)
            )
        }
        "return" | "import" => return None,
        _ => format!("`{ty}` is no type: they are int, double, char, bool, and `struct name` of a struct"),
    })
}

/// The words that stand where a name was meant: what is wrong with them is said once.
pub(super) fn reserved<'t>(spot: &Spot<'t>, wanted: &str) -> Option<&'t str> {
    match spot.found? {
        Token::Word(word) if wanted.contains("a name") && is_end_of_name(spot.next()) => Some(word),
        _ => None,
    }
}

/// The names in the pieces that could not be read: what they declare is no news where it is used.
pub(super) fn unreadable_names(tokens: &[(Token, Place)], faults: impl Iterator<Item = u32>) -> HashSet<Symbol> {
    let ends = |token: &Token| matches!(token, Token::Sign(";" | "{" | "}"));
    let mut names = HashSet::new();
    for start in faults {
        let index = tokens.partition_point(|(_, place)| place.start < start);
        let first = tokens[..index].iter().rposition(|(token, _)| ends(token)).map_or(0, |end| end + 1);
        let last = tokens[index..].iter().position(|(token, _)| ends(token)).map_or(tokens.len(), |end| index + end);
        names.extend(tokens[first..last].iter().filter_map(|(token, _)| match token {
            Token::Name(name) => Some(name.clone()),
            _ => None,
        }));
    }
    names
}
