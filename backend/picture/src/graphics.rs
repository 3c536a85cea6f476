//! Pictures as pixels for terminals that show them, in what is written to them: a sequence of control characters with
//! the picture packed in it, and a line end. `kitty` is the protocol of that terminal, which takes PNG; `sixel` that of
//! the VT340, which takes six rows of pixels at a time in colours of a palette.

use crate::chart;
use crate::raster::{self, Pixels};
use crate::terminal::visible;
use crate::{Kind, Picture};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use icy_sixel::SixelImage;

/// How a terminal wants to have pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// <https://sw.kovidgoyal.net/kitty/graphics-protocol/>
    Kitty,
    /// DEC STD 070, chapter 9.
    Sixel,
}

/// The most pixels across and down: half of most screens.
const SCREEN: (usize, usize) = (800, 600);

/// An image of less pixels than this along its longer side is enlarged.
const SMALL: usize = 320;

/// The most characters in one sequence of kitty's.
const CHUNK: usize = 4096;

/// The picture as a terminal takes it.
///
/// # Errors
/// If it cannot be packed.
pub fn draw(picture: &Picture<'_>, protocol: Protocol) -> Result<Vec<u8>, String> {
    let is_image = matches!(picture.kind, Kind::Image | Kind::Gray | Kind::Colours);
    let pixels = if is_image { Pixels::of_matrix(picture) } else { raster::paint(&chart::layout(picture)) };
    let pixels = fitted(&pixels);
    let title = if is_image && !picture.title.is_empty() { visible(picture.title) + "\n" } else { String::new() };
    let shown = match protocol {
        Protocol::Kitty => kitty(&raster::encode(pixels.columns, pixels.rows, &pixels.colours, false)?),
        Protocol::Sixel => sixel(&pixels)?,
    };
    Ok(format!("{title}{shown}\n").into_bytes())
}

/// As large as can be seen: small images a whole number of times as large, large ones at the size of the screen.
fn fitted(pixels: &Pixels) -> Pixels {
    let (columns, rows) = (pixels.columns, pixels.rows);
    let shrink = (columns as f64 / SCREEN.0 as f64).max(rows as f64 / SCREEN.1 as f64).max(1.0);
    let enlarge = (SMALL / columns.max(rows)).max(1);
    let size = |length: usize| ((length as f64 / shrink).round() as usize).max(1) * enlarge;
    pixels.resized(size(columns), size(rows))
}

/// `q=2`: the terminal is not to answer, nobody would read it.
fn kitty(png: &[u8]) -> String {
    let packed = STANDARD.encode(png);
    let mut text = String::new();
    let mut keys = "a=T,f=100,q=2,";
    let mut rest = packed.as_str();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(CHUNK));
        text += &format!("\x1b_G{keys}m={};{chunk}\x1b\\", u8::from(!after.is_empty()));
        (keys, rest) = ("", after);
    }
    text
}

fn sixel(pixels: &Pixels) -> Result<String, String> {
    let (colours, _) = pixels.colours.as_chunks::<3>();
    let opaque = colours.iter().flat_map(|&[red, green, blue]| [red, green, blue, u8::MAX]).collect();
    let packed = SixelImage::try_from_rgba(opaque, pixels.columns, pixels.rows).and_then(|image| image.encode());
    packed.map_err(|error| format!("the image cannot be packed: {error}"))
}
