//! Object files, archives and linked programs: the records that `proviso cc` puts in them, and the bitcode that clang
//! embeds.

use crate::failure::Failure;
use crate::files;
use crate::input::project::Entry;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The first bytes of an ELF file.
pub const ELF: &[u8] = b"\x7fELF";
/// The first bytes of an archive.
const ARCHIVE: &[u8] = b"!<arch>\n";
/// The first bytes of a thin archive, which names its members instead of containing them.
const THIN: &[u8] = b"!<thin>\n";
/// The name of the section with the records, one per line.
pub const SECTION: &str = ".proviso.commands";
/// The sections with bitcode from clang, for `-fembed-bitcode` and for `-flto -ffat-lto-objects`.
const BITCODE: [&str; 2] = [".llvmbc", ".llvm.lto"];

/// A line of the section [`SECTION`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(untagged)]
pub enum Record {
    /// The files of the preceding records were linked.
    Linked(Link),
    /// A file was compiled.
    Compiled(Entry),
}

/// One run of the linker.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Link {
    /// The output file.
    pub output: PathBuf,
    /// The options of the linker, one word each.
    pub linker: Vec<String>,
    /// The symbols that objects without records define, each with the name of its object.
    pub foreign: BTreeMap<String, String>,
    /// Linked files that may define or run anything: sources in other languages, objects without records that have
    /// constructors, and shared libraries outside of the C library that have constructors.
    pub unknown: Vec<String>,
}

/// An object, a program, or a member of an archive.
#[derive(Default, Debug)]
pub struct Object {
    /// The records of `proviso cc`.
    pub records: Vec<Record>,
    /// The embedded bitcode modules, if there are no records; or the file itself if it is bitcode.
    pub bitcode: Vec<Vec<u8>>,
    /// The non-local symbols that it defines.
    pub symbols: Vec<String>,
    /// True if code of it runs before `main` or after its end.
    pub has_constructors: bool,
    /// The data for the dynamic linker, for a shared library or a program.
    pub dynamic: Option<Dynamic>,
}

/// The data for the dynamic linker in a shared library or a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Dynamic {
    /// True for a 64-bit file.
    pub is_wide: bool,
    /// True if it is a shared library or a position-independent program.
    pub is_shared: bool,
    /// The name by which other files require this library, if it differs from the name of the file.
    pub name: Option<String>,
    /// The names or paths of the shared libraries that it requires.
    pub needed: Vec<String>,
    /// The folders in which they are searched. `$ORIGIN` stands for the folder of this file.
    pub folders: Vec<String>,
}

impl Object {
    /// Returns true if the object has records or bitcode, so that its source is known.
    pub fn is_known(&self) -> bool {
        !self.records.is_empty() || !self.bitcode.is_empty()
    }

    /// Returns true if it is a shared library or a position-independent program.
    pub fn is_shared(&self) -> bool {
        self.dynamic.as_ref().is_some_and(|dynamic| dynamic.is_shared)
    }

    /// Reads an object or a bitcode file. Malformed parts are skipped.
    fn read(data: &[u8]) -> Self {
        if data.starts_with(b"BC") {
            return Self { bitcode: vec![data.to_vec()], ..Self::default() };
        }
        let text = section(data, SECTION).unwrap_or_default();
        // Linkers may insert zeros between the parts of a section.
        let lines = String::from_utf8_lossy(&text);
        let lines = lines.split(['\n', '\0']).filter(|line| !line.is_empty());
        let records: Vec<Record> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        let embedded = || BITCODE.iter().find_map(|name| section(data, name)).unwrap_or_default();
        let bitcode = if records.is_empty() { modules(&embedded()) } else { Vec::new() };
        let Some(elf) = Elf::new(data) else { return Self { records, bitcode, ..Self::default() } };
        let is_shared = elf.is_shared();
        Self {
            records,
            bitcode,
            symbols: {
                let table = if is_shared { [".dynsym", ".dynstr"] } else { [".symtab", ".strtab"] };
                elf.symbols(table, |symbol| symbol.is_defined && !symbol.is_local)
            },
            has_constructors: elf.has_constructors(),
            dynamic: elf.dynamic(),
        }
    }
}

