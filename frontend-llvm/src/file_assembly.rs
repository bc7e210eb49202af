//! Assembly at file scope. It may define symbols, change their values, and run code before `main`. Directives that give
//! a symbol a second name are modelled. Any other statement is reported, unless it is known not to affect the meaning
//! of the C code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Directives that do not affect the meaning of C code: they describe symbols and sections of the object file, or place
/// bytes without a symbol.
const HARMLESS: &[&str] = &[
    ".2byte",
    ".4byte",
    ".8byte",
    ".addrsig",
    ".addrsig_sym",
    ".align",
    ".ascii",
    ".asciz",
    ".att_syntax",
    ".balign",
    ".bss",
    ".byte",
    ".data",
    ".file",
    ".hidden",
    ".hword",
    ".ident",
    ".int",
    ".internal",
    ".loc",
    ".long",
    ".octa",
    ".p2align",
    ".popsection",
    ".previous",
    ".protected",
    ".pushsection",
    ".quad",
    ".rodata",
    ".section",
    ".short",
    ".single",
    ".size",
    ".skip",
    ".space",
    ".string",
    ".symver",
    ".text",
    ".type",
    ".value",
    ".word",
    ".zero",
];

/// Prefixes of the sections whose content the loader executes or calls.
const EXECUTED: [&str; 5] = [".init", ".fini", ".preinit", ".ctors", ".dtors"];

/// A statement of assembly at file scope that may affect the meaning of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileAssembly {
    pub statement: String,
    pub path: PathBuf,
    /// The line in the C file, if it was found.
    pub line: Option<u32>,
}

impl FileAssembly {
    /// `path` is the file of the module.
    pub(crate) fn new(statement: String, path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_default();
        let line = line_of(&String::from_utf8_lossy(&text), &statement);
        Self { statement, path: path.to_owned(), line }
    }
}

/// A symbol that an assembly statement defines as a second name of another symbol (`.set name, target`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SecondName {
    pub name: String,
    pub target: String,
    pub binding: Binding,
    /// The statement that defines it.
    pub statement: String,
}

/// The visibility of a symbol to other object files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    Local,
    Global,
    Weak,
}

/// The modelled assembly of a module.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct SymbolDirectives {
    /// In the order of their definitions.
    pub names: Vec<SecondName>,
    /// `.globl` directives of other symbols, each with its statement. They have no effect if the module defines the
    /// symbol with external linkage or does not define it.
    pub exported: Vec<(String, String)>,
    /// The statements that do not affect the meaning of the C code.
    pub harmless: Vec<String>,
}

impl SymbolDirectives {
    /// Fails with the first statement that is not modelled.
    pub(crate) fn parse(assembly: &str) -> Result<Self, String> {
        let mut directives = Self::default();
        let (mut global, mut weak) = (Vec::new(), Vec::new());
        for statement in statements(assembly) {
            if is_harmless(&statement) {
                directives.harmless.push(statement);
            } else if let Some((name, target)) = assignment(&statement) {
                let (name, target) = (name.to_owned(), target.to_owned());
                if directives.names.iter().any(|earlier| earlier.name == name) {
                    return Err(statement);
                }
                directives.names.push(SecondName { name, target, binding: Binding::Local, statement });
            } else {
                let (directive, operands) = statement.split_once(' ').unwrap_or((&statement, ""));
                let names: Vec<&str> = operands.split(',').map(str::trim).collect();
                let declared = match directive {
                    ".globl" | ".global" => &mut global,
                    ".weak" => &mut weak,
                    _ => return Err(statement),
                };
                if !names.iter().all(|name| is_symbol(name)) {
                    return Err(statement);
                }
                declared.extend(names.into_iter().map(|name| (name.to_owned(), statement.clone())));
            }
        }
        let defined: BTreeSet<&String> = directives.names.iter().map(|second| &second.name).collect();
        if let Some((_, statement)) = weak.iter().find(|(name, _)| !defined.contains(name)) {
            return Err(statement.clone());
        }
        directives.exported = global.iter().filter(|(name, _)| !defined.contains(name)).cloned().collect();
        let is_in = |list: &[(String, String)], name: &String| list.iter().any(|(other, _)| other == name);
        for second in &mut directives.names {
            second.binding = match (is_in(&weak, &second.name), is_in(&global, &second.name)) {
                (true, _) => Binding::Weak,
                (false, true) => Binding::Global,
                (false, false) => Binding::Local,
            };
        }
        Ok(directives)
    }
}

/// The two symbols of `.set name, target`, `.equ name, target` or `name = target`.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (name, target) = match statement.split_once(' ') {
        Some((".set" | ".equ" | ".equiv", operands)) => operands.split_once(',')?,
        _ => statement.split_once('=')?,
    };
    let (name, target) = (name.trim(), target.trim());
    (is_symbol(name) && is_symbol(target) && name != target).then_some((name, target))
}

/// True for a symbol without quotes. A lone `.` is the current address.
fn is_symbol(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    text != "."
        && text.starts_with(|c: char| is_part(c) && !c.is_ascii_digit() && c != '$')
        && text.chars().all(is_part)
}

