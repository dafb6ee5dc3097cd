//! What SPIN says about a program: `spin -a`, the compiler and `pan`, in a folder of their own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lang::promela::Includes;
use testkit::promela::PromelaQuestion;

/// The longest time for one call.
const MOST_SECONDS: u64 = 20;
/// The most memory for one call, and the most that it may write: a verifier that passes over errors tells each of them.
const MOST_KILOBYTES: u64 = 3 << 20;
const MOST_OUTPUT: u64 = 32 << 20;
/// What the shell counts the sizes of files in.
const OUTPUT_BLOCK: u64 = 512;
/// The shell sets both limits and becomes the program.
const WITHIN_LIMITS: &str = "ulimit -v \"$1\"; ulimit -f \"$2\"; shift 2; exec \"$@\"";
/// The compilers that are tried, the quickest first: most of the time goes into compiling what is then run for milliseconds.
const COMPILERS: &[&str] = &["tcc", "cc"];
/// What the generated verifier is compiled with.
const COMPILED: &[&str] = &["-O0", "-w", "-DNOREDUCE", "-DVECTORSZ=8192", "-DNFAIR=3", "-DMEMLIM=1000", "-o"];

/// How deep `pan` searches, with a small table.
const SEARCH: &[&str] = &["-m200000", "-w16"];

/// What `pan` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanReport {
    /// States and transitions, where the search was not stopped by an error that it cannot pass over.
    pub counts: Option<SpinCounts>,
    /// Whether an assertion fails, or another error is found.
    pub errors: bool,
    /// Whether there is an invalid end state.
    pub end_states: bool,
    /// Whether what is asked is violated, without and with weak fairness, question by question.
    pub asked: Vec<[bool; 2]>,
}

/// What is asked besides assertions and end states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpinQuestion {
    /// A claim, by its name where there are several.
    Claim(Option<String>),
    /// `accept` labels.
    Acceptance,
    /// `progress` labels.
    Progress,
}

impl From<&PromelaQuestion> for SpinQuestion {
    fn from(asked: &PromelaQuestion) -> SpinQuestion {
        match asked {
            PromelaQuestion::Ltl(_) | PromelaQuestion::Never(_) => SpinQuestion::Claim(None),
            PromelaQuestion::Acceptance => SpinQuestion::Acceptance,
            PromelaQuestion::Progress => SpinQuestion::Progress,
        }
    }
}

/// A program for SPIN: its text, the files that it includes, what is given to its preprocessor.
#[derive(Clone, Copy, Debug)]
pub struct SpinProgram<'t> {
    pub text: &'t str,
    pub includes: &'t Includes,
    pub flags: &'t [String],
}

/// States and transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinCounts {
    pub states: u64,
    pub transitions: u64,
}

/// Why SPIN says nothing.
#[derive(Clone, Debug)]
pub enum Silence {
    /// It does not accept the program.
    Refused(String),
    /// The search was not completed.
    NotCompleted,
}

/// Whether SPIN and a compiler are installed.
pub fn is_installed() -> bool {
    runs("spin", "-V") && compiler().is_some()
}

fn runs(name: &str, flag: &str) -> bool {
    Command::new(name).arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The first compiler that is installed.
fn compiler() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    *FOUND.get_or_init(|| COMPILERS.iter().copied().find(|name| runs(name, "-v")))
}

/// Writes a program to a folder of its own, and makes its verifier with these options of `spin`.
fn prepared(given: SpinProgram<'_>, options: &[&str]) -> Result<TemporaryFolder, Silence> {
    let refused = |why: &str| Silence::Refused(why.to_owned());
    let folder = TemporaryFolder::new().ok_or_else(|| refused("there is no folder for it"))?;
    for (name, text) in given.includes.iter().map(|(name, text)| (&**name, &**text)).chain([("m.pml", given.text)]) {
        let path = folder.path.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|_| refused("its file cannot be written"))?;
    }
    let macros = given.flags.iter().map(String::as_str);
    let flags: Vec<&str> =
        { ["-a"].into_iter() }.chain(options.iter().copied()).chain(macros).chain(["m.pml"]).collect();
    let made = call(&folder.path, "spin", &flags).ok_or_else(|| refused("spin does not end"))?;
    if !made.is_fine || made.text.contains("error:") || !folder.path.join("pan.c").exists() {
        return Err(Silence::Refused(first_error(&made.text)));
    }
    Ok(folder)
}

