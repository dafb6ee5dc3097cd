//! What random Promela programs declare: variables and channels to choose from.

/// A channel that statements may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) name: String,
    pub(super) fields: &'static [Field],
    /// Where its messages are kept; what only names a channel may be with or without.
    pub(super) buffer: Buffer,
}

/// Whether a channel keeps messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffer {
    Some,
    None,
    /// A variable, which may name both kinds.
    Either,
}

/// What a field of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Number,
    Name,
    /// A channel with messages of one number.
    Channel,
    /// A `typedef`, of which `ms` and `mt` are variables.
    Structure,
}

/// A declaration of channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    pub(super) declared: &'static str,
    /// What must be declared before.
    pub(super) needs: &'static str,
    pub(super) names: &'static [&'static str],
    pub(super) fields: &'static [Field],
    pub(super) buffer: Buffer,
}

impl Channels {
    /// The channels that statements name.
    pub(super) fn each(self) -> impl Iterator<Item = Channel> {
        self.names.iter().map(move |name| Channel {
            name: (*name).to_owned(),
            fields: self.fields,
            buffer: self.buffer,
        })
    }
}

/// The type of structures in messages.
pub(super) const STRUCTURE: &str = "typedef M { byte g; short h }; M ms; M mt;";

/// The channels to choose from.
pub(super) const CHANNELS: &[Channels] = &[
    Channels {
        declared: "chan q = [1] of { byte };",
        needs: "",
        names: &["q"],
        fields: &[Field::Number],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan r = [0] of { byte };",
        needs: "",
        names: &["r"],
        fields: &[Field::Number],
        buffer: Buffer::None,
    },
    Channels {
        declared: "chan w = [2] of { mtype, byte };",
        needs: "",
        names: &["w"],
        fields: &[Field::Name, Field::Number],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan v = [0] of { mtype, bit };",
        needs: "",
        names: &["v"],
        fields: &[Field::Name, Field::Number],
        buffer: Buffer::None,
    },
    Channels {
        declared: "chan z = [3] of { bit };",
        needs: "",
        names: &["z"],
        fields: &[Field::Number],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan qs[2] = [1] of { byte };",
        needs: "",
        names: &["qs[0]", "qs[1]", "qs[x0 & 1]"],
        fields: &[Field::Number],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan rs[2] = [0] of { short, bool };",
        needs: "",
        names: &["rs[1]", "rs[x0 & 1]"],
        fields: &[Field::Number, Field::Number],
        buffer: Buffer::None,
    },
    Channels {
        declared: "chan k = [2] of { short, bit, byte };",
        needs: "",
        names: &["k"],
        fields: &[Field::Number, Field::Number, Field::Number],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan qc = [1] of { chan };",
        needs: "",
        names: &["qc"],
        fields: &[Field::Channel],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan rc = [0] of { byte, chan };",
        needs: "",
        names: &["rc"],
        fields: &[Field::Number, Field::Channel],
        buffer: Buffer::None,
    },
    Channels {
        declared: "chan tp = [2] of { M };",
        needs: STRUCTURE,
        names: &["tp"],
        fields: &[Field::Structure],
        buffer: Buffer::Some,
    },
    Channels {
        declared: "chan tq = [2] of { M, bit };",
        needs: STRUCTURE,
        names: &["tq"],
        fields: &[Field::Structure, Field::Number],
        buffer: Buffer::Some,
    },
];

/// A declaration of variables, and the names of its elements.
pub(super) type Variables = (&'static str, &'static [&'static str]);

/// The variables to choose from.
pub(super) const VARIABLES: &[Variables] = &[
    ("byte x;", &["x"]),
    ("byte y = 254;", &["y"]),
    ("bit b;", &["b"]),
    ("bool f = true;", &["f"]),
    ("short s = 32766;", &["s"]),
    ("short s2 = -32768;", &["s2"]),
    ("int i = 2147483646;", &["i"]),
    ("int n = -3;", &["n"]),
    ("unsigned u : 3;", &["u"]),
    ("byte a[2];", &["a[0]", "a[1]", "a[x0 & 1]"]),
    ("bit ba[2];", &["ba[0]", "ba[1]"]),
    ("mtype m = A;", &["m"]),
    ("typedef T { byte g; bit h[2] }; T t;", &["t.g", "t.h[1]"]),
    ("typedef U { short c; byte d[2] }; U us[2];", &["us[0].c", "us[1].d[0]", "us[x0 & 1].d[1]"]),
    ("int l[2] = { 2, 1 };", &["l[0]", "l[1]"]),
    ("pid pp;", &["pp"]),
    ("mtype:colour = { RED, GREEN }; mtype:colour mc = GREEN;", &["mc"]),
    ("unsigned u1 : 1 = 1;", &["u1"]),
    ("show byte y2 = 3 * 85;", &["y2"]),
    ("mtype ma[2] = B;", &["ma[0]", "ma[x0 & 1]"]),
];

/// The variables that a process declares first.
pub(super) const LOCALS: &[Variables] = &[
    ("byte e1;", &["e1"]),
    ("short e1 = 3;", &["e1"]),
    ("bit e1;", &["e1"]),
    ("int e1 = -1;", &["e1"]),
    ("byte e1 = x0;", &["e1"]),
    ("byte e1 = 1, e2 = x0 + 1;", &["e1", "e2"]),
    ("byte e1[2];", &["e1[0]", "e1[1]", "e1[x0 & 1]"]),
    ("mtype e1 = C;", &["e1"]),
    ("unsigned e1 : 2 = 3;", &["e1"]),
    ("local bool e1 = true;", &["e1"]),
    ("pid e1 = _pid;", &["e1"]),
];
