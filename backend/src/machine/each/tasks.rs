//! The instances of an `each` as tasks: what each task runs, and where its results go.
//!
//! Most functions give as many elements as they get, or one scalar: sorts, merges, transforms do. So a column of that
//! length is made before, and each task of native code writes its part of it, if its results fit: those of all then lie
//! together, and nothing is copied once more. Other results are put together when all tasks are done.

use crate::data::vector::unwritten::Unwritten;
use crate::engine::error::RuntimeError;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::EachLine;
use crate::machine::leaf::Gathered;
use crate::machine::run::team::{Member, Team};
use crate::machine::run::{Run, Settings, Stop, worker};
use crate::machine::strategy::{self, Sizes};
use nesl_prim::{Failure, ScalarType};
use nesl_vcode::EachPlan;
use std::cmp::Reverse;
use std::ops::Range;

/// Tasks for each worker, where instances are dealt out: enough to even out instances that take longer than others.
const TASKS: usize = 8;

/// The same where nobody knows how long an instance takes: the most for each worker where there are many.
const SMALL_TASKS: usize = 64;

/// Some instances that one worker runs, one after another.
pub(super) struct Task {
    pub range: Range<usize>,
    /// For each register of the results: its part of the column of all, if that is made.
    pub parts: Vec<Option<Unwritten>>,
}

/// The instances that a task gets, and the elements of their operands.
pub(super) type Share = (Range<usize>, usize);

/// How many elements results are expected to have.
#[derive(Clone, Copy)]
enum Expected {
    /// One for each instance.
    Instances,
    /// As many as operands have.
    Elements,
}

/// The registers of results, with what is expected of them, if anything is.
fn expected(plan: &EachPlan) -> impl Iterator<Item = Option<(ScalarType, Expected)>> {
    plan.results.iter().map(|field| match field.parent {
        None => Some((field.scalar_type(), Expected::Instances)),
        Some(parent) if plan.results[parent].parent.is_none() => Some((field.scalar_type(), Expected::Elements)),
        Some(_) => None,
    })
}

impl<E: Engine> Run<'_, E> {
    /// The instances of each task, so that the tasks have about as much to do as far as the lengths of sequences tell.
    pub(super) fn shares(
        &mut self,
        line: &EachLine,
        sizes: Sizes,
        values: &[SlotOf<E>],
    ) -> Result<Option<Vec<Share>>, Fault> {
        if self.engine.workers() == 1 || !strategy::is_shared(sizes) {
            return Ok(None);
        }
        let each = if sizes.is_of_unknown_cost() { SMALL_TASKS } else { TASKS };
        let tasks = sizes.instances.min(self.engine.workers() * each);
        if line.sequences.is_empty() {
            let shares = strategy::even_shares(sizes.instances, tasks);
            return Ok(Some(shares.into_iter().map(|range| (range, 0)).collect()));
        }
        let mut weights = vec![1u64; sizes.instances];
        for column in self.lengths(line, values)? {
            let lengths = self.engine.fetch(&column, 0, sizes.instances)?.elements.to_words();
            weights.iter_mut().zip(lengths).for_each(|(weight, length)| *weight = weight.saturating_add(length));
        }
        let share = |range: Range<usize>| {
            let weights = &weights[range.clone()];
            (range, weights.iter().fold(0usize, |sum, &weight| sum.saturating_add(weight as usize - 1)))
        };
        Ok(Some(strategy::shares(&weights, tasks).into_iter().map(share).collect()))
    }

    /// The tasks of shares. `placed` says whether results may be written to parts.
    fn tasks(&mut self, line: &EachLine, shares: Vec<Share>, placed: bool) -> Vec<Task> {
        let (ranges, elements): (Vec<Range<usize>>, Vec<usize>) = shares.into_iter().unzip();
        let instances: Vec<usize> = ranges.iter().map(Range::len).collect();
        let mut tasks: Vec<Task> = ranges.into_iter().map(|range| Task { range, parts: Vec::new() }).collect();
        if !placed {
            return tasks;
        }
        for register in expected(&line.plan) {
            let parts = register.and_then(|(ty, expected)| {
                let lengths = match expected {
                    Expected::Instances => &instances,
                    Expected::Elements => &elements,
                };
                let total = lengths.iter().fold(0usize, |sum, &length| sum.saturating_add(length));
                if total < self.settings.tuning().placed { None } else { self.engine.unwritten(ty, lengths) }
            });
            let mut parts = parts.into_iter().flatten();
            tasks.iter_mut().for_each(|task| task.parts.push(parts.next()));
        }
        tasks
    }

    /// The results of all instances, to be put together: run at once, or dealt out to workers that run some of them
    /// each. Those of some come in batches.
    pub(super) fn dealt_out(
        &mut self,
        line: &EachLine,
        sizes: Sizes,
        (shares, placed): (Option<Vec<Share>>, bool),
        run_instances: impl Fn(&mut Run<'_, E>, Task) -> Result<Vec<Vec<SlotOf<E>>>, RuntimeError> + Sync,
    ) -> Result<Gathered<E>, Stop> {
        let mut results = Gathered::new(&line.plan.results);
        let Some(shares) = shares else {
            for task in self.tasks(line, vec![(0..sizes.instances, sizes.elements)], placed) {
                let batches = run_instances(self, task).map_err(|error| self.inside(line, error))?;
                for values in batches {
                    results.add(self.engine, values).map_err(Stop::of(line.at))?;
                }
            }
            return Ok(results);
        };
        let weights: Vec<usize> = shares.iter().map(|(_, elements)| *elements).collect();
        let mut tasks: Vec<(usize, Task)> = self.tasks(line, shares, placed).into_iter().enumerate().collect();
        // What is begun last is waited for: that should not be the longest one. Others are begun as they lie in memory.
        let (most, all) = (weights.iter().max().copied().unwrap_or(0), weights.iter().sum::<usize>());
        if most / 2 > all / weights.len().max(1) {
            tasks.sort_by_key(|&(number, _)| Reverse(weights[number]));
        }
        let (program, settings) = (self.program, self.settings);
        let inside = (self.profile_for_worker(), self.attempts.clone());
        let team = Team::new(settings.member);
        let mut outcomes = self.engine.in_parallel(tasks, |(number, task), engine| {
            let member = Member { team: &team, number };
            let settings = Settings { member: Some(member), ..settings };
            let did = worker::run(program, settings, engine, inside.clone(), |run| {
                if member.is_in_vain() {
                    return Err(RuntimeError::at(line.at.span, Failure::Interrupted));
                }
                run_instances(run, task).inspect_err(|_| member.failed())
            });
            (number, did)
        });
        outcomes.sort_by_key(|&(number, _)| number);
        self.workers_have_run(outcomes.iter_mut().filter_map(|(_, did)| did.profile.take()));
        for (_, did) in outcomes {
            self.instructions += did.instructions;
            self.steps += did.steps;
            // Of several failing instances the first counts, as if they had run one after another.
            for values in did.outcome.map_err(|error| self.inside(line, error))? {
                results.add(self.engine, values).map_err(Stop::of(line.at))?;
            }
        }
        Ok(results)
    }
}
