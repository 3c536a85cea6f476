//! Functions as operations on named vectors, which are not yet in the order of a stack.
//!
//! Equal operations without effects are done once.

use super::{Result, helper, library_function, limitation};
use nesl_prim::{Constants, ScalarType, ScalarValue};
use nesl_span::Span;
use nesl_vcode::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// A vector, by number.
pub(super) type Value = usize;

/// An operation on vectors.
#[derive(Debug)]
pub(super) struct Line {
    pub action: Action,
    pub inputs: Vec<Value>,
    pub outputs: Vec<Value>,
    /// It acts outside, fails, or may not end.
    pub is_kept: bool,
}

/// What a line does.
#[derive(Debug)]
pub(super) enum Action {
    /// A statement.
    Emit(String),
    /// Branches with what they leave; the one input is the condition.
    If([(Vec<Line>, Vec<Value>); 2]),
}

/// How many vectors a register becomes.
pub(super) fn width(register: RegisterType) -> usize {
    if register == RegisterType::Descriptor { 2 } else { 1 }
}

/// The scalar type of a register that has one.
pub(super) fn scalar_type(register: RegisterType) -> Option<ScalarType> {
    match register {
        RegisterType::Scalar(scalar) | RegisterType::Column(scalar) => Some(scalar),
        RegisterType::Descriptor => None,
    }
}

/// The type word of a scalar type.
pub(super) fn word(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Int | ScalarType::Char => "INT",
        ScalarType::Float => "FLOAT",
        ScalarType::Bool => "BOOL",
    }
}

/// Results of operations without effects, by statement and operands.
type Known = HashMap<(String, Vec<Value>), Vec<Value>>;

/// The lowering of one function.
pub(super) struct Lowering<'a> {
    program: &'a Program,
    names: &'a HashMap<FunctionId, String>,
    pub function: &'a Function,
    values: HashMap<Register, Vec<Value>>,
    /// Starts and lengths that are those of a packed descriptor.
    packed: HashSet<(Value, Value)>,
    /// The lines of the body and of the blocks that are open.
    open: Vec<Vec<Line>>,
    /// Results of operations in them.
    known: Vec<Known>,
    next: Value,
    pub span: Span,
}

