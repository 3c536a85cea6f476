//! The passes, in order, each with its reason: of all code, of code that runs one instance after another, and of code
//! whose columns lie in parts on several processes.

use crate::pass::Pass;
use crate::passes::{
    accumulate, beside, bounds, call_pattern, checked, copy, count, cse, dead, descriptor, fold, fuse, fuse_each,
    grouped_reduce, hoist, hoist_common, if_conversion, inline, keep_rows, last_use, narrow, number, parts, peel,
    read_early, reduce_parts, regular, rematerialize, rows, short_segments, simplify, sink, sink_common, slice, sort,
    speculate, unroll, view, windows, written_place, zero_trip,
};

const COPY: Pass = Pass {
    name: "copy",
    summary: "replaces results of an if that are the same in both blocks",
    reason: "before cse: instructions on such results can then equal those on the originals",
    run: copy::run,
};

const SINK_COMMON: Pass = Pass {
    name: "sink_common",
    summary: "takes what both blocks of an if do alike out of it, and lets ifs that choose scalars be selections",
    reason: "after copy and cse, which make equal operands one register; before the passes that read lengths and descriptors \
             off the instructions that made them",
    run: sink_common::run,
};

const FOLD: Pass = Pass {
    name: "fold",
    summary: "computes scalar operations on constants, drops neutral ones, and takes the branch of a known condition",
    reason: "before all others but inline: branches that go away are work for no other pass",
    run: fold::run,
};

const SIMPLIFY: Pass = Pass {
    name: "simplify",
    summary: "reads lengths and descriptors off the instructions that made them, and broadcasts without copies",
    reason: "before cse: lengths of columns that were computed differently become the same register",
    run: simplify::run,
};

const CSE: Pass = Pass {
    name: "cse",
    summary: "computes equal instructions once",
    reason: "after simplify and copy, which make instructions equal",
    run: cse::run,
};

const DEAD: Pass = Pass {
    name: "dead",
    summary: "removes what cannot fail and is not used, and functions that nothing runs",
    reason: "after all that replaces uses",
    run: dead::run,
};

