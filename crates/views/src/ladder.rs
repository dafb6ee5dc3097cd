//! Which views are tried for a question, from cheap to dear, and what comes after those that failed.
//!
//! In: a question, and what the steps relied on that led to the violation which views admit ([`Reliance`]). Out: the next views. Some step relied on a process that views
//! do not show afterwards: they say of all processes what steps wait for (`presence`). Otherwise they show one process more. Where views that show all columns
//! take many steps, they leave out those that decide neither what the question is about nor where processes go, such as data that is only copied; those of which a step
//! on the way to the violation read any contents are shown after all, and in the end all are where that does not suffice.

use std::collections::BTreeSet;

use evidence::views::{LocalColumn, SharedColumn, ViewColumn};
use model::Model;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, Domain, Expr, ExprKind, Whose};
use model::statements::statements;
use model::variable::VarId;
use model::visit::each_part;

use crate::config::Config;
use crate::fragment::Question;
use crate::layout::{Layout, Presence};
use crate::origin::Reliance;

/// Views that are tried.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rung {
    /// How dear they may be.
    effort: Effort,
    /// How many processes they show.
    pub k: usize,
    /// Whether they say of all processes what steps wait for.
    pub says_of_all: bool,
    /// The columns that they never show.
    pub veiled: BTreeSet<ViewColumn>,
}

/// How dear views may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    /// All columns, and few steps.
    Light,
    /// As many columns as it takes.
    Guided,
    /// All columns, whatever it takes.
    Whole,
}

/// What came of views.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// They admit a violation, which relied on this; and how many they are, as far as that is known.
    Admitted(Reliance, usize),
    /// They took too many steps, or a step that they do not show enough for.
    TooDear,
}

/// The way from cheap views to dear ones for one question.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    /// The views that are to be tried now.
    pub rung: Rung,
    /// The most processes in a view.
    most: usize,
    /// The columns of which views can say something of all processes.
    present: BTreeSet<ViewColumn>,
    /// The columns that need not be shown.
    spare: BTreeSet<ViewColumn>,
    tried: Vec<(Effort, usize, bool)>,
    n_turns: usize,
    is_narrow: bool,
    most_at_first: usize,
    config: Config,
}

impl Ladder {
    /// The first views for a question.
    pub fn new(
        model: &Model,
        layout: &Layout,
        question: &Question,
        ((config, most), present): ((&Config, usize), &[Presence]),
    ) -> Ladder {
        let rung = Rung { effort: Effort::Light, k: 1, says_of_all: false, veiled: BTreeSet::new() };
        let mut needed = decisive(model, matches!(question, Question::NoFault));
        if let Question::Never { expr, .. } = question {
            needed.extend(read_in(expr));
        }
        let spare = veilable(model, layout, &closed_under_stores(model, needed));
        let present = present.iter().map(|presence| ViewColumn::Local(presence.column)).collect();
        Ladder {
            rung,
            most,
            present,
            spare,
            tried: Vec::new(),
            n_turns: 0,
            is_narrow: true,
            most_at_first: config.steps_at_first,
            config: *config,
        }
    }

    /// The same, where no steps are taken with all columns as long as some can be left out.
    pub fn leaving_out(self, always: bool) -> Ladder {
        Ladder { most_at_first: if always { 0 } else { self.most_at_first }, ..self }
    }

    /// How many steps the views may take.
    pub fn most_steps(&self) -> usize {
        match self.rung.effort {
            _ if self.rung.k == 1 && self.most > 1 => self.config.steps_of_one,
            Effort::Light if self.rung.k > 1 && !self.veil().is_empty() => self.most_at_first,
            _ => usize::MAX,
        }
    }

    /// With how many views it is asked first whether they are of any use: whether views of three are tried depends on how many those of two are.
    pub fn first_look(&self) -> usize {
        match self.rung.k {
            2 if self.most > 2 => self.config.views_to_widen + 1,
            _ => 32,
        }
    }

