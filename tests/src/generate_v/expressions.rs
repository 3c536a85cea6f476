//! Expressions of a type, which have no effect and end.

use super::types::Type;
use super::{Generator, Variable};

impl Generator {
    /// The name of a variable of a type, if there is one.
    fn variable(&mut self, ty: &Type) -> Option<String> {
        let known: Vec<&Variable> = self.scope.iter().filter(|variable| variable.ty == *ty).collect();
        match known.is_empty() {
            true => None,
            false => Some(self.random.pick(&known).name.clone()),
        }
    }

    /// An expression of a type.
    pub(super) fn expression(&mut self, ty: &Type, depth: usize) -> String {
        if depth == 0 || self.random.chance(20) {
            return match self.variable(ty).filter(|_| self.random.chance(75)) {
                Some(name) => name,
                None => self.literal(ty),
            };
        }
        if self.random.chance(12) {
            let (condition, first) = (self.expression(&Type::Bool, depth - 1), self.expression(ty, depth - 1));
            return format!("({condition} ? {first} : {})", self.expression(ty, depth - 1));
        }
        if self.random.chance(12)
            && let Some(call) = self.call(ty, depth - 1)
        {
            return call;
        }
        if self.random.chance(15)
            && let Some(part) = self.part(ty, depth - 1)
        {
            return part;
        }
        match ty {
            Type::Int => self.int(depth - 1),
            Type::Double => self.double(depth - 1),
            Type::Bool => self.bool(depth - 1),
            Type::Char => format!("(char) (97 + ({} & 15))", self.expression(&Type::Int, depth - 1)),
            Type::Struct => self.structure_value(depth - 1),
            Type::Vector(element) => self.vector(element, depth - 1),
        }
    }

    fn literal(&mut self, ty: &Type) -> String {
        match ty {
            Type::Int => match self.random.below(12) {
                0 => "0x1F".to_owned(),
                1 => "9223372036854775807".to_owned(),
                2 => "(-1)".to_owned(),
                number => (number - 3).to_string(),
            },
            Type::Double => self.random.pick(&["0.0", "1.5", "2e3", "(-0.25)", "1.0"]).to_string(),
            Type::Bool => self.random.pick(&["true", "false"]).to_string(),
            Type::Char => self.random.pick(&["'a'", "'z'", "'\\n'", "' '"]).to_string(),
            Type::Struct => self.structure_value(0),
            Type::Vector(element) if **element == Type::Char => {
                self.random.pick(&["\"text\"", "\"\"", "\"a\""]).to_string()
            }
            Type::Vector(element) => {
                let count = self.random.below(4);
                let elements: Vec<String> = (0..count).map(|_| self.expression(element, 0)).collect();
                match count {
                    0 => format!("[{} : none in index(0)]", self.expression(element, 0)),
                    _ => format!("[{}]", elements.join(", ")),
                }
            }
        }
    }

    fn int(&mut self, depth: usize) -> String {
        let mut of = |ty: &Type| self.expression(ty, depth);
        let (a, b) = (of(&Type::Int), of(&Type::Int));
        match self.random.below(16) {
            0..3 => format!("({a} + {b})"),
            3 | 4 => format!("({a} - {b})"),
            5 => format!("({a} * {b})"),
            6 => format!("({a} / 3)"),
            7 => format!("({a} % 7)"),
            8 => format!("({a} {} {b})", self.random.pick(&["&", "|", "^"])),
            9 => format!("({a} {} ({b} & 7))", self.random.pick(&["<<", ">>"])),
            10 => format!("(~{a} - -{b})"),
            11 => format!("(int) {}", self.parenthesised(&Type::Bool, depth)),
            12 => format!("(int) {}", self.parenthesised(&Type::Char, depth)),
            13 => format!("${}", self.parenthesised(&Type::vector(Type::Int), depth)),
            14 => format!("sum({})", self.expression(&Type::vector(Type::Int), depth)),
            _ => format!("max({a}, {b})"),
        }
    }

    fn parenthesised(&mut self, ty: &Type, depth: usize) -> String {
        format!("({})", self.expression(ty, depth))
    }

