//! Connections between the processes of a search, opened and checked by us before timely gets them.
//!
//! In: the hosts, which of the processes this one is, and what all must agree on. Out: one connection to each other process, and one to process 0 (or from each, at
//! process 0) for heartbeats. Process i connects to those before it and waits for those after it. Before anything else is said, both sides compare the version, the
//! order of bytes, the program with its settings, and the secret, by a tag over two fresh nonces. What is not of this search is turned away, and waiting goes on; within
//! some time ([`PATIENCE`]) all must be there.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
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

/// The first bytes of a connection; the last of them tell the order of bytes.
const MAGIC: [u8; 24] = *b"piecewise-hosts/2\n\0\0\0\0\0\0";

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

    /// Whether to go on waiting for others.
    fn may_wait(&self) -> Result<(), Failure> {
        self.budget.glance(0).map_err(|reason| Failure::Stopped(Stop::new(&reason)))
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
        let is_last = self.process + 1 == n_processes;
        let listener = if is_last { None } else { Some(self.listen().map_err(Failure::Refused)?) };
        thread::scope(|scope| -> Result<(), Failure> {
            let calls = scope.spawn(|| self.call_others(until));
            if let Some(listener) = listener {
                self.await_others(&listener, until, &mut mesh)?;
            }
            for (process, role, stream) in
                calls.join().map_err(|_| Failure::Refused("connecting failed".to_owned()))??
            {
                mesh.put(process, role, stream);
            }
            Ok(())
        })?;
        Ok(mesh)
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

    fn call_others(&self, until: Instant) -> Result<Vec<(usize, Role, TcpStream)>, Failure> {
        let mut streams = Vec::new();
        for process in 0..self.process {
            streams.push((process, Role::Data, self.call(process, Role::Data, until)?));
            if process == 0 {
                streams.push((process, Role::Heart, self.call(process, Role::Heart, until)?));
            }
        }
        Ok(streams)
    }

    /// Connects to one process; it may not listen yet.
    fn call(&self, process: usize, role: Role, until: Instant) -> Result<TcpStream, Failure> {
        let port = self.hosts[process].port;
        let mut last = "nobody answers".to_owned();
        while Instant::now() < until {
            self.may_wait()?;
            for place in resolve(self.address(process), port).map_err(Failure::Refused)? {
                match TcpStream::connect_timeout(&place, GREETING) {
                    Ok(mut stream) => match self.greet(&mut stream, process, role) {
                        Ok(()) => return Ok(stream),
                        Err(Refused::Other(why)) => {
                            return Err(Failure::Refused(format!("{}: {why}", self.named(process))));
                        }
                        Err(Refused::Lost(error)) => last = error.to_string(),
                    },
                    Err(error) => last = error.to_string(),
                }
            }
            thread::sleep(PAUSE);
        }
        let (address, seconds) = (self.address(process), self.patience.as_secs());
        let why = format!("process {process} at {address}:{port} was not reached within {seconds} s: {last}");
        Err(self.lost(process, why))
    }

    fn await_others(&self, listener: &TcpListener, until: Instant, mesh: &mut Mesh) -> Result<(), Failure> {
        listener.set_nonblocking(true).map_err(|error| Failure::Refused(error.to_string()))?;
        let mut turned_away = None;
        loop {
            let Some(missing) = self.first_missing(mesh) else { return Ok(()) };
            self.may_wait()?;
            if Instant::now() >= until {
                let why = turned_away.map(|why| format!("; somebody was turned away: {why}")).unwrap_or_default();
                let seconds = self.patience.as_secs();
                let why = format!("process {missing} did not connect within {seconds} s{why}");
                return Err(self.lost(missing, why));
            }
            match listener.accept() {
                Ok((mut stream, _)) => match self.welcome(&mut stream) {
                    Ok((process, role)) => mesh.put(process, role, stream),
                    Err(Refused::Other(why)) => turned_away = Some(why),
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

    /// What the one who calls says and hears.
    fn greet(&self, stream: &mut TcpStream, process: usize, role: Role) -> Result<(), Refused> {
        prepare(stream)?;
        let mine = nonce().map_err(Refused::Other)?;
        write_hello(
            stream,
            &Hello { role: role as u8, process: self.process as u32, nonce: mine, settings: self.settings },
        )?;
        let theirs = read_hello(stream)?;
        if theirs.process as usize != process {
            return Err(Refused::Other(format!("this is process {}; do all have the same host file?", theirs.process)));
        }
        if theirs.settings != self.settings {
            return Err(Refused::Other(OTHER_PROGRAM.to_owned()));
        }
        let said = |who: &'static [u8]| {
            [
                who.to_vec(),
                vec![role as u8],
                mine.to_vec(),
                theirs.nonce.to_vec(),
                self.settings.to_vec(),
                (self.process as u32).to_le_bytes().to_vec(),
                theirs.process.to_le_bytes().to_vec(),
            ]
        };
        stream.write_all(&self.secret.tag(&refs(&said(b"caller"))))?;
        let mut tag = [0; 32];
        match stream.read_exact(&mut tag) {
            Ok(()) if self.secret.accepts(&refs(&said(b"called")), &tag) => settle(stream),
            Ok(()) => Err(Refused::Other(OTHER_SECRET.to_owned())),
            // Who does not like our tag hangs up.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Refused::Other(OTHER_SECRET.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Says who this is to one of another version, so that it need not try again. It may be anybody: what it says is taken for a moment only.
    fn turn_away(&self, stream: &mut TcpStream) {
        let own = Hello { role: 0, process: self.process as u32, nonce: [0; 32], settings: self.settings };
        if write_hello(stream, &own).is_ok() {
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
            if matches!(refused, Refused::Other(_)) {
                self.turn_away(stream);
            }
        })?;
        let mine = nonce().map_err(Refused::Other)?;
        let own = Hello { role: theirs.role, process: self.process as u32, nonce: mine, settings: self.settings };
        write_hello(stream, &own)?;
        let process = theirs.process as usize;
        let role = match theirs.role {
            1 => Role::Data,
            2 if self.process == 0 => Role::Heart,
            _ => return Err(Refused::Other("a connection for something else".to_owned())),
        };
        if process <= self.process || process >= self.hosts.len() {
            return Err(Refused::Other(format!("there is no process {process} that should connect here")));
        }
        if theirs.settings != self.settings {
            return Err(Refused::Other(OTHER_PROGRAM.to_owned()));
        }
        let said = |who: &'static [u8]| {
            [
                who.to_vec(),
                vec![theirs.role],
                theirs.nonce.to_vec(),
                mine.to_vec(),
                self.settings.to_vec(),
                theirs.process.to_le_bytes().to_vec(),
                (self.process as u32).to_le_bytes().to_vec(),
            ]
        };
        let mut tag = [0; 32];
        stream.read_exact(&mut tag)?;
        if !self.secret.accepts(&refs(&said(b"caller")), &tag) {
            return Err(Refused::Other(OTHER_SECRET.to_owned()));
        }
        stream.write_all(&self.secret.tag(&refs(&said(b"called"))))?;
        settle(stream)?;
        Ok((process, role))
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
    role: u8,
    process: u32,
    nonce: [u8; 32],
    settings: [u8; 32],
}

/// Why a connection is not one of this search.
#[derive(Debug)]
enum Refused {
    /// The other side is something else, in words.
    Other(String),
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
    bytes.push(version().len().min(LONGEST_VERSION) as u8);
    bytes.extend(version().bytes().take(LONGEST_VERSION));
    bytes.push(hello.role);
    bytes.extend(hello.process.to_le_bytes());
    bytes.extend(hello.nonce);
    bytes.extend(hello.settings);
    Ok(stream.write_all(&bytes)?)
}

fn read_hello(stream: &mut impl Read) -> Result<Hello, Refused> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(Refused::Other("this is no process of piecewise".to_owned()));
    }
    let mut order = [0; 8];
    stream.read_exact(&mut order)?;
    let mut length = [0; 1];
    stream.read_exact(&mut length)?;
    let mut theirs = vec![0; usize::from(length[0]).min(LONGEST_VERSION)];
    stream.read_exact(&mut theirs)?;
    if theirs != version().as_bytes() {
        return Err(Refused::Other(other_version("it", &String::from_utf8_lossy(&theirs))));
    }
    if u64::from_ne_bytes(order) != 0x0102_0304_0506_0708 {
        return Err(Refused::Other("its machine has another order of bytes".to_owned()));
    }
    let (mut role, mut process, mut nonce, mut settings) = ([0; 1], [0; 4], [0; 32], [0; 32]);
    stream.read_exact(&mut role)?;
    stream.read_exact(&mut process)?;
    stream.read_exact(&mut nonce)?;
    stream.read_exact(&mut settings)?;
    Ok(Hello { role: role[0], process: u32::from_le_bytes(process), nonce, settings })
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
            Refused::Other(why) => why,
            Refused::Lost(_) => "lost".to_owned(),
        }
    }

    #[test]
    fn another_program_or_secret_is_refused_in_words() {
        assert_eq!(heard(|_| ()), (String::new(), String::new()));
        assert_eq!(heard(|member| member.settings = [8; 32]).0, OTHER_PROGRAM);
        let (caller, called) = heard(|member| member.secret = Secret::new("another secret").unwrap());
        assert_eq!((caller.as_str(), called.as_str()), (OTHER_SECRET, OTHER_SECRET));
    }

    /// Whatever the first bytes are, they are refused, and never more is read than a greeting has.
    #[test]
    fn other_first_words_are_refused() {
        let mut hello = Vec::new();
        write_hello(&mut hello, &Hello { role: 1, process: 1, nonce: [1; 32], settings: [2; 32] }).unwrap();
        assert!(read_hello(&mut &hello[..]).is_ok());
        for length in 0..hello.len() {
            assert!(read_hello(&mut &hello[..length]).is_err());
        }
        for at in 0..MAGIC.len() + 9 + version().len() {
            let mut changed = hello.clone();
            changed[at] ^= 0x55;
            assert!(read_hello(&mut &changed[..]).is_err(), "byte {at}");
        }
        let mut other = hello.clone();
        other[MAGIC.len() + 9] = b'9';
        let said = said(read_hello(&mut &other[..]).unwrap_err());
        assert!(said.starts_with("it has version 9"), "{said}");
    }

    /// Who has another version hears which one this is, instead of a connection that breaks.
    #[test]
    fn another_version_is_told_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut caller = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut hello = Vec::new();
        write_hello(&mut hello, &Hello { role: 1, process: 1, nonce: [1; 32], settings: [7; 32] }).unwrap();
        hello[MAGIC.len() + 9] = b'9';
        caller.write_all(&hello).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let refused = member(0, port.min(65000), |_| ()).welcome(&mut stream).unwrap_err();
        assert!(said(refused).starts_with("it has version 9"));
        drop(stream);
        assert_eq!(read_hello(&mut caller).unwrap().process, 0);
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
