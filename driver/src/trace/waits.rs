//! The locks that threads hold, and the calls in which they wait, at a point of a run. Messages name both.

use super::access::access_path;
use super::names::Names;
use super::recorder::library::name_in_c;
use crate::source::Sources;
use cfa::interp::{ObjectSeq, State};
use cfa::threads::ThreadOp;
use cfa::{Callee, EdgeId, Expr, FunctionOrigin, Op, Program};
use rustc_hash::FxHashMap;

/// A kind of object for synchronisation: the start of the names of its functions, the kind in words, and the size in
/// bytes for pointers of 64 and 32 bits.
const KINDS: [(&str, &str, [u64; 2]); 9] = [
    ("pthread_mutex_", "mutex", [40, 24]),
    ("mtx_", "mutex", [40, 24]),
    ("pthread_rwlock_", "read-write lock", [56, 32]),
    ("pthread_spin_", "spin lock", [4, 4]),
    ("pthread_cond_", "condition variable", [48, 48]),
    ("cnd_", "condition variable", [48, 48]),
    ("pthread_barrier_", "barrier", [32, 20]),
    ("sem_", "semaphore", [32, 16]),
    ("pthread_once", "once control", [4, 4]),
];

/// A call of a synchronising function that has not returned.
struct Call {
    function: String,
    /// The values of the first two arguments.
    arguments: [u64; 2],
    depth: usize,
}

/// The synchronisation of a run so far.
#[derive(Default)]
pub struct Waits {
    /// For each thread, the calls that have not returned, outermost first.
    open: FxHashMap<u32, Vec<Call>>,
    /// The locks that each thread holds, in the order in which it took them.
    held: FxHashMap<u32, Vec<u64>>,
    /// Descriptions of synchronisation objects by address.
    names: FxHashMap<u64, String>,
    /// The functions in which threads started.
    starts: FxHashMap<u32, String>,
    /// The threads by their identifiers in the program.
    ids: FxHashMap<u64, u32>,
}

