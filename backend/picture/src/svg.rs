//! Marks as SVG, a text that browsers and printers draw.

use crate::chart::{Anchor, LETTER, Mark, PAPER};
use crate::colours::{self, Colour};
use crate::{Kind, Picture, raster};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

/// The picture with these marks.
///
/// # Errors
/// If pixels in it cannot be packed.
pub fn draw(marks: &[Mark]) -> Result<Vec<u8>, String> {
    let (width, height) = PAPER;
    let mut text = begin(width, height);
    text += &format!("<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n");
    for mark in marks {
        draw_mark(mark, &mut text)?;
    }
    text += "</svg>\n";
    Ok(text.into_bytes())
}

/// An image without anything beside it.
///
/// # Errors
/// If it cannot be packed.
pub fn image(picture: &Picture<'_>) -> Result<Vec<u8>, String> {
    let (width, height) = (picture.columns as f64, picture.rows() as f64);
    let mut text = begin(width, height);
    let pixels = colours::of_matrix(picture);
    let png = raster::encode(picture.columns, picture.rows(), &pixels, picture.kind == Kind::Gray)?;
    embed([0.0, 0.0, width, height], &png, &mut text);
    text += "</svg>\n";
    Ok(text.into_bytes())
}

fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{}\" fill=\"#222222\">\n",
        LETTER.0
    )
}

fn draw_mark(mark: &Mark, text: &mut String) -> Result<(), String> {
    match mark {
        Mark::Line(points, colour, width) => {
            *text += "<polyline fill=\"none\" stroke-linejoin=\"round\" points=\"";
            for (x, y) in points {
                // A text takes whatever is written to it.
                _ = write!(text, "{} {} ", short(*x), short(*y));
            }
            *text += &format!("\" stroke=\"{}\" stroke-width=\"{width}\"/>\n", name(*colour));
        }
        Mark::Dots(points, colour, radius) => {
            // Lines of no length with round ends: much shorter than as many circles.
            let (ink, width) = (name(*colour), 2.0 * radius);
            *text += &format!("<path stroke=\"{ink}\" stroke-opacity=\"0.7\" stroke-width=\"{width}\" ");
            *text += "stroke-linecap=\"round\" d=\"";
            for (x, y) in points {
                _ = write!(text, "M{} {}h0", short(*x), short(*y));
            }
            *text += "\"/>\n";
        }
        Mark::Rectangle([left, top, width, height], colour) => {
            let [left, top, width, height] = [left, top, width, height].map(|place| short(*place));
            let fill = name(*colour);
            *text +=
                &format!("<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>\n");
        }
        Mark::Text((x, y), anchor, words) => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (short(*x), short(y + LETTER.0 * 0.35));
            *text += &format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n", escaped(words));
        }
        Mark::Upwards((x, y), words) => {
            let (x, y) = (short(x + LETTER.0 * 0.35), short(*y));
            let words = escaped(words);
            *text +=
                &format!("<text text-anchor=\"middle\" transform=\"translate({x} {y}) rotate(-90)\">{words}</text>\n");
        }
        Mark::Pixels(place, columns, pixels) => {
            let rows = pixels.len() / (3 * columns).max(1);
            embed(*place, &raster::encode(*columns, rows, pixels, false)?, text);
        }
    }
    Ok(())
}

/// A place with two digits, which are enough to see.
fn short(place: f64) -> f64 {
    (place * 100.0).round() / 100.0
}

fn name([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A text as XML has it; control characters, which it cannot have, are left out.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for character in words.chars().filter(|character| !character.is_control()) {
        match character {
            '<' => text += "&lt;",
            '>' => text += "&gt;",
            '&' => text += "&amp;",
            other => text.push(other),
        }
    }
    text
}

fn embed([left, top, width, height]: [f64; 4], png: &[u8], text: &mut String) {
    *text += &format!(
        "<image x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
         image-rendering=\"pixelated\" href=\"data:image/png;base64,"
    );
    STANDARD.encode_string(png, text);
    *text += "\"/>\n";
}
