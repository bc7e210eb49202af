//! Generates code with partial accesses to memory: copies and fills of unknown length, and allocations.

use super::*;

/// Objects that are accessed in pieces: their sizes, and true if they are initialised.
const BLOCKS: [(u64, bool); 5] = [(24, true), (40, false), (600, true), (2560, true), (5000, false)];

impl Generator {
    /// An address in a block with room for `len` bytes: mostly at a constant offset, often near the 256-byte boundaries
    /// of the memory representation.
    pub(super) fn place(&mut self, block: usize, len: u64) -> ExprId {
        let w = self.width();
        let size = BLOCKS[block].0;
        let base = self.program.exprs.global_addr(self.blocks[block], w);
        let constant = match self.random.below(4) {
            0 => size - len,
            1 if size >= 280 => 250 + self.random.below(12) as u64,
            _ => self.random.below(17) as u64,
        };
        let constant = constant.min(size - len);
        if self.random.chance(55) {
            let offset = self.program.exprs.int(w, constant);
            return self.program.exprs.add(base, offset);
        }
        let i = self.int_expr(1);
        let stride = [1, 2, 4, 8, 12][self.random.below(5)];
        let most = [3, 7, 15, 255, 1023][self.random.below(5)];
        let constant = if self.random.chance(50) { 0 } else { constant };
        let room = (size - len - constant) / stride;
        // In rare cases, the bytes may not fit.
        let fits = (1 << (room + 1).ilog2()) - 1;
        let most = if self.random.chance(5) { most } else { most.min(fits) };
        let x = &mut self.program.exprs;
        let mask = x.int(32, most);
        let low = x.and(i, mask);
        let wide = x.zext(w, low);
        let stride = x.int(w, stride);
        let scaled = x.mul(wide, stride);
        let constant = x.int(w, constant);
        let at = x.add(base, constant);
        x.add(at, scaled)
    }

    /// Makes the variable an input in programs with partial accesses or objects of any size, so that many offsets are
    /// symbolic.
    pub(super) fn input_for_pieces(&mut self, var: VarId) {
        if (self.shape.pieces || self.shape.objects) && self.random.chance(70) {
            self.input(var);
        }
    }

    pub(super) fn piece(&mut self) {
        let block = self.random.below(BLOCKS.len());
        let width = [8, 16, 32, 64, 8, 16, 32, 64, 20, 128][self.random.below(10)];
        let len = u64::from(width).div_ceil(8);
        match self.random.below(11) {
            0..=3 => {
                let (addr, a, b) = (self.place(block, len), self.int_expr(1), self.int_expr(1));
                let x = &mut self.program.exprs;
                let pair = x.concat(a, b);
                let four = x.concat(pair, pair);
                let value = x.resize(width, if width > 64 { four } else { pair });
                self.move_(Op::Store { addr, value });
            }
            4..=6 => {
                let (addr, var, to) = (self.place(block, len), self.local(true), self.any_int());
                self.program.vars[var].width = width;
                self.move_(Op::Load { var, addr });
                let value = self.program.var_expr(var);
                let value = self.program.exprs.resize(32, value);
                self.assign(to, value);
            }
            7 => {
                let var = self.any_int();
                self.input(var);
            }
            8 => {
                let other = self.random.below(BLOCKS.len());
                let most = self.most_moved(block, other);
                let (dst, src) = (self.place(block, most), self.place(other, most));
                let len = self.moved(most);
                self.move_(Op::Copy { dst, src, len });
            }
            9 => {
                let most = self.most_moved(block, block);
                let (dst, byte) = (self.place(block, most), self.int_expr(0));
                let byte = self.program.exprs.extract(7, 0, byte);
                let len = self.moved(most);
                self.move_(Op::Fill { dst, byte, len });
            }
            _ => self.sized_allocation(),
        }
    }

    /// Emits a copy or fill, sometimes of the shadow memory.
    fn move_(&mut self, op: Op) {
        let op = if self.random.chance(10) { Op::Shadow(Box::new(op)) } else { op };
        self.emit(op);
    }

    /// The maximal number of bytes that may be copied between two blocks.
    pub(super) fn most_moved(&mut self, a: usize, b: usize) -> u64 {
        [1, 7, 16, 24, 24, 150, 560][self.random.below(7)].min(BLOCKS[a].0).min(BLOCKS[b].0)
    }

    /// A number of at most `most` bytes, usually a constant.
    pub(super) fn moved(&mut self, most: u64) -> ExprId {
        let w = self.width();
        let n = self.int_expr(1);
        let stride = [1, 1, 2, 4, 8][self.random.below(5)].min(most);
        let x = &mut self.program.exprs;
        if self.random.chance(60) {
            return x.int(w, most);
        }
        let mask = x.int(32, (1 << (most / stride + 1).ilog2()) - 1);
        let n = x.and(n, mask);
        let (n, stride) = (x.zext(w, n), x.int(w, stride));
        x.mul(n, stride)
    }

