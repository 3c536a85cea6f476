//! Programs as trees of text: what the generator makes and shrinking takes apart.

use super::types::Type;

/// Text, or an expression within it.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text.
    Text(String),
    /// An expression.
    Tree(Tree),
}

/// An expression of a type.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Its type.
    pub ty: Type,
    /// Its parts; written one after the other they are its text.
    pub parts: Vec<Part>,
}

impl Tree {
    /// An expression without parts of its own.
    pub fn leaf(ty: Type, text: impl Into<String>) -> Tree {
        Tree { ty, parts: vec![Part::Text(text.into())] }
    }

    /// An expression from a text in which each `@` stands for the next of some expressions.
    ///
    /// # Panics
    /// If their numbers differ.
    pub fn new(ty: Type, text: &str, trees: Vec<Tree>) -> Tree {
        let mut parts = Vec::new();
        let mut trees = trees.into_iter();
        for (index, piece) in text.split('@').enumerate() {
            if index > 0 {
                let tree = trees.next().unwrap_or_else(|| panic!("too few expressions for {text}"));
                parts.push(Part::Tree(tree));
            }
            parts.push(Part::Text(piece.to_owned()));
        }
        assert!(trees.next().is_none(), "too many expressions for {text}");
        Tree { ty, parts }
    }

    /// An expression with text around one other.
    pub fn around(ty: Type, before: &str, tree: Tree, after: &str) -> Tree {
        let parts = vec![Part::Text(before.to_owned()), Part::Tree(tree), Part::Text(after.to_owned())];
        Tree { ty, parts }
    }

    /// The number of expressions in it, itself included.
    pub fn size(&self) -> usize {
        1 + self.children().map(Tree::size).sum::<usize>()
    }

    /// The expressions directly in it.
    pub fn children(&self) -> impl Iterator<Item = &Tree> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tree(tree) => Some(tree),
            Part::Text(_) => None,
        })
    }

    /// The expression with a number, counted from the whole as 0 in order of their texts.
    pub fn at(&self, number: usize) -> Option<&Tree> {
        if number == 0 {
            return Some(self);
        }
        let mut left = number - 1;
        for child in self.children() {
            let size = child.size();
            if left < size {
                return child.at(left);
            }
            left -= size;
        }
        None
    }

    /// The same with the expression of a number replaced.
    #[must_use]
    pub fn with(&self, number: usize, replacement: &Tree) -> Tree {
        if number == 0 {
            return replacement.clone();
        }
        let mut before = 1;
        let mut parts = self.parts.clone();
        for part in &mut parts {
            if let Part::Tree(tree) = part {
                let size = tree.size();
                if number >= before && number < before + size {
                    *tree = tree.with(number - before, replacement);
                }
                before += size;
            }
        }
        Tree { ty: self.ty.clone(), parts }
    }

    fn write(&self, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Tree(tree) => tree.write(out),
            }
        }
    }
}

/// A top-level form.
#[derive(Clone, Debug)]
pub struct Form {
    /// What stands before the expression: `g0 = `, `function h(x) = `, a whole definition, or nothing.
    pub head: String,
    /// The expression.
    pub tree: Tree,
    /// Whether others may refer to it.
    pub is_needed: bool,
}

/// The text of a program, one form per line.
pub fn text(forms: &[Form]) -> String {
    let mut out = String::new();
    for form in forms {
        out.push_str(&form.head);
        form.tree.write(&mut out);
        out.push_str(";\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_found_and_replaced_by_number() {
        let leaf = |text: &str| Tree::leaf(Type::Int, text);
        let sum = Tree::new(Type::Int, "(@ + @)", vec![leaf("1"), leaf("2")]);
        let tree = Tree::new(Type::Int, "max(@, @)", vec![sum, leaf("3")]);
        let show = |tree: &Tree| text(&[Form { head: String::new(), tree: tree.clone(), is_needed: false }]);
        assert_eq!(show(&tree), "max((1 + 2), 3);\n");
        assert_eq!(tree.size(), 5);
        assert_eq!(show(tree.at(3).unwrap()), "2;\n");
        assert_eq!(show(&tree.with(1, &leaf("9"))), "max(9, 3);\n");
        assert_eq!(show(&tree.with(4, &leaf("9"))), "max((1 + 2), 9);\n");
        assert!(tree.at(5).is_none());
    }
}
