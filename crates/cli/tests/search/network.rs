//! Hosts that are reached by a network, or by ssh: two network namespaces, and a script in the place of ssh.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

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
    assert_eq!(told.json()["hosts"][1]["name"], "node1");
    let calls = place.read("calls.txt");
    let tunnel = format!("-R 127.0.0.1:{0}:127.0.0.1:{0} -- node1 piecewise host", ports[0]);
    assert!(calls.contains(&tunnel), "{calls}");
    assert!(!calls.contains(SECRET) && !calls.contains("secret"), "the secret is on no command line: {calls}");
}

/// Two namespaces with a cable between them; they go when this does.
struct Namespaces(String);

impl Namespaces {
    fn new() -> Option<Self> {
        let name = format!("pw{}", std::process::id());
        let one = Namespaces(name.clone());
        let (a, b) = (format!("{name}a"), format!("{name}b"));
        let calls = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add {a} type veth peer name {b}"),
            format!("link set {a} netns {a}"),
            format!("link set {b} netns {b}"),
            format!("-n {a} addr add 10.97.31.1/24 dev {a}"),
            format!("-n {b} addr add 10.97.31.2/24 dev {b}"),
            format!("-n {a} link set {a} up"),
            format!("-n {b} link set {b} up"),
        ];
        calls.iter().all(|call| ip(call)).then_some(one)
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
    let Some(namespaces) = Namespaces::new() else {
        return skipped(Needs::Machine("a user who may make network namespaces"));
    };
    let place = place();
    let alone = counts(&place.run("explore counters.pw --format json --progress none").exits(0));
    place.write("hosts.txt", "10.97.31.1:2101\n10.97.31.2:2101\n");
    let process = |process: usize, end: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{end}", namespaces.0), env!("CARGO_BIN_EXE_piecewise")]);
        command.args("explore counters.pw --hosts hosts.txt --format json --progress none".split_whitespace());
        command.args(["--process", &process.to_string()]).env("PIECEWISE_SECRET", SECRET).current_dir(place.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let (leader, other) = (process(0, "a"), process(1, "b"));
    end(other, 30).exits(0);
    let told = end(leader, 30).exits(0);
    assert_eq!(counts(&told), alone);
    assert!(told.json()["hosts"][0]["sent_bytes"].as_u64().unwrap() > 0);
}
