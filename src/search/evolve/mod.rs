//! The search for the maximum of a range: islands of differential evolution, and the zoom. `population` has the
//! arithmetic of the evolution, argmin the loop around it.

mod population;
mod zoom;

use argmin::core::{
    Error, Executor, KV, PopulationState, Problem, Solver, State, TerminationReason, TerminationStatus,
};

use super::Task;
use super::evaluate::Probe;
use super::streams::StreamKey;
use super::unit::{Answer, EvolveUnit, Seen};
use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::ranges::{Cuboid, Orthant};
use population::{Population, Rules, latin_hypercube};

pub use population::population_size;
pub use zoom::run as run_zoom;

pub fn run(task: &Task, unit: &EvolveUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let spot = &unit.spot;
    let Some(orthant) = Orthant::new(&task.function, &spot.sides) else {
        return Ok(Answer::nothing(spot.variant));
    };
    let probe = Probe::new(task, evaluator, spot.allowances(task), false);
    let mut climb = Climb { probe, orthant, unit, seen: Seen::of(spot.variant), inputs: Vec::new() };
    for number in unit.islands.0..unit.islands.1 {
        let mut stream =
            task.stream_of(spot.variant, StreamKey::Evolve { range: unit.range, island: number });
        let turn = number - unit.islands.0 + u64::from(unit.close);
        let mut island = Island::new(&mut climb, turn, number % 2 == 0);
        if island.dims.is_empty() {
            continue;
        }
        let population = island.populate(population_size(&task.settings, island.dims.len()), &mut stream)?;
        let rules = Rules::new(&task.settings);
        let evolution = Evolution { island, population, rules, stream, trials: Vec::new() };
        let run = Executor::new((), evolution)
            .configure(|state: LoopState| state.max_iters(unit.generations.into()))
            .timer(false)
            .run();
        run.map_err(|error| eval_error(error, task, unit))?;
    }
    let Climb { probe, mut seen, .. } = climb;
    let closing = probe.close()?;
    seen.hits.extend(seen.best.clone());
    Ok(Answer::of_variant(seen, closing))
}

/// The error that argmin carried through its loop.
fn eval_error(error: Error, task: &Task, unit: &EvolveUnit) -> EvalError {
    error.downcast::<EvalError>().unwrap_or_else(|other| EvalError::Helper {
        build: task.builds[unit.spot.variant].as_str().to_owned(),
        reason: other.to_string(),
    })
}

/// Evaluates members and remembers the best.
struct Climb<'a> {
    probe: Probe<'a>,
    orthant: Orthant,
    unit: &'a EvolveUnit,
    seen: Seen,
    inputs: Vec<u64>,
}

/// The box that one population looks at. A member of it is a point of the unit cube.
struct Island<'a, 'b> {
    climb: &'b mut Climb<'a>,
    cuboid: Cuboid,
    /// The axes along which the box is more than one place wide.
    dims: Vec<usize>,
    /// The point that the first member starts at.
    seed: Option<Vec<u64>>,
}

impl<'a, 'b> Island<'a, 'b> {
    /// The first island of a unit looks at the whole range. Every later one starts at the best
    /// point so far and looks at a box around it, each time 64 times narrower: maxima of
    /// cancellation are needles that a population spread over hundreds of binades cannot meet.
    fn new(climb: &'b mut Climb<'a>, turn: u64, seeded: bool) -> Island<'a, 'b> {
        let (whole, known) = (&climb.unit.cuboid, &climb.unit.best);
        let best = climb.seen.best.as_ref().and_then(|best| climb.orthant.point(&best.input));
        let best = if turn == 0 { known.clone() } else { best.or(known.clone()) };
        let mut cuboid = whole.clone();
        if let Some(best) = best.as_ref().filter(|_| turn > 0) {
            for (d, &at) in best.iter().enumerate() {
                let reach = (whole.hi[d] - whole.lo[d]) >> (6 * (1 + (turn - 1) % 8)).min(63);
                cuboid.lo[d] = whole.lo[d].max(at.saturating_sub(reach));
                cuboid.hi[d] = whole.hi[d].min(at.saturating_add(reach));
            }
        }
        let seed = best.filter(|_| turn > 0 || seeded);
        Island { climb, dims: cuboid.open_dims(), cuboid, seed }
    }

