//! Random well-typed programs, as NESL text.
//!
//! A seed gives a program: globals, functions (plain, polymorphic, recursive with an end in sight) and expressions over all
//! of the language, with small data. What could fail is guarded, except in some programs: there one place, or a few, may
//! fail. Programs are trees ([`tree`]) so that [`crate::shrink`] can make them smaller; [`expression`] makes trees of a type.

mod expression;
pub mod tree;

use crate::random::Random;
use expression::{Generator, Signature};
use tree::{Form, Tree, Type};

/// A random program.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The seed that gives it.
    pub seed: u64,
    /// Its forms.
    pub forms: Vec<Form>,
    /// Whether at most one place in it can fail.
    pub single_site: bool,
}

impl Generated {
    /// Its text.
    pub fn text(&self) -> String {
        tree::text(&self.forms)
    }
}

/// Polymorphic helpers, used at many types: head of the definition and body.
const HELPERS: [(&str, &str); 5] = [
    ("function pick_of(c, x, y)", "if c then x else y"),
    ("function around(x, v)", "[x] ++ v ++ [x]"),
    ("function apart(v)", "{[x] : x in v}"),
    ("function pairs_of(v)", "{(x, i) : x in v; i in [0:#v]}"),
    ("function halves(v)", "if #v < 2 then v else let p = bottop(v) in p[1] ++ p[0]"),
];

/// The program of a seed.
pub fn program(seed: u64) -> Generated {
    let mut random = Random::new(seed);
    // Most programs cannot fail; of the others most have one place that may.
    let sites = match random.below(100) {
        0..75 => 0,
        75..95 => 1,
        _ => 3,
    };
    let mut generator = Generator::new(random, sites);
    let mut forms: Vec<Form> = HELPERS
        .iter()
        .map(|(head, body)| Form { head: format!("{head} = "), tree: Tree::leaf(Type::Int, *body), is_needed: true })
        .collect();
    for index in 0..generator.random.below(3) {
        let ty = generator.any_type(3);
        let tree = generator.expression(&ty, 3);
        forms.push(Form { head: format!("g{index} = "), tree, is_needed: true });
        generator.define(format!("g{index}"), ty);
    }
    for index in 0..1 + generator.random.below(3) {
        forms.push(function(&mut generator, index));
    }
    for _ in 0..2 + generator.random.below(3) {
        let ty = generator.any_type(3);
        forms.push(Form { head: String::new(), tree: generator.expression(&ty, 5), is_needed: false });
    }
    Generated { seed, forms, single_site: sites <= 1 }
}

/// A function of some parameters and result. Some are recursive: on a small number that falls, or on halves of a sequence.
fn function(generator: &mut Generator, index: usize) -> Form {
    let name = format!("f{index}");
    let result = generator.any_type(2);
    let (head, parameters, body) = match generator.random.below(4) {
        0 => {
            let extra = generator.any_type(2);
            let parameters = vec![("n".to_owned(), Type::Int), ("x".to_owned(), extra.clone())];
            let base = generator.inside(&parameters, |generator| generator.expression(&result, 2));
            let step = generator.inside(&parameters, |generator| generator.expression(&extra, 2));
            let mut scope = parameters.clone();
            scope.push(("r".to_owned(), result.clone()));
            let combined = generator.inside(&scope, |generator| generator.expression(&result, 2));
            let text = format!("if n <= 0 then (@) else let r = {name}(min(n, 4) - 1, @) in @");
            (
                format!("function {name}(n, x) = "),
                parameters,
                Tree::new(result.clone(), &text, vec![base, step, combined]),
            )
        }
        1 => {
            let element = generator.any_type(1);
            let parameters = vec![("v".to_owned(), Type::sequence(element.clone()))];
            let base = generator.inside(&parameters, |generator| generator.expression(&result, 2));
            let mut scope = parameters.clone();
            scope.push(("r".to_owned(), Type::sequence(result.clone())));
            let combined = generator.inside(&scope, |generator| generator.expression(&result, 2));
            let text = format!("if #v < 2 then (@) else let r = {{{name}(w) : w in bottop(take(v, min(#v, 6)))}} in @");
            (format!("function {name}(v) = "), parameters, Tree::new(result.clone(), &text, vec![base, combined]))
        }
        _ => {
            let count = 1 + generator.random.below(3);
            let parameters: Vec<(String, Type)> =
                (0..count).map(|number| (format!("p{number}"), generator.any_type(2))).collect();
            let body = generator.inside(&parameters, |generator| generator.expression(&result, 4));
            let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
            (format!("function {name}({}) = ", names.join(", ")), parameters, body)
        }
    };
    let types: Vec<Type> = parameters.into_iter().map(|(_, ty)| ty).collect();
    // The signature keeps literals such as `[]` and unused parameters at the types that calls are made for.
    let texts: Vec<String> = types.iter().map(ToString::to_string).collect();
    let parameter = if texts.len() == 1 { texts[0].clone() } else { format!("({})", texts.join(", ")) };
    let head = format!("{} : {parameter} -> {result} = ", head.trim_end_matches(" = "));
    generator.functions.push(Signature { name, parameters: types, result });
    Form { head, tree: body, is_needed: true }
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
