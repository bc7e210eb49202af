//! Checks the imports between modules, and the encapsulation of types.
//!
//! The modules of a crate are ordered in layers (`layers.txt`, from the bottom up). A module may import only modules of
//! lower layers. `debts.txt` lists the current violations of the other rules. The test fails if a violation is not
//! listed, and if a listed one no longer exists, so the list only shrinks. The kinds of violations:
//!
//! - `circle`: files import each other in a cycle. An import between a module and its submodule does not count.
//! - `open`: a type has methods that change it, and more than [`OPEN_FIELDS`] fields that other modules can change,
//!   too.
//! - `foreign`: a module has this number of free functions that take a type of another module by `&mut`.
//!
//! `docs/design/imports.md` has drawings of the imports. `UPDATE_GOLDEN=1 cargo test -p proviso-tests --test coupling`
//! updates them.

mod limits;
mod sources;

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use sources::{Crate, Module, ModulePath};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// The number of fields that other modules may change in a type with methods that change it.
const OPEN_FIELDS: usize = 4;

/// The crates from the bottom up, by folder.
const CRATES: [&str; 10] = [
    "cfa",
    "frontend-llvm",
    "instrument",
    "slicer",
    "engine/smt",
    "engine/certificate",
    "engine",
    "engine/cooperate",
    "driver",
    "proviso",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn read(name: &str) -> String {
    let path = root().join("tests/tests/coupling").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn name(path: &[String]) -> String {
    if path.is_empty() { "(root)".into() } else { path.join("/") }
}

fn top(path: &ModulePath) -> String {
    name(&path[..path.len().min(1)])
}

/// The imports between the top-level modules of a crate, without those of the crate root.
fn arrows(krate: &Crate) -> BTreeSet<(String, String)> {
    let all = krate.modules.iter().flat_map(|(path, module)| module.imports.iter().map(move |to| (top(path), top(to))));
    all.filter(|(from, to)| from != to && ![from, to].iter().any(|end| *end == "(root)")).collect()
}

/// The layers of each crate: groups of modules, the lowest first.
fn layers() -> BTreeMap<String, Vec<Vec<String>>> {
    let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let mut krate = String::new();
    let text = read("layers.txt");
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_suffix(':') {
            Some(name) => krate = name.to_owned(),
            None => {
                let layer = line.split_whitespace().map(str::to_owned).collect();
                found.entry(krate.clone()).or_default().push(layer);
            }
        }
    }
    found
}

/// The imports that do not lead to a lower layer.
fn upward(folder: &str, krate: &Crate, layers: &[Vec<String>]) -> Vec<String> {
    let level: BTreeMap<&str, usize> = layers
        .iter()
        .enumerate()
        .flat_map(|(level, layer)| layer.iter().map(move |module| (module.as_str(), level)))
        .collect();
    let modules: BTreeSet<String> = krate.modules.keys().map(top).filter(|module| module != "(root)").collect();
    let listed: BTreeSet<String> = level.keys().map(|module| (*module).to_owned()).collect();
    assert_eq!(modules, listed, "{folder}: the modules of the crate, and those in layers.txt");
    let height = |module: &str| level.get(module).copied().unwrap_or(usize::MAX);
    let mut found: Vec<String> = arrows(krate)
        .into_iter()
        .filter(|(from, to)| height(from) <= height(to))
        .map(|(from, to)| format!("{folder}: {from} -> {to}"))
        .collect();
    found.sort();
    found
}

/// Groups of files that import each other.
fn circles(folder: &str, krate: &Crate) -> Vec<String> {
    let mut graph: DiGraph<&ModulePath, ()> = DiGraph::new();
    let number: BTreeMap<&ModulePath, _> = krate.modules.keys().map(|path| (path, graph.add_node(path))).collect();
    for (path, module) in &krate.modules {
        for to in module.imports.iter().filter(|to| !to.starts_with(path) && !path.starts_with(to)) {
            graph.add_edge(number[path], number[to], ());
        }
    }
    let mut found = Vec::new();
    for circle in tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1) {
        let mut members: Vec<String> = circle.into_iter().map(|n| name(graph[n])).collect();
        members.sort();
        found.push(format!("{folder}: circle {}", members.join(" ")));
    }
    found.sort();
    found
}

