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
    for (line, completed) in [
        ("check lock.pw --property m", "mutex"),
        ("check lock.pw --method comp", "completion"),
        ("check lock.pw --method mono,pa", "mono,pairwise"),
        ("check lock.pw --format human,sa", "human,sarif"),
        ("explain E0103", "E0103"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let script = format!(
            "PATH={}:$PATH; . ./script; COMP_WORDS=(piecewise {line}); COMP_CWORD={}; \
             _piecewise piecewise {last} {before}; echo \"${{COMPREPLY[@]}}\"",
            tool.parent().unwrap().display(),
            words.len()
        );
        assert_eq!(Told::new(&bash(&script).unwrap()).out, format!("{completed}\n"), "{line}");
    }
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

/// Two servers ask each other's mailboxes full while a third one is content to wait.
const MAIL: &str = "program mail {\n  struct Ask { from: pid(S), n: 0..=1 }\n  chan box[3]: [1] of (Ask);\n  shared seen: set of pid(S);\n  \
    process S[i in 0..<3] {\n    local a: Ask;\n    loop {\n      end main: either {\n        ask: atomic { await i < 2 && !(i in seen); insert seen(i); }\n        \
    first: send box[2](Ask(i, 0));\n        second: send box[2](Ask(i, 1));\n      } or {\n        hear: receive box[i](Ask(a.from, = 1));\n      }\n    }\n  }\n}\n";

#[test]
fn who_waits_for_a_channel_is_said_in_words_and_who_may_stay_is_not_said_to_have_ended() {
    let told = Place::with("mail.pw", MAIL).run("check mail.pw --property deadlock_free").exits(1);
    let told = told.prints("2 of 3 processes are stuck (the other one may stay where");
    let told = told.prints("waits for room in box[2]").prints("box[2] is [(");
    // A branch of a choice with a label of its own is named by it, also where the choice has a label.
    let told = told.prints("ask → first").prints("seen: {} ⇒ {");
    assert!(!told.out.contains("box.len") && !told.out.contains("main → first"), "{}", told.out);
}

#[test]
fn what_is_in_a_set_is_said_as_it_is_written() {
    let text = "program s(N: 2.. = 3, M: 1..) {\n  shared s: set of 0..<N;\n  shared x: 0..=M;\n  process A { insert s(1); await 0 in s; }\n  \
        process B { await 1 in s; if 1 in s { x = if 0 in s then 0 else M + 1; } }\n}\n";
    let place = Place::with("s.pw", text);
    let told = place.run("check s.pw --method mono").exits(1).prints("s  N = 3 (default), M = 1 (least)");
    let told = told.prints("where  0 not in s");
    assert!(!told.out.contains("s[0]") && !told.out.contains("is F"), "{}", told.out);
    place.write("s.pw", "program s { shared s: set of 0..<2; process A { await 0 in s; } process B { insert s(1); } }");
    let told = place.run("check s.pw").exits(1).prints("1 of 2 processes is stuck (the other one has ended):");
    told.prints("waits for 0 in s  0 not in s");
}

#[test]
fn what_is_proposed_for_the_standard_input_reads_it_again() {
    let told = Place::new().run_with_input("check - --property deadlock_free", MAIL).exits(1);
    told.prints("piecewise check - --property deadlock_free --trace DIR");
}

#[test]
fn a_c_locale_sees_ascii_in_proofs_for_every_size() {
    let place = Place::with("lock.pw", LOCK);
    let told = Told::new(&place.command(["check", "lock.pw"]).env("LC_ALL", "C").output().unwrap());
    assert!(told.out.is_ascii() && told.out.contains("every N >= 2"), "{}", told.out);
}

#[test]
fn a_sweep_marks_what_is_vacuous_and_names_its_parameter() {
    let text = "program v(K: 2..) {\n  shared x, y: 0..<K;\n  process P { loop { x = any; } }\n  process Q { loop { y = any; } }\n  \
        invariant never: x > K => y == 0;\n  invariant small: x < K;\n}\n";
    let place = Place::with("v.pw", text);
    let told = place.run("check v.pw -D K=2..8 --method mono").exits(0).prints(" vacuous");
    let told = told.prints("grows about as K^2.0");
    assert!(!told.out.contains("N^"), "{}", told.out);
    let told = place.run("check v.pw --property never --method tmmc").exits(0).prints("VACUOUS");
    assert!(!told.out.contains("Not vacuous"), "{}", told.out);
}

#[test]
fn the_bracket_of_a_loop_goes_on_beside_later_lines() {
    let text = "program l(N: 6..) {\n  shared alpha: [0..<N; N];\n  process P[i in 0..<N] {\n    loop {\n      go: atomic { for k in P { alpha[k] = (alpha[k] + 1) % 2; } }\n      \
        back: atomic { for k in P { alpha[k] = (alpha[k] + 1) % 2; } }\n    }\n  }\n  property p: eventually alpha[0] == 5 under weak P[*];\n}\n";
    let told = Place::with("l.pw", text).run("check l.pw --property p --method mono").exits(1);
    let lines: Vec<&str> = told.out.lines().collect();
    let start = lines.iter().position(|line| line.contains("┌▶")).unwrap();
    let end = lines.iter().position(|line| line.contains("└─")).unwrap();
    let column = lines[start].find("┌▶").unwrap();
    assert!(end > start + 2, "{}", told.out);
    for line in &lines[start + 1..end] {
        assert_eq!(line.find('│'), Some(column), "{}", told.out);
    }
    let zero = lines.iter().find(|line| line.trim_start().starts_with("0  ")).unwrap();
    let first = lines.iter().find(|line| line.trim_start().starts_with("1  ")).unwrap_or(&lines[start]);
    let place = |line: &str| line.chars().position(|one| one.is_ascii_digit()).unwrap();
    let number = |line: &str| line.chars().skip(place(line)).take_while(char::is_ascii_digit).count() + place(line);
    assert_eq!(number(zero), number(first), "{}", told.out);
}

/// What is said of sets as wholes is shown as it is written, elements of enumerations by their names, and who waits stands in columns.
#[test]
fn sets_as_wholes_are_shown_as_they_are_written() {
    let text = "program s(N: 2..) {\n  enum Hue { red, green, blue }\n  shared s: set of Hue = {red, blue};\n  shared who: [set of pid; 2];\n  process P[i in 0..<N] {\n    \
        take: some h in s { remove s(h); }\n    both: await size(s) == 3 || who[1] == {i} || s == {green};\n  }\n  invariant full: !empty(s);\n  \
        invariant some_red: red in s;\n}\n";
    let place = Place::with("s.pw", text);
    let told = place.run("check s.pw --property deadlock_free").exits(1);
    let told = told.prints("P[0] both  waits for size(s) == 3 || who[1] == {0} || s == {green}");
    let told = told.prints("\n               size(s) is 0, who[1] is {}, s is {}");
    assert!(!told.out.contains('@'), "{}", told.out);
    let told =
        place.run("check s.pw --property full").exits(1).prints("where  s is {}").prints("s: {red, blue} ⇒ {blue}");
    assert!(!told.out.contains('@'), "{}", told.out);
    place.run("check s.pw --property some_red").exits(1).prints("red in s   is false   after step 1");
}

#[test]
fn a_test_says_what_came_of_it() {
    let text = "program t {\n  shared x: 0..=3;\n  process P {\n    while x < 2 {\n      if x == 1 { x = 3; } else { x = 1; }\n    }\n  }\n  invariant low: x < 3;\n}\n";
    let told = Place::with("t.pw", text).run("check t.pw --property low").exits(1);
    told.prints("while x < 2: yes → line 5:7").prints("if x == 1: no → line 5:35").prints("if x == 1: yes → line 5:19");
}

/// Loops over a family, and instances of an invariant, are named by index; of two loops with counters of one name each has its name alone.
#[test]
fn families_are_counted_by_index() {
    let text = "program a {\n  shared x: [0..=2; 2];\n  process Writer[w in 0..<2] {\n    first: for r in Reader { x[r] = 1; }\n    second: for r in Reader { x[r] = 2; }\n  }\n  \
        process Reader[r in 0..<2] { public seen: 0..=2; look: await x[r] == 2; seen = x[r]; }\n  \
        invariant apart: forall i != j in Reader: !(Reader[i].seen == 2 && Reader[j].seen == 2);\n}\n";
    let told = Place::with("a.pw", text).run("check a.pw --property apart --method mono").exits(1);
    let told = told.prints("r: 0 ⇒ 1").prints("is false for  i = 0, j = 1");
    assert!(!told.out.contains("Reader[0] ⇒") && !told.out.contains("r@"), "{}", told.out);
}

/// Who waits on a channel of a Promela model waits for a message or for room, and proofs speak of `len`.
#[test]
fn promela_waits_for_messages_and_room() {
    let text = "mtype = { req, ack };\nchan q = [1] of { mtype, byte };\nchan r = [1] of { mtype };\n\
        active proctype A() { q!req,1; q!req,2 }\nactive proctype B() { r?ack }\n";
    let place = Place::with("d.pml", text);
    let told = place.run("check d.pml --property deadlock_free").exits(1);
    let told = told.prints("waits for room in q").prints("waits for a fitting message in r").prints("r is []");
    assert!(!told.out.contains("length"), "{}", told.out);
    place.run("check d.pml --property no_errors --method tmmc").exits(0).prints("len(q)");
}

#[test]
fn a_run_that_was_kept_by_hand_is_about_no_property() {
    let place = Place::with("lock.pw", LOCK);
    place.run("sim lock.pw --seed 1 --steps 4 --trace run.itf.json").exits(0);
    place.run("replay run.itf.json lock.pw").exits(0).prints("✔ the trace is a run of lock: 4 steps\n");
    let mut changed: serde_json::Value = serde_json::from_str(&place.read("run.itf.json")).unwrap();
    let states = changed["states"].as_array_mut().unwrap();
    states[4] = states[2].clone();
    place.write("changed.itf.json", changed.to_string());
    place.run("replay changed.itf.json lock.pw").exits(1).prints("no run of lock").prints("step 4 of the trace");
    place
        .run("sim lock.pw --from run.itf.json --steps 2 --seed 1")
        .exits(0)
        .prints("2 steps taken with --seed 1 after the 4");
}

#[test]
fn steps_that_were_undone_are_taken_again_and_random_ones_have_a_seed() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run_with_input("sim lock.pw -i --seed 7", "x 6\nu 6\nr 4\nt\nq\n").exits(0);
    let again = place.run_with_input("sim lock.pw -i --seed 7", "x 4\nt\nq\n").exits(0);
    let run = |out: &str| out[out.find("  step  line").unwrap()..].to_owned();
    assert_eq!(run(&told.out), run(&again.out), "four of six steps are taken again");
    let other = place.run_with_input("sim lock.pw -i --seed 8", "x 4\nt\nq\n").exits(0);
    assert_ne!(run(&other.out), run(&again.out));
    place.run("sim lock.pw -i --until mutex").exits(2).complains("cannot be used with");
}

