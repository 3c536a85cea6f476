//! Every kind of picture in every format, of all data that there can be.

use crate::{Format, Kind, Picture, Protocol};
use base64::Engine;
use icy_sixel::SixelImage;

const FORMATS: [Format; 6] = [
    Format::Svg,
    Format::Png,
    Format::Text { has_colours: false },
    Format::Text { has_colours: true },
    Format::Graphics(Protocol::Kitty),
    Format::Graphics(Protocol::Sixel),
];

fn of<'d>(kind: Kind, columns: usize, x: &'d [f64], y: &'d [f64]) -> Picture<'d> {
    Picture { kind, title: "", x_label: "", y_label: "", columns, x, y }
}

fn text(picture: &Picture<'_>, format: Format) -> String {
    String::from_utf8(picture.draw(format).unwrap()).unwrap()
}

/// The pixels of a PNG, three bytes each or one.
fn decoded(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (info.width, info.height, pixels)
}

#[test]
fn every_kind_is_drawn_in_every_format_whatever_the_data() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e308, -1e308, 5e-324, 1.0, 7.5];
    for kind in Kind::ALL {
        for length in [0, 1, 2, 3, 10] {
            for data in [&odd[..length], &[0.0; 10][..length], &[1e300; 10][..length]] {
                let bounds: Vec<f64> = data.iter().copied().chain([2.0]).collect();
                let x = if kind == Kind::Bars { &bounds[..] } else { data };
                // Pixels for terminals are the same ones again, and slow to pack.
                let few = if length == 10 { FORMATS.len() } else { FORMATS.len() - 2 };
                for &format in &FORMATS[..few] {
                    let drawn = of(kind, 1, x, data).draw(format);
                    let is_empty_image = data.is_empty() && !matches!(kind, Kind::Line | Kind::Points | Kind::Bars);
                    assert_eq!(drawn.is_err(), is_empty_image, "{kind:?} {format:?} {data:?}");
                    if format == Format::Png && !is_empty_image {
                        decoded(&drawn.unwrap());
                    } else if let Ok(bytes) = drawn {
                        let text = String::from_utf8(bytes).unwrap();
                        assert!(!text.contains("NaN") && !text.contains("\"inf"), "{kind:?} {data:?}: {text}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (picture, problem) in [
        (of(Kind::Line, 0, &[1.0], &[]), "1 horizontal places do not go with 0 vertical ones"),
        (of(Kind::Bars, 0, &[1.0, 2.0], &[1.0, 2.0]), "2 bars need 3 bounds, not 2"),
        (of(Kind::Gray, 2, &[], &[1.0; 3]), "3 numbers are no rows of 2 pixels"),
        (of(Kind::Gray, 0, &[], &[1.0; 3]), "3 numbers are no rows of 0 pixels"),
        (of(Kind::Colours, 3, &[], &[1.0; 4]), "4 numbers are no rows of 3 pixels"),
        (of(Kind::Matrix, 0, &[], &[]), "an image needs a pixel at least"),
    ] {
        assert_eq!(picture.draw(Format::Svg).unwrap_err(), problem);
    }
    assert_eq!(Format::of_name("a.b.PNG"), Ok(Format::Png));
    assert!(Format::of_name("png").is_err() && Format::of_name("a.jpg").is_err());
}

#[test]
fn images_are_their_pixels() {
    let drawn = of(Kind::Gray, 2, &[], &[0.0, 1.0, 0.5, 0.25]).draw(Format::Png).unwrap();
    assert_eq!(decoded(&drawn), (2, 2, vec![0, 255, 128, 64]));
    let drawn = of(Kind::Colours, 1, &[], &[f64::from(0x00_ff_00), f64::from(0x01_02_ff)]).draw(Format::Png).unwrap();
    assert_eq!(decoded(&drawn), (1, 2, vec![0, 255, 0, 1, 2, 255]));
    // The ends of the map, and what is no number.
    let drawn = of(Kind::Image, 3, &[], &[-5.0, f64::NAN, 5.0]).draw(Format::Png).unwrap();
    assert_eq!(decoded(&drawn), (3, 1, vec![0x44, 0x01, 0x54, 0xcc, 0xcc, 0xcc, 0xfd, 0xe7, 0x25]));
}

#[test]
fn charts_have_words_that_mean_nothing_else() {
    let picture = Picture {
        title: "a < b & \"c\"\u{1b}[31m",
        x_label: "größe",
        y_label: "<script>",
        ..of(Kind::Line, 0, &[0.0, 1.0], &[2.0, 3.0])
    };
    let svg = text(&picture, Format::Svg);
    assert!(
        svg.contains("a &lt; b &amp; \"c\"[31m") && svg.contains("größe") && svg.contains("&lt;script&gt;"),
        "{svg}"
    );
    let shown = text(&picture, Format::Text { has_colours: false });
    assert!(!shown.contains('\u{1b}') && shown.contains("größe"), "{shown}");
}

#[test]
fn a_line_in_a_terminal_goes_from_corner_to_corner() {
    let numbers: Vec<f64> = (0..=100).map(f64::from).collect();
    let shown = text(&of(Kind::Line, 0, &numbers, &numbers), Format::Text { has_colours: false });
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 18, "{shown}");
    // The first dots at the bottom on the left, the last at the top on the right.
    assert!(lines[0].trim_start_matches([' ', '│', '┤']).chars().count() <= 3, "{shown}");
    assert!(lines[15].chars().count() < 12, "{shown}");
    assert_eq!(lines[17].split_whitespace().collect::<Vec<_>>(), ["0", "20", "40", "60", "80", "100"], "{shown}");
}

#[test]
fn matrices_in_a_terminal_are_shades_or_colours() {
    let numbers = [0.0, 1.0, 0.0, 1.0];
    let shades = text(&of(Kind::Gray, 2, &[], &numbers), Format::Text { has_colours: false });
    assert_eq!(shades, " @\n");
    let colours = text(&of(Kind::Gray, 2, &[], &numbers), Format::Text { has_colours: true });
    assert!(colours.contains("\x1b[38;2;255;255;255m\x1b[48;2;255;255;255m▀\x1b[0m"), "{colours:?}");
}

#[test]
fn many_points_make_small_pictures() {
    let x: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (x / 1000.0).sin()).collect();
    for kind in [Kind::Line, Kind::Points] {
        let svg = of(kind, 0, &x, &y).draw(Format::Svg).unwrap();
        assert!(svg.len() < if kind == Kind::Line { 200_000 } else { 5_000_000 }, "{} bytes", svg.len());
    }
}

/// The PNG in a sequence of kitty's, put together as that terminal does.
fn unpacked(text: &str) -> Vec<u8> {
    let chunks: Vec<&str> = text.strip_suffix("\x1b\\\n").unwrap().split("\x1b\\").collect();
    let mut packed = String::new();
    for (index, chunk) in chunks.iter().enumerate() {
        let (keys, data) = chunk.strip_prefix("\x1b_G").unwrap().split_once(';').unwrap();
        let first = if index == 0 { "a=T,f=100,q=2," } else { "" };
        assert_eq!(keys, format!("{first}m={}", u8::from(index + 1 < chunks.len())));
        assert!(data.len() <= 4096 && data.len() % 4 == 0, "{}", data.len());
        packed += data;
    }
    base64::engine::general_purpose::STANDARD.decode(packed).unwrap()
}

#[test]
fn terminals_get_the_pixels_of_an_image_as_large_as_can_be_seen() {
    let corners = [0, 0xff_00_00, 0x00_ff_00, 0xff_ff_ff].map(f64::from);
    let image = of(Kind::Colours, 2, &[], &corners);
    let at = |pixels: &[u8], row: usize, column: usize| pixels[3 * (row * 320 + column)..][..3].to_vec();
    let (width, height, pixels) = decoded(&unpacked(&text(&image, Format::Graphics(Protocol::Kitty))));
    assert_eq!((width, height), (320, 320));
    assert_eq!(at(&pixels, 159, 159), [0, 0, 0]);
    assert_eq!(at(&pixels, 159, 160), [255, 0, 0]);
    assert_eq!(at(&pixels, 160, 159), [0, 255, 0]);
    assert_eq!(at(&pixels, 319, 319), [255, 255, 255]);
    let shown = SixelImage::decode(text(&image, Format::Graphics(Protocol::Sixel)).trim_end().as_bytes()).unwrap();
    // Sixels are six rows at a time: four rows too many.
    assert_eq!((shown.width, shown.height), (320, 324));
    let opaque: Vec<u8> = shown.pixels.chunks(4).flat_map(|pixel| pixel[..3].to_vec()).take(pixels.len()).collect();
    // The colours of sixels are in hundredths.
    let differs = |(one, other): (&u8, &u8)| one.abs_diff(*other) > 3;
    assert!(!opaque.iter().zip(&pixels).any(differs));
}

#[test]
fn terminals_get_large_images_at_the_size_of_a_screen() {
    let pixels: Vec<f64> = (0..3000 * 1000).map(|index| f64::from(index % 3000)).collect();
    let image = of(Kind::Gray, 3000, &[], &pixels);
    let (width, height, shown) = decoded(&unpacked(&text(&image, Format::Graphics(Protocol::Kitty))));
    assert_eq!((width, height), (800, 267));
    let first = &shown[..2400];
    assert!(first.is_sorted() && first[0] == 0 && first[2399] >= 254, "from black to white, in means: {first:?}");
    let chart = of(Kind::Line, 0, &[0.0, 1.0], &[0.0, 1.0]);
    assert_eq!(decoded(&unpacked(&text(&chart, Format::Graphics(Protocol::Kitty)))).0, 800);
    let titled = Picture { title: "A\u{7}", ..image };
    assert!(text(&titled, Format::Graphics(Protocol::Sixel)).starts_with("A\u{fffd}\n\x1bP"));
}
