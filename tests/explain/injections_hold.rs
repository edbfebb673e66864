//! The truth of tests/explain/injections, with the real compilers: what was put in is what differs.

use std::collections::BTreeSet;

use crate::injections::{
    Compiler, Guilty, Injection, Lab, Mode, Nature, Special, Tree, injections, inputs, share, specials,
};
use rayon::prelude::*;

/// The least share of inputs with a difference: a small search finds it.
const PLAIN_TO_SEE: f64 = 0.05;

/// What is not as it should be with an injection under clang.
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
    let alone = share(&plain, &only_fast(lab, &tree, injection.guilty.file, &inputs));
    (alone < PLAIN_TO_SEE).then(|| format!("differs at {alone} with only its file fast"))
}

fn only_fast(lab: &Lab, tree: &Tree, file: &str, inputs: &[[f64; 2]]) -> Vec<u64> {
    lab.results(tree, |name| if name == file { Mode::Fast } else { Mode::Plain }, false, inputs)
}

fn assert_all_hold(chosen: &[Injection]) {
    let clang = Lab::open(Compiler::Clang);
    let complaints: Vec<String> =
        chosen.par_iter().filter_map(|i| Some(format!("{}: {}", i.id, complaint(&clang, i)?))).collect();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), chosen.len(), complaints.join("\n"));
}

fn assert_gcc_shows(chosen: &[Injection]) {
    let gcc = Lab::open(Compiler::Gcc);
    let inputs = inputs(200);
    let hidden: Vec<&str> = chosen
        .par_iter()
        .filter(|i| gcc.share(&i.tree(), &inputs) < PLAIN_TO_SEE)
        .map(|i| i.id.as_str())
        .collect();
    assert!(hidden.is_empty(), "{} of {}: {hidden:#?}", hidden.len(), chosen.len());
}

/// Every thirteenth injection, or another step: BITRIFT_INJECTIONS=1 takes all, for minutes.
fn every_thirteenth() -> Vec<Injection> {
    // Kinds take turns by three: a step of twelve would meet only one of them.
    let step = std::env::var("BITRIFT_INJECTIONS").ok().and_then(|step| step.parse().ok()).unwrap_or(13);
    injections().into_iter().step_by(step).collect()
}

fn special(nature: Nature) -> Vec<Special> {
    let chosen: Vec<Special> = specials().into_iter().filter(|s| s.nature == nature).collect();
    assert!(chosen.len() >= 3);
    chosen
}

#[test]
fn the_fixture_itself_gives_the_same_bits_on_every_build() {
    let inputs = inputs(2000);
    let clean = Tree::fixture();
    let labs = [Lab::open(Compiler::Clang), Lab::open(Compiler::Gcc)];
    let expected = labs[0].all(&clean, Mode::Plain, &inputs);
    for lab in &labs {
        for mode in [Mode::Plain, Mode::Fast] {
            for flushed in [false, true] {
                assert_eq!(share(&expected, &lab.results(&clean, |_| mode, flushed, &inputs)), 0.0);
            }
        }
    }
    let distinct: BTreeSet<u64> = expected.iter().copied().collect();
    assert!(distinct.len() > 1900, "inputs with results of their own: {}", distinct.len());
}

#[test]
fn an_injected_statement_and_no_other_is_what_differs() {
    assert_all_hold(&every_thirteenth());
}

#[test]
fn gcc_shows_what_clang_shows() {
    assert_gcc_shows(&every_thirteenth());
}

