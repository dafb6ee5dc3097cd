//! What cannot be done is one sentence, with its status.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use testkit::skip::{Needs, skipped};

use crate::processes::{SECRET, counters, counts, end, free_ports, local_hosts, start};
use crate::support::{Place, root};

fn place() -> Place {
    let place = Place::with("counters.pw", &counters(9));
    place.write("hosts.txt", local_hosts(2, ""));
    place
}

#[test]
fn another_secret_is_refused_before_any_state_is_sent() {
    let place = place();
    let call = "explore counters.pw --hosts hosts.txt --progress none";
    let mut leader = start(&place, call, 0, SECRET);
    end(start(&place, call, 1, "another secret"), 10).exits(2).complains("process 0 on local: it has another secret");
    let told = end(start(&place, call, 1, "short"), 10).exits(2);
    assert_eq!(told.err, "error: the secret in PIECEWISE_SECRET needs at least 8 letters\n");
    // Whoever was turned away does not keep the others from finding each other.
    assert!(leader.try_wait().unwrap().is_none());
    end(start(&place, call, 1, SECRET), 20).exits(0);
    let told = end(leader, 20).exits(0).prints("complete");
    assert_eq!(
        told.err, "note: a process was turned away: it has another secret; the right one is waited for\n",
        "and is told of at once"
    );
    let told = place.run(&format!("{call} --process 0")).exits(2);
    assert_eq!(told.err, "error: the processes of a search need a secret: set PIECEWISE_SECRET to the same for all\n");
    place.run(&format!("{call} --process 2")).exits(2).complains("there is no process 2; the host file has 2 lines");
}

#[test]
fn another_program_ends_all_who_know_the_secret() {
    let place = place();
    place.write("other.pw", counters(8));
    let leader = start(&place, "explore counters.pw --hosts hosts.txt --progress none", 0, SECRET);
    let other = "explore other.pw --hosts hosts.txt --progress none";
    end(start(&place, other, 1, SECRET), 10).exits(2).complains("process 0 on local: it has another program");
    end(leader, 10).exits(2).complains("process 1 on local: it has another program");
}

const PROMELA: &str = "#ifndef K
#define K 2
#endif
byte n;
active proctype A() { do :: n < K -> n++ :: n > 0 -> n-- od }
active proctype B() { do :: n > 0 -> n-- od }
";

/// A macro is no parameter of the program, but what it is given makes another one.
#[test]
fn macros_of_promela_go_to_all_processes_and_another_value_is_another_program() {
    let place = place();
    place.write("count.pml", PROMELA);
    let counted = |call: &str| counts(&place.run(&format!("{call} --format json --progress none")).exits(0));
    let alone = counted("explore count.pml -D K=7");
    assert_ne!(alone, counted("explore count.pml"));
    assert_eq!(counted("explore count.pml -D K=7 --hosts hosts.txt"), alone);
    let check = "check count.pml -D K=7 --ltl []<>(n==0) --fair weak --method mono --progress none -q";
    let (here, there) = (place.run(check), place.run(&format!("{check} --hosts hosts.txt")));
    assert_eq!((here.status, &here.out), (there.status, &there.out), "{}", there.err);
    let leader = start(&place, "explore count.pml -D K=7 --hosts hosts.txt --progress none", 0, SECRET);
    let other = "explore count.pml -D K=6 --hosts hosts.txt --progress none";
    end(start(&place, other, 1, SECRET), 10).exits(2).complains("process 0 on local: it has another program");
    end(leader, 10).exits(2);
}

#[test]
fn another_version_is_refused_by_name() {
    let place = place();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    place.write("hosts.txt", format!("local:{}\nlocal:1", listener.local_addr().unwrap().port()));
    let other = start(&place, "explore counters.pw --hosts hosts.txt --progress none", 1, SECRET);
    let (mut stream, _) = listener.accept().unwrap();
    let mut hello = vec![0; 1024];
    let n_read = stream.read(&mut hello).unwrap();
    assert!(n_read > 40 && hello.starts_with(b"piecewise-hosts/3\n"));
    // The version stands after the first words, the order of bytes, and its own length.
    hello[33] = b'9';
    stream.write_all(&hello[..n_read]).unwrap();
    end(other, 10).exits(2).complains("process 0 on local: it has version 9");
}

