//! Tests that folding loses no concrete memory: whatever a state unfolds to, its folded state unfolds to as well, and a
//! covering state unfolds to all that the covered state does. `PROVISO_PROGRAMS=N cargo test -p engine --lib fold`
//! tests N memories. `PROVISO_SEED=N` sets the first seed.

use super::*;
use crate::laws::generator::Random;
use crate::semantics::control::CallStacks;
use crate::semantics::{Execution, Piece, unfold};
use cfa::{EdgeId, LocId};
use smt::{Choice, PathSolver};

/// A program in which `a` and `b` are live at the entry.
const PROGRAM: &str = "program 64 entry f0
type ty0 void
type ty1 int \"long\" 64 signed

func f0 \"main\" source ty0 () entry l0 {
  local v0 \"a\" ty1 64
  local v1 \"b\" ty1 64
  local v2 \"c\" ty1 64
  l0:
    t0: v2 := (v0 + v1) -> l1
  l1:
    t1: return -> l2
  l2:
}
";
/// Bytes of a pointer, and of a node. A node has links at offsets 0 and 8, another address at 16 and a number at 24.
const POINTER: u32 = 8;
const NODE: u64 = 32;
const HEAD: Control = Control { loc: LocId(0), stack: CallStacks::EMPTY };

fn fold(st: &mut State) -> Fold<'_> {
    Fold { st, shortest: SHORTEST, pointer: POINTER }
}

/// Parameters of random memories.
#[derive(Clone, Copy)]
struct Shape {
    doubly: bool,
    circular: bool,
    /// The content at offset 16: nothing, null, the node's own address, an object per node, or an object shared by all
    /// nodes.
    third: u64,
    /// Upper bound of the random numbers in nodes.
    numbers: u64,
    /// The values of the variables `a` and `b` and of a stack cell: a random node, the last node, the first node, or
    /// null.
    roots: [usize; 3],
    /// The number of cells that are overwritten at random.
    changes: usize,
}

/// A state with a list of `nodes` nodes, some of whose cells are overwritten at random.
fn state(ex: &mut Execution, random: &mut Random, shape: Shape, nodes: usize) -> State {
    let mut st = ex.initial();
    let heap = |size| Object::new(Val::Int(size), 16, Origin::Heap(EdgeId(0)), false);
    let of_stack = Object::new(Val::Int(8), 16, Origin::Stack(EdgeId(0)), false);
    let cell = st.memory.allocate(of_stack);
    let ids: Vec<ObjId> = (0..nodes).map(|_| st.memory.allocate(heap(NODE))).collect();
    let shared = st.memory.allocate(Object::new(Val::Int(8), 16, Origin::Heap(EdgeId(1)), false));
    for (i, &id) in ids.iter().enumerate() {
        let own = (shape.third == 3)
            .then(|| st.memory.allocate(Object::new(Val::Int(8), 16, Origin::Heap(EdgeId(1)), false)));
        let object = st.memory.get_mut(id).expect("just made");
        let neighbour = |i: Option<usize>| i.map(|i| Val::Ptr(ids[i], 0));
        let (next, prev) = match shape.circular {
            true => (neighbour(Some((i + 1) % nodes)), neighbour(Some((i + nodes - 1) % nodes))),
            false => (neighbour((i + 1 < nodes).then_some(i + 1)), neighbour(i.checked_sub(1))),
        };
        let mut put = |at, value: Option<Val>| match value {
            Some(value) => object.write_cell(at, POINTER, value),
            None => object.write_int(at, POINTER, 0),
        };
        put(0, next);
        put(8, prev.filter(|_| shape.doubly));
        match shape.third {
            0 => {}
            1 => put(16, None),
            2 => put(16, Some(Val::Ptr(id, 8))),
            3 => put(16, own.map(|own| Val::Ptr(own, 0))),
            _ => put(16, Some(Val::Ptr(shared, 0))),
        }
        object.write_int(24, 4, random.below(1 + shape.numbers as usize) as u64);
        if let Some(own) = own.and_then(|own| st.memory.get_mut(own)) {
            own.write_int(0, 4, random.below(2) as u64);
            if random.below(3) == 0 {
                own.write_cell(0, POINTER, Val::Ptr(id, 16));
            }
        }
    }
    for _ in 0..shape.changes {
        let (from, to) = (ids[random.below(nodes)], ids[random.below(nodes)]);
        let at = [0, 8, 16][random.below(3)];
        let object = st.memory.get_mut(from).expect("just made");
        match random.below(4) {
            0 => object.write_int(at, POINTER, 0),
            _ => object.write_cell(at, POINTER, Val::Ptr(to, [0, 8][random.below(2)])),
        }
    }
    let roots = shape.roots.map(|kind| match kind {
        0 => Val::Int(0),
        1 => Val::Ptr(ids[random.below(nodes)], 0),
        2 => Val::Ptr(ids[nodes - 1], 0),
        _ => Val::Ptr(ids[0], 0),
    });
    if let Val::Ptr(..) = roots[2] {
        st.memory.get_mut(cell).expect("just made").write_cell(0, POINTER, roots[2]);
    }
    let frame = Rc::make_mut(&mut st.frame);
    frame.objects.push(cell);
    frame.vars[0] = roots[0];
    frame.vars[1] = roots[1];
    st
}

