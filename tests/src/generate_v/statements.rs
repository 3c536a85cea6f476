//! Statements, functions and `main`.

use super::types::Type;
use super::{Function, Generator, Variable};

/// What effects are tried with: functions that change what they are given.
const HELPERS: &str = "\
void bump(int *x, int y) {
  *x += y;
}
bool put(int (*v)[*], int i, int x) {
  if ($*v == 0) return false;
  (*v)[mod(i, $*v)] = x;
  return true;
}
void shift(struct p *s, int by) {
  s->a -= by;
}
";

impl Generator {
    pub(super) fn program(&mut self) {
        self.text += &self.structure.text();
        let value = self.expression(&Type::Int, 2);
        self.text += &format!("int limit = {value};\n");
        self.bind("limit", &Type::Int);
        self.text += HELPERS;
        for _ in 0..1 + self.random.below(3) {
            self.function();
        }
        self.text += "void main() {\n";
        self.blocks = 1;
        self.acts = true;
        let known = self.scope.len();
        for _ in 0..3 + self.random.below(5) {
            self.statement(3);
        }
        for variable in self.scope.split_off(known) {
            self.line(&format!("printf(\"%v\\n\", {});", variable.name));
        }
        for function in self.functions.clone() {
            let arguments: Vec<String> = function
                .parameters
                .iter()
                .map(|ty| if *ty == Type::Int { "3".to_owned() } else { self.expression(ty, 1) })
                .collect();
            self.line(&format!("printf(\"%v\\n\", {}({}));", function.name, arguments.join(", ")));
        }
        self.text += "}\n";
    }

    fn line(&mut self, text: &str) {
        self.text += &format!("{}{text}\n", "  ".repeat(self.blocks));
    }

    /// Statements in braces, behind a head.
    fn block(&mut self, head: &str, statements: usize, depth: usize) {
        self.line(&format!("{head}{{"));
        self.blocks += 1;
        let known = self.scope.len();
        for _ in 0..statements {
            self.statement(depth);
        }
        self.scope.truncate(known);
        self.blocks -= 1;
    }

    fn function(&mut self) {
        let (name, result) = (self.name("f"), Type::random(&mut self.random));
        let is_recursive = self.random.chance(25);
        let mut parameters: Vec<Type> = if is_recursive { vec![Type::Int] } else { Vec::new() };
        for _ in 0..1 + self.random.below(3) {
            parameters.push(Type::random(&mut self.random));
        }
        let known = self.scope.len();
        let mut declared = Vec::new();
        for (index, ty) in parameters.iter().enumerate() {
            let parameter = self.name("a");
            declared.push(ty.declared(&parameter));
            let is_changed = !(is_recursive && index == 0);
            let variable = Variable { name: parameter, ty: ty.clone(), is_assigned: is_changed, is_changed };
            self.scope.push(variable);
        }
        let dimensions = result.dimensions();
        let behind = if dimensions.is_empty() { String::new() } else { format!(" {dimensions}") };
        self.text += &format!("pure {} {name}({}){behind} {{\n", result.base(), declared.join(", "));
        self.blocks = 1;
        let own: Vec<Variable> = self.scope[known..].to_vec();
        let function =
            Function { name: name.clone(), parameters: parameters.clone(), result: result.clone(), is_recursive };
        if is_recursive {
            let value = self.expression(&result, 2);
            self.line(&format!("if ({} <= 0) return {value};", own[0].name));
        }
        self.returns = Some(result.clone());
        for _ in 0..2 + self.random.below(5) {
            self.statement(3);
        }
        self.returns = None;
        let value = match is_recursive {
            true => {
                let mut arguments = vec![format!("{} - 1", own[0].name)];
                arguments.extend(own[1..].iter().map(|variable| variable.name.clone()));
                format!("{name}({})", arguments.join(", "))
            }
            false => self.expression(&result, 3),
        };
        self.line(&format!("return {value};"));
        self.text += "}\n";
        self.scope.truncate(known);
        self.functions.push(function);
    }

