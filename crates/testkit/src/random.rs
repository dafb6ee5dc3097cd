//! Random small programs with every feature of the Model.
//!
//! In: [`Choices`] and a [`RandomFeatures`], which says what to leave out. Out: a [`Draft`] of one to three processes whose whole
//! product is usually a few hundred states. Programs are well typed; a few of their steps fail, by design.

mod expression;
mod statement;

use model::control::{ChannelId, ProcedureId, TextOwner};
use model::expr::Expr;
use model::process::FamilyId;
use model::types::{ScalarType, Type};
use model::variable::{Init, VarId};

use crate::beyond::Beyond;
use crate::choices::Choices;
use crate::draft::{Draft, array_type};
use crate::expr::{constant, index_of, int, me, to_process, truth};
use model::value::Value;

/// Which features random programs have.
#[derive(Clone, Copy, Debug)]
pub struct RandomFeatures {
    /// Procedures, calls and (bounded) recursion.
    pub procedures: bool,
    /// Steps of two processes.
    pub rendezvous: bool,
    /// Variables that start anywhere.
    pub any_initial: bool,
    /// Steps that may fail: indices and values outside, division by zero, wrong releases, asserts.
    pub faults: bool,
    /// How many statements each text has at most, about.
    pub n_statements: usize,
    /// What the drafts' texts cannot say.
    pub beyond: Beyond,
}

impl RandomFeatures {
    /// Everything that the texts of drafts can say.
    pub fn everything() -> Self {
        RandomFeatures {
            procedures: true,
            rendezvous: true,
            any_initial: true,
            faults: true,
            n_statements: 4,
            beyond: Beyond::NOTHING,
        }
    }

    /// The same with all that they cannot say.
    pub fn beyond_texts() -> Self {
        RandomFeatures { beyond: Beyond::everything(), ..RandomFeatures::everything() }
    }

    /// What the `.pw` language can say.
    pub fn language() -> Self {
        RandomFeatures { rendezvous: false, ..RandomFeatures::everything() }
    }
}

/// A random program.
pub fn draft(choices: &mut Choices, shape: RandomFeatures) -> Draft {
    let mut random = RandomMaker {
        choices,
        shape,
        draft: Draft::new(),
        channels: Vec::new(),
        callable: Vec::new(),
        labels: Vec::new(),
    };
    random.declare();
    random.write_texts();
    random.draft
}

/// A program while it is made.
struct RandomMaker<'c> {
    choices: &'c mut Choices,
    shape: RandomFeatures,
    draft: Draft,
    /// The channels, each with the type of what it passes.
    channels: Vec<(ChannelId, ScalarType)>,
    /// The procedures whose texts are allowed to be called from where we are.
    callable: Vec<ProcedureId>,
    /// The labels so far, each used once, with their texts.
    labels: Vec<(TextOwner, String)>,
}

