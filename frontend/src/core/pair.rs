//! Calls that do not wait for one another: `fib(n - 1) + fib(n - 2)` is an apply-to-each of two.
//!
//! ```text
//! let l = sort(a) in let g = filter(b) in let r = sort(g) in l ++ r
//!     =  let g = filter(b) in
//!        let both = {sort(v) : v in [a, g]} in
//!        let l = both[0] in let r = both[1] in l ++ r
//! ```
//!
//! This is done for calls of functions that call themselves other than at their end, and do nothing but give a value.
//! Divide and conquer is then parallel, and runs in the ways that an apply-to-each does, without anybody writing
//! braces. It is part of what a program means: the reference evaluator and flattening run the same core, so which error
//! counts, and how deep calls are, follow the rules of an apply-to-each.
//!
//! Calls are taken together where all of them are evaluated if one is: not across the branches of an `if`, the right
//! side of `and` and `or`, or a body of an apply-to-each. What all of them pass alike is not put in sequences, and so
//! not copied. Where two calls from elsewhere read the same sequences they stay: there is more in these to do at once
//! than two calls. What calls function values stays, too, as nobody knows what those do. In code that runs one instance
//! after another the pass `unroll` makes calls of them again.

#[cfg(test)]
mod tests;

use super::effects::Effects;
use super::tail::{Steps, connective};
use super::{Expr, ExprKind, Form, FunctionBody, FunctionId, Intrinsic, Program, Variable, VariableId, walk};
use crate::ast::Symbol;
use crate::ty::Type;
use nesl_prim::ScalarValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most calls that are taken together.
const MOST: usize = 16;

/// Takes calls together in forms, and in the functions that they define: those of the program from a number on, and
/// those of before whose bodies they replace.
pub fn pair_calls(program: &mut Program, from: usize, forms: &mut [Form]) {
    let defined = forms.iter().filter_map(|form| match form {
        Form::Function(id) => Some(*id),
        Form::Assignment { .. } | Form::Expression(_) => None,
    });
    let functions: BTreeSet<FunctionId> = defined.chain((from..program.functions.len()).map(FunctionId)).collect();
    let bodies = functions.iter().filter_map(|id| program.function(*id).expression());
    let Some(mut pairs) = Pairs::of(program, bodies.chain(forms.iter().filter_map(value))) else { return };
    for id in functions {
        if let Some(body) = program.function(id).expression()
            && pairs.has_candidates(body)
        {
            pairs.within = Some(id);
            let paired = Arc::new(pairs.block(program, Expr::clone(body)));
            if let FunctionBody::Defined { body, .. } = &mut program.functions[id.0].body {
                *body = paired;
            }
        }
    }
    pairs.within = None;
    for form in forms {
        if let Form::Assignment { value, .. } | Form::Expression(value) = form
            && pairs.has_candidates(value)
        {
            *value = Arc::new(pairs.block(program, Expr::clone(value)));
        }
    }
    program.variables = pairs.variables;
}

/// The expression of a form.
fn value(form: &Form) -> Option<&Expr> {
    match form {
        Form::Assignment { value, .. } | Form::Expression(value) => Some(value),
        Form::Function(_) => None,
    }
}

/// A call that has been taken out of an expression, and the variable that stands for it there.
struct Taken {
    variable: Variable,
    call: Expr,
}

/// A binding, or the value of a chain of bindings, without the calls that were taken out of it.
struct Item {
    variable: Option<Variable>,
    value: Expr,
}

struct Pairs {
    /// The functions whose calls are worth it.
    candidates: BTreeSet<FunctionId>,
    /// The function that is being changed, if it is one.
    within: Option<FunctionId>,
    /// `v[i]`.
    element: FunctionId,
    /// The next free variable.
    variables: usize,
}

