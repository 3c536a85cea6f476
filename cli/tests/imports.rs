//! Programs of several files: run, checked, built, loaded in sessions, with what is wrong in any of them.

mod common;

use common::Bench;

/// A program in two folders: `main.nesl` imports `lib/geometry.nesl`, which imports `lib/units.nesl`.
fn bench() -> Bench {
    let bench = Bench::with(
        "main.nesl",
        "import \"lib/geometry.nesl\" as geometry;\nimport \"lib/units.nesl\";\n\
         area = geometry.area(geometry.point(3, 4));\nfunction main(n) = n * area * scale;\nmain(1);\n",
    );
    std::fs::create_dir(bench.path("lib")).unwrap_or_else(|error| panic!("{error}"));
    bench.write(
        "lib/geometry.nesl",
        "import \"units.nesl\" as units;\ndatatype point(int, int);\n\
         function area(p) : point -> int = let point(x, y) = p in units.scale * x * y;\n\
         function main(n) = n;\n\"not printed\";\n",
    );
    bench.write("lib/units.nesl", "scale = 10;\nfunction half(x) = x / 2;\n");
    bench
}

#[test]
fn definitions_of_other_files_are_used_plainly_and_by_the_name_of_the_file() {
    let bench = bench();
    bench.nesl(&["run", "main.nesl"]).prints("1200\n");
    bench.nesl(&["run", "main.nesl", "2"]).prints("2400\n");
    bench.nesl(&["check", "main.nesl"]).prints("area : int\nmain : int -> int\n");
    bench.nesl(&["fmt", "--check", "lib/units.nesl"]).prints("");
    // From another folder, with the executable in a third.
    let main = bench.path("main.nesl").display().to_string();
    let built = bench.path("program").display().to_string();
    bench.nesl(&["build", &main, "-o", &built]).prints("");
    std::fs::remove_file(bench.path("lib/units.nesl")).unwrap_or_else(|error| panic!("{error}"));
    let ran = std::process::Command::new(&built).current_dir("/").output().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "1200\n");
}

#[test]
fn forms_of_the_command_line_import_from_the_working_folder() {
    let bench = bench();
    bench.nesl(&["-e", "import \"lib/units.nesl\"", "-e", "half(9)"]).prints("4\n");
    bench.piped(&["-"], "import \"./lib/../lib/units.nesl\" as u; u.half(u.scale);\n").prints("5\n");
}

#[test]
fn a_file_of_the_original_may_load_another() {
    let bench = bench();
    bench.write(
        "old.nesl",
        "load \"lib/units.nesl\";\nhalves |= {half(x) : x in [4, 6]};\n(a, b) |= (1, halves);\nb ++ [a];\n",
    );
    bench.nesl(&["run", "old.nesl"]).prints("[2, 3, 1]\n");
    bench.nesl(&["fmt", "old.nesl"]).prints("");
    let formatted = std::fs::read_to_string(bench.path("old.nesl")).unwrap_or_else(|error| panic!("{error}"));
    assert!(formatted.starts_with("load \"lib/units.nesl\";\nhalves |= "), "{formatted}");
    // A name like any other where no text follows.
    bench.nesl(&["-e", "load = 2", "-e", "load + 1"]).prints("3\n");
    bench.nesl(&["-e", "let x |= 1 in x"]).fails(1, &["E0110", "at the top level"]);
}

#[test]
fn mistakes_name_the_file_they_are_in() {
    let bench = bench();
    bench.write("lib/units.nesl", "scale = 10;\nfunction half(x) = x / \"2\";\n");
    bench.nesl(&["run", "main.nesl"]).fails(1, &["lib/units.nesl:2:", "E0203"]);
    bench.write("lib/units.nesl", "scale = [10][1];\n");
    bench.nesl(&["run", "main.nesl"]).fails(1, &["lib/units.nesl:1:"]);
    bench.write("lib/units.nesl", "import \"../main.nesl\";\nscale = 1;\n");
    bench.nesl(&["check", "main.nesl"]).fails(1, &["E0229", "main.nesl, then lib/geometry.nesl, then lib/units.nesl"]);
    bench.write("lib/units.nesl", "import \"gone.nesl\";\nscale = 1;\n");
    bench.nesl(&["check", "main.nesl"]).fails(1, &["E0228", "lib/units.nesl:1:8", "No such file"]);
    for (path, problem) in [
        ("lib", "it is a folder"),
        ("/dev/stdin", "a device or a pipe"),
        ("/dev/zero", "a device or a pipe"),
        ("", "the path is empty"),
        ("picture.png", "not valid UTF-8"),
    ] {
        std::fs::write(bench.path("picture.png"), [0x89, b'P', 0xff]).unwrap_or_else(|error| panic!("{error}"));
        bench.write("one.nesl", format!("import \"{path}\";\n"));
        bench.nesl(&["check", "one.nesl"]).fails(1, &["E0228", problem]);
    }
    bench.write("one.nesl", "import \"one.nesl\";\n");
    bench.nesl(&["check", "one.nesl"]).fails(1, &["E0229"]);
}