impl RandomMaker<'_> {
    fn declare(&mut self) {
        self.families();
        if self.choices.chance(25) {
            self.draft.enumeration("Color", &["red", "green", "blue"]);
        }
        for at in 0..1 + self.choices.below(3) {
            let ty = self.variable_type(true);
            let init = self.init(&ty, None);
            self.draft.shared(&format!("s{at}"), ty, init);
        }
        for family in self.draft.model.families.ids() {
            if self.choices.chance(40) {
                let ty = self.variable_type(false);
                let init = self.init(&ty, Some(family));
                self.draft.public(family, &format!("p{}", family.index()), ty, init);
            }
            for at in 0..self.choices.below(2) {
                let ty = self.variable_type(false);
                let init = self.init(&ty, Some(family));
                self.draft.local(family, &format!("v{}{at}", family.index()), ty, init);
            }
        }
        if self.shape.rendezvous && self.draft.model.processes.len() > 1 && self.choices.chance(25) {
            let ty = ScalarType::Range { lo: 0, hi: 2 };
            let channel = self.draft.channel("c");
            self.channels.push((channel, ty));
        }
        if self.shape.procedures && self.choices.chance(30) {
            self.procedure();
        }
    }

    fn families(&mut self) {
        // Sizes of indexed families; 0 is a single process.
        let shapes: [&[usize]; 8] = [&[2], &[1], &[0], &[2, 0], &[3], &[0, 0], &[1, 2], &[2, 1]];
        let names = ["P", "Q"];
        let sizes = *self.choices.pick(&shapes);
        for (name, &size) in names.iter().zip(sizes) {
            match size {
                0 => self.draft.single(name),
                _ => self.draft.family(name, size),
            };
        }
    }

    /// A parameter that falls with each call bounds the recursion.
    fn procedure(&mut self) {
        let depth = ScalarType::Range { lo: 0, hi: 2 };
        let result = self.choices.chance(50).then_some(ScalarType::Range { lo: 0, hi: 3 });
        let (id, _) = self.draft.procedure("f", &[("d", depth)], result);
        if self.choices.chance(50) {
            let ty = self.variable_type(false);
            let init = self.init(&ty, None);
            self.draft.frame_local(id, "w", ty, init);
        }
        self.callable.push(id);
    }

    fn write_texts(&mut self) {
        for procedure in self.draft.model.procedures.ids() {
            let text = self.procedure_text(procedure);
            self.draft.procedure_text(procedure, text);
        }
        for family in self.draft.model.families.ids() {
            let text = self.family_text(family);
            self.draft.text(family, text);
        }
    }

    fn variable_type(&mut self, shared: bool) -> Type {
        let scalar = Type::Scalar(self.scalar_type(shared));
        match self.choices.below(8) {
            6 => array_type(scalar, 2),
            7 => array_type(array_type(scalar, 2), 1 + self.choices.below(2)),
            _ => scalar,
        }
    }

    fn scalar_type(&mut self, shared: bool) -> ScalarType {
        let n_families = self.draft.model.families.len();
        let family = FamilyId::new(self.choices.below(n_families));
        let first_enum = self.draft.model.enums.ids().next();
        let indexed = self.draft.model.families[family].index.is_some();
        match self.choices.below(9) {
            0 | 1 => ScalarType::Bool,
            4 if indexed => ScalarType::Pid(family),
            5 if indexed => ScalarType::PidOrNone(family),
            6 => first_enum.map_or(ScalarType::Bool, ScalarType::Enum),
            7 if shared => ScalarType::Semaphore { max: 1 + self.choices.below(2) as i64 },
            8 if shared => ScalarType::Lock,
            _ => {
                let lo = -(self.choices.below(4) as i64 / 3);
                ScalarType::Range { lo, hi: lo + 1 + self.choices.below(3) as i64 }
            }
        }
    }

    fn init(&mut self, ty: &Type, owner: Option<FamilyId>) -> Init {
        let scalar = ty.scalar();
        let movable = !matches!(scalar, ScalarType::Lock);
        if self.shape.any_initial && movable && self.choices.chance(15) {
            return Init::Any;
        }
        match (ty, scalar) {
            (_, ScalarType::Lock) => Init::First,
            (Type::Array { element, len }, _) if self.choices.chance(40) => {
                // The language lists all elements or none.
                let elements = (0..*len).map(|_| self.init(element, owner)).collect::<Vec<_>>();
                if elements.iter().all(|element| matches!(element, Init::Fill(_))) {
                    Init::Elements(elements)
                } else {
                    Init::First
                }
            }
            (_, ScalarType::Pid(family) | ScalarType::PidOrNone(family)) if owner == Some(family) => {
                if self.choices.chance(50) { Init::Fill(me()) } else { Init::First }
            }
            (_, ScalarType::Range { lo: 0, hi }) if owner.is_some_and(|owner| self.fits_index(owner, hi)) => {
                if self.choices.chance(30) { Init::Fill(index_of(me())) } else { Init::Fill(int(0)) }
            }
            _ => {
                let value = self.constant(scalar);
                if self.choices.chance(70) { Init::Fill(value) } else { Init::First }
            }
        }
    }

    fn fits_index(&self, owner: FamilyId, hi: i64) -> bool {
        let family = &self.draft.model.families[owner];
        family.index.is_some() && family.count() as i64 <= hi + 1
    }

    /// A constant of the type.
    fn constant(&mut self, ty: ScalarType) -> Expr {
        match ty {
            ScalarType::Bool => truth(self.choices.chance(50)),
            ScalarType::Range { lo, hi } => int(self.choices.between(lo, hi)),
            ScalarType::Semaphore { max } => int(self.choices.between(0, max)),
            ScalarType::Enum(id) => {
                let n_values = self.draft.model.enums[id].values.len();
                constant(Value::Enum(id, self.choices.below(n_values) as u32))
            }
            ScalarType::PidOrNone(_) | ScalarType::Lock if self.choices.chance(40) => constant(Value::None),
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
                let count = self.draft.model.families[family].count();
                to_process(family, int(self.choices.below(count) as i64))
            }
            ScalarType::Lock => constant(Value::None),
        }
    }
}

/// A variable that can be read where we are.
#[derive(Clone, Debug)]
struct Readable {
    var: VarId,
    ty: Type,
    place: Holder,
}

/// Whose copies of a variable can be read.
#[derive(Clone, Copy, Debug)]
enum Holder {
    Shared,
    Mine,
    Frame,
    Public(FamilyId),
}

/// What expressions of a text can speak of.
#[derive(Clone, Debug)]
struct Surroundings {
    scope: TextOwner,
    /// The counters of the loops around.
    counters: Vec<VarId>,
    /// Bound variables, outermost first: numbers, or processes of a family.
    bound: Vec<Option<FamilyId>>,
}

impl Surroundings {
    fn new(scope: TextOwner) -> Self {
        Surroundings { scope, counters: Vec::new(), bound: Vec::new() }
    }
}
