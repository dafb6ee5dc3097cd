//! Profiles: which features random programs have, and how often, as data.
//!
//! A [`Profile`] is a row of percentages. [`PROFILES`] is the table of all of them; a campaign aims at one feature by taking its row. A new
//! feature of the generator gets a field here, its place in `PLAIN`, and a profile in which it is frequent.

/// How often random programs have each feature, in percent unless the field says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The name on the command line.
    pub name: &'static str,
    /// What the profile aims at, in words.
    pub aims_at: &'static str,
    /// A family has three processes, not two.
    pub third_process: usize,
    /// There is a second family.
    pub second_family: usize,
    /// There is a single process beside the families.
    pub single_process: usize,
    /// The size of a family is a parameter, not a number.
    pub size_is_parameter: usize,
    /// A variable is an array.
    pub arrays: usize,
    /// An array has two dimensions.
    pub second_dimension: usize,
    /// A dimension is as long as a family is large, so that processes index it.
    pub dimension_of_family: usize,
    /// A text indexes arrays, and names processes, by numbers.
    pub numbers_in_text: usize,
    /// A property does.
    pub numbers_in_properties: usize,
    /// A text does so always, or never, not by a new choice each time.
    pub one_way: usize,
    /// A text has one number that names a process, in a program that has none otherwise.
    pub one_number: usize,
    /// A cell is not mentioned by any text.
    pub unmentioned: usize,
    /// A cell is read and never written.
    pub unwritten: usize,
    /// An expression of a text may have no value.
    pub faults_in_text: usize,
    /// An expression of a property may have no value.
    pub faults_in_properties: usize,
    /// A number has 32 bits, or lies near the ends of 64 bits.
    pub wide: usize,
    /// A variable of a process is public.
    pub public: usize,
    /// A variable of a process is local.
    pub local: usize,
    /// A variable holds a process, or a process or none.
    pub pids: usize,
    /// A shared variable is a lock or a semaphore, and texts have critical sections.
    pub locks: usize,
    /// A variable starts anywhere.
    pub any_initial: usize,
    /// A statement is an `atomic` one.
    pub atomic: usize,
    /// A statement is a loop over a family or a range.
    pub loops: usize,
    /// There is a procedure, and statements call it.
    pub procedures: usize,
    /// How many temporal properties there are (a number).
    pub n_temporal: usize,
    /// A temporal operator is `next`.
    pub next: usize,
    /// A temporal property assumes fairness.
    pub fairness: usize,
    /// Assumptions have alternatives (`or`), sets with names, or predicates.
    pub fairness_forms: usize,
    /// A test of a text is a quantifier over processes.
    pub quantifiers: usize,
    /// Such a quantifier compares processes by their order.
    pub ordered: usize,
    /// A temporal property says that a process gets from one place to another, under fairness of all processes.
    pub responses: usize,
    /// A statement or a test is about a channel, a struct or a set, or is a `cas`, a `some` or a sum.
    pub bundles: usize,
    /// A statement or a test has a pattern, a set of an enumeration, a loop or choice over sets, families or enumerations, a `cas` of a struct, an exit of `atomic`, a place to end at.
    pub words: usize,
    /// Such a statement is one side of a rendezvous.
    pub meetings: usize,
    /// How many statements a text has at most, about (a number).
    pub n_statements: usize,
}

/// A little of everything that keeps products small; the rows of [`PROFILES`] change it.
const PLAIN: Profile = Profile {
    name: "plain",
    aims_at: "a little of everything",
    third_process: 15,
    second_family: 15,
    single_process: 15,
    size_is_parameter: 50,
    arrays: 25,
    second_dimension: 10,
    dimension_of_family: 60,
    numbers_in_text: 25,
    numbers_in_properties: 40,
    one_way: 20,
    one_number: 0,
    unmentioned: 5,
    unwritten: 5,
    faults_in_text: 3,
    faults_in_properties: 3,
    wide: 0,
    public: 25,
    local: 35,
    pids: 15,
    locks: 20,
    any_initial: 8,
    atomic: 20,
    loops: 5,
    procedures: 0,
    n_temporal: 1,
    next: 10,
    fairness: 50,
    fairness_forms: 30,
    quantifiers: 0,
    ordered: 0,
    responses: 0,
    bundles: 0,
    words: 0,
    meetings: 0,
    n_statements: 4,
};

/// Few other variables, beside those that are elaborated.
const WORDS: Profile = Profile {
    third_process: 0,
    second_family: 5,
    arrays: 5,
    locks: 5,
    any_initial: 2,
    atomic: 10,
    local: 10,
    public: 10,
    n_statements: 3,
    ..PLAIN
};

