//! C names of variables and memory objects, and values as C writes them.

use super::Write;
use super::access::{Part, access_path, is_character, part_path};
use cfa::interp::{Neighbour, Object, ObjectKind, ObjectSeq, State};
use cfa::{AllocKind, Bv, CType, ExprId, Program, TypeId, VarId};
use rustc_hash::FxHashMap;

/// The maximum number of characters of a string that are shown.
const MAX_STRING: usize = 200;
/// The maximum number of elements of an array, or members of a struct, that are shown.
const MAX_ELEMENTS: u64 = 8;
/// The maximum size in bytes of an object that is shown as a whole.
const MAX_SHOWN: u64 = 4096;
/// The maximum number of parts that a write to a whole object is split into.
const MAX_PARTS: usize = 16;

/// The origin of an object that an `Alloc` edge created.
#[derive(Clone, Copy)]
enum AllocationOrigin {
    /// The memory of a C variable, and the depth of the call that owns it.
    Variable(VarId, usize),
    /// A heap object with its number. Numbers start at 1.
    Heap(u32),
    /// An object without a name.
    Other,
}

/// The content of a temporary, in terms of C.
enum TemporaryContent {
    /// The value of a C expression.
    Value { name: String, ty: TypeId },
    /// An address computed from the pointer `name`, which points to type `to` and has the value `base`.
    Address { name: String, to: TypeId, base: u64 },
    /// An element of a table of the library, at an index computed from these variables.
    Element(Box<[VarId]>),
}

/// The temporaries of a frame that have names in C.
#[derive(Default)]
pub struct Temporaries {
    known: FxHashMap<VarId, TemporaryContent>,
}

/// The names of objects and variables at a point of a run.
pub struct Names<'p> {
    program: &'p Program,
    /// The objects that `Alloc` edges created, by number.
    made: Vec<AllocationOrigin>,
    /// True for each of these objects that library code, or the caller of `main`, created.
    of_library: Vec<bool>,
    /// The number of heap objects created so far.
    heap: u32,
    /// The types of heap objects, by number of the object. The type comes from the first pointer to the object. If that
    /// points to single bytes, the first pointer to a larger type replaces it.
    types: FxHashMap<u64, TypeId>,
}

/// Returns the text `shown` of a character code with the character, such as `97 'a'`. The character is omitted if it is
/// not printable ASCII.
pub fn with_character(shown: String, value: &Bv) -> String {
    match value.to_u64() {
        Some(code @ 0x20..=0x7e) => format!("{shown} '{}'", code as u8 as char),
        _ => shown,
    }
}

/// Returns bytes as a C string literal. It has at most 200 bytes; `…` after it marks omitted ones.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes.iter().take(MAX_STRING) {
        match byte {
            b'\n' => out += "\\n",
            b'\t' => out += "\\t",
            b'\r' => out += "\\r",
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            0x20..=0x7e => out.push(byte as char),
            _ => out += &format!("\\{byte:03o}"),
        }
    }
    out + if bytes.len() > MAX_STRING { "\"…" } else { "\"" }
}

/// Returns the bytes before the first zero as a C string literal.
fn string(bytes: &[u8]) -> String {
    quoted(bytes.split(|b| *b == 0).next().unwrap_or_default())
}

impl<'p> Names<'p> {
    /// Returns the names at the start of a run, before any object is allocated.
    pub fn new(program: &'p Program) -> Self {
        Self { program, made: Vec::new(), of_library: Vec::new(), heap: 0, types: FxHashMap::default() }
    }

    /// Records the execution of an `Alloc` edge in a call at this depth. Returns the number of the new object.
    pub fn allocated(&mut self, var: VarId, kind: AllocKind, depth: usize, by_library: bool) -> ObjectSeq {
        let number = self.made.len() as u64;
        let made = match kind {
            AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given => {
                self.heap += 1;
                AllocationOrigin::Heap(self.heap)
            }
            AllocKind::Stack if self.program.vars[var].name.is_some() => AllocationOrigin::Variable(var, depth),
            AllocKind::Stack | AllocKind::Placeholder => AllocationOrigin::Other,
        };
        self.made.push(made);
        self.of_library.push(by_library);
        ObjectSeq::Alloc(number)
    }

