//! Uniform samples of a box (CIGEN, section 3.3): the dense phase, and the final statistics.

use super::Task;
use super::probe::Probe;
use super::thin::Hits;
use super::unit::{Answer, DenseUnit, Seen};
use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::ranges::Orthant;

/// Consistent samples a unit returns.
const MISSES: u64 = 2048;

pub fn run(task: &Task, unit: &DenseUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let Some(orthant) = Orthant::new(&task.function, &unit.spot.sides) else {
        return Ok(Answer::default());
    };
    let spot = &unit.spot;
    let names = [task.function.name.as_str(), spot.build(task), unit.phase.as_str()];
    let mut stream = Stream::new(task.settings.seed, &names, spot.index);
    let mut inputs = Vec::with_capacity(unit.samples as usize * orthant.dims());
    for _ in 0..unit.samples {
        for (d, axis) in orthant.axes.iter().enumerate() {
            inputs.push(axis.value(stream.between(unit.cuboid.lo[d], unit.cuboid.hi[d])));
        }
    }
    let mut seen = Seen { variant: spot.variant, ..Seen::default() };
    let keep_every = unit.samples.div_ceil(MISSES).max(1);
    let (mut rows, mut misses) = (Vec::new(), Vec::new());
    let mut probe = Probe::new(task, evaluator, spot.allowances(task), false);
    probe.scores(&[spot.variant], &inputs, |_, i, input, score| {
        if score.evaluated {
            let inconsistent = score.is_inconsistent();
            seen.statistics.add(score.bits, score.change, inconsistent);
            if inconsistent {
                rows.push((i, *score));
            } else if (i as u64).is_multiple_of(keep_every) {
                misses.extend_from_slice(input);
            }
        }
    })?;
    let closing = probe.close()?;
    seen.misses = if unit.keep > 0 { misses } else { Vec::new() };
    let hits = Hits { inputs: &inputs, arity: orthant.dims(), rows };
    seen.best = hits.best();
    if unit.keep > 0 {
        seen.hits = hits.thinned(&task.function, task.settings.gap, unit.keep);
    }
    Ok(Answer::new(vec![seen], closing))
}