/// Types with methods that take `&mut self` and many fields that are not private.
fn open_types(folder: &str, krate: &Crate) -> Vec<String> {
    let mut changing: BTreeSet<String> = BTreeSet::new();
    for item in krate.modules.values().flat_map(|module| &module.items) {
        let syn::Item::Impl(item) = item else { continue };
        let changes = item.items.iter().any(|item| {
            let syn::ImplItem::Fn(function) = item else { return false };
            function.sig.inputs.first().is_some_and(|first| {
                let syn::FnArg::Receiver(receiver) = first else { return false };
                matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, Some(_)))
            })
        });
        if changes && item.trait_.is_none() {
            changing.extend(last_segment(&item.self_ty));
        }
    }
    let mut found = Vec::new();
    for (path, module) in &krate.modules {
        for item in &module.items {
            let syn::Item::Struct(item) = item else { continue };
            let open = item.fields.iter().filter(|field| !matches!(field.vis, syn::Visibility::Inherited)).count();
            if open > OPEN_FIELDS && changing.contains(&item.ident.to_string()) {
                found.push(format!("{folder}: open {}: {} {open}", name(path), item.ident));
            }
        }
    }
    found
}

fn last_segment(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

/// The free functions that take a type of another module by `&mut`.
fn foreign(folder: &str, krate: &Crate) -> Vec<String> {
    struct Functions<'a> {
        module: &'a Module,
        path: &'a ModulePath,
        count: usize,
    }
    impl<'ast> Visit<'ast> for Functions<'_> {
        fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
            let changes = function.sig.inputs.iter().any(|input| {
                let syn::FnArg::Typed(input) = input else { return false };
                let syn::Type::Reference(reference) = &*input.ty else { return false };
                reference.mutability.is_some()
                    && last_segment(&reference.elem)
                        .and_then(|name| self.module.origins.get(&name))
                        .is_some_and(|origin| !origin.starts_with(self.path) && !self.path.starts_with(origin))
            });
            self.count += usize::from(changes);
        }
    }
    let mut found = Vec::new();
    for (path, module) in &krate.modules {
        let mut functions = Functions { module, path, count: 0 };
        module.items.iter().for_each(|item| functions.visit_item(item));
        if functions.count > 0 {
            found.push(format!("{folder}: foreign {} {}", name(path), functions.count));
        }
    }
    found
}

#[test]
fn modules_keep_their_layers() {
    let layers = layers();
    let mut found: BTreeSet<String> = BTreeSet::new();
    for folder in CRATES {
        let krate = Crate::read(&root().join(folder));
        assert!(krate.modules.len() > 5, "{folder}: the sources are found");
        let layers = layers.get(folder).unwrap_or_else(|| panic!("{folder} is not in layers.txt"));
        let up = upward(folder, &krate, layers);
        assert!(up.is_empty(), "imports that do not lead to a lower layer: {up:#?}");
        found.extend(circles(folder, &krate));
        found.extend(open_types(folder, &krate));
        found.extend(foreign(folder, &krate));
    }
    let text = read("debts.txt");
    let known: BTreeSet<String> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let new: Vec<_> = found.difference(&known).collect();
    let paid: Vec<_> = known.difference(&found).collect();
    assert!(new.is_empty(), "these break a rule of the structure (see main.rs): {new:#?}; no longer true: {paid:#?}");
    assert!(paid.is_empty(), "these are no longer true; remove them from debts.txt: {paid:#?}");
}

/// The transitive reduction of the imports.
fn reduced(arrows: &BTreeSet<(String, String)>) -> Vec<&(String, String)> {
    let reaches = |from: &str, to: &str, without: &(String, String)| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            for arrow @ (_, next) in arrows.iter().filter(|(start, _)| start == at) {
                if arrow != without && seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        seen.contains(to)
    };
    arrows.iter().filter(|arrow| !reaches(&arrow.0, &arrow.1, arrow)).collect()
}

#[test]
fn pictures_show_the_imports() {
    let mut page = String::from(
        "# Imports\n\nThe top-level modules of each crate. An arrow leads from a module to one that it imports; arrows that follow from \
         others are left out.\nThe layers stand in `tests/tests/coupling/layers.txt`. This page is drawn by \
         `UPDATE_GOLDEN=1 cargo test -p proviso-tests --test coupling`.\n",
    );
    for folder in CRATES {
        let krate = Crate::read(&root().join(folder));
        let all = arrows(&krate);
        write!(page, "\n## {folder}\n\n```mermaid\nflowchart TD\n").expect("text");
        for (from, to) in reduced(&all) {
            writeln!(page, "    {from} --> {to}").expect("text");
        }
        page.push_str("```\n");
    }
    let file = root().join("docs/design/imports.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &page).expect("written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(kept, page, "docs/design/imports.md is not what the sources say: UPDATE_GOLDEN=1 draws it anew");
}
