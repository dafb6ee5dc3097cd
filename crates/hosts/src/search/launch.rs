//! Starts the processes of a search, listens to process 0, and starts them again where one is lost.
//!
//! In: the hosts, and the call that makes a process of this search on each. Out: what process 0 saw. Every process is a child of this one, or of ssh; it gets its request and a fresh secret on its
//! standard input and ends when that does. A process that dies, or stands still, ends the attempt; all are ended and started again at most [`RESTARTS`] times, from the
//! checkpoint where there is one. What was never connected is not tried again.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use base::{Budget, StopReason};

use super::cluster::SILENCE;
use super::levels::Outcome;
use super::message::{Message, Progress};
use super::secret::Secret;
use super::stop::Stop;
use super::{Failure, mesh};
use crate::call::{self, Request};
use crate::file::Host;

/// How often a search is started again.
const RESTARTS: usize = 3;

/// How often limits are looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// How long processes have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// How long the first sign of a loss waits for a better explanation.
const MOMENT: Duration = Duration::from_millis(700);

/// What of its time a process has less, so that its answer comes before the limit of the launcher.
const MARGIN: Duration = Duration::from_millis(50);

/// A search to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The hosts; process i runs on the i-th.
    pub hosts: Vec<Host>,
    /// The call on this machine, without the number of the process.
    pub here: Request,
    /// The call elsewhere, with the files that it needs.
    pub elsewhere: Request,
    /// Whether the processes reach each other by ssh.
    pub is_tunnelled: bool,
    /// Whether levels are kept on disk, so that a search that is started again goes on.
    pub is_kept: bool,
    /// The most memory of each process whose host says nothing else.
    pub memory_bytes: Option<u64>,
}

/// What is heard while a search runs.
#[derive(Clone, Debug)]
pub enum News {
    /// A level was closed.
    Level(Progress),
    /// Something happened, in a sentence.
    Note(String),
}

impl Launch {
    /// Runs the search.
    ///
    /// # Errors
    /// A call that is wrong, a host that is lost for good, or a limit.
    pub fn run(&self, budget: &Budget, hear: &dyn Fn(News)) -> Result<Outcome, Failure> {
        self.allowed().map_err(Failure::Refused)?;
        let mut n_restarts = 0;
        loop {
            let mut attempt = Attempt::start(self, budget, n_restarts > 0)?;
            let failure = match attempt.listen(budget, hear) {
                Ok(outcome) => {
                    attempt.let_end();
                    return Ok(outcome);
                }
                Err(failure) => failure,
            };
            let is_connected = attempt.is_connected;
            // All must be gone before the ports are taken again.
            drop(attempt);
            match failure {
                Failure::Lost { host, why } if is_connected && n_restarts < RESTARTS => {
                    n_restarts += 1;
                    let from = if self.is_kept { "goes on from its checkpoint" } else { "begins again" };
                    let attempt = format!("attempt {n_restarts} of {RESTARTS} to start again");
                    hear(News::Note(format!("host {host} was lost: {why}; the search {from} ({attempt})")));
                }
                failure => return Err(failure),
            }
        }
    }

