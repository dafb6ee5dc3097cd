//! Sentences say exactly what the sets say.

use evidence::certificate::StateSet;
use testkit::local::{Expose, Local};
use testkit::{Shape, for_each_program};

use super::member::Rows;
use super::words::Words;

#[test]
fn sentences_say_exactly_what_the_set_says() {
    let n_told = std::cell::Cell::new(0);
    for_each_program(40, Shape { procedures: false, ..Shape::everything() }, |_, model| {
        for k in 1..=model.processes.len().min(2) {
            let mut local = Local { limit: 300, ..Local::new(model, k) };
            for (process, exposed) in model.processes.ids().zip(&mut local.exposed) {
                let end = model.families[model.processes[process].family].end;
                exposed.push(Expose::At(vec![end]));
            }
            let Some(sets) = local.invariant() else { continue };
            let certificate = local.certificate(&sets, "p");
            let invariant = certificate.invariant().unwrap();
            let words = Words::new(model, invariant);
            for member in &invariant.members {
                if matches!(&member.states, StateSet::Rows(rows) if rows.is_empty()) {
                    continue;
                }
                let Some(rows) = Rows::new(&words, member) else { continue };
                if let Some(wrong) = rows.wrong() {
                    return Err(format!("k = {k}, {:?}: {wrong}", member.processes));
                }
                n_told.set(n_told.get() + 1);
            }
        }
        Ok(())
    });
    assert!(n_told.get() > 30, "{}", n_told.get());
}
