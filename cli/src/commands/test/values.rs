//! Random values by their types, and simpler ones in their place.

use nesl_frontend::ty::Type;
use nesl_prim::ScalarType;
use nesl_prim::meaning::seed_split;

/// A stream of random numbers.
pub struct Random {
    seed: i64,
    drawn: i64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: i64) -> Random {
        Random { seed, drawn: 0 }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        seed_split(self.seed, self.drawn) as u64
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A character.
    Char(u8),
    /// `()`.
    Unit,
    /// A tuple.
    Tuple(Vec<Value>),
    /// A sequence, with the type of its elements.
    Sequence(String, Vec<Value>),
    /// A record, by the name of its datatype.
    Record(String, Box<Value>),
}

/// Ints that programs are wrong about more often than about others.
const INTS: [i64; 8] = [0, 1, -1, 2, 10, -7, i64::MAX, i64::MIN];
const FLOATS: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e-300, 3.25, f64::INFINITY, f64::NEG_INFINITY];

/// A random value of a type without type parameters, of about this size.
///
/// # Errors
/// If there are functions in it, which nobody can draw.
pub fn draw(ty: &Type, size: usize, random: &mut Random) -> Result<Value, String> {
    Ok(match ty {
        Type::Scalar(ScalarType::Int) => Value::Int(match random.below(8) {
            0 => INTS[random.below(INTS.len())],
            1 => random.draw() as i64,
            _ => random.below(2 * size + 3) as i64 - size as i64 - 1,
        }),
        Type::Scalar(ScalarType::Float) => Value::Float(match random.below(6) {
            0 => FLOATS[random.below(FLOATS.len())],
            _ => (random.below(1 << 12) as f64 - 2048.0) / 64.0,
        }),
        Type::Scalar(ScalarType::Bool) => Value::Bool(random.below(2) == 1),
        Type::Scalar(ScalarType::Char) => Value::Char(match random.below(8) {
            0 => random.below(256) as u8,
            1 => b" \n09"[random.below(4)],
            _ => b'a' + random.below(26) as u8,
        }),
        Type::Unit => Value::Unit,
        Type::Pair(first, rest) => {
            let mut parts = vec![draw(first, size, random)?];
            let mut rest = &**rest;
            while let Type::Pair(next, tail) = rest {
                parts.push(draw(next, size, random)?);
                rest = tail;
            }
            parts.push(draw(rest, size, random)?);
            Value::Tuple(parts)
        }
        Type::Sequence(element) => {
            let length = random.below(size + 1);
            let inner = if matches!(**element, Type::Sequence(_)) { size / 2 } else { size };
            let elements = (0..length).map(|_| draw(element, inner, random)).collect::<Result<_, _>>()?;
            Value::Sequence(element.to_string(), elements)
        }
        Type::Record(datatype, _) => match ty.payload() {
            Some(payload) => Value::Record(datatype.name.to_string(), Box::new(draw(&payload, size, random)?)),
            None => return Err("a record without contents".to_owned()),
        },
        Type::Function(_) | Type::Identity(_) | Type::Parameter(_) => {
            return Err("it takes a function, and functions cannot be drawn".to_owned());
        }
    })
}

impl Value {
    /// How it is written.
    pub fn text(&self) -> String {
        let list = |values: &[Value]| values.iter().map(Value::text).collect::<Vec<_>>().join(", ");
        match self {
            // Its digits alone are too large for an int.
            Value::Int(i64::MIN) => format!("({} - 1)", i64::MIN + 1),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => nesl_prim::text::float(*value),
            Value::Bool(value) => if *value { "t" } else { "f" }.to_owned(),
            Value::Char(code) if code.is_ascii_graphic() => format!("`{}", char::from(*code)),
            Value::Char(code) => format!("code_char({code})"),
            Value::Unit => "()".to_owned(),
            Value::Tuple(parts) => format!("({})", list(parts)),
            Value::Sequence(element, elements) if elements.is_empty() => format!("([] {element})"),
            Value::Sequence(_, elements) => format!("[{}]", list(elements)),
            Value::Record(name, payload) => format!("{name}{}", payload.argument()),
        }
    }

