//! What random Promela programs declare: variables and channels to choose from.

/// A channel that statements may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredChannel {
    pub(super) name: String,
    pub(super) fields: &'static [MessageField],
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
pub(super) enum MessageField {
    Number,
    Name,
    /// A channel with messages of one number.
    Channel,
    /// A `typedef`, of which `ms` and `mt` are variables.
    Structure,
}

/// A declaration of channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelDeclaration {
    pub(super) declared: &'static str,
    /// What must be declared before.
    pub(super) needs: &'static str,
    pub(super) names: &'static [&'static str],
    pub(super) fields: &'static [MessageField],
    pub(super) buffer: Buffer,
}

impl ChannelDeclaration {
    /// The channels that statements name.
    pub(super) fn each(self) -> impl Iterator<Item = DeclaredChannel> {
        self.names.iter().map(move |name| DeclaredChannel {
            name: (*name).to_owned(),
            fields: self.fields,
            buffer: self.buffer,
        })
    }
}

/// The type of structures in messages.
pub(super) const STRUCTURE: &str = "typedef M { byte g; short h }; M ms; M mt;";

/// The channels to choose from.
pub(super) const CHANNELS: &[ChannelDeclaration] = &[
    ChannelDeclaration {
        declared: "chan q = [1] of { byte };",
        needs: "",
        names: &["q"],
        fields: &[MessageField::Number],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan r = [0] of { byte };",
        needs: "",
        names: &["r"],
        fields: &[MessageField::Number],
        buffer: Buffer::None,
    },
    ChannelDeclaration {
        declared: "chan w = [2] of { mtype, byte };",
        needs: "",
        names: &["w"],
        fields: &[MessageField::Name, MessageField::Number],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan v = [0] of { mtype, bit };",
        needs: "",
        names: &["v"],
        fields: &[MessageField::Name, MessageField::Number],
        buffer: Buffer::None,
    },
    ChannelDeclaration {
        declared: "chan z = [3] of { bit };",
        needs: "",
        names: &["z"],
        fields: &[MessageField::Number],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan qs[2] = [1] of { byte };",
        needs: "",
        names: &["qs[0]", "qs[1]", "qs[x0 & 1]"],
        fields: &[MessageField::Number],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan rs[2] = [0] of { short, bool };",
        needs: "",
        names: &["rs[1]", "rs[x0 & 1]"],
        fields: &[MessageField::Number, MessageField::Number],
        buffer: Buffer::None,
    },
    ChannelDeclaration {
        declared: "chan k = [2] of { short, bit, byte };",
        needs: "",
        names: &["k"],
        fields: &[MessageField::Number, MessageField::Number, MessageField::Number],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan qc = [1] of { chan };",
        needs: "",
        names: &["qc"],
        fields: &[MessageField::Channel],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan rc = [0] of { byte, chan };",
        needs: "",
        names: &["rc"],
        fields: &[MessageField::Number, MessageField::Channel],
        buffer: Buffer::None,
    },
    ChannelDeclaration {
        declared: "chan tp = [2] of { M };",
        needs: STRUCTURE,
        names: &["tp"],
        fields: &[MessageField::Structure],
        buffer: Buffer::Some,
    },
    ChannelDeclaration {
        declared: "chan tq = [2] of { M, bit };",
        needs: STRUCTURE,
        names: &["tq"],
        fields: &[MessageField::Structure, MessageField::Number],
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
