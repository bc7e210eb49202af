//! Programs as files for other tools: C, bitcode, textual IR, and automata.

use crate::failure::Failure;
use crate::files::STDOUT;
use crate::load::loading;
use cfa::{CallGraph, Function, FunctionOrigin, MONITOR, Op, Program};
use std::path::Path;
use std::process::Command;

/// The language of an output file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// LLVM bitcode.
    Bitcode,
    /// LLVM IR as text.
    Ir,
    /// The automata as text.
    Automata,
}

/// Returns the language that the extension of a file implies. It is C for standard output, and automata for unknown
/// extensions.
pub fn language(path: &Path) -> Language {
    match path.extension().and_then(|e| e.to_str()).unwrap_or_default() {
        "c" | "i" => Language::C,
        "bc" => Language::Bitcode,
        "ll" => Language::Ir,
        _ if path == Path::new(STDOUT) => Language::C,
        _ => Language::Automata,
    }
}

/// Returns the content of a file with the program, in the language that its name implies. The second component is the
/// message of an error that the file cannot reach although the program can, if there is one.
///
/// # Errors
/// `Err` if the program cannot be written as C, or clang fails.
pub fn text(
    program: &Program,
    path: &Path,
    options: &cooperate::c::Options,
) -> Result<(Vec<u8>, Option<String>), Failure> {
    let language = language(path);
    if language == Language::Automata {
        return Ok((cfa::text::print(program).into_bytes(), None));
    }
    let c = cooperate::c::print(program, options).map_err(Failure::data)?;
    Ok((compiled(c.text, program.layout.pointer_width, language, path)?, c.unsaid))
}

/// Returns the reasons of the approximations by which the C text of a program may differ from the program, each once.
/// Approximations in library models do not count, because the C text calls the library instead.
pub fn approximations(program: &Program) -> Vec<&str> {
    let calls = CallGraph::new(program);
    let mut found: Vec<&str> = Vec::new();
    for (id, edge) in program.edges.iter() {
        let Op::Approx { taint } = edge.op else { continue };
        let func = program.func_of(id);
        let Function { name, origin, .. } = &program.funcs[func];
        let is_written = calls.is_reachable(func) && (*origin != FunctionOrigin::Model || name.starts_with(MONITOR));
        let reason = program.taints[taint].reason.as_str();
        if is_written && !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

/// Translates C to another language. C itself is returned unchanged, after a compiler accepted it. `width` is the width
/// of pointers in bits. `path` is the file that the result is for.
///
/// # Errors
/// `Err` if clang does not accept the C, or a file cannot be read or written.
pub fn compiled(c: String, width: u32, language: Language, path: &Path) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::writing(path, &e))?;
    let (source, module) = (folder.path().join("residual.c"), folder.path().join("module"));
    std::fs::write(&source, &c).map_err(|e| Failure::writing(&source, &e))?;
    let clang = frontend_llvm::clang().map_err(|e| loading(&e))?;
    let width = if width == 32 { "-m32" } else { "-m64" };
    let made = Command::new(clang)
        .args([width, "-g", "-w", "-O0", "-Xclang", "-disable-O0-optnone", "-fno-strict-aliasing", "-emit-llvm"])
        .arg(if language == Language::Ir { "-S" } else { "-c" })
        .args(["-o".as_ref(), module.as_os_str(), source.as_os_str()])
        .output()
        .map_err(|e| Failure::data(format!("clang does not run: {e}")))?;
    if !made.status.success() {
        let messages = String::from_utf8_lossy(&made.stderr).replace(&*source.to_string_lossy(), "the C");
        let first = messages.lines().find(|line| line.contains("error:")).unwrap_or("clang fails");
        let mut failure = Failure::data(format!("the program cannot be written as C that a compiler accepts: {first}"));
        failure.detail = Some(messages);
        return Err(failure);
    }
    match language {
        Language::C | Language::Automata => Ok(c.into_bytes()),
        Language::Bitcode | Language::Ir => std::fs::read(&module).map_err(|e| Failure::reading(&module, &e)),
    }
}
