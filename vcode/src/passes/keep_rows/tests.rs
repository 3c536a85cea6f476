//! Before and after, of `{if f then row else … : row in m; f in flags}` as flattening makes it.

use super::run;
use crate::parse::numbered;
use crate::passes::testing::{self, stays};

const SIGNATURE: &str = "(%0: int, %1: descriptor, %2: column float, %3: column bool, %4: column float) \
     -> descriptor, column float";

/// Checks what the pass makes of a body, after removal of what is then not used.
#[track_caller]
fn body_becomes(before: &str, after: &str) {
    let [before, after] = [before, after].map(|body| numbered(&format!("{SIGNATURE} {{{body}")));
    let body = |text: &str| text.split_once('{').map(|(_, body)| body.to_owned()).unwrap_or_default();
    testing::body_becomes(run, SIGNATURE, &body(&before), &body(&after));
}

/// `{if f then row else … : row in m; f in flags}` of `m` = %1, %2 and `flags` = %3, as flattening makes it, with what
/// the other branch makes of the segments %40 of %2.
fn conditional(changes: &str, yields: &str) -> String {
    format!(
        "%10 = starts %1
         %11 = lengths %1
         %12 = map bool_to_int %3
         %13 = reduce.add.int %12
         %14 = segments %1
         %15 = subtract.int %14 %13
         %16 = map not.bool %3
         %17 = equal.int %13 0
         %18 = equal.int %15 0
         %20, %21 = if %17 {{
           %22 = constants int []
           %23 = packed %22
           %24 = constants float []
           yield %23 %24
         }} else {{
           %25 = if %18 {{ yield %1 }} else {{
             %26 = pack %10 %3
             %27 = pack %11 %3
             %28 = view %26 %27
             yield %28
           }}
           yield %25 %2
         }}
         %30, %31 = if %18 {{
           %32 = constants int []
           %33 = packed %32
           %34 = constants float []
           yield %33 %34
         }} else {{
           %40 = if %17 {{ yield %1 }} else {{
             %41 = pack %10 %16
             %42 = pack %11 %16
             %43 = view %41 %42
             yield %43
           }}
           {changes}
           yield {yields}
         }}
         {MERGE}
         return %60 %61"
    )
}

/// What puts the branches together.
const MERGE: &str = "%60, %61 = if %18 { yield %20 %21 } else {
           %62, %63 = if %17 { yield %30 %31 } else {
             %64 = compact %21 %20
             %65 = lengths %20
             %66 = packed %65
             %67 = starts %66
             %68 = total %66
             %69 = compact %31 %30
             %70 = lengths %30
             %71 = packed %70
             %72 = starts %71
             %73 = map add.int %72 %68
             %74 = merge %3 %67 %73
             %75 = merge %3 %65 %70
             %76 = concat %64 %69
             %77 = view %74 %75
             yield %77 %76
           }
           yield %62 %63
         }";

/// The same where it keeps rows: `before` the branches, and what the other branch makes of the segments %54 of %51.
fn kept(changes: &str, data: &str) -> String {
    format!(
        "%10 = starts %1
         %11 = lengths %1
         %12 = map bool_to_int %3
         %13 = reduce.add.int %12
         %14 = segments %1
         %15 = subtract.int %14 %13
         %17 = equal.int %13 0
         %18 = equal.int %15 0
         %60, %61 = if %18 {{
           %20, %21 = if %17 {{
             %22 = constants int []
             %23 = packed %22
             %24 = constants float []
             yield %23 %24
           }} else {{
             %25 = if %18 {{ yield %1 }} else {{
               %26 = pack %10 %3
               %27 = pack %11 %3
               %28 = view %26 %27
               yield %28
             }}
             yield %25 %2
           }}
           yield %20 %21
         }} else {{
           %49 = lengths %1
           %50 = packed %49
           %51 = compact %2 %1
           %52 = map not.bool %3
           %55 = starts %50
           %56 = pack %55 %52
           %53 = pack %49 %52
           %54 = view %56 %53
           {changes}
           %90 = seg_scatter %51 %54 {data}
           yield %50 %90
         }}
         return %60 %61"
    )
}

#[test]
fn rows_that_change_are_written_over() {
    body_becomes(
        &conditional(
            "%44 = compact %2 %40
             %45 = lengths %40
             %46 = packed %45
             %47 = map add.float %44 1.0",
            "%46 %47",
        ),
        &kept(
            "%44 = compact %51 %54
             %46 = packed %53
             %47 = map add.float %44 1.0
             %80 = compact %47 %46",
            "%80",
        ),
    );
}

