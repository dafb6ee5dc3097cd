//! What people meet first: completions, warnings, names as they are written, what a proof is compared with.

use std::process::Command;

use crate::support::{Place, Told, examples};

const LOCK: &str = "program lock(N: 2..) {\n  shared m: lock;\n  process P[i in 0..<N] { loop { enter: acquire m; crit: skip; leave: release m; } }\n  \
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);\n  invariant owned: forall i: P[i]@crit => m.owner == P[i];\n}\n";

#[test]
fn a_shell_completes_the_properties_of_the_programs_on_the_line() {
    let place = Place::with("lock.pw", LOCK);
    place.run("names lock.pw nowhere.pw").exits(0).prints("deadlock_free\nmutex\nowned\n");
    let bash = |script: &str| Command::new("bash").args(["-c", script]).current_dir(place.path()).output();
    if bash("true").is_err() {
        println!("skipped: there is no bash");
        return;
    }
    place.write("script", place.run("completions bash").exits(0).out);
    let tool = std::path::Path::new(env!("CARGO_BIN_EXE_piecewise"));
    let script = format!(
        "PATH={}:$PATH; . ./script; COMP_WORDS=(piecewise check lock.pw --property m); COMP_CWORD=4; \
         _piecewise piecewise m --property; echo \"${{COMPREPLY[@]}}\"",
        tool.parent().unwrap().display()
    );
    assert_eq!(Told::new(&bash(&script).unwrap()).out, "mutex\n");
}

#[test]
fn the_examples_use_what_they_declare() {
    let place = Place::new();
    for path in examples() {
        let told = Told::new(&place.command(["export", "--to", "dot"]).arg(&path).output().unwrap());
        assert!(!told.err.contains("W0202"), "{}\n{}", path.display(), told.err);
    }
}

#[test]
fn what_is_not_used_is_said() {
    let text = LOCK.replace("shared m: lock;", "shared m: lock; shared spare: bool;");
    let place = Place::with("lock.pw", &text);
    place.run("check lock.pw").exits(0).complains("warning[W0202]: `spare` is never used");
    let place = Place::with("lock.pw", &text.replace("spare", "_spare"));
    assert_eq!(place.run("check lock.pw").exits(0).err, "");
}

#[test]
fn proofs_name_fields_and_sets_as_they_are_written_and_can_be_pasted() {
    let text = "program cache(N: 2..) {\n  enum State { none_yet, mine }\n  struct Line { st: State, data: 0..=1 }\n  shared c: [Line; N];\n  \
        shared seen: set of 0..<N;\n  shared bus: lock;\n  process P[i in 0..<N] {\n    loop {\n      take: acquire bus;\n      \
        use: atomic { c[i] = Line(mine, 1); insert seen(i); }\n      drop: atomic { c[i] = Line(none_yet, 0); remove seen(i); }\n      give: release bus;\n    }\n  }\n  \
        invariant alone: forall i != j: !(c[i].st == mine && c[j].st == mine);\n  invariant same: forall i: c[i].st == mine => i in seen;\n}\n";
    let place = Place::with("cache.pw", text);
    let document = place.run("check cache.pw --method tmmc --format json").exits(0).json();
    let mut pasted = Vec::new();
    for result in document["runs"][0]["results"].as_array().unwrap() {
        for one in result["invariants"].as_array().unwrap() {
            assert!(!one["text"].as_str().unwrap().contains("c.st["), "{one}");
            let (at, process) = (one["at"].as_array().unwrap(), one["process"].as_str().unwrap_or_default());
            if let (Some(expression), true, true) = (one["expression"].as_str(), at.is_empty(), process.is_empty()) {
                pasted.push(expression.to_owned());
            }
        }
        assert!(result["product"]["complete"].as_bool().unwrap(), "{result}");
    }
    let all = document.to_string();
    assert!(all.contains("].st") && all.contains(" in seen"), "{all}");
    let invariants: String = pasted.iter().enumerate().map(|(n, one)| format!("  invariant p{n}: {one};\n")).collect();
    place.write("cache.pw", text.replacen("  invariant alone", &format!("{invariants}  invariant alone"), 1));
    place.run("check cache.pw --method mono -q").exits(0);
}

#[test]
fn an_assumption_is_named_as_it_is_written() {
    let text = "program p(N: 1..) { shared x: 0..=1; process P[i in 0..<N] { loop { up: x = 1; down: x = 0; } } \
        property ups: always eventually x == 1 under weak P[*]; }";
    Place::with("p.pw", text).run("check p.pw").exits(0).prints("weak P[*]   not needed");
}
