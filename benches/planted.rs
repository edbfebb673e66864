//! What searches find of planted regions, by size and budget, and what the evolution adds. Prints
//! the tables of results/planted.md: `cargo bench --bench planted > results/planted.md`.

#[path = "../tests/search/fakes/mod.rs"]
mod fakes;

use bitrift::eval::FakeBuild;
use bitrift::fp::{AxisPoint, Scalar, Side, Stream};
use bitrift::model::{Budget, EdgeKind, FunctionResult, Outcome, RangeResult};
use bitrift::search::Task;
use fakes::{Region, doubles, log_place, one, search, search_planted, span};
use rayon::prelude::*;

/// Budgets, with how many searches there are of each.
const BUDGETS: [(&str, Budget, u64); 3] = [
    ("paper", Budget::Paper, 40),
    ("100,000", Budget::Evaluations(100_000), 40),
    ("2,000,000", Budget::Evaluations(2_000_000), 10),
];

fn main() {
    println!(
        "# What searches find of planted regions\n\n\
         Made by `cargo bench --bench planted > results/planted.md`. A variant differs from the baseline in \
         one region at a random place of the domain, all doubles; every search has a seed and a place of its \
         own. *Found*: a range meets the region. *Exact*: there is one range, and each side of it is sharp and \
         within 0.1 binades of the truth (several parameters: within one)."
    );
    let widths: Vec<(String, f64)> = (-1..=10)
        .map(|k: i32| (if k < 1 { format!("{}", 2f64.powi(-k)) } else { format!("2^-{k}") }, 2f64.powi(-k)))
        .collect();
    println!("\n## One parameter\n");
    table("width in binades", widths, 1, |width| (width * Scalar::F64.axis_unit() as f64) as u64);
    for params in [2, 3] {
        println!("\n## {params} parameters\n");
        let sides = [20, 10, 5, 2].map(|percent| (format!("{percent} %"), f64::from(percent) / 100.0));
        table("side of the box, of the exponents of one sign", sides.to_vec(), params, |part| {
            (part * most()) as u64
        });
    }
    peaks();
}

fn most() -> f64 {
    Scalar::F64.axis_max(Side::Positive).unwrap() as f64
}

fn table(what: &str, sizes: Vec<(String, f64)>, params: usize, width: impl Fn(f64) -> u64 + Sync) {
    let columns = BUDGETS.map(|(name, _, seeds)| format!("{name}: found | exact, of {seeds}"));
    println!("| {what} | {} |\n|---|{}", columns.join(" | "), "---|".repeat(2 * BUDGETS.len()));
    for (name, size) in sizes {
        let mut cells = Vec::new();
        for (_, budget, seeds) in BUDGETS {
            let verdicts: Vec<(bool, bool)> = (1..=seeds)
                .into_par_iter()
                .map(|seed| {
                    let region = region(seed, params, width(size));
                    let task = doubles(params, budget, seed);
                    let result = search_planted(&task, std::slice::from_ref(&region));
                    judge(&result.comparisons[0].ranges, &region)
                })
                .collect();
            let share = |good: usize| format!("{} %", good * 100 / verdicts.len());
            cells.push(share(verdicts.iter().filter(|v| v.0).count()));
            cells.push(share(verdicts.iter().filter(|v| v.1).count()));
        }
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// A box at a random place, each side so many places of its axis long.
fn region(seed: u64, params: usize, width: u64) -> Region {
    let mut stream = Stream::new(seed, &["planted bench"], width);
    let side = |stream: &mut Stream| {
        let side = if stream.below(2) == 0 { Side::Negative } else { Side::Positive };
        let last = Scalar::F64.axis_max(side).unwrap();
        let lo = stream.between(1, last - width);
        let value = |mag| f64::from_bits(Scalar::F64.at_axis(AxisPoint { side, mag }));
        let (a, b) = (value(lo), value(lo + width));
        span(a.min(b), a.max(b))
    };
    (0..params).map(|_| side(&mut stream)).collect()
}

/// Whether the region was found, and whether exactly.
fn judge(ranges: &[RangeResult], region: &Region) -> (bool, bool) {
    let meets = |r: &RangeResult| {
        region
            .iter()
            .enumerate()
            .all(|(i, s)| f64::from_bits(r.lo[i]) <= s.hi && s.lo <= f64::from_bits(r.hi[i]))
    };
    let allowed = if region.len() == 1 { 0.1 } else { 1.0 };
    let exact = |r: &RangeResult| {
        region.iter().enumerate().all(|(i, s)| {
            let off = |bits, truth: f64| {
                (log_place(Scalar::F64, bits) - log_place(Scalar::F64, truth.to_bits())).abs()
            };
            let sharp = r.edges[i].lo == EdgeKind::Sharp && r.edges[i].hi == EdgeKind::Sharp;
            sharp && off(r.lo[i], s.lo) <= allowed && off(r.hi[i], s.hi) <= allowed
        })
    };
    (ranges.iter().any(meets), ranges.len() == 1 && meets(&ranges[0]) && exact(&ranges[0]))
}

/// A weak region from 1 to 64 with a narrow maximum of 42 bits at a random place.
fn peak(seed: u64, params: usize) -> FakeBuild {
    let mut stream = Stream::new(seed, &["planted peak"], 0);
    let tops: Vec<u64> = (0..params).map(|_| stream.between(1f64.to_bits(), 64f64.to_bits())).collect();
    Box::new(move |input| {
        let inside = |&bits: &u64| (1.0..=64.0).contains(&f64::from_bits(bits));
        let away: u64 = input.iter().zip(&tops).map(|(&bits, &top)| bits.abs_diff(top) / 2).sum();
        let off = if input.iter().all(inside) { (1u64 << 62) / (away + (1 << 20)) } else { 0 };
        Outcome::Value(1f64.to_bits() + off)
    })
}

fn peaks() {
    println!(
        "\n## Maxima\n\nA region of six binades in each parameter in which the variant is a few hundred ulps off, \
         with a narrow peak of 42 bits at a random place. Mean of the most bits found.\n"
    );
    println!("| parameters | budget | without evolution | with evolution |\n|---|---|---|---|");
    for params in [1, 2] {
        for (name, budget, seeds) in BUDGETS {
            let mean = |generations: u32| {
                let most: Vec<f64> = (1..=seeds)
                    .into_par_iter()
                    .map(|seed| {
                        let mut task: Task = doubles(params, budget, seed);
                        task.settings.generations = generations;
                        let result: FunctionResult = search(&task, vec![one(), peak(seed, params)]);
                        result.comparisons[0].witness.as_ref().map_or(0.0, |witness| witness.bits)
                    })
                    .collect();
                most.iter().sum::<f64>() / seeds as f64
            };
            println!("| {params} | {name} | {:.1} | {:.1} |", mean(0), mean(50));
        }
    }
}
