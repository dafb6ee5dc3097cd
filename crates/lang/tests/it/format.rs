//! The formatter on small texts.

use base::SourceFile;
use lang::pw;

/// Formats `text`, expects `expected`, and formats that again without a change.
fn check(text: &str, expected: &str) {
    let format = |text: &str| pw::format(&SourceFile::new("t", text)).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(format(text), expected);
    assert_eq!(format(expected), expected, "formatting twice");
}

#[test]
fn the_first_example_of_the_language() {
    let text = "/// Mutual exclusion by one binary semaphore.
program mux_sem(N:2..){ // parameter
shared x:sem=1;

process P[i in 0..<N]{
 loop{
  noncrit:skip;
  trying:acquire x;   // one step
  crit:skip;
  leave:release x; }}
invariant mutex:forall i!=j:!(P[i]@crit&&P[j]@crit);
property busy:always eventually x==0;
property live:forall i:P[i]@trying~>P[i]@crit under strong P[*]@trying,every P[*];
reachable contend:exists i!=j:P[i]@trying&&P[j]@crit;
}";
    let expected = "/// Mutual exclusion by one binary semaphore.
program mux_sem(N: 2..) {  // parameter
  shared x: sem = 1;

  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;  // one step
      crit:    skip;
      leave:   release x;
    }
  }
  invariant mutex:   forall i != j: !(P[i]@crit && P[j]@crit);
  property  busy:    always eventually x == 0;
  property  live:    forall i: P[i]@trying ~> P[i]@crit under strong P[*]@trying, every P[*];
  reachable contend: exists i != j: P[i]@trying && P[j]@crit;
}
";
    check(text, expected);
}

#[test]
fn blocks_written_on_one_line_stay_there_if_they_are_simple() {
    check(
        "program t{process A{if a{x=1;}else{x=2;} if a { if b { skip; } }
         atomic{await x>0;x=x-1;} loop { l: skip; } either{}or{skip;}
 either{l:skip;}
 or{long:x=1;} }}",
        "program t {
  process A {
    if a { x = 1; } else { x = 2; }
    if a {
      if b { skip; }
    }
    atomic { await x > 0; x = x - 1; }
    loop { l: skip; }
    either {} or { skip; }
    either { l: skip; }
    or     { long: x = 1; }
  }
}
",
    );
    check(
        "program t { enum E{a,b,\nc} enum F {a,b} fairness s{weak A;progress;} process A { skip; } }",
        "program t {
  enum E {
    a,
    b,
    c
  }
  enum F { a, b }
  fairness s { weak A; progress; }
  process A { skip; }
}
",
    );
}

#[test]
fn neighbours_are_aligned() {
    check(
        "program t { shared a:bool; shared long, er:lock=1;
  shared c:bool;

  shared d:bool;
  process A { public x:bool; local yy:bool;
    a:skip;
    x=1;
    // comment
    bbb:skip;
    if x { cc:skip; }
    a:b:skip;
    while x {
      dddd:skip;
    }
    e:skip;
  } }",
        "program t {
  shared a:        bool;
  shared long, er: lock = 1;
  shared c:        bool;

  shared d: bool;
  process A {
    public x:  bool;
    local  yy: bool;
    a:    skip;
    x = 1;
    // comment
    bbb:  skip;
    if x { cc: skip; }
    a: b: skip;
    while x {
      dddd: skip;
    }
    e: skip;
  }
}
",
    );
}

#[test]
fn comments_keep_their_column_if_there_is_room() {
    check(
        "program t {
  shared a: bool;        // one
  shared b: [bool; 3];   // two
  shared c: bool;
  shared d: bool;   // three
  shared e: bool;     // four
  shared f: bool; // five
}",
        "program t {
  shared a: bool;        // one
  shared b: [bool; 3];   // two
  shared c: bool;
  shared d: bool;  // three
  shared e: bool;  // four
  shared f: bool;  // five
}
",
    );
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "// top
program t { // after the brace
  // before a statement
  process A { x = 1; // end of line
    yy = 22;// next

    // last in the block
  } /* a block comment */ /* and another */ process B { skip; }
  invariant i: a && // why
    /* inside */ b;
}
// bottom",
        "// top
program t {  // after the brace
  // before a statement
  process A {
    x = 1;    // end of line
    yy = 22;  // next

    // last in the block
  } /* a block comment */  /* and another */
  process B { skip; }
  invariant i: a &&  // why
      /* inside */ b;
}
// bottom
",
    );
}

#[test]
fn the_users_line_ends_and_spellings_stay() {
    check(
        "program t { property p: a and b\n or not c => [] <> d\n  under weak A ; process A { l:\n await a\n;  } }",
        "program t {
  property p: a and b
      or not c => [] <> d
      under weak A;
  process A {
    l: await a;
  }
}
",
    );
}

#[test]
fn operators_have_blanks_and_signs_have_none() {
    check(
        "program t { define d(a,b)=-a- -b*(3+!c [ 1 ].x) as pid; hint expose P [ * ] @ { a , b } , @c;
         shared v:[pid(P)?;N]=none; shared w:[[0..<3;2];2]=[[1,2],[0;2]]; const K=count( r in 0..=R:r>0 ); }",
        "program t {
  define d(a, b) = -a - -b * (3 + !c[1].x) as pid;
  hint expose P[*]@{a, b}, @c;
  shared v: [pid(P)?; N] = none;
  shared w: [[0..<3; 2]; 2] = [[1, 2], [0; 2]];
  const K = count(r in 0..=R: r > 0);
}
",
    );
}

#[test]
fn what_does_not_parse_is_refused() {
    assert!(pw::format(&SourceFile::new("t", "program t { skip }")).is_err());
}
