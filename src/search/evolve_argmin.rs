//! The evolution of a range as an argmin solver that evaluates a whole generation at once, and the
//! unit that runs it.

use std::cell::RefCell;

use argmin::core::{
    Error, Executor, KV, PopulationState, Problem, Solver, State, TerminationReason, TerminationStatus,
};

use super::Task;
use super::evolve::{Population, Rules, latin_hypercube, population_size};
use super::found::{Found, Score, keep_best};
use super::probe::Probe;
use super::unit::{Answer, EvolveUnit, Seen};
use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::ranges::{Cuboid, Orthant};

pub fn run(task: &Task, unit: &EvolveUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let Some(orthant) = Orthant::new(&task.function, &unit.spot.sides) else {
        return Ok(Answer::default());
    };
    let spot = &unit.spot;
    let climb = RefCell::new(Climb {
        probe: Probe::new(task, evaluator, spot.allowances(task), false),
        orthant,
        unit,
        seen: Seen { variant: spot.variant, ..Seen::default() },
        inputs: Vec::new(),
    });
    for island in unit.islands.0..unit.islands.1 {
        let names = [task.function.name.as_str(), spot.build(task), "evolve"];
        // A range has at most 4096 islands.
        let stream = Stream::new(task.settings.seed, &names, spot.index << 20 | island);
        let landscape =
            Landscape::new(&climb, island - unit.islands.0 + u64::from(unit.close), island % 2 == 0);
        let dims = landscape.cuboid.open_dims();
        if dims.is_empty() {
            continue;
        }
        let members = population_size(&task.settings, dims.len());
        let solver = Evolution::new(members, dims.len(), Rules::new(&task.settings), stream);
        let run = Executor::new(landscape, solver)
            .configure(|state: PopulationState<Vec<f64>, f64>| state.max_iters(unit.generations.into()))
            .timer(false)
            .run();
        if let Err(error) = run {
            return Err(error.downcast::<EvalError>().unwrap_or_else(|other| EvalError::Helper {
                build: spot.build(task).to_owned(),
                reason: other.to_string(),
            }));
        }
    }
    let Climb { probe, mut seen, .. } = climb.into_inner();
    let closing = probe.close()?;
    seen.hits.extend(seen.best.clone());
    Ok(Answer::new(vec![seen], closing))
}

/// Evaluates members and remembers the best.
struct Climb<'a> {
    probe: Probe<'a>,
    orthant: Orthant,
    unit: &'a EvolveUnit,
    seen: Seen,
    inputs: Vec<u64>,
}

/// What the solver minimises: the negated height of every member of a generation.
struct Landscape<'a, 'b> {
    climb: &'b RefCell<Climb<'a>>,
    cuboid: Cuboid,
    dims: Vec<usize>,
    /// The point that the first member starts at.
    seed: Option<Vec<u64>>,
}

impl<'a, 'b> Landscape<'a, 'b> {
    /// The first island of a unit looks at the whole range. Every later one starts at the best
    /// point so far and looks at a box around it, each time 64 times narrower: maxima of
    /// cancellation are needles that a population spread over hundreds of binades cannot meet.
    fn new(climb: &'b RefCell<Climb<'a>>, turn: u64, seeded: bool) -> Landscape<'a, 'b> {
        let now = climb.borrow();
        let whole = &now.unit.cuboid;
        let best = now.seen.best.as_ref().and_then(|best| now.orthant.point(&best.input));
        let best = if turn == 0 { now.unit.best.clone() } else { best.or(now.unit.best.clone()) };
        let mut cuboid = whole.clone();
        if let Some(best) = best.as_ref().filter(|_| turn > 0) {
            for (d, &at) in best.iter().enumerate() {
                let reach = (whole.hi[d] - whole.lo[d]) >> (6 * (1 + (turn - 1) % 8)).min(63);
                cuboid.lo[d] = whole.lo[d].max(at.saturating_sub(reach));
                cuboid.hi[d] = whole.hi[d].min(at.saturating_add(reach));
            }
        }
        let seed = best.filter(|_| turn > 0 || seeded);
        Landscape { climb, dims: cuboid.open_dims(), cuboid, seed }
    }

