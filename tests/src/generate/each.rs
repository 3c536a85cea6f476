//! Random apply-to-eaches.

use super::expression::Generator;
use super::feature::Feature;
use super::tree::Tree;
use super::types::Type;

impl Generator {
    /// Makes something within one more apply-to-each.
    pub(super) fn in_each<T>(&mut self, make: impl FnOnce(&mut Generator) -> T) -> T {
        match self.each_depth + 1 {
            3 => self.note(Feature::Deep),
            4.. => self.note(Feature::Deepest),
            _ => {}
        }
        self.deeper(1, make)
    }

    /// Makes something that runs as often as within so many more apply-to-eaches.
    pub(super) fn deeper<T>(&mut self, levels: usize, make: impl FnOnce(&mut Generator) -> T) -> T {
        if self.each_depth == 0 {
            self.invariant = self.locals.len();
        }
        self.each_depth += levels;
        let made = make(self);
        self.each_depth -= levels;
        made
    }

    /// A source, and the type of its elements; often a sequence in scope.
    fn source(&mut self, fuel: usize) -> (Tree, Type) {
        let in_scope = self.visible().into_iter().filter_map(|(name, ty, varies)| match ty {
            Type::Sequence(element) => Some((name.to_owned(), (**element).clone(), varies)),
            _ => None,
        });
        let in_scope: Vec<(String, Type, bool)> = in_scope.collect();
        if !in_scope.is_empty() && self.random.chance(40) {
            // The innermost stand first.
            let last = in_scope.len().min(3);
            let (name, element, varies) = self.random.pick(&in_scope[..last]).clone();
            if varies {
                self.note(Feature::Ragged);
            }
            return (Tree::leaf(Type::sequence(element.clone()), name), element);
        }
        let element = self.any_type(2);
        (self.expression(&Type::sequence(element.clone()), fuel), element)
    }

    /// An apply-to-each whose elements are of a type.
    pub(super) fn each(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        let (source, source_type) = self.source(fuel);
        let (pattern, mut bound) = self.binding(&source_type, Feature::EachPattern);
        match self.random.below(8) {
            // Two sources of the same length, and the place.
            0 | 1 => {
                self.note(Feature::TwoSources);
                bound.push(("i".to_owned(), Type::Int));
                let body = self.in_each(|this| this.with(&bound, |this| this.expression(element, fuel)));
                Tree::new(ty, &format!("(let s = @ in {{@ : {pattern} in s; i in [0:#s]}})"), vec![source, body])
            }
            // A filter.
            2 | 3 => {
                self.note(Feature::Filter);
                let (body, filter) = self.in_each(|this| {
                    let body = this.with(&bound, |this| this.expression(element, fuel));
                    (body, this.with(&bound, |this| this.expression(&Type::Bool, fuel.min(3))))
                });
                Tree::new(ty, &format!("{{@ : {pattern} in @ | @}}"), vec![body, source, filter])
            }
            // Short form: elements that pass.
            4 => {
                self.note(Feature::Filter);
                let source = self.expression(&ty, fuel);
                let name = self.name();
                let bound = [(name.clone(), element.clone())];
                let filter = self.in_each(|this| this.with(&bound, |this| this.expression(&Type::Bool, fuel.min(3))));
                Tree::new(ty, &format!("{{{name} in @ | @}}"), vec![source, filter])
            }
            // One element after the other.
            5 => {
                self.note(Feature::SerialEach);
                let body = self.in_each(|this| this.with(&bound, |this| this.expression(element, fuel)));
                Tree::new(ty, &format!("{{* @ : {pattern} in @}}"), vec![body, source])
            }
            _ => {
                let body = self.in_each(|this| this.with(&bound, |this| this.expression(element, fuel)));
                Tree::new(ty, &format!("{{@ : {pattern} in @}}"), vec![body, source])
            }
        }
    }

    /// Apply-to-eaches within each other, each over a source that the outer ones may make vary.
    pub(super) fn nest(&mut self, levels: usize, innermost: &Type, fuel: usize) -> Tree {
        let (source, source_type) = self.source(fuel.min(2));
        let (pattern, bound) = self.binding(&source_type, Feature::EachPattern);
        let body = self.in_each(|this| {
            this.with(&bound, |this| match levels {
                0 | 1 => this.expression(innermost, fuel),
                _ => this.nest(levels - 1, innermost, fuel),
            })
        });
        Tree::new(Type::sequence(body.ty.clone()), &format!("{{@ : {pattern} in @}}"), vec![body, source])
    }
}
