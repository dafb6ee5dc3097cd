//! A draft in the language, for people who read a failed random test and for comparing with the `.pw` front-end.
//!
//! Everything but a rendezvous, which the language does not have, reads back to a program with the same steps.

use model::Model;
use model::control::{ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide};
use model::expr::Domain;
use model::print::{self, Printer};
use model::variable::{Init, Role, Storage, Var, VarId};

use crate::draft::Draft;
use crate::text::{StepText, TextStatement};

/// The whole program.
pub fn program(draft: &Draft) -> String {
    let model = &draft.model;
    let mut page = TextPage { model, out: String::new(), depth: 0 };
    page.open("program random");
    for ty in &model.enums {
        page.line(&format!("enum {} {{ {} }}", ty.name, ty.values.join(", ")));
    }
    for channel in &model.channels {
        page.line(&format!("channel {};", channel.name));
    }
    for var in model.vars.iter().filter(|var| var.storage == Storage::Shared) {
        page.declaration("shared", var);
    }
    for (procedure, text) in model.procedures.iter().zip(&draft.procedure_texts) {
        let parameters: Vec<String> = procedure.vars[..procedure.n_parameters]
            .iter()
            .map(|&var| format!("{}: {}", model.vars[var].name, print::ty(model, &model.vars[var].ty)))
            .collect();
        let result = procedure
            .result
            .map_or(String::new(), |ty| format!(" -> {}", print::ty(model, &model::types::Type::Scalar(ty))));
        page.open(&format!("proc {}({}){result}", procedure.name, parameters.join(", ")));
        page.declarations(&procedure.vars[procedure.n_parameters..]);
        page.texts(text);
        page.close();
    }
    for (family, text) in model.families.iter().zip(&draft.family_texts) {
        let index = family.index.as_ref().map_or(String::new(), |range| {
            format!("[{} in {}..<{}]", range.name, range.first, range.first + range.count as i64)
        });
        page.open(&format!("process {}{index}", family.name));
        page.declarations(&family.vars);
        page.texts(text);
        page.close();
    }
    page.close();
    page.out
}

/// A step on one line, without its label.
pub fn step(model: &Model, step: &StepText) -> String {
    let mut page = TextPage { model, out: String::new(), depth: 0 };
    page.step(&StepText { label: None, ..step.clone() });
    let words: Vec<&str> = page.out.split_whitespace().collect();
    words.join(" ").trim_end_matches(';').to_string()
}

struct TextPage<'m> {
    model: &'m Model,
    out: String,
    depth: usize,
}