    /// Costs of a generation. In a start the first member stands for the seed, exactly.
    fn costs(&self, members: &[f64], start: bool, costs: &mut Vec<f64>) -> Result<(), Error> {
        let climb = &mut *self.climb.borrow_mut();
        let Climb { probe, orthant, unit, seen, inputs } = climb;
        inputs.clear();
        for (index, member) in members.chunks_exact(self.dims.len()).enumerate() {
            match &self.seed {
                Some(seed) if start && index == 0 => {
                    inputs.extend(orthant.axes.iter().zip(seed).map(|(axis, &rank)| axis.value(rank)));
                }
                _ => {
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
            }
        }
        costs.clear();
        probe.scores(&[unit.spot.variant], inputs, |_, _, input, score| {
            costs.push(if score.evaluated { -score.height() } else { f64::INFINITY });
            if score.evaluated {
                take_note(seen, input, score);
            }
        })?;
        Ok(())
    }

    /// The seed's place in the unit cube.
    fn seed_member(&self) -> Option<Vec<f64>> {
        let seed = self.seed.as_ref()?;
        let place = |&d: &usize| {
            // Rounding is harmless: the point itself is evaluated exactly.
            let width = (self.cuboid.hi[d] - self.cuboid.lo[d]) as f64 + 1.0;
            (seed[d].saturating_sub(self.cuboid.lo[d]) as f64 / width).clamp(0.0, 1.0)
        };
        Some(self.dims.iter().map(place).collect())
    }
}

/// Counts a score without keeping the sample unless it is the best.
fn take_note(seen: &mut Seen, input: &[u64], score: &Score) {
    let inconsistent = score.is_inconsistent();
    seen.statistics.add(score.bits, score.change, inconsistent);
    if inconsistent && seen.best.as_ref().is_none_or(|best| score.bits >= best.bits) {
        keep_best(&mut seen.best, &Found::new(input, score));
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

/// The solver: the core's functions in argmin's loop.
struct Evolution {
    members: usize,
    dims: usize,
    rules: Rules,
    stream: Stream,
    population: Option<Population>,
    trials: Vec<f64>,
    costs: Vec<f64>,
}

impl Evolution {
    fn new(members: usize, dims: usize, rules: Rules, stream: Stream) -> Evolution {
        Evolution { members, dims, rules, stream, population: None, trials: Vec::new(), costs: Vec::new() }
    }
}

type Members = PopulationState<Vec<f64>, f64>;

/// The state argmin watches: the best member. A cost of -inf would end its loop at once, and NaN
/// would never be best; heights are finite, so neither occurs.
fn watched(state: Members, population: &Population) -> Members {
    state.individual(population.member(population.best).to_vec()).cost(population.costs[population.best])
}

impl Solver<Landscape<'_, '_>, Members> for Evolution {
    fn name(&self) -> &str {
        "differential evolution"
    }

    fn init(
        &mut self,
        problem: &mut Problem<Landscape<'_, '_>>,
        state: Members,
    ) -> Result<(Members, Option<KV>), Error> {
        let mut members = latin_hypercube(self.members, self.dims, &mut self.stream);
        let mut costs = Vec::new();
        problem.bulk_problem("cost_count", self.members, |landscape| {
            if let Some(seed) = landscape.seed_member() {
                members[..self.dims].copy_from_slice(&seed);
            }
            landscape.costs(&members, true, &mut costs)
        })?;
        let population = Population::new(self.dims, members, costs);
        let state = watched(state, &population);
        self.population = Some(population);
        Ok((state, None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Landscape<'_, '_>>,
        state: Members,
    ) -> Result<(Members, Option<KV>), Error> {
        let Some(population) = &mut self.population else { return Ok((state, None)) };
        population.trials(&self.rules, &mut self.stream, &mut self.trials);
        let (trials, costs) = (&self.trials, &mut self.costs);
        problem
            .bulk_problem("cost_count", self.members, |landscape| landscape.costs(trials, false, costs))?;
        population.select(trials, costs);
        Ok((watched(state, population), None))
    }

    fn terminate(&mut self, state: &Members) -> TerminationStatus {
        let converged = self.population.as_ref().is_some_and(|p| p.has_converged(self.rules.tolerance));
        if state.get_iter() > 0 && converged {
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