#[test]
fn names_are_those_of_one_file() {
    let bench = bench();
    let refused = |text: &str, said: &[&str]| {
        bench.write("one.nesl", text);
        bench.nesl(&["check", "one.nesl"]).fails(1, said);
    };
    // What a file imports is not what it gives.
    refused("import \"lib/geometry.nesl\";\nscale;\n", &["E0201", "`scale`"]);
    refused("import \"lib/units.nesl\" as u;\nscale;\n", &["E0201", "`scale`"]);
    refused("import \"lib/units.nesl\" as u;\nu.scal;\n", &["E0201", "did you mean `u.scale`"]);
    refused("import \"lib/units.nesl\" as u;\nu;\n", &["`u` is a file"]);
    refused("import \"lib/units.nesl\" as u;\nu.scale = 3;\n", &["E0113", "call it `scale`"]);
    refused("import \"lib/units.nesl\";\nscale = 3;\n", &["E0230", "lib/units.nesl:1:", "one.nesl:2:"]);
    bench.write("other.nesl", "function half(x) = x;\n");
    refused("import \"lib/units.nesl\"; import \"other.nesl\";\n", &["E0230", "other.nesl:1:", "lib/units.nesl:2:"]);
    refused("v = [1];\nv.length;\n", &["E0101", "there are no fields or methods"]);
    refused("import \"lib/units.nesl\"\n", &["E0111", "this import has no end"]);
    // The name of the form is a name like any other.
    bench.write("one.nesl", "import = 3;\nas = import + 1;\nas;\n");
    bench.nesl(&["run", "one.nesl"]).prints("4\n");
}

#[test]
fn sessions_know_what_changed() {
    let bench = bench();
    let session = bench.piped(&[], ":load main.nesl\narea;\ngeometry.area(geometry.point(1, 1));\n");
    assert!(session.out.ends_with("it = 120 : int\nit = 10 : int\n"), "{}{}", session.out, session.err);
    assert!(!session.out.contains("point"), "{}", session.out);
    let changed = "import \"lib/units.nesl\";\nhalf(scale);\nwrite_lines_to_file([\"scale = 7;\", \"function half(x) = x / 2.0;\"], \
                   \"lib/units.nesl\");\nimport \"lib/units.nesl\";\nhalf(3.0);\nscale;\n";
    let session = bench.piped(&[], changed);
    assert_eq!(session.err, "");
    assert!(session.out.starts_with("it = 5 : int\n"), "{}", session.out);
    assert!(session.out.ends_with("it = 1.5 : float\nit = 7 : int\n"), "{}", session.out);
    // What was right stays where what follows is not, in the text or in what it imports.
    bench.write("bad.nesl", "import \"lib/units.nesl\";\nx = scale;\ny = [1][x];\n");
    let session = bench.piped(&[], ":load bad.nesl\nx;\nscale;\n");
    assert!(session.out.ends_with("it = 7 : int\nit = 7 : int\n"), "{}{}", session.out, session.err);
    assert!(session.err.contains("bad.nesl:3:"), "{}", session.err);
    bench.write("worse.nesl", "import \"bad.nesl\";\nz = 3;\n");
    let session = bench.piped(&[], ":load worse.nesl\nz;\n");
    assert!(session.err.contains("bad.nesl:3:") && session.err.contains("unknown name `z`"), "{}", session.err);
}

#[test]
fn a_session_that_is_saved_finds_its_files_from_elsewhere() {
    let bench = bench();
    std::fs::create_dir(bench.path("elsewhere")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bench.piped(&[], ":load main.nesl\n:save elsewhere/saved.nesl\n").err, "");
    bench.nesl(&["run", "elsewhere/saved.nesl"]).prints("1200\n");
}

