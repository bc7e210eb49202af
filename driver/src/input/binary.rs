//! Objects, archives and programs: the records of `proviso cc` in them, and bitcode that clang embeds.

use crate::failure::Failure;
use crate::files;
use crate::input::project::Entry;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How ELF files start.
pub const ELF: &[u8] = b"\x7fELF";
const ARCHIVE: &[u8] = b"!<arch>\n";
/// An archive that names its members instead of holding them.
const THIN: &[u8] = b"!<thin>\n";
/// The section with records, a line each.
pub const SECTION: &str = ".proviso.commands";
/// The sections where clang puts bitcode: `-fembed-bitcode`, and `-flto -ffat-lto-objects`.
const BITCODE: [&str; 2] = [".llvmbc", ".llvm.lto"];

/// A line of the section.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(untagged)]
pub enum Record {
    /// The records before it were linked.
    Linked(Link),
    Compiled(Entry),
}

/// How a file was linked, and what else was linked into it.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Link {
    pub output: PathBuf,
    /// The linker's options, a word each.
    pub linker: Vec<String>,
    /// Symbols of objects without records, and the objects.
    pub foreign: BTreeMap<String, String>,
    /// Files that may define or run anything: sources in other languages, and objects without records that have constructors.
    pub unknown: Vec<String>,
}

/// An object, a program, or a member of an archive.
#[derive(Default, Debug)]
pub struct Object {
    pub records: Vec<Record>,
    pub bitcode: Option<Vec<u8>>,
    /// The symbols that it defines for others.
    pub symbols: Vec<String>,
    /// It has functions that run before `main`.
    pub has_constructors: bool,
    pub is_shared: bool,
}

impl Object {
    /// True if it tells what it consists of.
    pub fn is_known(&self) -> bool {
        !self.records.is_empty() || self.bitcode.is_some()
    }

    fn of(data: &[u8]) -> Self {
        if data.starts_with(b"BC") {
            return Self { bitcode: Some(data.to_vec()), ..Self::default() };
        }
        let text = section(data, SECTION).unwrap_or_default();
        // Linkers may put zeros between the parts of a section.
        let lines = String::from_utf8_lossy(&text);
        let lines = lines.split(['\n', '\0']).filter(|line| !line.is_empty());
        let records: Vec<Record> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        let embedded = || BITCODE.iter().find_map(|name| section(data, name));
        let bitcode = if records.is_empty() { embedded() } else { None };
        let Some(elf) = Elf::new(data) else { return Self { records, bitcode, ..Self::default() } };
        let is_shared = elf.is_shared();
        Self {
            records,
            bitcode,
            symbols: {
                let table = if is_shared { [".dynsym", ".dynstr"] } else { [".symtab", ".strtab"] };
                elf.symbols(table, |symbol| symbol.is_defined && !symbol.is_local)
            },
            has_constructors: !is_shared && elf.has_constructors(),
            is_shared,
        }
    }
}

/// What a binary consists of.
#[derive(Default, Debug)]
pub struct Content {
    pub objects: Vec<Object>,
    /// Its objects are a part of a program only if they are needed.
    pub is_archive: bool,
}

/// Whether a file that starts like this is an object, an archive or a program.
pub fn is_binary(start: &[u8]) -> bool {
    [ELF, ARCHIVE, THIN].iter().any(|magic| start.starts_with(magic))
}

/// Records as a section holds them.
pub fn to_text(records: &[Record]) -> String {
    records.iter().filter_map(|record| serde_json::to_string(record).ok()).map(|line| line + "\n").collect()
}

/// What a file consists of; a thin archive, of what is in the files that it names. `None` if it is no object, archive or program.
pub fn read(file: &Path) -> Result<Option<Content>, Failure> {
    let data = files::read(file)?;
    let Some(names) = members_elsewhere(&data) else { return Ok(content(&data)) };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut all = Content { is_archive: true, ..Content::default() };
    for name in names {
        all.objects.extend(content(&files::read(&folder.join(name))?).unwrap_or_default().objects);
    }
    Ok(Some(all))
}

