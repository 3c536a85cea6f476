//! The text form: it reads back, and mistakes in it are found where they are.

use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_span::{FileId, Origin, SourceMap, Span};
use nesl_vcode::op::Kind;
use nesl_vcode::{
    Argument, Constants, DefaultValue, Each, FunctionBuilder, FunctionId, GlobalId, Input, Main, Op, Operand, Output,
    Parameter, Printer, Program, RegisterType, Shape, Step, VectorOp, parse, verify,
};

fn span() -> Span {
    Span::new(FileId(0), 0, 0)
}

fn scalar(scalar_type: ScalarType) -> Shape {
    Shape::Scalar(scalar_type)
}

/// A program with every instruction of both tables at every type, and every kind of input and output.
fn everything() -> Program {
    let mut builder = FunctionBuilder::new("all (of it): \"é\\\u{7}\"", span());
    let mut parameters = std::collections::HashMap::new();
    for ty in ScalarType::ALL.iter().flat_map(|&ty| [RegisterType::Scalar(ty), RegisterType::Column(ty)]) {
        parameters.insert(ty, Operand::from(builder.parameter(ty)));
    }
    let descriptor = RegisterType::Descriptor;
    parameters.insert(descriptor, builder.parameter(descriptor).into());
    for &op in ScalarOp::ALL {
        let operands = |wrap: fn(ScalarType) -> RegisterType| -> Vec<Operand> {
            op.row().operands.iter().map(|&ty| parameters[&wrap(ty)]).collect()
        };
        let (scalars, columns) = (operands(RegisterType::Scalar), operands(RegisterType::Column));
        builder.scalar(op, &scalars);
        builder.map(op, &columns);
        builder.map(op, &[&columns[..1], &scalars[1..]].concat());
    }
    for op in VectorOp::all() {
        let elements = op.operator().map_or(ScalarType::ALL.to_vec(), |operator| vec![operator.row().result]);
        for element in elements {
            let operand = |kind: &Kind| {
                parameters[&match *kind {
                    Kind::Scalar(ty) => RegisterType::Scalar(ty),
                    Kind::Column(ty) => RegisterType::Column(ty),
                    Kind::ScalarT => RegisterType::Scalar(element),
                    Kind::ColumnT => RegisterType::Column(element),
                    Kind::Descriptor => descriptor,
                }]
            };
            let mut operands: Vec<Operand> = op.row().operands.iter().map(operand).collect();
            if op.row().variadic {
                operands.extend(operands.last().copied());
            }
            builder.vector(op, &operands);
        }
    }
    builder.constants(Constants::Int(vec![0, -1, i64::MIN, i64::MAX]));
    builder.constants(Constants::Float(vec![0.0, -0.0, 1.5e300, f64::INFINITY, f64::NEG_INFINITY]));
    builder.constants(Constants::Bool(vec![true, false]));
    builder.constants(Constants::Char((0..=255).collect()));
    builder.constants(Constants::Int(vec![]));
    let floats = [5e-324, 1e16, 2.0, f64::NAN, f64::from_bits(0xfff8_0000_0000_0001)].map(ScalarValue::Float);
    let others = [ScalarValue::Bool(true), ScalarValue::Bool(false), ScalarValue::Int(i64::MIN)];
    for value in floats.into_iter().chain(others).chain((0..=255).map(ScalarValue::Char)) {
        builder.vector(VectorOp::Build, &[Operand::Constant(value)]);
    }
    let (int, condition) = (RegisterType::Scalar(ScalarType::Int), parameters[&RegisterType::Scalar(ScalarType::Bool)]);
    builder.begin_block();
    let x = builder.call(FunctionId(1), &[parameters[&int]], &[int, descriptor]);
    builder.begin_block();
    let y = builder.scalar(ScalarOp::AddInt, &[x[0], x[0]]);
    let inner = builder.end_block(vec![y]);
    builder.begin_block();
    let otherwise = builder.end_block(vec![x[0]]);
    let inner = builder.if_(condition, inner, otherwise, &[int]);
    let then_block = builder.end_block(vec![inner[0], x[1]]);
    builder.begin_block();
    let else_block = builder.end_block(vec![Operand::Constant(ScalarValue::Int(-3)), parameters[&descriptor]]);
    let results = builder.if_(condition, then_block, else_block, &[int, descriptor]);
    builder.begin_block();
    let empty = builder.end_block(vec![]);
    builder.if_(condition, empty.clone(), empty, &[]);
    let all = builder.finish(results);

    let mut builder = FunctionBuilder::new("qs@[int]/lifted", span());
    let n = Operand::from(builder.parameter(int));
    let one = builder.vector(VectorOp::Build, &[n]);
    let packed = builder.vector(VectorOp::Packed, &[one]);
    let mut second = builder.finish(vec![n, packed]);
    second.registers.push(RegisterType::Column(ScalarType::Float));
    let mut third = FunctionBuilder::new("main@0", span());
    third.parameter(int);
    third.parameter(int);
    let third = third.finish(vec![]);

    let text = Shape::Sequence(Box::new(scalar(ScalarType::Char)));
    let pair = |a, b| Shape::Pair(Box::new(a), Box::new(b));
    let shape =
        pair(scalar(ScalarType::Int), pair(pair(text.clone(), scalar(ScalarType::Bool)), scalar(ScalarType::Float)));
    let mut producer = FunctionBuilder::new("producer", span());
    let parameters: Vec<Operand> = shape.serial().into_iter().map(|ty| producer.parameter(ty).into()).collect();
    let producer = producer.finish(parameters);
    let step = Step { function: FunctionId(2), inputs: vec![Input::Seed, Input::Global(GlobalId(3))], outputs: vec![] };
    let keep = Step {
        function: FunctionId(3),
        inputs: vec![Input::Argument(0)],
        outputs: vec![Output::Keep(GlobalId(4), shape.clone())],
    };
    let show = Step {
        function: FunctionId(3),
        inputs: vec![Input::Global(GlobalId(4))],
        outputs: vec![Output::Show(shape.clone())],
    };
    let default = DefaultValue { text: "(\"a\", …)".into(), step: show.clone() };
    let parameter =
        |default| Parameter { name: "x".into(), type_text: "(int, …\n".into(), shape: shape.clone(), default };
    let main = Main { prelude: vec![keep], parameters: vec![parameter(None), parameter(Some(default))], step: show };
    let serial = FunctionBuilder::new("serial", span());
    let mut lifted = FunctionBuilder::new("serial/L", span());
    let lifted_parameters: Vec<Operand> = [int, descriptor, RegisterType::Column(ScalarType::Char), int]
        .into_iter()
        .map(|ty| lifted.parameter(ty).into())
        .collect();
    let each = Each {
        serial: FunctionId(4),
        lifted: FunctionId(5),
        arguments: vec![
            Argument { shape: text.clone(), varies: true },
            Argument { shape: scalar(ScalarType::Int), varies: false },
        ],
        results: vec![text, scalar(ScalarType::Int)],
    };
    let results = lifted.each(each, &lifted_parameters);
    let (lifted, mut serial) = (lifted.finish(results), serial);
    let parameters: Vec<Operand> =
        [int, RegisterType::Column(ScalarType::Char), int].into_iter().map(|ty| serial.parameter(ty).into()).collect();
    let serial = serial.finish(parameters);
    Program {
        functions: vec![all, second, third, producer, serial, lifted],
        steps: vec![step],
        mains: vec![main],
        sites: Vec::new(),
    }
}

