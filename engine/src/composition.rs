//! The analyses that a user can name: configurations of the same parts.

/// What decides the question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Analysis {
    #[default]
    Default,
    Symex,
    SymexAccelerated,
    SymexSlicing,
    SymexSlicingLocation,
    SymexCegar,
    SymexCegarSlicing,
    SymexCegarSlicingLocation,
    ValueSlicing,
    ValueSlicingLocation,
    PredicateSlicing,
    PredicateSlicingLocation,
    ValueNoCegar,
    Value,
    ValueInterval,
    Shape,
    Predicate,
    ValuePredicate,
    ValuePredicateJoint,
    ValueNoCegarPredicate,
    Merging,
    Invariants,
    KInduction,
    Bmc,
    Random,
}

impl Analysis {
    /// Every analysis with its name and two lines on what it does and where it is from.
    pub const ALL: [(Analysis, &'static str, &'static str); 25] = [
        (
            Analysis::Default,
            "default",
            "several of the others in turns, chosen by what the program has in it; what one learns the next uses\n\
             (after Beyer, Wendler et al.: strategy selection, ISoLA 2018)",
        ),
        (
            Analysis::Symex,
            "symex",
            "symbolic execution: every path on its own, byte-precise; proves programs whose paths are finite\n\
             (King, CACM 1976; covering after Anand, Pasareanu, Visser, SPIN 2006)",
        ),
        (
            Analysis::SymexAccelerated,
            "symex-accelerated",
            "the same, of the program with loops that only count in closed form\n\
             (after Kroening, Lewis, Weissenbacher: acceleration, CAV 2013)",
        ),
        (
            Analysis::SymexSlicing,
            "symex-slicing",
            "symbolic execution of a slice that grows with the infeasible paths met\n\
             (SymEx-S of the thesis on slicing and CEGAR for symbolic execution)",
        ),
        (
            Analysis::SymexSlicingLocation,
            "symex-slicing-location",
            "the same, with what the errors met depend on; branches of paths come in only where these do not refute them\n\
             (target-location slicing of the thesis, with its check of the sliced path, whose inputs the program is run on)",
        ),
        (
            Analysis::SymexCegar,
            "symex-cegar",
            "symbolic execution that tracks only the values and constraints which refute the infeasible paths met\n\
             (SymEx-C of the thesis; Beyer, Lemberger: Symbolic execution with CEGAR, ISoLA 2016)",
        ),
        (
            Analysis::SymexCegarSlicing,
            "symex-cegar-slicing",
            "both: the slice and the precision in it grow together\n\
             (SymEx-SC of the thesis)",
        ),
        (
            Analysis::SymexCegarSlicingLocation,
            "symex-cegar-slicing-location",
            "the same with target-location slicing\n\
             (SymEx-SC of the thesis, section 3.3)",
        ),
        (
            Analysis::ValueSlicing,
            "value-slicing",
            "value analysis with refinement of a slice that grows with the infeasible paths met\n\
             (the slicing CPA of the thesis around the explicit-value CPA)",
        ),
        (
            Analysis::ValueSlicingLocation,
            "value-slicing-location",
            "the same with target-location slicing\n\
             (the thesis, section 3.3)",
        ),
        (
            Analysis::PredicateSlicing,
            "predicate-slicing",
            "predicate abstraction in blocks of a slice that grows with the infeasible paths met\n\
             (the slicing CPA of the thesis around predicate analysis, both refined together)",
        ),
        (
            Analysis::PredicateSlicingLocation,
            "predicate-slicing-location",
            "the same with target-location slicing\n\
             (the thesis, section 3.3)",
        ),
        (
            Analysis::ValueNoCegar,
            "value-nocegar",
            "explicit values of all variables, nothing else; states at a location are kept apart\n\
             (Beyer, Loewe: Explicit-state software model checking based on CEGAR and interpolation, FASE 2013, section II-C)",
        ),
        (
            Analysis::Value,
            "value",
            "explicit values of those variables alone that refute the infeasible paths met\n\
             (the same, section III: CEGAR with interpolation for constraint sequences)",
        ),
        (
            Analysis::ValueInterval,
            "value-interval",
            "the product of that with bounds, bits, residues and small sets of values of all variables\n\
             (Beyer, Henzinger, Theoduloz, CAV 2007, section 3; Cousot, Cousot, POPL 1977)",
        ),
        (
            Analysis::Shape,
            "shape",
            "explicit values under refinement, with chains of nodes in memory as list segments of any length\n\
             (after Dudka, Peringer, Vojnar: Byte-precise verification of low-level list manipulation, SAS 2013)",
        ),
        (
            Analysis::Predicate,
            "predicate",
            "boolean predicate abstraction at loop heads, blocks between them as formulas, predicates from interpolants\n\
             (Beyer, Keremoglu, Wendler: Predicate abstraction with adjustable-block encoding, FMCAD 2010)",
        ),
        (
            Analysis::ValuePredicate,
            "value-predicate",
            "explicit values where they refute a path, predicates where they do not or where a variable has too many\n\
             (Beyer, Loewe, FASE 2013, section III-F)",
        ),
        (
            Analysis::ValuePredicateJoint,
            "value-predicate-joint",
            "both from the start in one analysis, in blocks; a refinement adds predicates where values do not do\n\
             (the same, without its delegation)",
        ),
        (
            Analysis::ValueNoCegarPredicate,
            "value-nocegar-predicate",
            "explicit values of all variables but those that have too many, with predicates that refute the infeasible paths met\n\
             (cpa-expl-pred of the same; Beyer, Henzinger, Theoduloz: dynamic precision adjustment, ASE 2008)",
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
            "loops replaced by invariants that are guessed from executions and kept if inductive together\n\
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
            "all executions with 1, 2, 4, ... iterations of each loop, one formula between places where paths are merged\n\
             (Biere, Cimatti, Clarke, Zhu: Symbolic model checking without BDDs, TACAS 1999)",
        ),
        (
            Analysis::Random,
            "random",
            "runs on random inputs; finds violations far down concrete executions, proves nothing\n\
             (Hamlet: Random testing, Encyclopedia of Software Engineering 1994)",
        ),
    ];

    /// Whether it executes only a slice of the program, which grows.
    pub fn slices(self) -> bool {
        use Analysis::{PredicateSlicing, SymexCegarSlicing, SymexSlicing, ValueSlicing};
        use Analysis::{
            PredicateSlicingLocation, SymexCegarSlicingLocation, SymexSlicingLocation, ValueSlicingLocation,
        };
        matches!(self, SymexSlicing | SymexCegarSlicing | ValueSlicing | PredicateSlicing)
            || matches!(self, SymexSlicingLocation | SymexCegarSlicingLocation)
            || matches!(self, ValueSlicingLocation | PredicateSlicingLocation)
    }
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(a, ..)| *a == self).expect("all are listed").1
    }
    /// Whether what is explored is told by heads of loops (all ways from one to the next are one formula, or iterations are counted), of which a
    /// slice lacks some.
    pub fn tells_heads(self) -> bool {
        use Analysis::{Bmc, KInduction, Predicate, ValuePredicate, ValuePredicateJoint};
        use Analysis::{PredicateSlicing, PredicateSlicingLocation};
        matches!(self, Predicate | ValuePredicate | ValuePredicateJoint | Bmc | KInduction)
            || matches!(self, PredicateSlicing | PredicateSlicingLocation)
    }
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, n, _)| *n == name).map(|(a, ..)| *a)
    }
}