#[test]
fn injections_are_of_every_kind_and_form_in_every_function() {
    let all = injections();
    assert!(all.len() >= 120);
    let clean = Tree::fixture();
    for (file, _) in clean.sources() {
        for function in clean.functions(file) {
            let here: Vec<&Injection> =
                all.iter().filter(|i| i.guilty.file == file && i.guilty.function == function).collect();
            let kinds: BTreeSet<_> = here.iter().map(|i| i.kind).collect();
            assert_eq!(kinds.len(), 3, "{file} {function}");
        }
    }
    let looks: BTreeSet<_> = all.iter().map(|i| (i.kind, i.form)).collect();
    assert_eq!(looks.len(), 3 * 6, "kinds and forms: {looks:?}");
    let places: BTreeSet<_> = all.iter().map(|i| (i.kind, i.place)).collect();
    assert_eq!(places.len(), 3 * 5, "kinds and places: {places:?}");
    for injection in &all {
        let text = &injection.tree().files[injection.guilty.file];
        let head = injection.guilty.statement.lines().next().unwrap();
        assert_eq!(text.lines().nth(injection.line - 1).unwrap().trim(), head, "{}", injection.id);
    }
}

#[test]
fn a_flushed_subnormal_shows_only_where_subnormals_are_flushed() {
    let inputs = inputs(200);
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let lab = Lab::open(compiler);
        special(Nature::Flushed).par_iter().for_each(|special| {
            let tree = special.tree();
            let plain = lab.all(&tree, Mode::Plain, &inputs);
            assert_eq!(
                share(&plain, &lab.all(&tree, Mode::Fast, &inputs)),
                0.0,
                "{compiler:?} {}",
                special.id
            );
            for mode in [Mode::Plain, Mode::Fast] {
                let seen = share(&plain, &lab.results(&tree, |_| mode, true, &inputs));
                assert!(seen >= PLAIN_TO_SEE, "{compiler:?} {} {mode:?}: {seen}", special.id);
            }
        });
    }
}

#[test]
fn statements_that_need_each_other_show_only_together() {
    let inputs = inputs(200);
    let (clang, gcc) = (Lab::open(Compiler::Clang), Lab::open(Compiler::Gcc));
    special(Nature::Together).par_iter().for_each(|special| {
        let tree = special.tree();
        assert!(gcc.share(&tree, &inputs) >= PLAIN_TO_SEE, "gcc {}", special.id);
        let plain = clang.all(&tree, Mode::Plain, &inputs);
        let seen = share(&plain, &clang.all(&tree, Mode::Fast, &inputs));
        assert!(seen >= PLAIN_TO_SEE, "{}: {seen}", special.id);
        let files: BTreeSet<&str> = special.guilty.iter().map(|g| g.file).collect();
        for guilty in &special.guilty {
            let healed = share(&plain, &clang.healed(&tree, &[guilty], &inputs));
            assert_eq!(healed, 0.0, "{} with only {guilty:?} precise", special.id);
            if files.len() > 1 {
                let alone = share(&plain, &only_fast(&clang, &tree, guilty.file, &inputs));
                assert_eq!(alone, 0.0, "{} with only {} fast", special.id, guilty.file);
            }
        }
    });
}

#[test]
fn statements_that_do_not_need_each_other_show_alone() {
    let inputs = inputs(200);
    let (clang, gcc) = (Lab::open(Compiler::Clang), Lab::open(Compiler::Gcc));
    special(Nature::Independent).par_iter().for_each(|special| {
        let tree = special.tree();
        assert!(gcc.share(&tree, &inputs) >= PLAIN_TO_SEE, "gcc {}", special.id);
        let plain = clang.all(&tree, Mode::Plain, &inputs);
        for guilty in &special.guilty {
            let left = share(&plain, &clang.healed(&tree, &[guilty], &inputs));
            assert!(left >= PLAIN_TO_SEE, "{} with {guilty:?} precise: {left}", special.id);
        }
        let both: Vec<&Guilty> = special.guilty.iter().collect();
        assert_eq!(
            share(&plain, &clang.healed(&tree, &both, &inputs)),
            0.0,
            "{} with both precise",
            special.id
        );
    });
}

#[test]
fn a_written_lab_is_one_that_bitrift_reads() {
    let folder = tempfile::tempdir().unwrap();
    injections()[0].tree().write_lab(folder.path(), "clang");
    let experiment = bitrift::matrix::load(&folder.path().join("matrix.toml")).unwrap();
    assert_eq!(bitrift::plan::expand(&experiment).unwrap().builds.len(), 2);
}
