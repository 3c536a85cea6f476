//! The evaluator for functions of scalars alone ([`super::scalar_code`]).
//!
//! The machine hands whole calls to it (`super::scalars`): native code first, and where that gives up, or is off,
//! blocks of closures, which take a fifth to an eighth of the time of the machine's lines. That matters where native
//! code fails after long work: the work is done again to find the place. Results, failures with their places, limits
//! and the numbers of instructions are the machine's.

use super::Limits;
use super::loaded::Loaded;
use super::native::ScalarCalls;
use super::scalar_code::{Call, Code, End};
use crate::engine::error::{RuntimeError, chain};
use crate::engine::native::Native;
use nesl_native::Status;
use nesl_prim::Failure;
use nesl_vcode::{FunctionId, Place};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A function that waits for its call to return.
struct Caller<'a> {
    code: &'a Code,
    call: &'a Call,
    /// Where its frame begins.
    base: usize,
}

/// What the calls that are active outside take of the limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Active {
    pub calls: usize,
    pub bytes: usize,
}

/// Runs functions of scalars alone, one after another. Their frames lie in one stack, which stays from one to the next.
pub(crate) struct Evaluator<'a> {
    pub program: &'a Loaded,
    limits: Limits,
    interrupt: Option<&'a AtomicBool>,
    /// All frames.
    words: Vec<u64>,
    callers: Vec<Caller<'a>>,
    /// Those of the last call.
    pub results: Vec<u64>,
    /// Arguments on their way from a frame to the one that takes its place.
    moving: Vec<u64>,
    native: Native,
    native_calls: ScalarCalls,
    /// Instructions executed.
    pub instructions: u64,
    /// What native code did.
    pub steps: u64,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        program: &'a Loaded,
        limits: Limits,
        native: Native,
        interrupt: Option<&'a AtomicBool>,
    ) -> Evaluator<'a> {
        let (words, callers, results, moving) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let native_calls = ScalarCalls::default();
        Evaluator {
            program,
            limits,
            interrupt,
            words,
            callers,
            results,
            moving,
            native,
            native_calls,
            instructions: 0,
            steps: 0,
        }
    }

    /// Calls a function; its results.
    ///
    /// # Errors
    /// Where an operation fails.
    ///
    /// # Panics
    /// If the function does not compute on scalars alone, or the arguments are not those of its parameters.
    pub fn call(
        &mut self,
        function: FunctionId,
        arguments: impl ExactSizeIterator<Item = u64> + Clone,
        outside: Active,
    ) -> Result<&[u64], RuntimeError> {
        match self.native {
            Native::Off => self.interpret(function, arguments, outside),
            Native::On => self.native_first(function, arguments, outside),
            Native::Check => self.checked(function, arguments, outside),
        }
    }

    /// Calls a function in native code, and by its lines where that does not give results.
    fn native_first(
        &mut self,
        function: FunctionId,
        arguments: impl ExactSizeIterator<Item = u64> + Clone,
        outside: Active,
    ) -> Result<&[u64], RuntimeError> {
        if !self.call_native(function, arguments.clone(), outside) {
            return self.interpret(function, arguments, outside);
        }
        self.instructions += 1;
        Ok(&self.results)
    }

    /// Whether calls of a function are native code, as far as that does not give up.
    pub fn has_native(&self, function: FunctionId) -> bool {
        self.native != Native::Off && self.program.native.function(self.program.program(), function).is_some()
    }

    /// Calls a function in native code, if it has that; false if there are no results.
    pub fn call_native(&mut self, function: FunctionId, arguments: impl Iterator<Item = u64>, outside: Active) -> bool {
        let Some(native) = self.program.native.function(self.program.program(), function) else { return false };
        let depth = self.limits.depth.saturating_sub(outside.calls);
        let (status, results) = self.native_calls.call(native, arguments, self.interrupt, depth);
        self.results.clear();
        self.results.extend_from_slice(results);
        self.steps += std::mem::take(&mut self.native_calls.steps);
        status == Status::Done
    }

    /// Calls a function by its lines.
    pub fn interpret(
        &mut self,
        function: FunctionId,
        arguments: impl ExactSizeIterator<Item = u64>,
        outside: Active,
    ) -> Result<&[u64], RuntimeError> {
        let code = self.program.scalar_code(function);
        let outcome = self.begin(code, arguments, outside).and_then(|()| self.run(code, outside));
        match outcome {
            Ok(()) => Ok(&self.results),
            Err((failure, at)) => {
                let program = self.program.program();
                let chains = self.callers.drain(..).rev().map(|caller| caller.call.at);
                let (span, calls) = chain(program, at, chains);
                Err(RuntimeError { calls, ..RuntimeError::at(span, failure) })
            }
        }
    }

    /// The first frame.
    fn begin(
        &mut self,
        code: &Code,
        arguments: impl ExactSizeIterator<Item = u64>,
        outside: Active,
    ) -> Result<(), (Failure, Place)> {
        assert_eq!(arguments.len(), code.parameters.len(), "an argument for each parameter");
        self.check_interrupt(code.span.into())?;
        self.make_room(code.words, outside).map_err(|failure| (failure, code.span.into()))?;
        for (&place, argument) in code.parameters.iter().zip(arguments) {
            self.words[place] = argument;
        }
        Ok(())
    }

    fn run(&mut self, mut code: &'a Code, outside: Active) -> Result<(), (Failure, Place)> {
        let mut base = 0;
        let mut next = 0;
        loop {
            let block = &code.blocks[next];
            let frame = &mut self.words[base..base + code.words];
            let mut done = 0;
            while let Some(operation) = block.operations.get(done) {
                done += 1;
                if let Err(failure) = operation.apply(frame) {
                    self.instructions += done as u64;
                    return Err((*failure, block.places[done - 1]));
                }
            }
            for &(source, place) in &block.moves {
                frame[place] = source.word(frame);
            }
            self.instructions += block.instructions;
            match &block.end {
                End::Branch { condition, then, otherwise } => {
                    next = if frame[*condition] == 0 { *otherwise } else { *then };
                }
                End::Jump(target) => next = *target,
                End::Call(call) => {
                    // Whatever runs for long calls again and again.
                    self.check_interrupt(call.at)?;
                    let callee = self.program.scalar_code(call.function);
                    let top = base + code.words;
                    self.check_depth(outside)
                        .and_then(|()| self.make_room(top + callee.words, outside))
                        .map_err(|failure| (failure, call.at))?;
                    let (below, above) = self.words.split_at_mut(top);
                    for (source, &place) in call.arguments.iter().zip(&callee.parameters) {
                        above[place] = source.word(&below[base..]);
                    }
                    self.callers.push(Caller { code, call, base });
                    (code, base, next) = (callee, top, 0);
                }
                End::Step { function, arguments, at } => {
                    self.moving.clear();
                    self.moving.extend(arguments.iter().map(|source| source.word(frame)));
                    self.check_interrupt(*at)?;
                    (code, next) = (self.program.scalar_code(*function), 0);
                    self.make_room(base + code.words, outside).map_err(|failure| (failure, *at))?;
                    for (&word, &place) in self.moving.iter().zip(&code.parameters) {
                        self.words[base + place] = word;
                    }
                }
                End::Return(sources) => {
                    let Some(caller) = self.callers.pop() else {
                        self.results.clear();
                        self.results.extend(sources.iter().map(|source| source.word(frame)));
                        return Ok(());
                    };
                    let (below, above) = self.words.split_at_mut(base);
                    for (source, &place) in sources.iter().zip(&caller.call.results) {
                        below[caller.base + place] = source.word(above);
                    }
                    (code, base, next) = (caller.code, caller.base, caller.call.next);
                }
            }
        }
    }

    fn check_interrupt(&self, at: Place) -> Result<(), (Failure, Place)> {
        match self.interrupt {
            Some(flag) if flag.load(Relaxed) => Err((Failure::Interrupted, at)),
            _ => Ok(()),
        }
    }

    /// Whether there may be one more call.
    fn check_depth(&mut self, outside: Active) -> Result<(), Failure> {
        if outside.calls + self.callers.len() + 1 >= self.limits.depth || self.callers.try_reserve(1).is_err() {
            return Err(self.too_deep(outside));
        }
        Ok(())
    }

    /// Makes the stack so many words long, at least.
    fn make_room(&mut self, words: usize, outside: Active) -> Result<(), Failure> {
        let bytes = outside.bytes + words * size_of::<u64>() + self.callers.len() * size_of::<Caller<'_>>();
        if bytes > self.limits.frame_bytes {
            return Err(self.too_deep(outside));
        }
        if words > self.words.len() {
            if self.words.try_reserve(words - self.words.len()).is_err() {
                return Err(self.too_deep(outside));
            }
            self.words.resize(self.words.capacity(), 0);
        }
        Ok(())
    }

    #[cold]
    fn too_deep(&self, outside: Active) -> Failure {
        Failure::RecursionTooDeep { depth: (outside.calls + self.callers.len()) as u64 + 1 }
    }
}

#[cfg(test)]
mod tests;