/// The states without segments to which `st` unfolds, with at most `most` concrete objects.
fn unfolded(ex: &mut Execution, st: &State, most: usize) -> Vec<State> {
    let (mut work, mut done) = (vec![st.clone()], Vec::new());
    while let Some(mut st) = work.pop() {
        let segment =
            st.memory.iter().find(|(_, o)| matches!(o.summary, Some(Summary::Segment { .. })) && o.owner.is_none());
        let Some((mut segment, object)) = segment else {
            fold(&mut st).drop_unreachable();
            fold(&mut st).renumber();
            done.push(st);
            continue;
        };
        // Unfold from either end.
        if st.memory.iter().count() % 2 == 0 {
            segment = object.summary.and_then(Summary::other_end).unwrap_or(segment);
        }
        let objects = |st: &State| st.memory.iter().filter(|(_, o)| o.summary.is_none() && o.owner.is_none()).count();
        work.extend(unfold(ex, &st, segment).expect("a segment").into_iter().filter(|st| objects(st) <= most));
    }
    done
}

/// True if `general`, which has no segments, represents `special`.
fn stands_for(general: &State, special: &State) -> bool {
    let all = |st: &State| st.memory.iter().map(|(id, o)| (id, o.clone())).collect::<Vec<_>>();
    let (a, b) = (all(general), all(special));
    let is_unknown = |piece| matches!(piece, Piece::Default | Piece::Cell { value: Val::Unknown, .. });
    let is_address = |piece| matches!(piece, Piece::Cell { value: Val::Ptr(..), .. });
    general.frame.vars == special.frame.vars
        && a.len() == b.len()
        && a.iter().zip(&b).all(|((x, a), (y, b))| {
            let Val::Int(size) = a.size else { unreachable!("all have a size") };
            (x, a.origin, a.size, a.summary, a.owner) == (y, b.origin, b.size, b.summary, b.owner)
                && (0..size).all(|at| {
                    let (x, y) = (a.piece(at), b.piece(at));
                    x == y || is_unknown(x) && !is_address(y)
                })
        })
}

fn normal(mut st: State) -> State {
    fold(&mut st).drop_unreachable();
    fold(&mut st).renumber();
    st
}

/// Removes unreachable objects, which comparisons ignore.
fn without_garbage(mut st: State) -> State {
    let reachable: FxHashSet<ObjId> = found_from_variables(&st).into_iter().collect();
    let lost: Vec<ObjId> = st.memory.iter().map(|(id, _)| id).filter(|id| !reachable.contains(id)).collect();
    lost.into_iter().for_each(|id| st.memory.remove(id));
    fold(&mut st).renumber();
    st
}