    /// Returns true if library code, or the caller of `main`, created the object.
    pub fn is_of_library(&self, object: ObjectSeq) -> bool {
        matches!(object, ObjectSeq::Alloc(n) if self.of_library.get(n as usize) == Some(&true))
    }

    /// Returns the name of a variable of the C program. `None` for other variables: the address of `x`, which the
    /// front-end names `&x`, and the rounding mode.
    pub fn variable(&self, var: VarId) -> Option<&'p str> {
        let name = self.program.vars[var].name.as_deref();
        name.filter(|n| !n.starts_with('&') && *n != "__rounding_mode").and_then(in_c)
    }

    /// Returns the C name and type of the value of a variable or temporary. `None` if it has no name in C.
    pub fn value(&self, var: VarId, temporaries: &Temporaries) -> Option<(String, TypeId)> {
        if let Some(name) = self.variable(var) {
            return Some((name.to_owned(), self.program.vars[var].ty));
        }
        match temporaries.known.get(&var)? {
            TemporaryContent::Value { name, ty } => Some((name.clone(), *ty)),
            TemporaryContent::Address { .. } | TemporaryContent::Element(_) => None,
        }
    }

    /// Returns the variables with C names that determine the value of a variable: those of the index if the variable is
    /// an element of a table of the library, and the variable itself otherwise.
    pub fn operands<'t>(&self, var: &'t VarId, temporaries: &'t Temporaries) -> &'t [VarId] {
        match temporaries.known.get(var) {
            Some(TemporaryContent::Element(index)) => index,
            _ => std::slice::from_ref(var),
        }
    }

    /// Returns the name and type of an object as a whole. `None` if the object is no variable with a name in C.
    pub fn object(&self, object: ObjectSeq) -> Option<(String, TypeId)> {
        match object {
            ObjectSeq::Global(global) => {
                let global = &self.program.globals[global];
                Some((in_c(&global.name)?.to_owned(), global.ty))
            }
            ObjectSeq::Alloc(n) => {
                let AllocationOrigin::Variable(var, _) = *self.made.get(n as usize)? else { return None };
                let var = &self.program.vars[var];
                let ty = match self.program.plain_type(var.ty) {
                    CType::Pointer(to) => *to,
                    _ => var.ty,
                };
                Some((var.name.as_deref()?.trim_start_matches('&').to_owned(), ty))
            }
        }
    }

    /// Records the value of a pointer of type `ty`. If it points to the start of a heap object without a type, the
    /// object gets the type that the pointer points to.
    pub fn pointed(&mut self, ty: TypeId, value: &Bv, state: &State) {
        let CType::Pointer(to) = *self.program.plain_type(ty) else { return };
        let Some(object) = value.to_u64().and_then(|at| state.object_at(at).filter(|o| o.base == at)) else { return };
        let Some(size) = self.program.size_of(to).filter(|&s| s > 0 && object.size.is_multiple_of(s)) else { return };
        let ObjectSeq::Alloc(n) = object.seq else { return };
        // Programs access any object through pointers to characters, so such a type is replaced.
        let known = self.types.get(&n).and_then(|&ty| self.program.size_of(ty));
        if known.is_none_or(|known| known == 1 && size > 1) {
            self.types.insert(n, to);
        }
    }

    /// Returns the write of a value to a variable that is no memory object, in a call at this depth. `None` if the
    /// variable has no name in C.
    pub fn variable_written(&self, var: VarId, value: &str, depth: usize) -> Option<Write> {
        let frame = self.program.vars[var].func().map(|_| depth);
        Some(Write { frame, object: self.variable(var)?.to_owned(), path: String::new(), value: value.to_owned() })
    }

    /// Returns the writes for `len` written bytes at address `at`: the object by its own name, the parts, and their
    /// present values. Returns no writes if the bytes are in no object or the object has no name.
    pub fn written(&self, at: u64, len: u64, state: &State) -> Vec<Write> {
        let Some(object) = state.object_at(at).filter(|o| len > 0 && at + len <= o.base + o.size) else {
            return Vec::new();
        };
        let offset = at - object.base;
        let (name, frame, ty, path, offset) = match (self.object(object.seq), object.seq) {
            (Some((name, ty)), ObjectSeq::Global(_)) => (name, None, ty, String::new(), offset),
            (Some((name, ty)), ObjectSeq::Alloc(n)) => {
                let AllocationOrigin::Variable(_, depth) = self.made[n as usize] else { return Vec::new() };
                (name, Some(depth), ty, String::new(), offset)
            }
            (None, ObjectSeq::Alloc(n)) => {
                let Some(name) = self.heap_name(object) else { return Vec::new() };
                let of = self.types.get(&n).copied();
                let size = of.and_then(|ty| self.program.size_of(ty)).unwrap_or(object.size);
                // The object is an array of the type that the pointer points to. A write to more than one element names
                // the bytes.
                let (index, within) = (offset / size, offset % size);
                match of.filter(|_| within + len <= size) {
                    Some(ty) if object.size > size => (name, None, ty, format!("[{index}]"), within),
                    Some(ty) => (name, None, ty, String::new(), offset),
                    None => (name, None, TypeId(0), String::new(), offset),
                }
            }
            (None, ObjectSeq::Global(_)) => return Vec::new(),
        };
        let write = |path: String, value: String| Write { frame, object: name.clone(), path, value };
        let (rest, part) = part_path(self.program, ty, offset, len);
        if let (Part::Bytes, (exact, Some(ty))) = (part, access_path(self.program, ty, offset, len)) {
            return self.content(ty, at, state).into_iter().map(|value| write(path.clone() + &exact, value)).collect();
        }
        let path = path + &rest;
        if let Part::Whole(ty) = part {
            let mut parts = Vec::new();
            if self.parts(ty, at, path.clone(), state, &mut parts).is_some() {
                return parts.into_iter().map(|(path, value)| write(path, value)).collect();
            }
        }
        let value = match part {
            Part::Whole(ty) => self.content(ty, at, state),
            Part::Elements(of) => self.elements(of, at, len, state),
            Part::Bytes => self.bytes(at, len, state),
        };
        value.into_iter().map(|value| write(path.clone(), value)).collect()
    }

    /// Returns the write that records the deallocation of a heap object. `None` if the object has no name.
    pub fn freed(&self, object: &Object) -> Option<Write> {
        let value = "freed".to_owned();
        Some(Write { frame: None, object: self.heap_name(object)?, path: String::new(), value })
    }

    /// Collects the scalars and strings in an object, with their paths. `None` if there are more than [`MAX_PARTS`] or
    /// one has no name in C.
    fn parts(&self, ty: TypeId, at: u64, path: String, state: &State, found: &mut Vec<(String, String)>) -> Option<()> {
        match self.program.plain_type(ty) {
            CType::Array(of, _) if !self.is_character(*of) => {
                let (all, size) = (self.program.size_of(ty)?, self.program.size_of(*of).filter(|s| *s > 0)?);
                for i in 0..all / size {
                    self.parts(*of, at + i * size, format!("{path}[{i}]"), state, found)?;
                }
            }
            CType::Struct { union: false, fields, .. } => {
                for field in fields {
                    let is_whole = field.bit_offset % 8 == 0
                        && Some(field.bit_width) == self.program.size_of(field.ty).map(|s| 8 * s);
                    if field.name.is_empty() || !is_whole {
                        return None;
                    }
                    self.parts(field.ty, at + field.bit_offset / 8, format!("{path}.{}", field.name), state, found)?;
                }
            }
            _ => found.push((path, self.content(ty, at, state)?)),
        }
        (found.len() <= MAX_PARTS).then_some(())
    }

    /// Returns the C expression for the `len` bytes at address `at`, such as `a[3].x` or `p->next`, and their type if
    /// known. The address is the value of the expression `addr`, whose variables are `vars`. `None` if no object
    /// contains the address, or neither the object nor a pointer to it has a name.
    pub fn target(
        &self,
        addr: ExprId,
        vars: &[VarId],
        at: u64,
        len: u64,
        state: &State,
        temporaries: &Temporaries,
    ) -> Option<(String, Option<TypeId>)> {
        let object = state.object_at(at)?;
        if let Some((name, ty)) = self.object(object.seq) {
            let (path, ty) = access_path(self.program, ty, at - object.base, len);
            return Some((name + &path, ty));
        }
        // An object without a name is named by a pointer to it.
        let mut pointers = vars.iter().filter_map(|&var| self.pointer(var, state, temporaries));
        let through = pointers.find(|p| state.object_at(p.value).is_some_and(|o| o.base == object.base));
        if let Some(pointer) = through.filter(|p| p.value <= at) {
            let subscripted = vars.len() > 1 || pointer.derived;
            let is_plain = matches!(self.program.exprs.get(addr), cfa::Expr::Var(_)) && !pointer.derived;
            return Some(self.dereferenced(&pointer, at - pointer.value, len, subscripted && !is_plain));
        }
        let (path, _) = access_path(self.program, TypeId(0), at - object.base, len);
        Some((self.heap_name(object)? + &path, None))
    }

    /// Returns the C expression for `len` bytes before or after an array variable, the name of the array, and its
    /// number of elements. `None` if the object near the address is no named array, or contains the address.
    pub fn outside_array(&self, near: &Neighbour, len: u64) -> Option<(String, String, u64)> {
        let (name, ty) = self.object(near.object).filter(|(name, _)| !name.is_empty() && !name.starts_with('.'))?;
        let CType::Array(of, Some(count)) = *self.program.plain_type(ty) else { return None };
        let size = self.program.size_of(of).filter(|size| *size > 0)?;
        let index = near.offset.div_euclid(i64::try_from(size).ok()?);
        let is_inside = u64::try_from(index).is_ok_and(|index| index < count);
        let (path, _) = access_path(self.program, of, near.offset.rem_euclid(size as i64) as u64, len);
        (!is_inside && !path.contains('<')).then(|| (format!("{name}[{index}]{path}"), name, count))
    }

    /// Returns the C expression for the `len` bytes at address `at` through a pointer among `vars`, the name of that
    /// pointer, and true if the pointer is null. The address need not be in an object. `None` if no pointer with a name
    /// leads to the address.
    pub fn through(
        &self,
        addr: ExprId,
        vars: &[VarId],
        at: u64,
        len: u64,
        state: &State,
        temporaries: &Temporaries,
    ) -> Option<(String, String, bool)> {
        let pointers = || vars.iter().filter_map(|&var| self.pointer(var, state, temporaries));
        let object = |at: u64| state.neighbour(at).map(|near| near.object);
        let leads_there = |p: &Pointer| object(at).is_none_or(|near| object(p.value) == Some(near));
        let is_near = |p: &Pointer| at.abs_diff(p.value) < MAX_SHOWN && leads_there(p);
        let Some(pointer) = pointers().find(|p| p.value <= at && is_near(p)) else {
            let pointer = pointers().find(is_near)?;
            return Some((self.element_before(&pointer, at, len)?, pointer.name, false));
        };
        let subscripted = vars.len() > 1 || pointer.derived;
        let is_plain = matches!(self.program.exprs.get(addr), cfa::Expr::Var(_)) && !pointer.derived;
        let (text, _) = self.dereferenced(&pointer, at - pointer.value, len, subscripted && !is_plain);
        // A part without a name in C does not help the user.
        (!text.contains('<')).then_some((text, pointer.name, pointer.value == 0))
    }

    /// Returns the C expression for the `len` bytes at an address before that of a pointer.
    fn element_before(&self, pointer: &Pointer, at: u64, len: u64) -> Option<String> {
        let size = i64::try_from(self.program.size_of(pointer.to).filter(|size| *size > 0)?).ok()?;
        let offset = at.wrapping_sub(pointer.value) as i64;
        let (path, _) = access_path(self.program, pointer.to, offset.rem_euclid(size) as u64, len);
        let name = if pointer.name.starts_with('*') { format!("({})", pointer.name) } else { pointer.name.clone() };
        (!path.contains('<')).then(|| format!("{name}[{}]{path}", offset.div_euclid(size)))
    }

    /// Returns the C expression for the `len` bytes at an offset from a pointer, and their type if known. If
    /// `subscripted` is true, the first element is named by its index too.
    fn dereferenced(&self, pointer: &Pointer, offset: u64, len: u64, subscripted: bool) -> (String, Option<TypeId>) {
        let name = if pointer.name.starts_with('*') { format!("({})", pointer.name) } else { pointer.name.clone() };
        let Some(size) = self.program.size_of(pointer.to).filter(|s| *s > 0) else {
            let (path, _) = access_path(self.program, TypeId(0), offset, len);
            return (format!("(*{name}){path}"), None);
        };
        let (index, offset) = (offset / size, offset % size);
        let (path, ty) = access_path(self.program, pointer.to, offset, len);
        let is_struct = matches!(self.program.plain_type(pointer.to), CType::Struct { .. });
        let text = match path.strip_prefix('.') {
            _ if index > 0 || (subscripted && !is_struct) => format!("{name}[{index}]{path}"),
            Some(member) if is_struct => format!("{name}->{member}"),
            _ if path.is_empty() => format!("*{name}"),
            _ => format!("(*{name}){path}"),
        };
        (text, ty)
    }

    /// Returns a variable or temporary as a pointer. `None` if it is no pointer or has no name in C.
    fn pointer(&self, var: VarId, state: &State, temporaries: &Temporaries) -> Option<Pointer> {
        if let (None, Some(TemporaryContent::Address { name, to, base })) =
            (self.variable(var), temporaries.known.get(&var))
        {
            return Some(Pointer { name: name.clone(), to: *to, value: *base, derived: true });
        }
        let (name, ty) = self.value(var, temporaries)?;
        let CType::Pointer(to) = *self.program.plain_type(ty) else { return None };
        Some(Pointer { name, to, value: state.var(var)?.to_u64()?, derived: false })
    }

    /// Records that a temporary loaded the value of the C expression `target`. Without a name and type, the temporary
    /// has no name.
    pub fn loaded(&self, temporaries: &mut Temporaries, var: VarId, target: Option<(String, Option<TypeId>)>) {
        match target {
            Some((name, Some(ty))) => temporaries.known.insert(var, TemporaryContent::Value { name, ty }),
            _ => temporaries.known.remove(&var),
        };
    }

    /// Records that a temporary loaded an element of a table of the library, at an address with the variables `vars`.
    pub fn loaded_element(&self, temporaries: &mut Temporaries, var: VarId, vars: &[VarId]) {
        let is_index = |var: &VarId| {
            let value = self.value(*var, temporaries);
            value.is_some_and(|(_, ty)| !matches!(self.program.plain_type(ty), CType::Pointer(_)))
        };
        let index = vars.iter().flat_map(|var| self.operands(var, temporaries)).copied().filter(is_index).collect();
        temporaries.known.insert(var, TemporaryContent::Element(index));
    }

    /// Returns true if the object is a table of the library, such as the classes of characters.
    pub fn is_table(&self, object: ObjectSeq) -> bool {
        matches!(object, ObjectSeq::Global(global) if in_c(&self.program.globals[global].name).is_none())
    }

    /// Records that a temporary took the value of an expression with the variables `vars`. If one of them is a pointer
    /// with a name, the temporary is an address computed from it.
    pub fn computed(&self, temporaries: &mut Temporaries, var: VarId, vars: &[VarId], state: &State) {
        let found = vars.iter().filter(|&&v| v != var).find_map(|&v| self.pointer(v, state, temporaries));
        let pointer_sized = self.program.vars[var].width == self.program.layout.pointer_width;
        match found.filter(|_| pointer_sized) {
            Some(Pointer { name, to, value, .. }) => {
                temporaries.known.insert(var, TemporaryContent::Address { name, to, base: value })
            }
            None => temporaries.known.remove(&var),
        };
    }

    /// Returns the name of a heap object. The second allocated object is `block #2`. `None` if it is no heap object.
    pub fn heap_name(&self, object: &Object) -> Option<String> {
        let ObjectSeq::Alloc(n) = object.seq else { return None };
        let AllocationOrigin::Heap(number) = *self.made.get(n as usize)? else { return None };
        Some(format!("block #{number}"))
    }

    /// Returns a value as C writes it. Arrays and structs are initialisers. Pointers are the names of their targets.
    pub fn show(&self, ty: TypeId, value: &Bv, state: &State) -> String {
        let shown = self.program.show_value(ty, value);
        match self.program.plain_type(ty) {
            CType::Int { name, width: 8, .. } if name.contains("char") => with_character(shown, value),
            CType::Pointer(to) => value.to_u64().and_then(|v| self.pointer_text(*to, v, state)).unwrap_or(shown),
            CType::Array(..) | CType::Struct { .. } if value.width().is_multiple_of(8) => {
                self.held(ty, &value.to_le_bytes(), state).unwrap_or(shown)
            }
            _ => shown,
        }
    }

    /// Returns the text of a pointer to type `to`. `None` if it points to no object that has a name.
    fn pointer_text(&self, to: TypeId, value: u64, state: &State) -> Option<String> {
        if value == 0 {
            return Some("NULL".into());
        }
        if let Some(func) = state.func_at(value) {
            return Some(self.program.funcs[func].name.clone());
        }
        let object = state.object_at(value)?;
        let offset = value - object.base;
        let gone = if object.live { "" } else { " (gone)" };
        // Strings that the library provides: arguments, environment variables, and copies.
        if self.is_of_library(object.seq) && object.live && self.is_character(to) && offset < object.size {
            return Some(string(&state.bytes(value, (object.size - offset).min(MAX_SHOWN) as usize)?));
        }
        if let Some(heap) = self.heap_name(object) {
            let text = if offset == 0 { heap } else { format!("{heap} + {offset}") };
            return Some(text + if object.live { "" } else { " (freed)" });
        }
        let (name, ty) = self.object(object.seq)?;
        let is_text =
            matches!(self.program.plain_type(ty), CType::Array(of, _) if self.program.size_of(*of) == Some(1));
        if object.kind == (ObjectKind::Global { read_only: true }) && (is_text || name.starts_with(".str")) {
            let len = object.size - offset;
            return Some(if len == 0 { name } else { string(&state.bytes(value, len as usize)?) });
        }
        if let Some(stream @ ("stdin" | "stdout" | "stderr")) = name.strip_prefix("proviso_") {
            return Some(stream.to_owned());
        }
        let is_array = matches!(self.program.plain_type(ty), CType::Array(..));
        if offset == 0 {
            let plain = is_array && self.program.plain_type(ty) != self.program.plain_type(to);
            return Some(if plain { name } else { format!("&{name}") } + gone);
        }
        let len = self.program.size_of(to).filter(|s| *s > 0).unwrap_or(1);
        let (path, _) = access_path(self.program, ty, offset, len);
        Some(if path.contains('<') {
            format!("&{name} + {offset} bytes{gone}")
        } else {
            format!("&{name}{path}{gone}")
        })
    }

    /// Returns the name and the present content of an object, or of a part of one, after a library function or a copy
    /// wrote `len` bytes at `at`. Strings are shown as such, from their start. The `hint` is a pointer to the bytes:
    /// its name and the type that it points to. It names objects that are no variables.
    pub fn region(&self, at: u64, len: u64, state: &State, hint: Option<(&str, TypeId)>) -> Option<(String, String)> {
        let object = state.object_at(at).filter(|o| o.live && len > 0)?;
        let (name, ty, offset) = match (self.object(object.seq), hint) {
            (Some((name, ty)), _) => (name, ty, at - object.base),
            (None, Some((name, to))) => {
                let size = self.program.size_of(to).filter(|s| *s > 0)?;
                if size < len || self.is_character(to) {
                    return Some((name.to_owned(), self.elements(to, at, len, state)?));
                }
                return Some((format!("*{name}"), self.content(to, at, state)?));
            }
            (None, None) => (self.heap_name(object)?, TypeId(0), at - object.base),
        };
        let (path, part) = part_path(self.program, ty, offset, len);
        let value = match part {
            Part::Whole(ty) => self.content(ty, at, state)?,
            Part::Elements(of) => self.elements(of, at, len, state)?,
            Part::Bytes => self.bytes(at, len, state)?,
        };
        Some((name + &path, value))
    }

    /// Returns true for `char` and its signed and unsigned variants.
    fn is_character(&self, ty: TypeId) -> bool {
        is_character(self.program, ty)
    }

    /// Returns the content of the object of this type at an address. `None` if it is larger than [`MAX_SHOWN`].
    fn content(&self, ty: TypeId, at: u64, state: &State) -> Option<String> {
        let size = self.program.size_of(ty).filter(|s| *s > 0 && *s <= MAX_SHOWN)?;
        self.held(ty, &state.bytes(at, size as usize)?, state)
    }

    /// Returns bytes as the value of an object of this type.
    fn held(&self, ty: TypeId, bytes: &[u8], state: &State) -> Option<String> {
        match self.program.plain_type(ty) {
            CType::Array(of, _) => self.listed(*of, bytes, bytes.len() as u64, state),
            CType::Struct { union: false, fields, .. } => {
                let mut parts = Vec::new();
                for field in fields.iter().take(MAX_ELEMENTS as usize) {
                    let Some(size) = self.program.size_of(field.ty).filter(|s| *s > 0) else { continue };
                    if field.bit_offset % 8 != 0 || field.bit_width != 8 * size {
                        continue;
                    }
                    let at = (field.bit_offset / 8) as usize;
                    let value = self.held(field.ty, bytes.get(at..at.checked_add(size as usize)?)?, state)?;
                    parts.push(if field.name.is_empty() { value } else { format!(".{} = {value}", field.name) });
                }
                let more = if parts.len() < fields.len() { ", …" } else { "" };
                Some(format!("{{{}{more}}}", parts.join(", ")))
            }
            CType::Struct { .. } => Some(raw(bytes, bytes.len() as u64)),
            CType::Float { format, .. } => Some(self.show(ty, &Bv::from_le_bytes(bytes).resize(format.width()), state)),
            CType::Bool => Some(self.show(ty, &Bv::from_le_bytes(bytes).resize(8), state)),
            CType::Int { width, .. } | CType::Enum { width, .. } => {
                Some(self.show(ty, &Bv::from_le_bytes(bytes).resize(*width), state))
            }
            _ => Some(self.show(ty, &Bv::from_le_bytes(bytes), state)),
        }
    }

    /// Returns the `len` bytes at an address as array elements of this type.
    fn elements(&self, of: TypeId, at: u64, len: u64, state: &State) -> Option<String> {
        let most = match self.program.size_of(of) {
            _ if self.is_character(of) => MAX_SHOWN,
            Some(size) if size > MAX_SHOWN => return None,
            size => size.unwrap_or(1).max(1) * MAX_ELEMENTS,
        };
        self.listed(of, &state.bytes(at, len.min(most) as usize)?, len, state)
    }

    /// Returns `bytes` as array elements of this type. They are the first bytes of an array of `len` bytes.
    fn listed(&self, of: TypeId, bytes: &[u8], len: u64, state: &State) -> Option<String> {
        if self.is_character(of) {
            return Some(string(bytes));
        }
        let Some(size) = self.program.size_of(of).filter(|s| *s > 0) else { return Some(raw(bytes, len)) };
        let all = bytes.chunks_exact(size as usize).take(MAX_ELEMENTS as usize);
        let shown: Option<Vec<String>> = all.map(|element| self.held(of, element, state)).collect();
        let more = if len / size > MAX_ELEMENTS { ", …" } else { "" };
        Some(format!("{{{}{more}}}", shown?.join(", ")))
    }

    /// Returns the `len` bytes at an address in hexadecimal, at most [`MAX_ELEMENTS`] of them.
    fn bytes(&self, at: u64, len: u64, state: &State) -> Option<String> {
        Some(raw(&state.bytes(at, len.min(MAX_ELEMENTS) as usize)?, len))
    }
}

