//! The variables of decision diagrams: some bits for each column.
//!
//! In: the members' own orders of bits. Out: one order that keeps as much of them as possible, so that diagrams are read in
//! without being turned around. A column of a cell with too many values to go through one by one has for each bit two further
//! variables beside it: what the bit is after a step, and what a step chooses for it. Members never depend on these.

use std::collections::{BTreeSet, HashMap};

use biodivine_lib_bdd::{Bdd, BddNode, BddPartialValuation, BddPointer, BddValuation, BddVariable, BddVariableSet};
use evidence::certificate::{Column, StateSet};
use model::process::ProcessId;
use model::types::ScalarType;

use super::algebra::Algebra;
use crate::certificate::Outcome;
use crate::certificate::claimed::{Claimed, Image, n_bits, subsets};

/// More processes than this are not all given variables where a few of them represent all.
const MANY_PROCESSES: usize = 32;
/// How many of each family get variables then.
const FIRST_OF_MANY: usize = 8;

/// Cells with more values than this are numbers of bits.
pub(super) const MOST_LISTED: u128 = 256;

/// A bit of a column; 0 is the highest.
type Bit = (Column, u32);

/// The variables of all columns that are spoken of.
pub(super) struct Variables {
    set: BddVariableSet,
    /// The variables of each column, the highest bit first.
    bits: HashMap<Column, Vec<BddVariable>>,
    /// How many numbers each column has.
    sizes: HashMap<Column, u128>,
    /// Of wide columns the variables after a step.
    next: HashMap<Column, Vec<BddVariable>>,
    /// Of wide columns the variables of a choice.
    choice: HashMap<Column, Vec<BddVariable>>,
}

impl Variables {
    /// Variables for the members' columns, and for further ones; an error in words where there are too many.
    pub fn new(claimed: &Claimed<'_>, further: &[Column]) -> Result<Self, String> {
        let members: Vec<Image<'_>> = subsets(&spoken_of(claimed), claimed.k).map(|set| claimed.member(&set)).collect();
        let mut orders: Vec<Vec<Bit>> = members.iter().map(|member| bit_order(claimed, member)).collect();
        let (wide, plain): (Vec<Column>, Vec<Column>) = further.iter().partition(|&&column| is_wide(claimed, column));
        orders.extend(plain.into_iter().map(|column| bits_of(claimed, column)));
        orders.push(side_by_side(claimed, &wide));
        let order = merged(&orders);
        let is_wide = |column: Column| is_wide(claimed, column);
        let n_all: usize = order.iter().map(|&(column, _)| if is_wide(column) { 3 } else { 1 }).sum();
        let n_variables = u16::try_from(n_all).ok().filter(|&n| n < u16::MAX);
        let n_variables = n_variables.ok_or_else(|| format!("the views have {n_all} bits together"))?;
        let set = BddVariableSet::new_anonymous(n_variables);
        let mut bits: HashMap<Column, Vec<BddVariable>> = HashMap::new();
        let (mut next, mut choice) = (HashMap::new(), HashMap::new());
        let mut sizes = HashMap::new();
        let columns = members.iter().flat_map(|member| member.columns.iter().copied());
        for column in columns.chain(further.iter().copied()) {
            let size = claimed.numbering.n_values(column);
            sizes.insert(column, size);
            let room = || vec![BddVariable::from_index(0); n_bits(size) as usize];
            bits.entry(column).or_insert_with(room);
            if is_wide(column) {
                next.entry(column).or_insert_with(room);
                choice.entry(column).or_insert_with(room);
            }
        }
        let mut variables = set.variables().into_iter();
        for &(column, bit) in &order {
            for kind in [Some(&mut bits), is_wide(column).then_some(&mut next), is_wide(column).then_some(&mut choice)]
            {
                if let Some(of) = kind.and_then(|kind| kind.get_mut(&column)) {
                    of[bit as usize] = variables.next().expect("there is one for each bit");
                }
            }
        }
        Ok(Variables { set, bits, sizes, next, choice })
    }

    /// Whether the values of a column are too many to go through.
    pub fn is_wide(&self, column: Column) -> bool {
        self.next.contains_key(&column)
    }

    /// The variables of a wide column after a step, the highest bit first; none of other columns.
    pub fn next(&self, column: Column) -> &[BddVariable] {
        self.next.get(&column).map_or(&[], Vec::as_slice)
    }

    /// The variables of a choice for a wide column, the highest bit first; none of other columns.
    pub fn choice(&self, column: Column) -> &[BddVariable] {
        self.choice.get(&column).map_or(&[], Vec::as_slice)
    }

    /// The variables of all choices.
    pub fn choices(&self) -> Vec<BddVariable> {
        self.choice.values().flatten().copied().collect()
    }

    /// The variable is true.
    pub fn literal(&self, variable: BddVariable) -> Bdd {
        self.set.mk_literal(variable, true)
    }