#[test]
fn files_of_v_and_of_nesl_import_each_other() {
    let bench = Bench::with(
        "main.v",
        "import \"lib.v\";\nimport \"half.nesl\" as h;\nvoid main() {\n  struct point p = {3, 4};\n  move(&p, 5);\n  \
         int s = sum([steps(n) : n in h.half([2, 54])]);\n  printf(\"%v %d %d\\n\", p.x, s, h.limit);\n}\n",
    );
    bench.write(
        "lib.v",
        "struct point { double x, y; };\nvoid move(struct point *p, double by) { p->x += by; }\n\
         pure int steps(int n) {\n  int count = 0;\n  while (n != 1) {\n    n = n % 2 == 0 ? n / 2 : 3 * n + 1;\n    \
         count++;\n  }\n  return count;\n}\n",
    );
    bench.write("half.nesl", "limit = 7;\nfunction half(v) = {x / 2 : x in v};\n");
    bench.nesl(&["run", "main.v"]).prints("8.0 111 7\n");
    bench.write("main.nesl", "import \"lib.v\" as l;\n{l.steps(n) : n in [1, 3]};\n");
    bench.nesl(&["run", "main.nesl"]).prints("[0, 7]\n");
    bench.write("main.v", "import \"lib.v\";\n[steps(\"a\") : n in [1]];\n");
    bench.nesl(&["run", "main.v"]).fails(1, &["main.v:2:8", "the argument `n` of `steps` must be `int`"]);
    bench.write("main.v", "import \"gone.v\";\n");
    bench.nesl(&["check", "main.v"]).fails(1, &["E0228", "main.v:1:8"]);
}

#[test]
fn structs_of_a_file_of_v_have_names_behind_that_of_the_file() {
    let bench = Bench::with(
        "shapes.v",
        "struct point { double x, y; };\n\
         void move(struct point *p, double by) { p->x += by; }\n\
         pure struct point middle(struct point a, struct point b) {\n  \
         return (struct point){(a.x + b.x) / 2, (a.y + b.y) / 2};\n}\n",
    );
    bench.write(
        "main.v",
        "import \"shapes.v\" as g;\nstruct line { struct g.point from, to; };\n\
         pure struct g.point ends(struct line l) [*] { return [l.from, l.to]; }\nvoid main() {\n  \
         struct g.point p = g.middle((struct g.point){3, 0}, g.point(0, 3)), q;\n  struct line l = {p, q};\n  \
         g.move(&p, 1);\n  l.to.y = 7;\n  printf(\"%v %v\\n\", p.x, [e.y : e in ends(l) >< [p]]);\n}\n",
    );
    bench.nesl(&["run", "main.v"]).prints("2.5 [1.5, 7.0, 1.5]\n");
    // A file of NESL gives one that it knows behind another name.
    bench.write("other.nesl", "import \"shapes.v\" as s;\nfunction same(p) : s.point -> s.point = p;\n");
    bench.write(
        "mix.v",
        "import \"shapes.v\" as g;\nimport \"other.nesl\";\npure double sum_of(struct g.point p) {\n  \
         struct g.point q = same(p);\n  return q.x + q.y;\n}\nsum_of((struct g.point){3, 4});\n",
    );
    bench.nesl(&["run", "mix.v"]).prints("7.0\n");
    bench.write("bad.v", "import \"shapes.v\" as g;\nint main() { struct point p; return 0; }\n");
    bench.nesl(&["check", "bad.v"]).fails(1, &["E0207", "there is a `struct g.point`"]);
}

#[test]
fn v_leaves_parameters_with_defaults_to_them() {
    let bench = Bench::with("line.nesl", "function line(x, slope := 3, base := 1) = slope * x + base;\n");
    let main = "int main() { printf(\"%d %v\\n\", line(5), [line(x) : x in index(3)]); return 0; }";
    bench.write("a.v", format!("import \"line.nesl\";\n{main}\n"));
    bench.nesl(&["run", "a.v"]).prints("16 [1, 4, 7]\n");
    // What has a default cannot be given.
    bench.write("b.v", "import \"line.nesl\";\nline(5, 2);\n");
    bench.nesl(&["check", "b.v"]).fails(1, &["E0213", "takes 1 argument, but gets 2"]);
    // Functions of the library, too.
    bench.write("c.v", "plot([1.0, 2.0], [3.0, 4.0]);\n");
    let ran = bench.nesl(&["run", "c.v"]);
    assert!(ran.code == Some(0) && ran.err.is_empty() && !ran.out.is_empty(), "{ran:?}");
}
