use super::*;
use crate::automaton::parse;
use cfa::DataLayout;
use cfa::interp::{Inputs, Interpreter, Limits, Outcome};
use std::collections::HashMap;

const OPENED: &str = "automaton a for each p at most 3 {
    int n = 0;
    state closed { return open(_) = p if p > 0 -> open; call use(p) if p != 2 -> error \"used\"; }
    state open {
        call use(p) if n < 2 { n = n + 1; };
        call use(p) -> error \"worn\";
        call close(p) { assert n > 0 || p == 3 \"unused\"; n = 0; } -> closed;
        end -> error \"open\";
    }
}";

/// A program that calls `open`, which returns its argument, `use` and `close`, directly or through a pointer.
struct Calls {
    p: Program,
    at: LocId,
    funcs: [FuncId; 3],
}

impl Calls {
    fn new() -> Self {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        let void = p.types.push(CType::Void);
        let funcs = ["open", "use", "close"].map(|name| {
            let gives = name == "open";
            let func = p.add_function(name, if gives { ty } else { void }, gives.then_some(32));
            let param = p.vars.push(Var { name: None, ty, width: 32, kind: VarKind::Param(func), place: None });
            p.funcs[func].params.push(param);
            let (given, zero) = (p.exprs.var(param, 32), p.exprs.int(32, 0));
            let (entry, changed, end) = (p.funcs[func].entry, p.add_location(func), p.add_location(func));
            // A monitor must observe the arguments before the callee changes them.
            let result = gives.then_some(given);
            p.add_edge(entry, if gives { Op::Skip } else { Op::Assign { var: param, value: zero } }, changed, None);
            p.add_edge(changed, Op::Return { value: result }, end, None);
            func
        });
        let at = p.funcs[p.entry].entry;
        Self { p, at, funcs }
    }

    fn call(&mut self, f: usize, key: i32, indirectly: bool) {
        let next = self.p.add_location(self.p.entry);
        let arg = self.p.exprs.int(32, key as u64);
        let callee = match indirectly {
            false => Callee::Direct(self.funcs[f]),
            true => {
                // A variable, so that the callee is no constant.
                let (address, ty) =
                    (self.p.exprs.func_addr(self.funcs[f], 64), self.p.types.push(CType::Unknown { width: 64 }));
                let kind = VarKind::Temp(self.p.entry);
                let var = self.p.vars.push(Var { name: None, ty, width: 64, kind, place: None });
                let known = self.p.add_location(self.p.entry);
                self.p.add_edge(self.at, Op::Assign { var, value: address }, known, None);
                self.at = known;
                Callee::Indirect(self.p.exprs.var(var, 64))
            }
        };
        // If a call through a pointer drops the result, a monitor does not know it.
        let result = (f == 0 && indirectly).then(|| {
            let ty = self.p.types.push(CType::Unknown { width: 32 });
            self.p.vars.push(Var { name: None, ty, width: 32, kind: VarKind::Temp(self.p.entry), place: None })
        });
        self.p.add_edge(self.at, Op::Call { callee, args: Box::new([arg]), varargs: None, result }, next, None);
        self.at = next;
    }

    /// The outcome of a run: the message of the error, or of a taint on the path, if any.
    fn run(mut self, automaton: &str) -> Option<String> {
        let (zero, end) = (self.p.exprs.int(32, 0), self.p.add_location(self.p.entry));
        self.p.add_edge(self.at, Op::Halt(HaltKind::Exit(zero)), end, None);
        parse(automaton).unwrap()[0].weave(&mut self.p, None).unwrap();
        assert_eq!(cfa::validate::validate(&self.p), Ok(()));
        let run = Interpreter::new(&self.p).run(&mut Inputs::default().source(), Limits::default(), &mut ());
        if let Some(&taint) = run.taints.first() {
            return Some(self.p.taints[taint].reason.clone());
        }
        match run.outcome {
            Outcome::Error(error, _) => Some(self.p.errors[error].message.clone()),
            other => {
                assert_eq!(other, Outcome::Exit(0));
                None
            }
        }
    }
}

/// A second implementation of the automaton `OPENED`.
fn expected(calls: &[(usize, i32)]) -> Option<&'static str> {
    let mut open: HashMap<i32, i32> = HashMap::new();
    for &(f, key) in calls {
        match (f, open.get(&key).copied()) {
            (0, None) if key > 0 => {
                if open.len() == 3 {
                    return Some("more than 3 instances");
                }
                open.insert(key, 0);
            }
            (1, None) if key != 2 => return Some("used"),
            (1, Some(2)) => return Some("worn"),
            (1, Some(n)) => drop(open.insert(key, n + 1)),
            (2, Some(0)) if key != 3 => return Some("unused"),
            (2, Some(_)) => drop(open.remove(&key)),
            _ => {}
        }
    }
    (!open.is_empty()).then_some("open")
}

#[test]
fn programs_do_what_the_automaton_says_at_random() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut seen = HashMap::new();
    for _ in 0..2000 {
        let mut program = Calls::new();
        let mut calls = Vec::new();
        for _ in 0..random(12) {
            // The distribution avoids early errors, which would hide others.
            let key = random(6) as i32 - 1;
            let f = [0, 0, 1, 2][random(4) as usize];
            let f = if f == 1 && !calls.contains(&(0, key)) { 0 } else { f };
            calls.push((f, key));
            program.call(f, key, random(3) == 0);
        }
        let (found, wanted) = (program.run(OPENED), expected(&calls));
        *seen.entry(wanted).or_insert(0) += 1;
        match (&found, wanted) {
            (None, None) => {}
            (Some(found), Some(wanted)) if found.contains(wanted) => {}
            _ => panic!("{calls:?}: {found:?}, not {wanted:?}"),
        }
    }
    assert!(seen.len() == 6, "{seen:?}");
}

#[test]
fn what_does_not_fit_the_program_is_said() {
    let weave = |text: &str| parse(text).unwrap()[0].weave(&mut Calls::new().p, None).map_err(|e| e.0);
    let wrong = weave("automaton a { state s { call use(x, y); } }").unwrap_err();
    assert_eq!(wrong, "automaton a: a pattern has 2 arguments for use, which takes 1");
    let wrong = weave("automaton a { state s { return close(_) = x if x == 1 -> error \"m\"; } }").unwrap_err();
    assert_eq!(wrong, "automaton a: close returns nothing");
    assert_eq!(weave("automaton a { state s { call use(...); call gone(x); call open; } }"), Ok(()));
}
