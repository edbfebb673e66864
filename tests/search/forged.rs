//! Answers that code under test has written over: what is not refused must not bring a search down.

use bitrift::eval::Fake;
use bitrift::fp::Stream;
use bitrift::model::{Budget, StrategyName};
use bitrift::search::{Answer, Task, create, run_unit};

use crate::fakes::{binades, doubles, one, param, planted_build, task};
use bitrift::fp::Scalar;

/// A wire form with a few bytes changed, cut or doubled.
fn spoilt(wire: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = wire.to_vec();
    for _ in 0..=stream.below(3) {
        let at = stream.below(bytes.len() as u64) as usize;
        match stream.below(4) {
            0 => bytes[at] = stream.below(256) as u8,
            1 => bytes[at] ^= 1 << stream.below(8),
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, [0, 1, 0x7f, 0xff][stream.below(4) as usize]),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// Searches with every other answer spoilt; how many of those were taken and how many refused.
fn search(task: &Task, seed: u64) -> [u64; 2] {
    let regions = vec![vec![binades(-300.0, 10.0); task.function.arity()]];
    let mut fake = Fake::new(task.function.arity(), vec![one(), planted_build(task, &regions)]);
    let mut stream = Stream::new(seed, &["forged"], 0);
    let mut counts = [0; 2];
    let mut strategy = create(task);
    while strategy.next_phase() {
        while let Some(unit) = strategy.next_unit() {
            let honest = run_unit(task, &unit, &mut fake).unwrap();
            assert!(honest.fits(task, &unit), "an honest answer was refused: {unit:?}");
            let wire = spoilt(&postcard::to_stdvec(&honest).unwrap(), &mut stream);
            let forged = postcard::from_bytes::<Answer>(&wire).ok().filter(|answer| answer.fits(task, &unit));
            counts[usize::from(forged.is_none())] += 1;
            strategy.absorb(forged.unwrap_or(honest));
        }
    }
    strategy.finish();
    counts
}

#[test]
fn a_forged_answer_is_refused_or_harmless() {
    let mut counts = [0; 2];
    let mut add = |task: &Task, seed: u64| {
        search(task, seed).into_iter().zip(&mut counts).for_each(|(more, count)| *count += more);
    };
    for seed in 0..40 {
        for (arity, budget) in
            [(1, Budget::Evaluations(20_000)), (1, Budget::Paper), (2, Budget::Evaluations(20_000))]
        {
            add(&doubles(arity, budget, seed), seed);
        }
        let mut swept = task(vec![param("x", Scalar::I16)], Budget::Paper, seed);
        swept.settings.strategy = StrategyName::Exhaustive;
        add(&swept, seed);
        let mut walked = doubles(1, Budget::Evaluations(2000), seed);
        walked.settings.strategy = StrategyName::Mcmc;
        add(&walked, seed);
    }
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}
