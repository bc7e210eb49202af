//! The lines of a C file by their numbers. Line directives (`#line 7 "a.y"`, and `# 7 "a.c"` in preprocessed C) give
//! the lines after them other numbers and file names, which the debug information has.

use crate::c_scan::Source;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The numbers of the lines of a file.
pub struct Numbering {
    /// The path of the file, then the names in its line directives.
    names: Vec<PathBuf>,
    /// By name and number: the byte offset of the line. `None` if several lines have this number.
    starts: FxHashMap<(usize, u32), Option<usize>>,
    is_changed: bool,
}

impl Numbering {
    /// The numbers of the lines of a source at a path.
    pub fn new(path: &Path, source: &Source) -> Self {
        let text = source.text;
        let start_of_line = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
        let directives = source.directives.iter().map(|d| (start_of_line(d.start), &text[d.clone()]));
        let directives: FxHashMap<usize, &str> = directives.collect();
        let mut this = Self { names: vec![absolute(path)], starts: FxHashMap::default(), is_changed: false };
        let (mut name, mut number) = (0, 1);
        for start in std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)) {
            if let Some((given, file)) = directives.get(&start).and_then(|text| line_directive(text)) {
                (number, this.is_changed) = (given, true);
                name = file.map_or(name, |file| this.intern(&absolute(Path::new(file))));
                continue;
            }
            this.starts.entry((name, number)).and_modify(|start| *start = None).or_insert(Some(start));
            number = number.saturating_add(1);
        }
        this
    }

    fn intern(&mut self, name: &Path) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    fn find(&self, name: &Path) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The number of a name, for [`start`](Self::start). `None` if no line of the file has it.
    pub fn name(&self, name: &str) -> Option<usize> {
        self.find(&absolute(Path::new(name)))
    }

    /// True if a line directive changes the numbers.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// The byte offset of the line with this number. `None` if there is no such line, or more than one.
    pub fn start(&self, name: usize, line: u32) -> Option<usize> {
        self.starts.get(&(name, line)).copied().flatten()
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The number that a line directive gives the next line, and the name of the file if it has one.
fn line_directive(directive: &str) -> Option<(u32, Option<&str>)> {
    let rest = directive.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    let file = rest[digits..].split('"').nth(1);
    Some((number, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_numbers_that_directives_give() {
        let text = "int a;\n#line 7\nint b;\nint c;\n# 1 \"x.y\" 2\nint d;\n#  line  7  \"a.c\"\nint e;\n/*\n#line 50\n*/\nint f;\n";
        let numbering = Numbering::new(Path::new("a.c"), &Source::new(text));
        let line = |name: &str, number: u32| {
            let start = numbering.start(numbering.name(name)?, number)?;
            text[start..].lines().next()
        };
        assert_eq!(line("a.c", 1), Some("int a;"));
        assert_eq!(line("a.c", 8), None, "two lines have this number");
        assert_eq!(line("x.y", 1), Some("int d;"));
        assert_eq!(line("a.c", 11), Some("int f;"), "comments have no directives");
        assert_eq!((line("a.c", 50), numbering.name("other.c")), (None, None));
    }
}