impl Pairs {
    /// For these expressions; none if they have no two calls of a function whose calls are worth it.
    fn of<'a>(program: &'a Program, bodies: impl Iterator<Item = &'a Expr>) -> Option<Pairs> {
        let mut twice = BTreeSet::new();
        for body in bodies {
            let mut once = BTreeSet::new();
            twice.extend(walk::mentions(body).map(|(callee, _)| callee).filter(|&callee| !once.insert(callee)));
        }
        let own_calls = |id: FunctionId| {
            let mentions = program.function(id).expression().map(walk::mentions);
            mentions.into_iter().flatten().filter(move |(callee, _)| *callee == id).count()
        };
        twice.retain(|&id| own_calls(id) > 0);
        if twice.is_empty() {
            return None;
        }
        let (effects, steps) = (Effects::of(program), Steps::of(program));
        twice.retain(|&id| {
            let ends = program.function(id).expression().map_or(0, |body| steps.count(program, body, id, id));
            ends < own_calls(id) && !effects.function(id).any() && !calls_values(program, id)
        });
        let is_element = |body: &FunctionBody| matches!(body, FunctionBody::Intrinsic(Intrinsic::Elt));
        let element = FunctionId(program.functions.iter().position(|function| is_element(&function.body))?);
        Some(Pairs { candidates: twice, within: None, element, variables: program.variables })
    }

    /// Whether an expression has two calls that may be taken together.
    fn has_candidates(&self, expr: &Expr) -> bool {
        let is_call =
            |part: &&Expr| matches!(&part.kind, ExprKind::Call { function, .. } if self.candidates.contains(function));
        walk::parts(expr).filter(is_call).nth(1).is_some()
    }

    fn variable(&mut self, name: &str, ty: Type) -> Variable {
        self.variables += 1;
        Variable { id: VariableId(self.variables - 1), name: Symbol::from(name), ty }
    }

    /// An expression all of whose bindings are evaluated if one is, with its calls taken together.
    fn block(&mut self, program: &Program, expr: Expr) -> Expr {
        let mut chain = Chain::default();
        let mut rest = expr;
        loop {
            let (variable, value, next) = match rest.kind {
                ExprKind::Let { variable, value, body } => (Some(variable), *value, Some(*body)),
                _ => (None, rest, None),
            };
            let mut calls = Vec::new();
            let value = match value.kind {
                ExprKind::Let { .. } => self.block(program, value),
                _ => self.take_calls(program, value, &mut calls),
            };
            chain.add(self, Item { variable, value }, calls);
            match next {
                Some(next) => rest = next,
                None => break,
            }
        }
        chain.finish(self)
    }

    /// An expression without the calls that are evaluated whenever it is: variables stand for them. Of nested ones the
    /// inner are taken. What is evaluated only sometimes is a block of its own.
    fn take_calls(&mut self, program: &Program, mut expr: Expr, calls: &mut Vec<Taken>) -> Expr {
        let before = calls.len();
        let is_connective = connective(program, &expr).is_some();
        let always = match &expr.kind {
            ExprKind::If { .. } => 1,
            _ if is_connective => 1,
            ExprKind::Each { sources, .. } => sources.len(),
            _ => usize::MAX,
        };
        let parts = match &mut expr.kind {
            ExprKind::Call { argument, .. } if is_connective => walk::direct_parts_mut(argument),
            _ => walk::direct_parts_mut(&mut expr),
        };
        for (index, part) in parts.into_iter().enumerate() {
            let unit = Expr { kind: ExprKind::Unit, ty: Type::Unit, span: part.span };
            let whole = std::mem::replace(part, unit);
            *part = match whole.kind {
                ExprKind::Let { .. } => self.block(program, whole),
                _ if index >= always => self.block(program, whole),
                _ => self.take_calls(program, whole, calls),
            };
        }
        match &expr.kind {
            // What waits for one that has been taken stays.
            ExprKind::Call { function, .. } if self.candidates.contains(function) && calls.len() == before => {
                let variable = self.variable("result", expr.ty.clone());
                let stand_in = Expr { kind: ExprKind::Variable(variable.id), ty: expr.ty.clone(), span: expr.span };
                calls.push(Taken { variable, call: expr });
                stand_in
            }
            _ => expr,
        }
    }

    /// The results of calls of one function as elements of an apply-to-each; none if they cannot be that.
    fn together(&mut self, calls: &[Taken]) -> Option<Vec<(Variable, Expr)>> {
        let Expr { kind: ExprKind::Call { function, type_arguments, .. }, ty, span } = &calls.first()?.call else {
            return None;
        };
        let arguments: Vec<&Expr> = calls.iter().filter_map(|taken| argument(&taken.call)).collect();
        let mut sources = Vec::new();
        let (argument, reads_alike) = (self.common(&arguments, &mut sources), shares_sequences(&arguments));
        let is_elsewhere = self.within != Some(*function);
        if sources.is_empty() || calls.len() > MOST || (is_elsewhere && reads_alike) {
            return None;
        }
        let call = ExprKind::Call {
            function: *function,
            type_arguments: type_arguments.clone(),
            argument: Box::new(argument),
        };
        let body = Box::new(Expr { kind: call, ty: ty.clone(), span: *span });
        let all = Type::Sequence(Arc::new(ty.clone()));
        let each = Expr { kind: ExprKind::Each { sources, filter: None, body }, ty: all.clone(), span: *span };
        let results = self.variable("results", all.clone());
        let (element, id) = (self.element, results.id);
        let mut bindings = vec![(results, each)];
        bindings.extend(calls.iter().enumerate().map(|(index, Taken { variable, call })| {
            let expr = |kind, ty| Expr { kind, ty, span: call.span };
            let sequence = expr(ExprKind::Variable(id), all.clone());
            let number = expr(ExprKind::Literal(ScalarValue::Int(index as i64)), Type::INT);
            let pair_type = Type::Pair(Arc::new(all.clone()), Arc::new(Type::INT));
            let argument = Box::new(expr(ExprKind::Pair(Box::new(sequence), Box::new(number)), pair_type));
            let kind = ExprKind::Call { function: element, type_arguments: vec![ty.clone()], argument };
            (variable.clone(), expr(kind, ty.clone()))
        }));
        Some(bindings)
    }

    /// One argument for these, of which there is at least one: what differs becomes the variable of a source.
    fn common(&mut self, arguments: &[&Expr], sources: &mut Vec<(Variable, Expr)>) -> Expr {
        let first = arguments[0];
        if arguments.iter().all(|argument| is_same(first, argument)) {
            return first.clone();
        }
        let pairs: Vec<(&Expr, &Expr)> = (arguments.iter())
            .filter_map(|argument| match &argument.kind {
                ExprKind::Pair(first, rest) => Some((&**first, &**rest)),
                _ => None,
            })
            .collect();
        if pairs.len() == arguments.len() {
            let (firsts, rests): (Vec<&Expr>, Vec<&Expr>) = pairs.into_iter().unzip();
            let (common, rest) = (self.common(&firsts, sources), self.common(&rests, sources));
            let kind = ExprKind::Pair(Box::new(common), Box::new(rest));
            return Expr { kind, ty: first.ty.clone(), span: first.span };
        }
        let variable = self.variable("argument", first.ty.clone());
        let kind = ExprKind::Variable(variable.id);
        let elements = arguments.iter().map(|&argument| argument.clone()).collect();
        let all = Type::Sequence(Arc::new(first.ty.clone()));
        sources.push((variable, Expr { kind: ExprKind::Sequence(elements), ty: all, span: first.span }));
        Expr { kind, ty: first.ty.clone(), span: first.span }
    }
}

