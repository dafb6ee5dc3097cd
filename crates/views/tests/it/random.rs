//! Random programs of the fragment against brute force: at every small size any few processes of every reachable state are a view, and
//! nothing is proved that is violated; the checker accepts every proof, and none of another program that it would be wrong about.

use std::fmt::Write;

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::views::{LocalColumn, SharedColumn, ViewColumn};
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use views::ByViews;
use views::fixpoint::views;
use views::fragment::fragment_beside;
use views::hiding::{rules, with_veils};
use views::layout::Layout;
use views::presence::with_presences;
use views::sight::Ground;
use views::start::project;

/// What may occur in the programs of a campaign.
#[derive(Clone, Copy)]
struct Kinds {
    ordered: bool,
    scans: bool,
    locals: bool,
    home: bool,
    /// Most steps wait for somebody.
    somebody: bool,
    /// So many processes, the first ones, are named.
    n_named: usize,
}

struct Writer<'c> {
    choices: &'c mut Choices,
    kinds: Kinds,
    n_labels: usize,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn number(&mut self) -> usize {
        self.choices.below(3)
    }

    /// A process that the text names.
    fn named(&mut self) -> usize {
        self.choices.below(self.kinds.n_named)
    }

    /// A test of who somebody is.
    fn who(&mut self, who: &str) -> String {
        let c = self.named();
        match self.choices.below(7) {
            0 | 1 => format!("{who} == {c}"),
            2 => format!("{who} != {c}"),
            3 => format!("{who} > {c}"),
            4 => format!("{who} < {}", c + 1),
            5 => format!("{} <= {who}", c + 1),
            _ => format!("{who} == P[{c}]"),
        }
    }

    /// A guard that tells named processes apart.
    fn telling(&mut self) -> String {
        let c = self.named().to_string();
        match self.choices.below(8) {
            0..=2 => self.who("i"),
            3 => self.who("q"),
            4 => format!("p == {c}"),
            5 => self.about(&c),
            6 => format!("{} && {}", self.who("i"), self.about("q")),
            _ => {
                let (who, about) = (self.who("k"), self.about("k"));
                format!("(forall k: {who} => {about})")
            }
        }
    }

    /// What is done with named processes.
    fn distinguished(&mut self) -> String {
        let (c, bit) = (self.named(), self.choices.below(2));
        match self.choices.below(6) {
            0 => format!("p = {c};"),
            1 => format!("q = {c};"),
            2 => format!("row[{c}] = {bit};"),
            3 => format!("if {} {{ a = {bit}; }}", self.who("i")),
            4 => format!("if {} {{ d = {bit}; }} else {{ row[i] = {bit}; }}", self.who("q")),
            _ => format!("if {} {{ d = {bit}; }}", self.about(&c.to_string())),
        }
    }

    /// What a property says about a process: only there other processes' places are seen.
    fn told(&mut self, who: &str) -> String {
        match self.choices.below(3) {
            0 => self.about(who),
            1 if self.kinds.n_named > 0 => format!("P[{who}]@l{} && {}", self.choices.below(3), self.who(who)),
            _ => format!("P[{who}]@l{}", self.choices.below(3)),
        }
    }

    /// A test of one process `who`, as seen by process `i`.
    fn about(&mut self, who: &str) -> String {
        let c = self.number();
        match self.choices.below(3) {
            0 => format!("P[{who}].a == {c}"),
            1 => format!("P[{who}].a != {c}"),
            _ => format!("row[{who}] == {}", c % 2),
        }
    }

    fn quantified(&mut self) -> String {
        let quantifier = self.pick(&["forall", "exists"]);
        let body = self.about("k");
        let joint = if quantifier == "forall" { "=>" } else { "&&" };
        match self.choices.below(if self.kinds.ordered { 4 } else { 2 }) {
            0 => format!("({quantifier} k: {body})"),
            1 => format!("({quantifier} k: k != i {joint} {body})"),
            2 => format!("({quantifier} k: k < i {joint} {body})"),
            _ => format!("({quantifier} k: k > i {joint} {body})"),
        }
    }

    /// That there is somebody, or somebody and nobody of another kind, or two who may be one.
    fn somebody(&mut self) -> String {
        let (one, other) = (self.about("k"), self.about("k"));
        match self.choices.below(5) {
            0 => format!("(exists k: {one})"),
            1 => format!("(exists k: k != i && {one})"),
            2 => format!("(exists k: {one}) && (forall k: {other})"),
            3 => format!("(exists k: {one}) && (exists k: k != i && {other})"),
            _ => format!("(forall k: k != i => {one})"),
        }
    }

    fn guard(&mut self) -> String {
        if self.kinds.somebody && self.choices.below(4) > 0 {
            return self.somebody();
        }
        if self.kinds.n_named > 0 && self.choices.below(2) > 0 {
            return self.telling();
        }
        let c = self.number();
        match self.choices.below(if self.kinds.locals { 12 } else { 10 }) {
            0 => format!("d == {c}"),
            1 => format!("a == {c}"),
            2 => "p == i".to_owned(),
            3 => "p == none".to_owned(),
            4 => "q != i".to_owned(),
            5 => self.about("q"),
            6..=8 => self.quantified(),
            9 => format!("{} && {}", self.quantified(), self.about("q")),
            10 => "r == i".to_owned(),
            _ => "r == p".to_owned(),
        }
    }

    fn effect(&mut self) -> String {
        let c = self.number();
        if self.kinds.somebody && self.choices.below(4) > 0 {
            let (test, bit) = (self.about("k"), c % 2);
            let broadcast = format!("for k in 0..<N {{ if {test} {{ row[k] = {bit}; }} }}");
            let own = [format!("a = {c};"), format!("row[i] = {bit};")];
            // What nobody in a view has to see: somebody else, or everybody, gets something.
            let others = [format!("row[q] = {bit};"), broadcast, "q = any;".to_owned()];
            let of = if self.choices.below(3) > 0 { &own[..] } else { &others[..] };
            return self.choices.pick(of).clone();
        }
        if self.kinds.n_named > 0 && self.choices.below(3) == 0 {
            return self.distinguished();
        }
        match self.choices.below(if self.kinds.locals { 16 } else { 13 }) {
            0 | 1 => format!("a = {c};"),
            2 => format!("d = {c};"),
            3 => format!("row[i] = {};", c % 2),
            4 => "p = i;".to_owned(),
            5 => "p = none;".to_owned(),
            6 => "q = i;".to_owned(),
            7 => "q = any;".to_owned(),
            8 => format!("row[q] = {};", c % 2),
            9 => format!("for k in 0..<N {{ if {} {{ row[k] = {}; }} }}", self.about("k"), c % 2),
            10 => format!("for k in 0..<N {{ if {} {{ d = {c}; }} }}", self.about("k")),
            // Rounds that have to do with each other only through what somebody else may write, and rounds that pass something on.
            11 => format!("for k in 0..<N {{ if {} {{ row[k] = d % 2; }} }}", self.quantified().replace('k', "j")),
            12 => format!("for k in 0..<N {{ if row[k] == {} {{ d = {c}; row[k] = d % 2; }} }}", self.number() % 2),
            13 => "r = p;".to_owned(),
            14 => "p = r;".to_owned(),
            _ => "r = i;".to_owned(),
        }
    }

    fn step(&mut self) -> String {
        match self.choices.below(3) {
            0 => format!("atomic {{ {} }}", self.effect()),
            1 => format!("atomic {{ await {}; {} }}", self.guard(), self.effect()),
            _ => format!("atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    fn statement(&mut self) -> String {
        let label = self.n_labels;
        self.n_labels += 1;
        match self.choices.below(if self.kinds.scans { 7 } else { 5 }) {
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(3)),
            5 | 6 => {
                let test = self.about("k");
                format!("for k in 0..<N {{ l{label}: await !({test}); }}")
            }
            _ => format!("l{label}: {}", self.step()),
        }
    }

    fn home(&mut self) -> String {
        let c = self.number();
        let test = self.about("c");
        let effect = match self.choices.below(4) {
            0 => format!("row[c] = {};", c % 2),
            1 => "seen[c] = true;".to_owned(),
            2 => format!("d = {c};"),
            _ => "p = c;".to_owned(),
        };
        let guard = self.pick(&["!seen[c]", "seen[c]", "c == p", "c == q"]);
        format!(
            "process H {{ local seen: [bool; N]; local c: pid?; loop {{ h: atomic {{ c = any; await c != none; await {guard} && {test}; {effect} c = none; }} }} }}"
        )
    }

    fn program(&mut self) -> String {
        let (p, q) = match self.kinds.n_named {
            0 => (" = none".to_owned(), String::new()),
            _ => (self.pick(&[" = none", " = 0"]), self.pick(&["", " = 0"])),
        };
        let mut text = format!(
            "program r(N: 2..) {{ shared d: 0..=2; shared p: pid?{p}; shared q: pid{q}; shared row: [0..=1; N];\n"
        );
        let a = match self.kinds.n_named > 0 && self.choices.below(3) == 0 {
            true => format!(" = if {} then 1 else 2", self.who("i")),
            false => String::new(),
        };
        let local = if self.kinds.locals { "local r: pid? = none;" } else { "" };
        let n = 3 + self.choices.below(3);
        let body: Vec<String> = (0..n).map(|_| self.statement()).collect();
        writeln!(text, "process P[i in 0..<N] {{ public a: 0..=2{a}; {local} loop {{").unwrap();
        body.iter().for_each(|line| writeln!(text, "  {line}").unwrap());
        text += "} }\n";
        if self.kinds.home {
            text += &self.home();
        }
        for at in 0..3 {
            let (one, other) = (self.told("i"), self.told("j"));
            writeln!(text, "\n  invariant v{at}: forall i != j: !({one} && {other});").unwrap();
        }
        let (one, c) = (self.told("i"), self.number());
        writeln!(text, "  invariant w: d == {c} => exists i: {one};").unwrap();
        writeln!(text, "  invariant x: forall i: p == i => {one};").unwrap();
        if self.kinds.n_named > 0 {
            let c = self.named().to_string();
            let (one, other) = (self.told(&c), self.told("i"));
            writeln!(text, "  invariant z: !({one});\n  invariant u: forall i: !({one} && {other});").unwrap();
        }
        writeln!(text, "  race_free d, p, q, row;").unwrap();
        writeln!(text, "  reachable y: exists i != j: p == i && q == j && {one};\n}}").unwrap();
        text
    }
}

