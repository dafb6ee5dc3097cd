//! The examples of the fragment: what is proved for every size with how many processes in a view.

use base::{Budget, SourceFile};
use model::Model;
use views::fixpoint::{Failure, views};
use views::fragment::{Question, fragment, question};
use views::pattern::{Found, Pattern, search};
use views::sight::Ground;

pub fn load(name: &str, n: i64) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let given = if text.contains("(N:") { vec![("N".to_owned(), n)] } else { Vec::new() };
    lang::load(&SourceFile::new(&path, &text), &given).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

#[test]
fn probe() {
    let names = std::env::var("PROBE").unwrap_or_default();
    for name in names.split(',').filter(|name| !name.is_empty()) {
        let model = load(name, 3);
        let fragment = match fragment(&model) {
            Ok(fragment) => fragment,
            Err(reason) => {
                println!("{name}: outside: {}", reason.text);
                continue;
            }
        };
        let ground = Ground { model: &model, layout: &fragment.layout };
        for k in 1..=3 {
            let start = std::time::Instant::now();
            let budget = Budget::new(Some(std::time::Duration::from_secs(20)), None, Default::default());
            let found = match views(ground, k, &budget) {
                Ok(found) => found,
                Err(Failure::Stopped(reason)) => {
                    println!("{name} k={k}: {reason}");
                    continue;
                }
                Err(Failure::Outside(span)) => panic!("{name}: {span:?}"),
            };
            println!("{name} k={k}: {} views, {} faults, {:?}", found.theta.len(), found.faults.len(), start.elapsed());
            for (id, property) in model.properties.entries() {
                let template = &model.template().properties[id].kind;
                match question(&model, &fragment, &property.kind, template) {
                    Err(reason) => println!("   {}: {}", property.name, reason.text),
                    Ok(Question::NoFault) => println!("   {}: {}", property.name, found.faults.is_empty()),
                    Ok(Question::Never { expr, value, witnesses }) => {
                        let pattern = Pattern { expr: &expr, value, witnesses };
                        match search(ground, &found, pattern, &budget) {
                            Ok(Found::Nothing) => println!("   {}: never {value}", property.name),
                            Ok(Found::Candidate(config)) => println!("   {}: {config:?}", property.name),
                            other => println!("   {}: {other:?}", property.name),
                        }
                    }
                }
            }
        }
    }
}
