//! One search on many hosts, for `explore` and `check --method mono`: from the options to processes, and back to what commands show.
//!
//! In: a program and the options about hosts. Out: what was seen, at the call that has it: the one that starts the processes, or process 0 where they are started by hand. A process that a launcher
//! started tells it in lines of JSON; all others say nothing.

use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use base::{Budget, StopReason};
use driver::check::{CheckLimits, Program};
use driver::checker::{Checker, Single};
use driver::explore::Explored as Searched;
use engine::{Event, Observer, PropertyId, Statistics};
use evidence::Exploration;
use hosts::call::{Request, SENT, SentFile};
use hosts::file::{self, Host};
use hosts::search::{
    self, Failure as SearchFailure, FairSettings, HostShare, Launch, Message, News, OnHosts, Outcome, Progress, Search,
    Searcher, Secret, Stop, Teller,
};

use super::check::farm;
use super::explore::Explored;
use crate::failure::Failure;
use crate::options::{CheckOptions, ExploreOptions, HostOptions, Tunnel};
use crate::status::ExitStatus;
use crate::terminal;

/// The name of the host file at processes that are started.
const HOST_FILE: &str = "hosts.txt";

/// Processes that are started by hand have so long to find each other.
const PATIENCE_BY_HAND: Duration = Duration::from_secs(60);

/// A process tells its launcher so often that it is alive.
const BEAT: Duration = Duration::from_secs(1);

/// What comes of a call that takes part in a search.
pub enum Part<T> {
    /// This call has the outcome.
    Whole(T),
    /// Another one has it.
    Member(ExitStatus),
}

/// Who answers questions on many hosts.
pub struct Joined(Arc<OnHosts>);

impl Joined {
    /// Who answers.
    pub fn checker(&self) -> Box<dyn Checker> {
        Box::new(Single(self.0.clone()))
    }

    /// What turned out to be wrong with the call.
    pub fn refused(&self) -> Option<String> {
        self.0.refused()
    }
}

/// Whether `check` is to search on many hosts, rather than to deal questions out.
pub fn is_asked(options: &CheckOptions, n_programs: usize) -> bool {
    let is_one = n_programs == 1 && options.method == ["mono"];
    options.hosts.are_about_one_search() || options.hosts.hosts.is_some() && is_one
}

/// Whether `explore` is to search on many hosts.
pub fn is_asked_to_explore(options: &HostOptions) -> bool {
    options.hosts.is_some() || options.are_about_one_search()
}

/// Explores a program on many hosts.
pub fn explore(
    options: &ExploreOptions,
    program: &Program,
    limits: &CheckLimits,
    observer: &dyn Observer,
) -> Result<Part<Explored>, Failure> {
    if options.like_spin || options.coverage || options.dot.is_some() {
        return Err("`--like-spin`, `--coverage` and `--dot` do not go with a search on many hosts".to_owned().into());
    }
    search::supports(&program.model)?;
    let instance = farm::instance_words(program, &options.instance);
    let threads = options.limits.threads;
    let joining = Joining { command: "explore", options: &options.hosts, program, instance, limits, threads };
    let searcher = match joining.join(Vec::new(), Vec::new())? {
        Part::Member(status) => return Ok(Part::Member(status)),
        Part::Whole(searcher) => searcher,
    };
    let budget = limits.budget();
    let explored = match searcher.search(&budget, observer) {
        Ok(outcome) => explored(outcome),
        Err(failure) => {
            let reason = failure.reason().map_err(Failure::from)?;
            let statistics = Statistics { time: budget.elapsed(), ..Statistics::default() };
            let nothing = Searched { exploration: Exploration::default(), statistics, stopped: Some(reason) };
            Explored { searched: nothing, hosts: Vec::new() }
        }
    };
    Ok(Part::Whole(explored))
}

fn explored(outcome: Outcome) -> Explored {
    let statistics = Statistics {
        time: outcome.time,
        peak_memory_bytes: Some(outcome.hosts.iter().map(|share| share.peak_memory_bytes).sum()),
        ..Statistics::default()
    };
    let stopped = outcome.stopped.map(|stop| stop.reason());
    let share = |share: HostShare| report::explore::Host {
        name: share.name,
        workers: share.workers,
        states: share.states,
        peak_memory_bytes: share.peak_memory_bytes,
        sent_bytes: share.sent_bytes,
    };
    let hosts = outcome.hosts.into_iter().map(share).collect();
    Explored { searched: Searched { exploration: outcome.exploration, statistics, stopped }, hosts }
}