fn load(text: &str, n: i64) -> Option<Model> {
    lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]).ok().map(|loaded| loaded.model)
}

fn choose(processes: &[ProcessId], k: usize) -> Vec<Vec<ProcessId>> {
    match (k, processes.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (k, Some((first, rest))) => {
            let with = choose(rest, k - 1).into_iter().map(|chosen| [&[*first], &chosen[..]].concat());
            with.chain(choose(rest, k)).collect()
        }
    }
}

/// Whether the property is violated in the product.
fn is_violated(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let holds = |expr| {
        let value = move |state| model::eval::evaluate(model, state, expr, None);
        product.states.iter().map(move |state| matches!(value(state), Ok(Value::Bool(true))))
    };
    match kind {
        PropertyKind::Invariant(expr) => holds(expr).any(|holds| !holds),
        PropertyKind::Reachable(expr) => holds(expr).any(|holds| holds),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        PropertyKind::DeadlockFree => product.states.iter().any(|state| model::eval::is_deadlock(model, state)),
        PropertyKind::RaceFree(var) => {
            product.states.iter().any(|state| model::eval::race(model, state, *var).is_some())
        }
        PropertyKind::Temporal(_) => false,
    }
}

#[derive(Default)]
struct Tally {
    programs: usize,
    projections: usize,
    proved: usize,
    /// Programs with contents that views do not show.
    hidden: usize,
    /// Programs with views that say something of all processes.
    present: usize,
    /// Programs with columns that views never show.
    veiled: usize,
    /// Programs that name processes.
    named: usize,
    missed: usize,
}

