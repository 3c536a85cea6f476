//! The instances of an `each`, one after another: the words of its operands taken apart, and the results put together.
//!
//! Taking apart copies nothing. What an instance gives stays in scratch memory where the instance left it; where the
//! results of all lie one after another, as those of a single column do, putting together copies nothing either.

use super::{Frame, work};
use crate::abi::{Enter, words_of};
use crate::state::{DONE, GAVE_UP, INTERRUPTED, State, Status};
use nesl_prim::{Constants, Element, ScalarType};
use nesl_vcode::{EachPlan, Field, Holds, RegisterType, Take, Taken};
use std::ops::Range;
use std::sync::OnceLock;

/// Bytes of results, or so many words of scalars, that instances leave behind before they are handed on.
const BATCH: usize = 4 << 20;

/// What an `each` in native code needs to know.
#[derive(Debug)]
pub(crate) struct Site {
    plan: EachPlan,
    /// Words of the results of one instance.
    result_words: usize,
    /// The serial version, once it is ready.
    pub serial: OnceLock<Enter>,
}

impl Site {
    pub fn new(plan: EachPlan) -> Site {
        let result_words = plan.results.iter().map(|field| words_of(field.serial())).sum();
        Site { plan, result_words, serial: OnceLock::new() }
    }
}

/// A register of the arguments of an instance.
enum Part<'s> {
    /// Words that are the same for all.
    Same(Vec<u64>),
    /// An element of a column.
    Element(ScalarType, usize),
    /// The length of a segment.
    Length(super::Segments<'s>),
    /// What is in the segment of the part at this position: of a column of elements of this size, or of the starts and
    /// lengths of a descriptor.
    Slice {
        column: usize,
        size: usize,
        of: usize,
    },
    Segments {
        starts: usize,
        lengths: usize,
        of: usize,
    },
}

impl<'s> Part<'s> {
    /// The operand that comes next in a frame.
    fn new(frame: &mut Frame<'s>, operand: &Taken) -> Part<'s> {
        let column = |frame: &mut Frame<'s>| (frame.size(), frame.word()).0;
        match (operand.take, operand.register) {
            (Take::Element, RegisterType::Column(ty)) => Part::Element(ty, column(frame)),
            (Take::Element, RegisterType::Descriptor) => Part::Length(frame.segments()),
            (Take::Slice(of), RegisterType::Column(ty)) => Part::Slice { column: column(frame), size: ty.size(), of },
            (Take::Slice(of), RegisterType::Descriptor) => {
                Part::Segments { starts: frame.size(), lengths: column(frame), of }
            }
            (_, register) => Part::Same((0..words_of(register)).map(|_| frame.word()).collect()),
        }
    }
}

/// A scalar of a type at an address.
fn load(ty: ScalarType, address: usize) -> u64 {
    let at = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: the address is that of an element of a column of this type.
    unsafe {
        match ty.size() {
            8 => at.cast::<u64>().read(),
            _ => u64::from(at.read()),
        }
    }
}

/// The arguments of one instance.
#[derive(Default)]
struct Arguments {
    words: Vec<u64>,
    /// Where the segments of sequences are, by the positions of these.
    segments: Vec<(usize, u64)>,
}

impl Arguments {
    fn take(&mut self, parts: &[Part<'_>], index: usize) {
        self.words.clear();
        self.segments.clear();
        for part in parts {
            let mut segment = (0, 0);
            match part {
                Part::Same(words) => self.words.extend(words),
                Part::Element(ty, column) => self.words.push(load(*ty, column + index * ty.size())),
                Part::Length(segments) => {
                    segment = (segments.starts[index] as usize, segments.lengths[index] as u64);
                    self.words.push(segment.1);
                }
                Part::Slice { column, size, of } => {
                    let (start, length) = self.segments[*of];
                    self.words.extend([(column + start * size) as u64, length]);
                }
                Part::Segments { starts, lengths, of } => {
                    let (start, length) = self.segments[*of];
                    self.words.extend([(starts + 8 * start) as u64, (lengths + 8 * start) as u64, length]);
                }
            }
            self.segments.push(segment);
        }
    }
}

/// One register of the results of all instances.
struct Gathered {
    field: Field,
    /// Where its words are among those of the results of an instance.
    place: usize,
    /// One scalar for each instance, or the length of its sequence.
    words: Vec<u64>,
    /// Otherwise parts of columns, by address and number of elements.
    pieces: Vec<(usize, usize)>,
    /// Where the elements are of the sequences of the last instance: starts and lengths.
    segments: Vec<(usize, usize)>,
}

/// The results of instances so far.
struct Results(Vec<Gathered>);

impl Results {
    fn new(fields: &[Field]) -> Results {
        let mut next = 0;
        let register = |&field: &Field| {
            let place = next;
            next += words_of(field.serial());
            Gathered { field, place, words: Vec::new(), pieces: Vec::new(), segments: Vec::new() }
        };
        Results(fields.iter().map(register).collect())
    }

