//! The names that a Model's parts have in a trace: the user's, made unique where the user's are not.

use std::collections::HashSet;

use base::Id;
use model::Model;
use model::control::{Place, PlaceId, Procedure, TextOwner};
use model::process::{Family, FamilyId};
use model::variable::{Storage, VarId};

/// The key of the place in a process's record.
pub const AT: &str = "at";
/// The key of the stack in the record of a process that is inside a procedure.
pub const STACK: &str = "stack";
/// The key of the procedure in a frame of a stack.
pub const PROCEDURE: &str = "procedure";
/// The key of the call in a frame below the top: the position among the actions of its place.
pub const CALL: &str = "call";

/// A variable and its name in the trace.
pub type NamedVariable = (String, VarId);

/// All names of a Model.
pub struct TraceNames {
    /// The shared variables.
    pub shared: Vec<NamedVariable>,
    /// The families, each with its processes' variables.
    pub families: Vec<(String, FamilyId, Vec<NamedVariable>)>,
    /// The variables of each procedure.
    pub procedures: Vec<Vec<NamedVariable>>,
    /// The parameters, by position.
    pub parameters: Vec<String>,
    /// The places, unique within their scope.
    pub places: Vec<String>,
}

impl TraceNames {
    /// The names of a Model.
    pub fn of(model: &Model) -> Self {
        let mut taken: HashSet<String> =
            ["#meta", "mbt::actionTaken", "mbt::nondetPicks"].map(str::to_owned).into_iter().collect();
        let shared_vars = model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared);
        let shared = shared_vars.map(|(id, var)| (unique(&mut taken, &var.name), id)).collect();
        let families = model.families.entries().map(|(id, family): (FamilyId, &Family)| {
            let name = unique(&mut taken, &family.name);
            (name, id, named_vars(model, &family.vars))
        });
        let families = families.collect();
        let parameters = model.parameters.iter().map(|parameter| unique(&mut taken, &parameter.name)).collect();
        let procedures =
            model.procedures.iter().map(|procedure: &Procedure| named_vars(model, &procedure.vars)).collect();
        TraceNames { shared, families, procedures, parameters, places: place_names(model) }
    }

    /// The name of a place.
    pub fn place(&self, id: PlaceId) -> &str {
        &self.places[id.index()]
    }

    /// The place of a scope with this name.
    pub fn find_place(&self, model: &Model, scope: TextOwner, name: &str) -> Option<PlaceId> {
        let is_it = |(id, place): &(Id<Place>, &Place)| place.scope == scope && self.places[id.index()] == name;
        model.places.entries().find(is_it).map(|(id, _)| id)
    }

    /// The variables of frames of a scope; a family's own text has none in its frame.
    pub fn frame_vars(&self, scope: TextOwner) -> &[NamedVariable] {
        match scope {
            TextOwner::Family(_) => &[],
            TextOwner::Procedure(id) => &self.procedures[id.index()],
        }
    }
}

fn named_vars(model: &Model, vars: &[VarId]) -> Vec<NamedVariable> {
    let mut taken: HashSet<String> = [AT, STACK, PROCEDURE, CALL].map(str::to_owned).into_iter().collect();
    vars.iter().map(|&id| (unique(&mut taken, &model.vars[id].name), id)).collect()
}

fn place_names(model: &Model) -> Vec<String> {
    let mut taken: HashSet<(TextOwner, String)> = HashSet::new();
    let name = |place: &Place| {
        let candidates = std::iter::once(place.name.clone()).chain((2..).map(|nth| format!("{}'{nth}", place.name)));
        let mut free = candidates.filter(|name| taken.insert((place.scope, name.clone())));
        free.next().expect("there is a free name among infinitely many")
    };
    model.places.iter().map(name).collect()
}

fn unique(taken: &mut HashSet<String>, name: &str) -> String {
    let candidates = std::iter::once(name.to_owned()).chain((2..).map(|nth| format!("{name}'{nth}")));
    candidates.into_iter().find(|name| taken.insert(name.clone())).expect("there is a free name among infinitely many")
}

/// A number that two Models share only if their states and steps have the same names: FNV-1a over the names of cells,
/// processes, places and statements. What else differs, a replay finds.
pub fn fingerprint(model: &Model) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut feed = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    model.cells.iter().for_each(|cell| feed(&format!("{} {}", cell.name, model::canonical::scalar_type(cell.ty))));
    model.enums.iter().flat_map(|one| &one.values).for_each(|name| feed(name));
    model.processes.iter().for_each(|process| feed(&process.name));
    model.procedures.iter().for_each(|procedure| feed(&procedure.name));
    model.vars.iter().for_each(|var| feed(&format!("{} {}", var.name, model::canonical::variable_type(&var.ty))));
    model.places.iter().for_each(|place| feed(&format!("{} {}", place.name, model::canonical::scope(place.scope))));
    for action in &model.actions {
        feed(&format!("{} {}", action.source.index(), model.statements[action.statement].text));
    }
    format!("{hash:016x}")
}
