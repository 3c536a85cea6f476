//! Which tokens of V stand close to the one before them.

use crate::syntax::v::token::Token;

/// What a token is to its neighbours, where its sign alone does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An operand, or the end of one: an operator after it stands between two.
    Operand,
    /// An operator before its operand, or a star of a declaration.
    Prefix,
    /// `(` before what is called with it, or of a function's parameters, and `[` of an index or a dimension.
    Attached,
    /// The `)` of a cast: an operand follows.
    Cast,
    /// The `{` or `}` of values; that of statements stands apart.
    Values,
    Other,
}

/// A bracket that is open.
struct Open {
    /// What its closing one will be.
    close: Role,
    /// Whether it is a `{` of values.
    is_values: bool,
}

/// For each token whether no blank stands before it.
pub(super) fn tight(tokens: &[Token]) -> Vec<bool> {
    let mut open: Vec<Open> = Vec::new();
    let mut roles: Vec<Role> = Vec::with_capacity(tokens.len());
    let mut is_tight = Vec::with_capacity(tokens.len());
    // Whether the form at the top is a definition, whose brackets after `)` are dimensions of its result.
    let mut is_definition = false;
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| (&tokens[before], roles[before]));
        if open.is_empty() && before.is_none_or(|(before, _)| matches!(before, Token::Sign(";" | "}"))) {
            is_definition = is_type(token) || *token == Token::Word("pure");
        }
        is_definition &= *token != Token::Sign("=");
        let is_result = open.is_empty() && is_definition && matches!(before, Some((Token::Sign(")"), _)));
        let role = role(tokens, index, before, &mut open);
        is_tight.push(match (before, token) {
            (None, _) => true,
            (Some(_), Token::Sign("[")) if is_result => false,
            (Some((Token::Sign("]"), _)), Token::Sign("[")) if role == Role::Attached => true,
            (Some(before), _) => stands_close(before, token, role),
        });
        roles.push(role);
    }
    is_tight
}

fn is_type(token: &Token) -> bool {
    matches!(token, Token::Word("int" | "long" | "double" | "float" | "char" | "bool" | "void" | "struct" | "union"))
}

/// What the token with this index is; brackets are noted.
fn role(tokens: &[Token], index: usize, before: Option<(&Token, Role)>, open: &mut Vec<Open>) -> Role {
    let after_operand = before.is_some_and(|(_, role)| role == Role::Operand);
    match &tokens[index] {
        Token::Sign("(") => {
            let is_called = matches!(before, Some((Token::Name(_), Role::Operand)));
            let is_cast = !is_called && tokens.get(index + 1).is_some_and(is_type);
            let close = match before {
                // A statement follows.
                Some((Token::Word("if" | "while" | "for"), _)) => Role::Other,
                _ if is_cast => Role::Cast,
                _ => Role::Operand,
            };
            open.push(Open { close, is_values: false });
            if is_called { Role::Attached } else { Role::Other }
        }
        Token::Sign("[") => {
            open.push(Open { close: Role::Operand, is_values: false });
            if after_operand { Role::Attached } else { Role::Other }
        }
        Token::Sign("{") => {
            let is_inside = open.last().is_some_and(|open| open.is_values);
            let is_values = is_inside || matches!(before, Some((Token::Sign("="), _) | (_, Role::Cast)));
            open.push(Open { close: if is_values { Role::Operand } else { Role::Other }, is_values });
            if is_values { Role::Values } else { Role::Other }
        }
        Token::Sign(")" | "]" | "}") => open.pop().map_or(Role::Other, |open| open.close),
        Token::Sign("*") if before.is_some_and(|(token, _)| is_type(token)) || is_struct_name(tokens, index) => {
            Role::Prefix
        }
        Token::Sign("-" | "+" | "!" | "~" | "$" | "&" | "*") if !after_operand => Role::Prefix,
        // `i++` ends its operand, `++i` stands before it.
        Token::Sign("++" | "--") if !after_operand => Role::Prefix,
        Token::Sign("++" | "--") => Role::Operand,
        Token::Sign(_) => Role::Other,
        Token::Word("true" | "false") => Role::Operand,
        Token::Word(_) => Role::Other,
        Token::Int(_) | Token::Double(_) | Token::Char(_) | Token::Text(_) | Token::Name(_) | Token::Unreadable => {
            Role::Operand
        }
    }
}

/// Whether the token before is the name of a struct as a type.
fn is_struct_name(tokens: &[Token], index: usize) -> bool {
    index >= 2 && matches!(tokens[index - 2], Token::Word("struct" | "union"))
}

fn stands_close(before: (&Token, Role), token: &Token, role: Role) -> bool {
    match (before, token) {
        // `for (; i < n;)`: the semicolons of a head stand after blanks only where something is between them.
        ((Token::Sign(";"), _), Token::Sign(";" | ")")) => true,
        // `- -x` is not `--x`.
        ((Token::Sign(one @ ("-" | "+" | "&")), Role::Prefix), Token::Sign(other)) => !other.starts_with(one),
        ((Token::Sign("{"), _), Token::Sign("}")) => true,
        ((_, Role::Prefix), _) | (_, Token::Sign("," | ";" | ")" | "]" | "." | "->")) => true,
        ((Token::Sign("(" | "[" | "." | "->"), _) | (Token::Sign("{"), Role::Values), _) => true,
        (_, Token::Sign("}")) => role == Role::Operand,
        ((_, Role::Cast), Token::Sign("{")) => true,
        (_, Token::Sign("(" | "[")) => role == Role::Attached,
        (_, Token::Sign("++" | "--")) => role == Role::Operand,
        _ => false,
    }
}
