//! Progress on the standard error while an engine runs.
//!
//! In: the engine's events. Out: a line redrawn in place on a terminal, a plain line every few seconds elsewhere, or one JSON
//! object a line. Short runs show nothing, except as JSON.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::{Event, Observer, PropertyId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::Model;
use report::numbers::{bytes, count, counted, duration, rate};
use serde_json::json;

use crate::options::ProgressMode;
use crate::terminal;

/// A run that is over by then shows nothing on a terminal.
pub const PATIENCE: Duration = Duration::from_millis(400);

/// The time between plain lines; the first comes after one such time.
pub const INTERVAL: Duration = Duration::from_secs(3);

/// Elsewhere, verdicts of a run that is over by then are not announced: what is printed at its end says them.
const PLAIN_PATIENCE: Duration = Duration::from_secs(1);

/// How progress is shown in this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not at all.
    Silent,
    /// Redrawn in place.
    Terminal,
    /// A line now and then.
    Plain,
    /// One JSON object for each event.
    Json,
}

impl Progress {
    /// What the options ask for; `auto` looks at the standard error, and says nothing where the user wants quiet.
    pub fn new(mode: ProgressMode, quiet: bool) -> Self {
        match mode {
            ProgressMode::None => Progress::Silent,
            ProgressMode::Plain => Progress::Plain,
            ProgressMode::Json => Progress::Json,
            ProgressMode::Auto if quiet => Progress::Silent,
            ProgressMode::Auto if io::stderr().is_terminal() => Progress::Terminal,
            ProgressMode::Auto => Progress::Plain,
        }
    }

    /// Watches the run of one program.
    pub fn watch<'m>(self, model: &'m Model, n_questions: usize, limit: Option<Duration>) -> Watcher<'m> {
        self.watch_one_of(model, (1, 1), n_questions, limit)
    }

    /// Watches the run of the nth of several programs or instances.
    pub fn watch_one_of<'m>(
        self,
        model: &'m Model,
        position: (usize, usize),
        n_questions: usize,
        limit: Option<Duration>,
    ) -> Watcher<'m> {
        let now = Instant::now();
        let seen = LastShown {
            states: 0,
            at: now,
            decided: BTreeSet::new(),
            next_line: now + INTERVAL,
            waiting: Vec::new(),
            bar: None,
        };
        let seen = Mutex::new(seen);
        let watcher = Watcher { progress: self, model, position, n_questions, limit, started: now, seen };
        if self == Progress::Json {
            let (nth, of) = position;
            watcher.emit(json!({"event": "start", "properties": n_questions, "run": nth, "runs": of}));
        }
        watcher
    }
}

/// Shows the events of one run; what is on the terminal goes when it is dropped.
pub struct Watcher<'m> {
    progress: Progress,
    model: &'m Model,
    /// Which of how many runs of the call it is.
    position: (usize, usize),
    n_questions: usize,
    limit: Option<Duration>,
    started: Instant,
    seen: Mutex<LastShown>,
}

/// What was shown last.
struct LastShown {
    /// States at the last event, for the rate.
    states: u64,
    /// When the last event was.
    at: Instant,
    /// Questions that are decided.
    decided: BTreeSet<PropertyId>,
    /// Verdicts that are to be announced if the run is not a short one.
    waiting: Vec<String>,
    /// When the next plain line is due.
    next_line: Instant,
    /// The line on the terminal, once the run is not a short one.
    bar: Option<ProgressBar>,
}

impl Observer for Watcher<'_> {
    fn event(&self, event: Event) {
        if self.progress == Progress::Silent {
            return;
        }
        let mut seen = self.seen();
        if let Event::Decided(property) = event {
            seen.decided.insert(property);
        }
        if self.progress == Progress::Json {
            return self.emit(self.as_json(&event));
        }
        let now = Instant::now();
        let states = match event {
            Event::Searching { states, .. } => states,
            Event::Proving { .. } => 0,
            Event::Decided(_) => return,
        };
        let elapsed = now.duration_since(seen.at).as_secs_f64();
        let per_second = states.saturating_sub(seen.states) as f64 / elapsed.max(1e-3);
        let [search, means] = self.words(&event, per_second, seen.decided.len(), now.duration_since(self.started));
        self.announce_waiting(&mut seen);
        (seen.states, seen.at) = (states, now);
        if self.progress == Progress::Terminal {
            self.redraw(&mut seen, search, format!("{means}; Ctrl-C keeps what is done"));
        } else if now >= seen.next_line {
            seen.next_line = now + INTERVAL;
            terminal::complain(&format!("{search}, {means}\n"));
        }
    }
}