/// The passes in order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "inline",
        summary: "puts functions that are not recursive where they are called, if they are small, or called once",
        reason: "first: what is known of arguments and of results meets in one body, for all other passes",
        run: inline::run,
    },
    FOLD,
    SIMPLIFY,
    COPY,
    CSE,
    SINK_COMMON,
    Pass {
        name: "count",
        summary: "takes the number of true flags from the length of what was packed by them",
        reason: "after cse, which makes equal flags one register",
        run: count::run,
    },
    Pass {
        name: "reduce_parts",
        summary: "reduces part by part what is put together to be reduced, rather than to put it together",
        reason: "after simplify and cse, by which lengths tell that segments are those of the parts; before fold runs again, \
                 for parts that are known",
        run: reduce_parts::run,
    },
    Pass {
        name: "windows",
        summary: "knows how long subsequences are that are cut one after another, all alike",
        reason: "after simplify and cse, which make equal lengths one register; before slice and simplify, which know what to do \
                 with segments that are as long as one another",
        run: windows::run,
    },
    Pass {
        name: "slice",
        summary: "makes slices, and views of segments, of gathers by ranges of indices, and checks a range at once",
        reason: "after simplify and cse, which make of indices and lengths what ranges are known by; before simplify runs again, \
                 for slices that are the whole",
        run: slice::run,
    },
    Pass {
        name: "descriptor",
        summary: "lets lengths and descriptors that a check makes equal be one, and takes sums of lengths from descriptors",
        reason: "after cse, which makes lengths registers that can be compared; before fold runs again, which drops the checks \
                 that now compare a length with itself",
        run: descriptor::run,
    },
    Pass {
        name: "parts",
        summary: "writes one value at indices that are concatenated by one part after another",
        reason: "after simplify, which says that all values are the same; before it runs again, which knows the lengths of parts",
        run: parts::run,
    },
    Pass {
        name: "call_pattern",
        summary: "calls functions with the numbers that make a range or a constant column, not with the column",
        reason: "after inline, which leaves few calls, and slice, which makes slices of ranges; before fold and simplify run \
                 again, which compute what is read of columns that are known by numbers",
        run: call_pattern::run,
    },
    Pass {
        reason: "again after simplify and cse: lengths that are now constants or one register need no check",
        ..FOLD
    },
    Pass { reason: "again after cse and fold: broadcasts of what is now known, slices that are the whole", ..SIMPLIFY },
    Pass {
        name: "short_segments",
        summary: "reduces sequences of a few known elements by one operation after another on whole columns",
        reason: "after simplify, by which all segments are known to be equally long; before cse, for what several reductions compute",
        run: short_segments::run,
    },
    Pass { reason: "again after short_segments: operations on elements that are known", ..FOLD },
    Pass { reason: "again after slice: columns that are selected alike need one view", ..CSE },
    DEAD,
    Pass {
        name: "keep_rows",
        summary: "writes segments that change over the others, where these stay as they are, rather than to copy all",
        reason: "after simplify and cse, by which it is known how long segments are, and dead; after slice, which would make \
                 slices again of the copies of parts of the data; before view and fuse, which read and write in one loop then",
        run: keep_rows::run,
    },
    Pass { reason: "again after keep_rows: descriptors and lengths of segments that change", ..SIMPLIFY },
    Pass { reason: "again after keep_rows: conditions and selections that are alike", ..CSE },
    Pass { reason: "again after keep_rows: selections of what stays", ..DEAD },
    Pass {
        name: "sort",
        summary: "sorts by one instruction what is permuted by its ranks alone, and writes other data where ranks say",
        reason: "after dead: what nobody reads would count as a reader; before view, which takes ranks from elsewhere than what is permuted",
        run: sort::run,
    },
    Pass {
        name: "grouped_reduce",
        summary: "combines into the results of their groups what is brought together only to be reduced",
        reason: "after sort, which knows that ranks write all places; before view, which looks for readers",
        run: grouped_reduce::run,
    },
    Pass {
        name: "view",
        summary: "reads by segments through views, without a copy for one reader",
        reason: "after dead: what nobody reads would count as a reader",
        run: view::run,
    },
    Pass { reason: "again after sort and view: ranks and copies that nobody reads any more", ..DEAD },
    Pass {
        name: "read_early",
        summary: "reads single elements of a column before others of it are changed",
        reason: "after dead, and after all that lets reads be of other columns: the last use of what is changed is then the change; \
                 before fuse, which takes the change into a group",
        run: read_early::run,
    },
    Pass {
        name: "sink",
        summary: "makes ranges and equal values in the block that alone reads them",
        reason: "after dead: what nobody reads would count as a reader; before zero_trip and speculate, which ask what is made for \
                 a block alone",
        run: sink::run,
    },
    Pass {
        name: "zero_trip",
        summary: "lets what is computed elementwise leave the branch around it that asks whether there are any elements",
        reason: "after slice, which makes slices in such branches, and dead; before fuse: what stands around the \
                 branch can be one loop with it",
        run: zero_trip::run,
    },
    Pass {
        name: "speculate",
        summary: "reduces in front of an if what its blocks reduce, where a column is made for nothing else",
        reason: "after dead: what nobody reads would count as a reader; before fuse, which makes one loop of what then stands together",
        run: speculate::run,
    },
    Pass { reason: "again after zero_trip: empty columns that no branch yields any more", ..DEAD },
    Pass {
        name: "regular",
        summary: "makes descriptors of segments that are equally long of scalars, without columns of lengths and starts",
        reason: "after all that knows descriptors by the columns that they are made of; before fuse, which leaves to groups \
                 what they alone read of these",
        run: regular::run,
    },
    Pass { reason: "again after regular: lengths and starts that nobody reads any more", ..DEAD },
    FUSE,
    CHECKED,
    Pass {
        name: "rematerialize",
        summary: "lets a group compute again what another has computed, where memory between the two would cost more",
        reason: "after fuse, which says what goes through memory, and checked, by which columns are read before they are checked",
        run: rematerialize::run,
    },
    Pass { reason: "again after rematerialize: what is not in memory any more", ..DEAD },
    Pass {
        name: "narrow",
        summary: "lets columns of ints from 0 to 255 that groups make and read be columns of bytes",
        reason: "after fuse and rematerialize, which say what goes through memory, and dead, which leaves what is read",
        run: narrow::run,
    },
    BESIDE,
    NUMBER,
    LAST_USE,
];

const FUSE: Pass = Pass {
    name: "fuse",
    summary: "gathers instructions over one index space into groups that can be one loop",
    reason: "after all that looks at single instructions; groups have no parts that nobody reads",
    run: fuse::run,
};

const CHECKED: Pass = Pass {
    name: "checked",
    summary: "lets columns that leave a group only checked be read as they were before",
    reason: "after fuse, which keeps what relies on a check behind it",
    run: checked::run,
};

