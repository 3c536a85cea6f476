//! Pictures that programs draw: files in both formats, without a file text or what a terminal takes, and what is refused.

mod common;

use common::Bench;

#[test]
fn charts_and_images_are_written_by_the_names_of_files() {
    let text = r#"
x = linspace(0.0, 6.0, 100);
plot(x, {sin(y) : y in x}, file := "a.svg", title := "A & B");
scatter([0, 1], [2.0, nan], file := "b.png");
histogram_plot({rem(i * i, 7) : i in [0:100]}, file := "c.svg");
heatmap([[1, 2], [3, 4]], file := "d.png", x_label := "across");
image([[1.0, 2.0]], file := "e.png");
rgb_image([[(255, 0, 0)]], file := "f.svg");
rgb_image([[(300, -1, 7), (min_int, max_int, 256)]], file := "g.png");
rgb_image([[(255, 0, 7), (0, 255, 255)]], file := "h.png");
"#;
    for engine in ["oracle", "reference", "threads"] {
        let bench = Bench::with("a.nesl", text);
        bench.nesl(&["run", "--engine", engine, "a.nesl"]).prints("");
        for (name, start) in [("a.svg", &b"<svg"[..]), ("b.png", b"\x89PNG"), ("c.svg", b"<svg"), ("d.png", b"\x89PNG")]
        {
            let bytes = std::fs::read(bench.path(name)).unwrap();
            assert!(bytes.starts_with(start), "{name}");
        }
        assert!(std::fs::read_to_string(bench.path("a.svg")).unwrap().contains(">A &amp; B</text>"));
        // Two pixels: the width and the height stand behind the first 16 bytes.
        assert_eq!(std::fs::read(bench.path("e.png")).unwrap()[16..24], [0, 0, 0, 2, 0, 0, 0, 1]);
        // Levels beyond the range are its ends.
        assert_eq!(std::fs::read(bench.path("g.png")).unwrap(), std::fs::read(bench.path("h.png")).unwrap());
    }
}

#[test]
fn without_a_file_they_are_text() {
    let text = "gray_image([[0, 1], [0, 1]]); plot([0, 1], [0, 1]);";
    let ran = Bench::with("a.nesl", text).nesl(&["run", "a.nesl"]);
    let is_dots = |character: char| ('\u{2801}'..='\u{28ff}').contains(&character);
    assert!(ran.out.starts_with(" @\n") && ran.out.contains(is_dots), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 19, "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn terminals_that_take_pixels_get_them() {
    use rexpect::session::{Options, spawn_with_options};
    let bench = Bench::with("a.nesl", "gray_image([[0, 1], [0, 1]]); 1 + 1;");
    for (variables, start) in [
        ([("TERM", "xterm-kitty"), ("NESL_PICTURES", "")], "\u{1b}_Ga=T,f=100,q=2,m=0;iVBORw0KGgo"),
        ([("TERM", "foot"), ("NESL_PICTURES", "")], "\u{1b}P"),
        ([("TERM", "xterm"), ("NESL_PICTURES", "sixel")], "\u{1b}P"),
        ([("TERM", "xterm-kitty"), ("NESL_PICTURES", "text")], " @"),
        ([("TERM", "xterm"), ("NESL_PICTURES", "")], " @"),
    ] {
        let mut command = bench.command(std::path::Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["run", "a.nesl"]).env("NO_COLOR", "1").env_remove("TERM_PROGRAM").envs(variables);
        let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
        let shown = session.exp_eof().unwrap();
        assert!(shown.starts_with(start), "{variables:?}: {shown:?}");
        let is_pixels = start.starts_with('\u{1b}');
        assert!(shown.ends_with(if is_pixels { "\u{1b}\\\r\n2\r\n" } else { "@\r\n2\r\n" }), "{shown:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    for (text, problem) in [
        ("plot([1], [2], file := \"a.jpg\");", "the name of a picture must end with .svg or .png"),
        ("plot([1, 2], [2], file := \"a.svg\");", "2 horizontal places do not go with 1 vertical ones"),
        ("image([] [int], file := \"a.png\");", "an image needs a pixel at least"),
        ("image([[1], [1, 2]], file := \"a.png\");", "lengths differ"),
        ("image([[1]], file := \"/nowhere/a.png\");", "/nowhere/a.png"),
    ] {
        let ran = Bench::with("a.nesl", text).nesl(&["run", "a.nesl"]);
        assert!(ran.code == Some(1) && ran.err.contains(problem), "{text}: {}", ran.err);
    }
}
