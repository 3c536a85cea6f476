//! Float sums and products in kernels: a kernel fills a buffer with the elements of a block, and whole blocks are combined here,
//! as [`nesl_prim::sum`] defines, with the widest vector instructions that the machine has.

use crate::state::State;
use nesl_prim::{ScalarOp, sum};
use std::mem::offset_of;

/// Sums or products in progress: the elements of one sequence, or of one segment after another.
#[repr(C)]
#[derive(Debug)]
pub struct Sums {
    /// The elements of the block that is not complete.
    buffer: [f64; sum::BLOCK],
    /// Whether elements are multiplied.
    is_product: bool,
    /// Where the first element in the buffer is, if the sequence begins inside a block.
    begin: usize,
    /// The elements of the block in which the sequence begins, if that is complete and not all of the block.
    head: Vec<f64>,
    /// The results of the whole blocks.
    blocks: Vec<f64>,
}

/// Where kernels write elements.
pub(crate) const BUFFER: i32 = offset_of!(Sums, buffer) as i32;

impl Sums {
    /// Nothing, of an operation whose order counts. The first element will be at this position of its block.
    ///
    /// # Panics
    /// If the order of the operation does not count.
    pub fn new(op: ScalarOp, begin: usize) -> Box<Sums> {
        let is_product = match op {
            ScalarOp::AddFloat => false,
            ScalarOp::MultiplyFloat => true,
            other => panic!("{other} is combined in any order"),
        };
        let buffer = [0.0; sum::BLOCK];
        Box::new(Sums { buffer, is_product, begin, head: Vec::new(), blocks: Vec::new() })
    }

    fn identity(&self) -> f64 {
        if self.is_product { 1.0 } else { 0.0 }
    }

    fn block(&self, elements: &[f64]) -> f64 {
        if self.is_product {
            wide(|| sum::block(1.0, multiply, elements))
        } else {
            wide(|| sum::block(0.0, add, elements))
        }
    }

    /// The same for the first elements in the buffer, if they are no more than lanes: without loops that depend on how many.
    fn short(&self, count: usize) -> f64 {
        let elements =
            self.buffer.first_chunk::<{ sum::LANES }>().unwrap_or_else(|| unreachable!("a block has many lanes"));
        if self.is_product {
            wide(|| sum::lanes(multiply, filled(1.0, multiply, elements, count)))
        } else {
            wide(|| sum::lanes(add, filled(0.0, add, elements, count)))
        }
    }

    fn tree(&self, blocks: &[f64]) -> f64 {
        if self.is_product { sum::tree(1.0, multiply, blocks) } else { sum::tree(0.0, add, blocks) }
    }

    /// The buffer is full.
    fn complete(&mut self) {
        if self.begin > 0 {
            self.head.extend_from_slice(&self.buffer[self.begin..]);
            self.begin = 0;
        } else {
            let block = self.block(&self.buffer);
            self.blocks.push(block);
        }
    }

    /// The result, where so many elements are in the buffer. Begins anew.
    fn finish(&mut self, tail: usize) -> f64 {
        if self.blocks.is_empty() {
            return match tail {
                0 => self.identity(),
                1..=sum::LANES => self.short(tail),
                _ => self.block(&self.buffer[..tail]),
            };
        }
        if tail > 0 {
            let block = self.block(&self.buffer[..tail]);
            self.blocks.push(block);
        }
        let result = self.tree(&self.blocks);
        self.blocks.clear();
        result
    }

    /// The result of parts of one sequence, in order, each with the position in a block where its elements end.
    pub fn join(parts: Vec<(Box<Sums>, usize)>) -> f64 {
        let mut parts = parts.into_iter();
        let Some((mut all, mut tail)) = parts.next() else { return 0.0 };
        for (part, end) in parts {
            if tail == 0 {
                all.blocks.extend_from_slice(&part.blocks);
                all.buffer[..end].copy_from_slice(&part.buffer[..end]);
            } else if part.head.is_empty() {
                all.buffer[tail..end].copy_from_slice(&part.buffer[tail..end]);
            } else {
                all.buffer[tail..].copy_from_slice(&part.head);
                let block = all.block(&all.buffer);
                all.blocks.push(block);
                all.blocks.extend_from_slice(&part.blocks);
                all.buffer[..end].copy_from_slice(&part.buffer[..end]);
            }
            tail = end;
        }
        all.finish(tail)
    }
}

/// Lanes with so many of the elements; the others hold the identity.
#[inline(always)]
fn filled(
    identity: f64,
    combine: impl Fn(f64, f64) -> f64,
    elements: &[f64; sum::LANES],
    count: usize,
) -> [f64; sum::LANES] {
    std::array::from_fn(|lane| if lane < count { combine(identity, elements[lane]) } else { identity })
}

fn add(a: f64, b: f64) -> f64 {
    a + b
}

fn multiply(a: f64, b: f64) -> f64 {
    a * b
}

/// Begins the sums, or products, of a yield of a group; where they are.
///
/// # Safety
/// Native code passes its state.
pub(crate) unsafe extern "C" fn begin(state: *mut State<'_>, index: usize, is_product: usize) -> *mut Sums {
    // SAFETY: nobody else uses the state while native code waits.
    let sums = unsafe { &mut *state }.sums(index);
    (sums.is_product, sums.begin) = (is_product != 0, 0);
    // What a group left that gave up.
    sums.head.clear();
    sums.blocks.clear();
    sums
}

/// What a kernel calls where the buffer is full.
pub(crate) unsafe extern "C" fn complete(sums: *mut Sums) {
    // SAFETY: a kernel passes the address that it was given, and nothing else has it while the kernel runs.
    unsafe { &mut *sums }.complete();
}

/// What a kernel calls where a sequence ends.
pub(crate) unsafe extern "C" fn finish(sums: *mut Sums, tail: u64) -> f64 {
    // SAFETY: as in [`complete`].
    unsafe { &mut *sums }.finish(tail as usize)
}

/// Runs a loop compiled for AVX2 where the machine has that. Floats are never contracted, so bits stay.
#[inline(always)]
fn wide<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2.
        return unsafe { avx2(body) };
    }
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}
