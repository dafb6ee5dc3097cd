//! `fmt`: in place, to the standard output, or only looked at.

use std::fs;

use crate::support::Place;

const UGLY: &str = "program p {\n shared x:0..=3=0; // kept\n process A { a:await x==1; }\n}\n";

#[test]
fn files_are_formatted_in_place_and_only_where_needed() {
    let place = Place::with("ugly.pw", UGLY);
    place.run("fmt --check ugly.pw").exits(1).prints("ugly.pw\n");
    assert_eq!(place.read("ugly.pw"), UGLY);
    let told = place.run("fmt ugly.pw").exits(0);
    assert_eq!((told.out.as_str(), told.err.as_str()), ("", ""));
    let formatted = place.read("ugly.pw");
    assert_ne!(formatted, UGLY);
    assert!(formatted.contains("// kept"));
    place.run("fmt --check ugly.pw").exits(0);
    place.run("fmt ugly.pw").exits(0);
    assert_eq!(place.read("ugly.pw"), formatted);
    assert_eq!(place.names(), ["ugly.pw"]);
}

#[test]
fn the_standard_input_goes_to_the_standard_output() {
    let place = Place::with("ugly.pw", UGLY);
    let told = place.run_with_input("fmt -", UGLY).exits(0);
    place.run("fmt ugly.pw").exits(0);
    assert_eq!(told.out, place.read("ugly.pw"));
    place.run_with_input("fmt --check -", UGLY).exits(1).prints("<stdin>");
    place.run_with_input("fmt -", "program {").exits(2).complains("error[");
}

#[test]
fn a_file_with_errors_is_never_written_and_the_others_are() {
    let place = Place::with("ugly.pw", UGLY);
    place.write("wrong.pw", "program  p {");
    place.run("fmt wrong.pw ugly.pw").exits(2).complains("nothing was written");
    assert_eq!(place.read("wrong.pw"), "program  p {");
    assert_ne!(place.read("ugly.pw"), UGLY);
}

#[test]
fn a_directory_is_formatted_file_by_file() {
    let place = Place::new();
    place.write("d/a.pw", UGLY);
    place.write("d/deep/b.pw", UGLY);
    let told = place.run("fmt --check d").exits(1);
    assert_eq!(told.out, "d/a.pw\nd/deep/b.pw\n");
    place.run("fmt d").exits(0);
    place.run("fmt --check d").exits(0);
}

#[test]
fn the_examples_are_formatted() {
    let place = Place::new();
    for path in crate::support::examples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(name, fs::read(&path).unwrap());
    }
    let told = place.run("fmt --check .");
    assert_eq!(told.out, "", "run `piecewise fmt examples`");
    told.exits(0);
}
