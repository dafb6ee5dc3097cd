//! Every example: counts, verdicts and lengths of runs equal those of one machine, with two threads and with two processes over loopback.
//!
//! The second process is this test again, started once: it reads which searches to take part in from its standard input, one on each line. Examples with more than [`MOST`] states are
//! left out, and those with procedures, which no search on many hosts follows. Where a few more processes have no more than [`GROWN`] states they are looked at, too, in turn by two threads and by
//! two processes; and of one example in [`STRIDE`] the first size with more than that, up to [`MOST`], is counted.

use std::io::{BufRead, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::{Answer, Engine, Observer, PropertyId, Silent, Task, Verdict};
use evidence::{Evidence, Exploration};
use hosts::file;
use hosts::search::{Failure, FairSettings, OnHosts, Outcome, Search, Searcher, Secret, supports};
use model::Model;
use model::property::PropertyKind;
use product::Mono;

/// Examples with more states are left out.
const MOST: u64 = 200_000;

/// So many states an example may have with more processes than it has by itself.
const GROWN: u64 = 20_000;

/// Of one example in so many, a larger size is counted.
const STRIDE: usize = 6;

/// A search of [`MOST`] states has room in this.
const ROOM: u64 = 64 << 20;

/// So many sizes of an example are decided.
const SIZES: i64 = 3;

/// What a size is expected to have at most, beside the one before it.
const GROWTH: u64 = 8;

/// Set for the process that takes part in searches as their second.
const SECOND: &str = "PIECEWISE_SECOND_PROCESS";

/// One search, as both processes know it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    path: PathBuf,
    /// The value of `N`, where it is not the program's own.
    size: Option<i64>,
    /// Whether all properties are asked; otherwise everything is counted.
    asks: bool,
    ports: [u16; 2],
}

impl Case {
    fn model(&self) -> (String, Model) {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let given: Vec<(String, i64)> = self.size.map(|size| ("N".to_owned(), size)).into_iter().collect();
        let model = lang::load(&SourceFile::new("example.pw", &text), &given).unwrap().model;
        (text, model)
    }

    fn line(&self) -> String {
        let size = self.size.map_or("-".to_owned(), |size| size.to_string());
        let [first, second] = self.ports;
        format!("{first} {second} {} {size} {}", self.asks, self.path.display())
    }

    fn read(line: &str) -> Case {
        let parts: Vec<&str> = line.splitn(5, ' ').collect();
        let ports = [parts[0].parse().unwrap(), parts[1].parse().unwrap()];
        Case { path: PathBuf::from(parts[4]), size: parts[3].parse().ok(), asks: parts[2] == "true", ports }
    }

    /// The search of one of two processes, or of two threads.
    fn search(&self, process: Option<usize>) -> Search {
        let (text, model) = self.model();
        let lines = self.ports.map(|port| format!("local:{port}\n")).concat();
        Search {
            text,
            asked: if self.asks { model.properties.ids().collect() } else { Vec::new() },
            model: Arc::new(model),
            budget: Budget::unlimited(),
            hosts: file::parse(if process.is_some() { &lines } else { "local" }).unwrap(),
            process: process.unwrap_or(0),
            n_threads: if process.is_some() { 1 } else { 2 },
            secret: Some(Secret::new("a secret of tests").unwrap()),
            checkpoint: None,
            resumes: false,
            // Threads take all rounds; processes send home what remains.
            fair: match process {
                Some(_) => FairSettings::default(),
                None => FairSettings { soon_home: 0, ..FairSettings::default() },
            },
            patience: Duration::from_secs(30),
            is_tunnelled: false,
            connected: None,
            turned_away: None,
            teller: None,
        }
    }
}

/// So many ports that were free a moment ago.
fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// A process that takes part in searches as the second one.
struct SecondProcess(Child);

impl SecondProcess {
    fn start() -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "examples::second_process", "--quiet"])
            .env(SECOND, "yes")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        SecondProcess(child.unwrap())
    }

    fn tell(&mut self, case: &Case) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{}", case.line()).unwrap();
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success(), "the second process failed");
    }
}

/// By itself it only looks at the lines that the two processes talk in; started by the test of two processes, it takes part in their searches.
#[test]
fn second_process() {
    let case = Case { path: "a b/c.pw".into(), size: Some(3), asks: true, ports: [1, 2] };
    assert_eq!(Case::read(&case.line()), case);
    assert_eq!(Case::read(&Case { size: None, asks: false, ..case.clone() }.line()).size, None);
    if std::env::var_os(SECOND).is_none() {
        return;
    }
    for line in std::io::stdin().lock().lines() {
        let outcome = Case::read(&line.unwrap()).search(Some(1)).run().unwrap();
        assert!(outcome.is_none(), "the second process has an outcome");
    }
}

/// What a search in this process, and perhaps the second one, found; for an engine that asks once.
struct Done(Outcome);

impl Searcher for Done {
    fn search(&self, _budget: &Budget, _observer: &dyn Observer) -> Result<Outcome, Failure> {
        Ok(self.0.clone())
    }
}

fn task(model: &Model) -> Task<'_> {
    Task { model, properties: model.properties.ids().collect(), budget: Budget::unlimited(), n_threads: 1 }
}

