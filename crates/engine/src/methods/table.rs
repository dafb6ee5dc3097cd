//! The table of methods.

use base::Feature;

use super::{Declaration, Kinds, Method};

/// All methods, in the order of `--help`.
pub static METHODS: [Declaration; 20] = [
    Declaration {
        method: Method::Auto,
        name: "auto",
        answers: "everything; picks, and says what it did",
        kinds: Kinds::All,
        is_complete: true,
        lacks: &[],
        paper: "a race of the others",
    },
    Declaration {
        method: Method::Mono,
        name: "mono",
        answers: "safety and temporal properties, on the whole product, explicit states",
        kinds: Kinds::All,
        is_complete: true,
        lacks: EXPLICIT,
        paper: "the baseline of Zheng's LS3",
    },
    Declaration {
        method: Method::Stubborn,
        name: "stubborn",
        answers: "safety, on the whole product with partial-order reduction, explicit states",
        kinds: Kinds::SafetyButRaces,
        is_complete: true,
        lacks: STUBBORN,
        paper: "stubborn sets, Valmari; dependence from the text, and as Zheng proposes",
    },
    Declaration {
        method: Method::Schedules,
        name: "schedules",
        answers: "violations, of safety and temporal properties, at any size: runs of few processes, and of simple schedulers",
        kinds: Kinds::All,
        is_complete: false,
        lacks: EXPLICIT,
        paper: "Emmi, Qadeer and Rakamarić, POPL 2011; Lu, Park, Seo and Zhou, ASPLOS 2008",
    },
    Declaration {
        method: Method::Forward,
        name: "forward",
        answers: "safety, on the whole product, with BDDs",
        kinds: Kinds::Safety,
        is_complete: true,
        lacks: WHOLE_DIAGRAMS,
        paper: "the baseline of Cohen and Namjoshi, CAV 2007",
    },
    Declaration {
        method: Method::Backward,
        name: "backward",
        answers: "safety, on the whole product, with BDDs",
        kinds: Kinds::Safety,
        is_complete: true,
        lacks: WHOLE_DIAGRAMS,
        paper: "the baseline of Cohen and Namjoshi, CAV 2007",
    },
    Declaration {
        method: Method::Split,
        name: "split",
        answers: "safety: the strongest split invariant alone",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: LOCAL_DIAGRAMS,
        paper: "Namjoshi, VMCAI 2007; Cohen and Namjoshi, CAV 2007",
    },
    Declaration {
        method: Method::Completion,
        name: "completion",
        answers: "safety: split invariants with refinement",
        kinds: Kinds::Safety,
        is_complete: true,
        lacks: COMPLETION,
        paper: "Cohen and Namjoshi, CAV 2007",
    },
    Declaration {
        method: Method::Pairwise,
        name: "pairwise",
        answers: "safety: two-index split invariants",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: EXPLICIT_THEN_SYMBOLIC,
        paper: "Cohen and Namjoshi, CAV 2007; Hoenicke, Majumdar and Podelski, POPL 2017",
    },
    Declaration {
        method: Method::Triple,
        name: "triple",
        answers: "safety: three-index split invariants",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: EXPLICIT_THEN_SYMBOLIC,
        paper: "Cohen and Namjoshi, CAV 2007; Hoenicke, Majumdar and Podelski, POPL 2017",
    },
    Declaration {
        method: Method::Tmmc,
        name: "tmmc",
        answers: "safety: thread-modular, explicit",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: EXPLICIT_LOCAL,
        paper: "Flanagan and Qadeer, SPIN 2003",
    },
    Declaration {
        method: Method::Ls3,
        name: "ls3",
        answers: "safety: local state graphs by joint search of two processes",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: GRAPHS,
        paper: "Zheng, Local State Space Construction",
    },
    Declaration {
        method: Method::Ls3Plus,
        name: "ls3+",
        answers: "safety: the same, with a witness for what third processes do",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: GRAPHS,
        paper: "Zheng, Local State Space Construction",
    },
    Declaration {
        method: Method::Views,
        name: "views",
        answers: "safety, for every number of interchangeable processes at once",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: VIEWS,
        paper: "Abdulla, Haziza and Holík, VMCAI 2013; Hoenicke, Majumdar and Podelski, POPL 2017",
    },
    Declaration {
        method: Method::Pushdown,
        name: "pushdown",
        answers: "safety with procedures and unbounded stacks",
        kinds: Kinds::Safety,
        is_complete: false,
        lacks: PUSHDOWN,
        paper: "Flanagan and Qadeer, Assume-guarantee model checking, 2003",
    },
    Declaration {
        method: Method::Global,
        name: "global",
        answers: "temporal properties on the whole product, with BDDs",
        kinds: Kinds::Temporal,
        is_complete: true,
        lacks: GLOBAL,
        paper: "the baseline of Cohen and Namjoshi, CAV 2008, and of Cohen, Namjoshi and Sa'ar, CAV 2010",
    },
    Declaration {
        method: Method::Propagate,
        name: "propagate",
        answers: "temporal properties under fairness, local, by refutation: fast for many processes, may leave them open",
        kinds: Kinds::Temporal,
        is_complete: false,
        lacks: PROPAGATED,
        paper: "Piecewise's own; view graphs after Zheng, Streett components after Emerson and Lei",
    },
    Declaration {
        method: Method::Ll,
        name: "ll",
        answers: "temporal properties, local, with refinement; no fairness but `every`",
        kinds: Kinds::Temporal,
        is_complete: true,
        lacks: SCHEDULED,
        paper: "Cohen and Namjoshi, CAV 2008",
    },
    Declaration {
        method: Method::FllA,
        name: "fll-a",
        answers: "temporal properties under fairness, local, with refinement: for every process",
        kinds: Kinds::Temporal,
        is_complete: true,
        lacks: FAIR,
        paper: "Cohen, Namjoshi and Sa'ar, CAV 2010, rule A",
    },
    Declaration {
        method: Method::FllB,
        name: "fll-b",
        answers: "temporal properties under fairness, local, with refinement: for one process",
        kinds: Kinds::Temporal,
        is_complete: true,
        lacks: FAIR,
        paper: "Cohen, Namjoshi and Sa'ar, CAV 2010, rule B",
    },
];

