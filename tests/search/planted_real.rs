//! Planted truth on real compilers: what searches find of the regions of fixtures/planted.

use crate::planted_lab::{PlantedLab, Truth};
use bitrift::model::{Budget, SearchSettings};

fn settings(seeds: impl Iterator<Item = u64>, budget: Budget) -> Vec<SearchSettings> {
    seeds.map(|seed| SearchSettings { seed, budget, timeout_ms: 1000, ..SearchSettings::default() }).collect()
}

fn assert_true(lab: &PlantedLab, truths: &[Truth], settings: &[SearchSettings]) {
    let results = lab.search(truths, settings);
    let mut complaints = Vec::new();
    for (truth, results) in truths.iter().zip(&results) {
        for (settings, result) in settings.iter().zip(results) {
            if let Some(complaint) = lab.complaint(truth, result) {
                complaints.push(format!("{}, seed {}: {complaint}", truth.name, settings.seed));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_promised_region_is_found_and_has_its_own_range() {
    let lab = PlantedLab::open();
    let paper = lab.needing("paper");
    assert!(paper.len() > 20);
    assert_true(&lab, &paper, &settings(1..=10, Budget::Paper));
    let fine = lab.needing("fine");
    assert!(fine.len() >= 5);
    assert_true(&lab, &fine, &settings(1..=10, Budget::Evaluations(2_000_000)));
}

#[test]
fn evolution_reaches_planted_peaks_that_samples_miss() {
    let lab = PlantedLab::open();
    let mut peaks = lab.needing("paper");
    peaks.retain(|truth| truth.peak_bits.is_some());
    assert!(peaks.len() >= 2);
    let mut with = settings(1..=10, Budget::Evaluations(100_000));
    // The default would meet the peaks by other means: they are at a round number.
    with.iter_mut().for_each(|s| s.strategy = bitrift::model::StrategyName::Cigen);
    let without: Vec<SearchSettings> =
        with.iter().map(|s| SearchSettings { generations: 0, ..s.clone() }).collect();
    for (truth, (with, without)) in
        peaks.iter().zip(lab.search(&peaks, &with).iter().zip(lab.search(&peaks, &without)))
    {
        let bits = |r: &bitrift::model::FunctionResult| r.comparisons[0].witness.as_ref().unwrap().bits;
        let top = truth.peak_bits.unwrap();
        let least = with.iter().map(bits).fold(f64::MAX, f64::min);
        let most = without.iter().map(bits).fold(0.0, f64::max);
        println!("{}: at least {least} with the evolution, at most {most} without", truth.name);
        assert!(least >= top - 2.0 && least <= top + 0.1, "{}: {least} of {top}", truth.name);
        assert!(most < top - 6.0, "{}: {most} of {top} without", truth.name);
    }
}