/// Who answers the questions of `check --method mono` on many hosts.
pub fn join(
    options: &CheckOptions,
    program: &Program,
    questions: &[PropertyId],
    limits: &CheckLimits,
) -> Result<Part<Joined>, Failure> {
    if options.method != ["mono"] {
        let message = "`--process`, `--checkpoint`, `--resume` and `--tunnel` go with `--method mono`, which searches the whole product";
        return Err(message.to_owned().into());
    }
    let model = &program.model;
    search::supports(model)?;
    let asked: Vec<PropertyId> = questions.to_vec();
    let mut words = Vec::new();
    let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    add("--method", "mono");
    asked.iter().for_each(|&question| add("--property", &model.properties[question].name));
    let mut instance = farm::instance_words(program, &options.instance);
    instance.extend(farm::promela_words(&options.promela));
    options.goal.goals.iter().for_each(|goal| instance.extend(["--goal".to_owned(), goal.clone()]));
    let threads = options.limits.threads;
    let joining = Joining { command: "check", options: &options.hosts, program, instance, limits, threads };
    let searcher = match asked.is_empty() {
        false => joining.join(asked.clone(), words)?,
        true => Part::Whole(Box::new(Nobody) as Box<dyn Searcher>),
    };
    Ok(match searcher {
        Part::Member(status) => Part::Member(status),
        Part::Whole(searcher) => Part::Whole(Joined(Arc::new(OnHosts::new(searcher, asked)))),
    })
}

/// Searches nothing: no question is one for it.
struct Nobody;

impl Searcher for Nobody {
    fn search(&self, _budget: &Budget, _observer: &dyn Observer) -> Result<Outcome, SearchFailure> {
        Err(SearchFailure::Refused("there is no question that a search on many hosts answers".to_owned()))
    }
}

/// What a call knows that takes part in a search.
struct Joining<'c> {
    command: &'static str,
    options: &'c HostOptions,
    program: &'c Program,
    /// The words that say which instance it is, and how it is read.
    instance: Vec<String>,
    limits: &'c CheckLimits,
    /// The threads of each process, where the call says so.
    threads: Option<usize>,
}

impl Joining<'_> {
    /// Who searches for this call; or, where it is not the one that has the outcome, takes part until the end.
    fn join(&self, asked: Vec<PropertyId>, words: Vec<String>) -> Result<Part<Box<dyn Searcher>>, Failure> {
        let text = match &self.options.hosts {
            Some(path) => String::from_utf8_lossy(&driver::files::read(path)?).into_owned(),
            None => file::LOCAL.to_owned(),
        };
        let hosts = match &self.options.hosts {
            Some(path) => farm::hosts(path)?,
            None => file::parse(&text).map_err(Failure::Input)?,
        };
        let n_threads = self.threads.or(hosts.iter().filter_map(|host| host.threads).min()).unwrap_or(1);
        let Some(process) = self.options.process else {
            let launch = self.launch(hosts, text, (n_threads, words))?;
            return Ok(Part::Whole(Box::new(Launched(launch))));
        };
        if process >= hosts.len() {
            return Err(
                format!("there is no process {process}; the host file has {} lines with a host", hosts.len()).into()
            );
        }
        let search = self.member(hosts, (process, n_threads), asked)?;
        match (&self.options.secret, process) {
            (None, 0) => Ok(Part::Whole(Box::new(ByHand(search)))),
            (Some(_), 0) => Ok(Part::Member(tell_launcher(search))),
            _ => match search.run() {
                Ok(_) => Ok(Part::Member(ExitStatus::AsExpected)),
                Err(failure) => {
                    terminal::error(failure.reason().map_err(Failure::from)?);
                    Ok(Part::Member(ExitStatus::Undecided))
                }
            },
        }
    }

    /// The call of each process.
    fn launch(
        &self,
        hosts: Vec<Host>,
        text: String,
        (n_threads, words): (usize, Vec<String>),
    ) -> Result<Launch, Failure> {
        let sent = farm::SentProgram::new(&self.program.source)?;
        let call = |file: &str| {
            let mut call = vec![self.command.to_owned(), file.to_owned()];
            call.extend(self.instance.iter().cloned());
            let mut add = |name: &str, value: String| call.extend([name.to_owned(), value]);
            add("--hosts", format!("{SENT}{HOST_FILE}"));
            add("-j", n_threads.to_string());
            add("--progress", "none".to_owned());
            if let Some(directory) = &self.limits.disk {
                add("--disk", directory.display().to_string());
            }
            if let Some(directory) = &self.options.checkpoint {
                add("--checkpoint", directory.display().to_string());
            }
            if self.options.tunnel == Some(Tunnel::Ssh) {
                add("--tunnel", "ssh".to_owned());
            }
            if self.options.resume {
                call.push("--resume".to_owned());
            }
            call.extend(words.iter().cloned());
            call
        };
        let host_file = SentFile { name: HOST_FILE.to_owned(), text };
        let mut elsewhere = Request::new(call(&sent.elsewhere));
        elsewhere.files.push(host_file.clone());
        elsewhere.files.extend(sent.files);
        let here = match &sent.here {
            Some(path) => Request { files: vec![host_file], ..Request::new(call(path)) },
            None => elsewhere.clone(),
        };
        Ok(Launch {
            hosts,
            here,
            elsewhere,
            is_tunnelled: self.options.tunnel.is_some(),
            is_kept: self.options.checkpoint.is_some(),
            memory_bytes: self.limits.memory_bytes,
        })
    }

    /// This call as one process.
    fn member(
        &self,
        hosts: Vec<Host>,
        (process, n_threads): (usize, usize),
        asked: Vec<PropertyId>,
    ) -> Result<Search, Failure> {
        let launched = self.options.secret.is_some();
        let given = self.options.secret.clone().or_else(|| env::var(search::SECRET_VARIABLE).ok());
        let secret = given.map(|text| Secret::new(&text)).transpose()?;
        let memory = hosts[process].memory_bytes.or(self.limits.memory_bytes);
        if let Some(limit) = memory {
            self.limits.cancel.resident().watch(limit);
        }
        let budget = Budget::new(self.limits.time, memory, self.limits.cancel.clone());
        let budget = match &self.limits.disk {
            Some(directory) => budget.with_disk(directory),
            None => budget,
        };
        let mut files = farm::sent_files(&self.program.source)?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Search {
            model: Arc::new(self.program.model.clone()),
            text: files.into_iter().map(|file| format!("{}\n{}\n", file.name, file.text)).collect::<String>()
                + &self.instance.join(" "),
            asked,
            budget,
            hosts,
            process,
            n_threads,
            secret,
            checkpoint: self.options.checkpoint.clone(),
            resumes: self.options.resume,
            fair: FairSettings::default(),
            patience: if launched { search::PATIENCE } else { PATIENCE_BY_HAND },
            is_tunnelled: self.options.tunnel.is_some(),
            connected: None,
            // A launcher has made the secret itself: strangers are of no interest to whoever called it.
            turned_away: self.options.secret.is_none().then_some(tell_turned_away),
            teller: None,
        })
    }
}