fn said(answer: &Answer) -> String {
    match &answer.verdict {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(_) => "violated".to_owned(),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}

/// The length of a run to a state; of fair loops any will do.
fn length(model: &Model, answer: &Answer) -> Option<usize> {
    let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &answer.verdict else { return None };
    match (evidence, &model.properties[answer.property].kind) {
        (_, PropertyKind::Temporal(_)) => None,
        (Evidence::Trace(trace), _) => Some(trace.turns.len()),
        _ => None,
    }
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "pw")).collect();
    programs.sort();
    programs
}

/// An example at one size, with what one machine says of it.
struct Known {
    case: Case,
    /// The value of `N` that the program has by itself, where this is a larger one.
    first_size: Option<i64>,
    model: Model,
    counted: Exploration,
    answers: Vec<Answer>,
}

impl Known {
    /// `None` for what no search on many hosts follows, and for what has more states than this.
    fn new(path: &Path, size: Option<i64>, most: u64) -> Option<Self> {
        let case = Case { path: path.to_owned(), size, asks: false, ports: [0; 2] };
        let (_, model) = case.model();
        if supports(&model).is_err() {
            return None;
        }
        let room = Budget::new(None, Some(ROOM), CancelToken::default());
        let (counted, _, stopped) = product::explore(&model, &room, 1, &Silent);
        if stopped.is_some() || counted.states > most {
            return None;
        }
        // What is only counted has no answers.
        let is_decided = counted.states <= GROWN || size.is_none();
        let answers = if is_decided { Mono.run(&task(&model), &Silent).unwrap() } else { Vec::new() };
        Some(Known { case, first_size: None, model, counted, answers })
    }

    /// The same example with one more process, where that has not too many states.
    fn grown(&self) -> Option<Self> {
        let parameter = self.model.parameters.iter().find(|parameter| parameter.name == "N")?;
        let next = parameter.value + 1;
        let first = self.first_size.unwrap_or(parameter.value);
        let may_be = next < first + SIZES && parameter.greatest.is_none_or(|greatest| next <= greatest);
        let is_small = may_be && self.counted.states * GROWTH <= GROWN;
        let known = is_small.then(|| Known::new(&self.case.path, Some(next), GROWN))??;
        Some(Known { first_size: Some(first), ..known })
    }

    /// The first larger size that is only counted, if there is one.
    fn counted_only(path: &Path, after: i64, greatest: Option<i64>) -> Option<Self> {
        let sizes = (after + 1..=after + SIZES).take_while(|size| greatest.is_none_or(|greatest| *size <= greatest));
        let mut known = sizes.map_while(|size| Known::new(path, Some(size), MOST));
        known.find(|known| known.counted.states > GROWN)
    }

    /// Compares with what two threads say, or with what this process and a second one say.
    fn compare(&self, mut second: Option<&mut SecondProcess>) {
        let name = format!("{} N = {:?}", self.case.path.display(), self.case.size);
        let mut search = |asks: bool| {
            let case = Case { asks, ports: free_ports(), ..self.case.clone() };
            let process = second.as_mut().map(|second| second.tell(&case)).map(|()| 0);
            case.search(process).run().unwrap().unwrap()
        };
        let counted = search(false);
        assert_eq!(counted.exploration, self.counted, "{name}");
        assert_eq!(counted.stopped, None, "{name}");
        if self.answers.is_empty() {
            return;
        }
        let asked: Vec<PropertyId> = self.model.properties.ids().collect();
        let answers = OnHosts::new(Box::new(Done(search(true))), asked).run(&task(&self.model), &Silent).unwrap();
        assert_eq!(answers.len(), self.answers.len(), "{name}");
        for (ours, theirs) in answers.iter().zip(&self.answers) {
            let about = format!("{name} {}", self.model.properties[ours.property].name);
            assert_eq!(said(ours), said(theirs), "{about}");
            assert_eq!(length(&self.model, ours), length(&self.model, theirs), "{about}");
        }
    }
}

#[test]
fn every_example_is_counted_and_decided_as_on_one_machine() {
    let mut second = SecondProcess::start();
    let (mut n_decided, mut n_grown, mut n_counted, mut n_left_out) = (0, 0, 0, 0);
    for (nth, path) in examples().iter().enumerate() {
        let mut next = Known::new(path, None, MOST);
        if next.is_none() {
            let case = Case { path: path.clone(), size: None, asks: false, ports: [0; 2] };
            assert!(supports(&case.model().1).is_err(), "{} is left out and has no procedures", path.display());
            n_left_out += 1;
        }
        let mut size = None;
        while let Some(known) = next {
            let (by_threads, by_processes) = match known.case.size {
                None => (true, true),
                Some(_) => (n_grown % 2 == 0, n_grown % 2 == 1),
            };
            if by_threads {
                known.compare(None);
            }
            if by_processes {
                known.compare(Some(&mut second));
            }
            n_decided += 1;
            n_grown += usize::from(known.case.size.is_some());
            let parameter = known.model.parameters.iter().find(|parameter| parameter.name == "N");
            size = parameter.map(|parameter| (parameter.value, parameter.greatest));
            next = known.grown();
        }
        if let Some((after, greatest)) = size.filter(|_| nth % STRIDE == 0)
            && let Some(known) = Known::counted_only(path, after, greatest)
        {
            known.compare(None);
            known.compare(Some(&mut second));
            n_counted += 1;
        }
    }
    second.end();
    let found = format!(
        "{n_decided} programs decided, {n_grown} of them larger than by themselves, {n_counted} counted, {n_left_out} left out"
    );
    println!("{found}");
    assert!(n_decided > 200 && n_grown > 100 && n_counted > 5 && n_left_out < 20, "{found}");
}