/// A limit on work, not on time: which programs are too large does not depend on the machine.
fn in_a_moment() -> Budget {
    Budget::unlimited().with_looks(100)
}

/// Of products with more states, about so many are projected.
const PROJECTED: usize = 500;

/// The layout where some columns with cells are never shown, other ones for each number.
fn with_some_veiled(model: &Model, layout: &Layout, number: usize) -> Layout {
    let counts = |var| model.loops.iter().any(|one| one.counter == var);
    let own = |at: usize| {
        let vars = &model.families[layout.family].vars;
        vars.iter().any(|&var| model.vars[var].offset == at && !counts(var))
    };
    let shared = layout.shared.iter().enumerate().filter_map(|(at, column)| match column {
        SharedColumn::Cell(cell) if !counts(model.cells[*cell].var) => Some(ViewColumn::Shared(at)),
        _ => None,
    });
    let local = layout.local.iter().enumerate().filter_map(|(at, column)| match column {
        LocalColumn::Own(cell) if own(*cell) => Some(ViewColumn::Local(at)),
        LocalColumn::Element(..) => Some(ViewColumn::Local(at)),
        _ => None,
    });
    let chosen = shared.chain(local).enumerate().filter(|(nth, _)| (number >> (nth % 4)) & 1 == 0).map(|(_, one)| one);
    let mut bare = layout.clone();
    bare.hidden = with_veils(&layout.hidden, &chosen.collect());
    bare
}

