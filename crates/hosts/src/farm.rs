//! Many independent questions on many hosts.
//!
//! In: hosts with their slots, and questions, each with its weight and the call that answers it. Out: what each call printed, in the order of the
//! questions. The heaviest question is dealt out first, one to each slot. A host that dies, or stands still long after the limit of its question, gives its question back: it is asked once
//! more, on another host.

use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base::CancelToken;

use crate::call::{Called, Ended, Killer, Request};
use crate::file::Host;

/// How often a question is asked, the first time included.
const ATTEMPTS: usize = 2;

/// The status with which ssh says that the host was not reached, or lost.
const SSH_LOST: i32 = 255;

/// The statuses with which piecewise ends; a shell says others, of a process that a signal ended or that is not there.
const OWN_STATUSES: std::ops::RangeInclusive<i32> = 0..=4;

/// The statuses with which a shell says that a program could not be started.
const NOT_STARTED: std::ops::RangeInclusive<i32> = 126..=127;

/// How long after the time limit of its question a host may answer, before it is taken for lost.
const GRACE: Duration = Duration::from_secs(30);

/// How often cancellation is looked for.
const GLANCE: Duration = Duration::from_millis(50);

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Heavier ones are dealt out first.
    pub weight: i64,
    /// The call that answers it on this machine.
    pub here: Request,
    /// The call that answers it elsewhere, with the files that it needs.
    pub elsewhere: Request,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A host answered.
    Answered(Ended),
    /// The hosts that were asked died; why the last one did.
    Lost {
        /// The host.
        host: String,
        /// What it said last.
        why: String,
    },
    /// The user wanted to end.
    Cancelled,
}

/// Asks a host.
pub trait Asker: Sync {
    /// The answer of a host, or why it died. The killer is shown as soon as there is one.
    ///
    /// # Errors
    /// Why the host died.
    fn ask(&self, host: &Host, question: &Question, started: &dyn Fn(Killer)) -> Result<Ended, Death>;

    /// A host died, and its question goes to another one.
    fn asks_again(&self, _host: &Host, _death: &Death) {}

    /// So many of all questions have an outcome.
    fn answered(&self, _n_answered: usize, _n_questions: usize) {}
}

/// Why a host gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// In words.
    pub why: String,
    /// Whether the host itself is out of reach, so that it is not asked again.
    pub is_unreachable: bool,
}

/// Asks by ssh, or a child of this process.
pub struct ByCall<'n> {
    /// The time limit of each question, if there is one.
    pub time_limit: Option<Duration>,
    /// Hears of each question that is asked again, in a sentence.
    pub asked_again: &'n (dyn Fn(&str) + Sync),
    /// Hears how many of all questions are answered.
    pub answered: &'n (dyn Fn(usize, usize) + Sync),
}

impl Asker for ByCall<'_> {
    fn ask(&self, host: &Host, question: &Question, started: &dyn Fn(Killer)) -> Result<Ended, Death> {
        let request = if host.is_local() { &question.here } else { &question.elsewhere };
        let called = Called::start(host, request).map_err(|why| Death { why, is_unreachable: true })?;
        started(called.killer());
        let patience = self.time_limit.map(|limit| limit + GRACE);
        let (ended, is_late) = wait_at_most(called, patience);
        if is_late {
            let why = "it gave no answer long after the time limit of its question".to_owned();
            return Err(Death { why, is_unreachable: true });
        }
        match ended.status {
            Some(SSH_LOST) if !host.is_local() => {
                Err(Death { why: last_line(&ended.messages, "the connection was lost"), is_unreachable: true })
            }
            Some(status) if OWN_STATUSES.contains(&status) => Ok(ended),
            Some(status) if NOT_STARTED.contains(&status) => {
                let why = last_line(&ended.messages, "piecewise could not be started there");
                Err(Death { why, is_unreachable: true })
            }
            // A signal ended it; where a shell stands between, it says so by a status above 128.
            _ => Err(Death { why: "its process was killed".to_owned(), is_unreachable: false }),
        }
    }

    fn asks_again(&self, host: &Host, death: &Death) {
        (self.asked_again)(&format!("host {host} was lost: {}; its question is asked again elsewhere", death.why));
    }

    fn answered(&self, n_answered: usize, n_questions: usize) {
        (self.answered)(n_answered, n_questions);
    }
}

