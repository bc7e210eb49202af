//! Global variables. Scalars whose address is not taken become variables. All others become memory objects.

use super::builder::Builder;
use super::{Context, Mutability, VarKind};
use crate::ir::{ConstantKind, Module, NONE, Ty, TypeKind, Variable};
use cfa::{Expr, ExprId, Global, GlobalId, GlobalInit, Id, Var, VarId};

/// The representation of a global variable of the module.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// A variable of the CFA.
    Var(VarId),
    /// A constant whose address is not taken.
    Constant(ExprId),
    /// An object in memory.
    Object(GlobalId),
    /// A weak declaration without a definition: its address is 0.
    Null,
    /// A table of LLVM, or the description of a sanitizer's check.
    Absent,
}

/// The variables of the C library whose content affects only the text of its messages. If the program does not read them,
/// their content does not matter.
const NAMES_IN_MESSAGES: [&str; 2] = ["program_invocation_name", "program_invocation_short_name"];

/// The symbols that the linker defines, besides those at the bounds of sections (`__start_NAME`, `__stop_NAME`).
const LINKER_SYMBOLS: [&str; 26] = [
    "_DYNAMIC",
    "_GLOBAL_OFFSET_TABLE_",
    "__bss_start",
    "__data_start",
    "__dso_handle",
    "__ehdr_start",
    "__etext",
    "__executable_start",
    "__fini_array_end",
    "__fini_array_start",
    "__init_array_end",
    "__init_array_start",
    "__preinit_array_end",
    "__preinit_array_start",
    "__rel_iplt_end",
    "__rel_iplt_start",
    "__rela_iplt_end",
    "__rela_iplt_start",
    "__tdata_start",
    "_edata",
    "_end",
    "_etext",
    "data_start",
    "edata",
    "end",
    "etext",
];

/// True if the linker defines the variable unless the program does.
fn is_linkers(variable: &Variable) -> bool {
    let name = variable.name.as_str();
    let is_bound = name.starts_with("__start_") || name.starts_with("__stop_");
    variable.init == NONE && (is_bound || LINKER_SYMBOLS.contains(&name))
}

/// True if a declaration does not determine the size: `extern int table[];`, an incomplete type, or an array without
/// length at the end.
fn ends_open(ir: &Module, ty: Ty) -> bool {
    match ir.kind(ty) {
        _ if ir.types[ty as usize].size == 0 => true,
        TypeKind::Struct(fields) => fields.last().is_some_and(|&(last, _)| ends_open(ir, last)),
        _ => false,
    }
}

/// The variables that the C library (glibc 2.36) defines and a program may declare. The content of streams is not
/// inspected.
pub const LIBRARY_VARIABLES: [&str; 25] = [
    "__environ",
    "__signgam",
    "_environ",
    "daylight",
    "environ",
    "error_message_count",
    "error_one_per_line",
    "error_print_progname",
    "h_errno",
    "in6addr_any",
    "in6addr_loopback",
    "optarg",
    "opterr",
    "optind",
    "optopt",
    "program_invocation_name",
    "program_invocation_short_name",
    "signgam",
    "stderr",
    "stdin",
    "stdout",
    "sys_errlist",
    "sys_siglist",
    "timezone",
    "tzname",
];
const STREAMS: [&str; 3] = ["stderr", "stdin", "stdout"];

/// A property of a declared variable that no file of the program determines.
#[derive(Clone, Copy)]
pub(super) enum Open {
    /// The size.
    Size(GlobalId),
    /// The content, which the C library determines.
    Content(GlobalId),
    /// The address, which the linker determines.
    Address(GlobalId),
    /// The content, which an object of unknown source determines, and the size if the declaration does not.
    Foreign { global: GlobalId, size_is_open: bool },
}

/// The open variables in an address. An access to the address may depend on the unknown property.
pub(super) fn mentioned(cx: &Context<'_>, address: ExprId) -> Vec<GlobalId> {
    let mut found = Vec::new();
    if !cx.open_globals.is_empty() {
        cx.program.exprs.visit(address, &mut Default::default(), |_, node| match node {
            Expr::GlobalAddr(global) if cx.open_globals.contains_key(global) => found.push(*global),
            _ => {}
        });
    }
    found
}

/// Adds a taint: such a variable may be accessed from here on.
pub(super) fn approximate(b: &mut Builder<'_, '_>, global: GlobalId) {
    let name = |global: GlobalId| &b.cx.program.globals[global].name;
    match b.cx.open_globals[&global] {
        Open::Size(global) if b.cx.options.scopes() => {
            let name = name(global);
            let reason = format!("the size of '{name}' is unknown: it is declared without a size, and is not defined");
            b.approximate(reason, false, true);
        }
        Open::Size(_) => {}
        Open::Address(global) => {
            let name = name(global);
            b.approximate(format!("the address of the linker's symbol '{name}' is not modelled"), true, true);
        }
        Open::Content(global) => {
            let name = name(global);
            let reason = format!("the content of the C library's variable '{name}' is not modelled");
            b.approximate(reason, true, false);
        }
        Open::Foreign { global, size_is_open } => {
            let reason =
                format!("the content of '{}' is unknown: an object of unknown source defines it", name(global));
            b.approximate(reason, true, size_is_open && b.cx.options.scopes());
        }
    }
}