/// Splits a section into bitcode modules. A linker concatenates the sections of its inputs, and it may insert zeros
/// between them. If the structure of a module is malformed, the rest of the section counts as one module, so that its
/// reader reports it.
///
/// A module is a magic word and blocks. A block starts with a word that contains its kind, and the number of words that
/// follow (LLVM's documentation of the bitstream container format).
fn modules(section: &[u8]) -> Vec<Vec<u8>> {
    /// The two bits that start a block.
    const ENTER_BLOCK: u32 = 1;
    let word = |at: usize| Some(u32::from_le_bytes(section.get(at..at + 4)?.try_into().ok()?));
    let magic = u32::from_le_bytes(*b"BC\xc0\xde");
    let mut found = Vec::new();
    let mut start = 0;
    while start < section.len() {
        if section[start] == 0 {
            start += 1;
            continue;
        }
        let mut end = start + 4;
        while let (Some(head), Some(words)) = (word(end), word(end + 4)) {
            if head == magic || head & 3 != ENTER_BLOCK {
                break;
            }
            end += 8 + 4 * words as usize;
        }
        let is_whole = word(start) == Some(magic)
            && end <= section.len()
            && section.get(end).is_none_or(|&b| b == 0 || word(end) == Some(magic));
        let end = if is_whole { end } else { section.len() };
        found.push(section[start..end].to_vec());
        start = end;
    }
    found
}

/// The content of a binary.
#[derive(Default, Debug)]
pub struct Content {
    /// The object itself, or the members of the archive.
    pub objects: Vec<Object>,
    /// True if the binary is an archive. A member of an archive belongs to a program only if the program needs it.
    pub is_archive: bool,
}

/// Returns true if a file with these first bytes is an object, an archive or a program.
pub fn is_binary(start: &[u8]) -> bool {
    [ELF, ARCHIVE, THIN].iter().any(|magic| start.starts_with(magic))
}

/// Returns the records as the text of the section, one JSON object per line.
pub fn to_text(records: &[Record]) -> String {
    records.iter().filter_map(|record| serde_json::to_string(record).ok()).map(|line| line + "\n").collect()
}

/// Reads an object, an archive or a program. The members of a thin archive are read from the files that it names.
/// Returns `None` if the file is no object, archive or program. `Err` if a file cannot be read.
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

/// Returns the content of an object, an archive or a program, or `None` if the data are none of these.
fn content(data: &[u8]) -> Option<Content> {
    if data.starts_with(ARCHIVE) {
        let objects = members(data).into_iter().filter(|member| member.starts_with(ELF) || member.starts_with(b"BC"));
        Some(Content { objects: objects.map(Object::read).collect(), is_archive: true })
    } else if data.starts_with(ELF) {
        Some(Content { objects: vec![Object::read(data)], is_archive: false })
    } else {
        None
    }
}