/// Returns `bytes` in hexadecimal. They have no type and are the first of `len` bytes.
fn raw(bytes: &[u8], len: u64) -> String {
    let shown: Vec<String> = bytes.iter().take(MAX_ELEMENTS as usize).map(|b| format!("{b:#04x}")).collect();
    let more = if len > MAX_ELEMENTS { ", …" } else { "" };
    format!("{{{}{more}}}", shown.join(", "))
}

/// A pointer that has a name in C.
struct Pointer {
    name: String,
    /// The type that it points to.
    to: TypeId,
    value: u64,
    /// True if the address was computed from the pointer.
    derived: bool,
}

/// Returns the C name of a variable. `None` for variables of library models, which have no name in C.
pub fn in_c(name: &str) -> Option<&str> {
    match name {
        "proviso_errno" => Some("errno"),
        _ => (!name.trim_start_matches('_').starts_with("proviso_")).then_some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_in_c() {
        assert_eq!(string(b"a\"b\\c\n\x01\0rest"), "\"a\\\"b\\\\c\\n\\001\"");
        assert_eq!(quoted(b"a\0b"), "\"a\\000b\"");
        assert_eq!(quoted(&[b'x'; 210]), format!("\"{}\"…", "x".repeat(200)));
        assert_eq!(with_character("97".into(), &Bv::new(8, 97)), "97 'a'");
        assert_eq!(with_character("10".into(), &Bv::new(8, 10)), "10");
    }
}