impl Context<'_> {
    pub(super) fn lower_globals(&mut self) {
        // Objects come first, because initial values contain their addresses.
        let ir = self.ir;
        for (n, variable) in ir.variables.iter().enumerate() {
            let cell = if variable.appending || variable.name.starts_with("llvm.") || self.uses.describes[n] {
                Cell::Absent
            } else if variable.extern_weak && variable.init == NONE && !is_linkers(variable) {
                Cell::Null
            } else if self.is_promoted(n) {
                // The variable is created when its initial value is known.
                Cell::Absent
            } else {
                // Type descriptors of C++ are only compared.
                let is_open = variable.init == NONE
                    && ends_open(ir, variable.ty)
                    && !variable.name.starts_with("_ZTVN10__cxxabiv1");
                let size =
                    if is_open { Global::open_size(ir.pointer_width) } else { ir.types[variable.ty as usize].size };
                let global = self.object(variable, size);
                if is_linkers(variable) {
                    self.open_globals.insert(global, Open::Address(global));
                } else if self.is_foreign(variable) {
                    self.open_globals.insert(global, Open::Foreign { global, size_is_open: is_open });
                } else if self.is_unmodelled(n) {
                    self.open_globals.insert(global, Open::Content(global));
                } else if is_open {
                    self.open_globals.insert(global, Open::Size(global));
                }
                Cell::Object(global)
            };
            self.cells.push(cell);
        }
        for (n, variable) in ir.variables.iter().enumerate() {
            match self.cells[n] {
                Cell::Object(global) if variable.init != NONE => {
                    let init = self.initialiser(variable.init, &variable.name);
                    self.program.globals[global].init = Some(init);
                }
                Cell::Absent if self.is_promoted(n) => self.cells[n] = self.promoted(n),
                _ => {}
            }
        }
        self.find_holders();
    }

    /// True if the C library defines the variable and its content matters.
    fn is_unmodelled(&self, n: usize) -> bool {
        let variable = &self.ir.variables[n];
        let name = variable.name.as_str();
        let is_read = self.uses.is_loaded(n) || self.uses.escapes[n];
        variable.init == NONE
            && LIBRARY_VARIABLES.contains(&name)
            && !STREAMS.contains(&name)
            && (is_read || !NAMES_IN_MESSAGES.contains(&name))
    }

    /// True if only code of the program refers to the variable by name. Undefined functions of the library know the
    /// variables of its models.
    fn is_static(&self, variable: &Variable) -> bool {
        variable.local && !self.is_of_models(variable)
    }

    /// True if an object of unknown source defines the variable.
    fn is_foreign(&self, variable: &Variable) -> bool {
        variable.init == NONE && self.options.foreign.contains_key(&variable.name)
    }

    /// If the initial value of an object contains the address of an open variable, the object is open, too.
    fn find_holders(&mut self) {
        let mut is_open = !self.open_globals.is_empty();
        while std::mem::take(&mut is_open) {
            for id in self.program.globals.ids() {
                let held = self.program.globals[id].init.iter().flat_map(|init| &init.pointers);
                let open = held.flat_map(|&(_, address)| mentioned(self, address)).next();
                if let Some(open) = open
                    && !self.open_globals.contains_key(&id)
                {
                    self.open_globals.insert(id, self.open_globals[&open]);
                    is_open = true;
                }
            }
        }
        for cell in &self.cells {
            let value = match cell {
                Cell::Constant(value) => Some(*value),
                Cell::Var(var) => match self.program.vars[*var].kind {
                    VarKind::Global { init, .. } => init,
                    _ => None,
                },
                _ => None,
            };
            let open = value.map_or_else(Vec::new, |value| mentioned(self, value));
            self.open_initialisers.extend(open);
        }
    }

    fn is_promoted(&self, n: usize) -> bool {
        let variable = &self.ir.variables[n];
        let scalar = matches!(
            self.ir.kind(variable.ty),
            TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Pointer | TypeKind::Vector(..)
        );
        let internal = variable.appending || variable.name.starts_with("llvm.");
        scalar
            && !internal
            && !self.is_unmodelled(n)
            && !self.is_foreign(variable)
            && !is_linkers(variable)
            && !variable.extern_weak
            && (!self.is_threaded || variable.constant)
            && !self.uses.escapes[n]
            && self.width(variable.ty).is_some()
    }

    fn promoted(&mut self, n: usize) -> Cell {
        let variable = &self.ir.variables[n];
        let width = self.width(variable.ty).expect("promoted variables are scalars");
        let init = match variable.init {
            NONE => None,
            // C initialises undefined parts with zeros.
            init => Some(self.constant(init).unwrap_or_else(|| self.program.exprs.int(width, 0))),
        };
        if let Some(value) = init
            && variable.constant
        {
            self.keep_for_others(variable, value);
            return Cell::Constant(value);
        }
        let name = variable.name_in_c().to_owned();
        let ty =
            if variable.c_type == NONE { self.unknown_type(Some(width)) } else { self.source.c_type(variable.c_type) };
        let place = self.source.place(&mut self.program, variable.file, variable.line);
        let var = Var {
            name: Some(name),
            ty,
            width,
            kind: VarKind::Global { init, is_static: self.is_static(variable) },
            place,
        };
        let var = self.add_var(var, Mutability::Global);
        if let TypeKind::Pointer = self.ir.kind(variable.ty) {
            self.holds_pointers(var);
        }
        Cell::Var(var)
    }

    /// If other files may read an address from a constant, adds an object for it.
    fn keep_for_others(&mut self, variable: &Variable, value: ExprId) {
        let mut has_address = false;
        self.program.exprs.visit(value, &mut Default::default(), |_, node| {
            has_address |= matches!(node, Expr::GlobalAddr(_) | Expr::FuncAddr(_));
        });
        if has_address && !self.is_static(variable) {
            let object = self.object(variable, self.ir.types[variable.ty as usize].size);
            self.program.globals[object].init = Some(GlobalInit { bytes: Vec::new(), pointers: vec![(0, value)] });
        }
    }

    /// Creates the object of a variable, with unknown content.
    fn object(&mut self, variable: &Variable, size: u64) -> GlobalId {
        let ty = match variable.c_type {
            NONE => self.unknown_type(Some(size.saturating_mul(8).clamp(1, u64::from(u32::MAX)) as u32)),
            row => self.source.c_type(row),
        };
        let (name, align) = (variable.name_in_c().to_owned(), variable.align);
        let place = self.source.place(&mut self.program, variable.file, variable.line);
        let (read_only, is_static) = (variable.constant, self.is_static(variable));
        self.program.globals.push(Global { name, ty, size, align, read_only, is_static, init: None, place })
    }

    /// The bytes of an initialiser. Undefined parts are zero, as in the linker.
    fn initialiser(&mut self, constant: u32, name: &str) -> GlobalInit {
        let mut init = GlobalInit::default();
        // Iterative, because initialisers may be deep. Parts are visited in order of offset.
        let mut stack = vec![(constant, 0)];
        while let Some((constant, offset)) = stack.pop() {
            let ir = self.ir;
            let row = &ir.constants[constant as usize];
            match &row.kind {
                ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison => {}
                ConstantKind::Data(range) => write(&mut init.bytes, offset, &ir.text[range.clone()]),
                ConstantKind::Aggregate(elements) if !matches!(ir.kind(row.ty), TypeKind::Vector(..)) => {
                    for (n, &element) in elements.iter().enumerate().rev() {
                        let at = match ir.kind(row.ty) {
                            TypeKind::Array(element, _) => n as u64 * ir.types[*element as usize].size,
                            TypeKind::Struct(fields) => fields[n].1,
                            _ => 0,
                        };
                        stack.push((element, offset + at));
                    }
                }
                _ => {
                    let Some(value) = self.constant(constant) else {
                        if !self.has_undefined_part(constant) {
                            self.unknown_initialisers.push(name.to_owned());
                        }
                        continue;
                    };
                    match self.program.exprs.as_const(value) {
                        Some(bits) => write(&mut init.bytes, offset, &bits.to_le_bytes()),
                        None => init.pointers.push((offset, value)),
                    }
                }
            }
        }
        while init.bytes.last() == Some(&0) {
            init.bytes.pop();
        }
        init.pointers.sort_unstable_by_key(|&(offset, value)| (offset, value.index()));
        init
    }
}

fn write(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    // Trailing zeros are not stored.
    let used = data.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    if used == 0 {
        return;
    }
    let start = offset as usize;
    if bytes.len() < start + used {
        bytes.resize(start + used, 0);
    }
    bytes[start..start + used].copy_from_slice(&data[..used]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The symbols that the linker's scripts define.
    #[test]
    fn symbols_of_the_linker_are_known() {
        let mut count = 0;
        for machine in ["elf_x86_64", "elf_i386"] {
            let output = Command::new("ld").args(["-m", machine, "--verbose"]).output().unwrap();
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let line = line.trim_start().trim_start_matches("PROVIDE").trim_start_matches("_HIDDEN");
                let Some((name, _)) = line.trim_start_matches([' ', '(']).split_once(" = ") else { continue };
                if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    assert!(LINKER_SYMBOLS.contains(&name), "{name}");
                    count += 1;
                }
            }
        }
        assert!(count > 20, "{count}");
    }
}
