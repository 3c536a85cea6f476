//! What is around a place of a text: the function, and the apply-to-eachs and branches within it.
//!
//! Run-time errors know spans alone; with this their messages say in which function, and whether the number of an
//! element is that of one apply-to-each.

use crate::ast::{BinaryOp, Binding, Expr, ExprKind, FunctionDefinition, PatternKind, Symbol, TopLevel, TopLevelKind};
use crate::syntax::v::LOOP;
use nesl_span::Span;

/// What is around a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The function whose definition it is in.
    pub function: Option<Symbol>,
    /// Whether what stands there is a loop of V, and called where it stands.
    pub is_loop: bool,
    /// The function inside of that which it is in; an empty name for one that has none.
    pub inner: Option<Symbol>,
    /// The apply-to-eachs whose body or filter it is in.
    pub eaches: usize,
    /// The branches around all of these that it is in: of an `if`, or of an `and` or `or`, whose right side is one too.
    pub branches_outside: usize,
    /// The branches inside of one of these that it is in; the body of one with a filter counts as one.
    pub branches_inside: usize,
    /// Whether the place is the selection of one element, `v[i]`.
    pub is_index: bool,
}

/// Whether a function is a loop of V.
fn is_loop(function: &FunctionDefinition) -> bool {
    function.name.symbol.contains(LOOP)
}

/// What is around a place of a text with these forms.
pub fn surroundings(forms: &[TopLevel], place: Span) -> Surroundings {
    let mut found = Surroundings::default();
    // The call of a loop stands where the loop does.
    let is_loop = |form: &TopLevel| matches!(&form.kind, TopLevelKind::Function(function) if is_loop(function));
    let is_around = |form: &&TopLevel| form.span.contains(place) && !(form.span == place && is_loop(form));
    let Some(form) = forms.iter().filter(is_around).min_by_key(|form| form.span.end - form.span.start) else {
        return found;
    };
    let mut next = match &form.kind {
        TopLevelKind::Function(function) => {
            // A loop of V is a part of the function that it stands in.
            let name = function.name.symbol.split_once(LOOP).map(|(name, _)| Symbol::from(name));
            found.is_loop = name.is_some();
            found.function = Some(name.unwrap_or_else(|| function.name.symbol.clone())).filter(|name| !name.is_empty());
            let defaults = function.keywords.iter().map(|keyword| &keyword.default);
            defaults.chain(&function.body).find(|part| part.span.contains(place))
        }
        TopLevelKind::Assignment { value, .. } | TopLevelKind::Expression(value) => Some(value),
        TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => None,
    };
    while let Some(expression) = next {
        found.is_index = matches!(expression.kind, ExprKind::Index { .. });
        next = found.enter(expression, place);
    }
    let is_datatype = |name: &mut Symbol| {
        forms
            .iter()
            .any(|form| matches!(&form.kind, TopLevelKind::Datatype(definition) if definition.name.symbol == *name))
    };
    found.inner.take_if(is_datatype);
    found
}

impl Surroundings {
    /// Notes what an expression means for the part of it that the place is in, and gives that part.
    fn enter<'a>(&mut self, expression: &'a Expr, place: Span) -> Option<&'a Expr> {
        let around = |part: &&Expr| part.span.contains(place);
        let in_branch = match &expression.kind {
            ExprKind::If { then_branch, else_branch, .. } => around(&&**then_branch) || around(&&**else_branch),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, right, .. } => around(&&**right),
            ExprKind::Each { body, filter, .. } => {
                let in_body = body.as_deref().is_some_and(|body| around(&body));
                let in_filter = filter.as_deref().is_some_and(|filter| around(&filter));
                self.eaches += usize::from(in_body || in_filter);
                in_body && filter.is_some()
            }
            ExprKind::Lambda { body, .. } => {
                if around(&&**body) {
                    self.inner = Some(Symbol::from(""));
                }
                false
            }
            ExprKind::Let { bindings, .. } => {
                // What looks like a record may be one that is taken apart, of a datatype that is known elsewhere.
                if let Some(Binding { pattern, .. }) = bindings.iter().find(|binding| around(&&binding.value))
                    && let PatternKind::Record(name, _) = &pattern.kind
                    && !name.symbol.contains('.')
                {
                    self.inner = Some(name.symbol.clone());
                }
                false
            }
            _ => false,
        };
        if in_branch {
            match self.eaches {
                0 => self.branches_outside += 1,
                _ => self.branches_inside += 1,
            }
        }
        expression.parts().into_iter().find(around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::nesl::parser;
    use nesl_span::FileId;

    /// What is around the first `!`, which is left out of the text, up to the second.
    fn around(text: &str) -> Surroundings {
        let start = text.find('!').expect("a place");
        let end = start + text[start + 1..].find('!').expect("the end of the place");
        let parsed = parser::parse(FileId(0), &text.replace('!', ""));
        assert_eq!(parsed.diagnostics, []);
        surroundings(&parsed.forms, Span::new(FileId(0), start, end))
    }

    #[test]
    fn functions_eaches_and_branches_are_found() {
        let nothing = Surroundings::default();
        assert_eq!(around("1; !1 / 0!;"), nothing);
        assert_eq!(around("v = !w[1]!;"), Surroundings { is_index: true, ..nothing.clone() });
        assert_eq!(around("{!1 / x! : x in v};").eaches, 1);
        assert_eq!(around("{x : x in {!1 / y! : y in v}};").eaches, 1);
        assert_eq!(around("{{!y / x! : y in w} : x in v};").eaches, 2);
        assert_eq!(around("{!1 / x! : x in v | x > 2};").branches_inside, 1);
        assert_eq!(around("{x in v | !1 / x! > 2};").branches_inside, 0);
        assert_eq!(around("{if x == 2 then !1 / x! else 1 : x in v};").branches_inside, 1);
        assert_eq!(
            around("{if x > 2 then x else if x > 0 and !1 / x! > 2 then 1 else 2 : x in v};").branches_inside,
            2
        );
        let outside = around("function g(x) = if x == 2 then {!1 / y! : y in v} else x;");
        let function = Some(Symbol::from("g"));
        assert_eq!(outside, Surroundings { function, eaches: 1, branches_outside: 1, ..nothing });
    }
}