impl<'m> TextPage<'m> {
    fn line(&mut self, text: &str) {
        self.out += &"  ".repeat(self.depth);
        self.out += text;
        self.out.push('\n');
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn reopen(&mut self, middle: &str) {
        self.depth -= 1;
        self.line(&format!("}} {middle} {{"));
        self.depth += 1;
    }

    fn declarations(&mut self, vars: &[VarId]) {
        for var in vars.iter().map(|&var| &self.model.vars[var]) {
            match (var.role, var.storage) {
                (Role::Counter(_) | Role::Parameter, _) => {}
                (Role::Declared, Storage::Public(_)) => self.declaration("public", var),
                (Role::Declared, _) => self.declaration("local", var),
            }
        }
    }

    fn declaration(&mut self, class: &str, var: &Var) {
        let init = match init(self.model, &var.init) {
            Some(text) => format!(" = {text}"),
            None => String::new(),
        };
        self.line(&format!("{class} {}: {}{init};", var.name, print::ty(self.model, &var.ty)));
    }

    fn texts(&mut self, texts: &[TextStatement]) {
        texts.iter().for_each(|text| self.text(text));
    }

    fn text(&mut self, text: &TextStatement) {
        match text {
            TextStatement::Step(step) => self.step(step),
            TextStatement::If(label, test, yes, no) => {
                self.open(&format!("{}if {}", prefix(label), print::expr(self.model, test)));
                self.texts(yes);
                self.reopen("else");
                self.texts(no);
                self.close();
            }
            TextStatement::While(label, test, body) => {
                self.open(&format!("{}while {}", prefix(label), print::expr(self.model, test)));
                self.texts(body);
                self.close();
            }
            TextStatement::Either(branches) => {
                for (at, branch) in branches.iter().enumerate() {
                    if at == 0 {
                        self.open("either");
                    } else {
                        self.reopen("or");
                    }
                    self.texts(branch);
                }
                self.close();
            }
            TextStatement::Loop(body) => {
                self.open("loop");
                self.texts(body);
                self.close();
            }
            TextStatement::For(id, body) => {
                let counted = &self.model.loops[*id];
                let domain = self.domain(&mut Printer::new(self.model), &counted.domain);
                self.open(&format!("for {} in {domain}", self.model.vars[counted.counter].name));
                self.texts(body);
                self.close();
            }
            TextStatement::Break => self.line("break;"),
            TextStatement::Continue => self.line("continue;"),
        }
    }

    fn step(&mut self, step: &StepText) {
        let mut printer = Printer::new(self.model);
        let label = prefix(&step.label);
        let guard = step.guard.as_ref().map(|guard| format!("await {};", printer.expr(guard)));
        let sync = step.sync.as_ref().map(|sync| {
            let channel = &self.model.channels[sync.channel].name;
            match &sync.side {
                SyncSide::Send(values) => format!("send {channel}({});", list(values, |e| printer.expr(e))),
                SyncSide::Receive(patterns) => {
                    let written = list(patterns, |pattern| match pattern {
                        ReceivePattern::Into(access) => printer.access(access),
                        ReceivePattern::Equal(value) => format!("== {}", printer.expr(value)),
                        ReceivePattern::Ignored => "_".to_string(),
                    });
                    format!("receive {channel}({written});")
                }
            }
        });
        let kind = match &step.kind {
            ActionKind::Plain => None,
            ActionKind::Idle => Some("idle;".to_string()),
            ActionKind::Call { procedure, arguments, result, .. } => {
                let target = result.as_ref().map_or(String::new(), |access| printer.access(access) + " = ");
                let name = &self.model.procedures[*procedure].name;
                Some(format!("{target}call {name}({});", list(arguments, |e| printer.expr(e))))
            }
            ActionKind::Return { value: None } => Some("return;".to_string()),
            ActionKind::Return { value: Some(value) } => Some(format!("return {};", printer.expr(value))),
        };
        let heads: Vec<String> = [guard, sync, kind].into_iter().flatten().collect();
        match (heads.as_slice(), step.body.as_slice()) {
            ([], []) => self.line(&format!("{label}skip;")),
            ([head], []) => self.line(&format!("{label}{head}")),
            ([], [only]) if is_simple(only) => self.stmt(&label, only, &mut printer),
            (heads, body) => {
                self.open(&format!("{label}atomic"));
                heads.iter().for_each(|head| self.line(head));
                self.stmts(body, &mut printer);
                self.close();
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], printer: &mut Printer<'m>) {
        stmts.iter().for_each(|stmt| self.stmt("", stmt, printer));
    }

    fn stmt(&mut self, label: &str, stmt: &Stmt, printer: &mut Printer<'m>) {
        let text = match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let targets = list(pairs, |(access, _)| printer.access(access));
                format!("{targets} = {};", list(pairs, |(_, value)| printer.expr(value)))
            }
            StmtKind::AssignAny(access, None) => format!("{} = any;", printer.access(access)),
            StmtKind::AssignAny(access, Some((lo, hi))) => {
                format!("{} = any {}..={};", printer.access(access), printer.expr(lo), printer.expr(hi))
            }
            StmtKind::Await(test) => format!("await {};", printer.expr(test)),
            StmtKind::Assert(test) => format!("assert {};", printer.expr(test)),
            StmtKind::Acquire(access) => format!("acquire {};", printer.access(access)),
            StmtKind::Release(access) => format!("release {};", printer.access(access)),
            StmtKind::If(test, yes, no) => {
                self.open(&format!("if {}", printer.expr(test)));
                self.stmts(yes, printer);
                self.reopen("else");
                self.stmts(no, printer);
                return self.close();
            }
            StmtKind::Either(blocks) => {
                for (at, block) in blocks.iter().enumerate() {
                    if at == 0 {
                        self.open("either")
                    } else {
                        self.reopen("or")
                    }
                    self.stmts(block, printer);
                }
                return self.close();
            }
            StmtKind::For(binding, body) => {
                let domain = self.domain(printer, &binding.domain);
                self.open(&format!("for {} in {domain}", binding.name));
                self.stmts(body, &mut printer.clone().bind_name(binding));
                return self.close();
            }
        };
        self.line(&format!("{label}{text}"));
    }

    fn domain(&self, printer: &mut Printer<'m>, domain: &Domain) -> String {
        match domain {
            Domain::Family(family) => {
                let count = self.model.families[*family].count();
                format!("0..<{count}")
            }
            Domain::Range(lo, hi) => format!("{}..={}", printer.expr(lo), printer.expr(hi)),
            Domain::Enum(id) => self.model.enums[*id].name.clone(),
        }
    }
}

fn is_simple(stmt: &Stmt) -> bool {
    !matches!(stmt.kind, StmtKind::If(..) | StmtKind::Either(_) | StmtKind::For(..))
}

fn prefix(label: &Option<String>) -> String {
    label.as_ref().map_or(String::new(), |label| format!("{label}: "))
}

fn list<T>(items: &[T], text: impl FnMut(&T) -> String) -> String {
    let texts: Vec<String> = items.iter().map(text).collect();
    texts.join(", ")
}

fn init(model: &Model, init: &Init) -> Option<String> {
    match init {
        Init::First => None,
        Init::Any => Some("any".to_string()),
        Init::Fill(value) => Some(print::expr(model, value)),
        Init::Elements(elements) => {
            let texts: Option<Vec<String>> = elements.iter().map(|element| self::init(model, element)).collect();
            texts.map(|texts| format!("[{}]", texts.join(", ")))
        }
    }
}
