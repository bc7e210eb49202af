//! The parser of operations.

use super::*;

impl Parser<'_> {
    pub(super) fn operation(&mut self) -> Result_<Op> {
        self.lets()?;
        let start = self.start;
        if let Token::Word(word) = self.token
            && id_in(word, "v").is_some()
        {
            let var = VarId(self.used(Kind::Var)?);
            self.expect(":=")?;
            return self.definition(var);
        }
        Ok(match self.word("an operation")? {
            "skip" => Op::Skip,
            word @ ("if" | "else") => Op::Assume {
                cond: self.expr()?,
                branch: word == "if",
                means: self.meaning()?,
                optional: self.accept_word("optional")?,
            },
            "store" => {
                let addr = self.expr()?;
                self.expect(",")?;
                Op::Store { addr, value: self.expr()? }
            }
            "free" => {
                let family = self.family()?;
                Op::Free { ptr: self.expr()?, family }
            }
            "leak" => {
                let start = self.start;
                Op::Leak(match self.word("a kind of leak")? {
                    "lost" => Leak::Lost,
                    "alive" => Leak::Alive,
                    other => return Err(Error { position: start, message: format!("unknown kind of leak '{other}'") }),
                })
            }
            kind @ ("copy" | "fill") => {
                let dst = self.expr()?;
                self.expect(",")?;
                let second = self.expr()?;
                self.expect(",")?;
                let len = self.expr()?;
                if kind == "copy" { Op::Copy { dst, src: second, len } } else { Op::Fill { dst, byte: second, len } }
            }
            "shadow" => Op::Shadow(Box::new(self.operation()?)),
            "call" => self.call(None)?,
            "return" => Op::Return { value: if self.is("->") { None } else { Some(self.expr()?) } },
            "halt" => {
                let start = self.start;
                Op::Halt(match self.word("a kind of halt")? {
                    "exit" => HaltKind::Exit(self.expr()?),
                    "exit_now" => HaltKind::ExitNow(self.expr()?),
                    "abort" => HaltKind::Abort,
                    "assumed" => HaltKind::Assumed,
                    "unreachable" => HaltKind::Unreachable,
                    other => return Err(Error { position: start, message: format!("unknown kind of halt '{other}'") }),
                })
            }
            "error" => Op::Error(ErrorId(self.used(Kind::Error)?)),
            "approx" => Op::Approx { taint: TaintId(self.used(Kind::Taint)?) },
            other => return Err(Error { position: start, message: format!("unknown operation '{other}'") }),
        })
    }

    fn family(&mut self) -> Result_<Family> {
        let start = self.start;
        let name = self.word("a family of allocations")?;
        let unknown = || Error { position: start, message: format!("unknown family of allocations '{name}'") };
        Family::by_name(name).ok_or_else(unknown)
    }

    /// Parses the right-hand side of `var :=`.
    pub(super) fn definition(&mut self, var: VarId) -> Result_<Op> {
        Ok(if self.accept_word("load")? {
            Op::Load { var, addr: self.expr()? }
        } else if self.accept_word("alloc")? {
            let kind = if self.accept_word("stack")? {
                AllocKind::Stack
            } else if self.accept_word("library")? {
                AllocKind::Library(self.family()?)
            } else if self.accept_word("given")? {
                AllocKind::Given
            } else if self.accept_word("standin")? {
                AllocKind::Placeholder
            } else {
                self.keyword("heap")?;
                AllocKind::Heap(self.family()?)
            };
            let zeroed = self.accept_word("zeroed")?;
            let size = self.expr()?;
            self.keyword("align")?;
            Op::Alloc { var, size, align: self.number()?, kind, zeroed }
        } else if self.accept_word("objectsize")? {
            let family = match self.token {
                Token::Word(word) if Family::by_name(word).is_some() => Some(self.family()?),
                _ => None,
            };
            Op::ObjectSize { var, ptr: self.expr()?, family }
        } else if self.accept_word("objectoffset")? {
            let writable = self.accept_word("writable")?;
            Op::ObjectOffset { var, ptr: self.expr()?, writable }
        } else if self.accept_word("havoc")? {
            Op::Havoc { var, input: InputId(self.used(Kind::Input)?) }
        } else if self.accept_word("call")? {
            self.call(Some(var))?
        } else {
            Op::Assign { var, value: self.expr()? }
        })
    }

    pub(super) fn call(&mut self, result: Option<VarId>) -> Result_<Op> {
        let callee = if self.accept("*")? {
            Callee::Indirect(self.expr()?)
        } else {
            Callee::Direct(FuncId(self.used(Kind::Func)?))
        };
        let args = self.list("(", ")", Self::expr)?.into();
        let varargs = if self.accept_word("varargs")? { Some(self.expr()?) } else { None };
        Ok(Op::Call { callee, args, varargs, result })
    }
}
