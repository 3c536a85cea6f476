//! Hints for operands and arguments that would fit in another form: element by element, as text, in another order.
//!
//! A form is only proposed where its own types fit, with names that the texts of the operands do not use.

use super::Inference;
use crate::ast;
use crate::ty::Class;
use crate::typed::types::{Node, TypeId};
use nesl_prim::{ScalarOp, ScalarType};

/// Longer texts of a program are not repeated in a hint.
const LONGEST_QUOTED: usize = 40;

/// An operand in a hint: its type and its text.
type Operand<'t> = (TypeId, &'t str);

/// Names for elements, but for those that a text mentions.
fn free_names(texts: [&str; 2]) -> impl Iterator<Item = char> {
    let is_used = move |name: char| {
        let words = texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.into_iter().any(|word| word.chars().eq([name]))
    };
    "xyzuvwabcdghijkmnopqrs".chars().filter(move |&name| !is_used(name))
}

impl Inference<'_> {
    fn scalar_of(&self, ty: TypeId) -> Option<ScalarType> {
        match self.types.node(ty) {
            Node::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    fn element(&self, ty: TypeId) -> Option<TypeId> {
        match self.types.node(ty) {
            Node::Sequence(element) => Some(element),
            _ => None,
        }
    }

    fn is_text(&self, ty: TypeId) -> bool {
        self.element(ty).is_some_and(|element| self.scalar_of(element) == Some(ScalarType::Char))
    }

    /// The hint for operands that do not fit an operator.
    pub(super) fn operand_hint(
        &self,
        op: &str,
        types: (TypeId, TypeId),
        sources: (&ast::Expr, &ast::Expr),
    ) -> Option<String> {
        let text = |source: &ast::Expr, name| self.quote(source.span).map_or(name, str::to_owned);
        let (left, right) = (text(sources.0, "v".to_owned()), text(sources.1, "w".to_owned()));
        let sides = ((types.0, &*left), (types.1, &*right));
        let is_sequence = |ty| self.element(ty).is_some();
        let is_char = |ty| self.scalar_of(ty) == Some(ScalarType::Char);
        match op {
            "<-" if !is_sequence(types.0) => {
                return Some("to compare with a negative number write a space: a < -b".to_owned());
            }
            "||" if !is_sequence(types.0) => return Some("disjunction is `or`".to_owned()),
            "==" | "/=" if is_char(types.0) && self.is_text(types.1) => return self.character_hint(sources.1),
            "==" | "/=" if self.is_text(types.0) && is_char(types.1) => return self.character_hint(sources.0),
            "<" | "<=" | ">" | ">=" if self.is_text(types.0) && self.is_text(types.1) => {
                return self.order_hint(op, types.0, (&left, &right));
            }
            "*" if self.is_text(types.0) && self.scalar_of(types.1) == Some(ScalarType::Int) => {
                return Some(format!("a text so many times is repeat_string({left}, {right})"));
            }
            "*" if self.is_text(types.1) && self.scalar_of(types.0) == Some(ScalarType::Int) => {
                return Some(format!("a text so many times is repeat_string({right}, {left})"));
            }
            _ => {}
        }
        if matches!(op, "+" | "++")
            && let Some(joined) = self.joined_texts(sides)
        {
            return Some(joined);
        }
        if let Some(form) = self.by_element(op, sides.0, sides.1, &mut free_names([&left, &right])) {
            let is_other_reading = is_sequence(types.0) && is_sequence(types.1);
            let other = match op {
                "+" if is_other_reading => "; `++` joins sequences",
                "<" | "<=" | ">" | ">=" if is_other_reading => "; `sort` and `rank` order whole sequences",
                _ => "",
            };
            return Some(format!("for all elements write {form}{other}"));
        }
        let is_same = self.types.describe(types.0) == self.types.describe(types.1);
        match op {
            "+" if is_sequence(types.0) && is_same => Some(format!("`++` joins sequences: {left} ++ {right}")),
            "<" | "<=" | ">" | ">=" if is_same => self.order_hint(op, types.0, (&left, &right)),
            _ => self.pair_hint(op, sides),
        }
    }

    /// Texts that were to be joined, with each other or with other values.
    fn joined_texts(&self, ((left, one), (right, other)): (Operand<'_>, Operand<'_>)) -> Option<String> {
        // Of a value of an unknown type nobody can say whether it is text.
        let is_value = |ty| matches!(self.types.node(ty), Node::Scalar(_) | Node::Pair(..) | Node::Sequence(_));
        let is_texts = |ty| self.element(ty).is_some_and(|element| self.is_text(element));
        let is_char = |ty| self.scalar_of(ty) == Some(ScalarType::Char);
        match (self.is_text(left), self.is_text(right)) {
            (true, true) => Some(format!("write ++ to join sequences: {one} ++ {other}")),
            (true, false) if is_char(right) => Some(format!("`++` joins sequences: {one} ++ [{other}]")),
            (false, true) if is_char(left) => Some(format!("`++` joins sequences: [{one}] ++ {other}")),
            (true, false) if is_texts(right) => Some(format!("`++` joins sequences: [{one}] ++ {other}")),
            (false, true) if is_texts(left) => Some(format!("`++` joins sequences: {one} ++ [{other}]")),
            (true, false) if is_value(right) => Some(format!("`@` makes text of a value: {one} ++ @{other}")),
            (false, true) if is_value(left) => Some(format!("`@` makes text of a value: @{one} ++ {other}")),
            _ => None,
        }
    }

    /// The operation for all elements, as deep as the operands nest; none if its types would not fit either.
    fn by_element(
        &self,
        op: &str,
        left: Operand<'_>,
        right: Operand<'_>,
        names: &mut impl Iterator<Item = char>,
    ) -> Option<String> {
        let elements = (self.element(left.0), self.element(right.0));
        if elements == (None, None) {
            return None;
        }
        let mut sources = Vec::new();
        let mut side = |element: Option<TypeId>, (ty, text): Operand<'_>| {
            let Some(element) = element else { return Some((ty, text.to_owned())) };
            let name = names.next()?;
            sources.push(format!("{name} in {text}"));
            Some((element, name.to_string()))
        };
        let (one, other) = (side(elements.0, left)?, side(elements.1, right)?);
        let (one, other) = ((one.0, &*one.1), (other.0, &*other.1));
        let body = self.of_scalars(op, one, other).or_else(|| self.by_element(op, one, other, names))?;
        Some(format!("{{{body} : {}}}", sources.join("; ")))
    }

    /// An operation on scalars, where it fits or one of them only has to become a float.
    fn of_scalars(&self, op: &str, (left, one): Operand<'_>, (right, other): Operand<'_>) -> Option<String> {
        let takes = |left, right| ScalarOp::resolve(op, &[left, right]).is_some();
        if let (Node::Variable(Class::Number), true) =
            (self.types.node(left), self.types.root(left) == self.types.root(right))
        {
            return takes(ScalarType::Float, ScalarType::Float).then(|| format!("{one} {op} {other}"));
        }
        let (left, right) = (self.scalar_of(left)?, self.scalar_of(right)?);
        match (left, right) {
            _ if takes(left, right) => Some(format!("{one} {op} {other}")),
            (ScalarType::Int, ScalarType::Float) if takes(right, right) => Some(format!("float({one}) {op} {other}")),
            (ScalarType::Float, ScalarType::Int) if takes(left, left) => Some(format!("{one} {op} float({other})")),
            _ => None,
        }
    }

    /// How values are compared that `<` does not take.
    fn order_hint(&self, op: &str, ty: TypeId, (left, right): (&str, &str)) -> Option<String> {
        if self.is_text(ty) {
            return Some(match op {
                "<" => format!("strings are compared by string_less({left}, {right})"),
                ">" => format!("strings are compared by string_less({right}, {left})"),
                _ => format!("strings are compared by string_compare({left}, {right}) {op} 0"),
            });
        }
        let is_whole = matches!(self.types.node(ty), Node::Sequence(_) | Node::Pair(..));
        is_whole.then(|| {
            format!("`sort` and `rank` order values of any type: the first of two is sort([{left}, {right}])[0]")
        })
    }

    /// The hint for `parse_int(s) + 1`, whose operand is a number and whether it is one.
    fn pair_hint(&self, op: &str, ((left, one), (right, other)): (Operand<'_>, Operand<'_>)) -> Option<String> {
        let number = |ty| match self.types.node(ty) {
            Node::Pair(first, second) if self.scalar_of(second) == Some(ScalarType::Bool) => Some(first),
            _ => None,
        };
        let taken = |ty, text: &str| match number(ty) {
            Some(first) => (first, format!("first({text})")),
            None => (ty, text.to_owned()),
        };
        number(left).or(number(right))?;
        let (one, other) = (taken(left, one), taken(right, other));
        let form = self.of_scalars(op, (one.0, &*one.1), (other.0, &*other.1))?;
        Some(format!("this is a pair, a value and whether it is one: {form}"))
    }

    /// The hint for a sequence whose elements, at whatever depth, only have to become floats, or text.
    pub(super) fn elements_hint(&self, given: TypeId, wanted: TypeId, source: &ast::Expr) -> Option<String> {
        let (mut given, mut wanted, mut depth) = (given, wanted, 0);
        while let (Some(inner), Some(wanted_inner)) = (self.element(given), self.element(wanted)) {
            (given, wanted, depth) = (inner, wanted_inner, depth + 1);
        }
        let sequence = self.quote(source.span).filter(|text| text.len() <= LONGEST_QUOTED).unwrap_or("v");
        let mut names = free_names([sequence, "float"]);
        let path: Vec<char> = names.by_ref().take(depth).collect();
        let element = path.last().filter(|_| path.len() == depth)?;
        let body = match (self.scalar_of(given)?, self.scalar_of(wanted)) {
            (ScalarType::Int, Some(ScalarType::Float)) => format!("float({element})"),
            (ScalarType::Int | ScalarType::Float | ScalarType::Bool, None) if self.is_text(wanted) => {
                format!("@{element}")
            }
            _ => return None,
        };
        let sources = std::iter::once(sequence.to_owned()).chain(path.iter().map(char::to_string));
        let each = |body: String, (name, from): (&char, String)| format!("{{{body} : {name} in {from}}}");
        let parts: Vec<(&char, String)> = path.iter().zip(sources).collect();
        Some(format!("for all elements write {}", parts.into_iter().rev().fold(body, each)))
    }

    /// The hint for what is no index.
    pub(super) fn index_hint(&self, given: TypeId) -> Option<&'static str> {
        match self.types.node(given) {
            Node::Pair(..) => Some("in nested sequences indices follow one another: m[i][j]"),
            Node::Sequence(element) => match self.scalar_of(element)? {
                ScalarType::Int => Some("the elements at several indices are v -> indices"),
                ScalarType::Bool => Some("elements are chosen by a filter: {x in v | x > 0}"),
                _ => None,
            },
            _ => None,
        }
    }

    /// The hint for a string of one character where a character is needed.
    fn character_hint(&self, source: &ast::Expr) -> Option<String> {
        match &source.kind {
            ast::ExprKind::Text(bytes) if bytes.len() == 1 && bytes[0].is_ascii_graphic() => {
                Some(format!("a character is written `{}", char::from(bytes[0])))
            }
            _ => None,
        }
    }

    /// The hint for an argument that the function of this name does not take. `is_only` says that it has no other.
    pub(super) fn argument_hint(
        &mut self,
        name: &str,
        (given, wanted): (TypeId, TypeId),
        source: &ast::Expr,
        is_only: bool,
    ) -> Option<String> {
        let quote = self.quote(source.span).map(str::to_owned);
        let bare = |text: &str| {
            let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            inner.filter(|inner| !inner.contains(')')).unwrap_or(text).to_owned()
        };
        match name {
            "max" | "min" if matches!(self.types.node(given), Node::Sequence(_) | Node::Pair(..)) => {
                let place = usize::from(name == "max");
                return Some(format!("`sort` orders values of any type: of two it is sort([a, b])[{place}]"));
            }
            "max_val" if self.element(given).is_some_and(|element| self.scalar_of(element).is_none()) => {
                return Some("`sort` orders values of any type: the last is sort(v)[#v - 1]".to_owned());
            }
            "min_val" if self.element(given).is_some_and(|element| self.scalar_of(element).is_none()) => {
                return Some("`sort` orders values of any type: the first is sort(v)[0]".to_owned());
            }
            "lower_bound" | "upper_bound"
                if self.element(given).is_some_and(|element| self.scalar_of(element).is_none()) =>
            {
                let is_before = if name == "lower_bound" { "string_less(y, x)" } else { "not(string_less(x, y))" };
                return Some(format!("for keys of any type: partition_point(y => {is_before}, v)"));
            }
            "append" if self.element(wanted).is_some_and(|element| self.fits(given, element)) => {
                return Some("one element is appended by `snoc(v, x)`, or `v ++ [x]`".to_owned());
            }
            "enumerate" if self.element(given).is_some() => {
                let sequence = quote.map_or_else(|| "v".to_owned(), |text| bare(&text));
                let names: String = free_names([&sequence, "i"]).take(1).collect();
                return Some(format!(
                    "elements with their places: {{(i, {names}) : {names} in {sequence}; i in index(#{sequence})}}"
                ));
            }
            "split" if self.is_text(given) => {
                return Some("`split_string(s, separator)` has the parts of a text, `wordify(s)` its words".to_owned());
            }
            _ => {}
        }
        let element = self.element(given)?;
        // Of a text the characters are seldom meant.
        if !is_only || self.is_text(given) || !self.fits(element, wanted) {
            return None;
        }
        let sequence = bare(&quote?);
        Some(match self.element(element) {
            Some(_) => format!("for each inner sequence: {{{name}(v) : v in {sequence}}}"),
            None => {
                let element: String = free_names([&sequence, name]).take(1).collect();
                format!("for all elements write {{{name}({element}) : {element} in {sequence}}}")
            }
        })
    }

    /// Whether a type could be another.
    fn fits(&mut self, given: TypeId, wanted: TypeId) -> bool {
        let mark = self.types.mark();
        let fits = self.types.unify(given, wanted).is_ok();
        self.types.rollback(mark);
        fits
    }
}
