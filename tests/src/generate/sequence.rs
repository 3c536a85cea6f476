//! Random sequences: parts, places, orders, scans and nesting.

use super::expression::{DEEPEST, Generator};
use super::feature::Feature;
use super::tree::Tree;
use super::types::Type;

impl Generator {
    pub(super) fn sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        if self.risks() {
            return self.risky_sequence(element, fuel);
        }
        match self.random.below(34) {
            0..11 if self.each_depth < DEEPEST => self.each(element, fuel),
            11 => self.filled(ty.clone(), "(@ ++ @)", &ty, fuel),
            12..15 => self.part_of_sequence(element, fuel),
            15 => {
                let text = *self.random.pick(&[
                    "reverse(@)",
                    "odd_elts(@)",
                    "even_elts(@)",
                    "(let s = @ in interleave(s, s))",
                    "(let s = @ in flag_merge({oddp(i) : i in [0:#s]}, even_elts(s), odd_elts(s)))",
                    "(let s = @ in first(unzip({(e, #s) : e in s})))",
                    "(let s = @ in cond_put(s, [0:#s], {oddp(i) : i in [0:#s]}, reverse(s)))",
                    "rest((0, @))",
                ]);
                self.filled(ty.clone(), text, &ty, fuel)
            }
            16 | 17 => {
                let text = *self.random.pick(&[
                    "rotate(@, @)",
                    "(let s = @; k = @ in permute(s, {mod(i + mod(k, 9), #s) : i in [0:#s]}))",
                ]);
                let parts = vec![self.expression(&ty, fuel), self.expression(&Type::Int, fuel.min(2))];
                Tree::new(ty, text, parts)
            }
            18 => {
                let parts = vec![self.expression(element, fuel), self.expression(&Type::Int, fuel.min(2))];
                Tree::new(ty, "dist(@, mod(@, 4))", parts)
            }
            19 => {
                let nested = self.expression(&Type::sequence(ty.clone()), fuel);
                Tree::new(ty, "flatten(@)", vec![nested])
            }
            20 => {
                let indices = self.expression(&Type::sequence(Type::Int), fuel);
                let text = *self.random.pick(&[
                    "(let s = @ in s -> {mod(i, #s) : i in @ | #s > 0})",
                    "(let s = @ in get(s, {mod(i, #s) : i in @ | #s > 0}))",
                ]);
                Tree::new(ty.clone(), text, vec![self.expression(&ty, fuel), indices])
            }
            21 | 22 => {
                self.note(Feature::Write);
                let pairs = self.expression(&Type::sequence(Type::pair(Type::Int, element.clone())), fuel);
                let text = *self.random.pick(&[
                    "(let s = @ in s <- {(mod(i, #s), e) : (i, e) in @ | #s > 0})",
                    "(let s = @ in eput(s, {(mod(i, #s), e) : (i, e) in @ | #s > 0}))",
                ]);
                Tree::new(ty.clone(), text, vec![self.expression(&ty, fuel), pairs])
            }
            23 => {
                let parts = vec![self.expression(&ty, fuel), self.expression(element, fuel)];
                let text = *self.random.pick(&[
                    "(let s = @ in if #s == 0 then s else rep(s, @, #s / 2))",
                    "previous(@, @)",
                    "next(@, @)",
                    "snoc(@, @)",
                ]);
                Tree::new(ty, text, parts)
            }
            24 => {
                let element = element.clone();
                let keep = |generator: &mut Generator| {
                    let locals = [("e".to_owned(), element.clone()), ("i".to_owned(), Type::Int)];
                    generator.with(&locals, |generator| generator.expression(&Type::Bool, fuel.min(3)))
                };
                let parts = vec![self.expression(&ty, fuel), keep(self)];
                Tree::new(ty, "(let s = @ in pack({(e, oddp(i) or @) : e in s; i in [0:#s]}))", parts)
            }
            _ => self.special_sequence(element, fuel),
        }
    }

    /// A sequence operation whose arguments may not be right.
    fn risky_sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        let indices = Type::sequence(Type::Int);
        if self.random.chance(40) {
            return self.far_sequence(ty, fuel);
        }
        let (text, second) = match self.random.below(10) {
            0 => ("take(@, @)", Type::Int),
            1 => ("subseq(@, 1, @)", Type::Int),
            2 => ("drop(@, @)", Type::Int),
            3 => ("(@ -> @)", indices),
            4 => ("{x in @; i in @}", indices),
            5 => ("permute(@, @)", indices),
            6 => ("flatten(partition(@, @))", indices),
            7 => ("interleave(@, @)", ty.clone()),
            8 => {
                let parts = vec![self.expression(&ty, fuel), self.expression(&Type::Int, fuel.min(2))];
                return Tree::new(ty, &format!("rep(@, {}, @)", element.default_text()), parts);
            }
            _ => ("(@ <- @)", Type::sequence(Type::pair(Type::Int, element.clone()))),
        };
        let parts = vec![self.expression(&ty, fuel), self.expression(&second, fuel.min(2))];
        Tree::new(ty, text, parts)
    }

    /// A sequence operation on lengths and indices at boundaries: some add up to the right ones if sums wrap.
    fn far_sequence(&mut self, ty: Type, fuel: usize) -> Tree {
        const TEXTS: [&str; 12] = [
            "(let s = @; n = @ in flatten(partition(s, [n, max_int - n, max_int, #s + 2])))",
            "(let s = @; n = @ in partition(s, [n, #s - n])[0])",
            "(let s = @; n = @ in if n < 1 then s else s ++ partition(s, [n, max_int, max_int, #s + 2 - n])[0])",
            "(let s = @ in flatten({take(p, 1) : p in partition(s, [@, 0, #s])}))",
            "take(@, @)",
            "drop(@, @)",
            "(let n = @ in subseq(@, n, n + 1))",
            "(@ -> [0, @])",
            "rotate(@, @)",
            "(let s = @ in group_by(s, @)[0])",
            "(let s = @ in permute(s, {i xor @ : i in [0:#s]}))",
            "flatten(dist(@, @))",
        ];
        self.note(Feature::WrappingLengths);
        let text = *self.random.pick(&TEXTS);
        let mut parts = vec![self.expression(&ty, fuel), self.boundaries(fuel.min(2))];
        if text.starts_with("(let n") {
            parts.reverse();
        }
        Tree::new(ty, text, parts)
    }

    /// A part of a sequence, or a part of a part.
    fn part_of_sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        const PARTS: [&str; 5] = [
            "take(s, mod(k, #s + 1))",
            "drop(s, -mod(k, #s + 1))",
            "drop(s, mod(k, #s + 1))",
            "(let n = mod(k, #s + 1) in subseq(s, n / 2, n))",
            "(s -> {mod(k + i, #s) : i in [0:#s / 2 + #s]})",
        ];
        let ty = Type::sequence(element.clone());
        let parts = vec![self.expression(&Type::Int, fuel.min(2)), self.expression(&ty, fuel)];
        let count = 1 + self.random.below(3);
        if count > 1 {
            self.note(Feature::Views);
        }
        let mut bindings = String::new();
        for _ in 1..count {
            bindings = format!("{bindings}; s = {}", self.random.pick(&PARTS));
        }
        // Small numbers, so that no sum of them is too large.
        let text = format!("(let k = mod(@, 9); s = @{bindings} in {})", self.random.pick(&PARTS));
        Tree::new(ty, &text, parts)
    }

    /// Something of thousands of elements: many blocks of a sum, many of every engine's. What is left of it is small.
    pub(super) fn long(&mut self, ty: &Type, fuel: usize) -> Tree {
        let element = match ty {
            Type::Sequence(element) => &**element,
            other => other,
        };
        let count = self.expression(&Type::Int, 1);
        let longest = if self.each_depth == 0 { 20_000 } else { 3_000 };
        self.note(Feature::Long);
        let locals = [("i".to_owned(), Type::Int)];
        // What runs so often has no loops.
        let body = self.deeper(DEEPEST, |this| this.with(&locals, |this| this.expression(element, fuel.min(2))));
        let all = format!("{{@ : i in [0:1000 + mod(@, {longest})]}}");
        let text = match (ty, element) {
            (Type::Sequence(_), Type::Int) => self.random.pick(&["sort(s)", "plus_scan(s)", "rank(s)", "s"]),
            (Type::Sequence(_), Type::Float) => self.random.pick(&["sort(s)", "plus_scan(s)", "mult_scan(s)", "s"]),
            (Type::Sequence(_), _) => self.random.pick(&["reverse(s)", "odd_elts(s)", "flatten(bottop(s))", "s"]),
            (_, Type::Int) => self.random.pick(&["sum(s)", "max_val(s)", "parity(s)", "min_index(s)"]),
            (_, Type::Float) => self.random.pick(&["sum(s)", "product(s)", "min_val(s)", "median(s)"]),
            (_, Type::Bool) => self.random.pick(&["any(s)", "all(s)", "parity(s)", "s[#s - 1]"]),
            _ => self.random.pick(&["s[#s / 2]", "s[999]", "reverse(s)[0]", "s[#s - 1]"]),
        };
        let text = match ty {
            Type::Sequence(_) => format!("(let s = {all}; s = {text} in subseq(s, #s / 2, min(#s, #s / 2 + 4)))"),
            _ => format!("(let s = {all} in {text})"),
        };
        Tree::new(ty.clone(), &text, vec![body, count])
    }

    /// Sequences of particular element types.
    fn special_sequence(&mut self, element: &Type, fuel: usize) -> Tree {
        let ty = Type::sequence(element.clone());
        if matches!(element, Type::Int | Type::Float | Type::Bool) && self.random.chance(15) {
            return self.combined(element, fuel);
        }
        match element {
            Type::Int => self.ints(fuel),
            Type::Float => {
                let texts = ["plus_scan(@)", "max_scan(@)", "min_scan(@)", "mult_scan(@)", "sort(@)"];
                let text = *self.random.pick(&texts);
                self.filled(ty.clone(), text, &ty, fuel)
            }
            Type::Bool => {
                let texts = ["and_scan(@)", "or_scan(@)", "xor_scan(@)"];
                let text = *self.random.pick(&texts);
                self.filled(ty.clone(), text, &ty, fuel)
            }
            Type::Char => self.string(fuel),
            Type::Sequence(inner) if **inner == Type::Char && self.random.chance(60) => self.strings(fuel),
            Type::Sequence(inner) => self.nested(inner, fuel),
            Type::Pair(first, second) => {
                let one = self.expression(&Type::sequence((**first).clone()), fuel);
                let name = self.name();
                let locals = [(name.clone(), (**first).clone())];
                let value = self.with(&locals, |generator| generator.expression(second, fuel));
                Tree::new(ty, &format!("(let s = @ in zip(s, {{@ : {name} in s}}))"), vec![one, value])
            }
            Type::Record(record) => {
                let payloads = self.expression(&Type::sequence(record.payload.clone()), fuel);
                self.note(Feature::Map);
                self.note(Feature::NamedFunction);
                Tree::new(ty, &format!("map({}, @)", record.name), vec![payloads])
            }
            Type::Unit => {
                let parts = vec![self.expression(&Type::Unit, fuel), self.expression(&Type::Int, fuel.min(2))];
                Tree::new(ty, "dist(@, mod(@, 9))", parts)
            }
            Type::Function(..) | Type::Parameter(_) => panic!("there are no sequences of {element}"),
        }
    }

    /// Values that are combined with the elements at indices, many of them at the same.
    fn combined(&mut self, element: &Type, fuel: usize) -> Tree {
        const NUMBERS: [&str; 4] = ["sum_by_index", "product_by_index", "max_by_index", "min_by_index"];
        const BITS: [&str; 3] = ["any_by_index", "all_by_index", "parity_by_index"];
        self.note(Feature::Combine);
        let ty = Type::sequence(element.clone());
        let name = match element {
            Type::Float => *self.random.pick(&NUMBERS),
            Type::Bool => *self.random.pick(&BITS),
            _ if self.random.chance(30) => *self.random.pick(&BITS),
            _ => *self.random.pick(&NUMBERS),
        };
        let pairs = self.expression(&Type::sequence(Type::pair(Type::Int, element.clone())), fuel);
        let text = match self.random.below(3) {
            0 => format!("(let s = @; p = @ in {name}(s, {{(mod(i, max(#s / 2, 1)), e) : (i, e) in p | #s > 0}}))"),
            _ if self.risks() => format!("{name}(@, @)"),
            _ => format!("(let s = @ in {name}(s, {{(mod(i, #s), e) : (i, e) in @ | #s > 0}}))"),
        };
        Tree::new(ty.clone(), &text, vec![self.expression(&ty, fuel), pairs])
    }

    fn ints(&mut self, fuel: usize) -> Tree {
        let ty = Type::sequence(Type::Int);
        match self.random.below(7) {
            0 => self.filled(ty, "index(mod(@, 6))", &Type::Int, fuel),
            1 => self.filled(ty, "[0:mod(@, 9):1 + mod(@, 3)]", &Type::Int, fuel),
            2 => {
                let text = *self.random.pick(&["enumerate(@)", "pack_index(@)", "length_from_flags([t] ++ @)"]);
                self.filled(ty, text, &Type::sequence(Type::Bool), fuel)
            }
            3 => {
                self.note(Feature::Order);
                let element = self.random.pick(&[Type::Int, Type::Float, Type::Char]).clone();
                let text = match element {
                    Type::Char => "char_rank(@)",
                    _ => *self.random.pick(&["rank(@)", "rank_down(@)"]),
                };
                self.filled(ty, text, &Type::sequence(element), fuel)
            }
            4 => {
                self.note(Feature::Equality);
                let element = self.any_type(1);
                self.filled(ty, "search_for_subseqs(@, @)", &Type::sequence(element), fuel.min(2))
            }
            _ => {
                let text = *self.random.pick(&[
                    "plus_scan(@)",
                    "max_scan(@)",
                    "min_scan(@)",
                    "or_scan(@)",
                    "and_scan(@)",
                    "xor_scan(@)",
                    "mult_scan(@)",
                    "sort(@)",
                ]);
                self.filled(ty.clone(), text, &ty, fuel)
            }
        }
    }

    /// A sequence of sequences.
    fn nested(&mut self, inner: &Type, fuel: usize) -> Tree {
        self.note(Feature::Nesting);
        let ty = Type::sequence(Type::sequence(inner.clone()));
        let flat = self.expression(&Type::sequence(inner.clone()), fuel);
        let int = |generator: &mut Generator| generator.expression(&Type::Int, fuel.min(2));
        match self.random.below(6) {
            0 => Tree::new(ty, "bottop(@)", vec![flat]),
            1 => {
                let flag = self.expression(&Type::Bool, fuel.min(2));
                let function = *self.random.pick(&["split", "flag_partition"]);
                // A partition by flags begins at the first element whatever its flag.
                let flags = match function {
                    "split" => "{evenp(i) and @ : i in [0:#s]}",
                    _ => "{i == 0 or (evenp(i) and @) : i in [0:#s]}",
                };
                Tree::new(ty, &format!("(let s = @ in {function}(s, {flags}))"), vec![flat, flag])
            }
            2 => {
                let parts = vec![flat, int(self)];
                Tree::new(ty, "group_by(@, 1 + mod(@, 3))", parts)
            }
            3 => {
                let parts = vec![flat, int(self)];
                Tree::new(ty, "transpose(dist(@, mod(@, 4)))", parts)
            }
            4 => {
                let parts = vec![flat, int(self)];
                Tree::new(ty, "(let s = @; k = mod(@, 9) in {rotate(s, k + i) : i in [0:k / 2]})", parts)
            }
            _ => {
                let parts = vec![flat, int(self)];
                Tree::new(ty, "(let s = @; k = mod(@, #s + 1) in partition(s, [k, 0, #s - k]))", parts)
            }
        }
    }
}