fn compare(text: &str, tally: &mut Tally) {
    // Some jump into loops, or have an array that nobody uses.
    let Some(model) = load(text, 3) else { return };
    let Some(found) = (0..=2).find_map(|n_named| fragment_beside(&model, n_named).ok()) else { return };
    let n_named = found.layout.named.len();
    let budget = in_a_moment();
    let mut veiled = found.layout.clone();
    veiled.hidden = rules(&model, &veiled);
    let with = with_presences(&model, &veiled);
    let bare = with_some_veiled(&model, &veiled, tally.programs);
    let layouts = [found.layout, veiled, with, bare];
    let mut all = Vec::new();
    for layout in &layouts {
        for k in 1..=2 {
            match views(Ground::new(&model, layout), k, &budget) {
                Ok(views) => all.push((layout, views)),
                // Contents that are never shown are guessed, which may take long.
                Err(_) if layout.hidden.iter().any(|rule| rule.when.is_none()) => {}
                Err(_) => return,
            }
        }
    }
    tally.programs += 1;
    tally.named += usize::from(n_named > 0);
    tally.hidden += usize::from(!layouts[1].hidden.is_empty());
    tally.present += usize::from(!layouts[2].present.is_empty());
    tally.veiled += usize::from(layouts[3].hidden.iter().any(|rule| rule.when.is_none()));
    let instances: Vec<(Model, Product)> = (2..=5)
        .filter_map(|n| {
            let model = load(text, n)?;
            let product = Product::explore(&model, 4_000)?;
            Some((model, product))
        })
        .collect();
    for (instance, product) in &instances {
        let inner = fragment_beside(instance, n_named).unwrap_or_else(|reason| panic!("{text}\n{}", reason.text));
        let members: Vec<ProcessId> = instance.families[inner.layout.family].processes().collect();
        for (nth, (layout, views)) in all.iter().enumerate() {
            let mut shown = inner.layout.clone();
            shown.hidden.clone_from(&layout.hidden);
            shown.present.clone_from(&layout.present);
            let ground = Ground::new(instance, &shown);
            let stride = 1 + product.states.len() / PROJECTED;
            // Views that miss something miss it in many states; each layout begins with another one.
            for (at, state) in product.states.iter().enumerate().skip(nth % stride).step_by(stride) {
                for chosen in choose(&members, views.k) {
                    tally.projections += 1;
                    let view = project(ground, state, &chosen);
                    assert!(views.theta.contains(&view), "k = {}, state {at}: {view:?}\n{text}", views.k);
                }
            }
        }
    }
    for engine in [ByViews::default(), ByViews::default().leaving_out_columns()] {
        compare_proofs(text, (&model, &instances), engine, tally);
    }
}

