//! What a text declares: heads of functions, structs and globals; and the variables of functions.

use super::loops::signature;
use super::statements::checked_length;
use super::{After, Context, Frame, FrameKind, Lowering};
use crate::ast::{
    Binding, DatatypeDefinition, Expr, ExprKind, FunctionDefinition, Name, Symbol, TopLevel, TopLevelKind, TypeExpr,
    TypeExprKind,
};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::analysis::declared_twice;
use crate::syntax::v::build::{bound, call, expr, int, library, name, variable, variables};
use crate::syntax::v::known::{Parameter, Signature, Structure};
use crate::syntax::v::tree::{
    Base, BaseKind, Declaration, Declarator, DimensionKind, Expression, ExpressionKind, Function, Item, ItemKind,
    Statement,
};
use crate::syntax::v::types::Type;
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// Learns what the text defines, before any of it is lowered: functions may call what stands below them.
    pub(super) fn heads(&mut self, items: &[Item]) {
        for item in items {
            if let ItemKind::Struct { name, fields } = &item.kind {
                self.structure(name, fields, item.span);
            }
        }
        for item in items {
            match &item.kind {
                ItemKind::Function(function) => self.head(function),
                ItemKind::Global(declaration) => {
                    for declarator in &declaration.declarators {
                        let ty = self.declared_type(&declaration.base, declarator);
                        self.first(&declarator.name);
                        self.definitions.globals.insert(declarator.name.symbol.clone(), ty);
                        self.definitions.functions.remove(&declarator.name.symbol);
                    }
                }
                _ => {}
            }
        }
        let missing: Vec<Name> = (items.iter())
            .filter_map(|item| match &item.kind {
                ItemKind::Function(function) if function.body.is_none() => Some(function.declarator.name.clone()),
                _ => None,
            })
            .filter(|head| {
                !items.iter().any(|item| match &item.kind {
                    ItemKind::Function(function) => {
                        function.body.is_some() && function.declarator.name.symbol == head.symbol
                    }
                    _ => false,
                })
            })
            .collect();
        for head in missing {
            let report = Diagnostic::error("E0209", format!("`{}` has no body", head.symbol), head.span);
            self.report(report.hint("functions may call what stands below them: heads alone are not needed"));
        }
    }

    /// Reports a name that is defined twice.
    fn first(&mut self, name: &Name) {
        if !self.named.insert(name.symbol.clone()) {
            let report = Diagnostic::error("E0206", format!("`{}` is defined twice", name.symbol), name.span);
            self.report(report.hint("a name means one thing in a file"));
        }
    }

    fn structure(&mut self, name: &Name, fields: &[Declaration], span: Span) {
        self.first(name);
        let mut known: Vec<(Symbol, Type)> = Vec::new();
        let (mut all_lengths, mut trees) = (Vec::new(), Vec::new());
        for declaration in fields {
            for declarator in &declaration.declarators {
                let field = &declarator.name;
                let ty = self.field_type(name, &declaration.base, declarator);
                if known.iter().any(|(name, _)| *name == field.symbol) {
                    let message = format!("`struct {}` has two fields `{}`", name.symbol, field.symbol);
                    self.report(Diagnostic::error("E0206", message, field.span));
                }
                trees.extend(ty.tree(field.span));
                known.push((field.symbol.clone(), ty));
                all_lengths.push(lengths(declarator));
            }
        }
        if known.is_empty() {
            self.report(Diagnostic::error("E0110", format!("`struct {}` has no fields", name.symbol), span));
            return;
        }
        let is_whole = trees.len() == known.len();
        let structure = Structure { fields: known, lengths: all_lengths, span: name.span };
        self.definitions.structures.insert(name.symbol.clone(), Arc::new(structure));
        if !is_whole {
            return;
        }
        let type_expr = match trees.len() {
            1 => trees.remove(0),
            _ => TypeExpr { kind: TypeExprKind::Tuple(trees), span },
        };
        let payload = crate::ast::Signature { type_expr, context: Vec::new(), span };
        let definition = DatatypeDefinition { name: name.clone(), payload };
        self.forms.push(TopLevel { kind: TopLevelKind::Datatype(definition), span });
    }

    /// The type of a field, which is not the struct itself.
    fn field_type(&mut self, structure: &Name, base: &Base, declarator: &Declarator) -> Type {
        match &base.kind {
            BaseKind::Struct(name) if name.symbol == structure.symbol => {
                let message = format!("`struct {}` cannot contain itself", name.symbol);
                let report = Diagnostic::error("E0224", message, name.span);
                let hint = format!(
                    "keep all of them in a vector, and here the index of one: `int {};`",
                    declarator.name.symbol
                );
                self.report(report.hint(hint));
                Type::Unknown
            }
            _ => self.declared_type(base, declarator),
        }
    }

    fn head(&mut self, function: &Function) {
        let name = &function.declarator.name;
        if function.body.is_some() {
            self.first(name);
        }
        let result = self.declared_type(&function.result, &function.declarator);
        let mut parameters: Vec<Parameter> = Vec::new();
        for (base, declarator) in &function.parameters {
            let is_shared =
                declarator.pointers.len() == 1 && (declarator.dimensions.is_empty() || declarator.is_grouped);
            let value = match is_shared {
                true => Declarator { pointers: Vec::new(), ..declarator.clone() },
                false => declarator.clone(),
            };
            let ty = self.declared_type(base, &value);
            let parameter = &declarator.name;
            if ty == Type::Void {
                let report = Diagnostic::error("E0202", "a parameter has a value, and `void` has none", base.span);
                self.report(report);
            }
            if is_shared && function.is_pure {
                let message = "a pure function changes nothing of its caller's";
                let report = Diagnostic::error("E0501", message, declarator.span).saying("this parameter is a pointer");
                self.report(report.hint("give the new value back by `return`"));
            }
            if parameters.iter().any(|known| known.name == parameter.symbol) {
                let message = format!("two parameters are called `{}`", parameter.symbol);
                self.report(Diagnostic::error("E0206", message, parameter.span));
            }
            parameters.push(Parameter { name: parameter.symbol.clone(), ty, is_shared });
        }
        let signature = Signature { is_pure: function.is_pure, parameters, result, span: name.span };
        self.definitions.functions.insert(name.symbol.clone(), Arc::new(signature));
        self.definitions.globals.remove(&name.symbol);
    }

    /// The type before the declared names.
    pub(super) fn base_type(&mut self, base: &Base) -> Type {
        match &base.kind {
            BaseKind::Int => Type::Int,
            BaseKind::Double => Type::Double,
            BaseKind::Char => Type::Char,
            BaseKind::Bool => Type::Bool,
            BaseKind::Void => Type::Void,
            BaseKind::Struct(name) => {
                if self.definitions.structures.contains_key(&name.symbol) {
                    return Type::Struct(name.symbol.clone());
                }
                let message = format!("there is no `struct {}`", name.symbol);
                let report = Diagnostic::error("E0207", message, name.span);
                let imported = self
                    .definitions
                    .structures
                    .keys()
                    .filter(|known| known.rsplit_once('.').is_some_and(|(_, own)| *own == *name.symbol));
                self.report(match imported.min() {
                    Some(known) => report.hint(format!("of the file that is imported there is a `struct {known}`")),
                    None => report.hint("a struct is defined above what uses it, at the top of the file"),
                });
                Type::Unknown
            }
            BaseKind::Union(_) => {
                self.no_unions(base.span);
                Type::Unknown
            }
        }
    }

    /// Reports a union.
    pub(super) fn no_unions(&mut self, at: Span) {
        let report = Diagnostic::error("E0502", "there are no unions", at);
        self.report(report.hint("write a struct with a field for each case, and one that says which it is"));
    }

    /// The type of a declared name.
    pub(super) fn declared_type(&mut self, base: &Base, declarator: &Declarator) -> Type {
        let mut ty = self.base_type(base);
        let at = declarator.span;
        if let Some(pointer) = declarator.pointers.first() {
            let report = match (declarator.dimensions.is_empty(), declarator.is_grouped) {
                (false, false) => Diagnostic::error("E0507", "there are no vectors of pointers", at)
                    .also(*pointer, "this makes the elements pointers")
                    .hint(match base.kind {
                        BaseKind::Char => "a text is a vector: texts are `char v[*][*]`",
                        _ => "make it a vector of what they point to",
                    }),
                _ if self.context.is_none() && self.frames.is_empty() => {
                    Diagnostic::error("E0504", "only a parameter can be a pointer", at).hint(match base.kind {
                        BaseKind::Char if declarator.pointers.len() > 1 => {
                            "texts are `char v[*][*]`, those of the command line `int main(int argc, char argv[*][*])`"
                        }
                        BaseKind::Char => "a text is a vector: `char s[*]`",
                        _ => "what is given and taken is a parameter `int *x` of a function that is not pure",
                    })
                }
                _ => Diagnostic::error("E0508", "there are no pointers but parameters", at).hint(match base.kind {
                    BaseKind::Char => "a text is a vector: `char s[*]`",
                    _ => "assignment copies: `int y = x;`; memory is a vector: `int v[*]`",
                }),
            };
            self.report(report);
            return Type::Unknown;
        }
        for dimension in declarator.dimensions.iter().rev() {
            if dimension.kind == DimensionKind::Unknown {
                let report = Diagnostic::error("E0505", "an array has a length", dimension.span);
                self.report(report.hint("a vector of any length is `v[*]`, an array of ten elements `v[10]`"));
            }
            ty = match ty {
                Type::Unknown => Type::Unknown,
                ty => Type::vector(ty),
            };
        }
        if matches!(&ty, Type::Vector(element) if **element == Type::Void) {
            self.report(Diagnostic::error("E0202", "there are no vectors of `void`", at));
            return Type::Unknown;
        }
        ty
    }

    /// A variable of a function.
    pub(super) fn declaration(&mut self, source: &Declaration, rest: &[Statement], bindings: &mut Vec<Binding>) {
        for declarator in &source.declarators {
            let ty = self.declared_type(&source.base, declarator);
            let span = declarator.span;
            if ty == Type::Void {
                self.report(Diagnostic::error("E0202", "a variable has a value, and `void` has none", span));
            }
            let length = fixed_length(declarator);
            if let Some(Expression { kind: ExpressionKind::Call { function, arguments }, span }) = &declarator.initial {
                let call = self.effective(function, arguments, *span);
                if call.changed.is_empty() {
                    let value = self.initial(call.value, &call.ty, &ty, declarator);
                    let symbol = self.declare(&declarator.name, ty, length, false);
                    bindings.push(Binding { pattern: variable(&symbol, declarator.name.span), value });
                } else {
                    self.declare(&declarator.name, ty, length, false);
                    let name = ExpressionKind::Name(declarator.name.clone());
                    let target = Expression { kind: name, span: declarator.name.span };
                    self.changing_call(call, Some(&target), bindings);
                }
                continue;
            }
            let value = match &declarator.initial {
                Some(initial) => {
                    let (value, from) = self.expression(initial, &ty);
                    Some(self.initial(value, &from, &ty, declarator))
                }
                // What is assigned before anybody looks needs no value now.
                None if is_assigned_first(&declarator.name.symbol, rest) => None,
                None => Some(self.zero_of(&ty, declarator)),
            };
            let symbol = self.declare(&declarator.name, ty, length, false);
            if let Some(value) = value {
                bindings.push(Binding { pattern: variable(&symbol, declarator.name.span), value });
            }
        }
    }

    fn initial(&mut self, value: Expr, from: &Type, ty: &Type, declarator: &Declarator) -> Expr {
        let value = self.fitted(value, from, ty, &format!("the first value of `{}`", declarator.name.symbol));
        let Some(length) = fixed_length(declarator) else { return value };
        match &declarator.initial {
            Some(source) => self.filled(value, source, ty, &lengths(declarator)),
            None => checked_length(value, length),
        }
    }

    /// What an array of these lengths begins with: as in C, braces leave zeros out at the end. What is written with
    /// another length is no array.
    pub(super) fn filled(&mut self, value: Expr, source: &Expression, ty: &Type, lengths: &[i64]) -> Expr {
        let (Type::Vector(element), Some((&length, inner))) = (ty, lengths.split_first()) else { return value };
        let span = value.span;
        let is_braces = matches!(source.kind, ExpressionKind::Braces(None, _));
        let written = match &value.kind {
            ExprKind::Sequence(elements) => elements.len(),
            ExprKind::Text(bytes) => bytes.len(),
            ExprKind::Empty(_) => 0,
            _ => return checked_length(value, length),
        };
        let written = i64::try_from(written).unwrap_or(i64::MAX);
        if written > length || written < length && !is_braces {
            let elements = if written == 1 { "1 element".to_owned() } else { format!("{written} elements") };
            let message = format!("an array of {length} gets a first value of {elements}");
            let report = Diagnostic::error("E0202", message, span);
            self.report(match (&value.kind, is_braces) {
                (ExprKind::Text(_), _) => report.hint("a text of any length is declared by `char s[*]`"),
                (_, true) => report.hint("a vector of any length is declared by `v[*]`"),
                _ => report.hint("braces fill up with zeros, `{1, 2}`; a vector of any length is declared by `v[*]`"),
            });
            return value;
        }
        let ExprKind::Sequence(elements) = value.kind else { return self.zeros_or(value, ty, lengths) };
        let elements = match &source.kind {
            ExpressionKind::Braces(None, sources) | ExpressionKind::Vector(sources) if !inner.is_empty() => {
                let parts = elements.into_iter().zip(sources);
                parts.map(|(part, source)| self.filled(part, source, element, inner)).collect()
            }
            _ => elements,
        };
        let begin = expr(ExprKind::Sequence(elements), span);
        match length - written {
            0 => begin,
            missing => {
                let zeros = library("dist", vec![self.zeros(element, inner, span), int(missing, span)], span);
                library("append", vec![begin, zeros], span)
            }
        }
    }

    /// A text as it is, and zeros in the place of no elements.
    fn zeros_or(&self, value: Expr, ty: &Type, lengths: &[i64]) -> Expr {
        match value.kind {
            ExprKind::Empty(_) => self.zeros(ty, lengths, value.span),
            _ => value,
        }
    }

    /// What a variable of a type begins with: zero, or nothing.
    pub(super) fn zero(&self, ty: &Type, span: Span) -> Expr {
        match ty {
            Type::Int => int(0, span),
            Type::Double => crate::syntax::v::build::double(0.0, span),
            Type::Bool => crate::syntax::v::build::boolean(false, span),
            Type::Char => expr(ExprKind::Literal(ScalarValue::Char(0)), span),
            Type::Vector(element) => expr(ExprKind::Empty(element.tree(span)), span),
            Type::Struct(symbol) => {
                let structure = self.definitions.structures.get(symbol).cloned();
                let fields = structure.iter().flat_map(|structure| structure.fields.iter().zip(&structure.lengths));
                let values = fields.map(|((_, ty), lengths)| self.zeros(ty, lengths, span)).collect();
                call(symbol, values, span, span)
            }
            Type::Pair(first, rest) => {
                let parts = vec![self.zero(first, span), self.zero(rest, span)];
                expr(ExprKind::Tuple(parts), span)
            }
            Type::Void | Type::Record(..) | Type::Unknown => expr(ExprKind::Unit, span),
        }
    }

    /// The same for a declared name, which may have lengths.
    fn zero_of(&self, ty: &Type, declarator: &Declarator) -> Expr {
        self.zeros(ty, &lengths(declarator), declarator.name.span)
    }

    /// Zeros in vectors of these lengths, from the outside in.
    fn zeros(&self, ty: &Type, lengths: &[i64], span: Span) -> Expr {
        match (ty, lengths.split_first()) {
            (Type::Vector(element), Some((length, inner))) => {
                let zero = self.zeros(element, inner, span);
                library("dist", vec![zero, int(*length, span)], span)
            }
            _ => self.zero(ty, span),
        }
    }

    /// Lowers a function.
    pub(super) fn function(&mut self, source: &'a Function, span: Span) {
        let Some(body) = &source.body else { return };
        let function = &source.declarator.name;
        let Some(signature_of) = self.definitions.functions.get(&function.symbol).cloned() else { return };
        self.context = Some(Context {
            name: function.symbol.clone(),
            signature: Arc::clone(&signature_of),
            loops: 0,
            end: source.end,
        });
        let mut bindings = Vec::new();
        let mut symbols = Vec::new();
        for ((_, declarator), parameter) in source.parameters.iter().zip(&signature_of.parameters) {
            let length = fixed_length(declarator);
            let symbol = self.declare(&declarator.name, parameter.ty.clone(), length, parameter.is_shared);
            if let Some(length) = length {
                let value = checked_length(name(&symbol, declarator.span), length);
                bindings.push(Binding { pattern: variable(&symbol, declarator.span), value });
            }
            symbols.push(symbol);
        }
        let taken: Vec<Symbol> = self.scope.iter().map(|local| local.name.clone()).collect();
        for name in declared_twice(body, taken) {
            let message = format!("`{}` is declared twice in this block", name.symbol);
            self.report(Diagnostic::error("E0206", message, name.span));
        }
        let scope = self.scope.len();
        self.frames.push(Frame {
            kind: FrameKind::Function,
            exits: Vec::new(),
            falls: true,
            variables: Vec::new(),
            scope,
        });
        let value = self.sequence(body, &After::End, source.end);
        self.frames.pop();
        self.scope.clear();
        self.context = None;
        let parameters: Vec<Type> = signature_of.parameters.iter().map(|parameter| parameter.ty.clone()).collect();
        let is_code = &*function.symbol == "main" && signature_of.result == Type::Int;
        let own = Some(signature_of.result.clone()).filter(|ty| *ty != Type::Void && !is_code);
        let shared = signature_of.parameters.iter().filter(|parameter| parameter.is_shared);
        let results: Vec<Type> = own.into_iter().chain(shared.map(|parameter| parameter.ty.clone())).collect();
        let definition = FunctionDefinition {
            name: function.clone(),
            parameter: variables(&symbols, function.span),
            keywords: Vec::new(),
            signature: signature(&parameters, &results, function.span),
            doc: None,
            body: Some(bound(bindings, value)),
        };
        self.forms.push(TopLevel { kind: TopLevelKind::Function(definition), span });
    }

    /// Lowers a global.
    pub(super) fn global(&mut self, source: &Declaration) {
        for declarator in &source.declarators {
            let ty = self.definitions.globals.get(&declarator.name.symbol).cloned().unwrap_or(Type::Unknown);
            let value = match &declarator.initial {
                Some(initial) => {
                    let (value, from) = self.expression(initial, &ty);
                    self.initial(value, &from, &ty, declarator)
                }
                None => self.zero_of(&ty, declarator),
            };
            let pattern = variable(&declarator.name.symbol, declarator.name.span);
            let kind = TopLevelKind::Assignment { pattern, value };
            self.forms.push(TopLevel { kind, span: declarator.span });
        }
    }

    /// Lowers an expression whose value is shown.
    pub(super) fn shown(&mut self, source: &'a Expression, span: Span) {
        let (value, _) = self.expression(source, &Type::Unknown);
        let value = match &value.kind {
            // What prints has no value to show.
            ExprKind::Call { function, .. } if matches!(&function.kind, ExprKind::Name(name) if &**name == "library.print_string") =>
            {
                let pattern = super::expressions::ignored(span);
                bound(vec![Binding { pattern, value }], expr(ExprKind::Unit, span))
            }
            _ => value,
        };
        self.forms.push(TopLevel { kind: TopLevelKind::Expression(value), span });
    }
}