/// Splits x86 assembly into statements without comments.
fn statements(assembly: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = assembly.chars().peekable();
    while let Some(c) = rest.next() {
        let last = found.last_mut().expect("there is one");
        match c {
            '\n' | ';' => found.push(String::new()),
            '#' => while rest.next_if(|&c| c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|&c| c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                let mut before = ' ';
                for c in rest.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
                last.push(' ');
            }
            '"' => {
                last.push(c);
                while let Some(c) = rest.next() {
                    last.push(c);
                    match c {
                        '\\' => last.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            _ => last.push(c),
        }
    }
    let trimmed = found.iter().map(|s| s.split_whitespace().collect::<Vec<_>>().join(" "));
    trimmed.filter(|s| !s.is_empty()).collect()
}

fn is_harmless(statement: &str) -> bool {
    let (directive, operands) = statement.split_once(' ').unwrap_or((statement, ""));
    let switches = directive == ".section" || directive == ".pushsection";
    let section = operands.trim_start_matches('"');
    let is_executed = switches && EXECUTED.iter().any(|name| section.starts_with(name));
    (HARMLESS.binary_search(&directive).is_ok() || directive.starts_with(".cfi_")) && !is_executed
}

/// The line of the C declaration that contains this statement. If none does, the line of the first assembly
/// declaration.
fn line_of(text: &str, statement: &str) -> Option<u32> {
    let starts = file_scope_assembly(text);
    // A statement may be split over several string literals.
    let first = statement.split_whitespace().next().unwrap_or_default();
    let in_brackets = |at: usize| text[at..].split_once('(').and_then(|(_, rest)| rest.split(");").next());
    let has_it = |at: &&usize| in_brackets(**at).is_some_and(|assembly| assembly.contains(first));
    let at = *starts.iter().find(has_it).or(starts.first())?;
    Some(text[..at].bytes().filter(|&b| b == b'\n').count() as u32 + 1)
}

/// The offsets of assembly declarations in a C file.
fn file_scope_assembly(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut found) = (0, 0, Vec::new());
    // The last byte that is no white space. It distinguishes assembly declarations from labels of declarators.
    let mut before = b';';
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'#' if text[..at].rsplit('\n').next().is_some_and(|line| line.trim().is_empty()) => {
                while at < bytes.len() && (bytes[at] != b'\n' || bytes[at - 1] == b'\\') {
                    at += 1;
                }
                continue;
            }
            b'/' if bytes[at..].starts_with(b"//") => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b if b.is_ascii_alphabetic() || b == b'_' => {
                while at + 1 < bytes.len() && (bytes[at + 1].is_ascii_alphanumeric() || bytes[at + 1] == b'_') {
                    at += 1;
                }
                let is_assembly = ["asm", "__asm", "__asm__"].iter().any(|word| word.as_bytes() == &bytes[start..=at]);
                if is_assembly && depth == 0 && matches!(before, b';' | b'}') {
                    found.push(start);
                }
            }
            _ => {}
        }
        let last = bytes[at.min(bytes.len() - 1)];
        if !last.is_ascii_whitespace() {
            before = last;
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(assembly: &str) -> Option<String> {
        SymbolDirectives::parse(assembly).err()
    }

    #[test]
    fn directives_that_describe_are_harmless() {
        let harmless = [
            "",
            "  # .globl x\n/* .set a, b */ // call f\n",
            ".symver old_f, f@V1; .ident \"a; .set b, c\"",
            ".section .note.GNU-stack,\"\",@progbits\n.previous",
            ".pushsection .comment\n.asciz \"x\"\n.popsection",
            ".type f, @function\n.size f, 1\n.hidden f\n.cfi_sections .debug_frame",
        ];
        for assembly in harmless {
            assert_eq!(reported(assembly), None, "{assembly}");
        }
        assert!(HARMLESS.is_sorted());
    }

    #[test]
    fn whatever_else_there_is_is_reported() {
        let harmful = [
            (".globl alias_v\n.set alias_v, v + 4", ".set alias_v, v + 4"),
            (".ident \"x\"; a = 3", "a = 3"),
            ("a = b; a = c", "a = c"),
            ("a = .", "a = ."),
            (".set a, \"b\"", ".set a, \"b\""),
            (".globl f@PLT", ".globl f@PLT"),
            ("a == b", "a == b"),
            (".text\nf: ret", "f: ret"),
            (".weak f", ".weak f"),
            ("  call   f # now", "call f"),
            (".section .init_array,\"aw\"\n.quad f", ".section .init_array,\"aw\""),
            (".pushsection \".fini\"", ".pushsection \".fini\""),
            (".macro m", ".macro m"),
            (".comm x,4", ".comm x,4"),
        ];
        for (assembly, statement) in harmful {
            assert_eq!(reported(assembly).as_deref(), Some(statement));
        }
    }

    #[test]
    fn second_names_have_targets_and_bindings() {
        let directives =
            SymbolDirectives::parse(".globl a, other\n.set a,v; .weak w\nw = a\n.equ l , f.x; .text").unwrap();
        let names = directives.names.iter().map(|n| (n.name.as_str(), n.target.as_str(), n.binding));
        let expected = [("a", "v", Binding::Global), ("w", "a", Binding::Weak), ("l", "f.x", Binding::Local)];
        assert!(names.eq(expected));
        assert_eq!(directives.exported, [("other".to_owned(), ".globl a, other".to_owned())]);
        assert_eq!(directives.harmless, [".text"]);
    }

    #[test]
    fn the_line_is_that_of_the_declaration() {
        let text = "extern int f(void) __asm__(\"g\");\n#define A asm(\"x = y\")\n// asm(\"a = b\");\n\
                    int h(void) { asm(\"a = b\"); return '{'; }\n/* { */ asm(\".ident 1\");\n__asm__ (\n\"a = \" \"b\");\n";
        assert_eq!(line_of(text, "a = b"), Some(6));
        assert_eq!(line_of(text, "nowhere"), Some(5));
        assert_eq!(line_of("int f;", "a = b"), None);
    }
}