/// What is printed of an error that `pan` finds.
#[derive(Clone, Debug)]
pub struct PrintedTrail {
    /// What was asked, and who prints.
    pub what: String,
    /// The property that it violates.
    pub shows: String,
    pub text: String,
}

/// What `spin -t -p` and `pan -r` print of what is found: of a failed assertion, an invalid end state, and each question with its property.
pub fn trails(given: SpinProgram<'_>, asks: &[(String, SpinQuestion)]) -> Result<Vec<PrintedTrail>, Silence> {
    // With statements taken together, as SPIN does of itself.
    let folder = prepared(given, &[])?;
    let folder = &folder.path;
    let mut found = Vec::new();
    let safety: &[&str] = &["-DSAFETY", "-DNOCLAIM"];
    let mut searches =
        vec![("no_errors".to_owned(), safety, vec!["-E"]), ("deadlock_free".to_owned(), safety, vec!["-A"])];
    for (name, question) in asks {
        let (compiled, flags): (&[&str], Vec<&str>) = match question {
            SpinQuestion::Claim(None) => (&[], vec!["-a", "-E"]),
            SpinQuestion::Claim(Some(claim)) => (&[], vec!["-a", "-E", "-N", claim]),
            SpinQuestion::Acceptance => (&["-DNOCLAIM"], vec!["-a", "-E"]),
            SpinQuestion::Progress => (&["-DNP", "-DNOCLAIM"], vec!["-l", "-E"]),
        };
        searches.push((name.clone(), compiled, flags));
    }
    let mut compiled = None;
    for (shows, wanted, flags) in searches {
        if compiled != Some(wanted) {
            compile(folder, "pan", wanted)?;
            compiled = Some(wanted);
        }
        let trail = folder.join("m.pml.trail");
        let _ = fs::remove_file(&trail);
        let search: Vec<&str> = SEARCH.iter().chain(&flags).copied().collect();
        let said = call(folder, "./pan", &search).ok_or(Silence::NotCompleted)?;
        // Another error may be found first.
        let is_meant = match &*shows {
            "no_errors" => true,
            "deadlock_free" => said.text.contains("invalid end state (at"),
            _ => {
                let found =
                    ["acceptance cycle (at", "non-progress cycle (at", "claim violated", "assertion violated  !("];
                found.iter().any(|words| said.text.contains(words)) || said.text.contains("end state in claim")
            }
        };
        if !trail.exists() || !is_meant {
            continue;
        }
        let macros = given.flags.iter().map(String::as_str);
        let spin: Vec<&str> = ["-t", "-p"].into_iter().chain(macros).chain(["m.pml"]).collect();
        // Of non-progress cycles `pan -r` does not find the steps itself.
        let is_progress = flags.contains(&"-l");
        let printers = [Some(("spin", spin)), (!is_progress).then(|| ("./pan", vec!["-r"]))];
        for (program, flags) in printers.into_iter().flatten() {
            if let Some(printed) = call(folder, program, &flags) {
                let what = format!("{shows} by {}", program.trim_start_matches("./"));
                found.push(PrintedTrail { what, shows: shows.clone(), text: printed.text });
            }
        }
    }
    Ok(found)
}

/// Asks SPIN about a program.
pub fn ask(given: SpinProgram<'_>, questions: &[SpinQuestion]) -> Result<PanReport, Silence> {
    let folder = prepared(given, &["-o1", "-o2", "-o3"])?;
    let folder = &folder.path;
    compile(folder, "pan", &["-DSAFETY", "-DNOCLAIM"])?;
    let search = |flags: &[&str]| call(folder, "./pan", &[SEARCH, flags].concat()).ok_or(Silence::NotCompleted);
    let listed = search(&["-E", "-A", "-c0"])?;
    let counts = match listed.n_errors() {
        Some(0) => listed.counts(),
        _ => None,
    };
    let errors = search(&["-E"])?;
    let ends = search(&["-A"])?;
    if [&listed, &errors, &ends].iter().any(|call| call.is_cut()) {
        return Err(Silence::NotCompleted);
    }
    let n_errors = errors.n_errors().ok_or_else(|| Silence::Refused(first_error(&errors.text)))?;
    let end_states = ends.text.contains("invalid end state (at");
    let mut asked = Vec::new();
    let mut compiled = None;
    for question in questions {
        asked.push(claim(folder, question, &mut compiled)?);
    }
    Ok(PanReport { counts, errors: n_errors > 0, end_states, asked })
}