/// The lengths of `int a[10][20]`, up to a dimension that has none.
fn lengths(declarator: &Declarator) -> Vec<i64> {
    let length = |kind: &DimensionKind| match kind {
        DimensionKind::Fixed(length) => Some(*length),
        DimensionKind::Any | DimensionKind::Unknown => None,
    };
    declarator.dimensions.iter().map_while(|dimension| length(&dimension.kind)).collect()
}

/// The length of `int a[10]`.
fn fixed_length(declarator: &Declarator) -> Option<i64> {
    lengths(declarator).first().copied()
}

/// Whether the first statement that mentions a variable gives it a value.
fn is_assigned_first(symbol: &Symbol, statements: &[Statement]) -> bool {
    use crate::syntax::v::analysis::{each_part, mentioned};
    use crate::syntax::v::tree::StatementKind;
    for statement in statements {
        if let StatementKind::Assignment { target, operator: None, value } = &statement.kind
            && matches!(&target.kind, ExpressionKind::Name(name) if name.symbol == *symbol)
        {
            let mut is_read = false;
            each_part(value, &mut |part| {
                is_read |= matches!(&part.kind, ExpressionKind::Name(name) if name.symbol == *symbol);
            });
            return !is_read;
        }
        if mentioned(&[statement], &[]).contains(symbol) {
            return false;
        }
    }
    true
}