    /// The set with the bits of some wide columns after a step in the place of their bits.
    pub fn shifted(&self, set: &Bdd, columns: &[Column], algebra: &Algebra<'_>) -> Outcome<Bdd> {
        columns.iter().try_fold(set.clone(), |set, &column| {
            let pairs = self.of(column).iter().zip(self.next(column));
            let same = pairs.rev().try_fold(self.full(), |all, (&bit, &next)| {
                algebra.and(&algebra.iff(&self.literal(bit), &self.literal(next))?, &all)
            })?;
            algebra.exists(&algebra.and(&set, &same)?, self.of(column))
        })
    }

    /// Everything.
    pub fn full(&self) -> Bdd {
        self.set.mk_true()
    }

    /// Nothing.
    pub fn empty(&self) -> Bdd {
        self.set.mk_false()
    }

    /// Whether the column is spoken of.
    pub fn has(&self, column: Column) -> bool {
        self.bits.contains_key(&column)
    }

    /// The variables of a column, the highest bit first.
    pub fn of(&self, column: Column) -> &[BddVariable] {
        &self.bits[&column]
    }

    /// The literals that give a column its number.
    pub fn literals(&self, column: Column, number: u64) -> impl Iterator<Item = (BddVariable, bool)> {
        let bits = &self.bits[&column];
        let last = bits.len();
        bits.iter().enumerate().map(move |(at, &variable)| (variable, number >> (last - 1 - at) & 1 == 1))
    }

    /// The column has this number.
    pub fn equals(&self, column: Column, number: u64) -> Bdd {
        self.all(&[(column, number)])
    }

    /// The columns have these numbers.
    pub fn all(&self, numbers: &[(Column, u64)]) -> Bdd {
        let literals = numbers.iter().flat_map(|&(column, number)| self.literals(column, number));
        self.set.mk_conjunctive_clause(&BddPartialValuation::from_values_iter(literals))
    }

    /// The set where the columns have these numbers, without these columns.
    pub fn restricted(&self, set: &Bdd, numbers: &[(Column, u64)]) -> Bdd {
        let literals: Vec<(BddVariable, bool)> =
            numbers.iter().flat_map(|&(column, number)| self.literals(column, number)).collect();
        set.restrict(&literals)
    }

    /// The column has a number with a meaning.
    pub fn valid(&self, column: Column, algebra: &Algebra<'_>) -> Outcome<Bdd> {
        self.at_most_last(column, self.of(column), algebra)
    }

    /// The choice for a wide column is a number with a meaning.
    pub fn valid_choice(&self, column: Column, algebra: &Algebra<'_>) -> Outcome<Bdd> {
        self.at_most_last(column, self.choice(column), algebra)
    }

    fn at_most_last(&self, column: Column, bits: &[BddVariable], algebra: &Algebra<'_>) -> Outcome<Bdd> {
        let mut valid = self.full();
        let Some(last) = self.sizes[&column].checked_sub(1) else { return Ok(self.empty()) };
        // From the lowest bit: at most the last number.
        for (&variable, shift) in bits.iter().rev().zip(0..) {
            let low = self.set.mk_literal(variable, false);
            valid = if last >> shift & 1 == 1 { algebra.or(&valid, &low)? } else { algebra.and(&valid, &low)? };
        }
        Ok(valid)
    }

    /// The set with other numbers in a column.
    pub fn renumbered(&self, set: &Bdd, column: Column, new: &[u32], algebra: &Algebra<'_>) -> Outcome<Bdd> {
        let mut renumbered = self.empty();
        for (&new, number) in new.iter().zip(0..) {
            let part = self.restricted(set, &[(column, number)]);
            renumbered = algebra.or(&renumbered, &algebra.and(&part, &self.equals(column, u64::from(new)))?)?;
        }
        Ok(renumbered)
    }

    /// The number of a column in a valuation.
    pub fn number(&self, column: Column, valuation: &BddValuation) -> u64 {
        number_of(self.of(column), valuation)
    }

    /// The number of a wide column after a step, in a valuation.
    pub fn next_number(&self, column: Column, valuation: &BddValuation) -> u64 {
        number_of(self.next(column), valuation)
    }

    /// The states of a member, symbolic or explicit.
    pub fn read(&self, member: &Image<'_>, algebra: &Algebra<'_>) -> Outcome<Bdd> {
        match member.states {
            StateSet::Rows(rows) => {
                let clause = |row: &Vec<u32>| {
                    let numbers = member.columns.iter().zip(row);
                    let literals = numbers.flat_map(|(&column, &number)| self.literals(column, u64::from(number)));
                    BddPartialValuation::from_values_iter(literals)
                };
                let clauses: Vec<BddPartialValuation> = rows.iter().map(clause).collect();
                Ok(self.set.mk_dnf(&clauses))
            }
            StateSet::Diagram { order, nodes } => {
                let variables: Vec<BddVariable> =
                    order.iter().map(|&(column, bit)| self.of(member.columns[column])[bit as usize]).collect();
                self.read_diagram(&variables, nodes, algebra)
            }
        }
    }

