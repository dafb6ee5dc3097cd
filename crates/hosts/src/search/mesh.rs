//! Connections between the processes of a search, opened and checked by us before timely gets them.
//!
//! In: the hosts, which of the processes this one is, and what all must agree on. Out: one connection to each other process, and one to process 0 (or from each, at
//! process 0) for heartbeats. Process i connects to those before it and waits for those after it. Before anything else is said, both sides compare the version, the
//! order of bytes, the program with its settings, and the secret, by a tag over two fresh nonces. Who knows the secret and has another version or program ends the search at
//! once, on both sides; who does not know it is turned away, and waiting goes on. Within some time ([`PATIENCE`]) all must be there.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use base::Budget;

use super::Failure;
use super::secret::{Secret, nonce};
use super::stop::Stop;
use crate::call::{other_version, version};
use crate::file::Host;

/// All processes that a launcher started must be connected after this time.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// How long two processes may take to get to know each other.
const GREETING: Duration = Duration::from_secs(5);

/// The pause between attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);

/// The first bytes of a connection. Those of other versions begin with the same [`NAME`], and go on with the order of bytes and their version, too.
const MAGIC: [u8; 24] = *b"piecewise-hosts/3\n\0\0\0\0\0\0";

/// The first bytes of a process of piecewise, whatever its version.
const NAME: &[u8] = b"piecewise-hosts/";

/// Where processes are that nobody else should reach.
const LOOPBACK: &str = "127.0.0.1";

/// The longest name of a version.
const LONGEST_VERSION: usize = 64;

/// No greeting has more bytes.
const LONGEST_GREETING: u64 = 1024;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// States, between any two processes.
    Data = 1,
    /// Signs of life, between process 0 and each other one.
    Heart = 2,
}

/// Who this process is, and what all of them must agree on.
#[derive(Clone, Debug)]
pub struct Member {
    /// The hosts; process i runs on the i-th.
    pub hosts: Vec<Host>,
    /// Which process this is.
    pub process: usize,
    /// The fingerprint of program and settings.
    pub settings: [u8; 32],
    /// What only the processes of this search know.
    pub secret: Secret,
    /// All processes must be connected after this time.
    pub patience: Duration,
    /// Who wants to end does not wait for others.
    pub budget: Budget,
    /// Whether every process is behind a tunnel, so that all of them are on the loopback address.
    pub is_tunnelled: bool,
    /// Hears of each process that is turned away, in words.
    pub turned_away: Option<fn(&str)>,
}

/// How long a process waits for others: until some time, or until something is wrong that no waiting mends.
struct Waiting {
    until: Instant,
    /// What went wrong first.
    failure: OnceLock<Failure>,
    /// The heart of process 0; where it breaks, nobody is to be waited for.
    leader: OnceLock<TcpStream>,
}

impl Waiting {
    fn fail(&self, failure: Failure) {
        // The first one counts.
        self.failure.set(failure).ok();
    }

    fn is_over(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Whether process 0 has ended meanwhile.
    fn has_no_leader(&self) -> bool {
        let Some(leader) = self.leader.get() else { return false };
        leader.set_nonblocking(true).is_ok() && matches!(leader.peek(&mut [0]), Ok(0))
    }
}

/// The connections of a process.
#[derive(Debug)]
pub struct Mesh {
    /// By process, but for this one.
    pub data: Vec<Option<TcpStream>>,
    /// By process: at process 0 one for each other, elsewhere the one to process 0.
    pub hearts: Vec<Option<TcpStream>>,
}

impl Member {
    /// The name or address under which others reach a process.
    fn address(&self, process: usize) -> &str {
        if self.is_tunnelled { LOOPBACK } else { self.hosts[process].address() }
    }

    /// A host that is not there.
    fn lost(&self, process: usize, why: String) -> Failure {
        Failure::Lost { host: self.hosts[process].name.clone(), why }
    }

    /// Whether to go on waiting for others; where not, the failure is noted.
    fn may_wait(&self, waiting: &Waiting) -> bool {
        if let Err(reason) = self.budget.glance(0) {
            waiting.fail(Failure::Stopped(Stop::new(&reason)));
        } else if waiting.has_no_leader() {
            waiting.fail(self.lost(0, "process 0 ended before all were connected".to_owned()));
        }
        !waiting.is_over()
    }

    fn named(&self, process: usize) -> String {
        format!("process {process} on {}", self.hosts[process].name)
    }

