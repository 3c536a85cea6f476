//! The meanings of the table as functions that native code can call.
//!
//! Every scalar operation is one, so a new row of the table runs in native code as soon as it is there; those that
//! occur in inner loops have instructions of their own in [`crate::scalar`].

use nesl_prim::{Element, Failure, ScalarOp, Visitor};
use std::marker::PhantomData;

/// Computes on words; false where the operation fails, and then nothing is written.
pub(crate) type Shim = unsafe extern "C" fn(a: u64, b: u64, c: u64, result: *mut u64) -> u8;

/// The function that computes an operation. Operands that it does not have are ignored.
pub(crate) fn shim(op: ScalarOp) -> Shim {
    op.visit(Thunks)
}

struct Thunks;

/// The value of a type that has only one: a meaning of the table, by its type.
pub(crate) fn zst_instance<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a meaning captures nothing") };
    // SAFETY: a value without bytes can be read from any aligned address. That such an `F` exists is known from the
    // caller, who has been given one by the table.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// Carries the types of a meaning to its function.
struct Meaning<F, A, B, C, R>(PhantomData<(F, A, B, C, R)>);

impl<F, A: Element, B: Element, C: Element, R: Element> Meaning<F, A, B, C, R>
where
    F: Fn(A, B, C) -> Result<R, Failure> + Copy,
{
    unsafe extern "C" fn call(a: u64, b: u64, c: u64, result: *mut u64) -> u8 {
        match zst_instance::<F>()(A::from_word(a), B::from_word(b), C::from_word(c)) {
            Ok(value) => {
                // SAFETY: native code passes the address of a stack slot of its own.
                unsafe { result.write(value.to_word()) };
                1
            }
            Err(_) => 0,
        }
    }

    fn of(_: F) -> Shim {
        Self::call
    }
}

impl Visitor for Thunks {
    type Output = Shim;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync + 'static) -> Shim {
        Meaning::of(move |a: A, _: u8, _: u8| Ok::<R, Failure>(f(a)))
    }

    fn binary<A: Element, B: Element, R: Element>(self, f: impl Fn(A, B) -> R + Copy + Send + Sync + 'static) -> Shim {
        Meaning::of(move |a: A, b: B, _: u8| Ok::<R, Failure>(f(a, b)))
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync + 'static,
    ) -> Shim {
        Meaning::of(move |a: A, b: B, c: C| Ok::<R, Failure>(f(a, b, c)))
    }

    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Shim {
        Meaning::of(move |a: A, _: u8, _: u8| f(a))
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Shim {
        Meaning::of(move |a: A, b: B, _: u8| f(a, b))
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Shim {
        Meaning::of(f)
    }
}
