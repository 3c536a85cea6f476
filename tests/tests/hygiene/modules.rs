//! The graph of modules of each crate, read from the paths that its code writes, and the circles in it.
//!
//! An arrow goes from the module in which a path stands to the module that defines what the path names; a name that is
//! re-exported counts for where it is defined. A module and those inside it may use one another. Where two modules are
//! in different rooms, the arrow is one between the rooms: the folders in which their ways part. So a circle is one of
//! siblings, and each is seen once, at the level where it can be cut.

use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree};

/// The names of a module's place in its crate, from the root.
pub type Path = Vec<String>;

/// A crate's modules, each with the paths in it and the names that it re-exports.
#[derive(Default)]
pub struct Modules {
    modules: BTreeMap<Path, Module>,
}

#[derive(Default)]
struct Module {
    /// Paths to modules or items of this crate, from its root.
    uses: BTreeSet<Path>,
    /// What names of this module stand for that `use` brings in.
    names: BTreeMap<String, Path>,
    /// What `use …::*` brings in.
    globs: Vec<Path>,
    /// The names that it defines itself.
    defines: BTreeSet<String>,
}

/// Whether an item is there for tests only.
pub fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test"))
    })
}

/// What the module of a file is called, by the file's name below `src`: `machine/run.rs` is `machine::run`.
pub fn module_of(file: &str) -> Path {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" || path == "main" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

impl Modules {
    /// Adds a file of the crate.
    pub fn add(&mut self, path: &Path, file: &syn::File) {
        self.items(path, &file.items);
    }

    fn items(&mut self, path: &Path, items: &[Item]) {
        let mut module = Module::default();
        for item in items {
            let name = match item {
                Item::Struct(item) => Some(&item.ident),
                Item::Enum(item) => Some(&item.ident),
                Item::Trait(item) => Some(&item.ident),
                Item::Type(item) => Some(&item.ident),
                Item::Const(item) => Some(&item.ident),
                Item::Static(item) => Some(&item.ident),
                Item::Fn(item) => Some(&item.sig.ident),
                Item::Macro(item) => item.ident.as_ref(),
                _ => None,
            };
            module.defines.extend(name.map(ToString::to_string));
        }
        let mut visitor = Paths { at: path.clone(), module: &mut module, inner: Vec::new() };
        items.iter().for_each(|item| visitor.visit_item(item));
        let inner = std::mem::take(&mut visitor.inner);
        self.modules.insert(path.clone(), module);
        for (name, items) in inner {
            let mut path = path.clone();
            path.push(name);
            self.items(&path, &items);
        }
    }

    /// The module in which a path ends up, by way of re-exports.
    fn owner(&self, path: &[String], steps: usize) -> Option<Path> {
        let length = (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        let (at, rest) = path.split_at(length);
        let Some(name) = rest.first().filter(|_| steps > 0) else { return Some(at.to_vec()) };
        let module = &self.modules[at];
        if module.defines.contains(name) {
            return Some(at.to_vec());
        }
        if let Some(target) = module.names.get(name) {
            let target = [target.as_slice(), &rest[1..]].concat();
            return if target.as_slice() == path { Some(at.to_vec()) } else { self.owner(&target, steps - 1) };
        }
        let defined_in = module.globs.iter().find_map(|glob| {
            let target = [glob.as_slice(), rest].concat();
            let owner = self.owner(&target, steps - 1)?;
            self.modules[&owner].defines.contains(name).then_some(owner)
        });
        Some(defined_in.unwrap_or_else(|| at.to_vec()))
    }

    /// The circles of rooms: each as the folder, and the names in it that use one another.
    pub fn circles(&self) -> BTreeSet<String> {
        let mut arrows: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (from, module) in &self.modules {
            for to in module.uses.iter().filter_map(|path| self.owner(path, 8)) {
                let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
                if shared < from.len() && shared < to.len() {
                    let folder = arrows.entry(from[..shared].to_vec()).or_default();
                    folder.entry(from[shared].clone()).or_default().insert(to[shared].clone());
                }
            }
        }
        let mut found = BTreeSet::new();
        for (folder, graph) in arrows {
            for circle in strongly_connected(&graph) {
                let folder = folder.iter().map(|name| format!("{name}::")).collect::<String>();
                found.insert(format!("{folder}{{{}}}", circle.into_iter().collect::<Vec<_>>().join(", ")));
            }
        }
        found
    }
}

/// The sets of two or more nodes that all reach one another.
fn strongly_connected(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reached = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
        while let Some(node) = open.pop() {
            for next in graph.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|node| (node, reached(node))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (node, seen) in &reach {
        if seen.contains(*node) && !found.iter().any(|circle| circle.contains(*node)) {
            let back = |other: &&String| reach.get(*other).is_some_and(|seen| seen.contains(*node));
            found.push(seen.iter().filter(back).cloned().collect());
        }
    }
    found.retain(|circle| circle.len() > 1);
    found
}

/// Collects the paths of one module.
struct Paths<'a> {
    at: Path,
    module: &'a mut Module,
    inner: Vec<(String, Vec<Item>)>,
}

impl Paths<'_> {
    /// A path from the crate's root, if it begins with `crate`, `self` or `super`.
    fn rooted(&self, segments: &[String]) -> Option<Path> {
        let (mut at, mut rest) = match segments.first()?.as_str() {
            "crate" => (Vec::new(), &segments[1..]),
            "self" => (self.at.clone(), &segments[1..]),
            "super" => (self.at.clone(), segments),
            _ => return None,
        };
        while rest.first().is_some_and(|name| name == "super") {
            at.pop();
            rest = &rest[1..];
        }
        at.extend(rest.iter().cloned());
        Some(at)
    }

    fn imports(&mut self, before: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.imports(before, &path.tree);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.imports(before, tree)),
            UseTree::Glob(_) => {
                if let Some(path) = self.rooted(before) {
                    self.module.globs.push(path.clone());
                    self.module.uses.insert(path);
                }
            }
            UseTree::Name(name) => self.import(before, &name.ident, &name.ident),
            UseTree::Rename(rename) => self.import(before, &rename.ident, &rename.rename),
        }
    }

    fn import(&mut self, before: &[String], name: &syn::Ident, own: &syn::Ident) {
        let mut segments = before.to_vec();
        if name != "self" {
            segments.push(name.to_string());
        }
        let own = if own == "self" { before.last().cloned() } else { Some(own.to_string()) };
        // A path of this edition that begins with a module beside it, as in `pub use build::FunctionBuilder`.
        let path = self.rooted(&segments).unwrap_or_else(|| [self.at.as_slice(), &segments].concat());
        if let Some(own) = own {
            self.module.names.insert(own, path.clone());
        }
        self.module.uses.insert(path);
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_test_only(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if let Some((_, items)) = &item.content {
            self.inner.push((item.ident.to_string(), items.clone()));
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.imports(&mut Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(path) = self.rooted(&segments) {
            self.module.uses.insert(path);
        } else if let Some(first) = segments.first().filter(|_| segments.len() > 1) {
            // `function::Entry` by a module's name, or `Entry::new` by an imported one.
            let mut path = self.at.clone();
            path.push(first.clone());
            path.extend(segments[1..].iter().cloned());
            self.module.uses.insert(path);
        }
        syn::visit::visit_path(self, path);
    }
}

#[test]
fn circles_of_rooms_are_found() {
    let mut modules = Modules::default();
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::inner::Thing;"),
        ("a.rs", "pub mod inner; use crate::c::Third;"),
        ("a/inner.rs", "pub struct Thing; use super::Outer;"),
        ("b.rs", "use crate::Thing; pub struct Second;"),
        ("c.rs", "pub struct Third; #[cfg(test)] mod tests { use crate::a::inner::Thing; }"),
    ];
    for (name, text) in files {
        modules.add(&module_of(name), &syn::parse_file(text).unwrap());
    }
    assert_eq!(modules.circles(), BTreeSet::new());
    modules.add(&module_of("c.rs"), &syn::parse_file("pub struct Third; fn f() -> crate::b::Second { g() }").unwrap());
    assert_eq!(modules.circles(), BTreeSet::from(["{a, b, c}".to_owned()]));
    modules.add(&module_of("c.rs"), &syn::parse_file("pub struct Third; use super::a::inner;").unwrap());
    assert_eq!(modules.circles(), BTreeSet::from(["{a, c}".to_owned()]));
}