    fn read_diagram(&self, order: &[BddVariable], nodes: &[(u32, u32, u32)], algebra: &Algebra<'_>) -> Outcome<Bdd> {
        if nodes.is_empty() {
            return Ok(self.full());
        }
        if order.is_sorted() {
            let n_variables = self.set.num_vars();
            let mut table = vec![BddNode::mk_zero(n_variables), BddNode::mk_one(n_variables)];
            let pointer = |child: u32| BddPointer::from_index(child as usize);
            let node = |&(position, low, high): &(u32, u32, u32)| {
                BddNode::mk_node(order[position as usize], pointer(low), pointer(high))
            };
            table.extend(nodes.iter().map(node));
            return Ok(Bdd::from_nodes(&table).expect("the shape of the diagram was checked"));
        }
        // The order is another one: the nodes are put together again from below.
        let mut sets = vec![self.empty(), self.full()];
        for &(position, low, high) in nodes {
            let bit = self.set.mk_literal(order[position as usize], true);
            let high = algebra.and(&sets[high as usize], &bit)?;
            let low = algebra.and_not(&sets[low as usize], &bit)?;
            sets.push(algebra.or(&high, &low)?);
        }
        Ok(sets.pop().expect("there is a node"))
    }
}

fn number_of(variables: &[BddVariable], valuation: &BddValuation) -> u64 {
    variables.iter().fold(0, |number, &variable| number << 1 | u64::from(valuation.value(variable)))
}

/// The processes whose members get variables: all, or, where members represent their images and there are many, so many of
/// each family that every case has its representative.
fn spoken_of(claimed: &Claimed<'_>) -> Vec<ProcessId> {
    let model = claimed.model();
    let is_listed = |process: &ProcessId| claimed.listed.keys().any(|set| set.contains(process));
    let is_first = |process: &ProcessId| {
        let family = &model.families[model.processes[*process].family];
        process.index() - family.first.index() < FIRST_OF_MANY
    };
    let few = claimed.symmetry.is_none() || model.processes.len() <= MANY_PROCESSES;
    model.processes.ids().filter(|process| few || is_first(process) || is_listed(process)).collect()
}

fn bits_of(claimed: &Claimed<'_>, column: Column) -> Vec<Bit> {
    (0..n_bits(claimed.numbering.n_values(column))).map(|bit| (column, bit)).collect()
}

/// Whether the values of a column are too many to go through.
fn is_wide(claimed: &Claimed<'_>, column: Column) -> bool {
    let Column::Cell(cell) = column else { return false };
    let is_number = matches!(claimed.model().cells[cell].ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
    is_number && claimed.numbering.n_values(column) > MOST_LISTED
}

/// The bits of numbers that may be compared or added: those of one weight next to each other.
fn side_by_side(claimed: &Claimed<'_>, columns: &[Column]) -> Vec<Bit> {
    let bits: Vec<Vec<Bit>> = columns.iter().map(|&column| bits_of(claimed, column)).collect();
    let n_weights = bits.iter().map(Vec::len).max().unwrap_or(0);
    let of_weight = |weight: usize| bits.iter().filter_map(move |bits| bits.get(bits.len().checked_sub(weight + 1)?));
    (0..n_weights).rev().flat_map(of_weight).copied().collect()
}

fn bit_order(claimed: &Claimed<'_>, member: &Image<'_>) -> Vec<Bit> {
    match member.states {
        StateSet::Rows(_) => {
            let (wide, plain): (Vec<Column>, Vec<Column>) =
                member.columns.iter().partition(|&&column| is_wide(claimed, column));
            let plain = plain.into_iter().flat_map(|column| bits_of(claimed, column));
            plain.chain(side_by_side(claimed, &wide)).collect()
        }
        StateSet::Diagram { order, .. } => order.iter().map(|&(column, bit)| (member.columns[column], bit)).collect(),
    }
}

/// One order of all bits that keeps each of the given orders where they do not contradict each other: a topological sort in
/// which, among the bits that may come next, the one that was met first comes first.
fn merged(orders: &[Vec<Bit>]) -> Vec<Bit> {
    let mut names: Vec<Bit> = Vec::new();
    let mut numbers: HashMap<Bit, usize> = HashMap::new();
    for &bit in orders.iter().flatten() {
        numbers.entry(bit).or_insert_with(|| {
            names.push(bit);
            names.len() - 1
        });
    }
    let mut followers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); names.len()];
    let mut n_before = vec![0_usize; names.len()];
    for pair in orders.iter().flat_map(|order| order.windows(2)) {
        let (one, next) = (numbers[&pair[0]], numbers[&pair[1]]);
        if followers[one].insert(next) {
            n_before[next] += 1;
        }
    }
    let mut left: BTreeSet<usize> = (0..names.len()).collect();
    let mut ready: BTreeSet<usize> = left.iter().copied().filter(|&at| n_before[at] == 0).collect();
    let mut order = Vec::with_capacity(names.len());
    // Where orders contradict each other none is ready, and the first that is left is taken.
    while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
        if !left.remove(&next) {
            continue;
        }
        order.push(names[next]);
        for &follower in &followers[next] {
            n_before[follower] = n_before[follower].saturating_sub(1);
            if n_before[follower] == 0 && left.contains(&follower) {
                ready.insert(follower);
            }
        }
    }
    order
}