/// A chain of bindings that is being made again, in the order in which they will be evaluated.
#[derive(Default)]
struct Chain {
    done: Vec<(Variable, Expr)>,
    /// The calls that wait for more of them.
    calls: Vec<Taken>,
    /// What waits for them, in order.
    waiting: Vec<Item>,
    /// The variables that these will bind.
    awaited: BTreeSet<VariableId>,
}

impl Chain {
    /// Adds a binding with the calls that were taken out of it.
    fn add(&mut self, pairs: &mut Pairs, item: Item, calls: Vec<Taken>) {
        if calls.iter().any(|taken| mentions_any(&taken.call, &self.awaited)) {
            self.flush(pairs);
        }
        let waits = !calls.is_empty() || item.variable.is_none() || mentions_any(&item.value, &self.awaited);
        self.awaited.extend(calls.iter().map(|taken| taken.variable.id));
        self.calls.extend(calls);
        match item {
            Item { variable: Some(variable), value } if !waits => self.done.push((variable, value)),
            item => {
                self.awaited.extend(item.variable.iter().map(|variable| variable.id));
                self.waiting.push(item);
            }
        }
    }

    /// Makes the calls that wait, and what waits for them.
    fn flush(&mut self, pairs: &mut Pairs) {
        self.awaited.clear();
        let mut alone: BTreeMap<VariableId, Expr> = BTreeMap::new();
        let mut rest = std::mem::take(&mut self.calls);
        while let Some(first) = rest.first() {
            let key = callee(&first.call).map(|(id, types)| (id, types.to_vec()));
            let (same, others): (Vec<Taken>, Vec<Taken>) =
                rest.into_iter().partition(|taken| callee(&taken.call).map(|(id, types)| (id, types.to_vec())) == key);
            rest = others;
            match pairs.together(&same).filter(|_| same.len() > 1) {
                Some(bindings) => self.done.extend(bindings),
                None => alone.extend(same.into_iter().map(|taken| (taken.variable.id, taken.call))),
            }
        }
        for Item { variable, mut value } in std::mem::take(&mut self.waiting) {
            put_back(&mut value, &mut alone);
            match variable {
                Some(variable) => self.done.push((variable, value)),
                None => self.waiting.push(Item { variable, value }),
            }
        }
    }

