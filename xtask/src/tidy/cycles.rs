//! Cycles between the modules of a crate.
//!
//! A module depends on the modules that define the items it names. Re-exports are followed to the definition, so
//! that a name that travels through a parent leads to the file where it stands. Code for tests does not count.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemMod, Macro, UseTree, Visibility};

use super::offence::Offence;
use super::tree::{SourceFile, Tree};

/// The greatest number of re-exports that one name travels through.
const MAX_HOPS: usize = 16;

/// Modules that depend on each other in a circle.
pub(crate) fn module_cycles(tree: &Tree) -> Vec<Offence> {
    let mut crates: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in tree.rust() {
        if let Some((root, rest)) = file.path.split_once("/src/")
            && !rest.starts_with("bin/")
        {
            crates.entry(root).or_default().push(file);
        }
    }
    crates.into_iter().flat_map(|(root, files)| offences(root, &files)).collect()
}

fn offences(root: &str, files: &[&SourceFile]) -> Vec<Offence> {
    match CrateModules::read(root, files) {
        Ok(modules) => {
            modules.cycles().iter().map(|cycle| format!("{root}: {}", modules.describe(cycle))).collect()
        }
        Err(offence) => vec![offence],
    }
}

/// The path of a module below its crate; empty for the root.
type ModulePath = Vec<String>;

/// One module: the items it defines, the names it brings in, and the paths that its code names.
#[derive(Default)]
struct Module {
    defined: HashSet<String>,
    imports: Vec<Import>,
    named: Vec<Vec<String>>,
    /// Every identifier of its code outside of `use`, to tell whether a re-exported name is used here too.
    identifiers: HashSet<String>,
}

struct Import {
    name: String,
    path: Vec<String>,
    is_glob: bool,
    is_exported: bool,
}

struct CrateModules {
    modules: BTreeMap<ModulePath, Module>,
    /// For each module, the modules it depends on and a name that makes it so.
    edges: BTreeMap<ModulePath, BTreeMap<ModulePath, String>>,
}

impl CrateModules {
    fn read(root: &str, files: &[&SourceFile]) -> Result<Self, Offence> {
        let mut parsed: BTreeMap<ModulePath, File> = BTreeMap::new();
        for file in files {
            let syntax = syn::parse_file(&file.text).map_err(|error| format!("{}: {error}", file.path))?;
            parsed.insert(module_path(root, &file.path), syntax);
        }
        let tests: Vec<ModulePath> = parsed
            .iter()
            .flat_map(|(path, file)| {
                file.items.iter().filter_map(|item| match item {
                    Item::Mod(module) if is_for_tests(&module.attrs) => {
                        Some(child(path, &module.ident.to_string()))
                    }
                    _ => None,
                })
            })
            .collect();
        parsed.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        let modules = parsed.iter().map(|(path, file)| (path.clone(), Module::read(file))).collect();
        let mut read = Self { modules, edges: BTreeMap::new() };
        read.edges = read.modules.keys().map(|path| (path.clone(), read.edges_of(path))).collect();
        Ok(read)
    }

    fn edges_of(&self, from: &ModulePath) -> BTreeMap<ModulePath, String> {
        let module = &self.modules[from];
        let imported = module.imports.iter().filter(|import| {
            !import.is_exported || import.is_glob || module.identifiers.contains(&import.name)
        });
        let paths = imported.map(|import| &import.path).chain(&module.named);
        let mut edges = BTreeMap::new();
        for path in paths {
            if let Some(to) = self.resolve(from, path, MAX_HOPS)
                && to != *from
            {
                edges.entry(to).or_insert_with(|| path.join("::"));
            }
        }
        edges
    }

