//! Gathers instructions over one index space into groups that an engine can run as one loop, with nothing in between
//! materialised.
//!
//! `{x*x+1.0 : x in v | x > 0.0}` becomes one group, of which only what was kept and computed leaves the loop:
//!
//! ```text
//! %7 = fused {
//!   %3 = map greater.float %1 0.0
//!   %4 = pack %1 %3
//!   %5 = map multiply.float %4 %4
//!   %6 = map add.float %5 1.0
//!   yield %6
//! }
//! ```
//!
//! and the filters of a quicksort read their column once:
//!
//! ```text
//! %7, %8 = fused {
//!   %3 = map less.int %1 %2
//!   %4 = pack %1 %3
//!   %5 = map greater.int %1 %2
//!   %6 = pack %1 %5
//!   yield %4 %6
//! }
//! ```
//!
//! One index is no loop: such instructions stay apart.
//!
//! [`crate::fusion`] says what can be in a group, `lengths` which columns are known to have one length. A group yields
//! what something outside reads; not what is only counted there, where another column is as long (`counted`).
//!
//! **Order.** A group grows from its first instruction downwards and stands at the place of its last one; so its
//! instructions move down, past those between that do not need them. Those that do need them move down behind the
//! group, and nothing that reads these can be in it. What moves past each other changes nothing:
//!
//! * An instruction that can fail moves past none that can, and past none that may rely on its not having failed. So
//!   the first failure stays the first.
//! * Nothing moves up past an instruction that can fail: an index that is used has been checked.
//! * A group that writes elements of a column reads neither that nor a part of it in another way, but for the segments
//!   that it writes over: where nobody else has the column it is written over, and a group that holds on to it would
//!   make a copy.
//! * Nothing moves down past calls, branches and the world outside: it would be kept alive for longer, or act in
//!   another order. Up past them to a group moves only what cannot fail and makes less of what the group reads anyway.

mod computed;
mod counted;
pub(super) mod lengths;

use crate::fusion::{self, Extent, Group};
use crate::op::{Class, Fusion, Kind, VectorOp};
use crate::passes::effect;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use computed::Computed;
use lengths::Lengths;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::{HashMap, HashSet};

/// The indices of one element.
const ONE: Extent = Extent::Value(Operand::Constant(ScalarValue::Int(1)));

/// Makes groups in all functions.
pub fn run(program: &mut Program) {
    run_with(program, 2, |_, _| true);
}

/// Makes groups of instructions that each process can run on its part of the indices, and what each makes of its part
/// is easily put together; what they read at indices that they compute (`computed`), or in segments, a process gets
/// before.
/// That is worth it for a single one, too: elements stay where they are.
pub fn run_on_parts(program: &mut Program) {
    run_with(program, 1, |instruction, computed| match instruction.op {
        // Segments are written over where they are, so their elements are best computed there.
        Op::Map(_) | Op::Vector(VectorOp::Merge | VectorOp::SegScatter) => true,
        Op::Vector(VectorOp::Gather) => computed.has(instruction.operands[1]),
        Op::Vector(VectorOp::Compact) => {
            computed.has(instruction.operands[1])
                || computed.is_of_loops(instruction) && !computed.is_asking(instruction)
        }
        Op::Vector(op) => op.operator_in(Class::Reduce).is_some() || op.is_source() || is_filter(op),
        _ => false,
    });
}

/// Whether an instruction may be in a group.
type IsMember = fn(&Instruction, &Computed) -> bool;

/// The same of some instructions alone, and of no fewer than so many.
fn run_with(program: &mut Program, fewest: usize, is_member: IsMember) {
    for function in &mut program.functions {
        let computed = Computed::of(function);
        let registers = std::mem::take(&mut function.registers);
        let mut body = std::mem::take(&mut function.body);
        let mut reads = vec![0; registers.len()];
        body.visit_reads(&mut |register| reads[register.0 as usize] += 1);
        let mut fuser = Fuser {
            is_member,
            computed,
            fewest,
            lengths: Lengths::new(registers.len()),
            registers,
            reads,
            views: HashMap::new(),
            now: 0,
        };
        fuser.block(&mut body);
        function.registers = fuser.registers;
        function.body = body;
    }
}