    /// Whether the hosts can reach each other.
    fn allowed(&self) -> Result<(), String> {
        let is_elsewhere = |host: &Host| !host.is_local();
        if self.is_tunnelled {
            for (nth, host) in self.hosts.iter().enumerate() {
                if self.hosts[..nth].iter().any(|other| other.port == host.port) {
                    return Err(format!(
                        "with `--tunnel ssh` every host needs a port of its own; {} has two",
                        host.port
                    ));
                }
            }
            return Ok(());
        }
        let is_unreached = |host: &Host| host.is_local() || is_loopback(host.address());
        match self.hosts.iter().any(is_elsewhere) && self.hosts.iter().any(is_unreached) {
            true if self.hosts.iter().any(|host| !is_unreached(host)) => Err(
                "other hosts do not reach `local`: write the name of this machine in the host file, or use `--tunnel ssh`"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// The ports that ssh carries for a process: those of the processes before it to there, and its own to here.
    fn tunnels(&self, process: usize) -> Vec<String> {
        let own = &self.hosts[process];
        if !self.is_tunnelled || own.is_local() {
            return Vec::new();
        }
        let place = |port: u16| format!("127.0.0.1:{port}:127.0.0.1:{port}");
        let mut words = vec!["-o".to_owned(), "ExitOnForwardFailure=yes".to_owned()];
        if process + 1 < self.hosts.len() {
            words.extend(["-L".to_owned(), place(own.port)]);
        }
        for before in self.hosts[..process].iter().filter(|before| before.name != own.name) {
            words.extend(["-R".to_owned(), place(before.port)]);
        }
        words
    }
}

fn is_loopback(address: &str) -> bool {
    address == "localhost" || address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// What happens at a process.
enum Happened {
    Said(Message),
    /// Its output has ended.
    Ended,
}

/// A process of an attempt.
struct Started {
    child: Child,
    /// The process ends when this does.
    input: Option<ChildStdin>,
    messages: Option<thread::JoinHandle<String>>,
}

impl Started {
    fn new(
        launch: &Launch,
        process: usize,
        request: &Request,
        happened: &Sender<(usize, Happened)>,
    ) -> Result<Self, String> {
        let host = &launch.hosts[process];
        let mut command = call::command(host, &launch.tunnels(process))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            format!("host {host} could not be reached: {}: {error}", command.get_program().to_string_lossy())
        })?;
        let mut input = child.stdin.take();
        let mut line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        line.push('\n');
        if let Some(input) = &mut input {
            // A process that ends before it has read its request says why.
            input.write_all(line.as_bytes()).and_then(|()| input.flush()).ok();
        }
        let (output, messages, happened) = (child.stdout.take(), child.stderr.take(), happened.clone());
        thread::spawn(move || {
            let lines = output.map(|output| BufReader::new(output).lines().map_while(Result::ok));
            for told in lines.into_iter().flatten().filter_map(|line| Message::read(&line)) {
                happened.send((process, Happened::Said(told))).ok();
            }
            happened.send((process, Happened::Ended)).ok();
        });
        let messages = thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error counts.
            messages.map(|mut messages| messages.read_to_end(&mut bytes).ok());
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Started { child, input, messages: Some(messages) })
    }

    /// How it ended, if it has, and what it said last.
    fn end(&mut self) -> (Option<std::process::ExitStatus>, String) {
        let until = Instant::now() + MOMENT;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(GLANCE / 4),
                _ => break None,
            }
        };
        let said = match status {
            Some(_) => self.messages.take().and_then(|messages| messages.join().ok()).unwrap_or_default(),
            None => String::new(),
        };
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        (status, last.trim().trim_start_matches("error: ").to_owned())
    }
}

/// The processes of one attempt; they end with it.
struct Attempt<'l> {
    launch: &'l Launch,
    started: Vec<Started>,
    happened: Receiver<(usize, Happened)>,
    is_connected: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        for one in &mut self.started {
            // It may have ended by itself.
            drop(one.input.take());
            one.child.kill().ok();
        }
        self.started.iter_mut().for_each(|one| drop(one.child.wait()));
    }
}

impl<'l> Attempt<'l> {
    fn start(launch: &'l Launch, budget: &Budget, is_again: bool) -> Result<Self, Failure> {
        let secret = Secret::random().map_err(Failure::Refused)?;
        let (sender, happened) = mpsc::channel();
        let mut attempt = Attempt { launch, started: Vec::new(), happened, is_connected: false };
        for (process, host) in launch.hosts.iter().enumerate() {
            let mut request = if host.is_local() { launch.here.clone() } else { launch.elsewhere.clone() };
            request.words.extend(["--process".to_owned(), process.to_string()]);
            if is_again && launch.is_kept && !request.words.iter().any(|word| word == "--resume") {
                request.words.push("--resume".to_owned());
            }
            if let Some(left) = budget.time_left() {
                let time = left.saturating_sub(MARGIN).as_millis().max(1);
                request.words.extend(["--timeout".to_owned(), format!("{time}ms")]);
            }
            if let Some(bytes) = host.memory_bytes.or(launch.memory_bytes) {
                request.words.extend(["--memory".to_owned(), bytes.to_string()]);
            }
            request.secret = Some(secret.clone());
            let started = Started::new(launch, process, &request, &sender);
            let lost = |why| Failure::Lost { host: host.name.clone(), why };
            attempt.started.push(started.map_err(lost)?);
        }
        Ok(attempt)
    }

