//! Smaller programs that go wrong in the same way.

use crate::generate::tree::{self, Form, Tree};

/// Replaces expressions by simple ones and by their own parts, and leaves out forms, as long as `fails` says that the
/// program still goes wrong; at most `attempts` programs are tried.
pub fn shrink(mut forms: Vec<Form>, mut attempts: usize, fails: &mut dyn FnMut(&str) -> bool) -> Vec<Form> {
    let mut progress = true;
    while progress && attempts > 0 {
        progress = false;
        let mut index = forms.len();
        while index > 0 && attempts > 0 {
            index -= 1;
            let mut fewer = forms.clone();
            fewer.remove(index);
            attempts -= 1;
            if fails(&tree::text(&fewer)) {
                forms = fewer;
                progress = true;
                continue;
            }
            progress |= shrink_form(&mut forms, index, &mut attempts, fails);
        }
    }
    forms
}

/// One pass over the expressions of a form, the largest first.
fn shrink_form(forms: &mut [Form], index: usize, attempts: &mut usize, fails: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut progress = false;
    let mut number = 0;
    while let Some(current) = forms[index].tree.at(number).cloned() {
        let is_simple = current.children().next().is_none();
        let whole = forms[index].tree.clone();
        for candidate in candidates(&current) {
            if is_simple || *attempts == 0 {
                break;
            }
            *attempts -= 1;
            forms[index].tree = whole.with(number, &candidate);
            if fails(&tree::text(forms)) {
                progress = true;
                break;
            }
            forms[index].tree = whole.clone();
        }
        number += 1;
    }
    progress
}

/// What may stand for an expression: the simplest of its type, or an expression of the same type within it.
fn candidates(tree: &Tree) -> Vec<Tree> {
    let mut candidates = vec![Tree::leaf(tree.ty.clone(), tree.ty.default_text())];
    candidates.extend((1..tree.size()).filter_map(|number| tree.at(number)).filter(|part| part.ty == tree.ty).cloned());
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::types::Type;

    #[test]
    fn what_does_not_matter_goes_away() {
        let leaf = |text: &str| Tree::leaf(Type::Int, text);
        let bad = Tree::new(Type::Int, "bad(@)", vec![leaf("1")]);
        let sum = Tree::new(Type::Int, "(@ + @)", vec![leaf("2"), bad]);
        let forms = [leaf("5"), sum].map(|tree| Form { head: String::new(), tree, is_needed: false });
        let small = shrink(forms.to_vec(), 100, &mut |text| text.contains("bad"));
        assert_eq!(tree::text(&small), "bad(1);\n");
    }
}
