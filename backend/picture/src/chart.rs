//! Charts: what stands where, as marks that any way of drawing can draw, on a paper of 800 by 500.

use crate::colours::{self, Colour};
use crate::scale::Scale;
use crate::{Kind, Picture};

/// The size of the paper.
pub const PAPER: (f64, f64) = (800.0, 500.0);

/// The size of letters beside axes, and their width.
pub const LETTER: (f64, f64) = (13.0, 7.2);

const BLACK: Colour = [0x22, 0x22, 0x22];
const GRID: Colour = [0xe6, 0xe6, 0xe6];
const INK: Colour = [0x1f, 0x6f, 0xb4];

/// Where a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At the place.
    Start,
    /// Half of it before the place.
    Middle,
    /// All of it before the place.
    End,
}

/// Something that is drawn.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A line through points.
    Line(Vec<(f64, f64)>, Colour, f64),
    /// Discs around points.
    Dots(Vec<(f64, f64)>, Colour, f64),
    /// A rectangle, by its left, top, width and height.
    Rectangle([f64; 4], Colour),
    /// A text whose middle is at this height.
    Text((f64, f64), Anchor, String),
    /// A text that reads upwards, around this place.
    Upwards((f64, f64), String),
    /// Pixels in a rectangle: how many columns, and their colours.
    Pixels([f64; 4], usize, Vec<u8>),
}

/// The part of the paper that data are in.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

impl Area {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let across = self.left + self.x.part(x) * (self.right - self.left);
        (across, self.bottom - self.y.part(y) * (self.bottom - self.top))
    }
}

/// The marks of a chart.
pub fn layout(picture: &Picture<'_>) -> Vec<Mark> {
    let (x, y) = scales(picture);
    let y_ticks = if picture.kind == Kind::Matrix { row_ticks(picture) } else { y.ticks(6) };
    let widest = y_ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let left = 24.0 + widest as f64 * LETTER.1 + if picture.y_label.is_empty() { 0.0 } else { 24.0 };
    let right = if picture.kind == Kind::Matrix { 110.0 } else { 24.0 };
    let top = if picture.title.is_empty() { 20.0 } else { 48.0 };
    let bottom = if picture.x_label.is_empty() { 38.0 } else { 60.0 };
    let area = Area { left, right: PAPER.0 - right, top, bottom: PAPER.1 - bottom, x, y };
    let mut marks = Vec::new();
    axes(&area, &y_ticks, picture.kind == Kind::Matrix, &mut marks);
    match picture.kind {
        Kind::Line => marks.extend(lines(picture, &area)),
        Kind::Points => marks.push(dots(picture, &area)),
        Kind::Bars => marks.extend(bars(picture, &area)),
        _ => matrix(picture, &area, &mut marks),
    }
    if picture.kind != Kind::Matrix {
        frame(&area, &mut marks);
    }
    let middle = (area.left + area.right) / 2.0;
    if !picture.title.is_empty() {
        marks.push(Mark::Text((middle, 24.0), Anchor::Middle, picture.title.to_owned()));
    }
    if !picture.x_label.is_empty() {
        marks.push(Mark::Text((middle, PAPER.1 - 18.0), Anchor::Middle, picture.x_label.to_owned()));
    }
    if !picture.y_label.is_empty() {
        marks.push(Mark::Upwards((18.0, (area.top + area.bottom) / 2.0), picture.y_label.to_owned()));
    }
    marks
}

/// The ranges of both axes.
pub fn scales(picture: &Picture<'_>) -> (Scale, Scale) {
    let (x, y) = (picture.x.iter().copied(), picture.y.iter().copied());
    match picture.kind {
        Kind::Bars => (Scale::of(x), Scale::from_zero(y, 0.05)),
        Kind::Matrix => {
            let ends = |length: usize| Scale::of([0.0, length as f64].into_iter());
            (ends(picture.columns), ends(picture.rows()))
        }
        Kind::Line => (Scale::of(x), Scale::around(y, 0.05)),
        _ => (Scale::around(x, 0.03), Scale::around(y, 0.05)),
    }
}

/// Rows are counted from the top.
fn row_ticks(picture: &Picture<'_>) -> Vec<(f64, String)> {
    let rows = picture.rows() as f64;
    let ticks = Scale::of([0.0, rows].into_iter()).ticks(6).into_iter();
    let whole = ticks.filter(|(row, _)| row.fract() == 0.0 && *row < rows);
    whole.map(|(row, text)| (rows - row - 0.5, text)).collect()
}

