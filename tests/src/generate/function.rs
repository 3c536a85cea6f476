//! Random calls, and functions as values: lambdas, operators, arguments, results, parts of tuples and elements.
//!
//! Which function a value is must be known when a program is compiled. So function values stand only where no second
//! one may come: a sequence of functions holds one function with different captured values.

use super::expression::{Generator, Signature};
use super::feature::Feature;
use super::tree::{Part, Tree};
use super::types::Type;

/// The helpers that every program defines, polymorphic and used at many types: head of the definition and body.
pub const HELPERS: [(&str, &str); 13] = [
    ("function nothing_of(x) = ", "()"),
    ("function pick_of(c, x, y) = ", "if c then x else y"),
    ("function around(x, v) = ", "[x] ++ v ++ [x]"),
    ("function apart(v) = ", "{[x] : x in v}"),
    ("function pairs_of(v) = ", "{(x, i) : x in v; i in [0:#v]}"),
    ("function halves(v) = ", "if #v < 2 then v else let p = bottop(v) in p[1] ++ p[0]"),
    ("function use_of(g, x) = ", "g(x)"),
    ("function twice_of(g, x) = ", "g(g(x))"),
    ("function joined(p, q) = ", "(x => p(q(x)))"),
    ("function each_of(g, vs) = ", "{{g(x) : x in v} : v in vs}"),
    (
        "function fold_of(g, z, v) = ",
        "if #v == 0 then z else if #v == 1 then g(z, v[0]) else let p = bottop(v) in fold_of(g, fold_of(g, z, p[0]), p[1])",
    ),
    (
        "function tree_of(g, z, v) = ",
        "if #v == 0 then z else if #v == 1 then v[0] else let h = {tree_of(g, z, w) : w in bottop(v)} in g(h[0], h[1])",
    ),
    ("datatype deed (int -> int, int)", ""),
];

/// Operators and library functions that fit some parameters and a result.
fn named(parameters: &[Type], result: &Type) -> Vec<&'static str> {
    match (parameters, result) {
        ([Type::Int, Type::Int], Type::Int) => vec!["'+", "'*", "'-", "max", "min", "'and", "'xor"],
        ([Type::Float, Type::Float], Type::Float) => vec!["'+", "'*", "'-", "'/", "max", "min"],
        ([Type::Bool, Type::Bool], Type::Bool) => vec!["'and", "'or", "'xor", "'nor"],
        ([Type::Int], Type::Int) => vec!["negate", "abs", "'not"],
        ([Type::Char], Type::Char) => vec!["uppercase", "lowercase"],
        ([Type::Int], Type::Float) => vec!["float"],
        ([Type::Sequence(_)], Type::Int) => vec!["length"],
        ([first, second], Type::Bool) if first == second => match first {
            Type::Int | Type::Float | Type::Char => vec!["'<", "'>=", "'=="],
            _ => vec!["eql", "'/="],
        },
        ([Type::Sequence(first), Type::Sequence(second)], Type::Sequence(third))
            if first == second && second == third =>
        {
            vec!["'++", "append"]
        }
        ([Type::Sequence(first)], Type::Sequence(second)) if first == second => vec!["reverse", "halves", "odd_elts"],
        ([first, Type::Sequence(second)], Type::Sequence(third)) if **second == *first && second == third => {
            vec!["around", "cons"]
        }
        ([first], second) if first == second => vec!["identity"],
        ([first, second], Type::Pair(left, right)) if *first == **left && *second == **right => vec!["identity"],
        _ => Vec::new(),
    }
}

impl Generator {
    /// A call of a user's function or of a helper.
    pub(super) fn call(&mut self, ty: &Type, fuel: usize) -> Tree {
        let fitting: Vec<Signature> =
            self.functions.iter().filter(|function| function.result == *ty).cloned().collect();
        // Calls within several apply-to-eaches multiply the work.
        if !fitting.is_empty() && self.each_depth < 2 {
            let signature = self.random.pick(&fitting).clone();
            return self.call_of(&signature, fuel);
        }
        let helper = match ty {
            Type::Sequence(element) => match (&**element, self.random.below(4)) {
                (Type::Sequence(inner), 0) => {
                    // `apart` gives sequences of one element.
                    self.note(Feature::Single);
                    let argument = self.expression(&Type::sequence((**inner).clone()), fuel);
                    Some(("apart(@)", vec![argument]))
                }
                (Type::Pair(first, second), 0) if **second == Type::Int => {
                    Some(("pairs_of(@)", vec![self.expression(&Type::sequence((**first).clone()), fuel)]))
                }
                (_, 1) => Some(("halves(@)", vec![self.expression(ty, fuel)])),
                (_, 2) => Some(("around(@, @)", vec![self.expression(element, fuel), self.expression(ty, fuel)])),
                _ => None,
            },
            _ => None,
        };
        let (text, arguments) = helper.unwrap_or_else(|| {
            let arguments =
                vec![self.expression(&Type::Bool, fuel), self.expression(ty, fuel), self.expression(ty, fuel)];
            ("pick_of(@, @, @)", arguments)
        });
        Tree::new(ty.clone(), text, arguments)
    }

