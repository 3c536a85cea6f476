//! Declarations and forms: names first, then types, then bodies, as all may mention what stands below.

use super::{CoreParseProblem, NO_SPAN, Parse, Parser, Sort};
use crate::ast::Symbol;
use crate::core::{Form, Function, FunctionBody, FunctionId, Global, GlobalId, Intrinsic, Keyword, VariableId};
use crate::ty::{Datatype, Scheme, Type};
use std::sync::Arc;

/// A declaration whose name has been read.
struct Declaration {
    sort: Sort,
    id: usize,
    name: Symbol,
    /// Where it goes on.
    offset: usize,
    /// Where the next one begins.
    end: usize,
}

impl Parser<'_> {
    /// All declarations of the text, after what the program has.
    pub(super) fn declarations(&mut self) -> Parse<()> {
        let text = self.cursor.text;
        let begins = |(offset, _): &(usize, &str)| !text[*offset..].starts_with(char::is_whitespace);
        let lines = text.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some((*end - line.len(), line))
        });
        let starts: Vec<usize> = lines.filter(begins).map(|(offset, _)| offset).collect();
        let ends = starts.iter().copied().skip(1).chain([text.len()]);
        let mut datatypes = self.datatypes.len();
        let mut declarations = Vec::with_capacity(starts.len());
        for (&start, end) in starts.iter().zip(ends) {
            self.cursor.offset = start;
            declarations.push(self.declaration(end, &mut datatypes)?);
        }
        let mut bodies = Vec::new();
        for declaration in declarations {
            self.cursor.offset = declaration.offset;
            match declaration.sort {
                Sort::Datatype => self.datatype(&declaration)?,
                Sort::Global => self.program.globals[declaration.id].ty = self.ty()?,
                Sort::Function => {
                    self.head(declaration.id)?;
                    bodies.push((declaration.id, self.cursor.offset, declaration.end));
                    continue;
                }
            }
            self.end(declaration.end)?;
        }
        for (id, offset, end) in bodies {
            self.cursor.offset = offset;
            self.program.functions[id].body = self.body(id)?;
            self.end(end)?;
        }
        Ok(())
    }

    fn declaration(&mut self, end: usize, datatypes: &mut usize) -> Parse<Declaration> {
        let (sort, id) = if self.accept_word("datatype") {
            *datatypes += 1;
            (Sort::Datatype, *datatypes - 1)
        } else if self.accept_word("global") {
            (Sort::Global, self.program.globals.len())
        } else if self.accept_word("function") {
            (Sort::Function, self.program.functions.len())
        } else {
            return Ok(self.cursor.expected("a declaration")?);
        };
        if matches!(sort, Sort::Function) && self.accept_word("value") {
            self.program.function_values.insert(FunctionId(id));
        }
        let name = Symbol::from(self.declared(sort, id)?);
        let ty = Type::Unit;
        match sort {
            Sort::Datatype => {}
            Sort::Global => self.program.globals.push(Global { name: name.clone(), span: NO_SPAN, ty }),
            Sort::Function => self.program.functions.push(Function {
                name: name.clone(),
                span: NO_SPAN,
                scheme: Scheme { classes: Vec::new(), parameter: ty.clone(), result: ty },
                parameters: Vec::new(),
                keywords: Vec::new(),
                body: FunctionBody::Missing,
                doc: None,
            }),
        }
        self.cursor.expect(":")?;
        Ok(Declaration { sort, id, name, offset: self.cursor.offset, end })
    }

    /// The name in a declaration, with the number that it has anyway if one is written.
    fn declared(&mut self, sort: Sort, id: usize) -> Parse<String> {
        let name = self.name()?;
        if self.cursor.rest().starts_with('@') {
            self.cursor.offset += 1;
            if self.cursor.number()? as usize != id {
                return self.fail(CoreParseProblem::Number(id));
            }
        }
        self.known[sort as usize].entry(name.clone()).or_default().push(id);
        Ok(name)
    }

    fn datatype(&mut self, declaration: &Declaration) -> Parse<()> {
        let (payload, classes) = (self.ty()?, self.context()?);
        let datatype = Datatype { name: declaration.name.clone(), id: declaration.id, classes, payload };
        self.datatypes.insert(declaration.id, Arc::new(datatype));
        Ok(())
    }

    /// The scheme of a function and its parameters with defaults.
    fn head(&mut self, id: usize) -> Parse<()> {
        let parameter = self.ty()?;
        self.cursor.expect("->")?;
        let result = self.ty()?;
        let classes = self.context()?;
        let (mut parameters, mut keywords) = (Vec::new(), Vec::new());
        if self.accept_word("with") {
            self.cursor.expect("(")?;
            self.list(")", |parser| {
                if parser.accept_word("_") {
                    parameters.push("_".to_owned());
                    return Ok(());
                }
                let name = Symbol::from(parser.name()?);
                parser.cursor.expect(":=")?;
                let default = FunctionId(parser.reference(Sort::Function)?);
                keywords.push(Keyword { name, text: String::new(), default });
                Ok(())
            })?;
        }
        let function = &mut self.program.functions[id];
        function.scheme = Scheme { classes, parameter, result };
        function.parameters = parameters;
        function.keywords = keywords;
        Ok(())
    }

    fn body(&mut self, id: usize) -> Parse<FunctionBody> {
        self.cursor.expect("=")?;
        if self.accept_word("missing") {
            return Ok(FunctionBody::Missing);
        }
        if self.accept_word("built") {
            self.expect_word("in")?;
            let name = &self.program.functions[id].name;
            let intrinsic = Intrinsic::by_name(name).map(FunctionBody::Intrinsic);
            return intrinsic.map_or_else(|| self.fail(CoreParseProblem::NotBuiltIn(name.to_string())), Ok);
        }
        self.cursor.expect("λ")?;
        self.variables.clear();
        let binder = self.binder()?;
        let parameter = binder.of(Some(self.program.functions[id].scheme.parameter.clone()))?;
        self.cursor.expect(".")?;
        self.bind(&parameter);
        Ok(FunctionBody::Defined { parameter, body: Arc::new(self.expression()?) })
    }

    /// A form: `define f`, `show e`, `assign $a.first = e`.
    pub(super) fn form(&mut self) -> Parse<Form> {
        if self.accept_word("define") {
            return Ok(Form::Function(FunctionId(self.reference(Sort::Function)?)));
        }
        if self.accept_word("show") {
            return Ok(Form::Expression(Arc::new(self.expression()?)));
        }
        self.expect_word("assign")?;
        let mut targets = Vec::new();
        while !self.cursor.accept("=") {
            if !targets.is_empty() {
                self.cursor.expect(",")?;
            }
            self.cursor.expect("$")?;
            let id = GlobalId(self.reference(Sort::Global)?);
            let mut path = Vec::new();
            while self.cursor.accept(".") {
                let is_rest = self.accept_word("rest");
                if !is_rest {
                    self.expect_word("first")?;
                }
                path.push(is_rest);
            }
            targets.push((id, path));
        }
        Ok(Form::Assignment { targets, value: Arc::new(self.expression()?) })
    }

    /// The number of a variable.
    pub(super) fn variable_number(&mut self) -> Parse<VariableId> {
        self.cursor.expect("#")?;
        let number = self.cursor.number()? as usize;
        self.program.variables = self.program.variables.max(number.saturating_add(1));
        Ok(VariableId(number))
    }
}
