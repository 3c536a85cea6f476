//! Where the extreme elements are: a reduction that is part of a loop over all indices.

use super::becomes;
use crate::passes::fuse::run_on_parts;
use crate::passes::testing;

#[test]
fn values_and_their_places_are_one_loop_in_segments_and_over_all() {
    becomes(
        "%0: column float, %1: column int",
        "column float, column int, int",
        "%2 = packed %1
         %3 = total %2
         %4 = length %0
         %5 = check_lengths %3 %4
         %6 = map negate.float %0
         %7 = seg_reduce.minimum.float %6 %2
         %8 = seg_reduce_index.minimum.float %6 %2
         %9 = reduce_index.maximum.float %6
         return %7 %8 %9",
        "%2 = packed %1
         %3 = total %2
         %4 = length %0
         %5 = check_lengths %3 %4
         %10, %11, %12 = fused {
           %6 = map negate.float %0
           %7 = seg_reduce.minimum.float %6 %2
           %8 = seg_reduce_index.minimum.float %6 %2
           %9 = reduce_index.maximum.float %6
           yield %7 %8 %9
         }
         return %10 %11 %12",
    );
}

#[test]
fn places_among_what_a_filter_keeps_are_not_known_in_the_loop() {
    becomes(
        "%0: column int",
        "int",
        "%1 = map greater.int %0 0
         %2 = pack %0 %1
         %3 = map negate.int %2
         %4 = reduce_index.maximum.int %3
         return %4",
        "%5 = fused {
           %1 = map greater.int %0 0
           %2 = pack %0 %1
           %3 = map negate.int %2
           yield %3
         }
         %4 = reduce_index.maximum.int %5
         return %4",
    );
}

#[test]
fn parts_of_columns_have_extremes_that_are_put_together() {
    testing::becomes(
        run_on_parts,
        "function f(%0: column int) -> int {
           %1 = map negate.int %0
           %2 = reduce_index.maximum.int %1
           return %2
         }",
        "function f(%0: column int) -> int {
           %2 = fused {
             %1 = map negate.int %0
             %3 = reduce_index.maximum.int %1
             yield %3
           }
           return %2
         }",
    );
}