    /// Connects to all others.
    ///
    /// # Errors
    /// A sentence: a port that is taken, a host that is out of reach, another version, program or secret.
    pub fn connect(&self) -> Result<Mesh, Failure> {
        let n_processes = self.hosts.len();
        let nothing = || (0..n_processes).map(|_| None).collect::<Vec<Option<TcpStream>>>();
        let mut mesh = Mesh { data: nothing(), hearts: nothing() };
        let until = Instant::now() + self.patience;
        let waiting = Waiting { until, failure: OnceLock::new(), leader: OnceLock::new() };
        let is_last = self.process + 1 == n_processes;
        let listener = if is_last { None } else { Some(self.listen().map_err(Failure::Refused)?) };
        let called = thread::scope(|scope| {
            let calls = scope.spawn(|| self.call_others(&waiting));
            if let Some(listener) = listener {
                self.await_others(&listener, &waiting, &mut mesh);
            }
            calls.join()
        });
        for (process, role, stream) in called.map_err(|_| Failure::Refused("connecting failed".to_owned()))? {
            // Whether process 0 is there was asked without waiting.
            stream.set_nonblocking(false).map_err(|error| self.lost(process, error.to_string()))?;
            mesh.put(process, role, stream);
        }
        waiting.failure.into_inner().map_or(Ok(mesh), Err)
    }

