//! Apply-to-each.
//!
//! ```text
//! serial:  {e : x in v | c}   n = #v;  flags = c over n;  keep = pack;  e over the kept
//! lifted:  the same over the elements of all instances at once, flattened by the descriptor of the sources;
//!          what is free in c and e and varies by instance is spread over the elements
//! ```
//!
//! If nothing in an apply-to-each varies by instance, it is evaluated once, serially. Free sequences are spread as
//! views: the work is that of the elements, whatever the sequence's size.

use crate::free;
use crate::lower::{Context, Lowering};
use crate::value::Value;
use nesl_frontend::core::effects::Effect;
use nesl_frontend::core::{Expr, Variable, VariableId};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Operand, VectorOp};

/// What a filter printed, for the elements that it was asked about.
struct Filtered {
    texts: Value,
    /// Which elements it kept.
    flags: Operand,
    /// The sources: their length, or their descriptor.
    extent: Operand,
    /// The number of elements.
    count: Operand,
}

impl Lowering<'_, '_> {
    pub(crate) fn each(
        &mut self,
        expr: &Expr,
        sources: &[(Variable, Expr)],
        filter: Option<&Expr>,
        body: &Expr,
        context: Context,
    ) -> Value {
        let values: Vec<Value> = sources.iter().map(|(_, source)| self.eval(source, context)).collect();
        let effect = self.effect_of(filter.into_iter().chain([body]));
        let bound: Vec<VariableId> = sources.iter().map(|(variable, _)| variable.id).collect();
        let free: Vec<VariableId> =
            free::variables(filter.into_iter().chain([body])).into_iter().filter(|id| !bound.contains(id)).collect();
        let varies = |lowering: &Self| {
            !values.iter().all(Value::is_invariant)
                || free.iter().any(|id| !lowering.environment[id].is_invariant())
                || effect.any()
        };
        match context {
            Context::Lifted(count) if varies(self) => {
                self.lifted_each(expr, &bound, values, filter, body, &free, effect, count)
            }
            _ => {
                self.serial_work(context);
                self.serial_each(&bound, values, filter, body, effect)
            }
        }
    }