    /// Listens until there is an outcome.
    fn listen(&mut self, budget: &Budget, hear: &dyn Fn(News)) -> Result<Outcome, Failure> {
        let mut heard = Instant::now();
        let mut stopped: Option<(Instant, StopReason)> = None;
        loop {
            match self.happened.recv_timeout(GLANCE) {
                Ok((0, Happened::Said(told))) => {
                    heard = Instant::now();
                    match told {
                        Message::Connected => self.is_connected = true,
                        Message::Alive => {}
                        Message::Level(progress) => hear(News::Level(progress)),
                        Message::Ended(outcome) => return Ok(within(*outcome, budget)),
                        Message::Failed(failure) => return Err(self.explained(failure, budget)),
                    }
                }
                Ok((process, Happened::Said(Message::Failed(Failure::Stopped(stop))))) => {
                    return Err(self.stopped(process, stop, budget));
                }
                Ok((_, Happened::Said(_))) | Err(RecvTimeoutError::Timeout) => {}
                Ok((process, Happened::Ended)) => {
                    if let Some(ended) = self.ended(process, budget) {
                        return ended.map(|outcome| within(outcome, budget));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost(0, "its process ended".to_owned())),
            }
            let patience = if self.is_connected { SILENCE } else { SILENCE + mesh::PATIENCE };
            if heard.elapsed() > patience {
                return Err(self.lost(0, format!("it gave no sign of life for {} s", patience.as_secs())));
            }
            if let Err(reason) = budget.glance(0) {
                let (since, reason) = stopped.get_or_insert((Instant::now(), reason));
                if since.elapsed() > GRACE {
                    return Err(Failure::Stopped(Stop::new(reason)));
                }
            }
        }
    }

    /// Lets all processes end by themselves, so that each removes what it kept on disk.
    fn let_end(&mut self) {
        let until = Instant::now() + GRACE;
        let is_left = |one: &mut Started| matches!(one.child.try_wait(), Ok(None));
        while self.started.iter_mut().any(is_left) && Instant::now() < until {
            thread::sleep(GLANCE / 4);
        }
    }

    fn lost(&self, process: usize, why: String) -> Failure {
        Failure::Lost { host: self.launch.hosts[process].name.clone(), why }
    }

    /// What follows where a process ended before there is an outcome; `None` where that is in order.
    fn ended(&mut self, process: usize, budget: &Budget) -> Option<Result<Outcome, Failure>> {
        let (status, said) = self.started[process].end();
        match status.and_then(|status| status.code()) {
            Some(2) => {
                let host = &self.launch.hosts[process];
                let said = if host.is_local() { said } else { format!("on host {}: {said}", host.name) };
                return Some(Err(Failure::Refused(said)));
            }
            // The others are done before process 0 has said so.
            Some(0) if process > 0 => return None,
            _ => {}
        }
        // Process 0 may say more, or have said all.
        let until = Instant::now() + MOMENT;
        while let Ok((from, happened)) = self.happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match (from, happened) {
                (0, Happened::Said(Message::Ended(outcome))) => return Some(Ok(*outcome)),
                (from, Happened::Said(Message::Failed(Failure::Stopped(stop)))) => {
                    return Some(Err(self.stopped(from, stop, budget)));
                }
                (0, Happened::Said(Message::Failed(failure))) => return Some(Err(self.explained(failure, budget))),
                (0, Happened::Said(Message::Connected)) => self.is_connected = true,
                _ => {}
            }
        }
        let by_signal = self.killed();
        let why = match (by_signal, said.is_empty()) {
            (Some(_), _) => "its process was killed".to_owned(),
            (None, true) => "its process ended".to_owned(),
            (None, false) => return Some(Err(self.blamed(process, said))),
        };
        Some(Err(self.lost(by_signal.unwrap_or(process), why)))
    }

    /// A process that ended is lost; where it ended since it had lost another one, and says so, that one is.
    fn blamed(&self, process: usize, said: String) -> Failure {
        let others = self.launch.hosts.iter().enumerate().filter(|&(other, _)| other != process);
        let named = { others }.find_map(|(other, host)| {
            let why = said.strip_prefix(&format!("host {host} was lost: "))?;
            Some(self.lost(other, why.to_owned()))
        });
        named.unwrap_or_else(|| self.lost(process, said))
    }

    /// The first process that a signal ended.
    fn killed(&mut self) -> Option<usize> {
        let is_killed = |one: &mut Started| matches!(one.child.try_wait(), Ok(Some(status)) if status.code().is_none());
        self.started.iter_mut().position(is_killed)
    }

    /// A limit that ended a process from outside: an answer as any other limit, with the host, after which nothing is started again.
    fn stopped(&self, process: usize, stop: Stop, budget: &Budget) -> Failure {
        let stop = match (stop, budget.time_limit()) {
            (Stop::Time(_), Some(limit)) => Stop::new(&StopReason::TimeLimit(limit)),
            (stop, _) => stop.on(&self.launch.hosts[process].name),
        };
        Failure::Stopped(stop)
    }