    /// The module that defines what a path in a module leads to; `None` if that is in another crate.
    fn resolve(&self, from: &ModulePath, path: &[String], hops: usize) -> Option<ModulePath> {
        let hops = hops.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.clone(),
            "super" => from.get(..from.len().checked_sub(1)?)?.to_vec(),
            name if self.modules.contains_key(&child(from, name)) => child(from, name),
            name => return self.through(from, name, rest, hops),
        };
        let mut rest = rest;
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                at.pop()?;
            } else if self.modules.contains_key(&child(&at, next)) {
                at.push(next.clone());
            } else if self.modules.get(&at)?.defined.contains(next) {
                return Some(at);
            } else {
                return self.through(&at, next, after, hops).or(Some(at));
            }
            rest = after;
        }
        Some(at)
    }

    /// Follows a name that a module brings in from elsewhere.
    fn through(&self, at: &ModulePath, name: &str, rest: &[String], hops: usize) -> Option<ModulePath> {
        let module = self.modules.get(at)?;
        let follow = |path: &[String]| {
            let whole: Vec<String> = path.iter().chain(rest).cloned().collect();
            self.resolve(at, &whole, hops)
        };
        let named = module.imports.iter().find(|import| !import.is_glob && import.name == name);
        if let Some(import) = named {
            return follow(&import.path);
        }
        let mut globs = module.imports.iter().filter(|import| import.is_glob);
        globs.find_map(|import| {
            let to = self.resolve(at, &import.path, hops)?;
            self.modules.get(&to)?.defined.contains(name).then_some(to)
        })
    }

    /// The strongly connected parts with more than one module.
    fn cycles(&self) -> Vec<BTreeSet<ModulePath>> {
        let reach = |from: &ModulePath| {
            let (mut seen, mut queue) = (BTreeSet::new(), VecDeque::from([from]));
            while let Some(at) = queue.pop_front() {
                for to in self.edges.get(at).into_iter().flat_map(BTreeMap::keys) {
                    if seen.insert(to.clone()) {
                        queue.push_back(to);
                    }
                }
            }
            seen
        };
        let reached: HashMap<&ModulePath, BTreeSet<ModulePath>> =
            self.modules.keys().map(|path| (path, reach(path))).collect();
        let mut found: Vec<BTreeSet<ModulePath>> = Vec::new();
        for (path, below) in self.modules.keys().map(|path| (path, &reached[path])) {
            if below.contains(path) && !found.iter().any(|cycle| cycle.contains(path)) {
                let is_mutual =
                    |other: &&ModulePath| reached.get(other).is_some_and(|back| back.contains(path));
                found.push(below.iter().filter(is_mutual).cloned().collect());
            }
        }
        found
    }

    /// A cycle in words: how many modules are in it, and a shortest circle with the names that make it.
    fn describe(&self, cycle: &BTreeSet<ModulePath>) -> String {
        let circle = cycle.iter().filter_map(|start| self.circle(start, cycle)).min_by_key(Vec::len);
        let circle = circle.unwrap_or_default();
        let step = |pair: &[ModulePath]| match pair {
            [from, to] => format!("{} names `{}`", shown(from), self.edges[from][to]),
            _ => String::new(),
        };
        let steps: Vec<String> = circle.windows(2).map(step).collect();
        format!("{} modules depend on each other: {}", cycle.len(), steps.join(", "))
    }

    /// The shortest way from a module back to itself.
    fn circle(&self, start: &ModulePath, within: &BTreeSet<ModulePath>) -> Option<Vec<ModulePath>> {
        let mut ways = VecDeque::from([vec![start.clone()]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            let next = self.edges.get(way.last()?)?.keys().filter(|to| within.contains(*to));
            for to in next {
                let longer: Vec<ModulePath> = way.iter().chain([to]).cloned().collect();
                if to == start {
                    return Some(longer);
                }
                if seen.insert(to.clone()) {
                    ways.push_back(longer);
                }
            }
        }
        None
    }
}

fn shown(path: &ModulePath) -> String {
    if path.is_empty() { "the root".to_owned() } else { path.join("::") }
}

fn child(path: &ModulePath, name: &str) -> ModulePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

