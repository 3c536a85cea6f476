//! Places of bodies that stand where their functions were called.
//!
//! A body gets the call that it takes the place of as the next link of all its places. An `each` of a part of its own
//! caller, which is a function for the sake of flattening alone, is no call.

use crate::program::{Block, Function, Instruction, Op, Place, SiteId};
use std::collections::HashMap;

/// How long a chain may become: what has been inlined so often in turn stays a function. So all chains of a program
/// together are no longer than so many times the program.
pub(super) const DEEPEST: usize = 64;

/// The calls of a program that are gone.
pub(crate) struct Sites<'a> {
    table: &'a mut Vec<Place>,
    /// How long the chain of each is.
    depths: Vec<usize>,
}

impl<'a> Sites<'a> {
    pub fn new(table: &'a mut Vec<Place>) -> Sites<'a> {
        let mut depths: Vec<usize> = Vec::with_capacity(table.len());
        for site in table.iter() {
            depths.push(1 + site.within.map_or(0, |outer| depths[outer.0 as usize]));
        }
        Sites { table, depths }
    }

    fn depth(&self, site: Option<SiteId>) -> usize {
        site.map_or(0, |site| self.depths[site.0 as usize])
    }

    fn add(&mut self, site: Place) -> SiteId {
        self.depths.push(1 + self.depth(site.within));
        self.table.push(site);
        SiteId(u32::try_from(self.table.len() - 1).unwrap_or(u32::MAX))
    }

    /// The length of the longest chain in a block.
    pub(super) fn deepest(&self, block: &Block) -> usize {
        let mut deepest = 0;
        each_place(block, &mut |place| deepest = deepest.max(self.depth(place.within)));
        deepest
    }

    /// The places of the body of a function where an instruction calls it.
    pub(super) fn of(&mut self, call: &Instruction, callee: &Function) -> Inner {
        let is_part = call.place.span == callee.span;
        let root = if is_part { call.place.within } else { Some(self.add(call.place)) };
        let mut inner = Inner { root, sites: HashMap::new() };
        each_place(&callee.body, &mut |place| {
            self.within(place.within, &mut inner);
        });
        inner
    }

    /// What a site of a callee becomes; all chains have their ends at the call.
    fn within(&mut self, site: Option<SiteId>, inner: &mut Inner) -> Option<SiteId> {
        let Some(site) = site else { return inner.root };
        if let Some(&known) = inner.sites.get(&site) {
            return Some(known);
        }
        let Place { span, within } = self.table[site.0 as usize];
        let within = self.within(within, inner);
        let own = self.add(Place { span, within });
        inner.sites.insert(site, own);
        Some(own)
    }
}

/// What the places of a callee are where it was called.
pub(super) struct Inner {
    /// The call.
    root: Option<SiteId>,
    sites: HashMap<SiteId, SiteId>,
}

impl Inner {
    pub(super) fn place(&self, place: Place) -> Place {
        let within = match place.within {
            Some(site) => self.sites.get(&site).copied().or(self.root),
            None => self.root,
        };
        Place { span: place.span, within }
    }
}

fn each_place(block: &Block, visit: &mut impl FnMut(Place)) {
    for instruction in &block.instructions {
        visit(instruction.place);
        match &instruction.op {
            Op::If(then_block, else_block) => {
                each_place(then_block, visit);
                each_place(else_block, visit);
            }
            Op::Fused(block) => each_place(block, visit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::FunctionBuilder;
    use crate::passes::{inline, number};
    use crate::program::{Operand, Program, Register, RegisterType};
    use crate::{Function, FunctionId};
    use nesl_prim::{ScalarOp, ScalarType};
    use nesl_span::{FileId, Span};

    fn at(start: usize) -> Span {
        Span::new(FileId(0), start, start + 1)
    }

    /// A function that negates what another gives: its call is at 10 `number` + 1, its negation 1 behind that.
    fn caller(number: usize, callee: Option<u32>) -> Function {
        let mut builder = FunctionBuilder::new(format!("f{number}"), at(10 * number));
        let int = RegisterType::Scalar(ScalarType::Int);
        let mut value: Operand = builder.parameter(int).into();
        if let Some(callee) = callee {
            builder.set_span(at(10 * number + 1));
            value = builder.call(FunctionId(callee), &[value], &[int])[0];
        }
        builder.set_span(at(10 * number + 2));
        let result = builder.scalar(ScalarOp::NegateInt, &[value]);
        builder.finish(vec![result])
    }

    #[test]
    fn a_place_keeps_all_calls_that_led_there() {
        let functions = vec![caller(0, Some(1)), caller(1, Some(2)), caller(2, None)];
        let mut program = Program { functions, ..Program::default() };
        inline::run(&mut program);
        number::run(&mut program);
        let chains: Vec<Vec<u32>> = (program.functions[0].body.instructions.iter())
            .map(|instruction| program.chain(instruction.place).map(|span| span.start).collect())
            .collect();
        assert_eq!(chains, [vec![22, 11, 1], vec![12, 1], vec![2]]);
        assert_eq!(program.functions[0].register_type(Register(1)), RegisterType::Scalar(ScalarType::Int));
        assert_eq!(program.sites.len(), 3, "two of the first function, and one of the second");
    }

    #[test]
    fn chains_end_where_they_would_be_too_long() {
        let count: u32 = 200;
        let next = |number: u32| (number + 1 < count).then_some(number + 1);
        let functions = (0..count).map(|number| caller(number as usize, next(number))).collect();
        let mut program = Program { functions, ..Program::default() };
        inline::run(&mut program);
        let longest = |function: &Function| {
            let chains = function.body.instructions.iter().map(|instruction| program.chain(instruction.place).count());
            chains.max().unwrap_or(0)
        };
        let longest = program.functions.iter().map(longest).max();
        assert_eq!(longest, Some(super::DEEPEST + 1));
    }
}