/// A folder that is removed in the end.
struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    fn new() -> Option<TemporaryFolder> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("promela-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).ok()?;
        Some(TemporaryFolder { path })
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What `pan` says about a question; `compiled` is how it was compiled last.
fn claim(
    folder: &Path,
    question: &SpinQuestion,
    compiled: &mut Option<&'static [&'static str]>,
) -> Result<[bool; 2], Silence> {
    let (wanted, flag): (&'static [&'static str], &str) = match question {
        SpinQuestion::Claim(_) => (&[], "-a"),
        SpinQuestion::Acceptance => (&["-DNOCLAIM"], "-a"),
        SpinQuestion::Progress => (&["-DNP"], "-l"),
    };
    if *compiled != Some(wanted) {
        compile(folder, "claim", wanted)?;
        *compiled = Some(wanted);
    }
    let name: &[&str] = match question {
        SpinQuestion::Claim(Some(name)) => &["-N", name],
        _ => &[],
    };
    let mut found = [false; 2];
    for (at, fair) in [None, Some("-f")].into_iter().enumerate() {
        let flags: Vec<&str> =
            SEARCH.iter().copied().chain([flag, "-E"]).chain(fair).chain(name.iter().copied()).collect();
        let call = call(folder, "./claim", &flags).ok_or(Silence::NotCompleted)?;
        let n_errors = call.n_errors().ok_or_else(|| Silence::Refused(first_error(&call.text)))?;
        if n_errors == 0 && call.is_cut() {
            return Err(Silence::NotCompleted);
        }
        found[at] = n_errors > 0;
    }
    Ok(found)
}

fn compile(folder: &Path, name: &str, flags: &[&str]) -> Result<(), Silence> {
    let flags = [flags, COMPILED, &[name, "pan.c"]].concat();
    let compiler = compiler().ok_or_else(|| Silence::Refused("there is no compiler".into()))?;
    match call(folder, compiler, &flags) {
        Some(call) if call.is_fine => Ok(()),
        Some(call) => Err(Silence::Refused(first_error(&call.text))),
        None => Err(Silence::NotCompleted),
    }
}

fn first_error(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    lines().find(|line| line.contains("rror")).or_else(|| lines().next()).unwrap_or("it says nothing").to_owned()
}

/// What a call wrote.
struct SpinCall {
    text: String,
    is_fine: bool,
}

impl SpinCall {
    fn n_errors(&self) -> Option<u64> {
        let (_, rest) = self.text.split_once("errors: ")?;
        rest.split_whitespace().next()?.parse().ok()
    }

    /// Whether the search was not completed for another reason than an error.
    fn is_cut(&self) -> bool {
        let stopped = ["max search depth too small", "out of memory", "memory limit", "VECTORSZ", "too many"];
        stopped.iter().any(|word| self.text.contains(word))
    }

    fn counts(&self) -> Option<SpinCounts> {
        let number = |word: &str| {
            let line = self.text.lines().find(|line| line.contains(word))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(SpinCounts { states: number("states, stored")?, transitions: number(" transitions (=")? })
    }
}

/// Runs a program in a folder; `None` where it takes too long, or writes too much.
fn call(folder: &Path, name: &str, flags: &[&str]) -> Option<SpinCall> {
    let output = folder.join("output");
    let file = File::create(&output).ok()?;
    let other = file.try_clone().ok()?;
    let program = if name.starts_with("./") { folder.join(name).into_os_string() } else { name.into() };
    let mut child = Command::new("sh")
        .args(["-c", WITHIN_LIMITS, "sh", &MOST_KILOBYTES.to_string(), &(MOST_OUTPUT / OUTPUT_BLOCK).to_string()])
        .arg(program)
        .args(flags)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(other)
        .spawn()
        .ok()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().ok()? {
            if fs::metadata(&output).ok()?.len() >= MOST_OUTPUT {
                return None;
            }
            let text = String::from_utf8_lossy(&fs::read(&output).ok()?).into_owned();
            return Some(SpinCall { text, is_fine: status.success() });
        }
        if start.elapsed() > Duration::from_secs(MOST_SECONDS) {
            child.kill().ok()?;
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
