//! A process that is killed or stands still, at several levels: the search goes on from its checkpoint, or ends in order.

use std::process::Stdio;

use crate::processes::{
    SECRET, children, counters, counts, end, free_ports, levels_kept, local_hosts, signal, start, wait_until,
};
use crate::support::{Place, Told};

const EXPLORE: &str = "explore counters.pw -N 3 --format json --progress none";

/// Counters that go round, each in its own time: 12 000 states with three of them, up to 67 steps deep.
const ROUNDS: &str = "program rounds(N: 2..) {
    shared x: [0..=9; N] = 0;
    shared turn: 0..=9 = 0;
    process P[i in 0..<N] {
        loop { up: x[i] = (x[i] + 1) % 10; if i == 0 { pass: turn = (turn + 1) % 10; } }
    }
    property again:  forall i: always eventually x[i] == 3 under every P[*];
    property both:   always eventually x[0] == 3 && always eventually x[1] == 4 under strong P[*];
    property unfair: forall i: always eventually x[i] == 3 expect violated;
}";

fn place() -> (Place, Vec<u64>) {
    let place = Place::with("counters.pw", &counters(24));
    let alone = counts(&place.run(EXPLORE).exits(0));
    (place, alone)
}

#[test]
fn a_search_that_was_killed_at_any_level_is_resumed() {
    let (place, alone) = place();
    let levels = place.path().join("levels");
    let mut resumes = "";
    for (nth, level) in [3, 25, 60].into_iter().enumerate() {
        place.write("hosts.txt", local_hosts(2, ""));
        let call = format!("{EXPLORE} --hosts hosts.txt --checkpoint levels{resumes}");
        let (leader, mut other) = (start(&place, &call, 0, SECRET), start(&place, &call, 1, SECRET));
        wait_until("a level", || levels_kept(&levels, 1) > level || other.try_wait().unwrap().is_some());
        // The leader is killed once, too.
        let (killed, left) = if nth == 1 { (leader, other) } else { (other, leader) };
        signal(killed.id(), "KILL");
        drop(end(killed, 5));
        let told = end(left, 20).exits(3);
        assert!((told.out.clone() + &told.err).contains("was lost"), "{told:?}");
        resumes = " --resume";
    }
    // Another number of workers goes on.
    place.write("hosts.txt", local_hosts(3, ""));
    let told = place.run(&format!("{EXPLORE} --hosts hosts.txt --checkpoint levels --resume")).exits(0);
    assert_eq!(counts(&told), alone);
    assert_eq!(told.json()["runs"][0]["hosts"].as_array().unwrap().len(), 3);
    assert!(!levels.join("search-1").exists(), "a search that is complete leaves nothing to go on with");
}

/// Starts a search by the launcher, does something to one of its processes at some level, and waits.
fn disturbed(place: &Place, process: usize, name: &str) -> Told {
    place.write("hosts.txt", local_hosts(2, ""));
    let mut command = place.command(format!("{EXPLORE} --hosts hosts.txt --checkpoint kept").split_whitespace());
    let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let kept = place.path().join("kept");
    wait_until("a level", || levels_kept(&kept, 0).min(levels_kept(&kept, 1)) > 10);
    signal(children(launcher.id())[process], name);
    // A stopped process is noticed after ten seconds.
    end(launcher, 60)
}

#[test]
fn the_launcher_starts_a_killed_search_again() {
    let (place, alone) = place();
    for process in [0, 1] {
        let told = disturbed(&place, process, "KILL").exits(0);
        assert_eq!(counts(&told), alone);
        assert!(told.err.contains("goes on from its checkpoint (attempt 1 of 3 to start again)"), "{}", told.err);
    }
}

#[test]
fn a_process_that_stands_still_is_taken_for_lost() {
    let (place, alone) = place();
    let told = disturbed(&place, 1, "STOP").exits(0);
    assert_eq!(counts(&told), alone);
    assert!(told.err.contains("gave no sign of life") && told.err.contains("attempt 1 of 3"), "{}", told.err);
}

/// A process is killed while fair runs are looked for: all states are read again from the checkpoint, and the verdicts are those of one machine.
#[test]
fn a_search_for_fair_runs_is_started_again() {
    let place = Place::with("rounds.pw", ROUNDS);
    let call = "check rounds.pw -N 3 --method mono --format json --progress none";
    let said = |told: &Told| -> Vec<String> {
        crate::processes::results(told).iter().map(|result| result["verdict"].to_string()).collect()
    };
    let alone = said(&place.run(call));
    place.write("hosts.txt", local_hosts(2, ""));
    let mut command = place.command(format!("{call} --hosts hosts.txt --checkpoint kept").split_whitespace());
    let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The last level of the states has none, and a line of its own.
    let kept = place.path().join("kept");
    wait_until("the last level", || levels_kept(&kept, 1) > 67);
    signal(children(launcher.id())[1], "KILL");
    let told = end(launcher, 60);
    assert!(told.err.contains("goes on from its checkpoint"), "{}", told.err);
    assert_eq!(said(&told), alone);
    assert!(!kept.join("search-1").exists(), "what is decided leaves nothing to go on with");
}

#[test]
fn nothing_listens_or_runs_after_the_end() {
    let place = Place::with("counters.pw", &counters(4));
    let ports = free_ports(2);
    place.write("hosts.txt", format!("local:{}\nlocal:{}\n", ports[0], ports[1]));
    place.run("explore counters.pw --hosts hosts.txt --progress none").exits(0);
    for port in ports {
        std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    }
}