#[test]
fn every_instruction_reads_back() {
    let program = everything();
    assert_eq!(verify(&program), Ok(()));
    let text = program.to_string();
    let again = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again, program);
    assert_eq!(again.to_string(), text);
}

#[test]
fn functions_that_groups_name_are_written_read_back_and_kept() {
    let text = "function f(%0: column int) -> int {
  %4 = fused {
    %1 = map negate.int %0
    %2 = each g g/L(of int, int) -> int %1 7
    %3 = reduce.add.int %2
    yield %3
  }
  return %4
}

function other() {
  return
}

function g(%0: int, %1: int) -> int {
  return %0
}

function g/L(%0: int, %1: column int, %2: int) -> column int {
  return %1
}

";
    let mut program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(program.to_string(), text);
    let mut sources = SourceMap::default();
    sources.add("text", text, Origin::User);
    assert_eq!(nesl_vcode::from_bytes(&nesl_vcode::to_bytes(&program, &sources)), Ok((program.clone(), sources)));
    program.steps = vec![Step { function: FunctionId(0), inputs: vec![Input::Global(GlobalId(0))], outputs: vec![] }];
    nesl_vcode::passes::dead::run(&mut program);
    assert_eq!(program.functions.len(), 3);
    let Op::Fused(group) = &program.functions[0].body.instructions[0].op else { panic!("{program}") };
    let each = group.each().map(|each| &each.op);
    assert!(matches!(each, Some(Op::Each(each)) if (each.serial, each.lifted) == (FunctionId(1), FunctionId(2))));
}