/// Takes part as process 0 of a search that a launcher started, and tells it everything.
fn tell_launcher(mut search: Search) -> ExitStatus {
    // A launcher that does not listen has ended, and so does this process with its input.
    let tell = |told: &Message| drop(terminal::print(&told.line()));
    search.connected = Some(|| drop(terminal::print(&Message::Connected.line())));
    search.teller = Some(Teller(Arc::new(move |progress| tell(&Message::Level(progress)))));
    let beat = move || {
        loop {
            tell(&Message::Alive);
            thread::sleep(BEAT);
        }
    };
    thread::Builder::new().name("alive".to_owned()).spawn(beat).ok();
    match search.run() {
        Ok(Some(outcome)) => tell(&Message::Ended(Box::new(outcome))),
        Ok(None) => {}
        Err(failure) => {
            tell(&Message::Failed(failure));
            return ExitStatus::Undecided;
        }
    }
    ExitStatus::AsExpected
}

/// Tells the launcher that a limit ends this process from outside, before it has said so itself.
pub fn tell_limit(reason: &StopReason) {
    let failure = SearchFailure::Stopped(Stop::new(reason));
    drop(terminal::print(&Message::Failed(failure).line()));
}

fn tell_turned_away(why: &str) {
    terminal::complain(&format!("note: a process was turned away: {why}; the right one is waited for\n"));
}

/// The processes are started, and listened to.
struct Launched(Launch);

impl Searcher for Launched {
    fn search(&self, budget: &Budget, observer: &dyn Observer) -> Result<Outcome, SearchFailure> {
        self.0.run(budget, &|news| match news {
            News::Level(progress) => observer.event(searching(progress)),
            News::Note(note) => terminal::complain(&format!("note: {note}\n")),
        })
    }
}

/// This call is process 0; the others are started by hand.
struct ByHand(Search);

impl Searcher for ByHand {
    fn search(&self, _budget: &Budget, _observer: &dyn Observer) -> Result<Outcome, SearchFailure> {
        // What it may use is what its line of the host file says.
        let nothing = || SearchFailure::Refused("process 0 has no outcome".to_owned());
        self.0.clone().run()?.ok_or_else(nothing)
    }
}

fn searching(progress: Progress) -> Event {
    Event::Searching {
        states: progress.states,
        frontier: progress.frontier,
        depth: progress.depth,
        memory_bytes: progress.memory_bytes,
    }
}
