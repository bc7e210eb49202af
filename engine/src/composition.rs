//! The analyses that a user can name.
//!
//! Most are compositions: a domain, with or without refinement of its precision (CEGAR), on the whole program or on a
//! slice that grows. The name of a composition consists of its domain, its refinement, and a suffix for the slice:
//! `predicate`, `predicate-slicing`, `predicate-slicing-location`. The other analyses are separate algorithms.

use std::sync::LazyLock;

/// An analysis that a user can choose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Analysis {
    /// Runs several of the other analyses in time slices.
    #[default]
    Default,
    /// Symbolic execution of each path on its own, without abstraction.
    Symex,
    /// Symbolic execution of the program with loops in closed form.
    SymexAccelerated,
    /// Symbolic execution that merges paths where they join.
    Merging,
    /// A composition on the CPA algorithm with precision adjustment.
    Composed(Composition),
    /// Proves loop invariants that it guesses from executions (Houdini).
    Invariants,
    /// k-induction with invariants.
    KInduction,
    /// Bounded model checking.
    Bmc,
    /// Random testing: runs the program on random inputs.
    Random,
}

/// A domain with dynamic precision adjustment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Composition {
    /// The abstract domain.
    pub domain: Domain,
    /// True if refinements extend the precision; false if the analysis tracks everything.
    pub refined: bool,
    /// The slicing that surrounds the domain, if any.
    pub slicing: Option<Slicing>,
}

/// The abstract domains, by the part of a state that they keep where paths join.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Domain {
    /// Symbolic values and constraints.
    Symbols,
    /// Explicit values.
    Values,
    /// The product of explicit values and intervals.
    ValuesIntervals,
    /// Explicit values, with chains of nodes as list segments.
    Shapes,
    /// Predicates.
    Predicates,
    /// Explicit values until they cannot refute a path, then predicates.
    ValuesThenPredicates,
    /// Explicit values and predicates in one analysis.
    ValuesPredicates,
    /// All explicit values, with predicates that refinements find.
    AllValuesPredicates,
}

/// The operations of an infeasible path that a refinement adds to the slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slicing {
    /// The branches of the path and its last operation.
    TargetPath,
    /// The last operation alone.
    TargetLocation,
}

impl Domain {
    /// True if abstraction happens at cut points only, with formulas for the blocks between them.
    fn is_in_blocks(self) -> bool {
        matches!(
            self,
            Self::Predicates | Self::ValuesThenPredicates | Self::ValuesPredicates | Self::AllValuesPredicates
        )
    }
}

/// An analysis, its name, and two lines: its description and its source in the literature.
type Entry = (Analysis, String, String);

const fn composed(domain: Domain, refined: bool) -> Analysis {
    Analysis::Composed(Composition { domain, refined, slicing: None })
}

/// All analyses without slicing.
const WHOLE: [(Analysis, &str, &str); 17] = [
    (
        Analysis::Default,
        "default",
        "several of the others in turns, chosen by features of the program; what one learns the next uses\n\
         (after Beyer, Wendler et al.: strategy selection, ISoLA 2018)",
    ),
    (
        Analysis::Symex,
        "symex",
        "symbolic execution: each path separately, byte-precise; proves programs whose paths are finite\n\
         (King, CACM 1976; covering after Anand, Pasareanu, Visser, SPIN 2006)",
    ),
    (
        Analysis::SymexAccelerated,
        "symex-accelerated",
        "symbolic execution of the program with counting loops replaced by closed forms\n\
         (after Kroening, Lewis, Weissenbacher: acceleration, CAV 2013)",
    ),
    (
        Analysis::SYMEX_CEGAR,
        "symex-cegar",
        "symbolic execution that tracks only the values and constraints that refute the infeasible paths found\n\
         (SymEx-C of the thesis; Beyer, Lemberger: Symbolic execution with CEGAR, ISoLA 2016)",
    ),
    (
        composed(Domain::Values, false),
        "value-nocegar",
        "explicit values of all variables; states at a location are not merged\n\
         (Beyer, Loewe: Explicit-state software model checking based on CEGAR and interpolation, FASE 2013, section II-C)",
    ),
    (
        Analysis::VALUE,
        "value",
        "explicit values of only those variables that refute the infeasible paths found\n\
         (the same paper, section III: CEGAR with interpolation for constraint sequences)",
    ),
    (
        composed(Domain::ValuesIntervals, true),
        "value-interval",
        "the product of `value` with bounds, bits, residues and small sets of values of all variables\n\
         (Beyer, Henzinger, Theoduloz, CAV 2007, section 3; Cousot, Cousot, POPL 1977)",
    ),
    (
        Analysis::SHAPE,
        "shape",
        "explicit values under refinement, with chains of nodes in memory as list segments of any length\n\
         (after Dudka, Peringer, Vojnar: Byte-precise verification of low-level list manipulation, SAS 2013)",
    ),
    (
        Analysis::PREDICATE,
        "predicate",
        "boolean predicate abstraction at loop heads, blocks between them as formulas, predicates from interpolants\n\
         (Beyer, Keremoglu, Wendler: Predicate abstraction with adjustable-block encoding, FMCAD 2010)",
    ),
    (
        Analysis::VALUE_PREDICATE,
        "value-predicate",
        "explicit values if they refute a path; predicates otherwise, or if a variable has too many values\n\
         (Beyer, Loewe, FASE 2013, section III-F)",
    ),
    (
        composed(Domain::ValuesPredicates, true),
        "value-predicate-joint",
        "explicit values and predicates in one analysis, in blocks; a refinement adds predicates if values do not refute a path\n\
         (the same paper, without its delegation)",
    ),
    (
        composed(Domain::AllValuesPredicates, true),
        "value-nocegar-predicate",
        "explicit values of all variables except those with too many values, and predicates that refute the infeasible paths found\n\
         (cpa-expl-pred of the same paper; Beyer, Henzinger, Theoduloz: dynamic precision adjustment, ASE 2008)",
    ),
    (
        Analysis::Merging,
        "symex-merging",
        "symbolic execution with paths merged where they join: one formula for code without loops\n\
         (Kuznetsov, Kinder, Bucur, Candea: Efficient state merging in symbolic execution, PLDI 2012)",
    ),
    (
        Analysis::Invariants,
        "invariants",
        "replaces loops by invariants: candidates from executions, kept if they are inductive together\n\
         (Flanagan, Leino: Houdini, FME 2001; candidates as in Ernst et al.: Daikon, 2007)",
    ),
    (
        Analysis::KInduction,
        "k-induction",
        "for k = 1, 2, ...: all executions with k iterations of each loop, then a step of k iterations from any state, with invariants\n\
         (Sheeran, Singh, Stalmarck, FMCAD 2000; invariants as in Beyer, Dangl, Wendler, CAV 2015)",
    ),
    (
        Analysis::Bmc,
        "bmc",
        "all executions with 1, 2, 4, ... iterations of each loop, one formula between merges of paths\n\
         (Biere, Cimatti, Clarke, Zhu: Symbolic model checking without BDDs, TACAS 1999)",
    ),
    (
        Analysis::Random,
        "random",
        "runs on random inputs, and on inputs that leave the paths of earlier runs; proves nothing\n\
         (Hamlet: Random testing, Encyclopedia of Software Engineering 1994;\n\
         Godefroid, Levin, Molnar: Automated whitebox fuzz testing, NDSS 2008)",
    ),
];