#[test]
fn bits_of_floats_read_back() {
    let values = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001), -0.0, f64::MIN_POSITIVE, 0.1];
    let mut builder = FunctionBuilder::new("f", span());
    let column = builder.constants(Constants::Float(values.to_vec()));
    let program = Program { functions: vec![builder.finish(vec![column])], ..Program::default() };
    let again = parse(&program.to_string()).unwrap();
    let Op::Constants(Constants::Float(read)) = &again.functions[0].body.instructions[0].op else { panic!() };
    assert_eq!(read.map_bits(), values.to_vec().map_bits());
}

trait Bits {
    fn map_bits(&self) -> Vec<u64>;
}

impl Bits for Vec<f64> {
    fn map_bits(&self) -> Vec<u64> {
        self.iter().map(|value| value.to_bits()).collect()
    }
}

#[test]
fn the_text_is_as_documented() {
    let text = "function qs@[int](%0: int, %1: column int) -> int, column int {
  %2 = less.int %0 2
  %3, %4 = if %2 { yield %0 %1 } else {
    %5 = map add.int %1 1
    yield %0 %5
  }
  return %3 %4
}

step qs@[int](seed, global 3) -> show int, global 4 [int]
main (k \"int\" int) {
  step qs@[int](seed, argument 0) -> global 1 [int]
  run qs@[int](argument 0, global 1) -> show [int]
}
";
    assert_eq!(parse(text).unwrap().to_string(), text);
}

#[test]
fn marks_of_last_uses_read_back() {
    let text = "function f(%0: bool, %1: column int, %2: int) -> column int {
  %4 = if %0! {
    drop %1 %2
    %3 = constants int [1]
    yield %3!
  } else {
    %5 = map add.int %1* %2!
    yield %5!
  }
  return %4!
}

";
    let program = parse(text).unwrap();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(program.to_string(), text);
    assert_eq!(
        parse(&text.replace("drop %1 %2", "drop 1")).unwrap_err().to_string(),
        "3:10: expected the end of the line"
    );
}

#[test]
fn steps_of_loops_are_written_as_such() {
    let text = "function even(%0: int) -> bool {
  %1 = equal.int %0 0
  %4 = if %1 { yield t } else {
    %2 = subtract.int %0 1
    %3 = loop odd %2
    yield %3
  }
  return %4
}

function odd(%0: int) -> bool {
  %1 = call even %0
  %2 = not.bool %1
  %3 = subtract.int %0 1
  %4 = equal.int %3 0
  %6 = if %2 { yield %4 } else {
    %5 = loop even %3
    yield %5
  }
  return %6
}

function enters(%0: int) -> bool {
  %1 = call even %0
  return %1
}

";
    let program = parse(text).unwrap();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(program.to_string(), text);
    // Where it is one, `call` means the same.
    assert_eq!(parse(&text.replace("loop", "call")), Ok(program));
    let wrong = |from: &str| parse(&text.replacen(from, &from.replacen("call", "loop", 1), 1)).unwrap_err().to_string();
    let message = "`loop` ends a function, to which what it calls can come back in this way";
    assert_eq!(wrong("%1 = call even %0\n  %2"), format!("12:8: {message}"));
    assert_eq!(wrong("%1 = call even %0\n  return"), format!("24:8: {message}"));
}

#[test]
fn groups_read_back() {
    let text = "function f(%0: column int, %1: column int) -> column int, int {
  %4, %5 = fused {
    %2 = map add.int %0* %1!
    %3 = reduce.add.int %2
    yield %2! %3!
  }
  return %4! %5!
}

