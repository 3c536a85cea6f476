//! Marks and matrices as pixels, pixels in other sizes and as PNG.

use crate::Picture;
use crate::chart::{Anchor, Mark, PAPER};
use crate::colours::{self, Colour};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};
use png::{BitDepth, ColorType, Compression, Encoder};

/// Pixels for one unit of the paper: print wants more than a screen.
const FINENESS: f64 = 2.0;

/// Packs an image: a byte for each pixel if it is gray, else three.
///
/// # Errors
/// If it is too large for the format.
pub fn encode(columns: usize, rows: usize, pixels: &[u8], is_gray: bool) -> Result<Vec<u8>, String> {
    let side = |length: usize| u32::try_from(length).map_err(|_| format!("{length} pixels are too many in a row"));
    let failed = |error: png::EncodingError| format!("the image cannot be packed: {error}");
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, side(columns)?, side(rows)?);
    encoder.set_color(if is_gray { ColorType::Grayscale } else { ColorType::Rgb });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Colours in rows, three bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// How many are in a row.
    pub columns: usize,
    /// How many rows there are.
    pub rows: usize,
    /// Red, green and blue of each, row by row.
    pub colours: Vec<u8>,
}

impl Pixels {
    /// A pixel for each element of a matrix.
    pub fn of_matrix(picture: &Picture<'_>) -> Pixels {
        let (columns, rows) = (picture.columns, picture.rows());
        let bytes = colours::of_matrix(picture);
        let is_gray = bytes.len() == columns * rows;
        let colours = if is_gray { bytes.iter().flat_map(|&byte| [byte; 3]).collect() } else { bytes };
        Pixels { columns, rows, colours }
    }

    /// The same in another size: each is the mean of those that lie there, or the one that does.
    pub fn resized(&self, columns: usize, rows: usize) -> Pixels {
        let range = |index: usize, count: usize, of: usize| {
            let start = index * of / count;
            start..((index + 1) * of / count).max(start + 1)
        };
        let (pixels, _) = self.colours.as_chunks::<3>();
        let mut colours = Vec::with_capacity(3 * columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let (across, along) = (range(row, rows, self.rows), range(column, columns, self.columns));
                let mut sums = [0u64; 3];
                for y in across.clone() {
                    for pixel in &pixels[y * self.columns..][along.clone()] {
                        sums.iter_mut().zip(pixel).for_each(|(sum, &value)| *sum += u64::from(value));
                    }
                }
                let count = (across.len() * along.len()) as u64;
                colours.extend(sums.map(|sum| (sum / count) as u8));
            }
        }
        Pixels { columns, rows, colours }
    }
}

/// The picture with these marks.
pub fn paint(marks: &[Mark]) -> Pixels {
    let (width, height) = ((PAPER.0 * FINENESS) as usize, (PAPER.1 * FINENESS) as usize);
    let mut canvas = Canvas { width, height, pixels: vec![255; 3 * width * height] };
    for mark in marks {
        match mark {
            Mark::Line(points, colour, width) => canvas.line(points, *colour, *width * FINENESS),
            Mark::Dots(points, colour, radius) => {
                points
                    .iter()
                    .for_each(|&point| canvas.segment(scaled(point), scaled(point), *colour, radius * FINENESS));
            }
            Mark::Rectangle(place, colour) => canvas.rectangle(place.map(|place| place * FINENESS), *colour),
            Mark::Text(place, anchor, words) => canvas.text(scaled(*place), *anchor, words, false),
            Mark::Upwards(place, words) => canvas.text(scaled(*place), Anchor::Middle, words, true),
            Mark::Pixels(place, columns, pixels) => canvas.image(place.map(|place| place * FINENESS), *columns, pixels),
        }
    }
    Pixels { columns: width, rows: height, colours: canvas.pixels }
}