#[test]
fn a_cut_checkpoint_goes_on_from_what_is_whole_and_a_foreign_one_is_refused() {
    let (place, alone) = place();
    place.write("hosts.txt", local_hosts(2, ""));
    let call = format!("{EXPLORE} --hosts hosts.txt --checkpoint levels");
    let (leader, other) = (start(&place, &call, 0, SECRET), start(&place, &call, 1, SECRET));
    wait_until("a level", || levels_kept(&place.path().join("levels"), 1) > 30);
    signal(other.id(), "KILL");
    drop(end(other, 5));
    end(leader, 20).exits(3);
    place.write("other.pw", counters(23));
    let foreign = "explore other.pw -N 3 --checkpoint levels --resume --progress none";
    place.run(foreign).exits(2).complains("has a checkpoint of another program");
    place.run(&format!("{EXPLORE} --checkpoint levels")).exits(2).complains("`--resume` goes on with it");
    let states = place.path().join("levels/search-1/worker-0.states");
    let bytes = std::fs::read(&states).unwrap();
    std::fs::write(&states, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(counts(&place.run(&format!("{EXPLORE} --checkpoint levels --resume")).exits(0)), alone);
}

/// A level that a limit cut short is not one to go on with.
#[test]
fn a_search_that_a_limit_ended_is_resumed_without_gaps() {
    let place = Place::with("counters.pw", &counters(40));
    let alone = counts(&place.run(EXPLORE).exits(0));
    place.write("hosts.txt", local_hosts(2, ""));
    let call = format!("{EXPLORE} --hosts hosts.txt --checkpoint levels");
    let mut resumes = "";
    for milliseconds in [300, 500, 700] {
        let told = place.run(&format!("{call}{resumes} --timeout {milliseconds}ms"));
        assert!([0, 3].contains(&told.status), "{told:?}");
        if told.status == 0 {
            assert_eq!(counts(&told), alone);
        } else {
            resumes = " --resume";
        }
    }
    assert_eq!(counts(&place.run(&format!("{call} --resume")).exits(0)), alone);
}

/// `--disk` does on many hosts what it does on one, without a checkpoint; nothing is left of it.
#[test]
fn with_a_disk_a_search_ends_in_an_answer_where_memory_is_short() {
    let (place, alone) = place();
    std::fs::create_dir(place.path().join("spill")).unwrap();
    for hosts in ["local threads=2\n".to_owned(), local_hosts(2, "memory=40K")] {
        place.write("hosts.txt", hosts);
        let told = place.run(&format!("{EXPLORE} --hosts hosts.txt --memory 100K --disk spill")).exits(0);
        assert_eq!(counts(&told), alone);
        let most = told.json()["runs"][0]["hosts"][0]["peak_memory_bytes"].as_u64().unwrap();
        assert!(most <= 100 << 10, "{most}");
        assert_eq!(std::fs::read_dir(place.path().join("spill")).unwrap().count(), 0);
    }
}

/// The program alone takes more than a host has room for: that is a limit, of this host, and nothing is started again.
#[test]
fn a_host_whose_memory_is_too_small_ends_the_search_by_a_limit() {
    let text = "program large { shared x: [0..=1; 250000]; process P { skip; } allow deadlock; }";
    let place = Place::with("large.pw", text);
    let ports = free_ports(2);
    place.write("hosts.txt", format!("local:{}\nlocal:{} memory=1M\n", ports[0], ports[1]));
    for command in ["explore large.pw", "check large.pw --method mono"] {
        let told = place.run(&format!("{command} --hosts hosts.txt --format json --progress none")).exits(3);
        assert!(!told.err.contains("was lost"), "{}", told.err);
        let run = &told.json()["runs"][0];
        let reason = if command.starts_with("check") { &run["results"][0]["reason"] } else { &run["reason"] };
        assert_eq!(reason["code"], "memory-limit", "{run:#}");
        assert!(reason["text"].as_str().unwrap().starts_with("on host local: the memory limit of 1 MB"), "{run:#}");
    }
}

#[test]
fn where_memory_is_short_states_go_to_disk() {
    let (place, alone) = place();
    for (hosts, memory) in [("local threads=2\n".to_owned(), "100K"), (local_hosts(2, "memory=40K"), "1G")] {
        place.write("hosts.txt", hosts);
        let call = format!("{EXPLORE} --hosts hosts.txt --memory {memory}");
        if memory == "100K" {
            place.run(&call).exits(3);
        }
        let told = place.run(&format!("{call} --checkpoint levels")).exits(0);
        assert_eq!(counts(&told), alone);
        let most = told.json()["runs"][0]["hosts"][0]["peak_memory_bytes"].as_u64().unwrap();
        assert!(most <= 100 << 10, "{most}");
        let check = "check counters.pw -N 3 --method mono --format json --progress none --hosts hosts.txt";
        let (here, there) = (
            crate::processes::results(&place.run("check counters.pw -N 3 --method mono --format json --progress none")),
            crate::processes::results(&place.run(&format!("{check} --memory {memory} --checkpoint levels"))),
        );
        let said = |result: &serde_json::Value| {
            (result["verdict"].clone(), result["witness"]["steps"].as_array().map(Vec::len), result["depth"].clone())
        };
        assert_eq!(here.iter().map(said).collect::<Vec<_>>(), there.iter().map(said).collect::<Vec<_>>());
        assert!(!place.path().join("levels/search-1").exists());
    }
}