#[test]
fn lengths_that_are_checked_against_theirs_are_known() {
    body_becomes(
        &conditional(
            "%45 = lengths %40
             %46 = map check_lengths %45 %0
             %47 = packed %46",
            "%47 %4",
        ),
        &kept(
            "%46 = map check_lengths %53 %0
             %47 = packed %46
             %80 = compact %4 %47",
            "%80",
        ),
    );
}

#[test]
fn parts_that_the_other_branch_reads_are_copied() {
    let changes = |part: &str, column: &str, segments: &str, lengths: &str| {
        format!(
            "%44 = compact {column} {segments}
             {lengths}
             %48 = extract {part} 0
             %46 = map multiply.float %44 %48"
        )
    };
    let slice = "%5 = slice %2 %0 4\n";
    let before = conditional(&changes("%5", "%2", "%40", "%45 = lengths %40\n%47 = packed %45"), "%47 %46");
    let copied = "%81 = iota 4
             %82 = map add.int %81 %0
             %83 = gather %2 %82\n";
    let after = kept(
        &(copied.to_owned() + &changes("%83", "%51", "%54", "%47 = packed %53") + "\n%80 = compact %46 %47"),
        "%80",
    );
    body_becomes(&(slice.to_owned() + &before), &after);
}

#[test]
fn rows_of_conditionals_are_as_long_as_those_of_both_branches() {
    // The other branch is a conditional again, none of whose branches hands rows on.
    let inner = |selected: &str, lengths: &str, to_branch: &str| {
        format!(
            "%100 = starts {selected}
             {lengths}
             %102 = pack %3 %16
             %103 = map bool_to_int %102
             %104 = reduce.add.int %103
             %105 = subtract.int %15 %104
             %106 = map not.bool %102
             %107 = equal.int %104 0
             %108 = equal.int %105 0
             %110, %111 = if %107 {{ yield {selected} %4 }} else {{
               %112 = if %108 {{ yield {selected} }} else {{
                 %113 = pack %100 %102
                 %114 = pack {to_branch} %102
                 %115 = view %113 %114
                 yield %115
               }}
               %116 = compact %2 %112
               %117 = lengths %112
               %118 = packed %117
               %119 = map add.float %116 1.0
               yield %118 %119
             }}
             %120, %121 = if %108 {{ yield {selected} %4 }} else {{
               %122 = if %107 {{ yield {selected} }} else {{
                 %123 = pack %100 %106
                 %124 = pack {to_branch} %106
                 %125 = view %123 %124
                 yield %125
               }}
               %126 = compact %2 %122
               %127 = lengths %122
               %128 = packed %127
               %129 = map add.float %126 2.0
               yield %128 %129
             }}
             %130, %131 = if %108 {{ yield %110 %111 }} else {{
               %132, %133 = if %107 {{ yield %120 %121 }} else {{
                 %134 = compact %111 %110
                 %135 = lengths %110
                 %136 = packed %135
                 %137 = starts %136
                 %138 = total %136
                 %139 = compact %121 %120
                 %140 = lengths %120
                 %141 = packed %140
                 %142 = starts %141
                 %143 = map add.int %142 %138
                 %144 = merge %102 %137 %143
                 %145 = merge %102 %135 %140
                 %146 = concat %134 %139
                 %147 = view %144 %145
                 yield %147 %146
               }}
               yield %132 %133
             }}"
        )
    };
    let selection = "%40 = if %17 { yield %1 } else {
             %41 = pack %10 %16
             %42 = pack %11 %16
             %43 = view %41 %42
             yield %43
           }\n";
    let before = conditional(&inner("%40", "%101 = lengths %40", "%101"), "%130 %131");
    let kept = |changes: &str| {
        // The selection of what changes is still read.
        kept(changes, "%80").replacen("%17 = ", "%16 = map not.bool %3\n%17 = ", 1)
    };
    let after = kept(&(selection.to_owned() + &inner("%40", "", "%53") + "\n%80 = compact %131 %130"));
    body_becomes(&before, &after);
}

#[test]
fn rows_of_other_lengths_are_copied() {
    let text = |changes: &str, yields: &str| {
        numbered(&format!("function f{SIGNATURE} {{\n{}\n}}", conditional(changes, yields)))
    };
    // Of the segments that stay; of no known length.
    stays(run, &text("%47 = packed %11", "%47 %4"));
    stays(run, &text("%45 = lengths %40\n%46 = map add.int %45 1\n%47 = packed %46", "%47 %4"));
    // What stays is read by somebody else, too.
    let read = conditional("%45 = lengths %40\n%47 = packed %45", "%47 %4").replace("return %60 %61", "return %60 %21");
    stays(run, &numbered(&format!("function f{SIGNATURE} {{\n{read}\n}}")));
}
