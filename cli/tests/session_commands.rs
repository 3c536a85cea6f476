//! What a session says about itself, by commands and in the spellings of NESL 3.1; with piped input.

mod common;

use common::Bench;

/// The answers of a session whose inputs are all right.
#[track_caller]
fn answers(bench: &Bench, input: &str) -> String {
    let ran = bench.piped(&[], input);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{input}\n{}", ran.out);
    ran.out
}

#[test]
fn names_are_listed_and_shown_with_their_definitions() {
    let bench = Bench::new();
    let defined = "function twice(x) = 2 * x;\nv = [1.5];\nsum(v);\n";
    assert!(
        answers(&bench, &format!("{defined}:names")).ends_with("it = 1.5 : float\ntwice : int -> int\nv : [float]\n")
    );
    assert!(answers(&bench, &format!("{defined}:names tw;")).ends_with("\ntwice : int -> int\n"));
    let shown = answers(&bench, &format!("{defined}:info twice"));
    let definition = "twice : int -> int\ndefined in <input 1>:1\nfunction twice(x) = 2 * x\ncost: work 1, depth 1\n";
    assert!(shown.ends_with(definition), "{shown}");
    assert!(answers(&bench, &format!("{defined}:info V;")).ends_with("\nv : [float]\ndefined in <input 2>:1\n"));
    // A function of the library that is written in NESL: the text is that of the library.
    let shown = answers(&bench, ":info drop");
    let (place, text) = shown.split_once("defined in ").unwrap();
    assert!(place.starts_with("drop : ([a], int) -> [a]"), "{shown}");
    assert!(text.starts_with("stdlib/") && text.contains("function drop"), "{shown}");
    bench.piped(&[], ":info nothing").fails(1, &["there is no function or word `nothing`"]);
    bench.piped(&[], ":names").fails(1, &["nothing has been defined"]);
}

#[test]
fn values_are_shown_as_far_as_is_wanted() {
    let bench = Bench::new();
    let long = "v = [0:200];\n";
    assert!(answers(&bench, long).contains("98, 99, ...] : [int], 200 elements\n"));
    assert!(answers(&bench, &format!("{long}:show v")).contains("198, 199] : [int]"));
    assert!(answers(&bench, "[0:200];\n:show").ends_with("198, 199] : [int]\n"));
    assert!(answers(&bench, &format!("{long}:set shown 2\nv;")).ends_with("it = [0, 1, ...] : [int], 200 elements\n"));
    assert!(answers(&bench, &format!("{long}:set shown all\nv;")).ends_with("199] : [int]\n"));
    assert!(answers(&bench, ":set shown 7\n:set").starts_with("shown 7 "));
    // A nested value is cut at each level, and in all.
    let cube = answers(&bench, "{{[0:100] : i in [0:100]} : j in [0:100]};");
    assert!(cube.len() < 10_000 && cube.ends_with("...] : [[[int]]], 100 elements\n"), "{cube}");
    assert!(answers(&bench, ":set shown 3\n\"a long text\";").ends_with("\"a l\"... : [char], 11 characters\n"));
    let timed = answers(&bench, ":set timing on\n1 + 1;");
    assert!(timed.starts_with("it = 2 : int\n") && timed.ends_with(" ms\n"), "{timed}");
    for (input, problem) in [
        (":set shown many", "`shown` is a number"),
        (":set shown -1", "`shown` is a number"),
        (":set timing 3", "`timing` is on or off"),
        (":set width 3", "there is no setting `width`"),
    ] {
        bench.piped(&[], input).fails(1, &[problem]);
    }
}

#[test]
fn what_was_right_is_saved_and_runs_as_a_program() {
    let bench = Bench::with("defs.nesl", "function inc(x) = x + 1;\n");
    let input = ":load defs.nesl\nx = 1 + nothing;\nx = inc(1);\n:type x\nx + 1; x + 2\n;\n:save \"s.nesl\"\n";
    let ran = bench.piped(&[], input);
    ran.fails(1, &["unknown name `nothing`"]);
    assert!(ran.out.ends_with("3 inputs in s.nesl\n"), "{}", ran.out);
    let text = std::fs::read_to_string(bench.path("s.nesl")).unwrap();
    assert_eq!(text, "function inc(x) = x + 1;\nx = inc(1);\nx + 1; x + 2\n;\n");
    bench.nesl(&["s.nesl"]).prints("3\n4\n");
    bench.piped(&[], "1;\n:save s.nesl").fails(1, &["s.nesl exists"]);
    bench.piped(&[], "1;\n:save none/s.nesl").fails(1, &["cannot write none/s.nesl"]);
    assert_eq!(std::fs::read_to_string(bench.path("s.nesl")).unwrap(), text);
}