    /// Adds the values of an instance.
    fn add(&mut self, words: &[u64]) {
        for position in 0..self.0.len() {
            let (before, registers) = self.0.split_at_mut(position);
            let register = &mut registers[0];
            let (first, column) = (words[register.place], words[register.place] as usize);
            register.segments.clear();
            match (register.field.holds, register.field.parent) {
                (_, None) => {
                    register.words.push(first);
                    register.segments.push((0, first as usize));
                }
                (Holds::Scalars(ty), Some(parent)) => register.push_pieces(column, ty.size(), &before[parent].segments),
                (Holds::Sequences, Some(parent)) => {
                    let (starts, lengths) = (column, words[register.place + 1] as usize);
                    let parts = &before[parent].segments;
                    register.push_pieces(lengths, ScalarType::Int.size(), parts);
                    let int = |column: usize, index: usize| load(ScalarType::Int, column + 8 * index) as usize;
                    let segments = parts.iter().flat_map(|&(start, length)| start..start + length);
                    register.segments.extend(segments.map(|segment| (int(starts, segment), int(lengths, segment))));
                }
            }
        }
    }

    /// The registers as results of the `each`.
    fn give(self, frame: &mut Frame<'_>) -> Option<()> {
        self.0.into_iter().try_for_each(|register| match register.field.scalar_type().size() {
            8 => register.give::<i64>(frame),
            _ => register.give::<u8>(frame),
        })
    }
}

impl Gathered {
    /// Adds those elements of a column that are in some parts of it.
    fn push_pieces(&mut self, column: usize, size: usize, parts: &[(usize, usize)]) {
        for &(start, length) in parts {
            let address = column + start * size;
            match self.pieces.last_mut() {
                _ if length == 0 => {}
                Some((last, count)) if *last + *count * size == address => *count += length,
                _ => self.pieces.push((address, length)),
            }
        }
    }

    fn give<T: Element>(self, frame: &mut Frame<'_>) -> Option<()> {
        // SAFETY: pieces are parts of columns whose elements have this size, in memory that stays.
        let column = |(address, length): (usize, usize)| unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<T>(address), length)
        };
        let column: &[T] = match (self.field.parent, self.pieces.as_slice()) {
            (None, _) => frame.collect(self.words.len(), self.words.iter().map(|&word| T::from_word(word)))?,
            (_, &[piece]) => column(piece),
            (_, pieces) => {
                let length = pieces.iter().map(|piece| piece.1).sum();
                frame.collect(length, pieces.iter().flat_map(|&piece| column(piece).iter().copied()))?
            }
        };
        if self.field.holds == Holds::Sequences {
            let mut start = 0i64;
            let starts = column.iter().map(|length| {
                let this = start;
                start += length.to_word() as i64;
                this
            });
            let starts = frame.collect(column.len(), starts)?;
            frame.give_word(starts.as_ptr().expose_provenance() as u64);
        }
        frame.give(column);
        Some(())
    }
}

impl Site {
    /// The operands of the `each` that come next in a frame, the number of instances apart.
    fn parts<'s>(&self, frame: &mut Frame<'s>) -> Vec<Part<'s>> {
        self.plan.operands.iter().map(|operand| Part::new(frame, operand)).collect()
    }

    /// Runs some instances until one is not done; where that is, and its status.
    fn run(
        &self,
        frame: &mut Frame<'_>,
        parts: &[Part<'_>],
        range: Range<usize>,
        results: &mut Results,
        batch: usize,
    ) -> (usize, u64) {
        let begin = frame.state.top();
        let serial = self.serial.get().unwrap_or_else(|| unreachable!("code that runs is ready"));
        let (mut arguments, mut words) = (Arguments::default(), vec![0; self.result_words]);
        for index in range.clone() {
            if frame.state.is_interrupted() {
                return (index, INTERRUPTED);
            }
            frame.state.count_step();
            arguments.take(parts, index);
            let state = std::ptr::from_mut(frame.state).cast();
            // SAFETY: these are the words of the arguments and results of the function.
            let status = unsafe { serial(state, arguments.words.as_ptr(), words.as_mut_ptr()) };
            if status != DONE {
                return (index, status);
            }
            results.add(&words);
            if frame.state.top() - begin >= batch || index - range.start >= batch / size_of::<u64>() {
                return (index + 1, DONE);
            }
        }
        (range.end, DONE)
    }
}