/// Returns the paths of the members of a thin archive, relative to its folder, or `None` if the data are no thin
/// archive.
fn members_elsewhere(data: &[u8]) -> Option<Vec<String>> {
    data.starts_with(THIN).then_some(())?;
    let mut names: &[u8] = &[];
    let mut found = Vec::new();
    let mut at = THIN.len();
    while let Some((name, size, start)) = header(data, at) {
        at = start;
        let is_index = name == "/" || name == "/SYM64/";
        if is_index || name == "//" {
            // Only these two members have their content in the thin archive itself.
            let Some(content) = at.checked_add(size).and_then(|end| data.get(at..end)) else { break };
            if !is_index {
                names = content;
            }
            at += size + size % 2;
        } else if let Some(long) = name.strip_prefix('/') {
            // The offset of the name in the table of names. For a member of another archive, `:` and its offset there
            // follow.
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

/// Reads the header of a member of an archive at an offset. Returns the name, and the size and the offset of the
/// content. Returns `None` at the end of the archive. A malformed size is `usize::MAX`.
fn header(archive: &[u8], at: usize) -> Option<(String, usize, usize)> {
    const HEADER: usize = 60;
    let header = archive.get(at..at + HEADER)?;
    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&header[range]).trim().to_owned();
    Some((text(0..16), text(48..58).parse().unwrap_or(usize::MAX), at + HEADER))
}

/// Returns the contents of the members of an archive.
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

/// Returns the names of all symbols of an ELF file, without versions. Returns `None` if the file has no symbol table
/// except for dynamic linking, or is no ELF file.
pub fn names(data: &[u8]) -> Option<BTreeSet<String>> {
    let elf = Elf::new(data)?;
    elf.section(".symtab")?;
    let tables = [[".symtab", ".strtab"], [".dynsym", ".dynstr"]];
    let all = tables.into_iter().flat_map(|table| elf.symbols(table, |_| true));
    Some(all.map(|name| name.split('@').next().unwrap_or_default().to_owned()).collect())
}

/// Returns the data for the dynamic linker in a shared library or a program. Returns `None` for other files.
pub fn dynamic(data: &[u8]) -> Option<Dynamic> {
    Elf::new(data)?.dynamic()
}

/// Returns the content of a section of an ELF file. Returns `None` if there is no such section, or the file is no ELF
/// file.
pub fn section(data: &[u8], name: &str) -> Option<Vec<u8>> {
    Elf::new(data)?.section(name).map(<[u8]>::to_vec)
}

/// A little-endian ELF file with the position of its section table.
struct Elf<'d> {
    data: &'d [u8],
    /// True for 64-bit files.
    wide: bool,
    /// The offset of the section table.
    table: usize,
    /// The size of an entry of the table in bytes.
    entry: usize,
    /// The number of sections.
    count: usize,
    /// The index of the section with the names of all sections.
    names: usize,
}

/// The properties of a symbol in a symbol table.
struct Symbol {
    is_local: bool,
    is_defined: bool,
}

/// An entry of the section table.
struct Header {
    /// The offset of the name in the section with the names.
    name: usize,
    /// The offset of the content in the file.
    offset: usize,
    /// The size of the content in bytes.
    size: usize,
    /// The address of the content in a shared library or a program.
    address: usize,
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
        let wanted = self.headers().find(|header| self.name(header) == name.as_bytes())?;
        self.data.get(wanted.offset..wanted.offset.checked_add(wanted.size)?)
    }

    fn headers(&self) -> impl Iterator<Item = Header> {
        (0..self.count).filter_map(|n| self.header(n))
    }

    fn name(&self, header: &Header) -> &'d [u8] {
        let start = self.header(self.names).and_then(|names| names.offset.checked_add(header.name));
        start.and_then(|at| text(self.data, at)).unwrap_or_default()
    }

    fn is_shared(&self) -> bool {
        const SHARED: usize = 3;
        number(self.data, 0x10, 2) == Some(SHARED)
    }

    /// Returns true if code runs before `main` or after its end. In a linked file, the compiler's start-up files
    /// contribute to the sections for such code.
    fn has_constructors(&self) -> bool {
        const START: usize = 12;
        const END: usize = 13;
        let size = |is_named: &dyn Fn(&[u8]) -> bool| -> usize {
            self.headers().filter(|header| is_named(self.name(header))).map(|header| header.size).sum()
        };
        let tables = [&b".init_array"[..], b".fini_array", b".preinit_array", b".ctors", b".dtors"];
        let code = [&b".init"[..], b".fini"];
        if self.dynamic_entries().is_empty() {
            return size(&|name| tables.iter().any(|table| name.starts_with(table)) || code.contains(&name)) > 0;
        }
        let word = if self.wide { 8 } else { 4 };
        // The sizes in bytes of the start-up code, with instructions for control-flow enforcement. Any call that another
        // file adds has at least 5 bytes.
        let of_startup = if self.wide { [27, 13] } else { [36, 24] };
        let has_startup = size(&|name| name == code[0]) > 0;
        let is_longer = |(section, length): (&&[u8], usize)| size(&|name| name == *section) > length;
        let entries = |table: &[u8]| match table {
            _ if !has_startup => 0,
            b".ctors" | b".dtors" => 2 * word,
            b".preinit_array" => 0,
            _ => word,
        };
        code.iter().zip(of_startup).any(is_longer)
            || tables.iter().any(|table| is_longer((table, entries(table))))
            || self.has_own_start(START, code[0])
            || self.has_own_start(END, code[1])
    }

    /// Returns true if the dynamic linker calls another function than the section with this name at the start or the
    /// end (`ld -init`, `ld -fini`). `tag` is the tag of its address.
    fn has_own_start(&self, tag: usize, section: &[u8]) -> bool {
        let address = self.headers().find(|header| self.name(header) == section).map(|header| header.address);
        self.dynamic_entries().iter().any(|&(found, value)| found == tag && Some(value) != address)
    }

    /// Returns the tags and values of the section for the dynamic linker.
    fn dynamic_entries(&self) -> Vec<(usize, usize)> {
        let word = if self.wide { 8 } else { 4 };
        let section = self.section(".dynamic").unwrap_or_default();
        let entries = section.chunks_exact(2 * word);
        entries.map_while(|e| Some((number(e, 0, word)?, number(e, word, word)?))).take_while(|e| e.0 != 0).collect()
    }

    fn dynamic(&self) -> Option<Dynamic> {
        const NEEDED: usize = 1;
        const NAME: usize = 14;
        const OLD_FOLDERS: usize = 15;
        const FOLDERS: usize = 29;
        let entries = self.dynamic_entries();
        if entries.is_empty() {
            return None;
        }
        let names = self.section(".dynstr").unwrap_or_default();
        let texts = |tag: usize| {
            let found = entries.iter().filter(move |(other, _)| *other == tag);
            found.filter_map(|&(_, at)| Some(String::from_utf8_lossy(text(names, at)?).into_owned()))
        };
        let folders = texts(OLD_FOLDERS).chain(texts(FOLDERS));
        Some(Dynamic {
            is_wide: self.wide,
            is_shared: self.is_shared(),
            name: texts(NAME).next(),
            needed: texts(NEEDED).collect(),
            folders: folders.flat_map(|list| list.split(':').map(str::to_owned).collect::<Vec<_>>()).collect(),
        })
    }

    /// Returns the names of those symbols of the section `table` that satisfy `is_wanted`. The section `names` contains
    /// the names.
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
        let (first, word) = if self.wide { (0x10, 8) } else { (0x0c, 4) };
        let [address, offset, size] = [0, 1, 2].map(|n| field(first + n * word, word));
        Some(Header { name: field(0, 4)?, offset: offset?, size: size?, address: address? })
    }
}

/// Returns the bytes from an offset up to the first zero.
fn text(data: &[u8], at: usize) -> Option<&[u8]> {
    data.get(at..)?.split(|&byte| byte == 0).next()
}

/// Returns the little-endian number of `size` bytes at an offset. Returns `None` if it is outside of the data or too
/// large.
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
    fn concatenated_modules_are_split() {
        let block =
            |content: &[u8]| [&[0x35, 0x14, 0, 0], &(content.len() as u32 / 4).to_le_bytes()[..], content].concat();
        let module = |n: u8| [b"BC\xc0\xde".to_vec(), block(&[n; 8]), block(b"BC\xc0\xde")].concat();
        let (a, b) = (module(1), module(0));
        assert_eq!(modules(&a), std::slice::from_ref(&a));
        assert_eq!(modules(&[&a[..], &b, &[0; 3], &a].concat()), [a.clone(), b.clone(), a.clone()]);
        // Malformed data stay in one piece.
        for broken in [&a[..a.len() - 1], b"BC\xc0\xdexyz", b"x", &[&a[..], b"!"].concat()] {
            assert_eq!(modules(broken), [broken.to_vec()]);
        }
        assert!(modules(&[]).is_empty());
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
