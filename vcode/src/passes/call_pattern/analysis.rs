//! Which functions are called with what columns that numbers make, and which they yield then.

use super::form::{Form, Made};
use crate::each::{Argument, Each};
use crate::passes::inline::is_timed;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, RegisterType};
use crate::shape::Shape;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A function has no more versions than so many: one that is called in more ways gets columns.
const MOST_VERSIONS: usize = 8;

/// A parameter of a function, by its position.
pub(super) type Parameter = (FunctionId, usize);

/// A function as it is called with some parameters made of numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pattern {
    pub function: FunctionId,
    /// By parameter.
    pub parameters: Vec<Option<Form>>,
    /// Whether it may yield numbers: who calls it knows what to do with these, other than what runs an `each`.
    pub may_yield: bool,
}

/// A pattern, and what is known of the function's columns.
pub(super) struct Version {
    pub pattern: Pattern,
    /// By register.
    pub made: Vec<Made>,
    /// By result; all [`Made::Otherwise`] where it may not yield numbers.
    pub results: Vec<Made>,
    /// The versions that it calls, as far as is known.
    calls: BTreeSet<usize>,
    /// The versions that call it, or did while less was known.
    callers: BTreeSet<usize>,
}

/// All functions as they are called.
pub(super) struct Analysis<'a> {
    pub functions: &'a [Function],
    pub versions: Vec<Version>,
    /// Functions that are called in too many ways; nothing else is found out where there are any.
    pub crowded: HashSet<FunctionId>,
    known: HashMap<Pattern, usize>,
    /// The versions that have to be walked, as something that they call is known otherwise.
    waiting: BTreeSet<usize>,
    /// How many of the versions are of what runs the program: the first ones.
    roots: usize,
    stay: &'a HashSet<Parameter>,
}

impl<'a> Analysis<'a> {
    /// Of what begins with some functions; parameters that stay columns are never made of numbers.
    pub fn of(functions: &'a [Function], roots: &[FunctionId], stay: &'a HashSet<Parameter>) -> Analysis<'a> {
        let mut analysis = Analysis {
            functions,
            versions: Vec::new(),
            crowded: HashSet::new(),
            known: HashMap::new(),
            waiting: BTreeSet::new(),
            roots: 0,
            stay,
        };
        for &function in roots {
            let parameters = vec![None; functions[function.0 as usize].parameters.len()];
            analysis.version(&Pattern { function, parameters, may_yield: false });
        }
        analysis.roots = analysis.versions.len();
        // Each turn leaves more that is otherwise.
        loop {
            analysis.settle();
            // What nothing has been found for comes from a function that does not come back.
            for version in &mut analysis.versions {
                let open: Vec<&mut Made> = version.results.iter_mut().filter(|made| **made == Made::NotYet).collect();
                if !open.is_empty() {
                    open.into_iter().for_each(|made| *made = Made::Otherwise);
                    analysis.waiting.extend(&version.callers);
                }
            }
            if analysis.waiting.is_empty() || !analysis.crowded.is_empty() {
                return analysis;
            }
        }
    }

    /// Walks versions until nothing changes: those that were found last first, which others call.
    fn settle(&mut self) {
        while let (Some(at), true) = (self.waiting.pop_last(), self.crowded.is_empty()) {
            if self.walk(at) {
                self.waiting.extend(&self.versions[at].callers);
            }
        }
    }

    /// The version of a pattern, which is begun where it is new.
    fn version(&mut self, pattern: &Pattern) -> usize {
        if let Some(&known) = self.known.get(pattern) {
            return known;
        }
        let is_same = |version: &&Version| version.pattern.function == pattern.function;
        if self.versions.iter().filter(is_same).count() >= MOST_VERSIONS {
            self.crowded.insert(pattern.function);
        }
        let function = &self.functions[pattern.function.0 as usize];
        let is_column = |ty: RegisterType| matches!(ty, RegisterType::Column(_));
        let result = |ty| if pattern.may_yield && is_column(ty) { Made::NotYet } else { Made::Otherwise };
        let results = function.result_types().map(result).collect();
        let version = self.versions.len();
        self.known.insert(pattern.clone(), version);
        let (pattern, made, calls, callers) = (pattern.clone(), Vec::new(), BTreeSet::new(), BTreeSet::new());
        self.versions.push(Version { pattern, made, results, calls, callers });
        self.waiting.insert(version);
        version
    }

    /// The versions that are called in the end, by one that is or by what runs the program.
    pub fn reached(&self) -> Vec<&Version> {
        let mut reached = vec![false; self.versions.len()];
        let mut waiting: Vec<usize> = (0..self.roots).collect();
        while let Some(at) = waiting.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                waiting.extend(&self.versions[at].calls);
            }
        }
        self.versions.iter().zip(reached).filter(|(_, is_reached)| *is_reached).map(|(version, _)| version).collect()
    }

    /// Finds out how the columns of a version are made, as far as is known of others; whether those that it yields are
    /// made otherwise than was known.
    fn walk(&mut self, at: usize) -> bool {
        let pattern = self.versions[at].pattern.clone();
        let function = &self.functions[pattern.function.0 as usize];
        let mut made = vec![Made::Otherwise; function.registers.len()];
        for (parameter, form) in function.parameters.iter().zip(&pattern.parameters) {
            made[parameter.0 as usize] = form.map_or(Made::Otherwise, Made::By);
        }
        let mut walk = Walk { analysis: self, function, made, calls: BTreeSet::new() };
        let found = walk.block(&function.body);
        let (made, calls) = (walk.made, walk.calls);
        for &called in &calls {
            self.versions[called].callers.insert(at);
        }
        let version = &mut self.versions[at];
        let results = version.results.iter().zip(found);
        let results: Vec<Made> =
            results.map(|(&own, found)| if own == Made::Otherwise { own } else { found }).collect();
        let is_news = version.results != results;
        (version.results, version.made, version.calls) = (results, made, calls);
        is_news
    }

    /// The patterns in which an instruction runs functions: a call its own, an `each` its serial and its lifted one.
    /// None where one of the columns is not known yet.
    pub fn patterns(&self, before: &[Instruction], instruction: &Instruction, made: &[Made]) -> Option<Vec<Pattern>> {
        let mut forms = Vec::with_capacity(instruction.operands.len());
        for operand in &instruction.operands {
            let made = operand.register().map_or(Made::Otherwise, |register| made[register.0 as usize]);
            if made == Made::NotYet {
                return None;
            }
            forms.push(made.form());
        }
        let stays = |function: FunctionId, at: usize| self.stay.contains(&(function, at));
        match &instruction.op {
            Op::Call(function) => {
                let is_timed = is_timed(before);
                let form = |(at, form): (usize, Option<Form>)| form.filter(|_| !is_timed && !stays(*function, at));
                let parameters = forms.into_iter().enumerate().map(form).collect();
                Some(vec![Pattern { function: *function, parameters, may_yield: !is_timed }])
            }
            Op::Each(each) => {
                let is_free = free(each);
                let form = |(at, form): (usize, Option<Form>)| {
                    let may_be = is_free[at] && !stays(each.lifted, at) && !stays(each.serial, at - 1);
                    form.filter(|_| may_be)
                };
                let lifted: Vec<Option<Form>> = forms.into_iter().enumerate().map(form).collect();
                let serial = Pattern { function: each.serial, parameters: lifted[1..].to_vec(), may_yield: false };
                Some(vec![serial, Pattern { function: each.lifted, parameters: lifted, may_yield: false }])
            }
            _ => Some(Vec::new()),
        }
    }
}