#[test]
fn many_who_wait_are_told_of_in_part() {
    let path = examples().into_iter().find(|path| path.ends_with("philosophers_broken.pw")).unwrap();
    let told = Place::new().run(&format!("check {} -N 40 --property deadlock_free --method schedules", path.display()));
    let told = told.exits(0).prints("Phil[7] half ").prints("… 31 more wait, too\n").prints("cycle of 40");
    assert!(!told.out.contains("Phil[8] half "), "{}", told.out);
}

/// The words of the program: a loop over a set, and numbers of messages.
#[test]
fn loops_over_sets_and_messages_are_shown_as_they_are_written() {
    let text = "program room {\n  chan box[2]: [1] of (bool);\n  shared members: set of 0..<2 = {0};\n  process Server { for k in members { tell: send box[k](true); } }\n  \
        invariant quiet: forall k in 0..<2: !empty(box[k]) => k in members && len(box[1]) > 0;\n}\n";
    let told = Place::with("room.pw", text).run("check room.pw --property quiet --method mono").exits(1);
    let told = told.prints("if k in members: yes").prints("len(box[1]) > 0").prints("box[1] is []");
    assert!(!told.out.contains("box.len"), "{}", told.out);
}

#[test]
fn a_c_locale_sees_ascii_in_explanations() {
    let place = Place::new();
    for what in lang::codes::all().map(|row| row.code).chain(driver::methods::available().map(|method| method.name)) {
        let told = Told::new(&place.command(["explain", what]).env("LC_ALL", "C").output().unwrap()).exits(0);
        assert!(told.out.is_ascii(), "{}", told.out);
    }
}

#[test]
fn narrow_screens_wrap_what_a_loop_shows() {
    let text = "program s {\n  shared turn: 0..<2;\n  process Reader[i in 0..<2] { loop { want: await turn == i; use: skip; pass: turn = 1 - i; } }\n  \
        property live: forall i: Reader[i]@want ~> Reader[i]@use;\n}\n";
    let place = Place::with("s.pw", text);
    let command = ["check", "s.pw", "--property", "live", "--method", "mono"];
    let told = Told::new(&place.command(command).env("COLUMNS", "60").output().unwrap()).prints("able to move in");
    // Commands are whole, to be pasted.
    let is_prose = |line: &&str| !line.contains("piecewise check");
    let widest = told.out.lines().filter(is_prose).map(|line| line.chars().count()).max();
    assert!(widest <= Some(60), "{}", told.out);
}
