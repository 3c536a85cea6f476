//! The texts of elements, and back: `text_lengths`, `text`, `parse_float`.

use super::Threads;
use super::column::wrap;
use super::output::{Output, Writer};
use super::segment::{Run, runs};
use super::tuning::GRAIN_COSTLY;
use super::workers::split;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::{Fault, Text};
use crate::on_vector;
use nesl_prim::{Element, text};

/// Scalars as text, and text as scalars.
pub fn run(threads: &Threads, text: Text<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
    match text {
        Text::Lengths(column) => lengths(threads, column),
        Text::Text(column) => text_of(threads, column),
        Text::ParseFloat(column, descriptor) => parse_float(threads, column, descriptor),
    }
}

/// The length of the text of each element.
fn lengths(threads: &Threads, column: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T]) -> Result<Vector, Fault> {
        Ok(wrap(threads.workers.fill(&threads.meter, elements.len(), GRAIN_COSTLY, |range, writer| {
            let mut out = Vec::new();
            for element in &elements[range] {
                out.clear();
                text::append(element.to_value(), &mut out);
                writer.push(out.len() as i64);
            }
        })?))
    }
    on_vector!(column, slice => of(threads, slice.elements()))
}

/// The texts of all elements one after another: each thread writes those of its pieces, which are then put together.
fn text_of(threads: &Threads, column: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T]) -> Result<Vector, Fault> {
        let pieces = threads.workers.pieces(elements.len(), GRAIN_COSTLY);
        let texts = threads.workers.try_each(split(elements.len(), pieces), &|range| {
            // Most texts are not longer than their elements; where they are, the vector grows.
            let mut out: Vec<u8> = threads.meter.reserve(size_of_val(&elements[range.clone()]))?;
            for element in &elements[range] {
                text::append(element.to_value(), &mut out);
            }
            Ok(out)
        })?;
        let mut output = Output::<u8>::reserve(&threads.meter, texts.iter().map(Vec::len).sum())?;
        let writers = output.writers(texts.iter().map(Vec::len));
        threads.workers.try_each(texts.iter().zip(writers).collect(), &|(text, mut writer): (
            &Vec<u8>,
            Writer<'_, u8>,
        )| {
            writer.copy(text);
            Ok(())
        })?;
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(column, slice => of(threads, slice.elements()))
}

/// The float that each segment denotes. No thread shares a segment with another: numbers are short.
fn parse_float(threads: &Threads, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    let chars = column.elements::<u8>();
    let mut output = Output::reserve(&threads.meter, descriptor.segments())?;
    let runs = runs(threads, descriptor)?;
    let writers = output.writers(runs.iter().map(|run| run.segments.len()));
    threads.workers.try_each(runs.into_iter().zip(writers).collect(), &|(run, mut writer): (
        Run,
        Writer<'_, f64>,
    )| {
        for (start, length) in run.iter(descriptor) {
            writer.push(text::parse_float(&chars[start..start + length]));
        }
        Ok(())
    })?;
    Ok(wrap(output.finish(&threads.meter)))
}