impl Watcher<'_> {
    /// A thread that panicked while it held the lock ended the process, so what is seen is whole.
    fn seen(&self) -> MutexGuard<'_, LastShown> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces a verdict while others are open; at once where the run is not a short one.
    pub fn announce(&self, property: PropertyId, line: String) {
        let mut seen = self.seen();
        seen.decided.insert(property);
        if matches!(self.progress, Progress::Terminal | Progress::Plain) && seen.decided.len() < self.n_questions.max(2)
        {
            seen.waiting.push(line);
            self.announce_waiting(&mut seen);
        }
    }

    fn announce_waiting(&self, seen: &mut LastShown) {
        let patience = if self.progress == Progress::Terminal { PATIENCE } else { PLAIN_PATIENCE };
        if self.started.elapsed() < patience {
            return;
        }
        for line in seen.waiting.drain(..) {
            match &seen.bar {
                Some(bar) => bar.suspend(|| terminal::complain(&line)),
                None => terminal::complain(&line),
            }
        }
    }

    /// Two lines, since all of it is wider than a usual terminal.
    fn redraw(&self, seen: &mut LastShown, search: String, means: String) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = seen.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}\n  {prefix}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(search);
        bar.set_prefix(means);
    }

    /// How far the search is, and what it has used and decided.
    fn words(&self, event: &Event, per_second: f64, n_decided: usize, elapsed: Duration) -> [String; 2] {
        let (search, memory_bytes) = match *event {
            Event::Searching { states, frontier, depth, memory_bytes } => {
                let states = counted(states, "state", "states");
                let (frontier, depth) = (count(frontier), count(depth));
                (format!("{states} (+{}), frontier {frontier}, depth {depth}", rate(per_second)), memory_bytes)
            }
            Event::Proving { rounds, exposed, nodes, memory_bytes } => {
                let exposed = match exposed {
                    0 => String::new(),
                    n => format!(", {} exposed", counted(n, "fact", "facts")),
                };
                (format!("round {}{exposed}, {}", count(rounds), counted(nodes, "node", "nodes")), memory_bytes)
            }
            Event::Decided(_) => return Default::default(),
        };
        let time = match self.limit {
            Some(limit) => format!("{} of {}", duration(elapsed), duration(limit)),
            None => duration(elapsed),
        };
        let decided = match self.n_questions {
            0 => String::new(),
            n => format!(", {n_decided} of {} decided", counted(n as u64, "property", "properties")),
        };
        [format!("{}: {search}", self.title()), format!("{}, {time}{decided}", bytes(memory_bytes))]
    }

    fn title(&self) -> String {
        let parameters = self.model.numbers().map(|(name, value)| format!(" {name} = {value}"));
        let position = match self.position {
            (_, 1) => String::new(),
            (nth, of) => format!(" ({nth} of {of})"),
        };
        format!("{}{}{position}", self.model.name, parameters.collect::<Vec<_>>().join(","))
    }

    fn as_json(&self, event: &Event) -> serde_json::Value {
        match event {
            Event::Searching { states, frontier, depth, memory_bytes } => json!({
                "event": "searching",
                "states": states,
                "frontier": frontier,
                "depth": depth,
                "memory_bytes": memory_bytes,
            }),
            Event::Proving { rounds, exposed, nodes, memory_bytes } => json!({
                "event": "proving",
                "rounds": rounds,
                "exposed": exposed,
                "nodes": nodes,
                "memory_bytes": memory_bytes,
            }),
            Event::Decided(property) => {
                json!({"event": "decided", "property": self.model.properties[*property].name})
            }
        }
    }

    /// Writes one event with what all events have.
    fn emit(&self, mut event: serde_json::Value) {
        let parameters: serde_json::Map<_, _> =
            self.model.numbers().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        event["model"] = json!(self.model.name);
        event["parameters"] = json!(parameters);
        event["seconds"] = json!(self.started.elapsed().as_secs_f64());
        terminal::complain(&format!("{event}\n"));
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.seen().bar.take() {
            bar.finish_and_clear();
        }
        if self.progress == Progress::Json {
            self.emit(json!({"event": "end"}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watcher(model: &Model) -> Watcher<'_> {
        Progress::Plain.watch(model, 3, Some(Duration::from_secs(600)))
    }

    fn model() -> Model {
        let size = model::Parameter { name: "N".into(), value: 4, least: 1, greatest: None, given: true };
        let parameters = [size].into_iter().collect();
        Model { name: "lock".into(), parameters, ..Model::default() }
    }

    #[test]
    fn a_line_says_how_far_the_search_is() {
        let event = Event::Searching { states: 31_200, frontier: 1_234, depth: 12, memory_bytes: 212_000_000 };
        let [search, means] = watcher(&model()).words(&event, 1_900.0, 2, Duration::from_secs(42));
        assert_eq!(search, "lock N = 4: 31 200 states (+1 900/s), frontier 1 234, depth 12");
        assert_eq!(means, "212 MB, 42 s of 10 min 00 s, 2 of 3 properties decided");
    }

    #[test]
    fn a_line_says_which_of_several_runs_it_is() {
        let model = model();
        let watcher = Progress::Plain.watch_one_of(&model, (3, 19), 1, None);
        let event = Event::Proving { rounds: 3, exposed: 0, nodes: 7, memory_bytes: 1 };
        let [search, _] = watcher.words(&event, 0.0, 0, Duration::ZERO);
        assert_eq!(search, "lock N = 4 (3 of 19): round 3, 7 nodes");
    }

    #[test]
    fn a_line_says_how_far_a_local_proof_is() {
        let event = Event::Proving { rounds: 3, exposed: 12, nodes: 31_200, memory_bytes: 1_300_000 };
        let [search, _] = watcher(&model()).words(&event, 0.0, 2, Duration::from_secs(42));
        assert_eq!(search, "lock N = 4: round 3, 12 facts exposed, 31 200 nodes");
    }

    #[test]
    fn events_are_json_objects_with_stable_names() {
        let model = model();
        let event = Event::Searching { states: 7, frontier: 2, depth: 1, memory_bytes: 64 };
        let json = watcher(&model).as_json(&event);
        assert_eq!(json.to_string(), r#"{"event":"searching","states":7,"frontier":2,"depth":1,"memory_bytes":64}"#);
    }

    #[test]
    fn quiet_runs_have_no_progress_unless_it_is_asked_for() {
        assert_eq!(Progress::new(ProgressMode::Auto, true), Progress::Silent);
        assert_eq!(Progress::new(ProgressMode::Json, true), Progress::Json);
        assert_eq!(Progress::new(ProgressMode::None, false), Progress::Silent);
    }
}