    /// Goes on to the next views; whether there are any.
    pub fn climb(&mut self, why: &Failed) -> bool {
        self.tried.push((self.rung.effort, self.rung.k, self.rung.says_of_all));
        let read: BTreeSet<ViewColumn> = match why {
            Failed::Admitted(reliance, _) => reliance.hidden.intersection(&self.rung.veiled).copied().collect(),
            Failed::TooDear => BTreeSet::new(),
        };
        match (self.rung.effort, why) {
            (Effort::Guided, Failed::Admitted(..)) if !read.is_empty() && self.n_turns < self.config.turns => {
                self.n_turns += 1;
                self.rung.veiled.retain(|column| !read.contains(column));
                true
            }
            (Effort::Guided, Failed::Admitted(reliance, n_views)) if read.is_empty() => {
                self.widen(reliance.is_witnessed, *n_views) || self.show_all()
            }
            (Effort::Guided, _) => self.show_all(),
            (Effort::Light, Failed::TooDear) if self.rung.k > 1 && !self.veil().is_empty() => {
                self.rung.effort = Effort::Guided;
                self.rung.veiled = self.veil();
                true
            }
            (_, Failed::Admitted(reliance, n_views)) => self.widen(reliance.is_witnessed, *n_views),
            (_, Failed::TooDear) => self.rung.k == 1 && self.widen(false, 0),
        }
    }

    /// All columns, whatever it takes, of the fewest processes for which few steps did not suffice.
    fn show_all(&mut self) -> bool {
        self.rung.effort = Effort::Whole;
        self.rung.veiled.clear();
        (self.rung.k, self.rung.says_of_all) = (2, false);
        self.is_narrow = true;
        true
    }

    /// One process more, or what views say of all processes, whichever the violation asks for; the other one afterwards.
    fn widen(&mut self, is_witnessed: bool, n_views: usize) -> bool {
        if self.rung.k >= 2 {
            self.is_narrow &= n_views <= self.config.views_to_widen;
        }
        let presences = (2, true);
        let more = match self.rung.k {
            1 => (2, false),
            k => (k + 1, false),
        };
        let mut next = if is_witnessed { vec![presences, more] } else { vec![more, presences] };
        // Views of two that say of all processes what steps wait for prove what those of two prove that do not.
        let is_done = |&(k, says_of_all): &(usize, bool)| {
            let is_tried = |k: usize, says_of_all: bool| self.tried.contains(&(self.rung.effort, k, says_of_all));
            is_tried(k, says_of_all) || (k, says_of_all) == (2, false) && is_tried(2, true)
        };
        next.retain(|one| {
            let is_there = !one.1 || !self.present.is_empty();
            let is_wide = one.0 > 2 && !self.is_narrow;
            one.0 <= self.most && is_there && !is_wide && !is_done(one)
        });
        let Some(&(k, says_of_all)) = next.first() else { return false };
        (self.rung.k, self.rung.says_of_all) = (k, says_of_all);
        if self.rung.says_of_all {
            self.rung.veiled.retain(|column| !self.present.contains(column));
        }
        true
    }

    /// The columns that need not be shown. What is said of all processes is shown of each.
    fn veil(&self) -> BTreeSet<ViewColumn> {
        let is_shown = |column: &&ViewColumn| self.rung.says_of_all && self.present.contains(column);
        self.spare.iter().filter(|column| !is_shown(column)).copied().collect()
    }
}

/// The variables that an expression reads.
fn read_in(expr: &Expr) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    each_part(expr, &mut |part| {
        if let ExprKind::Read(Access { var, .. }) = &part.kind {
            found.insert(*var);
        }
    });
    found
}

/// The variables that decide what steps there are, where processes go and which cells are meant; what is asserted, too, where that matters.
fn decisive(model: &Model, with_assertions: bool) -> BTreeSet<VarId> {
    let mut found = Decisive { with_assertions, found: BTreeSet::new() };
    for action in &model.actions {
        action.guard.iter().for_each(|guard| found.expr(guard));
        found.body(&action.body);
    }
    for one in &model.loops {
        found.domain(&one.domain);
    }
    found.found
}