    /// A statement, perhaps with others in it.
    pub(super) fn statement(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 12 } else { 20 }) {
            0..4 => self.declaration(),
            4..11 => self.change(),
            11 => self.leave(),
            12..15 => self.branch(depth - 1),
            15..19 => self.repetition(depth - 1),
            _ => {
                self.block("", 2, depth - 1);
                self.line("}");
            }
        }
    }

    fn declaration(&mut self) {
        let name = self.name("v");
        let (ty, is_array) = match self.random.chance(10) {
            true => (Type::vector(Type::Int), true),
            false => (Type::random(&mut self.random), false),
        };
        match is_array {
            true => self.line(&format!("int {name}[{}];", 1 + self.names % 5)),
            false => {
                let value = self.expression(&ty, 3);
                self.line(&format!("{} = {value};", ty.declared(&name)));
            }
        }
        self.scope.push(Variable { name, ty, is_assigned: !is_array, is_changed: true });
    }

    /// Something of a variable changes.
    fn change(&mut self) {
        let known: Vec<Variable> = self.scope.iter().filter(|variable| variable.is_changed).cloned().collect();
        if known.is_empty() {
            return self.declaration();
        }
        let Variable { name, ty, is_assigned, .. } = self.random.pick(&known).clone();
        if self.acts && self.random.chance(30) {
            return self.called_for_change(&name, &ty);
        }
        match &ty {
            Type::Vector(element) if !is_assigned || self.random.chance(70) => self.element(&name, element),
            Type::Struct if self.random.chance(70) => self.field(&name),
            _ => {
                let value = self.expression(&ty, 3);
                self.assignment(&name, &ty, &value);
            }
        }
    }

    /// An assignment, by one of its operators.
    fn assignment(&mut self, place: &str, ty: &Type, value: &str) {
        let line = match ty {
            Type::Int if self.random.chance(25) => format!("{place}{};", self.random.pick(&["++", "--"])),
            Type::Int if self.random.chance(40) => {
                format!("{place} {} {value};", self.random.pick(&["+=", "-=", "*=", "&=", "|=", "^="]))
            }
            Type::Double if self.random.chance(40) => {
                format!("{place} {} {value};", self.random.pick(&["+=", "-=", "*="]))
            }
            _ => format!("{place} = {value};"),
        };
        self.line(&line);
    }

    /// An element of a vector changes, or something of it.
    fn element(&mut self, name: &str, element: &Type) {
        let index = self.expression(&Type::Int, 1);
        if self.failures > 0 && self.random.chance(20) {
            self.failures -= 1;
            let value = self.expression(element, 2);
            return self.line(&format!("{name}[{index}] = {value};"));
        }
        self.line(&format!("if (${name} > 0) {{"));
        self.blocks += 1;
        let at = self.name("k");
        self.line(&format!("int {at} = mod({index}, ${name});"));
        let place = format!("{name}[{at}]");
        match element {
            Type::Vector(inner) if self.random.chance(75) => self.element(&place, inner),
            Type::Struct if self.random.chance(75) => self.field(&place),
            _ => {
                let value = self.expression(element, 2);
                self.assignment(&place, element, &value);
            }
        }
        self.blocks -= 1;
        self.line("}");
    }

    /// A field of a struct changes, or an element of it.
    fn field(&mut self, place: &str) {
        let (field, ty) = self.random.pick(&self.structure.0).clone();
        let place = format!("{place}.{field}");
        match &ty {
            Type::Vector(element) if self.random.chance(70) => self.element(&place, element),
            _ => {
                let value = self.expression(&ty, 2);
                self.assignment(&place, &ty, &value);
            }
        }
    }

    /// A function changes a variable, or something is printed.
    fn called_for_change(&mut self, name: &str, ty: &Type) {
        let number = self.expression(&Type::Int, 1);
        match ty {
            Type::Int => self.line(&format!("bump(&{name}, {number});")),
            Type::Struct => self.line(&format!("shift(&{name}, {number});")),
            Type::Vector(element) if **element == Type::Int => {
                let done = self.name("v");
                self.line(&format!("bool {done} = put(&{name}, {number}, 5);"));
            }
            Type::Vector(element) if **element == Type::Char => {
                self.line(&format!("printf(\"%s|%3d\\n\", {name}, {number});"))
            }
            _ => self.line(&format!("printf(\"%v %d\\n\", {name}, {number});")),
        }
    }

    /// Control goes on elsewhere.
    fn leave(&mut self) {
        let condition = self.expression(&Type::Bool, 2);
        let value = self.returns.clone().map(|ty| self.expression(&ty, 2));
        let way = match (self.loops > 0, self.random.below(3), value) {
            (true, 0, _) => "break".to_owned(),
            (true, 1, _) => "continue".to_owned(),
            (_, _, Some(value)) => format!("return {value}"),
            (true, ..) => "break".to_owned(),
            _ => return self.declaration(),
        };
        self.line(&format!("if ({condition}) {way};"));
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.expression(&Type::Bool, 2);
        let count = 1 + self.random.below(2);
        self.block(&format!("if ({condition}) "), count, depth);
        if self.random.chance(50) {
            self.line("}");
            let count = 1 + self.random.below(2);
            self.block("else ", count, depth);
        }
        self.line("}");
    }

    /// A loop of a few turns.
    fn repetition(&mut self, depth: usize) {
        let (turn, turns) = (self.name("t"), 1 + self.random.below(4));
        let count = 1 + self.random.below(3);
        if self.loops > 1 {
            return self.branch(depth);
        }
        let known = self.scope.len();
        let condition = self.expression(&Type::Bool, 1);
        let form = self.random.below(3);
        if form > 0 {
            self.line(&format!("int {turn} = 0;"));
        }
        self.bind(&turn, &Type::Int);
        self.loops += 1;
        match form {
            0 => self.block(&format!("for (int {turn} = 0; {turn} < {turns}; {turn}++) "), 0, 0),
            1 => self.block(&format!("while ({turn} < {turns} && ({turn} == 0 || {condition})) "), 0, 0),
            _ => self.block("do ", 0, 0),
        }
        self.blocks += 1;
        if form > 0 {
            self.line(&format!("{turn}++;"));
        }
        for _ in 0..count {
            self.statement(depth);
        }
        self.blocks -= 1;
        self.line(&if form == 2 { format!("}} while ({turn} < {turns});") } else { "}".to_owned() });
        self.loops -= 1;
        self.scope.truncate(known);
        // What was declared before the loop stays known.
        if form > 0 {
            self.bind(&turn, &Type::Int);
        }
    }
}