";
    let program = parse(text).unwrap();
    assert_eq!(verify(&program), Ok(()));
    assert_eq!(program.to_string(), text);
    let counts = nesl_vcode::Counts::of_program(&program);
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("fused", 1), ("map add.int", 1), ("reduce.add.int", 1)]);
    let mut sources = SourceMap::default();
    sources.add("f.nesl", "", Origin::User);
    let bytes = nesl_vcode::to_bytes(&program, &sources);
    assert_eq!(nesl_vcode::from_bytes(&bytes).map(|(program, _)| program), Ok(program));
}

#[test]
fn sources_are_comments() {
    let mut sources = SourceMap::default();
    let file = sources.add("sort.nesl", "one\ntwo\nthree", Origin::User);
    let mut builder = FunctionBuilder::new("f", Span::new(file, 4, 7));
    let x = builder.parameter(RegisterType::Scalar(ScalarType::Int)).into();
    builder.set_span(Span::new(file, 8, 9));
    let y = builder.scalar(ScalarOp::AddInt, &[x, x]);
    let program = Program { functions: vec![builder.finish(vec![y])], ..Program::default() };
    let text = Printer { sources: Some(&sources) }.program(&program);
    assert!(text.contains("-> int {  ;; sort.nesl:2\n  %1 = add.int %0 %0  ;; sort.nesl:3\n"), "{text}");
    assert_eq!(parse(&text).unwrap().to_string(), program.to_string());
}

#[test]
fn mistakes_are_found_where_they_are() {
    let body = |line: &str| format!("function f(%0: int) -> int {{\n  {line}\n  return %0\n}}");
    let cases = [
        ("x".to_owned(), "1:1: expected function, step or main"),
        ("function f(%0: int) -> int {".to_owned(), "1:29: expected return"),
        (body("%1 = frobnicate %0"), "2:8: no instruction is called `frobnicate`"),
        (body("%1 = map gather %0"), "2:12: no instruction is called `map gather`"),
        (body("%1 = add.int %0 99999999999999999999"), "2:19: the number is out of range"),
        (body("%99999999999 = add.int %0 1"), "2:4: the number is out of range"),
        (body("%1 = add.int %0 é"), "2:19: expected a register or a scalar"),
        (body("%1 = add.int %0 %7"), "2:3: %7 is not defined"),
        (body("%0 = add.int %0 1"), "2:3: %0 is defined twice"),
        (body("%2 = add.int %0 1"), "1:10: %1 is not defined"),
        (body("%1, %2 = add.int %0 1"), "2:3: the instruction has 1 results, 2 are named"),
        (body("%1 = dist %0"), ""), // for the verifier
        (body("%1 = build"), "2:3: the operands do not tell the type of the result"),
        (body("%1 = call g %0"), "2:13: no function is called `g`"),
        (body("%1 = constants int [1 2.0]"), "2:25: expected an element of the column's type"),
        (body("%1 = constants char \"abc"), "2:27: expected a closing quote"),
        (body("%1 = extract \u{60}\\q %0"), "2:18: expected x"),
        (body("%1 = if t { yield 1 }"), "2:24: expected else"),
        ("function f() {\n return }\nfunction f() {\n return }".to_owned(), "3:10: a second function `f`"),
        ("function f() -> int {\n return }".to_owned(), "1:10: the function returns other types than it says here"),
        ("step f() -> show (int".to_owned(), "1:22: expected ,"),
        (format!("step f() -> show {}", "[".repeat(100_000)), "1:518: nested too deeply"),
        (body(&"%1 = if t {\n".repeat(100_000)), "502:11: nested too deeply"),
    ];
    for (text, expected) in cases {
        match parse(&text) {
            Ok(_) => assert_eq!(expected, "", "{text}"),
            Err(error) => assert_eq!(error.to_string(), expected, "{}", text.lines().take(3).collect::<String>()),
        }
    }
}

#[test]
fn no_prefix_or_changed_character_makes_the_parser_panic() {
    let text = everything().to_string();
    let text: String = text.lines().filter(|line| line.len() < 200).step_by(7).collect::<Vec<_>>().join("\n");
    for (position, character) in text.char_indices().step_by(5) {
        let _ = parse(&text[..position]);
        for other in ["\"", "é", "`", "{", "%", "9"] {
            let _ = parse(&format!("{}{other}{}", &text[..position], &text[position + character.len_utf8()..]));
        }
    }
}
