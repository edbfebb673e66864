//! Uniform samples of a box (CIGEN, section 3.3): the dense phase, and the final statistics.

use crate::eval::{EvalError, Evaluator};
use crate::ranges::Orthant;
use crate::search::Task;
use crate::search::evaluate::{Hits, Probe};
use crate::search::unit::{Answer, DenseUnit, Seen};

/// Consistent samples a unit returns.
const MISSES: u64 = 2048;

pub fn run(task: &Task, unit: &DenseUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let spot = &unit.spot;
    let Some(orthant) = Orthant::new(&task.function, &spot.sides) else {
        return Ok(Answer::nothing(spot.variant));
    };
    let mut stream = task.stream_of(spot.variant, unit.stream);
    let mut inputs = Vec::with_capacity(unit.samples as usize * orthant.dims());
    for _ in 0..unit.samples {
        for (d, axis) in orthant.axes.iter().enumerate() {
            inputs.push(axis.value(stream.between(unit.cuboid.lo[d], unit.cuboid.hi[d])));
        }
    }
    let mut seen = Seen::of(spot.variant);
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
    seen.changed = hits.changed();
    if unit.keep > 0 {
        seen.hits = hits.thinned(&task.function, task.settings.gap, unit.keep);
    }
    Ok(Answer::of_variant(seen, closing))
}