    /// The call of any user's function that gives no function, if there is one.
    pub(super) fn any_call(&mut self, fuel: usize) -> Option<Tree> {
        let giving = self.functions.iter().filter(|function| !matches!(function.result, Type::Function(..)));
        let giving: Vec<Signature> = giving.cloned().collect();
        if giving.is_empty() || self.each_depth >= 2 {
            return None;
        }
        let signature = self.random.pick(&giving).clone();
        Some(self.call_of(&signature, fuel))
    }

    /// The call of a function. Of its keyword parameters it gets some, in any order.
    fn call_of(&mut self, signature: &Signature, fuel: usize) -> Tree {
        self.note(Feature::Call);
        let Signature { name, parameters, keywords, result } = signature;
        let mut arguments: Vec<Tree> =
            parameters.iter().map(|parameter| self.expression(parameter, fuel.min(2))).collect();
        let mut holes = vec!["@".to_owned(); arguments.len()];
        let backwards = self.random.chance(50);
        let order: Vec<&(String, Type)> =
            if backwards { keywords.iter().rev().collect() } else { keywords.iter().collect() };
        for (keyword, ty) in order {
            if self.random.chance(50) {
                self.note(Feature::Keyword);
                arguments.push(self.expression(ty, fuel.min(2)));
                holes.push(format!("{keyword} := @"));
            } else {
                self.note(Feature::Default);
            }
        }
        Tree::new(result.clone(), &format!("{name}({})", holes.join(", ")), arguments)
    }

    /// A function of some parameters and result: a named one, a closure that a function makes, or a lambda.
    pub(super) fn function_value(&mut self, parameters: &[Type], result: &Type, fuel: usize) -> Tree {
        let ty = Type::function(parameters, result);
        if self.random.chance(60) {
            let makers = self.functions.iter().filter(|function| function.result == ty);
            let makers: Vec<Signature> = makers.cloned().collect();
            if !makers.is_empty() {
                self.note(Feature::FunctionResult);
                let maker = self.random.pick(&makers).clone();
                let fuel = fuel.min(1);
                if self.random.chance(30) {
                    let parts = vec![
                        self.expression(&Type::Bool, fuel),
                        self.call_of(&maker, fuel),
                        self.call_of(&maker, fuel),
                    ];
                    return Tree::new(ty, "(if @ then @ else @)", parts);
                }
                return self.call_of(&maker, fuel);
            }
            let own = self.functions.iter().filter(|own| own.parameters == parameters && own.result == *result);
            let own: Vec<String> = own.map(|own| own.name.clone()).collect();
            let library = named(parameters, result);
            if !library.is_empty() && (own.is_empty() || self.random.chance(50)) {
                let name = *self.random.pick(&library);
                self.note(if name.starts_with('\'') { Feature::Operator } else { Feature::NamedFunction });
                return Tree::leaf(ty, name);
            }
            if !own.is_empty() && self.each_depth < 2 {
                self.note(Feature::NamedFunction);
                return Tree::leaf(ty, self.random.pick(&own).clone());
            }
        }
        self.lambda(parameters, result, fuel)
    }