/// What an object, an archive or a program consists of; `None` if it is neither.
fn content(data: &[u8]) -> Option<Content> {
    if data.starts_with(ARCHIVE) {
        let objects = members(data).into_iter().filter(|member| member.starts_with(ELF) || member.starts_with(b"BC"));
        Some(Content { objects: objects.map(Object::of).collect(), is_archive: true })
    } else if data.starts_with(ELF) {
        Some(Content { objects: vec![Object::of(data)], is_archive: false })
    } else {
        None
    }
}

/// The files that a thin archive consists of, relative to its folder; `None` if the file is none.
fn members_elsewhere(data: &[u8]) -> Option<Vec<String>> {
    data.starts_with(THIN).then_some(())?;
    let mut names: &[u8] = &[];
    let mut found = Vec::new();
    let mut at = THIN.len();
    while let Some((name, size, start)) = header(data, at) {
        at = start;
        let is_index = name == "/" || name == "/SYM64/";
        if is_index || name == "//" {
            // These alone have their content here.
            let Some(content) = at.checked_add(size).and_then(|end| data.get(at..end)) else { break };
            if !is_index {
                names = content;
            }
            at += size + size % 2;
        } else if let Some(long) = name.strip_prefix('/') {
            // A place among the names, and for a member of another archive its place there.
            let start = long.split(':').next().and_then(|at| at.parse::<usize>().ok());
            let Some(rest) = start.and_then(|start| names.get(start..)) else { break };
            let name = rest.split(|&b| b == b'\n').next().unwrap_or(rest);
            found.push(String::from_utf8_lossy(name).trim_end_matches('/').to_owned());
        } else {
            found.push(name.trim_end_matches('/').to_owned());
        }
    }
    found.dedup();
    Some(found)
}

/// The header of a member of an archive: its name, the size of its content, and where this starts.
fn header(archive: &[u8], at: usize) -> Option<(String, usize, usize)> {
    const HEADER: usize = 60;
    let header = archive.get(at..at + HEADER)?;
    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&header[range]).trim().to_owned();
    Some((text(0..16), text(48..58).parse().unwrap_or(usize::MAX), at + HEADER))
}

/// The members of an archive.
fn members(archive: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = ARCHIVE.len();
    while let Some((_, size, start)) = header(archive, at) {
        let Some(member) = start.checked_add(size).and_then(|end| archive.get(start..end)) else { break };
        found.push(member);
        at = start + size + size % 2;
    }
    found
}

/// The names of all symbols of an ELF file, without versions; `None` if it keeps none but for dynamic linking.
pub fn names(data: &[u8]) -> Option<BTreeSet<String>> {
    let elf = Elf::new(data)?;
    elf.section(".symtab")?;
    let tables = [[".symtab", ".strtab"], [".dynsym", ".dynstr"]];
    let all = tables.into_iter().flat_map(|table| elf.symbols(table, |_| true));
    Some(all.map(|name| name.split('@').next().unwrap_or_default().to_owned()).collect())
}

/// The content of a section of an ELF file, if it has it.
pub fn section(data: &[u8], name: &str) -> Option<Vec<u8>> {
    Elf::new(data)?.section(name).map(<[u8]>::to_vec)
}

/// The table of sections of a little-endian ELF file.
struct Elf<'d> {
    data: &'d [u8],
    wide: bool,
    table: usize,
    entry: usize,
    count: usize,
    /// The section with the names of all.
    names: usize,
}

struct Symbol {
    is_local: bool,
    is_defined: bool,
}

struct Header {
    name: usize,
    offset: usize,
    size: usize,
}

impl<'d> Elf<'d> {
    fn new(data: &'d [u8]) -> Option<Self> {
        let wide = match data.get(..6)? {
            [0x7f, b'E', b'L', b'F', class @ (1 | 2), 1] => *class == 2,
            _ => return None,
        };
        let number = |at, size| number(data, at, size);
        let (table, fields) = if wide { (number(0x28, 8)?, 0x3a) } else { (number(0x20, 4)?, 0x2e) };
        let (entry, count, names) = (number(fields, 2)?, number(fields + 2, 2)?, number(fields + 4, 2)?);
        Some(Self { data, wide, table, entry, count, names })
    }

