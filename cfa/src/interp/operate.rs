//! Infrequent instructions: allocation, deallocation, copies, inputs, and values wider than a machine word.

use super::*;

/// The reason why an instruction ends the run.
pub(super) enum Interrupt {
    /// A fault, or a limit of the memory.
    Stop(Stop),
    /// The outcome of the run.
    Outcome(Outcome),
}

impl From<Stop> for Interrupt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl State<'_> {
    /// Executes the instruction before `pc`, which is infrequent and does not transfer control. It is a function of its
    /// own, so that the main loop stays small.
    #[inline(never)]
    pub(super) fn operate(&mut self, instr: Instr, pc: usize, inputs: &mut dyn InputSource) -> Result<(), Interrupt> {
        match instr {
            Instr::Load { width, dst, addr } => {
                let mut bytes = vec![0; width.div_ceil(8) as usize];
                self.memory.read(self.get(addr), &mut bytes, inputs)?;
                self.set_value(Operand { reg: dst, width }, &Bv::from_le_bytes(&bytes).resize(width));
            }
            Instr::Store { width, addr, value } => {
                let bytes = self.value(Operand { reg: value, width }).to_le_bytes();
                self.memory.write(self.get(addr), &bytes, inputs)?;
            }
            Instr::Alloc { dst, size, align, kind, zeroed } => {
                let (size, seq) = (self.get(size), ObjectSeq::Alloc(self.allocs));
                let kind_of_object = ObjectKind::Allocated(kind);
                inputs.allocates(self.edge_at(pc - 1));
                let base = self.memory.allocate(seq, size, align.into(), kind_of_object, zeroed, inputs)?;
                let Some(base) = base else { return Err(Interrupt::Outcome(Outcome::Unplaced(seq))) };
                self.allocs += 1;
                if kind == AllocKind::Stack {
                    self.stack_objects.push(base);
                }
                self.set(dst, base);
            }
            Instr::Free { ptr, family: Family::Scope } => {
                let ptr = self.get(ptr);
                let of_frame = self.frames.last().map_or(0, |frame| frame.stack_objects);
                if let Some(i) = self.stack_objects[of_frame..].iter().rposition(|&base| base == ptr) {
                    self.stack_objects.remove(of_frame + i);
                    self.memory.kill(ptr);
                }
            }
            Instr::Free { ptr, family } => {
                let ptr = self.get(ptr);
                if ptr != 0 {
                    self.memory.free(ptr, family)?;
                }
            }
            Instr::Leak(leak) => {
                let leaks = match leak {
                    Leak::Alive => self.memory.live_objects().find(|o| o.kind.may_leak()).map(|o| o.base),
                    Leak::Lost => {
                        // Pointers in unwritten bytes count.
                        inputs.read_unwritten();
                        self.lost(self.edge_at(pc - 1))
                    }
                };
                if let Some(base) = leaks {
                    return Err(Interrupt::Stop(Stop::Fault(Fault::Leak, base, 0)));
                }
            }
            Instr::Hold(value) => self.hold(value),
            Instr::ObjectSize { dst, ptr, family } => {
                let size = self.memory.object_size(self.get(ptr), family)?;
                self.set_value(dst, &Bv::new(64, size));
            }
            Instr::ObjectOffset { dst, ptr, writable } => {
                let offset = self.memory.object_offset(self.get(ptr), writable);
                self.set_value(dst, &Bv::new(64, offset));
            }
            Instr::Havoc { width, dst, input } => {
                let value = self.unknown(Unknown::Havoc(input), width, inputs);
                self.set_value(Operand { reg: dst, width }, &value);
            }
            Instr::Copy { dst, src, len } => {
                self.memory.copy(self.get(dst), self.get(src), self.get(len), inputs)?;
            }
            Instr::Fill { dst, byte, len } => {
                self.memory.fill(self.get(dst), self.get(byte) as u8, self.get(len), inputs)?;
            }
            Instr::Shadow(index) => {
                let instr = self.code.shadows[index as usize];
                let bytes = |width: u32| u64::from(width.div_ceil(8));
                let places = match instr {
                    Instr::Load { width, addr, .. } | Instr::Store { width, addr, .. } => [(addr, bytes(width)); 2],
                    Instr::Copy { dst, src, len } => [dst, src].map(|reg| (reg, self.get(len))),
                    Instr::Fill { dst, len, .. } => [(dst, self.get(len)); 2],
                    _ => unreachable!("has no shadow"),
                };
                let places = places.map(|(reg, len)| (self.get(reg), len));
                let shown = self.memory.exchange_shadows(places)?;
                let done = self.operate(instr, pc, inputs);
                self.memory.restore_shadows(shown);
                done?;
            }
            _ => unreachable!("executed in the loop"),
        }
        Ok(())
    }
}