    /// A lambda.
    pub(super) fn lambda(&mut self, parameters: &[Type], result: &Type, fuel: usize) -> Tree {
        self.note(Feature::Lambda);
        let mut bound = Vec::new();
        let patterns: Vec<String> = parameters.iter().map(|parameter| self.pattern(parameter, &mut bound)).collect();
        let pattern = if let [only] = &patterns[..] { only.clone() } else { format!("({})", patterns.join(", ")) };
        // Where it is called is not known here: as if within an apply-to-each.
        let body = self.deeper(1, |this| this.with(&bound, |this| this.expression(result, fuel.min(2))));
        // Nothing says that a parameter is an int where one operator wants a number and one a logical value.
        let pin = match parameters.iter().any(|parameter| parameter.to_string().contains("int")) {
            true => {
                let names: Vec<&str> = bound.iter().map(|(name, _)| name.as_str()).collect();
                let values: Vec<String> = bound.iter().map(|(_, ty)| ty.default_text()).collect();
                format!("let _ = [({}), ({})] in ", names.join(", "), values.join(", "))
            }
            false => String::new(),
        };
        Tree::new(Type::function(parameters, result), &format!("({pattern} => {pin}@)"), vec![body])
    }

    /// Types of parameters with which there are functions of a result.
    pub(super) fn parameters_for(&mut self, result: &Type) -> Vec<Type> {
        let mut known: Vec<Vec<Type>> = Vec::new();
        for function in &self.functions {
            match &function.result {
                Type::Function(parameters, inner) if **inner == *result => known.push(parameters.clone()),
                own if own == result => known.push(function.parameters.clone()),
                _ => {}
            }
        }
        match self.random.below(4) {
            0 | 1 if !known.is_empty() => self.random.pick(&known).clone(),
            0 => vec![result.clone()],
            1 => vec![result.clone(), result.clone()],
            _ => self.parameters(),
        }
    }

    /// The types of a few parameters; of none now and then.
    fn parameters(&mut self) -> Vec<Type> {
        if self.random.chance(8) {
            self.note(Feature::NoParameters);
            return Vec::new();
        }
        (0..1 + self.random.below(2)).map(|_| self.any_type(1)).collect()
    }

    /// A use of functions as values.
    pub(super) fn higher(&mut self, ty: &Type, fuel: usize) -> Tree {
        let parameters = self.parameters_for(ty);
        let function = |this: &mut Generator| this.function_value(&parameters, ty, fuel.min(2));
        let arguments = |this: &mut Generator| -> Vec<Tree> {
            parameters.iter().map(|parameter| this.expression(parameter, fuel.min(2))).collect()
        };
        let holes = vec!["@"; parameters.len()].join(", ");
        let made = |text: &str, parts: Vec<Tree>| Tree::new(ty.clone(), text, parts);
        match self.random.below(11) {
            0 | 1 => self.local_function(ty, fuel),
            2 => {
                let parts = std::iter::once(function(self)).chain(arguments(self)).collect();
                made(&format!("(@)({holes})"), parts)
            }
            3 => {
                self.note(Feature::FunctionInTuple);
                let parts = std::iter::once(function(self)).chain(arguments(self)).collect();
                made(&format!("(let (p, q) = (@, ({holes})) in p(q))"), parts)
            }
            4 => self.element_of_functions(ty, &parameters, fuel),
            5 => {
                self.note(Feature::FunctionArgument);
                let parts = std::iter::once(function(self)).chain(arguments(self)).collect();
                made(&format!("use_of(@, ({holes}))"), parts)
            }
            6 => {
                self.note(Feature::FunctionArgument);
                let one = self.function_value(std::slice::from_ref(ty), ty, fuel.min(2));
                let parts = vec![one, self.expression(ty, fuel)];
                made("twice_of(@, @)", parts)
            }
            7 => {
                self.note(Feature::FunctionResult);
                let middle = self.any_type(1);
                // Of two operators one may want a number between them and the other a logical value.
                let outer = match middle {
                    Type::Int => self.lambda(std::slice::from_ref(&middle), ty, fuel.min(2)),
                    _ => self.function_value(std::slice::from_ref(&middle), ty, fuel.min(2)),
                };
                let inner = self.function_value(&parameters, &middle, fuel.min(2));
                let parts = [outer, inner].into_iter().chain(arguments(self)).collect();
                made(&format!("joined(@, @)({holes})"), parts)
            }
            8 => {
                self.note(Feature::FunctionArgument);
                let both = [ty.clone(), ty.clone()];
                let parts = vec![
                    self.function_value(&both, ty, fuel.min(2)),
                    self.expression(ty, fuel.min(2)),
                    self.expression(&Type::sequence(ty.clone()), fuel),
                ];
                let text = *self.random.pick(&["fold_of(@, @, @)", "tree_of(@, @, @)", "rest(scan(@, @, @))"]);
                if text.contains("scan") {
                    self.note(Feature::Scan);
                }
                made(text, parts)
            }
            _ => self.mapped(ty, fuel),
        }
    }