    /// A first generation, spread evenly. Its first member stands for the seed, exactly.
    fn populate(&mut self, count: usize, stream: &mut Stream) -> Result<Population, EvalError> {
        let dims = self.dims.len();
        let mut members = latin_hypercube(count, dims, stream);
        if let Some(seed) = &self.seed {
            for (member, &d) in members.iter_mut().zip(&self.dims) {
                // Rounding is harmless: the point itself is evaluated exactly.
                let width = (self.cuboid.hi[d] - self.cuboid.lo[d]) as f64 + 1.0;
                *member = (seed[d].saturating_sub(self.cuboid.lo[d]) as f64 / width).clamp(0.0, 1.0);
            }
        }
        let exact = self.seed.as_ref().map(|seed| self.climb.orthant.input(seed));
        let costs = self.costs(&members, exact.as_deref())?;
        Ok(Population::new(dims, members, costs))
    }

    /// The costs of a generation, which are negated heights. `exact` stands for the first member.
    fn costs(&mut self, members: &[f64], exact: Option<&[u64]>) -> Result<Vec<f64>, EvalError> {
        let Climb { probe, orthant, unit, seen, inputs } = &mut *self.climb;
        inputs.clear();
        inputs.extend(exact.into_iter().flatten());
        for member in members.chunks_exact(self.dims.len()).skip(usize::from(exact.is_some())) {
            let mut open = self.dims.iter().zip(member).peekable();
            for (d, axis) in orthant.axes.iter().enumerate() {
                let (lo, hi) = (self.cuboid.lo[d], self.cuboid.hi[d]);
                let rank = match open.next_if(|&(&o, _)| o == d) {
                    Some((_, &u)) => rank_at(u, lo, hi),
                    None => lo,
                };
                inputs.push(axis.value(rank));
            }
        }
        let mut costs = Vec::with_capacity(members.len() / self.dims.len());
        probe.scores(&[unit.spot.variant], inputs, |_, _, input, score| {
            costs.push(if score.evaluated { -score.height() } else { f64::INFINITY });
            if score.evaluated {
                seen.note(input, score);
            }
        })?;
        Ok(costs)
    }
}

/// The rank at a fraction of a side. A double has 53 bits and a side may have 2^64 places, so the
/// places between two fractions are chosen by a hash of the fraction.
fn rank_at(u: f64, lo: u64, hi: u64) -> u64 {
    let span = u128::from(hi - lo) + 1;
    // u is in [0, 1], so the product is at most 2^53.
    let fraction = (u * (1u64 << 53) as f64) as u64;
    let hash =
        u.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let place = (u128::from(fraction) * span) >> 53;
    let fill = (u128::from(hash) * (span >> 53)) >> 64;
    // Below 2^64 after the minimum.
    lo + (place + fill).min(span - 1) as u64
}

/// What argmin counts generations with; the population is the solver's own.
type LoopState = PopulationState<(), f64>;

/// The evolution of one island as an argmin solver, which evaluates a whole generation at once.
struct Evolution<'a, 'b> {
    island: Island<'a, 'b>,
    population: Population,
    rules: Rules,
    stream: Stream,
    trials: Vec<f64>,
}

impl Solver<(), LoopState> for Evolution<'_, '_> {
    fn name(&self) -> &str {
        "differential evolution"
    }

    fn next_iter(&mut self, _: &mut Problem<()>, state: LoopState) -> Result<(LoopState, Option<KV>), Error> {
        self.population.trials(&self.rules, &mut self.stream, &mut self.trials);
        let costs = self.island.costs(&self.trials, None)?;
        self.population.select(&self.trials, &costs);
        Ok((state, None))
    }

    fn terminate(&mut self, state: &LoopState) -> TerminationStatus {
        if state.get_iter() > 0 && self.population.has_converged(self.rules.tolerance) {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_reach_both_ends_of_a_side_and_its_odd_places() {
        assert_eq!(rank_at(0.0, 10, 20), 10);
        assert_eq!(rank_at(1.0, 10, 20), 20);
        assert_eq!(rank_at(0.5, 7, 7), 7);
        assert_eq!(rank_at(1.0, 0, u64::MAX), u64::MAX);
        let mut stream = Stream::new(1, &["test"], 0);
        let odd = (0..1000).filter(|_| rank_at(stream.unit(), 0, u64::MAX >> 1) % 2 == 1).count();
        assert!((400..600).contains(&odd), "{odd}");
    }
}