    fn section(&self, name: &str) -> Option<&'d [u8]> {
        let wanted =
            (0..self.count).filter_map(|n| self.header(n)).find(|header| self.name(header) == name.as_bytes())?;
        self.data.get(wanted.offset..wanted.offset.checked_add(wanted.size)?)
    }

    fn name(&self, header: &Header) -> &'d [u8] {
        let start = self.header(self.names).and_then(|names| names.offset.checked_add(header.name));
        start.and_then(|at| text(self.data, at)).unwrap_or_default()
    }

    fn is_shared(&self) -> bool {
        const SHARED: usize = 3;
        number(self.data, 0x10, 2) == Some(SHARED)
    }

    fn has_constructors(&self) -> bool {
        let is_table = |header: &Header| {
            let name = self.name(header);
            header.size > 0 && [&b".init_array"[..], b".preinit_array", b".ctors"].iter().any(|t| name.starts_with(t))
        };
        (0..self.count).filter_map(|n| self.header(n)).any(|header| is_table(&header))
    }

    /// The symbols of a table that are as wanted, with the names in another section.
    fn symbols(&self, [table, names]: [&str; 2], is_wanted: impl Fn(&Symbol) -> bool) -> Vec<String> {
        let (Some(table), Some(names)) = (self.section(table), self.section(names)) else { return Vec::new() };
        let (size, info, section) = if self.wide { (24, 4, 6) } else { (16, 12, 14) };
        let name = |entry: &[u8]| {
            let is_local = number(entry, info, 1)? >> 4 == 0;
            let symbol = Symbol { is_local, is_defined: number(entry, section, 2)? != 0 };
            let name = String::from_utf8_lossy(text(names, number(entry, 0, 4)?)?).into_owned();
            (is_wanted(&symbol) && !name.is_empty()).then_some(name)
        };
        table.chunks_exact(size).filter_map(name).collect()
    }

    fn header(&self, n: usize) -> Option<Header> {
        let at = self.table.checked_add(n.checked_mul(self.entry)?)?;
        let field = |offset: usize, size| number(self.data, at.checked_add(offset)?, size);
        let (offset, size) =
            if self.wide { (field(0x18, 8)?, field(0x20, 8)?) } else { (field(0x10, 4)?, field(0x14, 4)?) };
        Some(Header { name: field(0, 4)?, offset, size })
    }
}

/// The text at a place, up to a zero.
fn text(data: &[u8], at: usize) -> Option<&[u8]> {
    data.get(at..)?.split(|&byte| byte == 0).next()
}

fn number(data: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(size)?)?;
    usize::try_from(bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_binary_has_nothing() {
        assert!(content(b"int x;").is_none());
        for broken in
            [&b"\x7fELF"[..], b"\x7fELF\x02\x01", b"!<arch>\nx", &[ELF, &[2, 1, 0xff, 0xff], &[0xff; 80]].concat()]
        {
            let found = content(broken).unwrap();
            assert!(found.objects.iter().all(|object| !object.is_known() && object.symbols.is_empty()));
        }
    }

    #[test]
    fn members_of_archives() {
        let header = |size: usize| format!("{:48}{size:<10}`\n", "a.o/");
        let archive = ["!<arch>\n", &header(3), "abc\n", &header(2), "de"].concat();
        assert_eq!(members(archive.as_bytes()), [&b"abc"[..], b"de"]);
    }

    #[test]
    fn members_of_thin_archives() {
        let header = |name: &str, size: usize| format!("{name:48}{size:<10}`\n");
        let names = "sub/a long name.o/\n../b.o/\n";
        let archive = ["!<thin>\n", &header("/", 2), "xx", &header("//", names.len()), names, "\n"];
        let members = [header("/0", 100), header("/19", 200), header("c.o/", 1 << 40)];
        let archive = archive.concat() + &members.concat();
        let found = members_elsewhere(archive.as_bytes()).unwrap();
        assert_eq!(found, ["sub/a long name.o", "../b.o", "c.o"]);
        assert_eq!(members_elsewhere(b"!<arch>\n"), None);
        for end in 0..archive.len() {
            members_elsewhere(&archive.as_bytes()[..end]);
        }
    }
}
