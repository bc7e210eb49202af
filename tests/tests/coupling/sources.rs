//! The modules of a crate as syntax trees, and the modules that each of them imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A module by its path below the crate root: `["cpa", "value"]`; the root itself is empty.
pub type ModulePath = Vec<String>;

/// One source file.
pub struct Module {
    pub items: Vec<syn::Item>,
    /// The modules of the crate that its code names, without tests.
    pub imports: BTreeSet<ModulePath>,
    /// The module in which each imported name is defined.
    pub origins: BTreeMap<String, ModulePath>,
}

/// A crate of the workspace.
pub struct Crate {
    pub modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    /// Reads the sources below `folder/src`.
    ///
    /// # Panics
    /// If a file cannot be read or is not Rust.
    pub fn read(folder: &Path) -> Self {
        let src = folder.join("src");
        let mut modules = BTreeMap::new();
        for file in rust_files(&src) {
            let text = std::fs::read_to_string(&file).expect("a source in UTF-8");
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let items: Vec<_> = syntax.items.into_iter().filter(|item| !is_test(attributes(item))).collect();
            let path = module_path(file.strip_prefix(&src).expect("below src"));
            modules.insert(path, Module { items, imports: BTreeSet::new(), origins: BTreeMap::new() });
        }
        // Drop modules that are declared only in tests.
        let names: BTreeSet<ModulePath> = modules.keys().cloned().collect();
        modules.retain(|path, _| (1..=path.len()).all(|n| names.contains(&path[..n])));
        let declared: BTreeSet<ModulePath> = modules
            .iter()
            .flat_map(|(path, module)| {
                module.items.iter().filter_map(|item| match item {
                    syn::Item::Mod(child) => Some([path.clone(), vec![child.ident.to_string()]].concat()),
                    _ => None,
                })
            })
            .collect();
        modules.retain(|path, _| (1..=path.len()).all(|n| declared.contains(&path[..n])));
        let names: BTreeSet<ModulePath> = modules.keys().cloned().collect();
        for (path, module) in &mut modules {
            let mut found = Names { module: path, modules: &names, imports: BTreeSet::new(), origins: BTreeMap::new() };
            module.items.iter().for_each(|item| found.visit_item(item));
            (module.imports, module.origins) = (found.imports, found.origins);
        }
        Self { modules }
    }
}

/// Returns the Rust files below a folder.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// `cpa/value/mod.rs` and `cpa/value.rs` are both `["cpa", "value"]`.
fn module_path(file: &Path) -> ModulePath {
    let mut path: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_str().expect("UTF-8").to_owned()).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg") && list.tokens.to_string() == "test"
    })
}

/// Collects the paths that start at `crate`, `self`, `super` or a child of the module.
struct Names<'a> {
    module: &'a ModulePath,
    modules: &'a BTreeSet<ModulePath>,
    imports: BTreeSet<ModulePath>,
    origins: BTreeMap<String, ModulePath>,
}

impl Names<'_> {
    /// The longest prefix of the path that is a module of this crate; `None` if the path starts outside the crate.
    fn resolve(&self, segments: &[String]) -> Option<ModulePath> {
        let ups = segments.iter().take_while(|segment| *segment == "super").count();
        let mut full: ModulePath = match segments.first()?.as_str() {
            "crate" => segments[1..].to_vec(),
            "self" => [self.module, &segments[1..]].concat(),
            "super" => [&self.module[..self.module.len().checked_sub(ups)?], &segments[ups..]].concat(),
            child => {
                let full = [self.module.as_slice(), &[child.to_owned()]].concat();
                self.modules.contains(&full).then(|| [self.module, segments].concat())?
            }
        };
        while !self.modules.contains(&full) {
            full.pop()?;
        }
        Some(full)
    }

    fn note(&mut self, segments: &[String]) {
        if let Some(target) = self.resolve(segments).filter(|target| target != self.module) {
            if let Some(name) = segments.last() {
                self.origins.insert(name.clone(), target.clone());
            }
            self.imports.insert(target);
        }
    }

    fn note_tree(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.note_tree(prefix, &path.tree);
                prefix.pop();
            }
            syn::UseTree::Name(name) if name.ident == "self" => self.note(prefix),
            syn::UseTree::Name(name) => self.note(&[prefix.as_slice(), &[name.ident.to_string()]].concat()),
            syn::UseTree::Rename(rename) => {
                self.note(&[prefix.as_slice(), &[rename.ident.to_string()]].concat());
                if let Some(target) = self.resolve(prefix) {
                    self.origins.insert(rename.rename.to_string(), target);
                }
            }
            syn::UseTree::Glob(_) => self.note(prefix),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(prefix, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&mut Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if let Some(target) = self.resolve(&segments).filter(|target| target != self.module) {
                self.imports.insert(target);
            }
        }
        visit::visit_path(self, path);
    }
}
