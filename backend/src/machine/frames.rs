//! The frames of active calls: slots for registers in one stack, and where each caller goes on.

use super::Limits;
use crate::decode::{Code, Line, Loaded, Slot as Place, Source};
use crate::engine::Engine;
use crate::error::CALLS_KEPT;
use crate::value::{Slot, SlotOf};
use nesl_prim::{Failure, ScalarValue};
use nesl_span::Span;
use nesl_vcode::FunctionId;

/// A caller that waits for its call to return.
struct Caller {
    function: FunctionId,
    /// The line after the call.
    next: u32,
    /// Where its frame begins.
    base: usize,
}

/// All frames of a run, that of the running function on top.
pub(super) struct Frames<E: Engine> {
    limits: Limits,
    slots: Vec<Option<SlotOf<E>>>,
    callers: Vec<Caller>,
    /// Where the frame of the running function begins.
    base: usize,
}

impl<E: Engine> Frames<E> {
    pub fn new(limits: Limits) -> Frames<E> {
        Frames { limits, slots: Vec::new(), callers: Vec::new(), base: 0 }
    }

    /// The first frame.
    pub fn begin(&mut self, code: &Code, inputs: Vec<SlotOf<E>>) -> Result<(), Failure> {
        assert_eq!(inputs.len(), code.parameters.len(), "an input for each parameter");
        self.push(code)?;
        for (value, &place) in inputs.into_iter().zip(&code.parameters) {
            self.store(place, value);
        }
        Ok(())
    }

    /// The frame of a call: operands move from the caller's frame into the parameters.
    pub fn call(
        &mut self,
        (function, next): (FunctionId, usize),
        code: &Code,
        operands: &[Source],
    ) -> Result<(), Failure> {
        if self.callers.len() + 1 >= self.limits.depth || self.callers.try_reserve(1).is_err() {
            return Err(self.too_deep());
        }
        let (caller, base) = (self.base, self.slots.len());
        self.push(code)?;
        for (&source, &place) in operands.iter().zip(&code.parameters) {
            let value = self.read(source);
            if let Some(place) = place {
                self.slots[base + place as usize] = Some(value);
            }
        }
        self.callers.push(Caller { function, next: next as u32, base: caller });
        self.base = base;
        Ok(())
    }

    /// Adds empty slots on top.
    fn push(&mut self, code: &Code) -> Result<(), Failure> {
        let slots = self.slots.len() + code.slots;
        let bytes = slots * size_of::<Option<SlotOf<E>>>() + self.callers.len() * size_of::<Caller>();
        if bytes > self.limits.frame_bytes || self.slots.try_reserve(code.slots).is_err() {
            return Err(self.too_deep());
        }
        self.slots.resize_with(slots, || None);
        Ok(())
    }

    fn too_deep(&self) -> Failure {
        Failure::RecursionTooDeep { depth: self.callers.len() as u64 + 1 }
    }

    /// Where the caller of the running function goes on.
    pub fn caller(&self) -> Option<(FunctionId, usize)> {
        self.callers.last().map(|caller| (caller.function, caller.next as usize))
    }

    /// Results move to the caller's frame; the running function's is gone.
    pub fn return_to_caller(&mut self, sources: &[Source], results: &[Option<Place>]) {
        let caller = self.callers.pop().unwrap_or_else(|| unreachable!("the first frame returns to the host"));
        for (&source, &place) in sources.iter().zip(results) {
            let value = self.read(source);
            if let Some(place) = place {
                self.slots[caller.base + place as usize] = Some(value);
            }
        }
        self.slots.truncate(self.base);
        self.base = caller.base;
    }

    /// The value of a source in the running function's frame; it leaves the frame at its last use.
    pub fn read(&mut self, source: Source) -> SlotOf<E> {
        let value = match source {
            Source::Constant(value) => return Slot::Scalar(value),
            Source::Copy(place) => self.slots[self.base + place as usize].clone(),
            Source::Take(place) => self.slots[self.base + place as usize].take(),
        };
        value.unwrap_or_else(|| panic!("a register is read before it is defined: unverified program"))
    }

    /// The value of a scalar source. It stays in the frame even at its last use: it holds no column, and the next value of
    /// its slot takes its place.
    pub fn scalar(&self, source: Source) -> ScalarValue {
        match source {
            Source::Constant(value) => value,
            Source::Copy(place) | Source::Take(place) => match &self.slots[self.base + place as usize] {
                Some(Slot::Scalar(value)) => *value,
                _ => panic!("expected a scalar: unverified program"),
            },
        }
    }

    /// Keeps a value, unless nothing reads it.
    pub fn store(&mut self, place: Option<Place>, value: SlotOf<E>) {
        if let Some(place) = place {
            self.slots[self.base + place as usize] = Some(value);
        }
    }

    /// Forgets values.
    pub fn clear(&mut self, places: &[Place]) {
        for &place in places {
            self.slots[self.base + place as usize] = None;
        }
    }

    /// The sources of the active calls, the innermost first, without the middle of a long chain.
    pub fn calls(&self, program: &Loaded) -> Vec<Span> {
        let call = |caller: &Caller| match &program.code(caller.function).lines[caller.next as usize - 1] {
            Line::Call { span, .. } => *span,
            other => unreachable!("a caller goes on after its call, not after {other:?}"),
        };
        let outer = self.callers.len().min(CALLS_KEPT);
        let inner = (self.callers.len() - outer).min(CALLS_KEPT);
        let innermost = self.callers.iter().rev().take(inner);
        let outermost = self.callers[..outer].iter().rev();
        innermost.chain(outermost).map(call).collect()
    }
}
