//! Uniform samples of a box that may reach over zero: the final statistics of a range of several orthants.

use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::model::Coordinate;
use crate::ranges::Poles;
use crate::search::Task;
use crate::search::evaluate::Probe;
use crate::search::unit::{Answer, Seen, WideUnit};

pub fn run(task: &Task, unit: &WideUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let axis = |p: &Coordinate| Poles::new(p.ty, &p.domain);
    let axes: Vec<Poles> = task.function.coordinates.iter().map(axis).collect();
    let mut stream = task.stream_of(unit.variant, unit.stream);
    let mut inputs = Vec::with_capacity(unit.samples as usize * axes.len());
    for _ in 0..unit.samples {
        for (d, poles) in axes.iter().enumerate() {
            let at = between(&mut stream, unit.span.lo[d], unit.span.hi[d]);
            let Some(value) = poles.value(at) else { return Ok(Answer::nothing(unit.variant)) };
            inputs.push(value);
        }
    }
    let mut seen = Seen::of(unit.variant);
    let mut probe = Probe::new(task, evaluator, task.allowances(unit.variant, unit.allow), false);
    probe.scores(&[unit.variant], &inputs, |_, _, input, score| {
        if score.evaluated {
            seen.note(input, score);
        }
    })?;
    let closing = probe.close()?;
    Ok(Answer::of_variant(seen, closing))
}

/// A place of lo..=hi. Both sides of zero together may have more places than 64 bits count, so the side comes first.
fn between(stream: &mut Stream, lo: i128, hi: i128) -> i128 {
    // Far below 2^127; rounding to 53 bits moves no share that matters.
    let (below, above) = ((-lo).max(0) as f64, (hi + 1).max(0) as f64);
    let negative = hi < 0 || (lo < 0 && stream.unit() * (below + above) < below);
    let (from, to) = if negative { (lo, hi.min(-1)) } else { (lo.max(0), hi) };
    // A side has fewer than 2^64 places.
    from + i128::from(stream.between(0, (to - from) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_of_zero_gets_its_share_of_places() {
        let mut stream = Stream::new(1, &["test"], 0);
        let drawn: Vec<i128> = (0..4000).map(|_| between(&mut stream, -100, 299)).collect();
        assert!(drawn.iter().all(|at| (-100..=299).contains(at)));
        let negative = drawn.iter().filter(|&&at| at < 0).count();
        assert!((850..1150).contains(&negative), "{negative} of 4000, a quarter expected");
        assert!((0..100).all(|_| (-9..=-5).contains(&between(&mut stream, -9, -5))));
        assert!((0..100).all(|_| (5..=9).contains(&between(&mut stream, 5, 9))));
        let all = i128::from(u64::MAX);
        assert!((0..100).any(|_| between(&mut stream, -1 - all, all) < -1));
    }
}
