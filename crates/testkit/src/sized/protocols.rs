//! Small protocols that work at every size, one statement a line: rings, chains and trees, locks, counters, broadcasts, a process that serves others.
//!
//! Their places are `l0`, `l1`, …; the array of all is `c`, a public number of each process is `x`, so that random properties can speak of them.

/// A protocol and what random properties may say about it.
pub(super) struct Protocol {
    /// The program but for its last brace.
    pub text: &'static str,
    /// How many places there are.
    pub n_labels: usize,
    /// Which of `x`, `g` and `p` there are.
    pub has: &'static str,
}

pub(super) const PROTOCOLS: [Protocol; 23] = [
    Protocol {
        text: "
program token_on_links(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    public x: 0..=1 = if i == 0 then 1 else 0;
    loop {
      l0: atomic { await x == 1 || c[i] == 1; x = 1; c[i] = 0; }
      l1: skip;
      l2: atomic { x = 0; c[(i + 1) % N] = 1; }
    }
  }
  invariant one: forall i != j: !(P[i]@l1 && P[j]@l1);
  property served: forall i: always eventually P[i]@l1 under weak P[*];",
        n_labels: 3,
        has: "x",
    },
    Protocol {
        text: "
program forks(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    loop {
      l0: idle;
      l1: atomic { await c[if i == 0 then 1 else i] == 0; c[if i == 0 then 1 else i] = 1; }
      l2: atomic { await c[if i == 0 then 0 else (i + 1) % N] == 0; c[if i == 0 then 0 else (i + 1) % N] = 1; }
      l3: skip;
      l4: c[if i == 0 then 0 else (i + 1) % N] = 0;
      l5: c[if i == 0 then 1 else i] = 0;
    }
  }
  invariant apart: forall i: !(P[i]@l3 && P[(i + 1) % N]@l3);
  property live: forall i: P[i]@l1 ~> P[i]@l3 under strong P[*]@l1, strong P[*]@l2, weak P[*];",
        n_labels: 6,
        has: "",
    },
    Protocol {
        text: "
program locks_between(N: 2..) {
  shared c: [0..=1; N];
  shared m: [lock; N];
  process P[i in 0..<N] {
    loop {
      l0: acquire m[if i % 2 == 0 then i else (i + 1) % N];
      l1: acquire m[if i % 2 == 0 then (i + 1) % N else i];
      l2: c[i] = 1;
      l3: c[i] = 0;
      l4: release m[i];
      l5: release m[(i + 1) % N];
    }
  }
  invariant apart: forall i: !(P[i]@l3 && P[(i + 1) % N]@l3);",
        n_labels: 6,
        has: "",
    },
    Protocol {
        text: "
program handed_down(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    loop {
      l0: atomic { await i == 0 || c[i] == 1; c[i] = 0; }
      l1: skip;
      l2: atomic { await i == N - 1 || c[(i + 1) % N] == 0; c[(i + 1) % N] = if i == N - 1 then 0 else 1; }
    }
  }
  property comes: forall i: always eventually P[i]@l1 under weak P[*];",
        n_labels: 3,
        has: "",
    },
    Protocol {
        text: "
program waves(N: 2..) {
  shared c: [0..=1; N] = any;
  process P[i in 0..<N] {
    loop {
      l0: atomic { await if i == 0 then c[0] == c[N - 1] else c[i] != c[(i + N - 1) % N]; c[i] = if i == 0 then 1 - c[0] else c[(i + N - 1) % N]; }
      l1: skip;
    }
  }
  invariant numbers: forall i: c[i] == 0 || c[i] == 1;
  property again: always eventually exists i: P[i]@l1 under weak P[*];",
        n_labels: 2,
        has: "",
    },
    Protocol {
        text: "
program token_by_name(N: 2..) {
  shared c: [0..=1; N];
  shared p: pid(P)? = 0;
  process P[i in 0..<N] {
    loop {
      l0: await p == i;
      l1: c[i] = 1;
      l2: c[i] = 0;
      l3: p = (i + 1) % N;
    }
  }
  invariant one: forall i != j: !(c[i] == 1 && c[j] == 1);
  property visits: forall i: always eventually p == i under weak P[*];",
        n_labels: 4,
        has: "p",
    },
    Protocol {
        text: "
program semaphore(N: 2..) {
  shared c: [0..=1; N];
  shared g: 0..=1 = 1;
  process P[i in 0..<N] {
    loop {
      l0: skip;
      l1: atomic { await g == 1; g = 0; c[i] = 1; }
      l2: skip;
      l3: atomic { g = 1; c[i] = 0; }
    }
  }
  invariant one: forall i != j: !(P[i]@l2 && P[j]@l2);
  invariant held: g == 0 <=> exists i: P[i]@{l2, l3};
  property live: forall i: P[i]@l1 ~> P[i]@l2 under strong P[*]@l1, every P[*];",
        n_labels: 4,
        has: "g",
    },
    Protocol {
        text: "
program owner(N: 2..) {
  shared c: [0..=1; N];
  shared p: pid(P)? = none;
  process P[i in 0..<N] {
    loop {
      l0: atomic { await p == none; p = i; }
      l1: c[i] = 1;
      l2: c[i] = 0;
      l3: p = none;
    }
  }
  invariant mine: forall i: P[i]@{l1, l2, l3} => p == i;
  property somebody: always eventually exists i: P[i]@l2 under weak P[*];",
        n_labels: 4,
        has: "p",
    },
    Protocol {
        text: "
program flags(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    loop {
      l0: idle;
      l1: await forall k: k < i => c[k] == 0;
      l2: c[i] = 1;
      l3: if exists k: k < i && c[k] == 1 { goto l6; }
      l4: await forall k: k > i => c[k] == 0;
      l5: skip;
      l6: c[i] = 0;
    }
  }
  invariant one: forall i != j: !(P[i]@l5 && P[j]@l5);",
        n_labels: 7,
        has: "",
    },
    Protocol {
        text: "
program readers(N: 2..) {
  shared c: [0..=1; N];
  shared p: pid(P)? = none;
  process P[i in 0..<N] {
    loop {
      l0: either {
        l1: atomic { await p == none; c[i] = 1; }
        l2: c[i] = 0;
      } or {
        l3: atomic { await p == none; p = i; }
        l4: await forall k: c[k] == 0;
        l5: p = none;
      }
    }
  }
  invariant alone: forall i != j: !(P[i]@l5 && P[j]@{l2, l5});",
        n_labels: 6,
        has: "p",
    },
    Protocol {
        text: "
program lines(N: 2..) {
  shared c: [0..=1; N];
  shared g: 0..=1;
  process P[i in 0..<N] {
    public x: 0..=1;
    loop {
      l0: atomic { await c[i] == 0; for k in 0..<N { c[k] = 0; } c[i] = 1; g = 1; }
      l1: atomic { if c[i] == 1 { g = 0; c[i] = 0; } }
    }
  }
  invariant one: forall i != j: !(c[i] == 1 && c[j] == 1);
  invariant current: g == 1 <=> exists i: c[i] == 1;",
        n_labels: 2,
        has: "xg",
    },
    Protocol {
        text: "
program home(N: 2..) {
  shared c: [0..=1; N];
  shared r: [0..=2; N];
  process P[i in 0..<N] {
    public x: 0..=1;
    loop {
      l0: either {
        l1: atomic { await r[i] == 0 && x == 0; r[i] = 1; }
      } or {
        l2: atomic { await r[i] == 2; r[i] = 0; x = 1; }
      } or {
        l3: atomic { await c[i] == 1 && r[i] == 0; c[i] = 0; x = 0; }
      }
    }
  }
  process S {
    local k: pid(P)? = none;
    local given: bool;
    local to: pid(P)? = none;
    loop {
      h0: either {
        atomic { await !given; k = any; await k != none; await r[k] == 1; r[k] = 2; given = true; to = k; k = none; }
      } or {
        atomic { await given && to != none; await c[to] == 0 && P[to].x == 1; c[to] = 1; }
      } or {
        atomic { await given && to != none; await c[to] == 0 && P[to].x == 0 && r[to] == 0; given = false; to = none; }
      }
    }
  }
  invariant one: forall i != j: !(P[i].x == 1 && P[j].x == 1);",
        n_labels: 4,
        has: "x",
    },
    Protocol {
        text: "
program counter(N: 2..) {
  shared c: [0..=1; N];
  shared n: 0..=N;
  process P[i in 0..<N] {
    loop {
      l0: atomic { n = n + 1; c[i] = 1; }
      l1: skip;
      l2: atomic { n = n - 1; c[i] = 0; }
    }
  }
  invariant sum: n == count(i: c[i] == 1);
  invariant some: n == 0 => forall i: P[i]@l0;",
        n_labels: 3,
        has: "",
    },
    Protocol {
        text: "
program all_arrive(N: 2..) {
  shared c: [0..=1; N];
  shared n: 0..=N;
  shared g: 0..=1;
  process P[i in 0..<N] {
    l0: c[i] = 1;
    l1: atomic { n = n + 1; if n == N { g = 1; } }
    l2: await g == 1;
    l3: skip;
  }
  invariant all: forall i != j: !(P[i]@l3 && P[j]@l1);
  invariant opened: g == 1 => forall i: c[i] == 1;
  property passes: forall i: eventually P[i]@l3 under weak P[*];",
        n_labels: 4,
        has: "g",
    },
    Protocol {
        text: "
program leader(N: 2..) {
  shared c: [0..=1; N];
  shared g: 0..=1;
  process P[i in 0..<N] {
    loop {
      l0: await if i == 0 then g == 0 else g == 1 && c[i] == 0;
      l1: c[i] = if i == 0 then 0 else 1;
      l2: if i == 0 { g = 1; }
    }
  }
  invariant first: c[0] == 0;
  invariant later: (exists i: c[i] == 1) => g == 1;",
        n_labels: 3,
        has: "g",
    },
    Protocol {
        text: "
program two_families(N: 2..) {
  shared c: [0..=1; N];
  shared g: 0..=1;
  process P[i in 0..<N] {
    loop {
      l0: atomic { await g == 0; c[i] = 1; }
      l1: skip;
      l2: c[i] = 0;
    }
  }
  process W[w in 0..<2] {
    loop {
      w0: atomic { await g == 0 && forall k in P: c[k] == 0; g = 1; }
      w1: skip;
      w2: g = 0;
    }
  }
  invariant alone: (exists w in W: W[w]@w1) => forall i in P: !P[i]@l1;
  invariant one: forall v != w in W: !(W[v]@w1 && W[w]@w1);",
        n_labels: 3,
        has: "g",
    },
    Protocol {
        text: "
program two_sizes_alike(N: 2..) {
  shared c: [0..=1; N];
  shared p: pid(P)? = none;
  process P[i in 0..<N] {
    loop {
      l0: atomic { await p == none; p = i; }
      l1: await c[i] == 1;
      l2: atomic { p = none; c[i] = 0; }
    }
  }
  process Q[k in 0..<N] {
    loop {
      q0: atomic { await p == k; c[k] = 1; }
      q1: skip;
    }
  }
  invariant asked: forall i in P: c[i] == 1 => p == i;
  invariant one: forall i != j in P: !(P[i]@l2 && P[j]@l2);",
        n_labels: 3,
        has: "p",
    },
    Protocol {
        text: "
program turn(N: 2..) {
  shared c: [0..=1; N];
  shared p: pid(P)? = none;
  process P[i in 0..<N] {
    public x: 0..=1;
    loop {
      l0: x = 1;
      l1: p = i;
      l2: await p != i || forall k: k == i || P[k].x == 0;
      l3: c[i] = 1;
      l4: atomic { x = 0; c[i] = 0; }
    }
  }
  invariant raised: forall i: P[i]@{l1, l2, l3, l4} => P[i].x == 1;
  invariant last: forall i: P[i]@l2 => p != none;",
        n_labels: 5,
        has: "xp",
    },
    Protocol {
        text: "
program tickets(N: 2..) {
  shared c: [0..=1; N];
  shared next: 0..=2;
  shared g: 0..=2;
  process P[i in 0..<N] {
    local mine: 0..=2;
    loop {
      l0: atomic { await (next + 1) % 3 != g; mine = next; next = (next + 1) % 3; }
      l1: await mine == g;
      l2: c[i] = 1;
      l3: c[i] = 0;
      l4: g = (g + 1) % 3;
    }
  }
  invariant one: forall i != j: !(P[i]@l2 && P[j]@l2);
  property live: forall i: P[i]@l1 ~> P[i]@l2 under weak P[*];",
        n_labels: 5,
        has: "g",
    },
    Protocol {
        text: "
program tree_forks(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    loop {
      l0: idle;
      l1: atomic { await i == 0 || c[i] == 0; c[i] = 1; }
      l2: if 2 * i + 1 < N { l3: atomic { await c[2 * i + 1] == 0; c[2 * i + 1] = 1; } }
      l4: if 2 * i + 2 < N { l5: atomic { await c[2 * i + 2] == 0; c[2 * i + 2] = 1; } }
      l6: skip;
      l7: if 2 * i + 2 < N { c[2 * i + 2] = 0; }
      l8: if 2 * i + 1 < N { c[2 * i + 1] = 0; }
      l9: c[i] = 0;
    }
  }
  invariant apart: forall i: i > 0 => !(P[i]@l6 && P[(i - 1) / 2]@l6);
  property live: forall i: P[i]@l1 ~> P[i]@l6 under strong P[*]@l1, strong P[*]@l3, strong P[*]@l5, weak P[*];",
        n_labels: 10,
        has: "",
    },
    Protocol {
        text: "
program down_the_tree(N: 2..) {
  shared c: [0..=1; N];
  process P[i in 0..<N] {
    loop {
      l0: atomic { await i == 0 || c[i] == 1; c[i] = 0; }
      l1: skip;
      l2: if 2 * i + 1 < N { c[2 * i + 1] = 1; }
      l3: if 2 * i + 2 < N { c[2 * i + 2] = 1; }
    }
  }
  invariant told: forall i: P[i]@l1 => i == 0 || c[i] == 0 || c[i] == 1;
  property served: forall i: always eventually P[i]@l1 under weak P[*];",
        n_labels: 4,
        has: "",
    },
    Protocol {
        text: "
program two_rows(N: 2..) {
  shared c: [0..=1; N];
  shared d: [[0..=1; 2]; N];
  process P[i in 0..<N] {
    public x: 0..=1 = if i == 0 then 1 else 0;
    loop {
      l0: atomic { await x == 1 || d[i][0] == 1; d[i][0] = 0; x = 1; c[i] = 1; }
      l1: atomic { x = 0; c[i] = 0; d[i][1] = 1; }
      l2: atomic { await d[i][1] == 1; d[i][1] = 0; d[(i + 1) % N][0] = 1; }
    }
  }
  invariant one: forall i != j: !(c[i] == 1 && c[j] == 1);
  property served: forall i: always eventually P[i]@l1 under weak P[*];",
        n_labels: 3,
        has: "x",
    },
    Protocol {
        text: "
program scan(N: 2..) {
  shared c: [0..=1; N];
  shared g: 0..<N;
  process P[i in 0..<N] {
    public x: 0..=1;
    loop {
      l0: x = 1;
      for k in 0..<N { l1: if k != i { l2: await P[k].x == 0 && forall j: j == i || j == k || P[j].x == 0; } }
      l3: c[i] = 1;
      l4: atomic { x = 0; c[i] = 0; }
    }
  }
  invariant one: forall i != j: !(P[i]@l3 && P[j]@l3);
  invariant raised: forall i: P[i]@{l1, l2, l3} => P[i].x == 1;",
        n_labels: 5,
        has: "xg",
    },
];
