//! The types of random programs: those of the language, with the datatypes that a program defines.

use std::fmt;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// int
    Int,
    /// float
    Float,
    /// bool
    Bool,
    /// char
    Char,
    /// ()
    Unit,
    /// [a]
    Sequence(Box<Type>),
    /// (a, b)
    Pair(Box<Type>, Box<Type>),
    /// A datatype at types.
    Record(Box<Record>),
    /// A function of some parameters. Expressions of such a type are made only where no second function may stand.
    Function(Vec<Type>, Box<Type>),
    /// A parameter of a datatype, in its definition.
    Parameter(usize),
}

/// A datatype at types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the datatype.
    pub name: String,
    /// The types that its parameters stand for.
    pub arguments: Vec<Type>,
    /// What it holds.
    pub payload: Type,
}

/// The definition of a datatype.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// Its name.
    pub name: String,
    /// For each parameter, whether it must be a number.
    pub parameters: Vec<bool>,
    /// What it holds, in terms of the parameters.
    pub payload: Type,
}

/// How parameters of datatypes are written.
const PARAMETERS: [&str; 3] = ["a", "b", "c"];

impl Type {
    /// The sequence of a type.
    pub fn sequence(element: Type) -> Type {
        Type::Sequence(Box::new(element))
    }

    /// The pair of two types.
    pub fn pair(first: Type, second: Type) -> Type {
        Type::Pair(Box::new(first), Box::new(second))
    }

    /// A function.
    pub fn function(parameters: &[Type], result: &Type) -> Type {
        Type::Function(parameters.to_vec(), Box::new(result.clone()))
    }

    /// The simplest expression of the type.
    pub fn default_text(&self) -> String {
        match self {
            Type::Int => "0".to_owned(),
            Type::Float => "0.0".to_owned(),
            Type::Bool => "t".to_owned(),
            Type::Char => "`a".to_owned(),
            Type::Unit => "()".to_owned(),
            Type::Sequence(element) => format!("([] {element})"),
            Type::Pair(first, second) => format!("({}, {})", first.default_text(), second.default_text()),
            Type::Record(record) => format!("{}({})", record.name, record.payload.default_text()),
            Type::Function(_, result) => format!("(_ => {})", result.default_text()),
            Type::Parameter(_) => panic!("values are of types without parameters"),
        }
    }

    /// The type with types in place of parameters.
    fn at(&self, arguments: &[Type]) -> Type {
        match self {
            Type::Int | Type::Float | Type::Bool | Type::Char | Type::Unit | Type::Function(..) => self.clone(),
            Type::Sequence(element) => Type::sequence(element.at(arguments)),
            Type::Pair(first, second) => Type::pair(first.at(arguments), second.at(arguments)),
            Type::Record(record) => Type::Record(Box::new(Record {
                name: record.name.clone(),
                arguments: record.arguments.iter().map(|argument| argument.at(arguments)).collect(),
                payload: record.payload.at(arguments),
            })),
            Type::Parameter(number) => arguments[*number].clone(),
        }
    }
}

/// Types in parentheses, as a tuple: `()` of none.
pub fn tuple(types: &[Type]) -> String {
    let texts: Vec<String> = types.iter().map(ToString::to_string).collect();
    if texts.len() == 1 { texts[0].clone() } else { format!("({})", texts.join(", ")) }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int => write!(formatter, "int"),
            Type::Float => write!(formatter, "float"),
            Type::Bool => write!(formatter, "bool"),
            Type::Char => write!(formatter, "char"),
            Type::Unit => write!(formatter, "()"),
            Type::Sequence(element) => write!(formatter, "[{element}]"),
            Type::Pair(first, second) => write!(formatter, "({first}, {second})"),
            Type::Record(record) if record.arguments.is_empty() => formatter.write_str(&record.name),
            Type::Record(record) => {
                let arguments: Vec<String> = record.arguments.iter().map(ToString::to_string).collect();
                write!(formatter, "{}({})", record.name, arguments.join(", "))
            }
            Type::Function(parameters, result) => write!(formatter, "({} -> {result})", tuple(parameters)),
            Type::Parameter(number) => formatter.write_str(PARAMETERS[*number]),
        }
    }
}

impl Datatype {
    /// The datatype at types.
    pub fn at(&self, arguments: &[Type]) -> Type {
        Type::Record(Box::new(Record {
            name: self.name.clone(),
            arguments: arguments.to_vec(),
            payload: self.payload.at(arguments),
        }))
    }

    /// Its definition.
    pub fn text(&self) -> String {
        let payload = match &self.payload {
            pair @ Type::Pair(..) => pair.to_string(),
            other => format!("({other})"),
        };
        let classes: Vec<String> = (self.parameters.iter().zip(PARAMETERS))
            .map(|(is_number, name)| format!("{name} in {}", if *is_number { "number" } else { "any" }))
            .collect();
        match classes.is_empty() {
            true => format!("datatype {} {payload}", self.name),
            false => format!("datatype {} {payload} :: ({})", self.name, classes.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datatypes_are_written_with_the_classes_of_their_parameters() {
        let payload = Type::pair(Type::Parameter(0), Type::sequence(Type::Parameter(1)));
        let datatype = Datatype { name: "box".to_owned(), parameters: vec![false, true], payload };
        assert_eq!(datatype.text(), "datatype box (a, [b]) :: (a in any; b in number)");
        let ty = datatype.at(&[Type::Bool, Type::Int]);
        assert_eq!(ty.to_string(), "box(bool, int)");
        assert_eq!(ty.default_text(), "box((t, ([] int)))");
    }
}
