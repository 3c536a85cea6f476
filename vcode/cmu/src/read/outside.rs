//! Instructions that reach outside: timer, streams, files, processes.
//!
//! Each of them gives, above its results, a message as a vector of codes and whether all went well. Written vectors
//! look as in the output of a program, but floats have the digits that tell them from all others. Reading vectors other
//! than characters has no counterpart here.

use super::{Translation, int};
use crate::Result;
use crate::opcode::{Opcode, Word};
use ScalarType::{Bool, Float, Int};
use nesl_prim::{Constants, HostOp, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::Operand;

const STDERR: i64 = 2;

impl Translation<'_, '_> {
    /// An instruction that reaches outside.
    pub(super) fn outside(&mut self, opcode: Opcode, word: Option<Word>) -> Result<()> {
        match opcode {
            Opcode::StartTimer => {
                let now = self.clock();
                self.state()?.started = Some(now);
                Ok(())
            }
            Opcode::StopTimer => {
                let now = self.clock();
                let started = self.state()?.started.unwrap_or(Operand::Constant(ScalarValue::Float(0.0)));
                let elapsed = self.builder.scalar(ScalarOp::SubtractFloat, &[now, started]);
                self.push_scalar(elapsed)
            }
            Opcode::Write | Opcode::WriteTo => {
                let stream = if opcode == Opcode::WriteTo { self.pop_single()? } else { int(STDERR) };
                let text = self.written(word)?;
                self.perform(HostOp::Write(ScalarType::Char), &[stream, text])
            }
            Opcode::Open => {
                let (mode, name) = (self.pop_single()?, self.pop_text()?);
                self.perform(HostOp::Open, &[name, mode])
            }
            Opcode::Close => {
                let stream = self.pop_single()?;
                self.perform(HostOp::Close, &[stream])
            }
            Opcode::ReadCharacters => {
                let (stream, most, delimiters) = (self.pop_single()?, self.pop_single()?, self.pop_text()?);
                self.perform(HostOp::Read, &[stream, delimiters, most])
            }
            Opcode::Spawn => {
                let (error, output, input) = (self.pop_single()?, self.pop_single()?, self.pop_single()?);
                let command = self.pop_text()?;
                let mut results = self.builder.host(HostOp::Spawn, &[command, input, output, error]);
                let message = results.pop();
                // The stream of errors is the lowest here.
                for stream in results.into_iter().rev() {
                    self.push_scalar(stream)?;
                }
                message.map_or(Ok(()), |message| self.push_message(message))
            }
            _ => {
                let text = word.map_or(String::new(), |word| format!(" {}", word.text()));
                self.wrong(format!("{}{text} is not supported", opcode.word()))
            }
        }
    }

    fn clock(&mut self) -> Operand {
        self.builder.host(HostOp::Clock, &[int(0)])[0]
    }

    fn pop_single(&mut self) -> Result<Operand> {
        let vector = self.pop_vector(Int)?;
        Ok(self.single(vector))
    }

    fn pop_text(&mut self) -> Result<Operand> {
        let codes = self.pop_vector(Int)?;
        Ok(self.characters(codes))
    }

    /// An operation that reports; pushes its results, the message and whether there is none.
    fn perform(&mut self, op: HostOp, operands: &[Operand]) -> Result<()> {
        let mut results = self.builder.host(op, operands);
        let message = results.pop();
        for (result, &kind) in results.into_iter().zip(op.row().results) {
            match kind {
                nesl_prim::HostKind::Scalar(_) => self.push_scalar(result)?,
                nesl_prim::HostKind::Column(_) => self.push_codes(result)?,
            }
        }
        message.map_or(Ok(()), |message| self.push_message(message))
    }

    fn push_codes(&mut self, characters: Operand) -> Result<()> {
        let codes = self.builder.map(ScalarOp::CharToCode, &[characters]);
        self.push_vector(codes)
    }

    fn push_message(&mut self, message: Operand) -> Result<()> {
        self.push_codes(message)?;
        let length = self.length(message);
        let is_empty = self.builder.scalar(ScalarOp::EqualInt, &[length, int(0)]);
        self.push_scalar(is_empty)
    }

    /// The text of the vector on the stack.
    fn written(&mut self, word: Option<Word>) -> Result<Operand> {
        let (elements, brackets) = match word {
            Some(Word::Char) => return self.pop_text(),
            Some(Word::Float) => (self.pop_vector(Float)?, ["( ", ")\n"]),
            Some(Word::Bool) => (self.pop_vector(Bool)?, ["( ", ")\n"]),
            Some(Word::Segdes) => {
                let segdes = self.pop_segdes()?;
                (self.builder.vector(VectorOp::Lengths, &[segdes]), ["[ ", "]\n"])
            }
            _ => (self.pop_vector(Int)?, ["( ", ")\n"]),
        };
        let ones = self.copies(int(1), elements);
        let (lengths, text) = match word {
            Some(Word::Bool) => {
                let [t, f] = [b'T', b'F'].map(|letter| Operand::Constant(ScalarValue::Char(letter)));
                (ones, self.builder.map(ScalarOp::SelectChar, &[elements, t, f]))
            }
            _ => {
                let lengths = self.builder.vector(VectorOp::TextLengths, &[elements]);
                (lengths, self.builder.vector(VectorOp::Text, &[elements]))
            }
        };
        let lengths = self.builder.vector(VectorOp::Packed, &[lengths]);
        let ones = self.builder.vector(VectorOp::Packed, &[ones]);
        let blanks = self.copies(Operand::Constant(ScalarValue::Char(b' ')), elements);
        let words = self.builder.vector(VectorOp::Append, &[lengths, text, ones, blanks]);
        let [open, close] = brackets.map(|text| self.builder.constants(Constants::Char(text.as_bytes().to_vec())));
        Ok(self.builder.vector(VectorOp::Concat, &[open, words, close]))
    }
}
