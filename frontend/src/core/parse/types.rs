//! Types of core, as [`crate::core::print`] writes them.

use super::{CoreParseProblem, Error, Parse, Parser, Sort};
use crate::core::print::names::continues_word;
use crate::core::print::types::NOBODY;
use crate::ty::{Class, Identity, Type, parameter_name};
use nesl_prim::ScalarType;
use nesl_prim::cursor::Unread;
use std::sync::Arc;

impl Parser<'_> {
    /// A type, or the identity of a function: only where it stands tells which makes sense.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(|parser| {
            if parser.cursor.accept("[") {
                let element = parser.ty()?;
                parser.cursor.expect("]")?;
                return Ok(Type::sequence(element));
            }
            if parser.cursor.accept("(") { parser.parenthesised_type() } else { parser.named_type() }
        })
    }

    /// What stands behind `(`: the unit, a tuple or a function.
    fn parenthesised_type(&mut self) -> Parse<Type> {
        if self.cursor.accept(")") {
            return Ok(Type::Unit);
        }
        let first = self.ty()?;
        if self.cursor.accept("->") {
            let result = self.ty()?;
            self.expect_word("by")?;
            let identity = self.ty()?;
            self.cursor.expect(")")?;
            return Ok(Type::function(first, result, identity));
        }
        self.cursor.expect(",")?;
        let parts = self.list(")", Self::ty)?;
        match parts.into_iter().rev().reduce(|rest, part| Type::pair(part, rest)) {
            Some(rest) => Ok(Type::pair(first, rest)),
            None => Ok(self.cursor.expected("a type")?),
        }
    }

    fn named_type(&mut self) -> Parse<Type> {
        let offset = self.cursor.offset;
        let word = self.cursor.take(continues_word);
        if !word.is_empty() && !self.cursor.rest().starts_with(['(', '[', '{', '@']) {
            return match plain(word) {
                Some(ty) => Ok(ty),
                None => Err(Error { offset, problem: CoreParseProblem::Unread(Unread::Expected("a type")) }),
            };
        }
        // What stands behind a name tells of what it is one.
        self.cursor.offset = offset;
        self.name_or_number()?;
        let is_record = self.cursor.rest().starts_with('(');
        self.cursor.offset = offset;
        if is_record {
            let id = self.reference(Sort::Datatype)?;
            self.cursor.expect("(")?;
            let arguments = self.list(")", Self::ty)?;
            return match self.datatypes.get(&id) {
                Some(datatype) => Ok(Type::Record(Arc::clone(datatype), arguments)),
                None => Err(Error { offset, problem: CoreParseProblem::Unknown(format!("@{id}")) }),
            };
        }
        let function = self.reference(Sort::Function)?;
        let type_arguments = self.type_arguments()?;
        self.cursor.expect("{")?;
        let captured = self.list("}", Self::ty)?;
        Ok(Type::Identity(Arc::new(Identity { function, type_arguments, captured })))
    }

    /// A name or number of anything, for what stands behind it.
    fn name_or_number(&mut self) -> Parse<()> {
        if !self.cursor.rest().starts_with('@') {
            self.name()?;
        }
        if self.cursor.rest().starts_with('@') {
            self.cursor.offset += 1;
            self.cursor.number()?;
        }
        Ok(())
    }

    /// Type arguments in brackets; none without brackets.
    pub(super) fn type_arguments(&mut self) -> Parse<Vec<Type>> {
        if self.cursor.accept("[") { self.list("]", Self::ty) } else { Ok(Vec::new()) }
    }

    /// The classes of type parameters: `:: (a in any; b in function)`; none without them.
    pub(super) fn context(&mut self) -> Parse<Vec<Class>> {
        let mut classes = Vec::new();
        if !self.cursor.accept("::") {
            return Ok(classes);
        }
        self.cursor.expect("(")?;
        loop {
            if !self.accept_word(&parameter_name(classes.len())) {
                return Ok(self.cursor.expected("the next type parameter")?);
            }
            self.expect_word("in")?;
            let all = Class::ALL.into_iter().chain([Class::Function]);
            match all.into_iter().find(|class| self.accept_word(class.name())) {
                Some(class) => classes.push(class),
                None => return Ok(self.cursor.expected("a class")?),
            }
            if self.cursor.accept(")") {
                return Ok(classes);
            }
            self.cursor.expect(";")?;
        }
    }
}

/// A type that is a word.
fn plain(word: &str) -> Option<Type> {
    if word == NOBODY {
        return Some(Type::nobody());
    }
    if let Some(scalar) = ScalarType::ALL.into_iter().find(|scalar| scalar.name() == word) {
        return Some(Type::Scalar(scalar));
    }
    let letter = word.bytes().next().filter(u8::is_ascii_lowercase)?;
    let round: usize = if word.len() == 1 { 0 } else { word[1..].parse().ok()? };
    let index = round.checked_mul(26)?.checked_add(usize::from(letter - b'a'))?;
    (parameter_name(index) == word).then_some(Type::Parameter(index))
}
