//! Habits that keep rooms easy to live in: no circles of modules, short functions, few siblings, narrow lines, and one
//! meaning for the name of a public type. Where a rule does not hold yet, the exceptions are listed, each by name: what
//! is no exception any more has to leave its list, so the lists only get shorter.

use crate::modules::{Modules, is_test_only, module_of};
use crate::sources;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// The folder of each crate whose code is the product.
const CRATES: [&str; 12] = [
    "frontend/span",
    "frontend/service",
    "frontend",
    "flatten",
    "vcode/prim",
    "vcode",
    "vcode/cmu",
    "backend/native",
    "backend",
    "backend/mpi",
    "stdlib",
    "cli",
];

/// The product's files: the crate of each, its name below `src`, and its text.
fn product() -> Vec<(&'static str, String, String)> {
    let of = |(name, text): (String, String)| {
        let (folder, file) = CRATES
            .iter()
            .find_map(|folder| Some((*folder, name.strip_prefix(folder)?.strip_prefix("/src/")?.to_owned())))?;
        let is_test = file == "tests.rs" || file.ends_with("/tests.rs") || file.contains("/tests/");
        (!is_test).then_some((folder, file, text))
    };
    sources().into_iter().filter_map(of).collect()
}

fn parsed() -> Vec<(&'static str, String, syn::File)> {
    let parse = |(folder, file, text): (&'static str, String, String)| {
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{folder}/src/{file}: {error}"));
        (folder, file, parsed)
    };
    product().into_iter().map(parse).collect()
}

/// What is found must be what is listed: nothing more, and nothing that is mended.
fn exactly(found: BTreeSet<String>, listed: &[&str], rule: &str) {
    let listed: BTreeSet<String> = listed.iter().map(|&name| name.to_owned()).collect();
    let new: Vec<&String> = found.difference(&listed).collect();
    let gone: Vec<&String> = listed.difference(&found).collect();
    assert!(new.is_empty() && gone.is_empty(), "{rule}\nnew: {new:#?}\nno exception any more: {gone:#?}");
}

#[test]
fn rooms_do_not_use_one_another_in_circles() {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for (folder, file, parsed) in parsed() {
        crates.entry(folder).or_default().add(&module_of(&file), &parsed);
    }
    let of = |(folder, modules): (&&str, &Modules)| {
        modules.circles().into_iter().map(|circle| format!("{folder}: {circle}")).collect::<Vec<_>>()
    };
    let found = crates.iter().flat_map(of).collect();
    exactly(found, CIRCLES, "rooms that use one another in a circle");
}

#[test]
fn functions_are_short() {
    struct Functions {
        found: Vec<(String, usize)>,
    }
    impl Functions {
        fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
            let lines = block.span().end().line + 1 - signature.span().start().line;
            self.found.push((signature.ident.to_string(), lines));
        }
    }
    impl<'ast> Visit<'ast> for Functions {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            if !is_test_only(&item.attrs) {
                self.add(&item.sig, &item.block);
                syn::visit::visit_item_fn(self, item);
            }
        }
        fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
            self.add(&item.sig, &item.block);
            syn::visit::visit_impl_item_fn(self, item);
        }
        fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
            if !is_test_only(&item.attrs) {
                syn::visit::visit_item_mod(self, item);
            }
        }
    }
    let mut all = Vec::new();
    for (folder, file, parsed) in parsed() {
        let mut functions = Functions { found: Vec::new() };
        functions.visit_file(&parsed);
        all.extend(functions.found.into_iter().map(|(name, lines)| (lines, format!("{folder}/src/{file}: {name}"))));
    }
    all.sort_by_key(|&(lines, _)| std::cmp::Reverse(lines));
    all.iter().take(15).for_each(|(lines, name)| println!("{lines} {name}"));
    let found = all.into_iter().filter(|&(lines, _)| lines > LONGEST_FUNCTION).map(|(_, name)| name).collect();
    exactly(found, LONG_FUNCTIONS, "functions longer than 80 lines, that are no table and no exhaustive match");
}

