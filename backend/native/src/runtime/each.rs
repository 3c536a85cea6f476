//! The instances of an `each`, one after another: the words of its operands taken apart, and the results put together.
//!
//! Taking apart copies nothing. What an instance gives stays in scratch memory where the instance left it; where the
//! results of all lie one after another, as those of a single column do, putting together copies nothing either.

use super::{Frame, work};
use crate::abi::{Enter, words_of};
use crate::state::{DONE, GAVE_UP, INTERRUPTED, State, Status};
use nesl_prim::{Constants, Element, ScalarType};
use nesl_vcode::{Each, Shape};
use std::ops::Range;
use std::sync::OnceLock;

/// Bytes of results, or so many words of scalars, that instances leave behind before they are handed on.
const BATCH: usize = 4 << 20;

/// What an `each` in native code needs to know.
#[derive(Debug)]
pub(crate) struct Site {
    each: Each,
    /// Words of the results of one instance.
    result_words: usize,
    /// The serial version, once it is ready.
    pub serial: OnceLock<Enter>,
}

impl Site {
    pub fn new(each: Each) -> Site {
        let result_words = each.serial_results().into_iter().map(words_of).sum();
        Site { each, result_words, serial: OnceLock::new() }
    }
}

/// Some words of the arguments of an instance.
enum Part<'s> {
    Same(u64),
    /// An element of a column.
    Scalar(ScalarType, usize),
    /// A length, then the parts of elements.
    Sequence(super::Segments<'s>, Vec<ElementPart>),
}

/// Some words of the elements of a segment.
enum ElementPart {
    /// A column of elements of this size.
    Column(usize, usize),
    /// The starts and lengths of a descriptor.
    Segments(usize, usize),
    /// What its segments lie in.
    Data(u64),
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

fn varying<'s>(frame: &mut Frame<'s>, shape: &Shape, parts: &mut Vec<Part<'s>>) {
    match shape {
        Shape::Scalar(ty) => {
            parts.push(Part::Scalar(*ty, frame.size()));
            frame.word();
        }
        Shape::Pair(first, rest) => {
            varying(frame, first, parts);
            varying(frame, rest, parts);
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => varying(frame, inner, parts),
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let segments = frame.segments();
            let mut elements = Vec::new();
            of_elements(frame, element, &mut elements);
            parts.push(Part::Sequence(segments, elements));
        }
        Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
    }
}

fn of_elements(frame: &mut Frame<'_>, shape: &Shape, elements: &mut Vec<ElementPart>) {
    match shape {
        Shape::Pair(first, rest) => {
            of_elements(frame, first, elements);
            of_elements(frame, rest, elements);
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => of_elements(frame, inner, elements),
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            elements.push(ElementPart::Segments(frame.size(), frame.size()));
            frame.word();
            let words = element.lifted().into_iter().map(words_of).sum::<usize>();
            elements.extend((0..words).map(|_| ElementPart::Data(frame.word())));
        }
        Shape::Scalar(ty) => {
            elements.push(ElementPart::Column(frame.size(), ty.size()));
            frame.word();
        }
        Shape::Entry(_) => panic!("an entry of a stack in a sequence: unverified program"),
    }
}