    fn serial_each(
        &mut self,
        bound: &[VariableId],
        values: Vec<Value>,
        filter: Option<&Expr>,
        body: &Expr,
        effect: Effect,
    ) -> Value {
        let (mut lengths, elements): (Vec<Operand>, Vec<Value>) = values.into_iter().map(Value::into_sequence).unzip();
        let mut count = lengths[0];
        for length in lengths.drain(1..) {
            if length != count {
                count = self.builder.scalar(ScalarOp::CheckLengths, &[count, length]);
            }
        }
        let seed = effect.draws.then(|| self.current_seed().operand());
        if let Some(seed) = seed {
            let indices = self.builder.vector(VectorOp::Iota, &[count]);
            self.split_seed(seed, indices);
        }
        for (id, elements) in bound.iter().zip(&elements) {
            self.environment.insert(*id, elements.clone());
        }
        // In lifted code an each that does not vary prints nothing; what the instances printed before is not its own.
        let printed = self.printed.take();
        let mut filtered = None;
        if let Some(filter) = filter {
            let flags = self.guarded(filter, count).operand();
            for (id, elements) in bound.iter().zip(&elements) {
                let kept = self.restrict(elements, flags);
                self.environment.insert(*id, kept);
            }
            if effect.draws {
                let seeds = self.current_seed().clone();
                self.seed = Some(self.restrict(&seeds, flags));
            }
            let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
            let kept = self.builder.vector(VectorOp::Reduce(ScalarOp::AddInt), &[ones]);
            filtered = self.printed.take().map(|texts| Filtered { texts, flags, extent: count, count });
            count = kept;
        }
        let elements = self.guarded(body, count);
        let texts = std::mem::replace(&mut self.printed, printed);
        self.print_each(filtered, texts, count, count, Context::Serial);
        if let Some(seed) = seed {
            self.next_seed(seed, false);
        }
        Value::sequence(count, elements)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of the construct and the context, all needed at once")]
    fn lifted_each(
        &mut self,
        expr: &Expr,
        bound: &[VariableId],
        values: Vec<Value>,
        filter: Option<&Expr>,
        body: &Expr,
        free: &[VariableId],
        effect: Effect,
        count: Operand,
    ) -> Value {
        let span = self.builder.set_span(expr.span);
        let mut descriptor = None;
        let mut elements = Vec::new();
        for value in values {
            let lifted = self.lift(value, count);
            let (own, own_elements) = self.compact(lifted).into_sequence();
            elements.push(own_elements);
            match descriptor {
                None => descriptor = Some(own),
                Some(first) => {
                    let expected = self.lengths(first);
                    let found = self.lengths(own);
                    self.builder.map(ScalarOp::CheckLengths, &[expected, found]);
                }
            }
        }
        let mut descriptor = descriptor.expect("an apply-to-each has a source");
        let mut total = self.total(descriptor);
        let outer: Vec<(VariableId, Value)> = free.iter().map(|id| (*id, self.environment[id].clone())).collect();
        let seed = effect.draws.then(|| self.current_seed().clone());
        if let Some(seed) = &seed {
            let spread = self.spread(seed, descriptor).operand();
            let indices = self.builder.vector(VectorOp::SegIota, &[descriptor]);
            self.split_seed(spread, indices);
        }
        self.builder.set_span(span);
        for (id, elements) in bound.iter().zip(&elements) {
            self.environment.insert(*id, elements.clone());
        }
        let printed = self.printed.take();
        let mut filtered = None;
        if let Some(filter) = filter {
            self.spread_free(&outer, filter, descriptor);
            let flags = self.guarded(filter, total).operand();
            for (id, elements) in bound.iter().zip(&elements) {
                let kept = self.restrict(elements, flags);
                self.environment.insert(*id, kept);
            }
            if effect.draws {
                let seeds = self.current_seed().clone();
                self.seed = Some(self.restrict(&seeds, flags));
            }
            let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
            let kept = self.builder.vector(VectorOp::SegReduce(ScalarOp::AddInt), &[ones, descriptor]);
            filtered = self.printed.take().map(|texts| Filtered { texts, flags, extent: descriptor, count: total });
            descriptor = self.packed(kept);
            total = self.total(descriptor);
        }
        self.spread_free(&outer, body, descriptor);
        let elements = self.guarded(body, total);
        let texts = std::mem::replace(&mut self.printed, printed);
        self.print_each(filtered, texts, descriptor, total, Context::Lifted(count));
        self.environment.extend(outer);
        if let Some(seed) = seed {
            self.next_seed(seed.operand(), true);
        }
        Value::segments(descriptor, elements)
    }

    /// Prints what the elements printed: of each first what its filter did, then what its body did if it was kept.
    fn print_each(
        &mut self,
        filtered: Option<Filtered>,
        texts: Option<Value>,
        extent: Operand,
        count: Operand,
        context: Context,
    ) {
        match (filtered, texts) {
            (None, None) => {}
            (None, Some(texts)) => self.print_elements(extent, texts, context),
            (Some(filtered), None) => self.print_elements(filtered.extent, filtered.texts, context),
            (Some(filtered), Some(texts)) => {
                let texts = self.texts_of_all(&texts, filtered.flags, filtered.count, count);
                let both = self.join(vec![filtered.texts, texts], Context::Lifted(filtered.count));
                self.print_elements(filtered.extent, both, context);
            }
        }
    }

    /// Binds those outer variables that occur free in `part` to their values spread over the elements.
    fn spread_free(&mut self, outer: &[(VariableId, Value)], part: &Expr, descriptor: Operand) {
        let used = free::variables([part]);
        for (id, value) in outer.iter().filter(|(id, _)| used.contains(id)) {
            let spread = self.spread(value, descriptor);
            self.environment.insert(*id, spread);
        }
    }

    fn split_seed(&mut self, seed: Operand, indices: Operand) {
        let seeds = self.builder.map(ScalarOp::SeedSplit, &[seed, indices]);
        self.seed = Some(Value::column(seeds, ScalarType::Int));
    }

    /// Continues with the seed after an apply-to-each that started with `seed`.
    fn next_seed(&mut self, seed: Operand, lifted: bool) {
        let next = match lifted {
            true => self.builder.map(ScalarOp::SeedNext, &[seed]),
            false => self.builder.scalar(ScalarOp::SeedNext, &[seed]),
        };
        self.seed = Some(Value::Scalar { operand: next, lifted, scalar_type: ScalarType::Int });
    }
}
