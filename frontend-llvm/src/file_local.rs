//! Exports static functions and removes bodies before the inputs are linked.
//!
//! goto-cc can export static functions as `__CPROVER_file_local_FILE_NAME`, so that proofs in other files can call or
//! replace them: `s_grow` in `queue.c` is `__CPROVER_file_local_queue_c_s_grow`. This module exports a function if an
//! input or an option uses that name.

use crate::llvm::{Change, Function, Kind, LlvmModule};
use crate::models::is_library;
use cfa::wording::near;
use std::collections::BTreeSet;

const PREFIX: &str = "__CPROVER_file_local_";

impl Function {
    /// True if goto-cc would export the function under this name. The name may contain the whole path of the file or a
    /// suffix of it.
    fn is_exported_as(&self, exported: &str) -> bool {
        let of_file = exported.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(&self.name)?.strip_suffix('_'));
        let starts = std::iter::once(0).chain(self.file.match_indices('/').map(|(at, _)| at + 1));
        self.kind == Kind::Static && starts.into_iter().any(|start| of_file == Some(&mangled(&self.file[start..])))
    }
}

/// A path in a mangled name. Each run of characters that C does not permit in identifiers becomes one `_`.
fn mangled(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    for c in path.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && name.ends_with('_')) {
            name.push(c);
        }
    }
    name
}

/// For each input, the modifications before it is linked. The bodies of the functions in `remove` are removed. If
/// several inputs or the library also define a function, only the definition in the last input remains. Also returns a
/// warning for each function in `remove` that no input mentions.
pub(crate) fn changes(inputs: &[&[u8]], remove: &[String]) -> (Vec<Vec<Change>>, Vec<String>) {
    if remove.is_empty() && !inputs.iter().any(|data| contains(data, PREFIX.as_bytes())) {
        return (vec![Vec::new(); inputs.len()], Vec::new());
    }
    let functions: Vec<Vec<Function>> = inputs.iter().map(|data| LlvmModule::functions(data)).collect();
    (of_functions(&functions, remove), warnings(&functions, remove))
}

fn warnings(functions: &[Vec<Function>], remove: &[String]) -> Vec<String> {
    let all = || functions.iter().flatten();
    let is_mentioned = |name: &str| all().any(|f| f.name == name || f.is_exported_as(name));
    let unknown = remove.iter().filter(|name| !is_mentioned(name) && !is_library(name));
    let text = |name: &String| {
        let near = near(name, all().filter(|f| f.kind != Kind::Declared).map(|f| f.name.as_str()));
        let similar = if near.is_empty() { String::new() } else { format!(" (similar names: {})", near.join(", ")) };
        format!("--remove-function-body {name} has no effect: no file contains the function{similar}")
    };
    unknown.map(text).collect()
}

fn of_functions(functions: &[Vec<Function>], remove: &[String]) -> Vec<Vec<Change>> {
    let names = functions.iter().flatten().map(|f| f.name.as_str());
    let wanted: BTreeSet<&str> =
        names.chain(remove.iter().map(String::as_str)).filter(|name| name.starts_with(PREFIX)).collect();
    let mut changes = vec![Vec::new(); functions.len()];
    // The inputs with a static function that is exported under a name in `remove`.
    let mut exported: BTreeSet<(usize, &str)> = BTreeSet::new();
    for (n, functions) in functions.iter().enumerate() {
        for f in functions.iter().filter(|f| f.kind == Kind::Static) {
            if let Some(&name) = wanted.iter().find(|name| f.is_exported_as(name)) {
                changes[n].push(Change::Export { name: f.name.clone(), exported: name.to_owned() });
                exported.insert((n, name));
            }
        }
    }
    for name in remove {
        let inputs_with = |kind| -> Vec<usize> {
            let has = |functions: &Vec<Function>| functions.iter().any(|f| f.kind == kind && f.name == *name);
            (0..functions.len()).filter(|&n| has(&functions[n])).collect()
        };
        let mut gone: Vec<usize> = exported.iter().filter(|(_, e)| e == name).map(|&(n, _)| n).collect();
        gone.extend(inputs_with(Kind::Static));
        let mut defined = inputs_with(Kind::Defined);
        if !gone.is_empty() || defined.len() > 1 || is_library(name) {
            defined.pop();
        }
        gone.extend(defined);
        gone.into_iter().for_each(|n| changes[n].push(Change::Remove { name: name.clone() }));
    }
    changes
}

fn contains(data: &[u8], pattern: &[u8]) -> bool {
    let first = pattern[0];
    let mut rest = data;
    while let Some(at) = rest.iter().position(|&b| b == first) {
        if rest[at..].starts_with(pattern) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    use Kind::{Declared, Defined, Static};

    fn function(kind: Kind, name: &str, file: &str) -> Function {
        Function { kind, name: name.to_owned(), file: file.to_owned() }
    }

    #[test]
    fn static_functions_get_the_names_of_goto_cc() {
        let f = function(Static, "s_grow", "/src/lib-a/queue.impl.c");
        assert!(f.is_exported_as("__CPROVER_file_local_queue_impl_c_s_grow"));
        assert!(f.is_exported_as("__CPROVER_file_local_lib_a_queue_impl_c_s_grow"));
        assert!(f.is_exported_as("__CPROVER_file_local__src_lib_a_queue_impl_c_s_grow"));
        assert!(!f.is_exported_as("__CPROVER_file_local_impl_c_s_grow"));
        assert!(!f.is_exported_as("__CPROVER_file_local_queue_impl_c_grow"));
    }

    #[test]
    fn what_is_removed() {
        let grow = "__CPROVER_file_local_queue_c_s_grow";
        let inputs = [
            vec![
                function(Static, "s_grow", "queue.c"),
                function(Static, "s_other", "queue.c"),
                function(Defined, "find", ""),
            ],
            vec![function(Declared, grow, ""), function(Defined, "find", ""), function(Defined, "abort", "")],
        ];
        let of = |names: &[&str]| of_functions(&inputs, &names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>());
        let export = Change::Export { name: "s_grow".into(), exported: grow.into() };
        let remove = |name: &str| Change::Remove { name: name.into() };
        assert_eq!(of(&[]), [vec![export.clone()], vec![]]);
        assert_eq!(of(&[grow]), [vec![export.clone(), remove(grow)], vec![]]);
        // The definition in the last file remains, and so does one that replaces a library function.
        assert_eq!(of(&["find", "abort"]), [vec![export.clone(), remove("find")], vec![]]);
        assert_eq!(of(&["s_other"])[0], [export, remove("s_other")]);
    }

    #[test]
    fn unknown_functions_are_reported() {
        let inputs = [vec![function(Static, "s_grow", "queue.c"), function(Declared, "declared", "")]];
        let of = |name: &str| warnings(&inputs, &[name.to_owned()]);
        for known in ["s_grow", "__CPROVER_file_local_queue_c_s_grow", "declared", "strlen"] {
            assert_eq!(of(known), Vec::<String>::new());
        }
        assert!(of("s_gorw")[0].ends_with("no file contains the function (similar names: s_grow)"));
        assert!(of("else")[0].ends_with("no file contains the function"));
    }

    #[test]
    fn bytes_are_found() {
        assert!(contains(b"xx__CPROVER_file_local_y", PREFIX.as_bytes()));
        assert!(!contains(b"__CPROVER_file", PREFIX.as_bytes()));
    }
}