fn scaled((x, y): (f64, f64)) -> (f64, f64) {
    (x * FINENESS, y * FINENESS)
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// Lays a colour over a pixel, as much of it as is covered.
    fn blend(&mut self, x: usize, y: usize, colour: Colour, covered: f64) {
        if x >= self.width || y >= self.height || covered <= 0.0 {
            return;
        }
        let start = 3 * (y * self.width + x);
        for (pixel, ink) in self.pixels[start..start + 3].iter_mut().zip(colour) {
            let mixed = f64::from(*pixel) + covered.min(1.0) * (f64::from(ink) - f64::from(*pixel));
            *pixel = mixed.round() as u8;
        }
    }

    fn line(&mut self, points: &[(f64, f64)], colour: Colour, width: f64) {
        let points: Vec<(f64, f64)> = points.iter().map(|&point| scaled(point)).collect();
        match points.as_slice() {
            [only] => self.segment(*only, *only, colour, width),
            points => points.windows(2).for_each(|ends| self.segment(ends[0], ends[1], colour, width / 2.0)),
        }
    }

    /// All pixels within a radius of a segment; those at the edge in part.
    fn segment(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, radius: f64) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx * dx + dy * dy;
        let bound = |low: f64, limit: usize| low.clamp(0.0, limit as f64) as usize;
        let (top, bottom) = (from.1.min(to.1) - radius - 1.0, from.1.max(to.1) + radius + 1.0);
        for y in bound(top.floor(), self.height)..bound(bottom.ceil() + 1.0, self.height) {
            // What of the segment is near this row of pixels.
            let near = |height: f64| if dy == 0.0 { 0.0 } else { ((height - from.1) / dy).clamp(0.0, 1.0) };
            let ends =
                if dy == 0.0 { [0.0, 1.0] } else { [y as f64 - radius - 1.0, y as f64 + radius + 2.0].map(near) };
            let [one, other] = ends.map(|part| from.0 + part * dx);
            let (left, right) = (one.min(other) - radius - 1.0, one.max(other) + radius + 1.0);
            for x in bound(left.floor(), self.width)..bound(right.ceil() + 1.0, self.width) {
                let (px, py) = (x as f64 + 0.5 - from.0, y as f64 + 0.5 - from.1);
                let along = if length == 0.0 { 0.0 } else { ((px * dx + py * dy) / length).clamp(0.0, 1.0) };
                let distance = (px - along * dx).hypot(py - along * dy);
                self.blend(x, y, colour, radius + 0.5 - distance);
            }
        }
    }

    fn rectangle(&mut self, [left, top, width, height]: [f64; 4], colour: Colour) {
        let part =
            |pixel: usize, start: f64, end: f64| (end.min(pixel as f64 + 1.0) - start.max(pixel as f64)).min(1.0);
        let (right, bottom) = (left + width, top + height);
        for y in top.max(0.0) as usize..bottom.ceil().clamp(0.0, self.height as f64) as usize {
            for x in left.max(0.0) as usize..right.ceil().clamp(0.0, self.width as f64) as usize {
                let covered = part(x, left, right).max(0.0) * part(y, top, bottom).max(0.0);
                self.blend(x, y, colour, covered);
            }
        }
    }

    /// Each pixel of the canvas takes that of the image which lies there: the mean of those that do where they are
    /// many.
    fn image(&mut self, [left, top, width, height]: [f64; 4], columns: usize, pixels: &[u8]) {
        let rows = pixels.len() / (3 * columns).max(1);
        let range = |pixel: usize, start: f64, length: f64, count: usize| {
            let at = |place: f64| ((place - start) / length * count as f64).clamp(0.0, count as f64);
            let first = (at(pixel as f64) as usize).min(count.saturating_sub(1));
            first..(at(pixel as f64 + 1.0).ceil() as usize).clamp(first + 1, count.max(first + 1))
        };
        for y in top.max(0.0) as usize..((top + height) as usize).min(self.height) {
            let across = range(y, top, height, rows);
            for x in left.max(0.0) as usize..((left + width) as usize).min(self.width) {
                let along = range(x, left, width, columns);
                let mut sums = [0u64; 3];
                for row in across.clone() {
                    for pixel in pixels[3 * (row * columns + along.start)..3 * (row * columns + along.end)].chunks(3) {
                        sums.iter_mut().zip(pixel).for_each(|(sum, &value)| *sum += u64::from(value));
                    }
                }
                let count = (across.len() * along.len()) as u64;
                self.blend(x, y, sums.map(|sum| (sum / count) as u8), 1.0);
            }
        }
    }

    /// A text around the height of a place, or upwards around a place.
    fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, words: &str, is_upwards: bool) {
        let glyph = |character: char| {
            let of = |character| get_raster(character, FontWeight::Regular, RasterHeight::Size24);
            of(character).or_else(|| of('?'))
        };
        let glyphs: Vec<_> = words.chars().filter(|character| !character.is_control()).filter_map(glyph).collect();
        let length: usize = glyphs.iter().map(|glyph| glyph.width()).sum();
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length as f64 / 2.0,
            Anchor::End => length as f64,
        };
        let mut along = -before;
        for glyph in glyphs {
            for (row, pixels) in glyph.rows().enumerate() {
                for (column, &pixel) in pixels.iter().enumerate() {
                    let (right, down) = (along + column as f64, row as f64 - glyph.height() as f64 / 2.0);
                    let (px, py) = if is_upwards { (x + down, y - right) } else { (x + right, y + down) };
                    if px >= 0.0 && py >= 0.0 {
                        self.blend(px as usize, py as usize, [0x22; 3], f64::from(pixel) / 255.0);
                    }
                }
            }
            along += glyph.width() as f64;
        }
    }
}