    /// Functions over the elements of sequences, and one in a record.
    fn mapped(&mut self, ty: &Type, fuel: usize) -> Tree {
        match ty {
            Type::Int if self.random.chance(50) => {
                self.note(Feature::FunctionInRecord);
                let parts =
                    vec![self.function_value(&[Type::Int], &Type::Int, fuel.min(2)), self.expression(&Type::Int, fuel)];
                Tree::new(Type::Int, "(let deed(g, x) = deed(@, @) in g(x))", parts)
            }
            Type::Sequence(element) => match (&**element, self.random.below(3)) {
                (_, 0) => {
                    self.note(Feature::Scan);
                    let both = [(**element).clone(), (**element).clone()];
                    let parts = vec![
                        self.function_value(&both, element, fuel.min(2)),
                        self.expression(element, fuel.min(2)),
                        self.expression(ty, fuel),
                    ];
                    Tree::new(ty.clone(), "first(scan(@, @, @))", parts)
                }
                (Type::Sequence(inner), 1) => {
                    self.note(Feature::FunctionArgument);
                    let parameters = self.parameters_for(inner);
                    let parts = vec![
                        self.function_value(&parameters, inner, fuel.min(2)),
                        self.expression(&Type::sequence(Type::sequence(right_nested(&parameters))), fuel),
                    ];
                    Tree::new(ty.clone(), "each_of(@, @)", parts)
                }
                _ => {
                    self.note(Feature::Map);
                    let parameters = self.parameters_for(element);
                    let parts = vec![
                        self.function_value(&parameters, element, fuel.min(2)),
                        self.expression(&Type::sequence(right_nested(&parameters)), fuel),
                    ];
                    Tree::new(ty.clone(), "map(@, @)", parts)
                }
            },
            _ => self.local_function(ty, fuel),
        }
    }

    /// An expression in which a local function may be called.
    fn local_function(&mut self, ty: &Type, fuel: usize) -> Tree {
        self.note(Feature::LocalFunction);
        let name = self.own_name("h");
        let result = if self.random.chance(60) { ty.clone() } else { self.any_type(1) };
        let parameters = self.parameters();
        let function = self.function_value(&parameters, &result, fuel);
        self.functions.push(Signature { name: name.clone(), parameters, keywords: Vec::new(), result });
        let body = self.expression(ty, fuel);
        self.functions.pop();
        Tree::new(ty.clone(), &format!("(let {name} = @ in @)"), vec![function, body])
    }

    /// A sequence of functions, of which one is called.
    fn element_of_functions(&mut self, ty: &Type, parameters: &[Type], fuel: usize) -> Tree {
        let holes = vec!["@"; parameters.len()].join(", ");
        let mut parts;
        let text;
        if self.random.chance(40) {
            self.note(Feature::FunctionInSequence);
            let function = self.function_value(parameters, ty, fuel.min(2));
            let is_name = function.children().next().is_none();
            let second = match &function.parts[0] {
                // A name, or a call that captures anew.
                Part::Text(name) if is_name || !name.contains("=>") && !name.starts_with("(if") => function.clone(),
                _ => return self.local_function(ty, fuel),
            };
            let which = self.expression(&Type::Int, fuel.min(1));
            parts = vec![function, second, which];
            text = format!("[@, @][mod(@, 2)]({holes})");
        } else {
            self.note(Feature::EachOfFunctions);
            let element = self.any_type(1);
            let (pattern, bound) = self.binding(&element, Feature::EachPattern);
            let source = self.expression(&Type::sequence(element), fuel.min(2));
            let function =
                self.in_each(|this| this.with(&bound, |this| this.function_value(parameters, ty, fuel.min(2))));
            let which = self.expression(&Type::Int, fuel.min(1));
            parts = vec![function, source, which];
            text = format!(
                "(let gs = {{@ : {pattern} in @}} in if #gs == 0 then {} else gs[mod(@, #gs)]({holes}))",
                ty.default_text()
            );
        }
        for parameter in parameters {
            parts.push(self.expression(parameter, fuel.min(2)));
        }
        Tree::new(ty.clone(), &text, parts)
    }
}

/// The type of one argument for all parameters.
fn right_nested(parameters: &[Type]) -> Type {
    match parameters {
        [only] => only.clone(),
        [first, rest @ ..] => Type::pair(first.clone(), right_nested(rest)),
        [] => Type::Unit,
    }
}