/// The words of the arguments of one instance.
fn instance(parts: &[Part<'_>], index: usize, words: &mut Vec<u64>) {
    words.clear();
    for part in parts {
        match part {
            Part::Same(word) => words.push(*word),
            Part::Scalar(ty, column) => words.push(load(*ty, column + index * ty.size())),
            Part::Sequence(segments, elements) => {
                let (start, length) = (segments.starts[index] as usize, segments.lengths[index] as u64);
                words.push(length);
                for element in elements {
                    match *element {
                        ElementPart::Column(column, size) => words.extend([(column + start * size) as u64, length]),
                        ElementPart::Segments(starts, lengths) => {
                            words.extend([(starts + 8 * start) as u64, (lengths + 8 * start) as u64, length]);
                        }
                        ElementPart::Data(word) => words.push(word),
                    }
                }
            }
        }
    }
}

/// One register of the results of all instances.
struct Gathered {
    ty: ScalarType,
    /// Whether it is a descriptor, by its lengths.
    is_descriptor: bool,
    content: Content,
}

enum Content {
    /// One scalar for each instance.
    Words(Vec<u64>),
    /// Parts of columns, by address and number of elements.
    Pieces(Vec<(usize, usize)>),
}

/// The results of instances so far.
struct Results {
    registers: Vec<Gathered>,
    /// The register that comes next.
    next: usize,
}

impl Results {
    fn new(shapes: &[Shape]) -> Results {
        fn scalar(ty: ScalarType, is_descriptor: bool, alone: bool) -> Gathered {
            let content = if alone { Content::Words(Vec::new()) } else { Content::Pieces(Vec::new()) };
            Gathered { ty, is_descriptor, content }
        }
        fn of(shape: &Shape, alone: bool, registers: &mut Vec<Gathered>) {
            match shape {
                Shape::Scalar(ty) => registers.push(scalar(*ty, false, alone)),
                Shape::Pair(first, rest) => {
                    of(first, alone, registers);
                    of(rest, alone, registers);
                }
                Shape::Record(_, inner) | Shape::Function(Some(inner)) => of(inner, alone, registers),
                Shape::Function(None) | Shape::Unit => {}
                Shape::Sequence(element) => {
                    registers.push(scalar(ScalarType::Int, true, alone));
                    of(element, false, registers);
                }
                Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
            }
        }
        let mut registers = Vec::new();
        shapes.iter().for_each(|shape| of(shape, true, &mut registers));
        Results { registers, next: 0 }
    }

    fn content(&mut self) -> (&mut Content, usize) {
        let register = &mut self.registers[self.next];
        self.next += 1;
        (&mut register.content, register.ty.size())
    }

    fn push_word(&mut self, word: u64) {
        match self.content().0 {
            Content::Words(words) => words.push(word),
            Content::Pieces(_) => unreachable!("a scalar of an instance comes as a word"),
        }
    }

    fn push_pieces(&mut self, column: usize, parts: &[(usize, usize)]) {
        let (Content::Pieces(pieces), size) = self.content() else { unreachable!("elements come in columns") };
        for &(start, length) in parts {
            let address = column + start * size;
            match pieces.last_mut() {
                _ if length == 0 => {}
                Some((last, count)) if *last + *count * size == address => *count += length,
                _ => pieces.push((address, length)),
            }
        }
    }

    /// Adds the value of an instance.
    fn add(&mut self, shape: &Shape, words: &mut impl Iterator<Item = u64>) {
        match shape {
            Shape::Scalar(_) => self.push_word(next(words)),
            Shape::Pair(first, rest) => {
                self.add(first, words);
                self.add(rest, words);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.add(inner, words),
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let length = next(words);
                self.push_word(length);
                self.add_elements(element, words, &[(0, length as usize)]);
            }
            Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
        }
    }

    /// Adds those elements of columns that are in some parts of them.
    fn add_elements(&mut self, shape: &Shape, words: &mut impl Iterator<Item = u64>, parts: &[(usize, usize)]) {
        match shape {
            Shape::Scalar(_) => {
                let column = next(words) as usize;
                next(words);
                self.push_pieces(column, parts);
            }
            Shape::Pair(first, rest) => {
                self.add_elements(first, words, parts);
                self.add_elements(rest, words, parts);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.add_elements(inner, words, parts),
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let (starts, lengths) = (next(words) as usize, next(words) as usize);
                next(words);
                self.push_pieces(lengths, parts);
                let int = |column: usize, index: usize| load(ScalarType::Int, column + 8 * index) as usize;
                let inner: Vec<(usize, usize)> = parts
                    .iter()
                    .flat_map(|&(start, length)| start..start + length)
                    .map(|segment| (int(starts, segment), int(lengths, segment)))
                    .collect();
                self.add_elements(element, words, &inner);
            }
            Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
        }
    }
}

fn next(words: &mut impl Iterator<Item = u64>) -> u64 {
    words.next().unwrap_or_else(|| unreachable!("an instance gives all words of its results"))
}

impl Gathered {
    /// The register as a result of the `each`.
    fn give(self, frame: &mut Frame<'_>) -> Option<()> {
        match self.ty.size() {
            8 => self.give_as::<i64>(frame),
            _ => self.give_as::<u8>(frame),
        }
    }

    fn give_as<T: Element>(self, frame: &mut Frame<'_>) -> Option<()> {
        let column: &[T] = match self.content {
            Content::Words(words) => frame.collect(words.len(), words.iter().map(|&word| T::from_word(word)))?,
            Content::Pieces(pieces) => {
                // SAFETY: pieces are parts of columns whose elements have this size, in memory that stays.
                let column = |(address, length): (usize, usize)| unsafe {
                    std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<T>(address), length)
                };
                match pieces.as_slice() {
                    &[piece] => column(piece),
                    _ => {
                        let length = pieces.iter().map(|piece| piece.1).sum();
                        let items = pieces.into_iter().flat_map(|piece| column(piece).iter().copied());
                        frame.collect(length, items)?
                    }
                }
            }
        };
        if self.is_descriptor {
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
        let mut parts = Vec::new();
        for argument in &self.each.arguments {
            if argument.varies {
                varying(frame, &argument.shape, &mut parts);
            } else {
                let words = argument.registers().into_iter().map(words_of).sum::<usize>();
                parts.extend((0..words).map(|_| Part::Same(frame.word())));
            }
        }
        parts
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
        let (mut arguments, mut words) = (Vec::new(), vec![0; self.result_words]);
        for index in range.clone() {
            if frame.state.is_interrupted() {
                return (index, INTERRUPTED);
            }
            frame.state.count_step();
            instance(parts, index, &mut arguments);
            let state = std::ptr::from_mut(frame.state).cast();
            // SAFETY: these are the words of the arguments and results of the function.
            let status = unsafe { serial(state, arguments.as_ptr(), words.as_mut_ptr()) };
            if status != DONE {
                return (index, status);
            }
            results.next = 0;
            let mut words = words.iter().copied();
            self.each.results.iter().for_each(|shape| results.add(shape, &mut words));
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
    let mut results = Results::new(&site.each.results);
    let (_, status) = site.run(frame, &parts, 0..count, &mut results, usize::MAX);
    if status == DONE {
        results.registers.into_iter().try_for_each(|register| register.give(frame))?;
    }
    Some(status)
}

/// An `each` that Rust runs. It must not outlive its [`Compiler`](crate::Compiler).
#[derive(Debug)]
pub struct Instances(Site);

impl Instances {
    pub(crate) fn new(each: &Each, serial: Enter) -> Instances {
        let site = Site::new(each.clone());
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
        let result_words: usize = site.each.result_types().into_iter().map(words_of).sum();
        let mut words = operands.to_vec();
        words.resize(operands.len().max(result_words), 0);
        let (mut done, mut status) = (range.start, GAVE_UP);
        // SAFETY: the words are those of operands, with room for those of results.
        unsafe {
            work(state, words.as_mut_ptr(), |frame| {
                let parts = site.parts(frame);
                let mut results = Results::new(&site.each.results);
                let mut ended = site.run(frame, &parts, range.clone(), &mut results, BATCH);
                if ended.1 == INTERRUPTED {
                    // Nobody will see the results of those before it, which may be many.
                    (ended.0, results) = (range.start, Results::new(&site.each.results));
                }
                results.registers.into_iter().try_for_each(|register| register.give(frame))?;
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
