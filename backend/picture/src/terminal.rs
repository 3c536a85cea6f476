//! Pictures as lines of text: charts in dots of braille, eight to a character, and matrices in half blocks of colour,
//! or in shades where there are no colours.

use crate::chart::scales;
use crate::raster::Pixels;
use crate::scale::Scale;
use crate::{Kind, Picture};

/// The characters of a chart across and down, without what stands beside it.
const CHART: (usize, usize) = (64, 16);

/// The most pixels of an image across, and down: two to a character.
const IMAGE: (usize, usize) = (72, 72);

/// From dark to bright.
const SHADES: &[u8] = b" .:-=+*#%@";

/// The dots of a character, by column and row, as Unicode numbers them.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A chart with its axes.
pub fn chart(picture: &Picture<'_>) -> String {
    let (x, y) = scales(picture);
    let mut dots = Dots { cells: vec![0; CHART.0 * CHART.1] };
    let place = |across: f64, up: f64| {
        let along = |part: f64, count: usize| part * (count - 1) as f64;
        (along(x.part(across), 2 * CHART.0), along(1.0 - y.part(up), 4 * CHART.1))
    };
    let mut before: Option<(f64, f64)> = None;
    match picture.kind {
        Kind::Bars => {
            for (bounds, &height) in picture.x.windows(2).zip(picture.y) {
                let ((left, foot), (right, head)) = (place(bounds[0], 0.0), place(bounds[1], height));
                let columns = left.round() as i64..(right.round() as i64).max(left.round() as i64 + 1);
                columns.for_each(|column| dots.line((column as f64, foot), (column as f64, head)));
            }
        }
        _ => {
            for (&across, &up) in picture.x.iter().zip(picture.y) {
                let here = (across.is_finite() && up.is_finite()).then(|| place(across, up));
                if let Some(here) = here {
                    dots.line(before.filter(|_| picture.kind == Kind::Line).unwrap_or(here), here);
                }
                before = here;
            }
        }
    }
    framed(picture, &dots, x, y)
}

/// The dots in their frame, with numbers and words beside it.
fn framed(picture: &Picture<'_>, dots: &Dots, x: Scale, y: Scale) -> String {
    let mut labels = vec![String::new(); CHART.1];
    for (value, text) in y.ticks(5) {
        let row = ((1.0 - y.part(value)) * (CHART.1 - 1) as f64).round() as usize;
        labels[row.min(CHART.1 - 1)] = text;
    }
    let margin = labels.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for words in [picture.title, picture.y_label].into_iter().filter(|words| !words.is_empty()) {
        text += &format!("{:margin$}  {}\n", "", visible(words));
    }
    for (row, label) in labels.iter().enumerate() {
        let mark = if label.is_empty() { '│' } else { '┤' };
        let line: String = dots.cells[row * CHART.0..(row + 1) * CHART.0]
            .iter()
            .map(|&cell| if cell == 0 { ' ' } else { char::from_u32(0x2800 + cell).unwrap_or(' ') })
            .collect();
        text += &format!("{label:>margin$} {mark}{}\n", line.trim_end());
    }
    let (mut rule, mut numbers) = (vec!['─'; CHART.0], vec![' '; CHART.0 + margin + 12]);
    let mut free = 0;
    for (value, label) in x.ticks(6) {
        let column = (x.part(value) * (CHART.0 - 1) as f64).round() as usize;
        rule[column.min(CHART.0 - 1)] = '┬';
        let start = (column + margin + 2).saturating_sub(label.len() / 2);
        if start >= free && start + label.len() <= numbers.len() {
            label.chars().enumerate().for_each(|(index, digit)| numbers[start + index] = digit);
            free = start + label.len() + 1;
        }
    }
    text += &format!("{:margin$} └{}\n", "", rule.iter().collect::<String>());
    text += numbers.iter().collect::<String>().trim_end();
    text.push('\n');
    if !picture.x_label.is_empty() {
        text += format!("{:margin$}  {:^2$}", "", visible(picture.x_label), CHART.0).trim_end();
        text.push('\n');
    }
    text
}

/// A text whose characters are all seen.
pub fn visible(words: &str) -> String {
    words.chars().map(|character| if character.is_control() { '�' } else { character }).collect()
}

struct Dots {
    cells: Vec<u32>,
}

impl Dots {
    fn set(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round(), y.round());
        if x >= 0.0 && y >= 0.0 && x < (2 * CHART.0) as f64 && y < (4 * CHART.1) as f64 {
            let (x, y) = (x as usize, y as usize);
            self.cells[y / 4 * CHART.0 + x / 2] |= DOTS[x % 2][y % 4];
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 1000.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            self.set(from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
        }
    }
}

/// A matrix or an image.
pub fn image(picture: &Picture<'_>, has_colours: bool) -> String {
    let (columns, rows) = (picture.columns, picture.rows());
    let shrink = (columns as f64 / IMAGE.0 as f64).max(rows as f64 / IMAGE.1 as f64).max(1.0);
    let size = |length: usize| ((length as f64 / shrink).round() as usize).clamp(1, length);
    let (width, height) = (size(columns), size(rows));
    let pixels = Pixels::of_matrix(picture).resized(width, height);
    let (pixels, _) = pixels.colours.as_chunks::<3>();
    let mut text = String::new();
    if !picture.title.is_empty() {
        text += &format!("{}\n", visible(picture.title));
    }
    let pixel = |row: usize, column: usize| pixels[row * width + column];
    for row in (0..height).step_by(2) {
        let mut line = String::new();
        for column in 0..width {
            let upper = pixel(row, column);
            let lower = (row + 1 < height).then(|| pixel(row + 1, column));
            if has_colours {
                let [red, green, blue] = upper;
                line += &format!("\x1b[38;2;{red};{green};{blue}m");
                line +=
                    &lower.map_or_else(String::new, |[red, green, blue]| format!("\x1b[48;2;{red};{green};{blue}m"));
                line.push('▀');
            } else {
                let bright = |[red, green, blue]: [u8; 3]| {
                    0.3 * f64::from(red) + 0.59 * f64::from(green) + 0.11 * f64::from(blue)
                };
                let mean = lower.map_or(bright(upper), |lower| (bright(upper) + bright(lower)) / 2.0);
                line.push(char::from(SHADES[((mean / 256.0) * SHADES.len() as f64) as usize]));
            }
        }
        text += if has_colours { line.as_str() } else { line.trim_end() };
        text += if has_colours { "\x1b[0m\n" } else { "\n" };
    }
    if picture.kind == Kind::Matrix {
        let finite = picture.y.iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        if low <= high {
            text += &format!("{rows} rows, {columns} columns, from {low} to {high}\n");
        }
    }
    text
}