    fn double(&mut self, depth: usize) -> String {
        let (a, b) = (self.expression(&Type::Double, depth), self.expression(&Type::Double, depth));
        match self.random.below(6) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} / 4)"),
            4 => format!("({a} + {})", self.expression(&Type::Int, depth)),
            _ => format!("(double) {}", self.parenthesised(&Type::Int, depth)),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let ty = self.random.pick(&[Type::Int, Type::Int, Type::Double, Type::Char]).clone();
        match self.random.below(6) {
            0..3 => {
                let sign = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {sign} {})", self.expression(&ty, depth), self.expression(&ty, depth))
            }
            3 => format!("({} && {})", self.expression(&Type::Bool, depth), self.expression(&Type::Bool, depth)),
            4 => format!("({} || {})", self.expression(&Type::Bool, depth), self.expression(&Type::Bool, depth)),
            _ => format!("!{}", self.parenthesised(&Type::Bool, depth)),
        }
    }

    fn structure_value(&mut self, depth: usize) -> String {
        let types: Vec<Type> = self.structure.0.iter().map(|(_, ty)| ty.clone()).collect();
        let values: Vec<String> = types.iter().map(|ty| self.expression(ty, depth)).collect();
        format!("(struct p){{{}}}", values.join(", "))
    }

    /// A vector that is not much longer than those there are; in a loop not longer at all.
    fn vector(&mut self, element: &Type, depth: usize) -> String {
        let own = Type::vector(element.clone());
        match self.random.below(8) {
            0 | 1 => {
                let source = self.random.pick(&[Type::Int, Type::Int, Type::Struct, Type::Double]).clone();
                self.each(element, &source, depth)
            }
            2 => self.filtered(element, depth),
            3 => format!("reverse({})", self.expression(&own, depth)),
            4 if self.loops == 0 => {
                format!("({} >< {})", self.expression(&own, depth), self.expression(&own, depth))
            }
            5 => format!("dist({}, 3)", self.expression(element, depth)),
            6 if *element == Type::Int => "index(4)".to_owned(),
            _ => self.literal(&own),
        }
    }

    /// An apply-to-each, of two vectors of one length at times.
    fn each(&mut self, element: &Type, source: &Type, depth: usize) -> String {
        let vector = self.expression(&Type::vector(source.clone()), depth.min(1));
        let name = self.name("x");
        let second = self.random.chance(30).then(|| (self.name("i"), format!("index(${})", paren(&vector))));
        let known = self.scope.len();
        self.bind(&name, source);
        if let Some((second, _)) = &second {
            self.bind(second, &Type::Int);
        }
        let body = self.expression(element, depth);
        let filter = self.random.chance(30).then(|| self.expression(&Type::Bool, depth));
        self.scope.truncate(known);
        let second = second.map_or(String::new(), |(name, vector)| format!("; {name} in {vector}"));
        format!(
            "[{body} : {name} in {vector}{second}{}]",
            filter.map_or(String::new(), |filter| format!(" : {filter}"))
        )
    }

    fn filtered(&mut self, element: &Type, depth: usize) -> String {
        let vector = self.expression(&Type::vector(element.clone()), depth.min(1));
        let name = self.name("x");
        self.bind(&name, element);
        let filter = self.expression(&Type::Bool, depth);
        self.scope.pop();
        format!("[{name} : {name} in {vector} : {filter}]")
    }

    /// Makes a name known that cannot be assigned.
    pub(super) fn bind(&mut self, name: &str, ty: &Type) {
        let variable = Variable { name: name.to_owned(), ty: ty.clone(), is_assigned: false, is_changed: false };
        self.scope.push(variable);
    }

    /// A new name.
    pub(super) fn name(&mut self, first: &str) -> String {
        self.names += 1;
        format!("{first}{}", self.names)
    }

    /// A call of a function that gives such a value.
    fn call(&mut self, ty: &Type, depth: usize) -> Option<String> {
        // Vectors that functions make may be longer than what they take.
        if self.loops > 1 || self.loops > 0 && matches!(ty, Type::Vector(_)) {
            return None;
        }
        let known: Vec<_> = self.functions.iter().filter(|function| function.result == *ty).cloned().collect();
        if known.is_empty() {
            return None;
        }
        let function = self.random.pick(&known).clone();
        let arguments: Vec<String> = (function.parameters.iter().enumerate())
            .map(|(index, ty)| match function.is_recursive && index == 0 {
                true => self.random.below(4).to_string(),
                false => self.expression(ty, depth.min(2)),
            })
            .collect();
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// An element or a field of a variable that is such a value.
    fn part(&mut self, ty: &Type, depth: usize) -> Option<String> {
        if self.random.chance(50)
            && let Some(name) = self.variable(&Type::Struct)
        {
            let fields: Vec<&str> =
                self.structure.0.iter().filter(|(_, field)| field == ty).map(|(name, _)| *name).collect();
            return (!fields.is_empty()).then(|| format!("{name}.{}", self.random.pick(&fields)));
        }
        let name = self.variable(&Type::vector(ty.clone()))?;
        let index = self.expression(&Type::Int, depth);
        if self.failures > 0 && self.random.chance(20) {
            self.failures -= 1;
            return Some(format!("{name}[{index}]"));
        }
        Some(format!("(${name} > 0 ? {name}[mod({index}, ${name})] : {})", self.literal(ty)))
    }
}

fn paren(text: &str) -> String {
    format!("({text})")
}