impl Waits {
    /// Observes an executed edge. Returns the names of the synchronisation objects in the arguments of a call from the
    /// program.
    pub fn executed(
        &mut self,
        program: &Program,
        edge: EdgeId,
        state: &State,
        names: &Names,
        sources: &Sources,
    ) -> Vec<String> {
        let (thread, func) = (state.thread(), program.func_of(edge));
        let is_source = program.funcs[func].origin == FunctionOrigin::Source;
        if is_source && func != program.entry {
            self.starts.entry(thread).or_insert_with(|| program.funcs[func].name.clone());
        }
        match program.edges[edge].op {
            Op::Call { callee: Callee::Direct(callee), ref args, .. } => {
                let function = &program.funcs[callee];
                if ThreadOp::by_name(&function.name) == Some(ThreadOp::Start) {
                    let id = args.get(1).and_then(|&id| state.eval(id).to_u64()).unwrap_or(0);
                    let number = self.ids.len() as u32 + 1;
                    self.ids.insert(id, number);
                }
                if !is_source || function.origin != FunctionOrigin::Model {
                    return Vec::new();
                }
                let Some(name) = name_in_c(function) else { return Vec::new() };
                let value = |n: usize| function.params.get(n).and_then(|&param| state.var(param)?.to_u64());
                let arguments = [value(0).unwrap_or(0), value(1).unwrap_or(0)];
                let shown = self.describe(program, name, arguments[0], state, names, sources);
                self.begin(thread, name, arguments, state.depth());
                let start = match (name, &args[..]) {
                    ("pthread_create", &[_, _, start, _]) | ("thrd_create", &[_, start, _]) => Some(start),
                    _ => None,
                };
                match start.map(|start| program.exprs.get(start)) {
                    Some(&Expr::FuncAddr(start)) => vec![program.funcs[start].name.clone()],
                    _ => shown.into_iter().map(|name| format!("&{name}")).collect(),
                }
            }
            Op::Return { value } if !is_source => {
                let failed = value.is_some_and(|value| !state.eval(value).is_zero());
                self.end(thread, state.depth(), failed);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Records a description of the object that a function synchronises. Returns its C expression.
    fn describe(
        &mut self,
        program: &Program,
        function: &str,
        at: u64,
        state: &State,
        names: &Names,
        sources: &Sources,
    ) -> Option<String> {
        let (_, kind, size) = KINDS.iter().find(|(start, ..)| function.starts_with(start))?;
        let object = state.object_at(at)?;
        let size = size[usize::from(program.layout.pointer_width == 32)];
        let name = names.object(object.seq).map(|(name, ty)| {
            let (path, _) = access_path(program, ty, at - object.base, size);
            // The members of the object belong to the library.
            let end = [".__", "<"].iter().filter_map(|start| path.find(start)).min().unwrap_or(path.len());
            name + &path[..end]
        });
        let name = name.or_else(|| names.heap_name(object));
        let place = match object.seq {
            ObjectSeq::Global(global) => program.globals[global].place,
            _ => None,
        };
        let spot = place.and_then(|place| sources.spot(program, place));
        let spot = spot.map_or_else(String::new, |spot| format!(" ({}:{})", spot.path, spot.line));
        let description = match &name {
            Some(name) => format!("{kind} `{name}`{spot}"),
            None => format!("a {kind}"),
        };
        self.names.entry(at).or_insert(description);
        name
    }

    fn begin(&mut self, thread: u32, function: &str, arguments: [u64; 2], depth: usize) {
        let held = self.held.entry(thread).or_default();
        let mut release = |lock: u64| {
            if let Some(at) = held.iter().rposition(|&other| other == lock) {
                held.remove(at);
            }
        };
        if function.ends_with("_unlock") {
            release(arguments[0]);
        } else if is_wait_for_condition(function) {
            release(arguments[1]);
        }
        self.open.entry(thread).or_default().push(Call { function: function.to_owned(), arguments, depth });
    }

    fn end(&mut self, thread: u32, depth: usize, failed: bool) {
        let Some(call) = self.open.get_mut(&thread).and_then(|open| open.pop_if(|call| call.depth == depth)) else {
            return;
        };
        let held = self.held.entry(thread).or_default();
        if is_wait_for_condition(&call.function) {
            held.push(call.arguments[1]);
        } else if call.function.ends_with("lock") && !call.function.ends_with("unlock") && !failed {
            held.push(call.arguments[0]);
        }
    }

    /// Returns the function in which a thread started.
    pub fn start(&self, thread: u32) -> Option<&str> {
        self.starts.get(&thread).map(String::as_str)
    }

    /// Returns a thread with its start function, in words.
    pub fn thread(&self, thread: u32) -> String {
        self.start(thread).map_or_else(|| format!("thread {thread}"), |start| format!("thread {thread} (`{start}`)"))
    }

    /// Returns the locks that a thread holds.
    pub fn held(&self, thread: u32) -> Vec<u64> {
        self.held.get(&thread).cloned().unwrap_or_default()
    }

    /// Returns the lock at an address, in words. `None` if no function has synchronised an object there.
    pub fn lock(&self, address: u64) -> Option<&str> {
        self.names.get(&address).map(String::as_str)
    }

    /// Returns a list of locks in words.
    pub fn locks(&self, locks: &[u64]) -> String {
        let names: Vec<&str> = locks.iter().map(|&lock| self.lock(lock).unwrap_or("a lock")).collect();
        match names.is_empty() {
            true => "no lock".to_owned(),
            false => names.join(" and "),
        }
    }

    /// Returns the objects that the threads wait for, in words. Empty if they are not known.
    pub fn waiting(&self) -> Vec<String> {
        let mut threads: Vec<u32> = self.open.keys().copied().collect();
        // The first thread often waits for the others, which are the cause.
        threads.sort_unstable_by_key(|&thread| (thread == 0, thread));
        let waits = |thread: &u32| {
            let call = self.open[thread].last()?;
            let what = self.what(call)?;
            Some(format!("{} waits {what}", self.thread(*thread)))
        };
        threads.iter().filter_map(waits).collect()
    }

    fn what(&self, call: &Call) -> Option<String> {
        let function = call.function.as_str();
        if matches!(function, "pthread_join" | "thrd_join") {
            let thread = self.ids.get(&call.arguments[0])?;
            return Some(format!("for the end of {}", self.thread(*thread)));
        }
        let object = self.names.get(&call.arguments[0])?;
        if is_wait_for_condition(function) {
            // Once a signal has come, the thread waits for the mutex.
            return Some(format!("for a signal of {object}, or for {}", self.locks(&call.arguments[1..])));
        }
        if function.starts_with("pthread_barrier") {
            return Some(format!("at {object}"));
        }
        let mut holders: Vec<u32> =
            self.held.iter().filter(|(_, held)| held.contains(&call.arguments[0])).map(|(&thread, _)| thread).collect();
        holders.sort_unstable();
        Some(match holders[..] {
            [] => format!("for {object}"),
            _ => {
                let holders: Vec<String> = holders.iter().map(|&thread| self.thread(thread)).collect();
                let verb = if holders.len() == 1 { "holds" } else { "hold" };
                format!("for {object}, which {} {verb}", holders.join(" and "))
            }
        })
    }
}

fn is_wait_for_condition(function: &str) -> bool {
    matches!(function, "pthread_cond_wait" | "pthread_cond_timedwait" | "cnd_wait" | "cnd_timedwait")
}
