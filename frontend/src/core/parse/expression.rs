//! Expressions of core: each gets the type that follows from its parts, unless it says another.

use super::{CoreParseProblem, Error, NO_SPAN, Parse, Parser, Sort};
use crate::ast::Symbol;
use crate::core::print::names::continues_word;
use crate::core::typing::type_of;
use crate::core::{Expr, ExprKind, FunctionId, GlobalId, Variable, VariableId};
use crate::ty::Type;
use nesl_prim::ScalarValue;

/// An expression that may still say its type.
struct Draft {
    kind: ExprKind,
    ty: Option<Type>,
    offset: usize,
}

/// A variable where it is bound, whose type may be that of its value.
pub(super) struct Binder {
    id: VariableId,
    name: Symbol,
    ty: Option<Type>,
    offset: usize,
}

impl Binder {
    /// The variable, if it is bound to a value of a type.
    pub(super) fn of(self, value: Option<Type>) -> Parse<Variable> {
        match self.ty.or(value) {
            Some(ty) => Ok(Variable { id: self.id, name: self.name, ty }),
            None => Err(Error { offset: self.offset, problem: CoreParseProblem::Untyped }),
        }
    }
}

fn finished(draft: Draft) -> Parse<Expr> {
    match draft.ty {
        Some(ty) => Ok(Expr { kind: draft.kind, ty, span: NO_SPAN }),
        None => Err(Error { offset: draft.offset, problem: CoreParseProblem::Untyped }),
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.draft().and_then(finished)
    }

    /// A variable where it is bound: `x#1`, `x#1 : int`.
    pub(super) fn binder(&mut self) -> Parse<Binder> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        let name = Symbol::from(self.name()?);
        let id = self.variable_number()?;
        let ty = if self.cursor.accept(":") { Some(self.ty()?) } else { None };
        Ok(Binder { id, name, ty, offset })
    }

    /// Makes a variable known to what stands behind it.
    pub(super) fn bind(&mut self, variable: &Variable) {
        self.variables.insert(variable.id, variable.ty.clone());
    }

    fn of(&self, offset: usize, kind: ExprKind) -> Draft {
        let ty = type_of(&kind, self.program, |id| self.variables.get(&id).cloned());
        Draft { kind, ty, offset }
    }

    fn boxed(&mut self) -> Parse<Box<Expr>> {
        self.expression().map(Box::new)
    }

    fn draft(&mut self) -> Parse<Draft> {
        self.nested(|parser| {
            parser.cursor.skip_blanks();
            let offset = parser.cursor.offset;
            let kind = if parser.accept_word("let") {
                parser.binding()?
            } else if parser.accept_word("if") {
                let condition = parser.boxed()?;
                parser.expect_word("then")?;
                let then_branch = parser.boxed()?;
                parser.expect_word("else")?;
                ExprKind::If { condition, then_branch, else_branch: parser.boxed()? }
            } else {
                return parser.operand();
            };
            Ok(parser.of(offset, kind))
        })
    }

    fn binding(&mut self) -> Parse<ExprKind> {
        let binder = self.binder()?;
        self.cursor.expect("=")?;
        let value = self.boxed()?;
        let variable = binder.of(Some(value.ty.clone()))?;
        self.bind(&variable);
        self.expect_word("in")?;
        Ok(ExprKind::Let { variable, value, body: self.boxed()? })
    }

    /// An expression with parts that are taken of it: `x#1.rest.first`.
    fn operand(&mut self) -> Parse<Draft> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        let mut draft = self.primary()?;
        loop {
            let part = if self.accept_here(".first") {
                ExprKind::First
            } else if self.accept_here(".rest") {
                ExprKind::Rest
            } else if self.accept_here(".payload") {
                ExprKind::Payload
            } else {
                return Ok(draft);
            };
            let whole = Box::new(finished(draft)?);
            draft = self.of(offset, part(whole));
        }
    }

    /// Reads a symbol if it stands next, without blanks before it.
    fn accept_here(&mut self, symbol: &str) -> bool {
        self.cursor.rest().starts_with(symbol) && self.cursor.accept(symbol)
    }

    fn primary(&mut self) -> Parse<Draft> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        if self.cursor.at("(") {
            return self.parenthesised();
        }
        if self.accept_word("construct") {
            self.cursor.expect("[")?;
            let ty = Some(self.ty()?);
            self.cursor.expect("]")?;
            return Ok(Draft { kind: ExprKind::Construct(self.argument()?), ty, offset });
        }
        let kind = if self.cursor.accept("[") {
            ExprKind::Sequence(self.list("]", Self::expression)?)
        } else if self.cursor.accept("{") {
            self.each()?
        } else if self.cursor.accept("$") {
            ExprKind::Global(GlobalId(self.reference(Sort::Global)?))
        } else if self.cursor.at("\"") {
            ExprKind::Constants(self.cursor.bytes()?.into_iter().map(ScalarValue::Char).collect())
        } else if self.accept_word("constants") {
            self.cursor.expect("[")?;
            ExprKind::Constants(self.list("]", |parser| Ok(parser.cursor.scalar("a scalar")?))?.into())
        } else if self.accept_word("closure") {
            let function = FunctionId(self.reference(Sort::Function)?);
            let type_arguments = self.type_arguments()?;
            self.cursor.expect("{")?;
            ExprKind::Closure { function, type_arguments, captured: self.list("}", Self::expression)? }
        } else if self.accept_word("apply") {
            let function = self.nested(Self::operand).and_then(finished)?;
            ExprKind::Apply { function: Box::new(function), argument: self.argument()? }
        } else if let Some(value) = self.literal()? {
            ExprKind::Literal(value)
        } else {
            self.mention()?
        };
        Ok(self.of(offset, kind))
    }

    /// A scalar if one stands next: `t` and the like are names where what follows says so.
    fn literal(&mut self) -> Parse<Option<ScalarValue>> {
        let rest = self.cursor.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit());
        let is_negative = rest.len() > digits.len() && digits.starts_with("inf");
        let names_something = |next: char| continues_word(next) || "([{@#".contains(next);
        let is_word = |word: &&str| rest.strip_prefix(*word).is_some_and(|behind| !behind.starts_with(names_something));
        let is_literal =
            is_number || is_negative || rest.starts_with('`') || ["t", "f", "nan", "inf"].iter().any(is_word);
        Ok(if is_literal { Some(self.cursor.scalar("a scalar")?) } else { None })
    }

    /// A variable, or a call.
    fn mention(&mut self) -> Parse<ExprKind> {
        let offset = self.cursor.offset;
        if !self.cursor.rest().starts_with('@') {
            self.name().or_else(|_| self.cursor.expected("an expression"))?;
        }
        if self.cursor.rest().starts_with('#') {
            return Ok(ExprKind::Variable(self.variable_number()?));
        }
        self.cursor.offset = offset;
        let function = FunctionId(self.reference(Sort::Function)?);
        let type_arguments = self.type_arguments()?;
        Ok(ExprKind::Call { function, type_arguments, argument: self.argument()? })
    }

    fn argument(&mut self) -> Parse<Box<Expr>> {
        self.parenthesised().and_then(finished).map(Box::new)
    }

    /// `()`, `(e)`, `(e, e)` or `(e : type)`.
    fn parenthesised(&mut self) -> Parse<Draft> {
        self.cursor.skip_blanks();
        let offset = self.cursor.offset;
        self.cursor.expect("(")?;
        if self.cursor.accept(")") {
            return Ok(self.of(offset, ExprKind::Unit));
        }
        let mut draft = self.draft()?;
        if self.cursor.accept(",") {
            let first = Box::new(finished(draft)?);
            let kind = ExprKind::Pair(first, self.boxed()?);
            draft = self.of(offset, kind);
        } else if self.cursor.accept(":") {
            draft.ty = Some(self.ty()?);
        }
        self.cursor.expect(")")?;
        Ok(draft)
    }

    /// What stands behind `{`: `each x#1 in v; y#2 in w | filter : body}`.
    fn each(&mut self) -> Parse<ExprKind> {
        self.expect_word("each")?;
        let mut sources = Vec::new();
        while !(self.cursor.at("|") || self.cursor.at(":")) {
            if !sources.is_empty() {
                self.cursor.expect(";")?;
            }
            let binder = self.binder()?;
            self.expect_word("in")?;
            let sequence = self.expression()?;
            let element = match &sequence.ty {
                Type::Sequence(element) => Some(Type::clone(element)),
                _ => None,
            };
            sources.push((binder.of(element)?, sequence));
        }
        sources.iter().for_each(|(variable, _)| self.bind(variable));
        let filter = if self.cursor.accept("|") { Some(self.boxed()?) } else { None };
        self.cursor.expect(":")?;
        let body = self.boxed()?;
        self.cursor.expect("}")?;
        Ok(ExprKind::Each { sources, filter, body })
    }
}