#[test]
fn nothing_is_lost() {
    let program = cfa::text::parse(PROGRAM).expect("a program");
    let solver = PathSolver::new(Choice::default().open(), smt::budget::Budget::unlimited());
    let mut ex = Execution::new(&program, solver);
    ex.mode = crate::semantics::Mode { names_unknowns: false, is_abstract: true, skips_calls: false };
    ex.unfolds = true;
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a number"));
    let (first, programs) = (number("PROVISO_SEED").unwrap_or(1), number("PROVISO_PROGRAMS").unwrap_or(4000));
    let (mut folded, mut covered) = (0, 0);
    for seed in first..first + programs {
        let mut random = Random::new(seed);
        let shape = Shape {
            doubly: random.below(2) == 0,
            circular: random.below(4) == 0,
            third: random.below(5) as u64,
            numbers: random.below(2) as u64,
            roots: [(); 3].map(|()| random.below(5)),
            changes: [0, 0, 1, 2][random.below(4)],
        };
        let mut states = Vec::new();
        for _ in 0..2 {
            let most = [5, 5, 5, 10][random.below(4)];
            let nodes = 2 + random.below(most);
            let mut st = normal(state(&mut ex, &mut random, shape, nodes));
            // Fold again what was folded and partly unfolded.
            for round in 0..3 {
                let mut small = st.clone();
                fold(&mut small).run();
                folded += usize::from(small.memory.iter().any(|(_, o)| o.summary.is_some()));
                let most = st.memory.iter().count() + round;
                let general = unfolded(&mut ex, &small, most);
                for special in unfolded(&mut ex, &st, most) {
                    assert!(general.iter().any(|g| stands_for(g, &special)), "seed {seed}: a memory is lost");
                }
                states.push(small.clone());
                st = small;
                for _ in 0..random.below(3) {
                    let ends: Vec<ObjId> = st
                        .memory
                        .iter()
                        .filter(|(_, o)| o.summary.is_some() && o.owner.is_none())
                        .map(|(id, _)| id)
                        .collect();
                    if ends.is_empty() {
                        break;
                    }
                    // Load the node into a variable, or not.
                    let end = ends[random.below(ends.len())];
                    let mut parts = unfold(&mut ex, &st, end).expect("a segment");
                    st = parts.swap_remove(random.below(parts.len()));
                    let is_node = st.memory.get(end).is_some_and(|o| o.summary.is_none());
                    if is_node && random.below(2) == 0 {
                        Rc::make_mut(&mut st.frame).vars[random.below(2)] = Val::Ptr(end, 0);
                    }
                }
                if random.below(3) == 0 {
                    Rc::make_mut(&mut st.frame).vars[random.below(2)] = Val::Int(0);
                }
                st = normal(st);
                states.push(st.clone());
            }
        }
        for (old, new) in [(0, 6), (6, 0), (1, 7), (7, 1), (2, 3), (3, 2), (4, 8), (8, 4), (1, 3), (9, 5)] {
            if !ex.covers(&states[old], &states[new], HEAD) {
                continue;
            }
            covered += 1;
            let most = states[new].memory.iter().count() + 3;
            let general: Vec<State> =
                unfolded(&mut ex, &states[old], most + 4).into_iter().map(without_garbage).collect();
            for special in unfolded(&mut ex, &states[new], most).into_iter().map(without_garbage) {
                assert!(general.iter().any(|g| stands_for(g, &special)), "seed {seed}: what is covered is lost");
            }
        }
    }
    println!("{folded} folded, {covered} covered");
    assert!(folded as u64 > programs / 4 && covered as u64 > programs / 50, "{folded} folded, {covered} covered");
}