/// The compositions that can also explore a slice, with the name of the composition without slicing.
const SLICED: [(Domain, bool, &str, &str); 4] = [
    (
        Domain::Symbols,
        false,
        "symex",
        "symbolic execution of a slice that grows with the infeasible paths found\n(SymEx-S of the thesis",
    ),
    (
        Domain::Symbols,
        true,
        "symex-cegar",
        "the same with refinement of the precision; the slice and the precision grow together\n(SymEx-SC of the thesis",
    ),
    (
        Domain::Values,
        true,
        "value",
        "value analysis with refinement, of a slice that grows with the infeasible paths found\n(the slicing CPA of the thesis around the explicit-value CPA",
    ),
    (
        Domain::Predicates,
        true,
        "predicate",
        "predicate abstraction in blocks, of a slice that grows with the infeasible paths found\n(the slicing CPA of the thesis around predicate analysis, both refined together",
    ),
];

/// All analyses. Compositions with slicing follow the one without.
static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut all: Vec<Entry> = Vec::new();
    for (analysis, name, what) in WHOLE {
        all.push((analysis, name.into(), what.into()));
        for &(domain, refined, _, what) in SLICED.iter().filter(|(.., whole, _)| *whole == name) {
            for slicing in [Slicing::TargetPath, Slicing::TargetLocation] {
                let (suffix, section) = match slicing {
                    Slicing::TargetPath => ("slicing", ", section 3.2)"),
                    Slicing::TargetLocation => (
                        "slicing-location",
                        "; adds branches only if the dependences of the error do not refute a path, section 3.3)",
                    ),
                };
                let analysis = Analysis::Composed(Composition { domain, refined, slicing: Some(slicing) });
                all.push((analysis, format!("{name}-{suffix}"), format!("{what}{section}")));
            }
        }
    }
    all
});

impl Analysis {
    /// Symbolic execution with CEGAR.
    pub const SYMEX_CEGAR: Self = composed(Domain::Symbols, true);
    /// Explicit-value analysis with CEGAR.
    pub const VALUE: Self = composed(Domain::Values, true);
    /// Shape analysis with CEGAR.
    pub const SHAPE: Self = composed(Domain::Shapes, true);
    /// Predicate analysis with CEGAR.
    pub const PREDICATE: Self = composed(Domain::Predicates, true);
    /// Explicit-value analysis that delegates to predicate analysis.
    pub const VALUE_PREDICATE: Self = composed(Domain::ValuesThenPredicates, true);

    /// Every analysis with its name and two lines: its description and its source in the literature.
    pub fn all() -> impl ExactSizeIterator<Item = (Self, &'static str, &'static str)> {
        ALL.iter().map(|(analysis, name, what)| (*analysis, name.as_str(), what.as_str()))
    }

    /// Returns the analysis with this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|(_, n, _)| *n == name).map(|(analysis, ..)| analysis)
    }

    /// The name of the analysis, as on the command line.
    pub fn name(self) -> &'static str {
        Self::all().find(|(analysis, ..)| *analysis == self).expect("all are listed").1
    }

    /// True if the analysis executes only a slice of the program, which refinements extend.
    pub fn slices(self) -> bool {
        matches!(self, Self::Composed(Composition { slicing: Some(_), .. }))
    }

    /// True if the analysis reports its progress per loop head, because it builds formulas from head to head or counts
    /// iterations. A slice may have removed some of the heads.
    pub fn tells_heads(self) -> bool {
        match self {
            Self::Composed(composition) => composition.domain.is_in_blocks(),
            Self::Bmc | Self::KInduction => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (analysis, name, _) in Analysis::all() {
            assert_eq!(Analysis::parse(name), Some(analysis));
            assert_eq!(analysis.name(), name);
        }
        assert_eq!(Analysis::all().len(), 25);
        assert!(Analysis::parse("value-slicing-location").is_some_and(Analysis::slices));
        assert_eq!(Analysis::parse("value-slicing-place"), None);
    }
}
