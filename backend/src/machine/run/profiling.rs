//! What a run tells its profile, and whoever looks at it meanwhile, if there are any: where it is, and which calls are
//! active.

use super::Run;
use crate::engine::Engine;
use crate::machine::decode::Line;
use crate::machine::profile::{Profile, Reading};
use nesl_vcode::{FunctionId, Place};
use std::time::Instant;

impl<E: Engine> Run<'_, E> {
    /// How much has been done, and when.
    pub(super) fn reading(&self) -> Reading {
        Reading { time: Instant::now(), instructions: self.all_instructions(), bytes: self.engine.allocated() }
    }

    /// Tells the profile something.
    fn profile(&mut self, tell: impl FnOnce(&mut Profile, Reading)) {
        if self.profile.is_some() {
            let reading = self.reading();
            if let Some(profile) = &mut self.profile {
                tell(profile, reading);
            }
        }
    }

    /// The run begins.
    pub(in crate::machine) fn begin_profile(&mut self) {
        self.profile(Profile::begin);
    }

    /// The run ends.
    pub(in crate::machine) fn end_profile(&mut self) {
        self.profile(Profile::end);
    }

    /// Something at this place begins.
    pub(in crate::machine) fn at(&mut self, at: Place) {
        if let Some(whereabouts) = self.settings.whereabouts {
            whereabouts.note(at);
        }
        let program = self.program.program();
        self.profile(|profile, reading| profile.at(program.chain(at), reading));
    }

    /// A call at this place begins; the number of those before.
    pub(in crate::machine) fn enter(&mut self, at: Place) -> usize {
        let program = self.program.program();
        self.profile.as_mut().map_or(0, |profile| profile.enter(program.chain(at)))
    }

    /// The innermost call ends.
    pub(in crate::machine) fn leave(&mut self) {
        if let Some(profile) = &mut self.profile {
            profile.leave();
        }
    }

    /// The number of active calls.
    pub(in crate::machine) fn depth(&self) -> usize {
        self.profile.as_ref().map_or(0, |profile| profile.depth())
    }

    /// All calls end but so many.
    pub(in crate::machine) fn leave_to(&mut self, depth: usize) {
        if let Some(profile) = &mut self.profile {
            profile.leave_to(depth);
        }
    }

    /// The instructions of a group have run at once.
    pub(in crate::machine) fn group_has_run(&mut self, lines: &[Line]) {
        let program = self.program.program();
        let chains = lines.iter().filter_map(|line| match line {
            Line::Execute { at, .. } => Some(program.chain(*at)),
            _ => None,
        });
        self.profile(|profile, reading| profile.share(chains, reading));
    }

    /// What happens now is done by native code.
    pub(in crate::machine) fn is_native(&mut self) {
        if let Some(profile) = &mut self.profile {
            profile.is_native();
        }
    }

    /// What happens now is a function of scalars alone.
    pub(in crate::machine) fn is_scalar(&mut self, function: FunctionId) {
        if self.profile.is_some() && self.evaluator.has_native(function) {
            self.is_native();
        }
    }

    /// The profile of a worker that does a part of what happens now.
    pub(in crate::machine) fn profile_for_worker(&self) -> Option<Profile> {
        self.profile.as_ref().map(|profile| profile.for_worker())
    }

    /// Workers have done what happened now.
    pub(in crate::machine) fn workers_have_run(&mut self, profiles: impl Iterator<Item = Profile>) {
        self.profile(|profile, reading| profile.merge(profiles, reading));
    }
}