    /// Allocates an object of possibly unknown size, uses it, and may free it.
    pub(super) fn sized_allocation(&mut self) {
        let w = self.width();
        let (pointer, size_of, to) = (self.local(false), self.local(false), self.any_int());
        let (n, value) = (self.int_expr(1), self.int_expr(1));
        let x = &mut self.program.exprs;
        let seven = x.int(32, 7);
        let n = x.and(n, seven);
        let n = x.zext(w, n);
        let eight = x.int(w, 8);
        let rows = x.mul(n, eight);
        let size = x.add(rows, eight);
        let (kind, zeroed) = ([AllocKind::MALLOC, AllocKind::Stack][self.random.below(2)], self.random.chance(50));
        self.emit(Op::Alloc { var: pointer, size, align: 8, kind, zeroed });
        let base = self.program.var_expr(pointer);
        let last = self.program.exprs.add(base, rows);
        let (first, second) = if self.random.chance(50) { (base, last) } else { (last, base) };
        self.emit(Op::Store { addr: first, value });
        self.emit(Op::Load { var: to, addr: second });
        if self.random.chance(30) {
            self.emit(Op::ObjectSize { var: size_of, ptr: first, family: None });
            let value = self.program.var_expr(size_of);
            let value = self.program.exprs.extract(31, 0, value);
            self.assign(to, value);
        }
        let freed = kind == AllocKind::MALLOC && self.random.chance(50);
        if freed {
            self.emit(Op::Free { ptr: base, family: kind.family().unwrap() });
        }
        if freed || self.random.chance(20) {
            self.emit(Op::ObjectOffset { var: size_of, ptr: last, writable: false });
            let value = self.program.var_expr(size_of);
            let value = self.program.exprs.extract(31, 0, value);
            self.assign(to, value);
        }
    }

    /// Copies a pointer in two halves or byte by byte, through integers.
    pub(super) fn copy_in_parts(&mut self) {
        let w = self.width();
        let (from, to) = (self.pointer_addr(), self.pointer_addr());
        let width = if self.random.chance(50) { self.width() / 2 } else { 8 };
        let count = u64::from(self.width() / width);
        let mut parts = Vec::new();
        for i in 0..count {
            let v = self.local(true);
            self.program.vars[v].width = width;
            let off = self.program.exprs.int(w, u64::from(width / 8) * i);
            let addr = self.program.exprs.add(from, off);
            self.emit(Op::Load { var: v, addr });
            parts.push((v, off));
        }
        if self.random.chance(50) {
            for (v, off) in parts {
                let addr = self.program.exprs.add(to, off);
                let value = self.program.var_expr(v);
                self.emit(Op::Store { addr, value });
            }
        } else {
            let mut value = self.program.var_expr(parts[0].0);
            for &(v, _) in &parts[1..] {
                let high = self.program.var_expr(v);
                value = self.program.exprs.concat(high, value);
            }
            let v = self.any_pointer();
            self.assign(v, value);
        }
    }

    pub(super) fn allocation(&mut self) {
        let w = self.width();
        let stack = self.random.chance(50);
        let v = self.local(false);
        let size = self.program.exprs.int(w, OBJECT_SIZE);
        let kind = if stack { AllocKind::Stack } else { AllocKind::MALLOC };
        let zeroed = self.random.chance(50);
        self.emit(Op::Alloc { var: v, size, align: 8, kind, zeroed });
        let base = self.program.var_expr(v);
        for off in [16, 24] {
            let object = self.objects[self.random.below(3)];
            let off = self.program.exprs.int(w, off);
            let addr = self.program.exprs.add(base, off);
            let value = self.program.exprs.global_addr(object, w);
            self.emit(Op::Store { addr, value });
        }
        // An initialised pointer that holds the address.
        let p = if self.pointers.is_empty() || !stack { self.any_pointer() } else { self.pointers[0] };
        self.assign(p, base);
    }
}

pub(super) fn blocks(program: &mut Program, int: TypeId) -> Vec<GlobalId> {
    let mut blocks = Vec::new();
    for (i, (size, known)) in BLOCKS.into_iter().enumerate() {
        let init = known.then(|| GlobalInit { bytes: vec![i as u8 + 1, 0, 0xff, 0x80, 7], pointers: Vec::new() });
        let name = format!("block{i}");
        blocks.push(program.globals.push(Global {
            name,
            ty: int,
            size,
            align: 8,
            read_only: false,
            is_static: false,
            init,
            place: None,
        }));
    }
    blocks
}
