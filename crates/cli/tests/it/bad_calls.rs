//! Wrong calls and wrong files: a clear message, status 2, and nothing written.

use crate::support::Place;
use testkit::skip::{Needs, skipped};

const GOOD: &str = include_str!("support/lock.pw");

fn place() -> Place {
    Place::with("lock.pw", GOOD)
}

#[test]
fn wrong_flags_are_refused() {
    let place = place();
    for (call, words) in [
        ("check", "required"),
        ("check lock.pw --nonsense", "--nonsense"),
        ("check lock.pw -N", "-N"),
        ("check lock.pw -N two", "`two` is not a number"),
        ("check lock.pw -N 6..2", "the range is empty"),
        ("check lock.pw -N 2..", "a sweep has two ends"),
        ("check lock.pw -N 99999999999999999999", "beyond 64 bits"),
        ("check lock.pw -D", "-D"),
        ("check lock.pw -D N", "NAME=VALUE"),
        ("check lock.pw -D N=x", "not a number"),
        ("check lock.pw -N 2 -D N=3", "given twice"),
        ("check lock.pw --timeout soon", "write a time as"),
        ("check lock.pw --timeout 0s", "write a time as"),
        ("check lock.pw --memory much", "write a size as"),
        ("check lock.pw -j 0", "a number of threads"),
        ("check lock.pw --format xml", "xml"),
        ("check lock.pw --color sometimes", "sometimes"),
        ("check lock.pw --progress loud", "loud"),
        ("check lock.pw --method magic", "there is no method `magic`"),
        ("check lock.pw --method mnoo", "did you mean `mono`?"),
        ("check lock.pw -v -q", "cannot be used with"),
        ("check lock.pw --property mutx", "did you mean `mutex`?"),
        ("check lock.pw --property zzz --property yyy", "no property matches `yyy`"),
        ("explore", "required"),
        ("replay lock.pw", "required"),
        ("proof", "Usage: piecewise proof"),
        ("proof check", "required"),
        ("proof chekc x y", "check"),
        ("proof check none.json lock.pw", "none.json: there is no such file"),
        ("proof check lock.pw lock.pw", "lock.pw: not a JSON file"),
        ("proof check lock.pw lock.pw -N 2..3", "is a sweep"),
        ("sim lock.pw --until nothing", "no property matches `nothing`"),
        ("sim lock.pw -N 2..3", "is a sweep"),
        ("sim lock.pw --seed -1", "-1"),
        ("sim lock.pw --interactive --until mutex", "cannot be used with"),
        ("explain", "required"),
        ("explain E9999", "there is no code `E9999`; near codes are"),
        ("explain nonsense", "codes look like E0103"),
        ("completions csh", "csh"),
        ("man chekc", "did you mean `check`?"),
        ("fmt", "required"),
        ("chekc", "did you mean the command `check`?"),
    ] {
        let told = place.run(call).exits(2).complains(words);
        assert_eq!(told.out, "", "{call}");
    }
    assert_eq!(place.names(), ["lock.pw"]);
}

