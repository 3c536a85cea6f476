//! Spaces within that are merged again.

use super::{becomes, stays};

#[test]
fn branches_that_read_are_merged_in_the_loop_that_splits_them() {
    let instructions = "%3 = iota %0
         %4 = map equal.int %3 0
         %5 = map not.bool %4
         %6 = dist 7 %0
         %7 = pack %6 %4
         %8 = pack %3 %5
         %9 = map subtract.int %8 1
         %10 = map check_index %9 %1
         %11 = gather %2 %10
         %12 = merge %4 %7 %11";
    becomes(
        "%0: int, %1: int, %2: column int",
        "column int",
        &format!("{instructions}\nreturn %12"),
        &format!("%13 = fused {{\n{instructions}\nyield %12\n}}\nreturn %13"),
    );
}

#[test]
fn what_is_merged_can_be_a_branch_of_others() {
    let instructions = "%3 = map less.int %0 0
         %4 = map not.bool %3
         %5 = pack %0 %3
         %6 = pack %1 %3
         %7 = map equal.int %6 %5
         %8 = map not.bool %7
         %9 = pack %5 %7
         %10 = pack %6 %8
         %11 = map divide.int 100 %10
         %12 = merge %7 %9 %11
         %13 = pack %1 %4
         %14 = merge %3 %12 %13";
    becomes(
        "%0: column int, %1: column int",
        "column int",
        &format!("%2 = map check_lengths %0 %1\n{instructions}\nreturn %14"),
        &format!("%2 = map check_lengths %0 %1\n%15 = fused {{\n{instructions}\nyield %14\n}}\nreturn %15"),
    );
}

#[test]
fn columns_of_other_spaces_are_merged_by_themselves() {
    // By flags that have nothing to do with one another, as far as is known.
    stays(
        "%0: column int, %1: column bool, %2: column bool",
        "column int",
        "%5, %6 = fused {
           %3 = pack %0 %1
           %4 = pack %0 %2
           yield %3 %4
         }
         %7 = merge %1 %5 %6
         return %7",
    );
}

#[test]
fn what_combines_the_elements_before_an_index_is_computed_once() {
    stays(
        "%0: column int, %1: column bool",
        "column int",
        "%5, %6 = fused {
           %2 = map not.bool %1
           %3 = pack %0 %1
           %4 = scan.add.int %3
           %7 = pack %0 %2
           yield %4 %7
         }
         %8 = merge %1 %5 %6
         return %8",
    );
}