#[test]
fn costs_of_functions_are_told_as_far_as_their_texts_say() {
    let bench = Bench::new();
    let cost = |definitions: &str, name: &str| {
        let shown = answers(&bench, &format!("{definitions}\n:info {name}"));
        shown.lines().find_map(|line| line.strip_prefix("cost: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(cost("function f1(x) = if x > 1 then x * x else -x;", "f1"), "work 1, depth 1");
    assert_eq!(
        cost("function norm(v) = sqrt(sum({x * x : x in v}));", "norm"),
        "work 1 for each element, depth 1; more for sum (work n, depth log n)"
    );
    let calls = "function square(x) = x * x;\nfunction twice(g, x) = g(g(square(x)));";
    let told = cost(calls, "twice");
    assert_eq!(told, "work 1, depth 1; and what square costs; and what the functions cost that it is given");
    let own = "function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);";
    assert_eq!(cost(own, "fib"), "work 1, depth 1; all that for each call of itself, and depth for each in a row");
    // Whoever writes it down knows better, and the library does.
    assert_eq!(cost("function f2(v) : [int] -> int \"Adds. Work n, depth log n.\" = sum(v);", "f2"), "");
    assert_eq!(cost("", "sum"), "");
}

#[test]
fn what_is_saved_of_inputs_can_be_loaded_again() {
    let bench = Bench::new();
    let inputs = "1 + 2;\nit;\nx = it * 10;\nx; x + it;\nfunction add(a) = a + it;\nadd(1);\n\
                  y = 5; z = 1 / 0; w = 6;\ny;\nit = 7;\nit + y;\n:time u = it + 1\nu;\n:save kept.nesl\n";
    let ran = bench.piped(&[], inputs);
    ran.fails(1, &["E0402"]);
    let text = std::fs::read_to_string(bench.path("kept.nesl")).unwrap();
    assert_eq!(
        text,
        "it = 1 + 2; it;\nit;\nx = it * 10;\nit = x; it; it = x + it; it;\nfunction add(a) = a + it;\nadd(1);\n\
         y = 5;\ny;\nit = 7;\nit = it + y; it;\nu = it + 1;\nu;\n"
    );
    // The same values, as a program and in a session.
    let values = "3\n3\n30\n60\n61\n5\n12\n13\n";
    bench.nesl(&["kept.nesl"]).prints(values);
    let shown = answers(&bench, ":load kept.nesl");
    assert!(shown.contains("add = fn : int -> int\nit = 61 : int\n") && shown.ends_with("it = 13 : int\n"), "{shown}");
    // Numbers of inputs are names at a terminal alone; `_1` is one like others here.
    bench.piped(&[], "_1 = 4;\n_1 + 1;\n:save numbers.nesl").fails(0, &[]);
    bench.nesl(&["numbers.nesl"]).prints("5\n");
}

#[test]
fn words_that_stand_alone_need_no_end_in_a_pipe() {
    let bench = Bench::new();
    let help = answers(&bench, ":help");
    assert_eq!(answers(&bench, "help\nquit\n1;"), help);
    assert_eq!(answers(&bench, "?sum\n1;\nexit\n2;"), answers(&bench, ":doc sum\n1;"));
    assert_eq!(answers(&bench, "quit = 3;\nquit\n+ 1;"), "quit = 3 : int\nit = 4 : int\n");
    assert_eq!(answers(&bench, "1 +\nlength([4,\n5]);\n:quit\n2;"), "it = 3 : int\n");
}

#[test]
fn commands_are_no_inputs() {
    let bench = Bench::new();
    let commands = ":type 1\n:time 1\n:show 1\n:plot [1, 2]\n:vcode 1\n:bench 1\n:profile 1\n";
    let ran = bench.piped(&[], &format!("1;\n{commands}nothing;\n:type nothing\n"));
    ran.fails(1, &["<input 2>:1:1", "<command>:1:1"]);
}

#[test]
fn files_are_loaded_again_without_a_word_about_what_they_defined() {
    let text = "datatype point(int, int);\nfunction make(a) = point(a, a);\n";
    let bench = Bench::with("p q.nesl", text);
    let once = answers(&bench, ":load \"p q.nesl\"");
    assert!(once.contains("make = fn : int -> point"), "{once}");
    assert_eq!(answers(&bench, ":load p\\ q.nesl\n:reload\n:load \"p q.nesl\""), once.repeat(3));
    bench.piped(&[], ":reload").fails(1, &["no file has been loaded"]);
    // What a new file redefines is still said; at a prompt everything may be something else.
    bench.write("other.nesl", "datatype point(float);\n");
    let ran = bench.piped(&[], ":load p q.nesl\n:load other.nesl");
    assert!(ran.err.contains("W0203"), "{}", ran.err);
    answers(&bench, "datatype point(int);\nfunction make(a) = point(a);\ndatatype point(float, int);\nx = 1;\nx = t;");
}

#[test]
fn a_redefinition_says_who_keeps_the_old_one() {
    let bench = Bench::new();
    let warned = |input: &str| {
        let ran = bench.piped(&[], input);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.err
    };
    let err = warned("function g(y) = y + 1;\nfunction h(v) = {g(y) : y in v};\nfunction g(y) = y * 2.5;\nh([1]);\n");
    assert!(err.contains("W0203") && err.contains("`h` keeps the old one"), "{err}");
    let err = warned("x = 3;\nfunction u(y) = y + x;\nx = 2.5;\n");
    assert!(err.contains("`u` keeps the old one"), "{err}");
    let err = warned(
        "function g(y) = y + 1;\nfunction h(v) = let k = (y => g(y)) in {k(y) : y in v};\nfunction g(y) = y * 2.5;\n",
    );
    assert!(err.contains("`h` keeps the old one"), "{err}");
    // The same type is seen by all, and what nobody uses may be anything.
    assert_eq!(warned("function g(y) = y + 1;\nfunction h(y) = g(y);\nfunction g(y) = y * 10;\nh(1);\n"), "");
    assert_eq!(
        warned("function g(y) = y + 1;\nfunction g(y) = y * 2.5;\nfunction h(y) = g(y);\ng = 1;\ng = t;\n")
            .matches("W0203")
            .count(),
        1
    );
    bench.piped(&[], "it;\n").fails(1, &["E0212", "there is no answer yet"]);
}

#[test]
fn commands_may_end_as_inputs_do() {
    let bench = Bench::new();
    assert_eq!(answers(&bench, ":type `;\n:type 1 ; ;\n:type `;;"), "`; : char\n1 : int\n`; : char\n");
    assert_eq!(answers(&bench, ":doc sum;"), answers(&bench, ":doc sum"));
    assert_eq!(answers(&bench, ":show 1;"), "it = 1 : int\n");
}

#[test]
fn the_folder_can_be_changed() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("inner")).unwrap();
    bench.write("inner/a.nesl", "7;");
    let out = answers(&bench, ":cd inner\n:load a.nesl\n:cd");
    let folder = bench.path("inner").canonicalize().unwrap();
    assert_eq!(out, format!("{0}\nit = 7 : int\n{0}\n", folder.display()));
    bench.piped(&[], ":cd nowhere").fails(1, &["cannot go to nowhere"]);
    bench.piped(&[], ":cd -").fails(1, &["no folder before this one"]);
    let out = answers(&bench, ":cd inner\n:cd ..\n:cd -\n:cd -");
    let outer = bench.path("").canonicalize().unwrap();
    assert_eq!(out, format!("{0}\n{1}\n{0}\n{1}\n", folder.display(), outer.display()));
    let mut command = bench.command(std::path::Path::new(env!("CARGO_BIN_EXE_nesl")));
    let ran = common::finish(command.env("HOME", &folder), ":cd ~\n:cd ..\n:cd ~/\n");
    assert_eq!(ran.out, format!("{0}\n{1}\n{0}\n", folder.display(), outer.display()));
}

#[test]
fn what_is_misspelt_finds_what_is_meant() {
    let bench = Bench::new();
    bench.piped(&[], ":loda a").fails(1, &["no command `:loda`. Did you mean :load?"]);
    bench.piped(&[], ":doc qqq\n:info qqq").fails(1, &["Try `:apropos qqq`"]);
    assert_eq!(bench.nesl(&["doc", "qqq"]).err.matches("Try `nesl apropos").count(), 1);
    bench.nesl(&["doc", "len"]).fails(1, &["#v"]);
    // What only the library calls is not meant.
    let err = bench.nesl(&["doc", "quoted_stat"]).err;
    assert!(err.contains("no function") && !err.contains("quoted_start"), "{err}");
    let page = answers(&bench, ":explain E0202");
    assert!(page.starts_with("E0202"), "{page}");
    assert_eq!(answers(&bench, ":explain 0202;"), page);
    assert_eq!(bench.nesl(&["explain", "202"]).out, bench.nesl(&["explain", "E0202"]).out);
    bench.piped(&[], "1;\n:save one.nesl").prints("it = 1 : int\n1 input in one.nesl\n");
}

#[test]
fn values_are_drawn_as_their_types_ask_for() {
    let bench = Bench::new();
    let same = |command: &str, call: &str| {
        let (drawn, called) = (answers(&bench, command), answers(&bench, call));
        let drawing = drawn
            .split_once("it = ")
            .map_or(drawn.as_str(), |(_, after)| after.split_once('\n').map_or("", |(_, drawing)| drawing));
        assert!(drawing.lines().count() >= 5, "{drawn}");
        assert_eq!(drawing, called.replace("it = () : ()\n", ""), "{command}");
    };
    same(":plot {i * i : i in [0:20]}", "plot([0:20], {i * i : i in [0:20]});");
    same("[0.5, 2.0, 1.0];\n:plot", "plot([0:3], [0.5, 2.0, 1.0]);");
    same(":plot [(1, 2.5), (3, 0.5)]", "scatter([1, 3], [2.5, 0.5]);");
    same(":plot {{i * j : j in [0:8]} : i in [0:8]};", "heatmap({{i * j : j in [0:8]} : i in [0:8]});");
    same(":plot {{(i, j, 0) : j in [0:20]} : i in [0:20]}", "rgb_image({{(i, j, 0) : j in [0:20]} : i in [0:20]});");
    same(":syntax v\n:plot [i * i : i in index(10)];", "plot([0:10], {i * i : i in [0:10]});");
    bench.piped(&[], ":plot \"text\"").fails(1, &["this draws sequences of numbers"]);
    bench.piped(&[], ":plot").fails(1, &["no value yet"]);
    bench.piped(&[], ":plot nothing").fails(1, &["unknown name `nothing`"]);
    bench.piped(&[], ":plot [1 / 0]").fails(1, &["E0402"]);
}

#[test]
fn programs_and_costs_can_be_looked_at() {
    let bench = Bench::new();
    let shown = answers(&bench, "v = [1, 2];\n:vcode sum(v)");
    assert!(shown.contains("reduce.add.int") && shown.contains("return"), "{shown}");
    let bench_of = |input: &str| answers(&bench, input);
    let timed = bench_of(":bench sum([0:1000])");
    assert!(timed.contains(" ms at least, ") && timed.trim_end().ends_with(" runs"), "{timed}");
    let counted = bench_of("sum([0:1000]);\n:stats");
    assert!(counted.contains("instructions") && counted.contains("work"), "{counted}");
    bench.piped(&[], ":bench 1/0").fails(1, &["E0402"]);
    bench.piped(&[], ":vcode x = 1").fails(1, &["this must be an expression"]);
    // What was looked at defines nothing.
    bench.piped(&[], ":vcode x = 1\nx;").fails(1, &["unknown name `x`"]);
}

#[test]
fn the_spellings_of_nesl_are_understood_unless_they_mean_something_else() {
    let bench = Bench::with("a.nesl", "a = 5;\n");
    assert_eq!(answers(&bench, "describe plus_scan;"), answers(&bench, ":doc plus_scan"));
    assert_eq!(answers(&bench, "apropos scan;"), answers(&bench, ":apropos scan"));
    assert_eq!(answers(&bench, "load \"a.nesl\";"), "a = 5 : int\n");
    assert_eq!(answers(&bench, "set shown 1;\n[1, 2];"), "it = [1, ...] : [int], 2 elements\n");
    assert_eq!(answers(&bench, "help;"), answers(&bench, ":help"));
    assert_eq!(answers(&bench, "1;\nexit;\n2;"), "it = 1 : int\n");
    assert_eq!(answers(&bench, "quit;\n2;"), "");
    for leave in ["exit()", "Quit", "bye"] {
        assert_eq!(answers(&bench, &format!("1;\n{leave};\n2;")), "it = 1 : int\n");
    }
    assert_eq!(answers(&bench, "Help;"), answers(&bench, ":help"));
    assert_eq!(answers(&bench, "?;"), answers(&bench, ":help"));
    assert_eq!(answers(&bench, "help plus_scan;"), answers(&bench, ":doc plus_scan"));
    assert_eq!(answers(&bench, "x |= [1, 2];\nx;"), "x = [1, 2] : [int]\nit = [1, 2] : [int]\n");
    assert_eq!(answers(&bench, "help = 3;\nhelp;"), "help = 3 : int\nit = 3 : int\n");
    assert_eq!(answers(&bench, "load = 3;\nload + 1;"), "load = 3 : int\nit = 4 : int\n");
}

#[test]
fn what_is_for_terminals_says_so() {
    let bench = Bench::new();
    bench.piped(&[], ":history").fails(1, &["for sessions at a terminal"]);
    bench.piped(&[], ":edit a.nesl").fails(1, &["for sessions at a terminal"]);
}

#[test]
fn every_command_has_a_line_of_help() {
    let bench = Bench::new();
    let help = answers(&bench, ":help");
    let names: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  :")?.split(' ').next()).collect();
    assert_eq!(names.len(), 26, "{help}");
    for name in names {
        // Without what it needs, each says what that is, or does what it does.
        let ran = bench.piped(&[], &format!(":{name}"));
        assert!(
            ran.code == Some(0) || ["terminal", "has been", name].iter().any(|part| ran.err.contains(part)),
            "{name}: {ran:?}"
        );
    }
}

#[test]
fn a_profile_is_of_one_expression() {
    let bench = Bench::new();
    let shown = answers(&bench, "v = [0:1000];\n:profile sum({x * x : x in v})\n:profile v[3];");
    let (first, second) = shown.split_once("it = 3 : int\n").unwrap();
    assert!(first.contains("it = 332833500 : int\n        ms   share  instructions"), "{shown}");
    assert!(first.contains("<command>:1   sum({x * x : x in v});\n"), "{shown}");
    assert!(second.contains("<command>:1   v[3];\n") && !second.contains("sum("), "{shown}");
    bench.piped(&[], ":profile nothing").fails(1, &["E0201"]);
    // The profile of the whole session has it, too.
    let ran = bench.piped(&["--profile"], "v = [0:1000];\n:profile sum({x * x : x in v})\n");
    assert!(ran.err.contains("<input 1>:1") && ran.err.contains("<command>:1"), "{ran:?}");
}

#[test]
fn threads_change_and_values_stay() {
    let bench = Bench::new();
    let shown = answers(&bench, "v = {i * i : i in [0:100000]};\n:threads 3\nsum(v);\n:threads 1;\nsum(v);\n:threads");
    let (_, shown) = shown.split_once('\n').unwrap();
    let sum = "it = 333328333350000 : int\n";
    assert_eq!(shown, format!("3 threads\n{sum}1 thread\n{sum}1 thread\n"));
    for wrong in ["0", "-1", "many"] {
        bench.piped(&[], &format!(":threads {wrong}")).fails(1, &["takes a number from 1 on"]);
    }
    bench.piped(&["--engine", "reference"], ":threads 2").fails(1, &["the threads stay as they are", "one thread"]);
    let shown = answers(&bench, ":threads 2\n:ranks");
    assert!(shown.contains("rank  machine") && shown.contains("most memory  state\n   0  "), "{shown}");
    assert_eq!(shown.lines().count(), 3, "{shown}");
}

#[cfg(feature = "mpi")]
#[test]
fn every_rank_has_its_threads() {
    use common::{launcher, turn};
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let ran = bench.piped(&["repl", "--ranks", "2"], "v = [0:100000];\n:threads 2\nsum({x + 1 : x in v});\n:ranks");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    let lines: Vec<&str> = ran.out.lines().skip(1).collect();
    assert_eq!(lines[..2], ["2 threads on each rank", "it = 5000050000 : int"], "{ran:#?}");
    assert!(lines[3].starts_with("   0  ") && lines[4].starts_with("   1  ") && lines.len() == 5, "{ran:#?}");
    assert!(lines[3..].iter().all(|line| line.split_whitespace().nth(3) == Some("2")), "{ran:#?}");
}

#[test]
fn inputs_are_v_where_somebody_says_so() {
    let bench = Bench::with("half.v", "pure double half(double x) { return x / 2; }\n");
    let shared = "v = [3, 1, 2];\nfunction twice(x) = 2 * x;\n:syntax v\n";
    let tail = |input: &str| {
        let out = answers(&bench, &format!("{shared}{input}"));
        let shared = "v = [3, 1, 2] : [int]\ntwice = fn : int -> int\n";
        out.strip_prefix(shared).unwrap_or_else(|| panic!("{out}")).to_owned()
    };
    // Values and functions of NESL, and what V declares, in both.
    assert_eq!(tail("v >< [twice(4)];\n"), "it = [3, 1, 2, 8] : int[*]\n");
    let declared = "struct p { int x; double y; };\npure double f(struct p a) { return a.x + a.y; }\nstruct p a = { 1, 2.5 };\nf(a);\n";
    let answered = tail(&format!("{declared}:info f\n:doc f\n"));
    assert!(answered.starts_with("struct p { int x; double y; }\npure double f(struct p a)\n"), "{answered}");
    assert!(answered.contains("it = 3.5 : double\npure double f(struct p a)\ndefined in <input"), "{answered}");
    assert!(!answered.contains("f : "), "{answered}");
    // Statements change what the session knows, also by loops and calls; `:save` writes them in NESL.
    let statements = "int n = 0;\nfor (int i = 0; i < $v; i++) n += v[i];\nwhile (n > 4)\n{ n--; v[0]++; }\n\
                      void grow(int *x) { *x += 10; }\ngrow(&n);\n";
    let changed =
        tail(&format!("{statements}n;\nv[0];\n:save kept.nesl\n:syntax\n:syntax nesl\n{{x + n : x in v}};\n"));
    assert!(
        changed.ends_with("it = 14 : int\nit = 5 : int\n9 inputs in kept.nesl\nv\nit = [19, 15, 16] : [int]\n"),
        "{changed}"
    );
    assert_eq!(bench.nesl(&["run", "kept.nesl"]).out, "14\n5\n");
    assert!(tail("int k = 3;\n:names\n:type [1.5]\n:load half.v\nhalf(3);\n").ends_with(
        "int k\ntwice : int -> int\nv : int[*]\n[1.5] : double[*]\npure double half(double x)\nit = 1.5 : double\n"
    ));
}

#[test]
fn mistakes_in_v_leave_the_session_and_its_syntax() {
    let bench = Bench::new();
    let input = ":syntax V\nint x = 1;\nx = true >< 1;\n1 + ;\nreturn 3;\nbreak;\nx = [1, 2][5];\nnothing(x);\n\
                 int y = 2; int z = 1 / 0; int w = 3;\ny;\nw;\nx;\n:syntax c\n";
    let ran = bench.piped(&[], input);
    ran.fails(
        1,
        &["`return` stands in no function", "stand in loops", "<input 7.v>:1:1", "there is no syntax `c`", "nothing"],
    );
    assert!(ran.out.ends_with("y = 2 : int\nit = 2 : int\nit = 1 : int\n"), "{ran:?}");
}

#[test]
fn functions_of_a_file_are_described() {
    let text = "function twice(x) \"Doubles. Example: twice(2) gives 4.\" = 2 * x;\nv = 3;\nfunction id~2(x) = x;\n";
    let bench = Bench::with("a.nesl", text);
    bench.nesl(&["doc", "a.nesl"]).prints(
        "twice : int -> int\nDoubles. Example: twice(2) gives 4.\ndefined in a.nesl:1\n\n\
         id~2 : a -> a :: (a in any)\ndefined in a.nesl:3\n",
    );
    bench.write("a.v", "pure int twice(int x) { return 2 * x; }\n");
    bench.nesl(&["doc", "a.v"]).prints("pure int twice(int x);\ndefined in a.v:1\n");
    bench.nesl(&["doc", "b.nesl"]).fails(1, &["cannot read b.nesl"]);
}

#[test]
fn names_of_v_stay_apart_where_a_session_is_saved() {
    let bench = Bench::new();
    let inputs = ":syntax v\nint n = 1;\nint N = 2;\nn + N;\npure int f(int a) { return a; }\nf(3);\n\
        pure int SQ(int x) { int N = x; return N * N; }\npure int sq(int x) { return SQ(x) + 1; }\nsq(5);\n";
    bench.write("only.v", "// A comment.\n");
    bench.write("half.v", "pure int Half(int x) { return x / 2; }\n");
    let said = answers(&bench, &format!("{inputs}:load only.v\n:load half.v\nHalf(SQ(4));\n:save s.nesl\n"));
    let shown: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("it = ")?.split(' ').next()).collect();
    assert_eq!(shown, ["3", "3", "26", "8"]);
    bench.nesl(&["run", "s.nesl"]).prints("3\n3\n26\n8\n");
    assert_eq!(bench.nesl(&["check", "s.nesl"]).err, "");
}