const LAST_USE: Pass = Pass {
    name: "last_use",
    summary: "marks the last use of each register, and whether the result may be written over it",
    reason: "last: any other change makes marks wrong",
    run: last_use::run,
};

const BESIDE: Pass = Pass {
    name: "beside",
    summary: "says which results of a group come to lie one after another",
    reason: "after all that changes groups, and dead: results are known by their positions",
    run: beside::run,
};

pub(crate) const NUMBER: Pass = Pass {
    name: "number",
    summary: "numbers registers in the order of their definitions",
    reason: "after all that makes or removes registers: listings are readable, and nobody makes room for what is gone",
    run: number::run,
};

/// The passes for code that runs one instance after another and leaves errors to others, in order. What they get has
/// been through [`PASSES`].
pub const SERIAL_PASSES: &[Pass] = &[
    FOLD,
    SIMPLIFY,
    CSE,
    Pass {
        name: "unroll",
        summary: "calls the function of an each directly for the elements of a sequence that is written out",
        reason: "after simplify and cse, by which lengths are known",
        run: unroll::run,
    },
    Pass {
        name: "accumulate",
        summary: "combines before a call what a function would combine with what the call gives, so that it is a step of a loop",
        reason: "after unroll, which makes calls; before peel, which puts branches around them",
        run: accumulate::run,
    },
    Pass {
        name: "rows",
        summary: "lets loops that append segments carry their lengths and starts, which can grow, instead of a descriptor",
        reason: "after cse, by which lengths of one descriptor are one register; before peel, which puts branches around calls",
        run: rows::run,
    },
    Pass {
        name: "peel",
        summary: "asks before a call whether the function would end at once, and takes what it would give",
        reason: "after unroll, which makes calls; before simplify, which knows the lengths of arguments",
        run: peel::run,
    },
    Pass {
        name: "hoist_common",
        summary: "does what both blocks of an if do alike once, in front of it",
        reason: "after cse, which makes equal operands one register; before hoist, which takes what is then part of every turn",
        run: hoist_common::run,
    },
    Pass { reason: "again after hoist_common: writes to elements at indices that are scalars now", ..SINK_COMMON },
    Pass {
        name: "written_place",
        summary: "reads elements of rows by the places in all data at which the same are written",
        reason: "after hoist_common, by which both are in one block; before hoist, which computes places that do not vary before a loop",
        run: written_place::run,
    },
    Pass {
        name: "if_conversion",
        summary: "lets the ways on with a loop that an if chooses among be one, with operands that are selected",
        reason: "after hoist_common and sink_common, which leave in the blocks what differs; before hoist and bounds, to which a loop \
                 with one way on is a simpler one",
        run: if_conversion::run,
    },
    Pass {
        name: "hoist",
        summary: "computes before a loop what is the same in all of its turns",
        reason: "after cse, which makes equal operands one register, and rows, which says what is carried; before simplify and \
                 cse, which know where the loop is entered what it begins with",
        run: hoist::run,
    },
    Pass {
        name: "bounds",
        summary: "lets turns of a loop in which all indices are within bounds be turns without checks",
        reason: "after hoist, which makes lengths and offsets that do not vary parameters; before fold and simplify, which \
                 drop what such turns need not ask",
        run: bounds::run,
    },
    Pass { reason: "again after bounds: conditions that are known in turns without checks", ..FOLD },
    Pass { reason: "again after unroll, peel and hoist: lengths of what is now known", ..SIMPLIFY },
    Pass { reason: "again after simplify: lengths that are now one register", ..CSE },
    Pass { reason: "after all that replaces uses: sequences that are not put together any more", ..DEAD },
    FUSE,
    CHECKED,
    Pass {
        name: "fuse_each",
        summary: "takes an each into a group with the filter and the operations before it, and the reductions behind it",
        reason: "after fuse, which makes the groups of what instances read, and checked, which lets columns be read as they were \
                 before these",
        run: fuse_each::run,
    },
    BESIDE,
    NUMBER,
];

/// The passes for code whose columns lie in parts on several processes, in order. What they get has been through
/// [`PASSES`].
pub const PARTITIONED_PASSES: &[Pass] = &[
    Pass { reason: "first: lengths of several descriptors are one column again", ..CSE },
    Pass {
        name: "fuse",
        summary: "gathers instructions that a process can run on its part of the indices into groups",
        reason: "after cse, which tells what has one length",
        run: fuse::run_on_parts,
    },
    CHECKED,
    BESIDE,
    NUMBER,
    LAST_USE,
];