    /// How it is written as the argument of a call.
    pub fn argument(&self) -> String {
        match self {
            Value::Tuple(_) | Value::Unit => self.text(),
            _ => format!("({})", self.text()),
        }
    }

    /// Simpler values of the same type, the simplest first.
    pub fn simpler(&self) -> Vec<Value> {
        match self {
            Value::Unit => Vec::new(),
            Value::Bool(value) => value.then_some(Value::Bool(false)).into_iter().collect(),
            Value::Char(code) => [b'a', b'b'].into_iter().filter(|simple| simple < code).map(Value::Char).collect(),
            Value::Int(value) => {
                let nearer = value - value.signum();
                let mut simpler = vec![0, value / 2, nearer];
                simpler.extend(value.checked_neg().filter(|_| *value < 0));
                simpler.retain(|simple| simple != value);
                simpler.dedup();
                simpler.into_iter().map(Value::Int).collect()
            }
            Value::Float(value) => {
                let mut simpler = vec![0.0, value.trunc(), (value / 2.0).trunc()];
                simpler.retain(|simple| simple != value);
                simpler.dedup();
                simpler.into_iter().map(Value::Float).collect()
            }
            Value::Tuple(parts) => one_simpler(parts, parts.len()).into_iter().map(Value::Tuple).collect(),
            Value::Record(name, payload) => {
                let record = |payload| Value::Record(name.clone(), Box::new(payload));
                payload.simpler().into_iter().map(record).collect()
            }
            Value::Sequence(element, elements) => {
                let half = elements.len() / 2;
                let mut shorter = Vec::new();
                if half > 0 {
                    shorter.extend([elements[..half].to_vec(), elements[half..].to_vec()]);
                }
                shorter.extend((0..elements.len().min(16)).map(|left_out| {
                    let mut fewer = elements.clone();
                    fewer.remove(left_out);
                    fewer
                }));
                shorter.extend(one_simpler(elements, 8));
                shorter.into_iter().map(|elements| Value::Sequence(element.clone(), elements)).collect()
            }
        }
    }
}

/// The values with one of the first of them simpler.
fn one_simpler(values: &[Value], first: usize) -> Vec<Vec<Value>> {
    let changed = |(index, value): (usize, &Value)| {
        let values = values.to_vec();
        value.simpler().into_iter().map(move |simple| {
            let mut changed = values.clone();
            changed[index] = simple;
            changed
        })
    };
    values.iter().take(first).enumerate().flat_map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_programs_write_them() {
        let sequence = |elements: Vec<Value>| Value::Sequence("[int]".to_owned(), elements);
        let inner = Value::Sequence("int".to_owned(), vec![Value::Int(-5), Value::Int(i64::MIN)]);
        let all = Value::Tuple(vec![sequence(vec![inner]), sequence(vec![]), Value::Char(b'`'), Value::Char(10)]);
        assert_eq!(all.argument(), "([[-5, (-9223372036854775807 - 1)]], ([] [int]), ``, code_char(10))");
        assert_eq!(Value::Record("pt".to_owned(), Box::new(Value::Float(2.0))).text(), "pt(2.0)");
    }

    #[test]
    fn simpler_values_come_to_an_end() {
        let mut random = Random::new(7);
        let ty = Type::pair(Type::sequence(Type::pair(Type::INT, Type::FLOAT)), Type::CHAR);
        for _ in 0..20 {
            let mut value = draw(&ty, 9, &mut random).expect("a value");
            let mut steps = 0;
            while let Some(simple) = value.simpler().into_iter().next() {
                value = simple;
                steps += 1;
                assert!(steps < 1000, "{value:?}");
            }
        }
    }
}