/// What is proved holds at each of these sizes, and the checker accepts it.
fn compare_proofs(
    text: &str,
    (model, instances): (&Model, &[(Model, Product)]),
    mut engine: ByViews,
    tally: &mut Tally,
) {
    let task = Task { model, properties: model.properties.ids().collect(), budget: in_a_moment(), n_threads: 1 };
    engine.settings().unwrap().set("processes", "2").unwrap();
    for answer in engine.run(&task, &Silent).unwrap() {
        let property = &model.properties[answer.property];
        let (Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof))) =
            &answer.verdict
        else {
            let holds = instances.iter().all(|(model, product)| !is_violated(model, product, &property.kind));
            tally.missed += usize::from(holds && instances.len() >= 3);
            continue;
        };
        tally.proved += 1;
        for (instance, product) in instances {
            let same = instance.properties.iter().find(|other| other.name == property.name).unwrap();
            let n = instance.families.iter().map(model::process::Family::count).max();
            assert!(!is_violated(instance, product, &same.kind), "{} is violated at N = {n:?}\n{text}", same.name);
        }
        if let Err(error) = audit::certificate::check(model, property, proof, &Budget::unlimited()) {
            panic!("the checker refuses {}: {error}\n{text}", property.name);
        }
    }
}

fn campaign(seed: u64, n_programs: u64, kinds: Kinds) -> Tally {
    let factor: u64 = std::env::var("VIEWS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..n_programs * factor {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let text = Writer { choices: &mut choices, kinds, n_labels: 0 }.program();
        compare(&text, &mut tally);
    }
    let Tally { programs, projections, proved, hidden, present, veiled, named, missed } = tally;
    println!(
        "{programs} programs, {hidden} with hidden contents, {present} with presences, {veiled} with columns left out, {named} with names, {projections} projections, {proved} proved, {missed} true at small sizes and open"
    );
    tally
}

const PLAIN: Kinds = Kinds { ordered: false, scans: false, locals: false, home: false, somebody: false, n_named: 0 };

#[test]
fn plain_programs_agree_with_brute_force() {
    let tally = campaign(1, 40, PLAIN);
    assert!(tally.programs > 30 && tally.projections > 1_000 && tally.proved > 20 && tally.veiled > 20);
}

#[test]
fn programs_with_an_order_agree_with_brute_force() {
    assert!(campaign(2, 25, Kinds { ordered: true, ..PLAIN }).proved > 10);
}

#[test]
fn programs_with_scans_agree_with_brute_force() {
    assert!(campaign(3, 20, Kinds { scans: true, ..PLAIN }).proved > 10);
}

#[test]
fn programs_with_ids_in_locals_agree_with_brute_force() {
    let tally = campaign(4, 20, Kinds { locals: true, ..PLAIN });
    assert!(tally.proved > 5 && tally.hidden > 2, "{} and {}", tally.proved, tally.hidden);
}

#[test]
fn programs_with_a_home_agree_with_brute_force() {
    assert!(campaign(5, 25, Kinds { home: true, ..PLAIN }).proved > 10);
}

#[test]
fn programs_that_wait_for_somebody_agree_with_brute_force() {
    let tally = campaign(6, 30, Kinds { somebody: true, ..PLAIN });
    assert!(tally.present > 20 && tally.proved > 40, "{} and {}", tally.present, tally.proved);
    let ordered = campaign(7, 15, Kinds { somebody: true, ordered: true, ..PLAIN });
    assert!(ordered.present > 8 && ordered.proved > 20, "{} and {}", ordered.present, ordered.proved);
}

#[test]
fn programs_that_name_processes_agree_with_brute_force() {
    let tally = campaign(8, 16, Kinds { n_named: 1, ..PLAIN });
    assert!(tally.named > 10 && tally.proved > 40, "{} and {}", tally.named, tally.proved);
    let tally = campaign(9, 10, Kinds { n_named: 2, ..PLAIN });
    assert!(tally.named > 6 && tally.proved > 20, "{} and {}", tally.named, tally.proved);
}