    /// Listens where the host file says; only on the loopback address for `local`.
    fn listen(&self) -> Result<TcpListener, String> {
        let host = &self.hosts[self.process];
        let address = match self.is_tunnelled {
            true => LOOPBACK,
            false => host.listen.as_deref().unwrap_or(host.address()),
        };
        let places = resolve(address, host.port)?;
        TcpListener::bind(&places[..]).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {} on {address} is taken; give {} another one in the host file", host.port, host.name)
            }
            io::ErrorKind::AddrNotAvailable => {
                format!("{address} is not an address of this machine; is this {}?", self.named(self.process))
            }
            _ => format!("{address}:{} cannot be listened on: {error}", host.port),
        })
    }

    /// Connects to those before this one. Where one of them has another program or version, the others hear of it before this process ends.
    fn call_others(&self, waiting: &Waiting) -> Vec<(usize, Role, TcpStream)> {
        let mut streams = Vec::new();
        for process in 0..self.process {
            let roles = if process == 0 { &[Role::Data, Role::Heart][..] } else { &[Role::Data] };
            for &role in roles {
                match self.call(process, role, waiting) {
                    Ok(stream) => {
                        if role == Role::Heart
                            && let Ok(leader) = stream.try_clone()
                        {
                            waiting.leader.set(leader).ok();
                        }
                        streams.push((process, role, stream));
                    }
                    Err(Some(failure @ Failure::Refused(_))) => waiting.fail(failure),
                    Err(Some(failure)) => {
                        waiting.fail(failure);
                        return streams;
                    }
                    Err(None) => {}
                }
            }
        }
        streams
    }

    /// Connects to one process; it may not listen yet. No failure of its own where waiting is over.
    fn call(&self, process: usize, role: Role, waiting: &Waiting) -> Result<TcpStream, Option<Failure>> {
        let port = self.hosts[process].port;
        let mut last = "nobody answers".to_owned();
        loop {
            let places = resolve(self.address(process), port).map_err(|why| Some(Failure::Refused(why)))?;
            for place in places {
                match TcpStream::connect_timeout(&place, GREETING) {
                    Ok(mut stream) => match self.greet(&mut stream, process, role) {
                        Ok(()) => return Ok(stream),
                        Err(Refused::Lost(error)) => last = error.to_string(),
                        Err(Refused::Stranger(why) | Refused::Member { why, .. }) => {
                            return Err(Some(Failure::Refused(format!("{}: {why}", self.named(process)))));
                        }
                    },
                    Err(error) => last = error.to_string(),
                }
            }
            if !self.may_wait(waiting) {
                return Err(None);
            }
            if Instant::now() >= waiting.until {
                break;
            }
            thread::sleep(PAUSE);
        }
        let (address, seconds) = (self.address(process), self.patience.as_secs());
        let why = format!("process {process} at {address}:{port} was not reached within {seconds} s: {last}");
        Err(Some(self.lost(process, why)))
    }

    /// Waits for those after this one.
    fn await_others(&self, listener: &TcpListener, waiting: &Waiting, mesh: &mut Mesh) {
        if let Err(error) = listener.set_nonblocking(true) {
            return waiting.fail(Failure::Refused(error.to_string()));
        }
        let mut turned_away: Option<String> = None;
        while let Some(missing) = self.first_missing(mesh)
            && self.may_wait(waiting)
        {
            if Instant::now() >= waiting.until {
                let why = turned_away.map(|why| format!("; somebody was turned away: {why}")).unwrap_or_default();
                let seconds = self.patience.as_secs();
                let why = format!("process {missing} did not connect within {seconds} s{why}");
                return waiting.fail(self.lost(missing, why));
            }
            match listener.accept() {
                Ok((mut stream, _)) => match self.welcome(&mut stream) {
                    Ok((process, role)) => mesh.put(process, role, stream),
                    Err(Refused::Member { process, why }) => {
                        return waiting.fail(Failure::Refused(format!("{}: {why}", self.named(process))));
                    }
                    Err(Refused::Stranger(why)) => {
                        if let Some(hear) = self.turned_away
                            && turned_away.as_ref() != Some(&why)
                        {
                            hear(&why);
                        }
                        turned_away = Some(why);
                    }
                    Err(Refused::Lost(_)) => {}
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE / 5),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn first_missing(&self, mesh: &Mesh) -> Option<usize> {
        let is_missing =
            |&process: &usize| mesh.data[process].is_none() || self.process == 0 && mesh.hearts[process].is_none();
        (self.process + 1..self.hosts.len()).find(is_missing)
    }

    /// What makes another process none of this search.
    fn difference(&self, theirs: &Hello) -> Option<String> {
        if theirs.version != version() {
            return Some(other_version("it", &theirs.version));
        }
        (theirs.settings != self.settings).then(|| OTHER_PROGRAM.to_owned())
    }

    /// What the one who calls says and hears.
    fn greet(&self, stream: &mut TcpStream, process: usize, role: Role) -> Result<(), Refused> {
        prepare(stream)?;
        let mine = self.hello(role as u8, nonce().map_err(Refused::Stranger)?);
        write_hello(stream, &mine)?;
        let theirs = read_hello(stream)?;
        let talk = Talk { secret: &self.secret, caller: &mine, called: &theirs };
        // Whoever is called knows by this tag that this process may end the search, also where the two differ.
        stream.write_all(&talk.tag(b"caller"))?;
        if theirs.version == version() && theirs.process as usize != process {
            let why = format!("this is process {}; do all have the same host file?", theirs.process);
            return Err(Refused::Stranger(why));
        }
        if let Some(why) = self.difference(&theirs) {
            return Err(Refused::Stranger(why));
        }
        let mut tag = [0; 32];
        match stream.read_exact(&mut tag) {
            Ok(()) if talk.accepts(b"called", &tag) => settle(stream),
            Ok(()) => Err(Refused::Stranger(OTHER_SECRET.to_owned())),
            // Who does not like our tag hangs up.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Refused::Stranger(OTHER_SECRET.to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn hello(&self, role: u8, nonce: [u8; 32]) -> Hello {
        Hello { version: version().to_owned(), role, process: self.process as u32, nonce, settings: self.settings }
    }

    /// Says who this is to one of another version, so that it need not try again. It may be anybody: what it says is taken for a moment only.
    fn turn_away(&self, stream: &mut TcpStream) {
        if write_hello(stream, &self.hello(0, [0; 32])).is_ok() {
            stream.shutdown(Shutdown::Write).ok();
            stream.set_read_timeout(Some(PAUSE)).ok();
            // What is left unread when a connection is closed would take our words back.
            io::copy(&mut stream.take(LONGEST_GREETING), &mut io::sink()).ok();
        }
    }

    /// What the one who is called says and hears.
    fn welcome(&self, stream: &mut TcpStream) -> Result<(usize, Role), Refused> {
        stream.set_nonblocking(false)?;
        prepare(stream)?;
        let theirs = read_hello(stream).inspect_err(|refused| {
            if matches!(refused, Refused::Stranger(_)) {
                self.turn_away(stream);
            }
        })?;
        let mine = self.hello(theirs.role, nonce().map_err(Refused::Stranger)?);
        write_hello(stream, &mine)?;
        let talk = Talk { secret: &self.secret, caller: &theirs, called: &mine };
        let mut tag = [0; 32];
        let is_known = match stream.read_exact(&mut tag) {
            Ok(()) => talk.accepts(b"caller", &tag),
            // Another version may hang up before it proves anything.
            Err(_) if self.difference(&theirs).is_some() => false,
            Err(error) => return Err(error.into()),
        };
        let process = theirs.process as usize;
        let is_expected = process > self.process && process < self.hosts.len();
        match self.difference(&theirs) {
            Some(why) if is_known && is_expected => return Err(Refused::Member { process, why }),
            Some(why) => return Err(Refused::Stranger(why)),
            None if !is_known => return Err(Refused::Stranger(OTHER_SECRET.to_owned())),
            None => {}
        }
        if !is_expected {
            return Err(Refused::Stranger(format!("there is no process {process} that should connect here")));
        }
        let role = match theirs.role {
            1 => Role::Data,
            2 if self.process == 0 => Role::Heart,
            _ => return Err(Refused::Stranger("a connection for something else".to_owned())),
        };
        stream.write_all(&talk.tag(b"called"))?;
        settle(stream)?;
        Ok((process, role))
    }
}

/// What two processes said of themselves, over which both make tags.
struct Talk<'t> {
    secret: &'t Secret,
    caller: &'t Hello,
    called: &'t Hello,
}

impl Talk<'_> {
    fn said(&self, who: &[u8]) -> Vec<Vec<u8>> {
        let of = |one: &Hello| {
            let version = one.version.clone().into_bytes();
            [one.nonce.to_vec(), one.settings.to_vec(), one.process.to_le_bytes().to_vec(), version]
        };
        let mut said = vec![who.to_vec(), vec![self.caller.role]];
        said.extend(of(self.caller));
        said.extend(of(self.called));
        said
    }

    fn tag(&self, who: &[u8]) -> [u8; 32] {
        self.secret.tag(&refs(&self.said(who)))
    }

    fn accepts(&self, who: &[u8], tag: &[u8; 32]) -> bool {
        self.secret.accepts(&refs(&self.said(who)), tag)
    }
}

const OTHER_PROGRAM: &str =
    "it has another program, other parameters, questions or numbers of workers, or was built otherwise";
const OTHER_SECRET: &str = "it has another secret";

fn refs(parts: &[Vec<u8>]) -> Vec<&[u8]> {
    parts.iter().map(Vec::as_slice).collect()
}

impl Mesh {
    fn put(&mut self, process: usize, role: Role, stream: TcpStream) {
        let place = match role {
            Role::Data => &mut self.data[process],
            Role::Heart => &mut self.hearts[process],
        };
        // The first one counts: who knows the secret connects once.
        place.get_or_insert(stream);
    }
}

/// The first words of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hello {
    version: String,
    role: u8,
    process: u32,
    nonce: [u8; 32],
    settings: [u8; 32],
}