fn axes(area: &Area, y_ticks: &[(f64, String)], is_matrix: bool, marks: &mut Vec<Mark>) {
    let &Area { left, right, top, bottom, x, .. } = area;
    let half = if is_matrix { 0.5 } else { 0.0 };
    for (value, text) in x.ticks(8) {
        let across = area.place(value + half, 0.0).0;
        if across > right + 1.0 || (is_matrix && value.fract() != 0.0) {
            continue;
        }
        if !is_matrix {
            marks.push(Mark::Line(vec![(across, top), (across, bottom)], GRID, 1.0));
        }
        marks.push(Mark::Line(vec![(across, bottom), (across, bottom + 5.0)], BLACK, 1.0));
        marks.push(Mark::Text((across, bottom + 16.0), Anchor::Middle, text));
    }
    for (value, text) in y_ticks {
        let height = area.place(0.0, *value).1;
        if !is_matrix {
            marks.push(Mark::Line(vec![(left, height), (right, height)], GRID, 1.0));
        }
        marks.push(Mark::Line(vec![(left - 5.0, height), (left, height)], BLACK, 1.0));
        marks.push(Mark::Text((left - 9.0, height), Anchor::End, text.clone()));
    }
}

fn frame(area: &Area, marks: &mut Vec<Mark>) {
    let &Area { left, right, top, bottom, .. } = area;
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    marks.push(Mark::Line(corners, BLACK, 1.0));
}

/// The lines between points that are numbers. Of many points in one place across the paper, those that are seen.
fn lines(picture: &Picture<'_>, area: &Area) -> Vec<Mark> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (&x, &y) in picture.x.iter().zip(picture.y) {
        match (x.is_finite() && y.is_finite(), pieces.last_mut()) {
            (true, Some(piece)) => piece.push(area.place(x, y)),
            (false, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.into_iter().filter(|piece| !piece.is_empty()).map(|piece| Mark::Line(thinned(piece), INK, 1.8)).collect()
}

/// The points of a line without those that no eye misses: of neighbours in one half of a pixel across, the first, the
/// lowest, the highest and the last.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let cell = |point: &(f64, f64)| (2.0 * point.0).floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|one, other| cell(one) == cell(other)) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let lowest = (0..run.len()).max_by(|&i, &j| run[i].1.total_cmp(&run[j].1)).unwrap_or(0);
        let highest = (0..run.len()).min_by(|&i, &j| run[i].1.total_cmp(&run[j].1)).unwrap_or(0);
        let mut indices = [0, lowest, highest, run.len() - 1];
        indices.sort_unstable();
        kept.extend(indices.map(|index| run[index]));
    }
    kept
}

/// One disc for all points within a quarter of a unit, or within a unit where there are many.
fn dots(picture: &Picture<'_>, area: &Area) -> Mark {
    const MANY: usize = 5_000;
    let distinct = |fineness: f64| {
        let finite = picture.x.iter().zip(picture.y).filter(|(x, y)| x.is_finite() && y.is_finite());
        let places = finite.map(|(&x, &y)| area.place(x, y));
        let mut cells: Vec<(i32, i32)> =
            places.map(|(x, y)| ((x * fineness).round() as i32, (y * fineness).round() as i32)).collect();
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().map(|(x, y)| (f64::from(x) / fineness, f64::from(y) / fineness)).collect::<Vec<_>>()
    };
    let fine = distinct(4.0);
    if fine.len() > MANY { Mark::Dots(distinct(1.0), INK, 0.8) } else { Mark::Dots(fine, INK, 3.0) }
}

fn bars(picture: &Picture<'_>, area: &Area) -> Vec<Mark> {
    let bounds = picture.x.windows(2);
    let bar = |(bounds, &height): (&[f64], &f64)| {
        let ((left, foot), (right, head)) = (area.place(bounds[0], 0.0), area.place(bounds[1], height));
        let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
        let all = [left, foot, right, head].iter().all(|place| place.is_finite());
        all.then(|| Mark::Rectangle([left + gap / 2.0, head.min(foot), right - left - gap, (foot - head).abs()], INK))
    };
    bounds.zip(picture.y).filter_map(bar).collect()
}

fn matrix(picture: &Picture<'_>, area: &Area, marks: &mut Vec<Mark>) {
    let &Area { left, right, top, bottom, .. } = area;
    let place = [left, top, right - left, bottom - top];
    marks.push(Mark::Pixels(place, picture.columns, colours::of_matrix(picture)));
    frame(area, marks);
    // The colours and their numbers.
    const STEPS: usize = 64;
    let pixels = (0..STEPS).rev().flat_map(|step| colours::at(step as f64 / (STEPS - 1) as f64)).collect();
    let key = [right + 16.0, top, 16.0, bottom - top];
    marks.push(Mark::Pixels(key, 1, pixels));
    let values = Scale::of(picture.y.iter().copied());
    for (value, text) in values.ticks(6) {
        let height = bottom - values.part(value) * (bottom - top);
        marks.push(Mark::Line(vec![(right + 32.0, height), (right + 37.0, height)], BLACK, 1.0));
        marks.push(Mark::Text((right + 41.0, height), Anchor::Start, text));
    }
}