fn module_path(root: &str, file: &str) -> ModulePath {
    let rest = file.strip_prefix(root).and_then(|rest| rest.strip_prefix("/src/")).unwrap_or(file);
    let rest = rest.strip_suffix(".rs").unwrap_or(rest);
    let parts = rest.split('/').map(str::to_owned);
    parts.filter(|part| !matches!(part.as_str(), "lib" | "main" | "mod")).collect()
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

impl Module {
    fn read(file: &File) -> Self {
        let mut reader = ModuleReader { module: Self::default() };
        reader.visit_file(file);
        reader.module
    }
}

struct ModuleReader {
    module: Module,
}

impl ModuleReader {
    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>, is_exported: bool) {
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(&part.tree, path, is_exported);
                path.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                self.module.imports.push(Import { name, path: path.clone(), is_glob: false, is_exported });
            }
            UseTree::Name(name) => {
                self.named(name.ident.to_string(), &name.ident.to_string(), path, is_exported);
            }
            UseTree::Rename(rename) => {
                self.named(rename.rename.to_string(), &rename.ident.to_string(), path, is_exported);
            }
            UseTree::Glob(_) => {
                let path = path.clone();
                self.module.imports.push(Import { name: String::new(), path, is_glob: true, is_exported });
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path, is_exported)),
        }
    }

    fn named(&mut self, name: String, item: &str, path: &[String], is_exported: bool) {
        let path = path.iter().cloned().chain([item.to_owned()]).collect();
        self.module.imports.push(Import { name, path, is_glob: false, is_exported });
    }

    /// Paths in the arguments of a macro, which are tokens to the parser.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.path(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.path(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(path);
    }

    fn path(&mut self, path: Vec<String>) {
        if let Some(first) = path.first() {
            self.module.identifiers.insert(first.clone());
        }
        if path.len() > 1 {
            self.module.named.push(path);
        }
    }
}

impl<'ast> Visit<'ast> for ModuleReader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if is_for_tests(attributes) {
            return;
        }
        self.module.defined.extend(name);
        match item {
            Item::Use(item) => {
                let is_exported = !matches!(item.vis, Visibility::Inherited);
                self.import(&item.tree, &mut Vec::new(), is_exported);
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        // A module in braces counts as a part of its file.
        visit::visit_item_mod(self, item);
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {
        // `pub(in crate::a)` says who may name an item. Nothing of `a` is needed for that.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

/// The attributes of an item and the name that it defines.
fn head(item: &Item) -> (&[Attribute], Option<String>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Enum(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Fn(item) => (&item.attrs, Some(item.sig.ident.to_string())),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref().map(ToString::to_string)),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Struct(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Trait(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Type(item) => (&item.attrs, Some(item.ident.to_string())),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/x/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(module_cycles(&Tree::of(&files)), expected);
    }

    #[test]
    fn a_planted_cycle_is_told_with_the_names_that_make_it() {
        check(
            &[
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "pub struct B; fn f() { crate::c::g() }"),
                ("c.rs", "pub fn g() { let _ = super::a::A; }"),
            ],
            &[
                "crates/x: 3 modules depend on each other: a names `crate::b::B`, b names `crate::c::g`, c names `super::a::A`",
            ],
        );
    }

    #[test]
    fn re_exports_lead_to_the_definition() {
        let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");
        check(&[lib, ("a.rs", "use crate::B; pub struct A(B);"), ("b.rs", "pub struct B;")], &[]);
        check(
            &[lib, ("a.rs", "use crate::B; pub struct A(B);"), ("b.rs", "use super::A; pub struct B(A);")],
            &["crates/x: 2 modules depend on each other: a names `crate::B`, b names `super::A`"],
        );
    }

    #[test]
    fn a_parent_and_its_child_can_be_a_circle() {
        check(
            &[
                ("lib.rs", "mod a;"),
                ("a.rs", "mod b; use b::B; pub struct A(B);"),
                ("a/b.rs", "use super::A; pub struct B(Box<A>);"),
            ],
            &["crates/x: 2 modules depend on each other: a names `b::B`, a::b names `super::A`"],
        );
        let re_exports = ("a.rs", "mod b; pub use b::B; pub struct A;");
        check(&[("lib.rs", "mod a;"), re_exports, ("a/b.rs", "use super::A; pub struct B(A);")], &[]);
    }

    #[test]
    fn names_in_macros_count_and_tests_do_not() {
        let files = |b: &'static str| {
            [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B; pub const A: u8 = 0;"), ("b.rs", b)]
        };
        let told = "crates/x: 2 modules depend on each other: a names `crate::b::B`, b names `crate::a::A`";
        check(&files("pub struct B; fn f() { vec![crate::a::A]; }"), &[told]);
        check(&files("pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"), &[]);
        check(&files("pub struct B; #[cfg(test)] use crate::a::A;"), &[]);
    }

    #[test]
    fn a_visibility_is_no_dependency() {
        check(
            &[
                ("lib.rs", "mod a;"),
                ("a.rs", "mod b; fn f() { b::g() }"),
                ("a/b.rs", "pub(in crate::a) fn g() {} pub(in crate::a) struct B { pub(in crate::a) c: u8 }"),
            ],
            &[],
        );
    }
}