/// Why a connection is not one of this search.
#[derive(Debug)]
enum Refused {
    /// The other side is something else, or has not proved that it knows the secret, in words.
    Stranger(String),
    /// It knows the secret, and does not fit, in words: no waiting helps.
    Member {
        /// Which process it is.
        process: usize,
        /// What is different.
        why: String,
    },
    /// It was lost.
    Lost(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused::Lost(error)
    }
}

fn write_hello(stream: &mut impl Write, hello: &Hello) -> Result<(), Refused> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(0x0102_0304_0506_0708u64.to_ne_bytes());
    bytes.push(hello.version.len().min(LONGEST_VERSION) as u8);
    bytes.extend(hello.version.bytes().take(LONGEST_VERSION));
    bytes.push(hello.role);
    bytes.extend(hello.process.to_le_bytes());
    bytes.extend(hello.nonce);
    bytes.extend(hello.settings);
    Ok(stream.write_all(&bytes)?)
}

fn read_hello(stream: &mut impl Read) -> Result<Hello, Refused> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if !magic.starts_with(NAME) {
        return Err(Refused::Stranger("this is no process of piecewise".to_owned()));
    }
    let mut order = [0; 8];
    stream.read_exact(&mut order)?;
    let mut length = [0; 1];
    stream.read_exact(&mut length)?;
    let mut theirs = vec![0; usize::from(length[0]).min(LONGEST_VERSION)];
    stream.read_exact(&mut theirs)?;
    let version = String::from_utf8_lossy(&theirs).into_owned();
    // Who greets in another way cannot be understood any further.
    if magic != MAGIC {
        return Err(Refused::Stranger(other_version("it", &version)));
    }
    if u64::from_ne_bytes(order) != 0x0102_0304_0506_0708 {
        return Err(Refused::Stranger("its machine has another order of bytes".to_owned()));
    }
    let (mut role, mut process, mut nonce, mut settings) = ([0; 1], [0; 4], [0; 32], [0; 32]);
    stream.read_exact(&mut role)?;
    stream.read_exact(&mut process)?;
    stream.read_exact(&mut nonce)?;
    stream.read_exact(&mut settings)?;
    Ok(Hello { version, role: role[0], process: u32::from_le_bytes(process), nonce, settings })
}