#[test]
fn programs_that_name_processes_and_compare_or_scan_them_agree_with_brute_force() {
    let kinds = [
        Kinds { ordered: true, ..PLAIN },
        Kinds { scans: true, ..PLAIN },
        Kinds { locals: true, ..PLAIN },
        Kinds { home: true, ..PLAIN },
        Kinds { somebody: true, ..PLAIN },
    ];
    let (mut named, mut proved) = (0, 0);
    for (at, kinds) in kinds.into_iter().enumerate() {
        let tally = campaign(10 + at as u64, 5, Kinds { n_named: 1 + at % 2, ..kinds });
        named += tally.named;
        proved += tally.proved;
    }
    assert!(named > 10 && proved > 40, "{named} and {proved}");
}

/// Views of few processes say that there is somebody who got something in a step of others, seen by none of them.
#[test]
fn what_others_are_given_counts() {
    let named = "l0: atomic { await q != i; row[q] = 1; } l1: await exists k: row[k] == 1;";
    let all = "l0: either { m: a = 1; } or { n: a = 0; }
        l1: atomic { await a == 0; for k in 0..<N { if P[k].a == 1 { row[k] = 1; } } }
        l2: await exists k: row[k] == 1;";
    for body in [named, all] {
        let text = format!(
            "program r(N: 2..) {{ shared q: pid; shared row: [0..=1; N]; process P[i in 0..<N] {{ public a: 0..=1; loop {{ {body} }} }}
             invariant one: forall i: P[i]@l0 && q == i => row[i] == 1; }}"
        );
        let mut tally = Tally::default();
        compare(&text, &mut tally);
        assert_eq!((tally.programs, tally.present), (1, 1), "{text}");
    }
}

/// Views are the least set that is closed under steps, so that every one of them is needed: whoever leaves a step out of the check would accept
/// proofs without a view.
fn left_out(seed: u64, n_programs: u64, kinds: Kinds) -> (usize, usize) {
    let (mut n_refused, mut n_accepted) = (0, 0);
    for at in 0..n_programs {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let text = Writer { choices: &mut choices, kinds, n_labels: 0 }.program();
        let Some(model) = load(&text, 3) else { continue };
        let asked = model.properties.entries().find(|(_, one)| one.name == "no_errors").unwrap().0;
        let budget = Budget::new(Some(std::time::Duration::from_secs(5)), None, Default::default());
        let task = Task { model: &model, properties: vec![asked], budget, n_threads: 1 };
        let answer = ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0);
        let Verdict::Holds(Evidence::Certificate(proof)) = answer.verdict else { continue };
        let n_views = proof.views().map_or(0, |views| views.views.len());
        for view in (0..n_views).step_by(n_views.div_ceil(25).max(1)) {
            let mut fewer = proof.clone();
            let evidence::certificate::Claim::Views(claim) = &mut fewer.facts[0].claim else { break };
            claim.views.remove(view);
            let checked = audit::certificate::check(&model, &model.properties[asked], &fewer, &Budget::unlimited());
            match checked.is_err() {
                true => n_refused += 1,
                false => n_accepted += 1,
            }
        }
    }
    (n_refused, n_accepted)
}

#[test]
fn no_view_can_be_left_out() {
    let kinds = [
        PLAIN,
        Kinds { ordered: true, ..PLAIN },
        Kinds { scans: true, ..PLAIN },
        Kinds { locals: true, ..PLAIN },
        Kinds { home: true, ..PLAIN },
        Kinds { somebody: true, ..PLAIN },
        Kinds { n_named: 1, ..PLAIN },
    ];
    for (at, kinds) in kinds.into_iter().enumerate() {
        let (n_refused, n_accepted) = left_out(50 + at as u64, 12, kinds);
        println!("{n_refused} refused, {n_accepted} accepted");
        assert!(n_refused > 20 && n_accepted == 0, "{at}: {n_refused} refused, {n_accepted} accepted");
    }
}