#[test]
fn folders_are_small() {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, _) in sources() {
        let mut at = name.strip_suffix(".rs").unwrap_or(&name);
        while let Some((folder, entry)) = at.rsplit_once('/') {
            folders.entry(folder.to_owned()).or_default().insert(entry.to_owned());
            at = folder;
        }
    }
    let is_large = |(_, entries): &(String, BTreeSet<String>)| entries.len() > MOST_SIBLINGS;
    let found = folders.into_iter().filter(is_large).map(|(folder, _)| folder).collect();
    exactly(found, LARGE_FOLDERS, "folders with more than 15 modules");
}

#[test]
fn lines_are_narrow() {
    let mut wide = BTreeSet::new();
    for (folder, file, text) in product() {
        let mut is_drawn = false;
        for line in text.lines().map(str::trim_start) {
            let comment = line.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
            is_drawn ^= comment.is_some_and(|comment| comment.starts_with("```"));
            // The formatter breaks code, but no texts; pictures and tables are as wide as they are.
            let is_free = match comment {
                Some(comment) => is_drawn || comment.starts_with('|'),
                None => line.contains('"') || line.ends_with('\\'),
            };
            if !is_free && line.chars().count() > WIDEST {
                wide.insert(format!("{folder}/src/{file}"));
            }
        }
    }
    exactly(wide, &[], "lines wider than 120 columns");
}

#[test]
fn names_of_public_types_mean_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, file, parsed) in parsed() {
        for item in &parsed.items {
            let (visibility, name) = match item {
                syn::Item::Struct(item) => (&item.vis, &item.ident),
                syn::Item::Enum(item) => (&item.vis, &item.ident),
                syn::Item::Trait(item) => (&item.vis, &item.ident),
                _ => continue,
            };
            if matches!(visibility, syn::Visibility::Public(_)) {
                places.entry(name.to_string()).or_default().insert(format!("{folder}/src/{file}"));
            }
        }
    }
    let several = |(_, places): &(String, BTreeSet<String>)| places.len() > 1;
    let repeated: Vec<(String, BTreeSet<String>)> = places.into_iter().filter(several).collect();
    repeated.iter().for_each(|(name, places)| println!("{name}: {places:?}"));
    exactly(repeated.into_iter().map(|(name, _)| name).collect(), AMBIGUOUS_NAMES, "public types with one name");
}

/// A function of more lines does more than one thing.
const LONGEST_FUNCTION: usize = 80;

/// More modules in one folder want a floor between.
const MOST_SIBLINGS: usize = 15;

/// The width that the formatter keeps code to, for comments, too.
const WIDEST: usize = 120;

/// Circles that are still to be cut: there are none.
const CIRCLES: &[&str] = &[];

/// Tables and exhaustive matches, and what is still to be split.
const LONG_FUNCTIONS: &[&str] = &[
    "backend/src/engine/dispatch.rs: execute",
    "backend/src/io/host.rs: perform",
    "backend/src/machine/run.rs: lines",
    "flatten/src/lower/lift/intrinsic.rs: unsegmented",
    "flatten/src/lower/lift/sequence.rs: segmented",
    "frontend/src/eval/machine.rs: outcome_in",
    "frontend/src/syntax/nesl/parser/advice.rs: in_form",
    "vcode/cmu/src/read/segmented.rs: segmented",
    "vcode/cmu/src/write/scalars.rs: operation",
    "vcode/cmu/src/write/vectors.rs: vector",
    "vcode/prim/src/host.rs: row",
];

/// Folders that still want a floor between.
const LARGE_FOLDERS: &[&str] =
    &["cli/src", "cli/tests", "frontend/src/infer", "frontend/tests", "tests/tests", "vcode/src", "vcode/src/passes"];

/// Names of stages of one thing (`Expr` of the tree, of the typed tree, of core), and what is still to be renamed.
const AMBIGUOUS_NAMES: &[&str] = &[
    "Argument",
    "Arguments",
    "Block",
    "Checked",
    "Class",
    "Cost",
    "Descriptor",
    "Elements",
    "Expr",
    "ExprKind",
    "Failure",
    "Function",
    "FunctionId",
    "GlobalId",
    "Growth",
    "Interrupt",
    "Keyword",
    "Options",
    "Output",
    "Pattern",
    "PatternKind",
    "Place",
    "Problem",
    "Program",
    "Reference",
    "Row",
    "Run",
    "Step",
    "Steps",
    "Value",
];