/// By operand of an `each`, whether it can be numbers instead of a column: those of a sequence of scalars that all
/// instances share.
fn free(each: &Each) -> Vec<bool> {
    let of = |argument: &Argument, part: &Shape| match part {
        Shape::Sequence(element) if matches!(**element, Shape::Scalar(_)) => vec![false, !argument.varies],
        part => vec![false; part.width()],
    };
    let parts =
        each.arguments.iter().flat_map(|argument| argument.shape.parts().into_iter().map(move |it| (argument, it)));
    std::iter::once(false).chain(parts.flat_map(|(argument, part)| of(argument, part))).collect()
}

impl Version {
    /// Whether it is the function as it is called with columns and yields them.
    pub fn is_plain(&self) -> bool {
        self.pattern.parameters.iter().all(Option::is_none) && self.results.iter().all(|made| made.form().is_none())
    }
}

/// A walk over a version's function, in order.
struct Walk<'w, 'a> {
    analysis: &'w mut Analysis<'a>,
    function: &'a Function,
    made: Vec<Made>,
    calls: BTreeSet<usize>,
}

impl Walk<'_, '_> {
    /// How the results of a block are made.
    fn block(&mut self, block: &Block) -> Vec<Made> {
        for (at, instruction) in block.instructions.iter().enumerate() {
            let results = self.instruction(&block.instructions[..at], instruction);
            for (result, made) in instruction.results.iter().zip(results) {
                if matches!(self.function.register_type(*result), RegisterType::Column(_)) {
                    self.made[result.0 as usize] = made;
                }
            }
        }
        block.results.iter().map(|&result| self.of(result)).collect()
    }

    fn of(&self, operand: Operand) -> Made {
        operand.register().map_or(Made::Otherwise, |register| self.made[register.0 as usize])
    }

    fn instruction(&mut self, before: &[Instruction], instruction: &Instruction) -> Vec<Made> {
        let count = instruction.results.len();
        match &instruction.op {
            Op::If(then_block, else_block) => {
                let [then_made, else_made] = [then_block, else_block].map(|block| self.block(block));
                then_made.into_iter().zip(else_made).map(|(one, other)| one.or(other)).collect()
            }
            Op::Call(_) | Op::Each(_) => {
                let patterns = self.analysis.patterns(before, instruction, &self.made);
                let Some(patterns) = patterns else { return vec![Made::NotYet; count] };
                let versions: Vec<usize> = patterns.iter().map(|pattern| self.analysis.version(pattern)).collect();
                self.calls.extend(&versions);
                match versions[..] {
                    [called] => self.analysis.versions[called].results.clone(),
                    _ => vec![Made::Otherwise; count],
                }
            }
            op => {
                let type_of = |operand| self.function.operand_type(operand);
                vec![Made::by(op, &instruction.operands, |operand| self.of(operand), type_of); count]
            }
        }
    }
}