/// Takes all groups apart: other passes are about single instructions.
pub fn split(program: &mut Program) {
    program.functions.iter_mut().for_each(|function: &mut Function| rewrite::rewrite(function, &mut Split));
}

struct Split;

impl Rule for Split {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let operands = &instruction.operands;
        match &instruction.op {
            Op::Fused(_) => Action::Take(true),
            // One that was in a group.
            Op::Each(each) if each.member_operand_types().len() == operands.len() => {
                let Some((op, position)) = each.plan().counted_by() else { return Action::Keep };
                let ty = RegisterType::Scalar(ScalarType::Int);
                let count = context.emit(Op::Vector(op), vec![operands[position]], ty);
                Action::Become(instruction.op.clone(), std::iter::once(count).chain(operands.iter().copied()).collect())
            }
            _ => Action::Keep,
        }
    }
}

/// An instruction and when it stood where, in the order before there were groups.
struct Item {
    instruction: Instruction,
    time: usize,
    /// The same of the first of those in it.
    first: usize,
}

/// A group that can be made of instructions of a block, by their positions there.
struct Found {
    members: Vec<usize>,
    /// Members that move up to the last of these.
    hoisted: Vec<usize>,
    /// What reads them and stands before the last of them.
    late: Vec<usize>,
}

struct Fuser {
    /// What may be in groups.
    is_member: IsMember,
    computed: Computed,
    /// The fewest instructions of a group.
    fewest: usize,
    registers: Vec<RegisterType>,
    /// How often each register was read before there were groups.
    reads: Vec<usize>,
    lengths: Lengths,
    /// By columns that may be parts of others, those.
    views: HashMap<Register, Register>,
    now: usize,
}

impl Fuser {
    /// Notes of which column the results of an instruction may be a part.
    fn note_views(&mut self, instruction: &Instruction) {
        let Op::Vector(op) = &instruction.op else { return };
        if let (false, Some(&Operand::Register(whole)), [view]) =
            (op.row().fresh || op.is_update(), instruction.operands.first(), &instruction.results[..])
            && matches!(self.registers[whole.0 as usize], RegisterType::Column(_))
        {
            self.views.insert(*view, self.whole(whole));
        }
    }

    /// The column that a column is, or may be a part of.
    fn whole(&self, column: Register) -> Register {
        self.views.get(&column).copied().unwrap_or(column)
    }

    /// Whether an instruction writes to a column that others read: at other places, or where they can fail, and what
    /// has been written must not be read again.
    fn writes_to_what_is_read(&self, instruction: &Instruction, others: &[usize], items: &[Item]) -> bool {
        let Some(target) = self.target(instruction) else { return false };
        let others = || others.iter().map(|&index| &items[index].instruction);
        // What they give is never in memory.
        let there: Vec<&Instruction> =
            others().filter(|other| fusion::reads_where_written(other, instruction)).collect();
        let is_from_there = |register: Register| there.iter().any(|other| other.results.contains(&register));
        let mut is_read = !there.is_empty() && others().any(|other| effect::has_effect(&other.op, &other.operands));
        for other in others().filter(|other| !fusion::reads_where_written(other, instruction)) {
            other.visit_reads(&mut |register| is_read |= !is_from_there(register) && self.whole(register) == target);
        }
        is_read
    }

    /// The column that an update writes to, or that this may be a part of.
    fn target(&self, instruction: &Instruction) -> Option<Register> {
        match (&instruction.op, instruction.operands.first()) {
            (Op::Vector(op), Some(&Operand::Register(target))) if op.is_update() => Some(self.whole(target)),
            _ => None,
        }
    }

