//! The truth of tests/injections, with the real compilers: what was put in is what differs.

mod injections;

use injections::{Compiler, Injection, Lab, Mode, Nature, Special, Tree, inputs, injections, share, specials};
use rayon::prelude::*;

/// A difference that a small search finds.
const PLAIN_TO_SEE: f64 = 0.05;

/// What is wrong with an injection's truth.
fn complaint(lab: &Lab, injection: &Injection) -> Option<String> {
    let inputs = inputs(200);
    let tree = injection.tree();
    let plain = lab.all(&tree, Mode::Plain, &inputs);
    let seen = share(&plain, &lab.all(&tree, Mode::Fast, &inputs));
    if seen < PLAIN_TO_SEE {
        return Some(format!("differs at {seen} of the inputs"));
    }
    let healed = share(&plain, &lab.healed(&tree, &[&injection.guilty], &inputs));
    if healed > 0.0 {
        return Some(format!("differs at {healed} with the statement precise"));
    }
    let only = |file: &str| if file == injection.guilty.file { Mode::Fast } else { Mode::Plain };
    let alone = share(&plain, &lab.results(&tree, only, false, &inputs));
    (alone < PLAIN_TO_SEE).then(|| format!("differs at {alone} with only its file fast"))
}

fn assert_all_hold(chosen: &[Injection]) {
    let clang = Lab::open(Compiler::Clang);
    let complaints: Vec<String> =
        chosen.par_iter().filter_map(|i| Some(format!("{}: {}", i.id, complaint(&clang, i)?))).collect();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), chosen.len(), complaints.join("\n"));
}

#[test]
#[ignore = "minutes"]
fn every_injection_alone_is_what_differs() {
    assert_all_hold(&injections());
}

#[test]
#[ignore = "minutes"]
fn gcc_shows() {
    let gcc = Lab::open(Compiler::Gcc);
    let inputs = inputs(200);
    let shares: Vec<(Injection, f64)> =
        injections().into_par_iter().map(|i| { let s = gcc.share(&i.tree(), &inputs); (i, s) }).collect();
    for (i, s) in shares { println!("{} {s} {:?}", i.id, i.place); }
}