    /// The expression: the last item is its value.
    fn finish(mut self, pairs: &mut Pairs) -> Expr {
        self.flush(pairs);
        let Some(Item { value, .. }) = self.waiting.pop() else { unreachable!("a chain ends with its value") };
        self.done.into_iter().rev().fold(value, |body, (variable, value)| {
            let (ty, span) = (body.ty.clone(), body.span);
            Expr { kind: ExprKind::Let { variable, value: Box::new(value), body: Box::new(body) }, ty, span }
        })
    }
}

/// The function that an expression calls, and its type arguments.
fn callee(expr: &Expr) -> Option<(FunctionId, &[Type])> {
    match &expr.kind {
        ExprKind::Call { function, type_arguments, .. } => Some((*function, type_arguments)),
        _ => None,
    }
}

/// The argument of a call.
fn argument(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call { argument, .. } => Some(argument),
        _ => None,
    }
}

/// Whether a function may come to call function values, or what is not defined yet.
fn calls_values(program: &Program, id: FunctionId) -> bool {
    let (mut known, mut waiting) = (BTreeSet::from([id]), vec![id]);
    while let Some(next) = waiting.pop() {
        let body = match &program.function(next).body {
            FunctionBody::Defined { body, .. } => body,
            FunctionBody::Intrinsic(_) => continue,
            FunctionBody::Missing => return true,
        };
        if walk::parts(body).any(|part| matches!(part.kind, ExprKind::Apply { .. })) {
            return true;
        }
        waiting.extend(walk::mentions(body).map(|(callee, _)| callee).filter(|&callee| known.insert(callee)));
    }
    false
}

/// Whether all arguments have the same sequences somewhere.
fn shares_sequences(arguments: &[&Expr]) -> bool {
    let [first, others @ ..] = arguments else { return false };
    if others.iter().all(|other| is_same(first, other)) {
        return has_sequences(&first.ty);
    }
    let parts: Vec<[&Expr; 2]> = (arguments.iter())
        .filter_map(|argument| match &argument.kind {
            ExprKind::Pair(first, rest) => Some([&**first, &**rest]),
            _ => None,
        })
        .collect();
    let part = |index: usize| parts.iter().map(|part| part[index]).collect::<Vec<_>>();
    parts.len() == arguments.len() && (0..2).any(|index| shares_sequences(&part(index)))
}

fn has_sequences(ty: &Type) -> bool {
    match ty {
        Type::Sequence(_) | Type::Record(..) | Type::Function(_) | Type::Parameter(_) => true,
        Type::Pair(first, rest) => has_sequences(first) || has_sequences(rest),
        Type::Scalar(_) | Type::Unit | Type::Identity(_) => false,
    }
}

fn mentions_any(expr: &Expr, variables: &BTreeSet<VariableId>) -> bool {
    !variables.is_empty()
        && walk::parts(expr).any(|part| matches!(&part.kind, ExprKind::Variable(id) if variables.contains(id)))
}

/// Whether two expressions are the same variable, constant, or part of one.
fn is_same(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Literal(one), ExprKind::Literal(other)) => one == other,
        (ExprKind::Unit, ExprKind::Unit) => true,
        (ExprKind::Variable(one), ExprKind::Variable(other)) => one == other,
        (ExprKind::Global(one), ExprKind::Global(other)) => one == other,
        (ExprKind::First(one), ExprKind::First(other))
        | (ExprKind::Rest(one), ExprKind::Rest(other))
        | (ExprKind::Payload(one), ExprKind::Payload(other)) => is_same(one, other),
        (
            ExprKind::Closure { function: one, captured: ones, .. },
            ExprKind::Closure { function: other, captured: others, .. },
        ) => one == other && one_by_one(ones, others),
        (ExprKind::Pair(a, b), ExprKind::Pair(c, d)) => is_same(a, c) && is_same(b, d),
        _ => false,
    }
}

fn one_by_one(ones: &[Expr], others: &[Expr]) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| is_same(one, other))
}

/// Puts calls back where they were taken from.
fn put_back(expr: &mut Expr, calls: &mut BTreeMap<VariableId, Expr>) {
    if calls.is_empty() {
        return;
    }
    if let ExprKind::Variable(id) = &expr.kind
        && let Some(call) = calls.remove(id)
    {
        *expr = call;
        return;
    }
    walk::direct_parts_mut(expr).into_iter().for_each(|part| put_back(part, calls));
}