    /// Takes out of a group what only updates read that are not in it: the indices at which they write. They can be in a
    /// group with these. They stay where they are, so they need nothing of the group, which moves down past them, and not
    /// that it has failed first.
    fn leave_what_is_for(&self, updates: &[usize], members: &mut Vec<usize>, items: &[Item]) {
        let has_effect = |index: &usize| {
            let Instruction { op, operands, .. } = &items[*index].instruction;
            effect::has_effect(op, operands)
        };
        if updates.is_empty() || members.iter().any(has_effect) {
            return;
        }
        let mut reads: HashMap<Register, usize> = HashMap::new();
        let count = |index: usize, reads: &mut HashMap<Register, usize>| {
            items[index].instruction.visit_reads(&mut |register| *reads.entry(register).or_default() += 1);
        };
        updates.iter().for_each(|&index| count(index, &mut reads));
        let mut leaving = HashSet::new();
        for &index in members.iter().rev() {
            let mut results = items[index].instruction.results.iter();
            if results.all(|result| reads.get(result) == Some(&self.reads[result.0 as usize])) {
                leaving.insert(index);
                count(index, &mut reads);
            }
        }
        let targets: HashSet<Register> =
            updates.iter().filter_map(|&index| self.target(&items[index].instruction)).collect();
        let mut made = HashSet::new();
        members.retain(|&index| {
            let Item { instruction, .. } = &items[index];
            let mut stays = !leaving.contains(&index);
            instruction.visit_reads(&mut |register| {
                stays |= made.contains(&register) || targets.contains(&self.whole(register));
            });
            if stays {
                made.extend(instruction.results.iter().copied());
            }
            stays
        });
    }

    fn block(&mut self, block: &mut Block) {
        let mut items = Vec::with_capacity(block.instructions.len());
        for mut instruction in std::mem::take(&mut block.instructions) {
            if let Op::If(then_block, else_block) = &mut instruction.op {
                for block in [then_block, else_block] {
                    let known = self.lengths.known();
                    self.block(block);
                    self.lengths.forget(known);
                }
            }
            self.now += 1;
            self.lengths.learn(&instruction, &self.registers, self.now);
            self.note_views(&instruction);
            items.push(Item { instruction, time: self.now, first: self.now });
        }
        let mut start = 0;
        while start < items.len() {
            match self.find(&items, start) {
                // Others may begin at the same place: what stood between.
                Some(found) => items = self.fuse(items, &found),
                None => start += 1,
            }
        }
        counted::run(&mut items, &self.registers, &block.results);
        block.instructions = items.into_iter().map(|item| item.instruction).collect();
    }

    /// The group that begins with an instruction, if there is one.
    fn find(&self, items: &[Item], start: usize) -> Option<Found> {
        // A group may rely on all checks before its place, also on those that its first instructions came before. Where
        // that is depends on what it relies on.
        let mut limit = usize::MAX;
        loop {
            let found = self.find_by(items, start, limit)?;
            let known = known_before(items, &found.members);
            if known >= limit {
                return Some(found);
            }
            limit = known;
        }
    }

