//! Pictures of numbers: charts with axes, coloured matrices and images, as SVG, as PNG, or for a terminal, as pixels or
//! as text.
//!
//! A leaf crate without input or output: data come in, the bytes of a picture go out, the same ones on every machine.
//! `chart` decides what stands where, in marks; `svg` and `raster` draw marks, `graphics` hands pixels to terminals that
//! show them, and `terminal` has its own, coarser way for those that do not.
//! `scale` knows axes, `colours` what a number looks like.

mod chart;
mod colours;
mod graphics;
mod raster;
mod scale;
mod svg;
mod terminal;

pub use graphics::Protocol;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A text that browsers draw, sharp at any size.
    Svg,
    /// Pixels.
    Png,
    /// Lines of characters, with colours or without.
    Text {
        /// Whether colours can be seen.
        has_colours: bool,
    },
    /// Pixels in what a terminal takes.
    Graphics(Protocol),
}

impl Format {
    /// The format that the name of a file ends with.
    ///
    /// # Errors
    /// If it ends with none.
    pub fn of_name(name: &str) -> Result<Format, String> {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        match ending.as_str() {
            "svg" => Ok(Format::Svg),
            "png" => Ok(Format::Png),
            _ => Err("the name of a picture must end with .svg or .png".to_owned()),
        }
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The points in a line.
    Line,
    /// The points.
    Points,
    /// Bars between neighbouring `x`, which are one more.
    Bars,
    /// A matrix with axes, each number as a colour.
    Matrix,
    /// A matrix as an image, each number as a colour.
    Image,
    /// A matrix as an image from black to white.
    Gray,
    /// An image: of each pixel 65536 times the red, 256 times the green, and the blue, each from 0 to 255.
    Colours,
}

impl Kind {
    /// The kinds in the order of their numbers in programs.
    pub const ALL: [Kind; 7] =
        [Kind::Line, Kind::Points, Kind::Bars, Kind::Matrix, Kind::Image, Kind::Gray, Kind::Colours];
}

/// A picture before it is drawn.
#[derive(Clone, Debug)]
pub struct Picture<'d> {
    /// What is drawn.
    pub kind: Kind,
    /// What stands above it.
    pub title: &'d str,
    /// What the horizontal axis is.
    pub x_label: &'d str,
    /// What the vertical axis is.
    pub y_label: &'d str,
    /// How many columns a matrix has.
    pub columns: usize,
    /// The horizontal places.
    pub x: &'d [f64],
    /// The vertical places, or the elements of a matrix, row by row.
    pub y: &'d [f64],
}

/// The most pixels that an image has: as much as fits into the memory of most machines.
const MOST_PIXELS: usize = 1 << 30;

impl Picture<'_> {
    /// Draws it.
    ///
    /// # Errors
    /// If the data do not go together.
    pub fn draw(&self, format: Format) -> Result<Vec<u8>, String> {
        self.check()?;
        match (format, self.kind) {
            (Format::Text { .. }, Kind::Line | Kind::Points | Kind::Bars) => Ok(terminal::chart(self).into_bytes()),
            (Format::Text { has_colours }, _) => Ok(terminal::image(self, has_colours).into_bytes()),
            (Format::Png, Kind::Image | Kind::Gray | Kind::Colours) => {
                let bytes = colours::of_matrix(self);
                raster::encode(self.columns, self.rows(), bytes.as_slice(), self.kind == Kind::Gray)
            }
            (Format::Svg, Kind::Image | Kind::Gray | Kind::Colours) => svg::image(self),
            (Format::Svg, _) => svg::draw(&chart::layout(self)),
            (Format::Graphics(protocol), _) => graphics::draw(self, protocol),
            (Format::Png, _) => {
                let pixels = raster::paint(&chart::layout(self));
                raster::encode(pixels.columns, pixels.rows, &pixels.colours, false)
            }
        }
    }

    fn rows(&self) -> usize {
        self.y.len() / self.columns.max(1)
    }

    fn check(&self) -> Result<(), String> {
        let (x, y) = (self.x.len(), self.y.len());
        match self.kind {
            Kind::Line | Kind::Points if x != y => {
                Err(format!("{x} horizontal places do not go with {y} vertical ones"))
            }
            Kind::Bars if x != y + 1 => Err(format!("{y} bars need {} bounds, not {x}", y + 1)),
            Kind::Line | Kind::Points | Kind::Bars => Ok(()),
            _ if y == 0 => Err("an image needs a pixel at least".to_owned()),
            _ if self.columns == 0 || y % self.columns != 0 => {
                Err(format!("{y} numbers are no rows of {} pixels", self.columns))
            }
            _ if y > MOST_PIXELS => Err(format!("{y} pixels are too many for one picture")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
