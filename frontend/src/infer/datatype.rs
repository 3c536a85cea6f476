//! Datatypes: their definitions, and their names in types.

use super::problem::definition::DefinitionProblem;
use super::problem::meeting::Meeting;
use super::problem::names::NameProblem;
use super::problem::warning::Warning;
use super::{DatatypeMeaning, Inference, Outcome};
use crate::ast::{DatatypeDefinition, Name, TopLevelKind, TypeExpr, TypeExprKind};
use crate::core::{Expr, ExprKind, Form, Function, FunctionBody, Variable};
use crate::elaborate::{Export, Group};
use crate::ty::{Class, Datatype, Scheme, Type};
use crate::typed::types::{TypeId, Types};
use nesl_span::Span;
use std::sync::Arc;

/// Longer types are not shown as parameters of constructors.
const LONGEST_SHOWN: usize = 30;

impl Inference<'_> {
    /// Checks definitions of datatypes; more than one only if they refer to each other, which is an error.
    pub(super) fn datatypes(&mut self, group: &[usize]) {
        let forms = self.forms;
        for &form in group {
            self.form = form;
            let TopLevelKind::Datatype(definition) = &forms[form].kind else { continue };
            self.datatype_definition(form, definition);
            self.signature.clear();
        }
    }

    fn datatype_definition(&mut self, form: usize, definition: &DatatypeDefinition) {
        let name = &definition.name;
        let variables = self.context(&definition.payload.context);
        let written = &definition.payload.type_expr;
        // Which functions the payload holds is for the uses of the type to say: each is a parameter of it.
        let payload = self.type_expression(written);
        if self.types.has_error(payload) {
            self.outcomes[form] = Outcome::Broken;
            return;
        }
        let mut parameters: Vec<TypeId> = variables.iter().map(|(_, _, variable)| *variable).collect();
        self.types.collect_variables(payload, &mut parameters);
        let group = Group::new();
        let mut export = Export::new(&self.types, &parameters, &group);
        let (classes, payload) = (export.classes(), export.ty(payload));
        let id = self.environment.datatype_count;
        self.environment.datatype_count += 1;
        let datatype = Arc::new(Datatype { name: name.symbol.clone(), id, classes, payload });
        let constructor = self.environment.reserve(name.symbol.clone(), name.span);
        let function = self.constructor(&datatype, definition);
        if self.text.datatypes_of(&name.symbol).first() != Some(&form)
            || self.environment.datatypes.contains_key(&name.symbol)
        {
            self.report(name.span, Warning::DatatypeTwice(name.symbol.clone()));
        } else {
            self.warn_definition(form, &name.symbol, name.span, false);
        }
        self.install(constructor, function, false);
        self.environment.constructors.insert(constructor);
        self.outcomes[form] = Outcome::Datatype(constructor, datatype);
        self.results[form] = Some(Form::Function(constructor));
    }

    /// The function that constructs records.
    fn constructor(&mut self, datatype: &Arc<Datatype>, definition: &DatatypeDefinition) -> Function {
        let span = definition.name.span;
        let arguments = (0..datatype.classes.len()).map(Type::Parameter).collect();
        let record = Type::Record(Arc::clone(datatype), arguments);
        let parameter = Variable { id: self.new_variable(), name: "payload".into(), ty: datatype.payload.clone() };
        let payload = Expr { kind: ExprKind::Variable(parameter.id), ty: datatype.payload.clone(), span };
        let body = Expr { kind: ExprKind::Construct(Box::new(payload)), ty: record.clone(), span };
        let written = |ty: &TypeExpr| {
            let text = self.writing.on_one_line(ty.span);
            if text.is_empty() || text.len() > LONGEST_SHOWN { "…".to_owned() } else { text }
        };
        let parameters = match &definition.payload.type_expr.kind {
            TypeExprKind::Unit => Vec::new(),
            TypeExprKind::Tuple(parts) => parts.iter().map(written).collect(),
            _ => vec![written(&definition.payload.type_expr)],
        };
        Function {
            name: definition.name.symbol.clone(),
            span,
            scheme: Scheme { classes: datatype.classes.clone(), parameter: datatype.payload.clone(), result: record },
            parameters,
            keywords: Vec::new(),
            body: FunctionBody::Defined { parameter, body: Arc::new(body) },
            doc: None,
        }
    }

    /// A datatype at written types: `name(t1, t2)`.
    pub(super) fn record_type(&mut self, name: &Name, arguments: &[TypeExpr], span: Span) -> TypeId {
        self.note_datatype(name);
        let types: Vec<TypeId> = arguments.iter().map(|argument| self.type_expression(argument)).collect();
        let datatype = match self.datatype(&name.symbol) {
            DatatypeMeaning::Known(datatype) => datatype,
            DatatypeMeaning::Broken => return Types::ERROR,
            DatatypeMeaning::Recursive => {
                self.report(name.span, DefinitionProblem::RecursiveDatatype(name.symbol.clone()));
                return Types::ERROR;
            }
            DatatypeMeaning::Unknown => {
                if !self.unreadable {
                    self.report_unknown_type(name, arguments.is_empty());
                }
                return Types::ERROR;
            }
        };
        let wanted = datatype.classes.iter().filter(|class| **class != Class::Function).count();
        if wanted != types.len() {
            let (name, given) = (datatype.name.clone(), types.len());
            self.report(span, DefinitionProblem::TypeArguments { name, wanted, given });
            return Types::ERROR;
        }
        let mut given = types.into_iter().zip(arguments);
        let mut parameters = Vec::with_capacity(datatype.classes.len());
        for &class in &datatype.classes {
            if class == Class::Function {
                parameters.push(self.fresh_identity());
            } else if let Some((ty, written)) = given.next() {
                let variable = self.types.variable(class);
                if let Err(failure) = self.types.unify(ty, variable) {
                    self.report_meeting(written.span, failure, Meeting::TypeArgument(datatype.name.clone()));
                    return Types::ERROR;
                }
                parameters.push(variable);
            }
        }
        self.types.record(&datatype, &parameters)
    }

    fn report_unknown_type(&mut self, name: &Name, may_be_variable: bool) {
        // One report for each name is enough.
        self.signature.insert(name.symbol.clone(), Types::ERROR);
        self.report(name.span, NameProblem::UnknownType { name: name.symbol.clone(), may_be_variable });
    }
}
