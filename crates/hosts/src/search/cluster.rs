//! The workers of one process, and what happens when another process is lost.
//!
//! In: how many threads, the connections to other processes, and what each worker does. Out: what the workers of this process return, or which process was
//! lost. timely ends everything by a panic where a connection breaks; such panics are noted here ([`explains_panic`]) and said in words. A process that
//! stands still breaks no connection: hence heartbeats, and whoever hears nothing for [`SILENCE`] takes the other for lost.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use timely::WorkerConfig;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::generic::AllocatorBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{Hooks, WorkerGuards};
use timely::worker::Worker;

use super::mesh::Mesh;

/// A sign of life is sent so often.
const BEAT: Duration = Duration::from_secs(1);

/// The end of the work is looked for so often between two signs.
const GLANCES: u32 = 50;

/// Who is silent for so long is lost.
pub const SILENCE: Duration = Duration::from_secs(10);

/// How long panics of workers wait for the connection that explains them.
const MOMENT: Duration = Duration::from_millis(500);

/// A sign of life, and the last one.
const ALIVE: u8 = 1;
const THE_END: u8 = 2;

/// The process that was lost, plus one; 0 as long as all are there.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// A process that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Which.
    pub process: usize,
    /// Whether it was silent, rather than gone.
    pub is_silent: bool,
}

/// Whether a panic of the current thread only says that another process was lost. Panics of timely's own threads do; panics of workers do where a
/// connection is lost as well.
pub fn explains_panic() -> bool {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default();
    let connection = name.strip_prefix("timely:recv-").or(name.strip_prefix("timely:send-"));
    if let Some(process) = connection.and_then(|number| number.parse::<usize>().ok()) {
        LOST.compare_exchange(0, process + 1, Ordering::SeqCst, Ordering::SeqCst).ok();
        return true;
    }
    if !name.starts_with("timely:") {
        return false;
    }
    for _ in 0..20 {
        if LOST.load(Ordering::SeqCst) != 0 {
            return true;
        }
        thread::sleep(MOMENT / 20);
    }
    false
}

/// What ends the wait for the workers.
enum End<T> {
    /// They are done.
    Done(Vec<T>),
    /// A process was lost.
    Lost(Lost),
}

/// Runs the workers of this process.
///
/// # Errors
/// The process that was lost; the workers are left to themselves then, and this process should end soon.
pub fn run<T, F>(n_threads: usize, member: (usize, Option<Mesh>), work: F) -> Result<Vec<T>, Lost>
where
    T: Send + 'static,
    F: Fn(&mut Worker) -> T + Send + Sync + 'static,
{
    let (process, mesh) = member;
    let (ended, end) = mpsc::channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    let data = match mesh {
        Some(mesh) => {
            for (other, heart) in mesh.hearts.into_iter().enumerate() {
                if let Some(heart) = heart {
                    writers.extend(keep_in_touch(other, heart, &ended, &is_over));
                }
            }
            mesh.data
        }
        None => Vec::new(),
    };
    let workers = thread::Builder::new().name("timely:join".to_owned()).spawn(move || {
        let results = start(n_threads, process, data, work).map(WorkerGuards::join).unwrap_or_default();
        let results: Vec<T> = results.into_iter().filter_map(Result::ok).collect();
        let end = match LOST.load(Ordering::SeqCst) {
            0 if results.len() == n_threads => End::Done(results),
            lost => End::Lost(Lost { process: lost.saturating_sub(1), is_silent: false }),
        };
        // Nobody listens where a process was found silent before.
        ended.send(end).ok();
    });
    let end = match workers {
        Ok(_) => end.recv().unwrap_or(End::Lost(Lost { process, is_silent: false })),
        Err(_) => End::Lost(Lost { process, is_silent: false }),
    };
    is_over.store(true, Ordering::SeqCst);
    match end {
        End::Done(results) => {
            writers.into_iter().for_each(|writer| drop(writer.join()));
            Ok(results)
        }
        End::Lost(lost) => Err(lost),
    }
}

/// Starts the workers: alone, or with the connections to other processes.
fn start<T, F>(
    n_threads: usize,
    process: usize,
    data: Vec<Option<TcpStream>>,
    work: F,
) -> Result<WorkerGuards<T>, String>
where
    T: Send + 'static,
    F: Fn(&mut Worker) -> T + Send + Sync + 'static,
{
    if data.iter().all(Option::is_none) {
        return timely::execute(timely::Config::process(n_threads), work);
    }
    let hooks = Hooks::default();
    let allocators = ProcessBuilder::new_typed_vector(n_threads, hooks.refill.clone(), hooks.spill.clone());
    let (builders, guard) = initialize_networking_from_sockets(allocators, data, process, n_threads, hooks)
        .map_err(|error| error.to_string())?;
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    timely::execute::execute_from(builders, Box::new(guard), WorkerConfig::default(), work)
}

/// Sends signs of life to another process and waits for its own; the thread that sends ends with the work.
fn keep_in_touch<T: Send + 'static>(
    other: usize,
    heart: TcpStream,
    ended: &Sender<End<T>>,
    is_over: &Arc<AtomicBool>,
) -> Option<thread::JoinHandle<()>> {
    let (mut reader, mut writer) = (heart.try_clone().ok()?, heart);
    let (ended, over) = (ended.clone(), Arc::clone(is_over));
    let listen = move || {
        if let Some(is_silent) = silence(&mut reader)
            && !over.load(Ordering::SeqCst)
        {
            ended.send(End::Lost(Lost { process: other, is_silent })).ok();
        }
    };
    thread::Builder::new().name(format!("heart-{other}")).spawn(listen).ok()?;
    let over = Arc::clone(is_over);
    let beat = move || {
        let mut n_glances = 0u32;
        while !over.load(Ordering::SeqCst) {
            // Who does not take it is heard no more either, and that is where it shows.
            if n_glances.is_multiple_of(GLANCES) && writer.write_all(&[ALIVE]).is_err() {
                return;
            }
            n_glances += 1;
            thread::sleep(BEAT / GLANCES);
        }
        writer.write_all(&[THE_END]).ok();
        writer.shutdown(Shutdown::Write).ok();
    };
    thread::Builder::new().name(format!("heart-{other}")).spawn(beat).ok()
}

/// Waits for signs of life until the last one. Whether the other process was silent, or gone, where it ends otherwise.
fn silence(heart: &mut TcpStream) -> Option<bool> {
    let mut sign = [0];
    if heart.set_read_timeout(Some(SILENCE)).is_err() {
        return Some(false);
    }
    loop {
        match heart.read(&mut sign) {
            Ok(1) if sign[0] == THE_END => return None,
            Ok(1) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Some(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return Some(false),
        }
    }
}