/// Runs the instances. The first word is the address of the [`Site`], the second the number of instances.
pub(crate) fn each(frame: &mut Frame<'_>) -> Option<u64> {
    // SAFETY: native code has the address of a site that lives as long as the code does.
    let site = unsafe { &*std::ptr::with_exposed_provenance::<Site>(frame.size()) };
    let count = frame.size();
    let parts = site.parts(frame);
    let mut results = Results::new(&site.plan.results);
    let (_, status) = site.run(frame, &parts, 0..count, &mut results, usize::MAX);
    if status == DONE {
        results.give(frame)?;
    }
    Some(status)
}

/// An `each` that Rust runs. It must not outlive its [`Compiler`](crate::Compiler).
#[derive(Debug)]
pub struct Instances(Site);

impl Instances {
    pub(crate) fn new(plan: EachPlan, serial: Enter) -> Instances {
        let site = Site::new(plan);
        site.serial.get_or_init(|| serial);
        Instances(site)
    }

    /// Runs some instances until one is not done or their results are many: where that is, how it ended, and the words
    /// of the results of those before, which lie in the state's scratch memory or are parts of operands or constants.
    /// `operands` are the words of those of the instruction, the number of instances apart.
    ///
    /// # Safety
    /// As for [`Compiled::call`](crate::Compiled::call).
    pub unsafe fn run(
        &self,
        state: &mut State<'_>,
        operands: &[u64],
        range: Range<usize>,
    ) -> (usize, Status, Vec<u64>) {
        let site = &self.0;
        let result_words: usize = site.plan.results.iter().map(|field| words_of(field.lifted())).sum();
        let mut words = operands.to_vec();
        words.resize(operands.len().max(result_words), 0);
        let (mut done, mut status) = (range.start, GAVE_UP);
        // SAFETY: the words are those of operands, with room for those of results.
        unsafe {
            work(state, words.as_mut_ptr(), |frame| {
                let parts = site.parts(frame);
                let mut results = Results::new(&site.plan.results);
                let mut ended = site.run(frame, &parts, range.clone(), &mut results, BATCH);
                if ended.1 == INTERRUPTED {
                    // Nobody will see the results of those before it, which may be many.
                    (ended.0, results) = (range.start, Results::new(&site.plan.results));
                }
                results.give(frame)?;
                (done, status) = ended;
                Some(DONE)
            });
        }
        words.truncate(result_words);
        (done, Status::from_word(status), words)
    }
}

/// The elements of a column in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Of ints.
    Int(&'a [i64]),
    /// Of floats.
    Float(&'a [f64]),
    /// Of truth values.
    Bool(&'a [bool]),
    /// Of characters.
    Char(&'a [u8]),
}

impl<'a> Elements<'a> {
    /// The elements at an address.
    ///
    /// # Safety
    /// There are so many elements of this type at the address, and they stay there as long as this is used.
    pub unsafe fn at(ty: ScalarType, address: u64, length: u64) -> Elements<'a> {
        /// # Safety
        /// As above.
        unsafe fn slice<'a, T: Element>(address: u64, length: u64) -> &'a [T] {
            let start = std::ptr::with_exposed_provenance::<T>(address as usize);
            // SAFETY: by the caller.
            unsafe { std::slice::from_raw_parts(start, length as usize) }
        }
        // SAFETY: by the caller.
        unsafe {
            match ty {
                ScalarType::Int => Elements::Int(slice(address, length)),
                ScalarType::Float => Elements::Float(slice(address, length)),
                ScalarType::Bool => Elements::Bool(slice(address, length)),
                ScalarType::Char => Elements::Char(slice(address, length)),
            }
        }
    }

    /// A copy.
    pub fn to_constants(self) -> Constants {
        match self {
            Elements::Int(elements) => Constants::Int(elements.to_vec()),
            Elements::Float(elements) => Constants::Float(elements.to_vec()),
            Elements::Bool(elements) => Constants::Bool(elements.to_vec()),
            Elements::Char(elements) => Constants::Char(elements.to_vec()),
        }
    }
}
