//! Binary guided random testing (S3FP: Chiang, Gopalakrishnan, Rakamarić, Solovyev, PPoPP 2014):
//! halve the interval of every parameter, sample some combinations of halves, go on in the best,
//! start again now and then. Sample counts and restarts are S3FP's.
//!
//! S3FP halves by value, in an interval its user gives (in its evaluation -100 to 100). Here a
//! domain may span every double, and halving that by value would stay above 1e300. The papers that
//! compare with it leave open what they did, so this takes the stronger choice: intervals are halved
//! on the axis, which parts the signs first and then the exponents. That makes it a better search
//! than the one those papers report.

use super::walk::Walker;
use crate::eval::EvalError;
use crate::fp::Stream;

/// Samples of each configuration.
const SAMPLES: usize = 10;
/// A search starts again after one in so many halvings.
const RESTART: u64 = 5;
/// Independent searches, in step so that their samples share a call.
const SEARCHES: usize = 16;

/// An interval of each parameter, in 2^-64 of its axis; both ends belong to it.
type Configuration = Vec<(u64, u64)>;

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    let whole: Configuration = vec![(0, u64::MAX); walker.arity()];
    let mut searches = vec![whole.clone(); SEARCHES];
    let mut inputs = Vec::new();
    while !walker.is_over() {
        let children: Vec<Vec<Configuration>> =
            searches.iter().map(|parent| children(parent, &mut walker.stream)).collect();
        inputs.clear();
        for child in children.iter().flatten() {
            for _ in 0..SAMPLES {
                let Walker { samplers, stream, .. } = &mut *walker;
                let places = child.iter().map(|&(lo, hi)| stream.between(lo, hi));
                inputs.extend(samplers.iter().zip(places).map(|(sampler, place)| sampler.at_fraction(place)));
            }
        }
        let heights: Vec<f64> = walker.heights(&inputs)?.chunks(SAMPLES).map(highest).collect();
        let mut rest = heights.as_slice();
        for (search, children) in searches.iter_mut().zip(children) {
            let (mine, others) = rest.split_at(children.len());
            rest = others;
            let best = best_of(mine, &mut walker.stream);
            let again = walker.stream.below(RESTART) == 0;
            *search = children.into_iter().nth(best).filter(|_| !again).unwrap_or_else(|| whole.clone());
            if search.iter().all(|(lo, hi)| lo == hi) {
                search.clone_from(&whole);
            }
        }
    }
    Ok(())
}

/// All lower halves, all upper halves, and with several parameters a random choice and its
/// opposite.
fn children(parent: &Configuration, stream: &mut Stream) -> Vec<Configuration> {
    let lower = vec![false; parent.len()];
    let mut choices = vec![lower];
    if parent.len() > 1 {
        // All lower or all upper would be no new choice.
        let mixed = loop {
            let mixed: Vec<bool> = parent.iter().map(|_| stream.below(2) == 1).collect();
            if mixed.contains(&true) && mixed.contains(&false) {
                break mixed;
            }
        };
        choices.push(mixed);
    }
    let half = |&(lo, hi): &(u64, u64), upper: bool| {
        let middle = lo + (hi - lo) / 2;
        if upper { (middle + u64::from(middle < hi), hi) } else { (lo, middle) }
    };
    let child = |choice: &[bool], flip: bool| -> Configuration {
        parent.iter().zip(choice).map(|(side, &upper)| half(side, upper != flip)).collect()
    };
    choices.iter().flat_map(|choice| [child(choice, false), child(choice, true)]).collect()
}

fn highest(heights: &[f64]) -> f64 {
    heights.iter().copied().max_by(f64::total_cmp).unwrap_or(f64::NEG_INFINITY)
}

/// The index of the greatest; a random one of several.
fn best_of(heights: &[f64], stream: &mut Stream) -> usize {
    let most = highest(heights);
    let best: Vec<usize> = (0..heights.len()).filter(|&i| heights[i] == most).collect();
    // Below a length, so within usize.
    best.get(stream.below(best.len() as u64) as usize).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_one_parameter_are_disjoint_and_leave_nothing_out() {
        let mut stream = Stream::new(1, &["test"], 0);
        for (lo, hi) in [(0, u64::MAX), (7, 7), (7, 8), (7, 9)] {
            let halves = children(&vec![(lo, hi)], &mut stream);
            assert_eq!(halves.len(), 2);
            let (low, high) = (halves[0][0], halves[1][0]);
            assert_eq!((low.0, high.1), (lo, hi));
            assert!(low.1.checked_add(1) == Some(high.0) || lo == hi, "{low:?} {high:?}");
        }
    }

    #[test]
    fn several_parameters_have_four_different_children_in_two_pairs_of_opposites() {
        let mut stream = Stream::new(1, &["test"], 0);
        for dims in 2..5 {
            let parent = vec![(0, u64::MAX); dims];
            let children = children(&parent, &mut stream);
            assert_eq!(children.len(), 4);
            for (i, child) in children.iter().enumerate() {
                assert!(!children[..i].contains(child));
            }
            for pair in children.chunks(2) {
                assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| a != b));
            }
        }
    }

    #[test]
    fn a_tie_is_decided_by_chance_and_a_difference_by_height() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut seen = [0; 3];
        (0..300).for_each(|_| seen[best_of(&[1.0, 0.0, 1.0], &mut stream)] += 1);
        assert!(seen[0] > 100 && seen[1] == 0 && seen[2] > 100);
    }
}