    /// The same, with what is known of lengths at a time.
    fn find_by(&self, items: &[Item], start: usize, limit: usize) -> Option<Found> {
        let space = fusion::extent(&items[start].instruction, &self.registers)?;
        if self.lengths.same(space, ONE, limit) {
            return None;
        }
        let mut group = Group::default();
        let (mut members, mut late, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let mut can_fail = false;
        // What instructions that move behind the group define.
        let mut behind = HashSet::new();
        let mut end = items.len();
        let is_all = |extent| self.lengths.same(extent, space, limit);
        for (index, Item { instruction, .. }) in items.iter().enumerate().skip(start) {
            if is_barrier(&instruction.op) {
                end = index;
                break;
            }
            let (mut reads_behind, mut reads_group) = (false, false);
            instruction.visit_reads(&mut |register| {
                reads_behind |= behind.contains(&register);
                reads_group |= group.defines(register);
            });
            let has_effect = effect::has_effect(&instruction.op, &instruction.operands);
            let mut can_be = !reads_behind && (self.is_member)(instruction, &self.computed);
            if can_be && self.writes_to_what_is_read(instruction, &members, items) {
                refused.push(index);
                can_be = false;
            }
            if can_be && group.admit(instruction, &self.registers, is_all) {
                members.push(index);
                can_fail |= has_effect;
            } else if reads_behind || reads_group {
                if has_effect {
                    end = index;
                    break;
                }
                behind.extend(instruction.results.iter().copied());
                late.push(index);
            } else if can_fail && (has_effect || relies(&instruction.op)) {
                end = index;
                break;
            }
        }
        self.leave_what_is_for(&refused, &mut members, items);
        let last = members.last().copied()?;
        let hoisted_to = |last: usize| {
            let between = items[last + 1..end].iter().flat_map(|item| item.instruction.results.iter().copied());
            let defined_later = behind.iter().copied().chain(between).collect();
            self.hoisted(items, end, (space, limit), group.clone(), defined_later)
        };
        let mut hoisted = hoisted_to(last);
        let mut read = HashSet::new();
        for &index in members.iter().chain(&hoisted) {
            items[index].instruction.visit_reads(&mut |register| {
                read.insert(register);
            });
        }
        let is_used = |index: usize| items[index].instruction.results.iter().any(|result| read.contains(result));
        members.retain(|&index| !is_made_of_nothing(&items[index].instruction.op) || is_used(index));
        // Without its first instruction it may be a larger one: what reads that at other indices can be in it then.
        members.first().filter(|&&first| first == start)?;
        let last_used = members.last().copied()?;
        if last_used < last {
            // The group stands before what came up to the last one; what moves up to it cannot read that.
            hoisted = hoisted_to(last_used);
        }
        late.retain(|&index| index < last_used);
        let mut all = members.iter().chain(&hoisted);
        let is_enough = members.len() + hoisted.len() >= self.fewest
            && (self.fewest > 1 || all.any(|&index| !self.moves_alone(&items[index].instruction)));
        is_enough.then_some(Found { members, hoisted, late })
    }

    /// Whether an instruction brings elements of segments together that may lie anywhere. By itself, or together with
    /// others that move in the same way, it is no loop.
    fn moves_alone(&self, instruction: &Instruction) -> bool {
        matches!(instruction.op, Op::Vector(VectorOp::Compact)) && !self.computed.has(instruction.operands[1])
    }

    /// What can move up to a group from behind a call or a branch: what reads the group's columns once more and makes
    /// less of them, the third filter of a quicksort that has already called itself. Then the columns need not outlive
    /// the call. `defined_later` is what is not there where the group stands.
    fn hoisted(
        &self,
        items: &[Item],
        end: usize,
        (space, limit): (Extent, usize),
        mut group: Group,
        mut defined_later: HashSet<Register>,
    ) -> Vec<usize> {
        let mut candidates = Vec::new();
        for (index, Item { instruction, .. }) in items.iter().enumerate().skip(end) {
            let mut is_late = effect::has_effect(&instruction.op, &instruction.operands);
            instruction.visit_reads(&mut |register| is_late |= defined_later.contains(&register));
            let is_all = |extent| self.lengths.same(extent, space, limit);
            let can_be = !is_late && can_move_up(&instruction.op) && (self.is_member)(instruction, &self.computed);
            if can_be && group.admit(instruction, &self.registers, is_all) {
                candidates.push(index);
            } else {
                defined_later.extend(instruction.results.iter().copied());
            }
        }
        // From the last one: those that make less, and what they need.
        let mut needed = HashSet::new();
        candidates.reverse();
        candidates.retain(|&index| {
            let instruction = &items[index].instruction;
            let is_wanted = makes_less(&instruction.op) || instruction.results.iter().any(|it| needed.contains(it));
            if is_wanted {
                instruction.visit_reads(&mut |register| {
                    needed.insert(register);
                });
            }
            is_wanted
        });
        candidates.reverse();
        candidates
    }

    /// Makes a group.
    fn fuse(&mut self, items: Vec<Item>, found: &Found) -> Vec<Item> {
        let last = found.members.last().copied().unwrap_or(0);
        let first = found.members.iter().map(|&index| items[index].first).min().unwrap_or(0);
        let (mut out, mut members, mut late) = (Vec::with_capacity(items.len()), Vec::new(), Vec::new());
        let hoisted: Vec<Instruction> = found.hoisted.iter().map(|&index| items[index].instruction.clone()).collect();
        for (index, item) in items.into_iter().enumerate() {
            if found.hoisted.contains(&index) {
                continue;
            }
            if found.members.contains(&index) {
                members.push(item.instruction);
                if index == last {
                    members.extend(hoisted.iter().cloned());
                    let (instruction, again) = self.group(std::mem::take(&mut members));
                    out.push(Item { instruction, time: item.time, first });
                    let again = again.into_iter();
                    out.extend(again.map(|instruction| Item { instruction, time: item.time, first: item.time }));
                    out.append(&mut late);
                }
            } else if found.late.contains(&index) {
                late.push(item);
            } else {
                out.push(item);
            }
        }
        out
    }

    /// The group of some instructions. Its results have the names by which others know them; inside they get new ones.
    ///
    /// What is made of nothing others make again, where it may not get to memory, rather than that the group writes it:
    /// those instructions, too.
    fn group(&mut self, mut members: Vec<Instruction>) -> (Instruction, Vec<Instruction>) {
        let mut inside: HashMap<Register, usize> = HashMap::new();
        for member in &members {
            member.visit_reads(&mut |register| *inside.entry(register).or_default() += 1);
        }
        let mut names = HashMap::new();
        let (mut results, mut yields, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for member in &mut members {
            let made_again = is_made_of_scalars(&member.op).then(|| member.clone());
            for operand in &mut member.operands {
                if let Operand::Register(register) = operand {
                    *register = names.get(register).copied().unwrap_or(*register);
                }
            }
            for result in &mut member.results {
                let reads_inside = inside.get(result).copied().unwrap_or(0);
                if self.reads[result.0 as usize] > reads_inside {
                    let ty = self.registers[result.0 as usize];
                    let inner = Register::add(&mut self.registers, ty);
                    names.insert(*result, inner);
                    match &made_again {
                        Some(instruction) => {
                            self.reads[result.0 as usize] -= reads_inside;
                            instruction.visit_reads(&mut |register| self.reads[register.0 as usize] += 1);
                            again.push(instruction.clone());
                        }
                        None => {
                            results.push(*result);
                            yields.push(inner.into());
                        }
                    }
                    *result = inner;
                }
            }
        }
        let place = members[0].place;
        (Instruction::new(Op::Fused(Box::new(Block::new(members, yields))), Vec::new(), results, place), again)
    }
}

/// Until when all that says something of lengths has run before the last of some members: but checks among them, and in
/// groups that stand behind them.
fn known_before(items: &[Item], members: &[usize]) -> usize {
    let last = members.last().copied().unwrap_or(0);
    let missing = items
        .iter()
        .enumerate()
        .filter(|(index, item)| (*index > last || members.contains(index)) && compares_lengths(&item.instruction.op));
    missing.map(|(_, item)| item.first - 1).fold(items[last].time, usize::min)
}

/// Whether an instruction finds columns of lengths equal, at the indices of a loop.
fn compares_lengths(op: &Op) -> bool {
    match op {
        Op::Map(op) => *op == ScalarOp::CheckLengths,
        Op::Fused(block) => block.instructions.iter().any(|instruction| compares_lengths(&instruction.op)),
        _ => false,
    }
}

/// Whether an instruction needs nothing but that its columns have the lengths they are known to have.
fn can_move_up(op: &Op) -> bool {
    matches!(op, Op::Map(_)) || makes_less(op) || is_made_of_nothing(op) && !is_made_of_scalars(op)
}

/// Whether the results of an instruction are smaller than what it reads, or may be.
fn makes_less(op: &Op) -> bool {
    matches!(op, Op::Vector(op) if is_filter(*op) || op.class() == Class::Reduce)
}

/// Whether an instruction makes elements of none. A group that does not need them leaves them to those that do, where
/// they never get to memory.
fn is_made_of_nothing(op: &Op) -> bool {
    matches!(op, Op::Vector(op) if op.is_source())
}

/// The same of one that reads nothing but scalars: it keeps nothing alive.
fn is_made_of_scalars(op: &Op) -> bool {
    matches!(op, Op::Vector(op) if op.is_scalar_source())
}

/// Whether an instruction keeps elements by flags.
fn is_filter(op: VectorOp) -> bool {
    matches!(op.fusion(), Fusion::Filter(_))
}

/// Whether nothing moves past an instruction.
fn is_barrier(op: &Op) -> bool {
    matches!(op, Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..))
}

/// Whether an instruction may need that another one before it has not failed: that lengths are equal, indices in range.
fn relies(op: &Op) -> bool {
    match op {
        Op::Scalar(_) | Op::Constants(_) => false,
        // What is said of a descriptor that is there needs none.
        Op::Vector(op) if op.class() == Class::Shape && op.row().operands == [Kind::Descriptor] => false,
        Op::Vector(op) => !op.is_known(),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