impl<'a> Lowering<'a> {
    pub fn new(program: &'a Program, names: &'a HashMap<FunctionId, String>, function: &'a Function) -> Lowering<'a> {
        Lowering {
            program,
            names,
            function,
            values: HashMap::new(),
            packed: HashSet::new(),
            open: vec![Vec::new()],
            known: vec![HashMap::new()],
            next: 0,
            span: function.span,
        }
    }

    /// The vectors of the function's parameters, which are its stack at entry.
    pub fn parameters(&mut self) -> Vec<Value> {
        let parameters = &self.function.parameters;
        parameters.iter().flat_map(|&register| self.define(register)).collect()
    }

    /// The lines of the body.
    pub fn finish(mut self) -> Vec<Line> {
        self.open.pop().unwrap_or_default()
    }

    /// New vectors for a register.
    fn define(&mut self, register: Register) -> Vec<Value> {
        let values = self.fresh(width(self.function.register_type(register)));
        self.values.insert(register, values.clone());
        values
    }

    fn fresh(&mut self, count: usize) -> Vec<Value> {
        self.next += count;
        (self.next - count..self.next).collect()
    }

    fn line(&mut self, line: Line) {
        if let Some(open) = self.open.last_mut() {
            open.push(line);
        }
    }

    /// An operation without effect.
    pub fn emit(&mut self, text: &str, inputs: &[Value], count: usize) -> Vec<Value> {
        let key = (text.to_owned(), inputs.to_vec());
        if let Some(outputs) = self.known.iter().find_map(|known| known.get(&key)) {
            return outputs.clone();
        }
        let outputs = self.fresh(count);
        let action = Action::Emit(text.to_owned());
        self.line(Line { action, inputs: inputs.to_vec(), outputs: outputs.clone(), is_kept: false });
        // A constant is made again rather than kept.
        if let (Some(known), false) = (self.known.last_mut(), inputs.is_empty()) {
            known.insert(key, outputs.clone());
        }
        outputs
    }

    /// An operation without effect and with one result.
    pub fn op(&mut self, text: &str, inputs: &[Value]) -> Value {
        self.emit(text, inputs, 1)[0]
    }

    /// An operation with an effect.
    pub fn act(&mut self, text: &str, inputs: &[Value], count: usize) -> Vec<Value> {
        let outputs = self.fresh(count);
        let action = Action::Emit(text.to_owned());
        self.line(Line { action, inputs: inputs.to_vec(), outputs: outputs.clone(), is_kept: true });
        outputs
    }

    /// A call of a function whose results are so many vectors.
    pub fn call(&mut self, function: FunctionId, arguments: &[Value], count: usize) -> Vec<Value> {
        let text = format!("CALL {}", self.names[&function]);
        self.act(&text, arguments, count)
    }

    /// A call of a function of the library, which has one result.
    pub fn call_helper(&mut self, name: &str, arguments: &[Value]) -> Value {
        self.call(library_function(self.program, name), arguments, 1)[0]
    }

    /// A scalar constant.
    pub fn constant(&mut self, value: ScalarValue) -> Value {
        match value {
            ScalarValue::Int(value) => self.op(&format!("CONST INT {value}"), &[]),
            ScalarValue::Char(code) => self.op(&format!("CONST INT {code}"), &[]),
            ScalarValue::Bool(value) => self.op(if value { "CONST BOOL T" } else { "CONST BOOL F" }, &[]),
            ScalarValue::Float(value) if value.is_finite() => self.op(&format!("CONST FLOAT {}", float(value)), &[]),
            ScalarValue::Float(value) => {
                let dividend = if value.is_nan() { 0.0 } else { value.signum() };
                let [dividend, zero] = [dividend, 0.0].map(|float| self.constant(ScalarValue::Float(float)));
                self.op("/ FLOAT", &[dividend, zero])
            }
        }
    }

    /// An int constant.
    pub fn int(&mut self, value: i64) -> Value {
        self.constant(ScalarValue::Int(value))
    }

    /// A constant column.
    pub fn constants(&mut self, constants: &Constants) -> Value {
        fn list(scalar: &str, elements: impl Iterator<Item = String>) -> String {
            let elements: Vec<String> = elements.collect();
            format!("CONST {scalar} ({})", elements.join(" "))
        }
        let text = match constants {
            Constants::Int(values) => list("INT", values.iter().map(i64::to_string)),
            Constants::Bool(values) => list("BOOL", values.iter().map(|&b| if b { "T" } else { "F" }.to_owned())),
            // What the original lexer takes as a string.
            Constants::Char(codes) if (1..=100).contains(&codes.len()) && codes.iter().all(is_plain) => {
                format!("CONST CHAR \"{}\"", String::from_utf8_lossy(codes))
            }
            Constants::Char(codes) => list("INT", codes.iter().map(u8::to_string)),
            Constants::Float(values) => {
                let finite = values.iter().map(|&value| float(if value.is_finite() { value } else { 0.0 }));
                let text = list("FLOAT", finite);
                let mut column = self.op(&text, &[]);
                for (index, &value) in values.iter().enumerate().filter(|(_, value)| !value.is_finite()) {
                    let (index, value) = (self.int(index as i64), self.constant(ScalarValue::Float(value)));
                    let segdes = self.over(ScalarType::Float, column);
                    column = self.op("REPLACE FLOAT", &[column, index, value, segdes]);
                }
                return column;
            }
        };
        self.op(&text, &[])
    }

    /// The vectors of an operand.
    pub fn operand(&mut self, operand: Operand) -> Vec<Value> {
        match operand {
            Operand::Constant(value) => vec![self.constant(value)],
            Operand::Register(register) => self.values.get(&register).cloned().unwrap_or_default(),
        }
    }

    /// The one vector of an operand that is no descriptor.
    pub fn value(&mut self, operand: Operand) -> Value {
        self.operand(operand)[0]
    }

    /// Notes what is packed.
    pub fn note_packed(&mut self, starts: Value, lengths: Value) {
        self.packed.insert((starts, lengths));
    }

    /// Whether starts and lengths are known to be those of a packed descriptor.
    pub fn is_packed(&self, starts: Value, lengths: Value) -> bool {
        self.packed.contains(&(starts, lengths))
    }

    /// Lowers a block into the open one; the vectors of its results.
    pub fn block(&mut self, block: &Block) -> Result<Vec<Value>> {
        for instruction in &block.instructions {
            self.span = instruction.place.span;
            self.instruction(instruction)?;
        }
        Ok(block.results.iter().flat_map(|&result| self.operand(result)).collect())
    }

    fn branch(&mut self, block: &Block) -> Result<(Vec<Line>, Vec<Value>)> {
        self.open.push(Vec::new());
        self.known.push(HashMap::new());
        let results = self.block(block)?;
        self.known.pop();
        Ok((self.open.pop().unwrap_or_default(), results))
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<()> {
        let Instruction { op, operands, results, .. } = instruction;
        let first = operands.first().and_then(|&operand| scalar_type(self.function.operand_type(operand)));
        let outputs = match op {
            Op::If(first, second) => {
                let condition = self.value(operands[0]);
                let branches = [self.branch(first)?, self.branch(second)?];
                let outputs = results.iter().flat_map(|&result| self.define(result)).collect();
                self.line(Line { action: Action::If(branches), inputs: vec![condition], outputs, is_kept: true });
                return Ok(());
            }
            Op::Constants(constants) => vec![self.constants(constants)],
            Op::Call(function) => {
                let arguments: Vec<Value> = operands.iter().flat_map(|&operand| self.operand(operand)).collect();
                let count = results.iter().map(|&result| width(self.function.register_type(result))).sum();
                self.call(*function, &arguments, count)
            }
            Op::Each(_) => return self.unsupported("each"),
            Op::Fused(block) => self.block(block)?,
            Op::Scalar(op) => {
                let values: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                vec![self.scalar(*op, &values, None)?]
            }
            Op::Map(op) => vec![self.map(*op, operands)?],
            Op::Vector(_) if helper(op, first).is_some() => {
                let arguments: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                vec![self.call_helper(helper(op, first).unwrap_or_default(), &arguments)]
            }
            Op::Vector(op) => self.vector(*op, operands)?,
            Op::Host(op) => self.outside(*op, operands)?,
        };
        let mut outputs = outputs.into_iter();
        for &result in results {
            let count = width(self.function.register_type(result));
            self.values.insert(result, outputs.by_ref().take(count).collect());
        }
        Ok(())
    }

    /// Says that an instruction has no counterpart.
    pub fn unsupported<T>(&self, name: &str) -> Result<T> {
        limitation(format!("has no counterpart of the instruction `{name}`"), self.span)
    }
}

/// Whether a character may stand in a string.
fn is_plain(code: &u8) -> bool {
    (code.is_ascii_graphic() || *code == b' ') && !matches!(code, b'"' | b'\\')
}

/// A finite float with a point, and a sign in its exponent.
fn float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let point = if digits.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{digits}{point}e{sign}{exponent}")
        }
    }
}