struct Decisive {
    with_assertions: bool,
    found: BTreeSet<VarId>,
}

impl Decisive {
    fn expr(&mut self, expr: &Expr) {
        self.found.extend(read_in(expr));
    }

    fn domain(&mut self, domain: &Domain) {
        if let Domain::Range(lo, hi) = domain {
            self.expr(lo);
            self.expr(hi);
        }
    }

    /// What says which cell an access means.
    fn whereabouts(&mut self, access: &Access) {
        if let Whose::Of(who) = &access.whose {
            self.expr(who);
        }
        access.indices.iter().for_each(|index| self.expr(index));
    }

    /// The same of all that an expression reads.
    fn value(&mut self, value: &Expr) {
        each_part(value, &mut |part| {
            if let ExprKind::Read(access) = &part.kind {
                self.whereabouts(access);
            }
        });
    }

    fn body(&mut self, body: &[Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Assign(stores) => stores.iter().for_each(|(target, value)| {
                    self.whereabouts(target);
                    self.value(value);
                }),
                StmtKind::AssignAny(target, range) => {
                    self.whereabouts(target);
                    range.iter().for_each(|(lo, hi)| [lo, hi].into_iter().for_each(|end| self.expr(end)));
                }
                StmtKind::Await(test) => self.expr(test),
                StmtKind::Assert(test) if self.with_assertions => self.expr(test),
                StmtKind::Assert(_) => {}
                StmtKind::Acquire(target) | StmtKind::Release(target) => {
                    self.found.insert(target.var);
                    self.whereabouts(target);
                }
                StmtKind::If(test, yes, no) => {
                    self.expr(test);
                    self.body(yes);
                    self.body(no);
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => {
                    self.domain(&binding.domain);
                    self.body(block);
                }
            }
        }
    }
}

/// The variables with all that is stored into them.
fn closed_under_stores(model: &Model, mut needed: BTreeSet<VarId>) -> BTreeSet<VarId> {
    loop {
        let n_before = needed.len();
        for statement in model.actions.iter().flat_map(|action| statements(&action.body)) {
            if let StmtKind::Assign(stores) = &statement.kind {
                let into_needed = stores.iter().filter(|(target, _)| needed.contains(&target.var));
                let sources: Vec<VarId> = into_needed.flat_map(|(_, value)| read_in(value)).collect();
                needed.extend(sources);
            }
        }
        if needed.len() == n_before {
            return needed;
        }
    }
}

/// The columns with cells that are none of these variables and count no loop.
fn veilable(model: &Model, layout: &Layout, read: &BTreeSet<VarId>) -> BTreeSet<ViewColumn> {
    let may_be = |var: VarId| !read.contains(&var) && model.loops.iter().all(|one| one.counter != var);
    let shared = layout.shared.iter().enumerate().filter_map(|(at, column)| match column {
        SharedColumn::Cell(cell) if may_be(model.cells[*cell].var) => Some(ViewColumn::Shared(at)),
        _ => None,
    });
    let own = |at: usize| {
        let is_it = |var: &&VarId| {
            let declared = &model.vars[**var];
            (declared.offset..declared.offset + declared.ty.n_cells()).contains(&at)
        };
        model.families[layout.family].vars.iter().find(is_it).copied()
    };
    let local = layout.local.iter().enumerate().filter_map(|(at, column)| {
        let var = match column {
            LocalColumn::Own(cell) => own(*cell),
            LocalColumn::Element(row, _) => Some(row.var),
            LocalColumn::Control | LocalColumn::Taken(_) => None,
        };
        var.filter(|&var| may_be(var)).map(|_| ViewColumn::Local(at))
    });
    shared.chain(local).collect()
}