#[test]
fn a_taken_port_is_one_sentence() {
    let place = place();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    place.write("hosts.txt", format!("local:{port}\nlocal:{}\n", free_ports(1)[0]));
    let told = place.run("explore counters.pw --hosts hosts.txt --progress none").exits(2);
    assert_eq!(
        told.err,
        format!("error: port {port} on 127.0.0.1 is taken; give local another one in the host file\n")
    );
    let told = place.run("check counters.pw --method mono --hosts hosts.txt --progress none").exits(2);
    assert!(told.err.contains("is taken"), "{}", told.err);
}

#[test]
fn a_limit_on_one_host_is_unknown_for_all_with_its_name() {
    let place = place();
    let ports = free_ports(2);
    place.write("hosts.txt", format!("local:{}\nlocal:{} memory=100K\n", ports[0], ports[1]));
    let told = place.run("explore counters.pw -N 4 --hosts hosts.txt --progress none").exits(3);
    assert!(told.out.contains("not complete: on host local: the memory limit of"), "{}", told.out);
    let told = place.run("check counters.pw -N 4 --hosts hosts.txt --method mono --progress none").exits(3);
    assert!(told.out.contains("on host local: the memory limit of"), "{}", told.out);
    let call = "explore counters.pw -N 6 --hosts hosts.txt --timeout 1s --progress none";
    place.write("hosts.txt", local_hosts(2, ""));
    place.run(call).exits(3).prints("not complete: the time limit of 1 s was reached");
}

#[test]
fn procedures_are_refused_by_name_and_other_options_in_a_sentence() {
    let place = place();
    let file = root().join("examples/factorial.pw");
    let call = format!("explore {} --hosts hosts.txt --progress none", file.display());
    for call in [call, format!("check {} --method mono --hosts hosts.txt --progress none", file.display())] {
        place.run(&call).exits(2).complains("`factorial` has procedures (`factorial`)").complains("--method pushdown");
    }
    place.run("explore counters.pw --resume").exits(2).complains("--checkpoint");
    place
        .run("explore counters.pw --hosts hosts.txt --coverage")
        .exits(2)
        .complains("do not go with a search on many hosts");
    place.run("check counters.pw --checkpoint d").exits(2).complains("go with `--method mono`");
    place.run("check counters.pw -N 2..3 --method mono --checkpoint d").exits(2).complains("is about one instance");
    place.write("mixed.txt", "local\nnode1\n");
    place.run("explore counters.pw --hosts mixed.txt").exits(2).complains("other hosts do not reach `local`");
}

#[cfg(unix)]
#[test]
fn who_is_interrupted_does_not_wait_for_others() {
    let place = place();
    let leader = start(&place, "explore counters.pw --hosts hosts.txt --progress none", 0, SECRET);
    std::thread::sleep(std::time::Duration::from_millis(500));
    crate::processes::signal(leader.id(), "TERM");
    end(leader, 10).exits(3).prints("not complete: interrupted");
    let call = "explore counters.pw --hosts hosts.txt --progress none --timeout 1s";
    end(start(&place, call, 0, SECRET), 10).exits(3).prints("not complete: the time limit of 1 s was reached");
}

#[test]
fn a_checkpoint_needs_a_directory() {
    let place = place();
    place.write("file", "");
    let told = place.run("explore counters.pw --hosts hosts.txt --checkpoint file --progress none").exits(2);
    assert_eq!(told.err, "error: file is not a directory, and a checkpoint needs one\n");
}

#[test]
fn a_full_disk_is_unknown_in_a_sentence() {
    let place = place();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        return skipped(Needs::Machine("a user who may mount"));
    }
    let told = place.run("explore counters.pw -N 4 --hosts hosts.txt --checkpoint disk --progress none");
    let spilled = place.run("explore counters.pw -N 4 --hosts hosts.txt --memory 100K --disk disk --progress none");
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    let told = told.exits(3);
    assert!(told.out.contains("cannot be written: no space is left"), "{}\n{}", told.out, told.err);
    spilled.exits(3).prints("not complete: on host local: no space is left on disk for states");
}