/// Waits until a call ends, and ends it where that takes longer than it may; whether it did.
fn wait_at_most(called: Called, patience: Option<Duration>) -> (Ended, bool) {
    let Some(patience) = patience else { return (called.wait(), false) };
    let (killer, (ended, end)) = (called.killer(), mpsc::channel::<()>());
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let is_late = end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
            if is_late {
                killer.kill();
            }
            is_late
        });
        let answer = called.wait();
        drop(ended);
        (answer, watch.join().unwrap_or(false))
    })
}

fn last_line(text: &str, otherwise: &str) -> String {
    text.lines().last().map_or(otherwise, |line| line.trim().trim_start_matches("error: ")).to_owned()
}

/// The hosts that can be asked.
#[derive(Clone, Debug)]
pub struct Reached {
    /// Those that answer.
    pub hosts: Vec<Host>,
    /// A sentence for each of the others.
    pub notes: Vec<String>,
}

/// What a host says when it is asked for its version.
enum Greeted {
    Same,
    Unreachable(String),
    Other(String),
}

/// Asks each host for its version, all at once, before anything else. A host that is out of reach is left out.
///
/// # Errors
/// A sentence for each host that has another version, or that no host is within reach.
pub fn compare_versions(hosts: Vec<Host>) -> Result<Reached, Vec<String>> {
    let greeted: Vec<Greeted> = thread::scope(|scope| {
        let asked: Vec<_> = hosts.iter().map(|host| scope.spawn(move || greet(host))).collect();
        let lost = || Greeted::Unreachable("a host could not be asked".to_owned());
        asked.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let (mut reached, mut wrong) = (Reached { hosts: Vec::new(), notes: Vec::new() }, Vec::new());
    for (host, greeted) in hosts.into_iter().zip(greeted) {
        match greeted {
            Greeted::Same => reached.hosts.push(host),
            Greeted::Unreachable(why) => reached.notes.push(why),
            Greeted::Other(why) => wrong.push(why),
        }
    }
    if reached.hosts.is_empty() && wrong.is_empty() {
        return Err(reached.notes);
    }
    if wrong.is_empty() { Ok(reached) } else { Err(wrong) }
}

fn greet(host: &Host) -> Greeted {
    if host.is_local() && host.program.is_none() {
        return Greeted::Same;
    }
    let ended = match Called::start(host, &Request::new(Vec::new())) {
        Ok(called) => called.wait(),
        Err(why) => return Greeted::Unreachable(why),
    };
    let said = format!("host {host}: {}", last_line(&ended.messages, "piecewise could not be started there"));
    match (ended.status, ended.output.trim()) {
        (Some(0), version) if version == crate::call::version() => Greeted::Same,
        (Some(0), version) => Greeted::Other(crate::call::other_version(&format!("host {host}"), version)),
        (Some(2), _) => Greeted::Other(said),
        _ => Greeted::Unreachable(said),
    }
}

/// What the slots share.
struct Deal {
    /// Questions that wait, the heaviest first.
    waiting: VecDeque<usize>,
    /// By question: how often it was asked, and the host that died of it.
    asked: Vec<(usize, Option<usize>)>,
    outcomes: Vec<Option<Outcome>>,
    /// By host: whether it is asked no more.
    dead: Vec<bool>,
    /// Who runs now.
    killers: Vec<Option<Killer>>,
    is_cancelled: bool,
}

/// Deals questions out, and waits for the answers.
pub fn deal(hosts: &[Host], questions: &[Question], asker: &dyn Asker, cancel: &CancelToken) -> Vec<Outcome> {
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by_key(|&question| std::cmp::Reverse(questions[question].weight));
    let deal = Deal {
        waiting: order.into(),
        asked: vec![(0, None); questions.len()],
        outcomes: vec![None; questions.len()],
        dead: vec![false; hosts.len()],
        killers: vec![None; questions.len()],
        is_cancelled: false,
    };
    let table = Table { hosts, questions, asker, deal: Mutex::new(deal), changed: Condvar::new() };
    thread::scope(|scope| {
        for (at, host) in hosts.iter().enumerate() {
            for _ in 0..host.slots {
                let table = &table;
                scope.spawn(move || table.serve(at));
            }
        }
        scope.spawn(|| table.watch(cancel));
    });
    let outcomes = table.deal.into_inner().unwrap_or_else(PoisonError::into_inner).outcomes;
    outcomes.into_iter().map(|outcome| outcome.unwrap_or(Outcome::Cancelled)).collect()
}

struct Table<'t> {
    hosts: &'t [Host],
    questions: &'t [Question],
    asker: &'t dyn Asker,
    deal: Mutex<Deal>,
    changed: Condvar,
}

impl Table<'_> {
    fn lock(&self) -> MutexGuard<'_, Deal> {
        self.deal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One slot of a host: question after question, until there are none.
    fn serve(&self, host: usize) {
        while let Some(question) = self.next(host) {
            let started = |killer: Killer| {
                let mut deal = self.lock();
                if deal.is_cancelled {
                    killer.kill();
                }
                deal.killers[question] = Some(killer);
            };
            let answer = self.asker.ask(&self.hosts[host], &self.questions[question], &started);
            let mut deal = self.lock();
            deal.killers[question] = None;
            match answer {
                _ if deal.is_cancelled => deal.outcomes[question] = Some(Outcome::Cancelled),
                Ok(ended) => deal.outcomes[question] = Some(Outcome::Answered(ended)),
                Err(death) => {
                    deal.dead[host] |= death.is_unreachable;
                    deal.asked[question].1 = Some(host);
                    let others = (0..self.hosts.len()).any(|other| other != host && !deal.dead[other]);
                    match others && deal.asked[question].0 < ATTEMPTS {
                        true => {
                            self.asker.asks_again(&self.hosts[host], &death);
                            deal.waiting.push_front(question);
                        }
                        false => {
                            let host = self.hosts[host].name.clone();
                            deal.outcomes[question] = Some(Outcome::Lost { host, why: death.why });
                        }
                    }
                    self.give_up_on_what_nobody_can_answer(&mut deal);
                }
            }
            let n_answered = deal.outcomes.iter().filter(|outcome| outcome.is_some()).count();
            self.asker.answered(n_answered, deal.outcomes.len());
            self.changed.notify_all();
        }
    }

    /// The next question for a host; waits where others may give one back.
    fn next(&self, host: usize) -> Option<usize> {
        let mut deal = self.lock();
        loop {
            if deal.is_cancelled || deal.dead[host] || deal.outcomes.iter().all(Option::is_some) {
                return None;
            }
            let fits = |&question: &usize| deal.asked[question].1 != Some(host);
            if let Some(at) = deal.waiting.iter().position(fits) {
                let question = deal.waiting.remove(at)?;
                deal.asked[question].0 += 1;
                return Some(question);
            }
            deal = self.changed.wait(deal).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Where the last host that could answer a question dies, it is lost.
    fn give_up_on_what_nobody_can_answer(&self, deal: &mut Deal) {
        let is_left = |question: usize| {
            (0..self.hosts.len()).any(|host| !deal.dead[host] && deal.asked[question].1 != Some(host))
        };
        let (waiting, lost): (VecDeque<usize>, VecDeque<usize>) =
            deal.waiting.iter().partition(|&&question| is_left(question));
        for question in lost {
            let host = deal.asked[question].1.map_or("of the file", |host| &self.hosts[host].name).to_owned();
            deal.outcomes[question] = Some(Outcome::Lost { host, why: "no other host is left".to_owned() });
        }
        deal.waiting = waiting;
    }

    /// Ends everything when the user wants to end.
    fn watch(&self, cancel: &CancelToken) {
        let mut deal = self.lock();
        while !deal.outcomes.iter().all(Option::is_some) {
            if cancel.is_cancelled() {
                deal.is_cancelled = true;
                deal.killers.iter().flatten().for_each(Killer::kill);
                self.changed.notify_all();
                return;
            }
            let waited = self.changed.wait_timeout(deal, GLANCE);
            deal = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    /// Answers with the name of the host; hosts named `dead…` are out of reach, and `frail…` lose every process.
    struct Pretended {
        asked: Mutex<Vec<(String, i64)>>,
        /// How many of all questions were answered, as it was told.
        answered: Mutex<Vec<(usize, usize)>>,
    }

    impl Asker for Pretended {
        fn ask(&self, host: &Host, question: &Question, _started: &dyn Fn(Killer)) -> Result<Ended, Death> {
            self.asked.lock().unwrap().push((host.name.clone(), question.weight));
            let is_unreachable = host.name.starts_with("dead");
            match is_unreachable || host.name.starts_with("frail") {
                true => Err(Death { why: "gone".into(), is_unreachable }),
                false => Ok(Ended { status: Some(0), output: host.name.clone(), messages: String::new() }),
            }
        }

        fn answered(&self, n_answered: usize, n_questions: usize) {
            self.answered.lock().unwrap().push((n_answered, n_questions));
        }
    }

    fn dealt(hosts: &str, weights: &[i64]) -> (Vec<String>, Vec<(String, i64)>) {
        let hosts = file::parse(hosts).unwrap();
        let question = |&weight: &i64| Question { weight, here: Request::default(), elsewhere: Request::default() };
        let questions: Vec<Question> = weights.iter().map(question).collect();
        let asker = Pretended { asked: Mutex::default(), answered: Mutex::default() };
        let outcomes = deal(&hosts, &questions, &asker, &CancelToken::default());
        let answered = asker.answered.into_inner().unwrap();
        assert!(answered.is_sorted() && answered.last() == Some(&(weights.len(), weights.len())), "{answered:?}");
        let said = |outcome: &Outcome| match outcome {
            Outcome::Answered(ended) => ended.output.clone(),
            Outcome::Lost { host, why } => format!("{host}: {why}"),
            Outcome::Cancelled => "cancelled".to_owned(),
        };
        (outcomes.iter().map(said).collect(), asker.asked.into_inner().unwrap())
    }

    #[test]
    fn the_heaviest_is_asked_first_and_answers_stand_in_the_order_of_the_questions() {
        let (answers, asked) = dealt("local", &[2, 9, 4]);
        assert_eq!(answers, ["local"; 3]);
        assert_eq!(asked.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), [9, 4, 2]);
    }

    #[test]
    fn a_question_of_a_dead_host_is_asked_once_more_elsewhere() {
        let (answers, asked) = dealt("dead1\nlocal slots=2", &[1, 2, 3, 4, 5]);
        assert_eq!(answers, ["local"; 5]);
        assert!(asked.iter().filter(|(host, _)| host == "dead1").count() <= 1, "{asked:?}");
        let (answers, asked) = dealt("frail1\nfrail2", &[1]);
        assert!(answers[0].ends_with(": gone"), "{answers:?}");
        assert_eq!(asked.len(), 2);
        assert_ne!(asked[0].0, asked[1].0);
        let (answers, _) = dealt("dead1", &[1, 2, 3]);
        assert!(
            answers.iter().all(|answer| answer.starts_with("dead1: ") || answer.starts_with("of the file")),
            "{answers:?}"
        );
    }

    /// A host whose program is a script.
    #[cfg(unix)]
    fn asked(script: &str, patience: Option<Duration>) -> Result<Ended, Death> {
        let place = crate::call::Unpacked::new().unwrap();
        let request = Request {
            files: vec![crate::call::SentFile { name: "program".into(), text: format!("#!/bin/sh\n{script}\n") }],
            ..Request::default()
        };
        request.unpack(place.path()).unwrap();
        let program = place.path().join("program");
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let host = file::parse(&format!("local program={}", program.display())).unwrap().remove(0);
        let question = Question { weight: 0, here: Request::default(), elsewhere: Request::default() };
        match patience {
            None => {
                ByCall { time_limit: None, asked_again: &|_| (), answered: &|_, _| () }.ask(&host, &question, &|_| ())
            }
            Some(patience) => {
                let (ended, is_late) = wait_at_most(Called::start(&host, &question.here).unwrap(), Some(patience));
                assert_eq!(is_late, ended.status.is_none(), "{ended:?}");
                Ok(ended)
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_shell_says_of_a_killed_process_is_no_answer() {
        assert_eq!(asked("exit 3", None).unwrap().status, Some(3));
        for script in ["kill -9 $$", "exit 137", "sh -c 'kill -9 $$'; exit $?"] {
            let death = asked(script, None).unwrap_err();
            assert_eq!((death.why.as_str(), death.is_unreachable), ("its process was killed", false), "{script}");
        }
        let death = asked("echo 'no such program' >&2; exit 127", None).unwrap_err();
        assert_eq!((death.why.as_str(), death.is_unreachable), ("no such program", true));
    }

    #[cfg(unix)]
    #[test]
    fn a_host_that_stands_still_is_not_waited_for() {
        let moment = Some(Duration::from_millis(300));
        assert_eq!(asked("exec sleep 600", moment).unwrap().status, None);
        assert_eq!(asked("exit 1", Some(GRACE)).unwrap().status, Some(1));
    }

    #[test]
    fn who_wants_to_end_ends() {
        let cancel = CancelToken::default();
        cancel.cancel();
        let hosts = file::parse("local").unwrap();
        let nobody = ByCall { time_limit: None, asked_again: &|_| (), answered: &|_, _| () };
        assert!(deal(&hosts, &[], &nobody, &cancel).is_empty());
    }
}
