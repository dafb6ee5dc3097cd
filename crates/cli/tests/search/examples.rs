//! Counts, verdicts and lengths of runs equal those of one machine, with two threads and with two processes; temporal verdicts do, too. Here a few examples, from the command
//! to the document; all of them are compared without its starts and documents by the tests of `hosts`.

use crate::processes::{counts, local_hosts, results};
use crate::support::{Place, examples};

/// Examples with more states are left out: always, and where `PIECEWISE_ALL_EXAMPLES` does not ask for all.
const MOST: u64 = 200_000;
const FEW: u64 = 2_000;

/// One example of so many is looked at where not all are.
const STRIDE: usize = 9;

#[test]
fn examples_are_counted_and_decided_as_on_one_machine() {
    let all = std::env::var_os("PIECEWISE_ALL_EXAMPLES").is_some();
    let (most, stride) = if all { (MOST, 1) } else { (FEW, STRIDE) };
    let place = Place::new();
    place.write("threads.txt", "local threads=2\n");
    let (mut n_compared, mut n_temporal) = (0, 0);
    for path in examples().iter().step_by(stride) {
        let explore = format!("explore {} --format json --progress none", path.display());
        let here = place.run(&format!("{explore} --timeout 60s"));
        if here.status != 0 || counts(&here)[0] > most {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        place.write("processes.txt", local_hosts(2, ""));
        let check = format!("check {} --method mono --format json --progress none", path.display());
        let alone = place.run(&check);
        for hosts in ["threads.txt", "processes.txt"] {
            let told = place.run(&format!("{explore} --hosts {hosts}"));
            // Programs with procedures are refused by name.
            if told.status == 2 && told.err.contains("has procedures") {
                continue;
            }
            assert_eq!(counts(&told.exits(0)), counts(&here), "{name} {hosts}");
            let told = place.run(&format!("{check} --hosts {hosts}"));
            let (ours, theirs) = (results(&told), results(&alone));
            assert_eq!(ours.len(), theirs.len(), "{name} {hosts}: {}", told.err);
            for (our, their) in ours.iter().zip(&theirs) {
                if our["reason"]["code"] == "not-supported" {
                    continue;
                }
                assert_eq!(our["verdict"], their["verdict"], "{name} {hosts}: {our:#}");
                let length = |result: &serde_json::Value| {
                    let run = if result["witness"].is_null() { &result["counterexample"] } else { &result["witness"] };
                    run["steps"].as_array().map(Vec::len)
                };
                // Of fair loops any will do; a run to a state is shortest.
                if our["kind"] == "property" {
                    n_temporal += 1;
                } else {
                    assert_eq!(length(our), length(their), "{name} {hosts}: {our:#}");
                }
                n_compared += 1;
            }
        }
    }
    assert!(
        n_compared > 10 && n_temporal > 4,
        "only {n_compared} verdicts were compared, {n_temporal} of them temporal"
    );
}