#[test]
fn a_call_without_words_shows_help() {
    let told = Place::new().run("").exits(2);
    assert!(told.err.contains("Usage: piecewise"), "{}", told.err);
    Place::new().run("--help").exits(0).prints("Exit status");
    Place::new().run("--version").exits(0).prints("piecewise ");
    for command in ["check", "explore", "replay", "proof", "sim", "fmt", "explain", "completions", "man"] {
        Place::new().run(&format!("{command} --help")).exits(0).prints("Usage: piecewise");
        Place::new().run(&format!("man {command}")).exits(0).prints(".TH");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        Place::new().run(&format!("completions {shell}")).exits(0).prints("explore");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let place = place();
    place.write("bytes.pw", b"program p {\n\xff\xfe}");
    place.write("empty/notes.txt", "");
    for (call, words) in [
        ("check none.pw", "none.pw: there is no such file"),
        ("none.pw", "none.pw: there is no such file"),
        ("check none.pw gone.pw", "gone.pw: there is no such file"),
        ("check empty", "file in this directory"),
        ("check lock.pw/x.pw", "not a directory"),
        ("check bytes.pw", "UTF-8"),
        ("explore none.pw", "none.pw: there is no such file"),
        ("explore empty", "file in this directory"),
        ("sim none.pw", "none.pw: there is no such file"),
        ("fmt none.pw", "none.pw: there is no such file"),
        ("fmt bytes.pw", "UTF-8"),
        ("replay none.json lock.pw", "none.json: there is no such file"),
        ("replay lock.pw lock.pw", "not a JSON file"),
        ("replay bytes.pw lock.pw", "not UTF-8"),
    ] {
        place.run(call).exits(2).complains(words);
    }
}

#[cfg(unix)]
#[test]
fn files_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let path = place.write("secret.pw", GOOD);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        skipped(Needs::Machine("a user who may not read everything"));
        return;
    }
    place.run("check secret.pw").exits(2).complains("secret.pw: permission denied");
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let place = place();
    place.write("file", "");
    for (call, words) in [
        ("check lock.pw -o no/such/out.json", "no/such/out.json: the directory does not exist"),
        ("check lock.pw -o .", ".: this is a directory"),
        ("check lock.pw --trace file", "file: this is not a directory"),
        ("check lock.pw --trace file/below", "file/below"),
        ("check lock.pw --proof file", "file: this is not a directory"),
        ("check lock.pw --proof file/below", "file/below"),
        ("explore lock.pw -o no/such/out.json", "the directory does not exist"),
    ] {
        let told = place.run(call).exits(2).complains(words);
        assert_eq!(told.out, "", "{call}");
    }
    assert_eq!(place.names(), ["file", "lock.pw"]);
}

#[test]
fn a_wrong_call_replaces_an_old_document_by_one_with_the_errors() {
    let place = place();
    place.write("wrong.pw", "program p { shared x: nonsense; }");
    for call in ["check wrong.pw", "check lock.pw --property none", "check missing.pw"] {
        place.write("out.json", "old");
        place.run(&format!("{call} --format json -o out.json")).exits(2);
        let document: serde_json::Value = serde_json::from_str(&place.read("out.json")).unwrap();
        assert_eq!(document["status"], 2, "{call}");
    }
    assert_eq!(place.names(), ["lock.pw", "out.json", "wrong.pw"]);
}

#[test]
fn several_errors_are_shown_at_once_with_their_codes() {
    let place = Place::with("wrong.pw", "program p {\n  shared x: 0..3;\n  process A { await x = 1; }\n}\n");
    let told = place.run("check wrong.pw").exits(2).complains("error[E0103]").complains("error[E0111]");
    assert!(told.err.contains("2 errors; nothing was checked"), "{}", told.err);
    assert_eq!(told.out, "");
    let told = place.run("check wrong.pw --format json").exits(2);
    assert_eq!(told.json()["runs"][0]["results"].as_array().map(Vec::len), Some(0));
    assert_eq!(told.json()["runs"][0]["diagnostics"][0]["severity"], "error");
}

#[test]
fn properties_of_what_there_is_not_are_refused_before_any_method() {
    for (property, words) in [
        ("invariant bad: forall i: Q[i].y == 0;", "`Q`"),
        ("invariant bad: forall i: P[i].nothing == 0;", "`nothing`"),
        ("invariant bad: forall i: P[i]@nowhere;", "`nowhere`"),
        ("invariant bad: P[7].y == 0;", "7"),
    ] {
        let text = format!("program p(N: 2..) {{ process P[i in 0..<N] {{ local y: 0..=1; a: y = 1; }} {property} }}");
        let place = Place::with("p.pw", &text);
        for method in ["mono", "split", "completion"] {
            let told = place.run(&format!("check p.pw --method {method} --proof out")).exits(2);
            assert!(told.err.contains("error[") && told.err.contains(words), "{property}: {}", told.err);
            assert_eq!(told.out, "", "{property}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let place = place();
    place.run("check lock.pw -N 1").exits(2).complains("must be at least 2");
    place.run("check lock.pw -N 1..3").exits(2).complains("must be at least 2");
    place.run("check lock.pw -D M=3").exits(2).complains("no parameter `M`");
    place.write("other.pw", "program other { process A { skip; } }");
    place.run("check lock.pw other.pw -D M=3").exits(2).complains("no program has a parameter `M`");
}
