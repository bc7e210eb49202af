//! Functions that are exported, or lose their bodies, before the inputs are linked.
//!
//! goto-cc can export static functions as `__CPROVER_file_local_FILE_NAME`, so that proofs in other files call or
//! replace them: `s_grow` in `queue.c` is `__CPROVER_file_local_queue_c_s_grow`. A function is exported here where an
//! input or an option uses that name.

use crate::llvm::LlvmModule;
use crate::{models, primitives};
use std::collections::BTreeSet;

const PREFIX: &str = "__CPROVER_file_local_";

/// A function of an input.
struct Function<'a> {
    kind: Kind,
    name: &'a str,
    /// Of a static function, the file it is in.
    file: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Declared,
    Defined,
    Static,
}

impl<'a> Function<'a> {
    /// From a line of [`LlvmModule::functions`].
    fn read(line: &'a str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ')?;
        let (name, file) = rest.split_once(' ').unwrap_or((rest, ""));
        let kind = match kind {
            "local" => Kind::Static,
            "defined" => Kind::Defined,
            _ => Kind::Declared,
        };
        Some(Self { kind, name, file })
    }

    /// Whether goto-cc would export it under this name, the file being named by its path or the end of it.
    fn is_exported_as(&self, exported: &str) -> bool {
        let of_file = exported.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(self.name)?.strip_suffix('_'));
        let starts = std::iter::once(0).chain(self.file.match_indices('/').map(|(at, _)| at + 1));
        self.kind == Kind::Static && starts.into_iter().any(|start| of_file == Some(&mangled(&self.file[start..])))
    }
}

/// A path as it stands in a mangled name: what C does not allow in names becomes `_`, and several of these one.
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

/// By input, the changes to make as [`Link::Everything`](crate::llvm::Link) takes them. The functions named in `remove`
/// lose their bodies. Where there is a definition besides, by the library or in more inputs, that in the last input stays.
pub(crate) fn changes(inputs: &[&[u8]], remove: &[String]) -> Vec<String> {
    if remove.is_empty() && !inputs.iter().any(|data| contains(data, PREFIX.as_bytes())) {
        return vec![String::new(); inputs.len()];
    }
    let lists: Vec<String> = inputs.iter().map(|data| LlvmModule::functions(data)).collect();
    let functions: Vec<Vec<Function<'_>>> =
        lists.iter().map(|list| list.lines().filter_map(Function::read).collect()).collect();
    of_functions(&functions, remove)
}

fn of_functions(functions: &[Vec<Function<'_>>], remove: &[String]) -> Vec<String> {
    let names = functions.iter().flatten().map(|f| f.name);
    let wanted: BTreeSet<&str> =
        names.chain(remove.iter().map(String::as_str)).filter(|name| name.starts_with(PREFIX)).collect();
    let mut changes = vec![String::new(); functions.len()];
    // The inputs with a static function that is exported under a name to be removed.
    let mut exported: BTreeSet<(usize, &str)> = BTreeSet::new();
    for (n, functions) in functions.iter().enumerate() {
        for f in functions.iter().filter(|f| f.kind == Kind::Static) {
            if let Some(&name) = wanted.iter().find(|name| f.is_exported_as(name)) {
                changes[n] += &format!("export {} {name}\n", f.name);
                exported.insert((n, name));
            }
        }
    }
    for name in remove {
        let inputs_with = |kind| -> Vec<usize> {
            let has = |functions: &Vec<Function<'_>>| functions.iter().any(|f| f.kind == kind && f.name == name);
            (0..functions.len()).filter(|&n| has(&functions[n])).collect()
        };
        let mut gone: Vec<usize> = exported.iter().filter(|(_, e)| e == name).map(|&(n, _)| n).collect();
        gone.extend(inputs_with(Kind::Static));
        let mut defined = inputs_with(Kind::Defined);
        if !gone.is_empty() || defined.len() > 1 || is_library(name) {
            defined.pop();
        }
        gone.extend(defined);
        gone.into_iter().for_each(|n| changes[n] += &format!("remove {name}\n"));
    }
    changes
}

fn is_library(name: &str) -> bool {
    primitives::primitive(name).is_some() || !models::needed([name], &[]).is_empty()
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

    fn functions(lines: &'static str) -> Vec<Function<'static>> {
        lines.lines().filter_map(Function::read).collect()
    }

    #[test]
    fn static_functions_get_the_names_of_goto_cc() {
        let f = Function::read("local s_grow /src/lib-a/queue.impl.c").unwrap();
        assert!(f.is_exported_as("__CPROVER_file_local_queue_impl_c_s_grow"));
        assert!(f.is_exported_as("__CPROVER_file_local_lib_a_queue_impl_c_s_grow"));
        assert!(f.is_exported_as("__CPROVER_file_local__src_lib_a_queue_impl_c_s_grow"));
        assert!(!f.is_exported_as("__CPROVER_file_local_impl_c_s_grow"));
        assert!(!f.is_exported_as("__CPROVER_file_local_queue_impl_c_grow"));
    }

    #[test]
    fn what_is_removed() {
        let inputs = [
            functions("local s_grow queue.c\nlocal s_other queue.c\ndefined find"),
            functions("used __CPROVER_file_local_queue_c_s_grow\ndefined find\ndefined abort"),
        ];
        let grow = "__CPROVER_file_local_queue_c_s_grow";
        let of = |names: &[&str]| of_functions(&inputs, &names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), [format!("export s_grow {grow}\n"), String::new()]);
        assert_eq!(of(&[grow]), [format!("export s_grow {grow}\nremove {grow}\n"), String::new()]);
        // The definition in the last file stays, and what stands for a function of the library.
        assert_eq!(of(&["find", "abort"])[0], format!("export s_grow {grow}\nremove find\n"));
        assert_eq!(of(&["find", "abort"])[1], "");
        assert_eq!(of(&["s_other"])[0], format!("export s_grow {grow}\nremove s_other\n"));
    }

    #[test]
    fn bytes_are_found() {
        assert!(contains(b"xx__CPROVER_file_local_y", PREFIX.as_bytes()));
        assert!(!contains(b"__CPROVER_file", PREFIX.as_bytes()));
    }
}
