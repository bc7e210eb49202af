//! Objects, archives and programs: the records of `proviso cc` in them, and bitcode that clang embeds.

use crate::project::Entry;

/// How ELF files start.
pub const ELF: &[u8] = b"\x7fELF";
const ARCHIVE: &[u8] = b"!<arch>\n";
/// An archive that names its members instead of holding them.
const THIN: &[u8] = b"!<thin>\n";
/// The section with records, a line each.
pub const SECTION: &str = ".proviso.commands";
/// Where `clang -fembed-bitcode` puts it.
const BITCODE: &str = ".llvmbc";

/// What a binary consists of.
#[derive(Default, Debug)]
pub struct Content {
    pub records: Vec<Entry>,
    pub bitcode: Vec<Vec<u8>>,
}

/// Whether a file that starts like this is an object, an archive or a program.
pub fn is_binary(start: &[u8]) -> bool {
    [ELF, ARCHIVE, THIN].iter().any(|magic| start.starts_with(magic))
}

/// Records as a section holds them.
pub fn to_text(records: &[Entry]) -> String {
    records.iter().filter_map(|record| serde_json::to_string(record).ok()).map(|line| line + "\n").collect()
}

/// What an object, an archive or a program consists of; `None` if it is neither.
pub fn content(data: &[u8]) -> Option<Content> {
    let mut found = Content::default();
    if data.starts_with(ARCHIVE) {
        for member in members(data) {
            add(&mut found, member);
        }
    } else if data.starts_with(ELF) {
        add(&mut found, data);
    } else {
        return None;
    }
    Some(found)
}

/// The files that a thin archive consists of, relative to its folder; `None` if the file is none.
pub fn members_elsewhere(data: &[u8]) -> Option<Vec<String>> {
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

/// Adds what an object consists of.
fn add(found: &mut Content, object: &[u8]) {
    if object.starts_with(b"BC") {
        found.bitcode.push(object.to_vec());
        return;
    }
    let before = found.records.len();
    let text = section(object, SECTION).unwrap_or_default();
    // Linkers may put zeros between the parts of a section.
    for line in String::from_utf8_lossy(&text).split(['\n', '\0']).filter(|line| !line.is_empty()) {
        if let Ok(record) = serde_json::from_str::<Entry>(line)
            && !found.records.contains(&record)
        {
            found.records.push(record);
        }
    }
    if found.records.len() == before {
        found.bitcode.extend(section(object, BITCODE));
    }
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

/// The content of a section of an ELF file, if it has it.
pub fn section(data: &[u8], name: &str) -> Option<Vec<u8>> {
    let elf = Elf::new(data)?;
    let names = elf.header(elf.names)?;
    let wanted = (0..elf.count).filter_map(|n| elf.header(n)).find(|header| {
        let text = names.offset.checked_add(header.name).and_then(|at| data.get(at..));
        text.is_some_and(|t| t.starts_with(name.as_bytes()) && t.get(name.len()) == Some(&0))
    })?;
    data.get(wanted.offset..wanted.offset.checked_add(wanted.size)?).map(<[u8]>::to_vec)
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

    fn header(&self, n: usize) -> Option<Header> {
        let at = self.table.checked_add(n.checked_mul(self.entry)?)?;
        let field = |offset: usize, size| number(self.data, at.checked_add(offset)?, size);
        let (offset, size) =
            if self.wide { (field(0x18, 8)?, field(0x20, 8)?) } else { (field(0x10, 4)?, field(0x14, 4)?) };
        Some(Header { name: field(0, 4)?, offset, size })
    }
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
            assert!(found.records.is_empty() && found.bitcode.is_empty());
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
