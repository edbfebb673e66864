//! bitrift as a library: opens a matrix, searches one function and prints the ranges of inputs on which builds differ
//! from the baseline. `cargo run --release --example ranges -- matrix.toml quadratic_root`

use std::error::Error;

use bitrift::lab::{Lab, Means, serve};
use bitrift::model::NoEvents;

/// The box of a range, low and high end of each parameter, with the build that differs and the most bits seen in it.
pub struct Range {
    pub build: String,
    pub ends: Vec<(f64, f64)>,
    pub bits: f64,
}

pub fn ranges(matrix: &str, name: &str) -> Result<Vec<Range>, Box<dyn Error>> {
    let lab = Lab::open(matrix.as_ref(), Means::default())?;
    let (place, function) = lab.function(name).ok_or("the matrix has no such function")?;
    let found = lab.build_all(&NoEvents)?.search_function(place, &NoEvents)?;
    let mut ranges = Vec::new();
    for comparison in &found.result.comparisons {
        for range in &comparison.ranges {
            let ends = function.scalars().into_iter().zip(range.lo.iter().zip(&range.hi));
            let ends = ends.map(|(scalar, (&lo, &hi))| (scalar.to_f64(lo), scalar.to_f64(hi)));
            let build = found.builds[comparison.variant].to_string();
            ranges.push(Range { build, ends: ends.collect(), bits: range.witness.bits });
        }
    }
    Ok(ranges)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    serve();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [matrix, function] = words.as_slice() else { return Err("expected a matrix and a function".into()) };
    ranges(matrix, function)?.iter().for_each(|r| println!("{}: {:?}, {:.1} bits", r.build, r.ends, r.bits));
    Ok(())
}
