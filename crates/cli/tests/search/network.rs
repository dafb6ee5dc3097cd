//! Hosts that are reached by a network, or by ssh: two network namespaces, a script in the place of ssh, and ssh itself.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use testkit::skip::{Needs, skipped};

use crate::processes::{SECRET, counters, counts, end, free_ports};
use crate::support::{Place, Told};

/// Writes down how it is called, and runs the program here.
const PRETENDED: &str = r#"#!/bin/sh
echo "$@" >> calls.txt
while [ "$1" != -- ]; do shift; done
exec "$PROGRAM" host
"#;

fn place() -> Place {
    Place::with("counters.pw", &counters(9))
}

#[test]
fn ssh_starts_processes_elsewhere_and_carries_what_they_send() {
    let place = place();
    let ssh = place.write("ssh", PRETENDED);
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ports = free_ports(2);
    place.write("hosts.txt", format!("local:{}\nnode1:{}\n", ports[0], ports[1]));
    let alone = counts(&place.run("explore counters.pw --format json --progress none").exits(0));
    let call = "explore counters.pw --hosts hosts.txt --tunnel ssh --format json --progress none";
    let mut command = place.command(call.split_whitespace());
    command.env("PIECEWISE_SSH", ssh).env("PROGRAM", env!("CARGO_BIN_EXE_piecewise"));
    let told = Told::new(&command.output().unwrap()).exits(0);
    assert_eq!(counts(&told), alone);
    assert_eq!(told.json()["runs"][0]["hosts"][1]["name"], "node1");
    let calls = place.read("calls.txt");
    let tunnel = format!("-R 127.0.0.1:{0}:127.0.0.1:{0} -- node1 piecewise host", ports[0]);
    assert!(calls.contains(&tunnel), "{calls}");
    assert!(!calls.contains(SECRET) && !calls.contains("secret"), "the secret is on no command line: {calls}");
}

/// Two namespaces with a cable between them; they go when this does.
struct Namespaces(String);

impl Namespaces {
    /// Two namespaces whose addresses end in .1 and .2; tests that run at the same time have networks of their own.
    fn new(network: &str) -> Option<Self> {
        let name = format!("pw{}{}", std::process::id(), &network[network.len() - 1..]);
        let one = Namespaces(name.clone());
        let (a, b) = (format!("{name}a"), format!("{name}b"));
        let calls = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add {a} type veth peer name {b}"),
            format!("link set {a} netns {a}"),
            format!("link set {b} netns {b}"),
            format!("-n {a} addr add {network}.1/24 dev {a}"),
            format!("-n {b} addr add {network}.2/24 dev {b}"),
            format!("-n {a} link set {a} up"),
            format!("-n {b} link set {b} up"),
            format!("-n {a} link set lo up"),
            format!("-n {b} link set lo up"),
        ];
        calls.iter().all(|call| ip(call)).then_some(one)
    }

    /// A command in one of them.
    fn command(&self, end: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{end}", self.0), program]);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for end in ["a", "b"] {
            ip(&format!("netns del {}{end}", self.0));
        }
    }
}

fn ip(call: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(call.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn two_network_namespaces_search_together() {
    let Some(namespaces) = Namespaces::new("10.97.31") else {
        return skipped(Needs::Machine("a user who may make network namespaces"));
    };
    let place = place();
    let alone = counts(&place.run("explore counters.pw --format json --progress none").exits(0));
    place.write("hosts.txt", "10.97.31.1:2101\n10.97.31.2:2101\n");
    let process = |process: usize, end: &str| {
        let mut command = namespaces.command(end, env!("CARGO_BIN_EXE_piecewise"));
        command.args("explore counters.pw --hosts hosts.txt --format json --progress none".split_whitespace());
        command.args(["--process", &process.to_string()]).env("PIECEWISE_SECRET", SECRET).current_dir(place.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let (leader, other) = (process(0, "a"), process(1, "b"));
    end(other, 30).exits(0);
    let told = end(leader, 30).exits(0);
    assert_eq!(counts(&told), alone);
    assert!(told.json()["runs"][0]["hosts"][0]["sent_bytes"].as_u64().unwrap() > 0);
}

/// A server of ssh in one of the namespaces; it ends when this does.
struct Server(Child);

impl Server {
    /// Keys, settings, and the server. `node1` is its name for whoever uses the script `ssh` of this place.
    fn start(place: &Place, namespaces: &Namespaces, address: &str) -> Option<Self> {
        let path = |name: &str| place.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).status();
            made.is_ok_and(|status| status.success()).then_some(())?;
        }
        let settings = format!(
            "Port 2222\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\n",
            path("host"),
            path("user.pub"),
        );
        place.write("sshd_config", settings);
        let client = format!(
            "Host node1\nHostName {address}\nPort 2222\nIdentityFile {}\nStrictHostKeyChecking no\nUserKnownHostsFile {}\nLogLevel ERROR\n",
            path("user"),
            path("known"),
        );
        place.write("ssh_config", client);
        let script = place.write("ssh", format!("#!/bin/sh\nexec ssh -F {} \"$@\"\n", path("ssh_config")));
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        // Where it separates privileges, it wants this directory.
        std::fs::create_dir_all("/run/sshd").ok();
        let mut command = namespaces.command("b", "/usr/sbin/sshd");
        command.args(["-D", "-e", "-f", &path("sshd_config")]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The real ssh between two namespaces: the only connections between them are those of ssh, and the ports of the search are on the loopback address of each.
#[test]
fn a_tunnel_of_ssh_carries_a_search() {
    if !std::path::Path::new("/usr/sbin/sshd").exists() {
        return skipped(Needs::Machine("a server of ssh, at /usr/sbin/sshd"));
    }
    let Some(namespaces) = Namespaces::new("10.97.32") else {
        return skipped(Needs::Machine("a user who may make network namespaces"));
    };
    let place = place();
    let Some(_server) = Server::start(&place, &namespaces, "10.97.32.2") else {
        return skipped(Needs::Machine("a server of ssh that starts"));
    };
    let answers = || {
        let mut command = namespaces.command("a", "sh");
        let ssh = place.path().join("ssh");
        command.args(["-c", &format!("{} -o ConnectTimeout=2 -- node1 true", ssh.display())]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let waited = || {
        let is_there = answers();
        std::thread::sleep(std::time::Duration::from_millis(100));
        is_there
    };
    if !(0..20).any(|_| waited()) {
        return skipped(Needs::Machine("a server of ssh that lets its own user in"));
    }
    place.write("hosts.txt", format!("local:2101\nnode1:2102 program={}\n", env!("CARGO_BIN_EXE_piecewise")));
    let alone = counts(&place.run("explore counters.pw --format json --progress none").exits(0));
    let mut command = namespaces.command("a", env!("CARGO_BIN_EXE_piecewise"));
    command.args("explore counters.pw --hosts hosts.txt --tunnel ssh --format json --progress none".split_whitespace());
    command.env("PIECEWISE_SSH", place.path().join("ssh")).current_dir(place.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let told = end(command.spawn().unwrap(), 60).exits(0);
    assert_eq!(counts(&told), alone);
    let document = told.json();
    let sent = |host: usize| document["runs"][0]["hosts"][host]["sent_bytes"].as_u64().unwrap();
    assert!(sent(0) > 0 && sent(1) > 0, "{document:#}");
}