/// While two processes get to know each other, neither waits for ever.
fn prepare(stream: &TcpStream) -> Result<(), Refused> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    Ok(stream.set_write_timeout(Some(GREETING))?)
}

/// From now on whoever has the connection waits as it likes.
fn settle(stream: &TcpStream) -> Result<(), Refused> {
    stream.set_read_timeout(None)?;
    Ok(stream.set_write_timeout(None)?)
}

fn resolve(address: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    if address == LOOPBACK {
        return Ok(vec![SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)]);
    }
    // Whom to log in as is for ssh.
    let name = address.rsplit_once('@').map_or(address, |(_, name)| name);
    let found: Vec<SocketAddr> = (name, port)
        .to_socket_addrs()
        .map_err(|error| format!("the address of host {name} is not found: {error}"))?
        .collect();
    if found.is_empty() { Err(format!("host {name} has no address")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    fn member(process: usize, port: u16, change: impl Fn(&mut Member)) -> Member {
        let hosts = file::parse(&format!("local:{port}\nlocal:{}\nlocal:{}", port + 1, port + 2)).unwrap();
        let mut member = Member {
            hosts,
            process,
            settings: [7; 32],
            secret: Secret::new("a secret of tests").unwrap(),
            patience: PATIENCE,
            budget: Budget::unlimited(),
            is_tunnelled: false,
            turned_away: None,
        };
        change(&mut member);
        member
    }

    fn free_port() -> u16 {
        // Three in a row are free as a rule; where not, the test says which is taken.
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().clamp(1024, 65000)
    }

    #[test]
    fn three_processes_are_connected_each_with_each() {
        let port = free_port();
        let meshes: Vec<Mesh> = thread::scope(|scope| {
            let started: Vec<_> =
                (0..3).map(|process| scope.spawn(move || member(process, port, |_| ()).connect())).collect();
            started.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        for (process, mesh) in meshes.iter().enumerate() {
            assert_eq!(mesh.data.iter().filter(|stream| stream.is_some()).count(), 2);
            assert!(mesh.data[process].is_none());
            assert_eq!(mesh.hearts.iter().filter(|stream| stream.is_some()).count(), if process == 0 { 2 } else { 1 });
        }
    }

    /// What process 1 hears from process 0, and what process 0 hears, where process 1 differs.
    fn heard(change: impl Fn(&mut Member) + Sync) -> (String, String) {
        let (listener, port) = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            (listener, port)
        };
        let (mut caller, called) =
            (TcpStream::connect(("127.0.0.1", port)).unwrap(), member(0, port.min(65000), |_| ()));
        let other = member(1, port.min(65000), change);
        thread::scope(|scope| {
            let welcome = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                called.welcome(&mut stream).map_or_else(said, |_| String::new())
            });
            let greeting = other.greet(&mut caller, 0, Role::Data).map_or_else(said, |()| String::new());
            drop(caller);
            (greeting, welcome.join().unwrap())
        })
    }

    fn said(refused: Refused) -> String {
        match refused {
            Refused::Stranger(why) => why,
            Refused::Member { process, why } => format!("process {process}: {why}"),
            Refused::Lost(_) => "lost".to_owned(),
        }
    }

    #[test]
    fn another_program_or_secret_is_refused_in_words() {
        assert_eq!(heard(|_| ()), (String::new(), String::new()));
        let (caller, called) = heard(|member| member.settings = [8; 32]);
        assert_eq!((caller.as_str(), called), (OTHER_PROGRAM, format!("process 1: {OTHER_PROGRAM}")));
        // Who does not know the secret ends nothing.
        let (caller, called) = heard(|member| {
            member.settings = [8; 32];
            member.secret = Secret::new("another secret").unwrap();
        });
        assert_eq!((caller.as_str(), called.as_str()), (OTHER_PROGRAM, OTHER_PROGRAM));
        let (caller, called) = heard(|member| member.secret = Secret::new("another secret").unwrap());
        assert_eq!((caller.as_str(), called.as_str()), (OTHER_SECRET, OTHER_SECRET));
    }

    /// Whatever the first bytes are, they are refused, and never more is read than a greeting has.
    #[test]
    fn other_first_words_are_refused() {
        let mut hello = Vec::new();
        let own = member(1, 2101, |member| member.settings = [2; 32]).hello(1, [1; 32]);
        write_hello(&mut hello, &own).unwrap();
        assert_eq!(read_hello(&mut &hello[..]).unwrap(), own);
        for length in 0..hello.len() {
            assert!(read_hello(&mut &hello[..length]).is_err());
        }
        for at in 0..MAGIC.len() + 8 {
            let mut changed = hello.clone();
            changed[at] ^= 0x55;
            assert!(read_hello(&mut &changed[..]).is_err(), "byte {at}");
        }
        // Who greets in another way is another version, and says which.
        let mut other = hello.clone();
        (other[NAME.len()], other[MAGIC.len() + 9]) = (b'9', b'9');
        let said = said(read_hello(&mut &other[..]).unwrap_err());
        assert!(said.starts_with("it has version 9"), "{said}");
    }

    /// What process 0 says of a process of another version, and what that one reads.
    fn heard_by_another_version(change: impl Fn(&mut Vec<u8>), secret: &str) -> (String, Hello) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut caller = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let called = member(0, port.min(65000), |_| ());
        let own = Hello { version: "9.1".to_owned(), ..member(1, 2101, |_| ()).hello(1, [1; 32]) };
        let mut hello = Vec::new();
        write_hello(&mut hello, &own).unwrap();
        change(&mut hello);
        thread::scope(|scope| {
            let welcome = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                called.welcome(&mut stream).unwrap_err()
            });
            caller.write_all(&hello).unwrap();
            let theirs = read_hello(&mut caller).unwrap();
            let talk = Talk { secret: &Secret::new(secret).unwrap(), caller: &own, called: &theirs };
            // Who was turned away finds the connection closed.
            caller.write_all(&talk.tag(b"caller")).ok();
            (said(welcome.join().unwrap()), theirs)
        })
    }

    /// Who has another version hears which one this is, instead of a connection that breaks; where it knows the secret it ends the search.
    #[test]
    fn another_version_is_told_ours_and_ends_the_search_where_it_knows_the_secret() {
        let (said, theirs) = heard_by_another_version(|_| (), "a secret of tests");
        assert!(said.starts_with("process 1: it has version 9.1"), "{said}");
        assert_eq!((theirs.process, theirs.version.as_str()), (0, version()));
        let (said, _) = heard_by_another_version(|_| (), "another secret");
        assert!(said.starts_with("it has version 9.1"), "{said}");
        let (said, theirs) = heard_by_another_version(|hello| hello[NAME.len()] = b'9', "a secret of tests");
        assert!(said.starts_with("it has version 9.1"), "{said}");
        assert_eq!(theirs.version, version());
    }

    /// Of three processes the last, or the one between, has another program: it and process 0 end at once, whoever else they wait for, and the third one does not
    /// find them.
    #[test]
    fn nobody_waits_for_processes_that_do_not_fit() {
        for other in [1, 2] {
            let port = free_port();
            let failures: Vec<(Failure, Duration)> = thread::scope(|scope| {
                let start = |process: usize| {
                    let started = Instant::now();
                    let failure = member(process, port, |member| {
                        member.settings = if process == other { [8; 32] } else { [7; 32] };
                        // Whom nobody tells waits until the end.
                        member.patience = if [0, other].contains(&process) { PATIENCE } else { PATIENCE / 5 };
                    })
                    .connect();
                    (failure.unwrap_err(), started.elapsed())
                };
                let started: Vec<_> = (0..3).map(|process| scope.spawn(move || start(process))).collect();
                started.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for process in [0, other] {
                let (failure, time) = &failures[process];
                let is_told = matches!(failure, Failure::Refused(why) if why.ends_with(OTHER_PROGRAM));
                assert!(is_told && *time < PATIENCE, "{failures:?}");
            }
        }
    }

    #[test]
    fn a_taken_port_is_one_sentence() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let member = member(0, port.min(65000), |member| member.hosts[0].port = port);
        let said = member.connect().unwrap_err();
        let sentence = format!("port {port} on 127.0.0.1 is taken; give local another one in the host file");
        assert_eq!(said, Failure::Refused(sentence));
    }
}
