//! Programs of one format as programs of the other.

use super::{read, write};
use nesl_prim::ScalarType;
use nesl_span::FileId;
use nesl_vcode::parse::parse;
use nesl_vcode::program::{Input, Output, RegisterType};
use nesl_vcode::verify::verify;

fn program(text: &str) -> nesl_vcode::Program {
    let program = read(text, FileId(0)).unwrap();
    assert_eq!(verify(&program), Ok(()), "{program}");
    program
}

#[test]
fn functions_are_translated_for_the_types_of_their_operands() {
    let program = program(
        "FUNC MAIN CONST INT 1 CALL TWICE CONST BOOL T CALL TWICE CONST INT 2 CALL TWICE RET
         FUNC TWICE COPY 1 0 RET",
    );
    let names: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["MAIN", "TWICE", "TWICE@2", "@program"]);
    assert_eq!(program.functions[2].registers[0], RegisterType::Column(ScalarType::Bool));
    let [int, bool] = [ScalarType::Int, ScalarType::Bool].map(|ty| Output::Stack(RegisterType::Column(ty)));
    assert_eq!(program.steps[0].outputs, [int.clone(), int.clone(), bool.clone(), bool, int.clone(), int]);
}

#[test]
fn only_what_draws_has_a_seed() {
    let program = program("FUNC MAIN CALL DRAW CALL ONE RET FUNC DRAW CONST INT 5 RAND RET FUNC ONE CONST INT 1 RET");
    assert_eq!(program.steps[0].inputs, [Input::Seed]);
    let parameters: Vec<usize> = program.functions.iter().map(|function| function.parameters.len()).collect();
    assert_eq!(parameters, [1, 1, 0, 1]);
}

#[test]
fn what_a_recursive_call_leaves_is_found() {
    let program = program(
        "FUNC ODD CONST BOOL T CALL EVEN RET
         FUNC EVEN IF CONST INT 1 CONST SEGDES 2 ELSE CONST BOOL F CALL AGAIN ENDIF RET
         FUNC AGAIN CALL EVEN RET",
    );
    let shown = [RegisterType::Column(ScalarType::Int), RegisterType::Descriptor].map(Output::Stack);
    assert_eq!(program.steps[0].outputs, shown);
}

#[test]
fn a_program_that_never_returns_shows_nothing() {
    assert_eq!(program("FUNC F CALL F CONST INT 1 RET").steps[0].outputs, []);
    assert_eq!(program("FUNC F CONST INT 1 EXIT + FLOAT RET").steps[0].outputs, []);
}

#[test]
fn branches_are_not_nested_without_end() {
    let text = format!("FUNC F {} RET", "CONST BOOL T IF ".repeat(100_000));
    let error = read(&text, FileId(0)).unwrap_err();
    assert!(error.to_string().contains("IF in more than 200 others"), "{error}");
}

#[test]
fn the_last_use_of_a_vector_moves_it() {
    let program = parse(
        "function f(%0: column int, %1: column int) -> column int {
           %2 = map add.int %0 %1
           %3 = map multiply.int %2 %0
           return %3
         }
         function top() -> int, column int {
           %0 = constants int [3 4]
           %1 = call f %0 %0
           return 2 %1
         }
         step top() -> show [int]",
    );
    // Written by hand from the rules: COPY where the vector is used again, CPOP or nothing where it is not.
    let expected = "FUNC MAIN
  CALL TOP_1
  CPOP 1 1
  MAKE_SEGDES
  CPOP 1 1
RET

FUNC F_0
  COPY 1 1
  CPOP 1 1
  + INT
  CPOP 1 1
  * INT
RET

FUNC TOP_1
  CONST INT (3 4)
  COPY 1 0
  CPOP 1 1
  CALL F_0
  CONST INT 2
  CPOP 1 1
RET
";
    assert_eq!(write(&program.unwrap(), &|_| 0).unwrap(), expected);
}

#[test]
fn limitations_name_the_instruction() {
    let program = parse(
        "function top() -> column char {
           %0 = constants float [0.5]
           %1 = text %0
           return %1
         }
         step top() -> stack column char",
    );
    let limitation = write(&program.unwrap(), &|_| 0).unwrap_err();
    assert_eq!(limitation.to_string(), "the CMU format has no counterpart of the instruction `text.float`");
}