    /// A failure that process 0 tells, with what is known of the process that was lost.
    fn explained(&mut self, failure: Failure, budget: &Budget) -> Failure {
        let Failure::Lost { host, why } = failure else { return failure };
        // The one that was lost may have said why, and was not heard yet.
        let until = Instant::now() + MOMENT;
        while let Ok((from, happened)) = self.happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Happened::Said(Message::Failed(Failure::Stopped(stop))) = happened {
                return self.stopped(from, stop, budget);
            }
        }
        match self.killed() {
            Some(process) => self.lost(process, "its process was killed".to_owned()),
            None => Failure::Lost { host, why },
        }
    }
}

/// An outcome with the limit that the user gave in the place of the one that the processes had.
fn within(mut outcome: Outcome, budget: &Budget) -> Outcome {
    if let (Some(Stop::Time(_)), Some(limit)) = (&outcome.stopped, budget.time_limit()) {
        outcome.stopped = Some(Stop::new(&StopReason::TimeLimit(limit)));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    fn launch(hosts: &str, is_tunnelled: bool) -> Launch {
        let hosts = file::parse(hosts).unwrap();
        Launch {
            hosts,
            here: Request::default(),
            elsewhere: Request::default(),
            is_tunnelled,
            is_kept: false,
            memory_bytes: None,
        }
    }

    /// Whatever the processes that lost it say first.
    #[test]
    fn a_limit_that_ended_a_process_is_no_loss() {
        let launch = launch("node1\nnode2", false);
        let (tell, happened) = mpsc::channel();
        let mut attempt = Attempt { launch: &launch, started: Vec::new(), happened, is_connected: true };
        let lost = Failure::Lost { host: "node2".to_owned(), why: "its process ended".to_owned() };
        let limit = Stop::new(&StopReason::MemoryLimit(64 << 20));
        let on_node2 = Failure::Stopped(limit.clone().on("node2"));
        let budget = Budget::unlimited();
        let told = || Happened::Said(Message::Failed(Failure::Stopped(limit.clone())));
        tell.send((1, told())).unwrap();
        assert_eq!(attempt.listen(&budget, &|_| {}).unwrap_err(), on_node2);
        tell.send((0, Happened::Said(Message::Failed(lost.clone())))).unwrap();
        tell.send((1, told())).unwrap();
        assert_eq!(attempt.listen(&budget, &|_| {}).unwrap_err(), on_node2);
        tell.send((0, Happened::Said(Message::Failed(lost.clone())))).unwrap();
        assert_eq!(attempt.listen(&budget, &|_| {}).unwrap_err(), lost);
    }

    #[test]
    fn local_is_reached_by_tunnels_alone() {
        assert!(launch("local\nlocal", false).allowed().is_ok());
        assert!(launch("node1\nnode2", false).allowed().is_ok());
        assert!(launch("local\nnode2", false).allowed().unwrap_err().contains("--tunnel ssh"));
        assert!(launch("local\nnode2", true).allowed().is_ok());
        assert!(launch("node1:7\nnode2:7", true).allowed().unwrap_err().contains("a port of its own"));
    }

    /// A process that has lost another one ends, too, and may be the first that is heard of.
    #[test]
    fn who_is_lost_is_named_by_who_lost_it() {
        let launch = launch("node1\nnode2\nnode3", false);
        let attempt = Attempt { launch: &launch, started: Vec::new(), happened: mpsc::channel().1, is_connected: true };
        let lost = |host: &str, why: &str| Failure::Lost { host: host.to_owned(), why: why.to_owned() };
        let said = "host node1 was lost: it gave no sign of life for 10 s";
        assert_eq!(attempt.blamed(1, said.to_owned()), lost("node1", "it gave no sign of life for 10 s"));
        assert_eq!(attempt.blamed(2, "no memory is left".to_owned()), lost("node3", "no memory is left"));
        assert_eq!(attempt.blamed(1, "host node9 was lost: x".to_owned()), lost("node2", "host node9 was lost: x"));
    }

    #[test]
    fn ssh_carries_the_ports_of_processes_before_and_the_own_one() {
        let launch = launch("local:7\nnode1:8\nnode1:9\nnode2:10", true);
        let words = |process: usize| launch.tunnels(process)[..].join(" ");
        assert_eq!(words(0), "");
        let forward = |port: u16| format!("127.0.0.1:{port}:127.0.0.1:{port}");
        let both = "-o ExitOnForwardFailure=yes";
        assert_eq!(words(1), format!("{both} -L {} -R {}", forward(8), forward(7)));
        assert_eq!(
            words(2),
            format!("{both} -L {} -R {}", forward(9), forward(7)),
            "a neighbour on the same host needs none"
        );
        assert_eq!(words(3), format!("{both} -R {} -R {} -R {}", forward(7), forward(8), forward(9)));
    }
}
