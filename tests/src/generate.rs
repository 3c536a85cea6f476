//! Random well-typed programs, as NESL text.
//!
//! A seed gives a program: datatypes, globals, functions (plain, polymorphic, of functions, recursive with an end in
//! sight) and expressions over all of the language, with small data. What could fail is guarded, except in some
//! programs: there one place, or a few, may fail. Programs are trees ([`tree`]) so that [`crate::shrink`] can make them
//! smaller.
//!
//! ```text
//! types.rs       types and datatypes                  feature.rs   what is counted
//! definition.rs  datatypes, globals, functions        tree.rs      programs as trees
//! expression.rs  what all types have, names in scope, patterns
//! scalar.rs, strings.rs, sequence.rs, each.rs, function.rs   expressions by subject
//! ```

mod definition;
mod each;
mod expression;
pub mod feature;
mod function;
mod scalar;
mod sequence;
pub mod shrink;
mod strings;
pub mod tree;
pub mod types;

use crate::random::Random;
use expression::Generator;
use feature::Feature;
use function::HELPERS;
use std::collections::BTreeMap;
use tree::{Form, Tree};
use types::Type;

/// A random program.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The seed that gives it.
    pub seed: u64,
    /// Its forms.
    pub forms: Vec<Form>,
    /// How often it uses what.
    pub features: BTreeMap<Feature, usize>,
}

impl Generated {
    /// Its text.
    pub fn text(&self) -> String {
        tree::text(&self.forms)
    }
}

/// The program of a seed.
pub fn program(seed: u64) -> Generated {
    let mut random = Random::new(seed);
    // Most programs cannot fail; of the others most have one place that may.
    let sites = match random.below(100) {
        0..65 => 0,
        65..82 => 1,
        _ => 3,
    };
    let mut generator = Generator::new(random, sites);
    let mut forms: Vec<Form> = HELPERS
        .iter()
        .map(|(head, body)| definition::definition((*head).to_owned(), Tree::leaf(Type::Int, *body)))
        .collect();
    for index in 0..generator.random.below(3) {
        forms.push(generator.datatype(&format!("d{index}")));
    }
    for index in 0..generator.random.below(3) {
        forms.append(&mut generator.global(index));
    }
    for index in 0..1 + generator.random.below(3) {
        forms.append(&mut generator.function(index));
    }
    // Globals that are made by functions.
    if generator.random.chance(40) {
        forms.append(&mut generator.global(9));
    }
    generator.runs_once = true;
    for _ in 0..2 + generator.random.below(3) {
        forms.push(Form { head: String::new(), tree: expression(&mut generator), is_needed: false });
    }
    Generated { seed, forms, features: generator.features }
}

/// An expression that is printed.
fn expression(generator: &mut Generator) -> Tree {
    let tree = match generator.random.chance(15) {
        true => {
            let levels = 3 + generator.random.below(2);
            let innermost = generator.any_type(1);
            generator.nest(levels, &innermost, 2)
        }
        false => {
            let ty = generator.any_type(3);
            generator.expression(&ty, 5)
        }
    };
    // The seed can be set only here, outside of functions and apply-to-eaches.
    if !generator.random.chance(8) {
        return tree;
    }
    generator.note(Feature::RandSeed);
    let seed = generator.expression(&Type::Int, 1);
    Tree::new(tree.ty.clone(), "let done = rand_seed(@) in @", vec![seed, tree])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_program_always() {
        assert_eq!(program(7).text(), program(7).text());
        assert_ne!(program(7).text(), program(8).text());
    }

    #[test]
    fn programs_are_well_typed() {
        for seed in 0..200 {
            let text = program(seed).text();
            if let Err(end) = crate::session::check(&text, None) {
                panic!("seed {seed}: {end}\n{text}");
            }
        }
    }
}