/// Packed states have a width, and the states and stacks have numbers.
const EXPLICIT: &[Feature] = &[Feature::WideStates, Feature::Numbers];

/// The same, reduced.
const STUBBORN: &[Feature] = &[Feature::Procedures, Feature::WideStates, Feature::Numbers];

/// Runs of the whole product with diagrams.
const GLOBAL: &[Feature] = &[
    Feature::Procedures,
    Feature::LongLoops,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::WholeChains,
    Feature::Initially,
];

/// The whole product with diagrams: control points are numbered, and cases are enumerated.
const WHOLE_DIAGRAMS: &[Feature] = &[
    Feature::Procedures,
    Feature::LongLoops,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::SharedAccess,
    Feature::WholeChains,
    Feature::Initially,
];

/// Local sets with diagrams.
const LOCAL_DIAGRAMS: &[Feature] = &[
    Feature::Procedures,
    Feature::Locations,
    Feature::LongLoops,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::Chains,
    Feature::Initially,
];

/// The same with exposed facts.
const COMPLETION: &[Feature] = &[
    Feature::Procedures,
    Feature::Locations,
    Feature::LongLoops,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::SharedAccess,
    Feature::WholeViews,
    Feature::ManyBlocks,
    Feature::Chains,
    Feature::WhenNobody,
    Feature::Initially,
];

/// Explicit local sets.
const EXPLICIT_LOCAL: &[Feature] = &[
    Feature::Procedures,
    Feature::Locations,
    Feature::LongLoops,
    Feature::WideStates,
    Feature::Numbers,
    Feature::WholeChains,
    Feature::Initially,
];

/// Local state graphs, whose edges are single actions.
const GRAPHS: &[Feature] = &[
    Feature::Procedures,
    Feature::Locations,
    Feature::LongLoops,
    Feature::WideStates,
    Feature::Numbers,
    Feature::Chains,
    Feature::WholeChains,
    Feature::Initially,
];

/// Local sets, explicit until they grow too large, then symbolic.
const EXPLICIT_THEN_SYMBOLIC: &[Feature] = &[
    Feature::Procedures,
    Feature::Locations,
    Feature::LongLoops,
    Feature::WideStates,
    Feature::Numbers,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::WholeChains,
    Feature::Initially,
];

/// Views of interchangeable processes.
const VIEWS: &[Feature] = &[
    Feature::Patterns,
    Feature::Chains,
    Feature::WhenNobody,
    Feature::EndPlaces,
    Feature::Procedures,
    Feature::Rendezvous,
    Feature::Sizes,
    Feature::Initially,
];

/// Path edges.
const PUSHDOWN: &[Feature] = &[
    Feature::Rendezvous,
    Feature::Locations,
    Feature::LongLoopAroundCall,
    Feature::WideStates,
    Feature::Numbers,
    Feature::LongProof,
    Feature::Chains,
    Feature::WhenNobody,
    Feature::EndPlaces,
    Feature::Initially,
];

/// View graphs and their fair components.
const PROPAGATED: &[Feature] = &[
    Feature::WhenNobody,
    Feature::Procedures,
    Feature::GivenAutomaton,
    Feature::ChangingDomain,
    Feature::Tableau,
    Feature::Numbers,
    Feature::Initially,
];

/// Abstract processes and ranks.
const FAIR: &[Feature] = &[
    Feature::Procedures,
    Feature::ChainedRendezvous,
    Feature::Locations,
    Feature::GivenAutomaton,
    Feature::WideFairness,
    Feature::ChangingDomain,
    Feature::Tableau,
    Feature::ManyValues,
    Feature::LongLoops,
    Feature::WideStates,
    Feature::Numbers,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::ManyBlocks,
    Feature::WhenNobody,
    Feature::Initially,
];

/// The same, where fairness is that of scheduling.
const SCHEDULED: &[Feature] = &[
    Feature::Fairness,
    Feature::Procedures,
    Feature::ChainedRendezvous,
    Feature::Locations,
    Feature::GivenAutomaton,
    Feature::WideFairness,
    Feature::ChangingDomain,
    Feature::Tableau,
    Feature::ManyValues,
    Feature::LongLoops,
    Feature::WideStates,
    Feature::Numbers,
    Feature::ManyOutcomes,
    Feature::ManyRounds,
    Feature::ManyBlocks,
    Feature::WhenNobody,
    Feature::Initially,
];
