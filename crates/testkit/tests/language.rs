//! Two ways from statements to a Model, that of drafts and that of the `.pw` front-end, give the same whole product.

use std::collections::BTreeSet;

use base::SourceFile;
use model::Model;
use model::eval::{Move, StepFault};
use testkit::{Product, Shape, for_each_program, write};

/// States, transitions, deadlocks, faults, depth. Two faults of one statement differ by their place in the text, which a draft
/// does not have, so faults are counted by state and process.
fn counts(model: &Model) -> Option<[usize; 5]> {
    let product = Product::explore(model, 300)?;
    Some([
        product.states.len(),
        product.n_transitions(),
        product.deadlocks.len(),
        faulty_processes(&product),
        product.depth(),
    ])
}

fn faulty_processes(product: &Product) -> usize {
    let movers = |faults: &Vec<(Move, StepFault)>| faults.iter().map(|(by, _)| by.process).collect::<BTreeSet<_>>();
    product.faults.iter().map(|faults| movers(faults).len()).sum()
}

#[test]
fn a_draft_and_its_text_have_the_same_product() {
    for_each_program(200, Shape::language(), |draft, model| {
        let text = write::program(draft);
        let loaded = lang::load(&SourceFile::new("random.pw", text), &[]).map_err(|diagnostics| {
            let shown: Vec<String> = diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.is_error())
                .map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
                .collect();
            format!("the text is refused: {}", shown.join("; "))
        })?;
        let (drafted, loaded) = (counts(model), counts(&loaded.model));
        if drafted == loaded { Ok(()) } else { Err(format!("draft {drafted:?}, text {loaded:?}")) }
    });
}