/// The profiles, each named by what it aims at.
pub static PROFILES: [Profile; 18] = [
    PLAIN,
    Profile {
        name: "indices",
        aims_at: "arrays indexed by numbers in texts and by processes in properties, and the reverse",
        arrays: 80,
        dimension_of_family: 90,
        numbers_in_text: 50,
        numbers_in_properties: 25,
        one_way: 80,
        second_family: 5,
        locks: 5,
        pids: 5,
        ..PLAIN
    },
    Profile {
        name: "dimensions",
        aims_at: "arrays of two dimensions, shared, public and local",
        arrays: 80,
        second_dimension: 80,
        dimension_of_family: 75,
        third_process: 5,
        locks: 5,
        ..PLAIN
    },
    Profile {
        name: "symmetry",
        aims_at: "families of processes that are alike, but for one number",
        third_process: 40,
        second_family: 10,
        size_is_parameter: 80,
        arrays: 45,
        dimension_of_family: 90,
        numbers_in_text: 0,
        numbers_in_properties: 10,
        one_way: 0,
        one_number: 60,
        pids: 30,
        loops: 10,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "families",
        aims_at: "several families and single processes, with each other's publics",
        second_family: 80,
        single_process: 40,
        third_process: 5,
        public: 60,
        pids: 35,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "public",
        aims_at: "public variables and public arrays of processes",
        public: 90,
        arrays: 50,
        local: 15,
        numbers_in_text: 30,
        ..PLAIN
    },
    Profile {
        name: "idle-cells",
        aims_at: "cells that nobody mentions, or nobody writes",
        unmentioned: 50,
        unwritten: 50,
        arrays: 40,
        any_initial: 25,
        ..PLAIN
    },
    Profile {
        name: "faults",
        aims_at: "texts and properties whose expressions have no value: divisions, indices, ranges, none, 64 bits",
        faults_in_text: 25,
        faults_in_properties: 40,
        pids: 25,
        arrays: 35,
        ..PLAIN
    },
    Profile {
        name: "wide",
        aims_at: "numbers of 32 bits and numbers near the ends of 64 bits",
        wide: 70,
        faults_in_text: 8,
        faults_in_properties: 8,
        arrays: 15,
        loops: 0,
        any_initial: 0,
        third_process: 5,
        ..PLAIN
    },
    Profile {
        name: "locks",
        aims_at: "locks, semaphores, processes in variables",
        locks: 80,
        pids: 50,
        atomic: 25,
        ..PLAIN
    },
    Profile {
        name: "loops",
        aims_at: "loops over families and ranges, atomic statements",
        loops: 45,
        atomic: 45,
        ..PLAIN
    },
    Profile {
        name: "procedures",
        aims_at: "procedures, calls and recursion",
        procedures: 100,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "fairness",
        aims_at: "temporal properties with `next`, under every form of fairness and alternatives",
        n_temporal: 4,
        next: 25,
        fairness: 85,
        fairness_forms: 60,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "responses",
        aims_at: "processes that get from place to place under fairness of all, as proofs of temporal properties are about",
        n_temporal: 4,
        responses: 80,
        fairness: 90,
        fairness_forms: 15,
        locks: 45,
        numbers_in_text: 5,
        one_way: 0,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "every-n",
        aims_at: "interchangeable processes of any number: quantifiers, order, loops over all, processes in cells",
        third_process: 0,
        second_family: 0,
        single_process: 25,
        size_is_parameter: 100,
        arrays: 60,
        second_dimension: 5,
        dimension_of_family: 95,
        numbers_in_text: 0,
        numbers_in_properties: 0,
        one_way: 0,
        faults_in_text: 2,
        faults_in_properties: 1,
        public: 40,
        pids: 30,
        atomic: 40,
        loops: 15,
        n_temporal: 0,
        quantifiers: 35,
        ordered: 25,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "bundles",
        aims_at: "what is elaborated: channels, structs, sets, compare-and-swap, choices of a value, sums",
        third_process: 0,
        second_family: 5,
        arrays: 10,
        locks: 5,
        any_initial: 3,
        n_temporal: 1,
        bundles: 45,
        n_statements: 3,
        ..PLAIN
    },
    Profile {
        name: "words",
        aims_at: "what else is elaborated: patterns, sets of enumerations, loops and choices over sets, swaps of structs, exits, places to end at, initial states",
        bundles: 15,
        words: 50,
        ..WORDS
    },
    Profile { name: "meetings", aims_at: "rendezvous in texts", words: 40, meetings: 50, bundles: 15, ..WORDS },
];

/// The profile of this name.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
