//! Runs the units of the sampling phase: many inputs, the baseline once, every variant.

use super::free_params;
use super::lattice::Lattice;
use super::sampler::ParamSampler;
use crate::eval::{EvalError, Evaluator};
use crate::model::Coordinate;
use crate::search::Task;
use crate::search::evaluate::{Closing, Hits, MOST_HITS, Mark, Probe, Score};
use crate::search::streams::{StreamKey, strata_name};
use crate::search::unit::{Answer, Crowd, Harvest, InputsUnit, PlotSample, Seen, StrataUnit};

/// Strata that share a random stream; units are cut at its multiples.
pub const STREAM_BLOCK: u64 = 1024;

pub fn run_inputs(
    task: &Task,
    unit: &InputsUnit,
    evaluator: &mut dyn Evaluator,
) -> Result<Answer, EvalError> {
    let job = Job { crowd: &unit.crowd, first: unit.first, keep_every: 1, keep_hits: MOST_HITS };
    let Sampled { seen, closing, marks } = job.run(task, &unit.inputs, evaluator)?;
    let plot = pick_plot(task, unit, &marks);
    Ok(Answer { closing, harvest: Harvest::Inputs { seen, plot } })
}

pub fn run_strata(
    task: &Task,
    unit: &StrataUnit,
    evaluator: &mut dyn Evaluator,
) -> Result<Answer, EvalError> {
    let inputs = strata_inputs(task, unit);
    let (keep_every, keep_hits) = (unit.keep_every.max(1), unit.keep_hits);
    let job = Job { crowd: &unit.crowd, first: false, keep_every, keep_hits };
    let Sampled { seen, closing, .. } = job.run(task, &inputs, evaluator)?;
    Ok(Answer { closing, harvest: Harvest::Strata(seen) })
}

/// Inputs on a crowd of builds.
struct Job<'a> {
    crowd: &'a Crowd,
    first: bool,
    keep_every: u64,
    keep_hits: u64,
}

/// What came of inputs.
struct Sampled {
    seen: Vec<Seen>,
    closing: Closing,
    /// The bits of every input and which value has them, a row for each variant.
    marks: Vec<Vec<Mark>>,
}

impl Job<'_> {
    fn run(&self, task: &Task, inputs: &[u64], evaluator: &mut dyn Evaluator) -> Result<Sampled, EvalError> {
        let arity = task.function.arity();
        let count = inputs.len() / arity;
        let variants = &self.crowd.variants;
        let mut seen: Vec<Seen> = variants.iter().map(|&variant| Seen::of(variant)).collect();
        let mut rows: Vec<Vec<(usize, Score)>> = variants.iter().map(|_| Vec::new()).collect();
        let mut hit = vec![vec![false; count]; variants.len()];
        let mut missed = vec![vec![false; count]; variants.len()];
        let mut marks = vec![vec![Mark::default(); count]; variants.len()];
        let mut probe = Probe::new(task, evaluator, self.crowd.allow.clone(), self.first);
        probe.scores(variants, inputs, |v, i, _, score| {
            if !score.evaluated {
                return;
            }
            hit[v][i] = score.is_inconsistent();
            seen[v].statistics.add(score.bits, score.change, hit[v][i]);
            if hit[v][i] {
                rows[v].push((i, *score));
            }
            missed[v][i] = !hit[v][i];
            marks[v][i] = Mark::of(score);
        })?;
        let closing = probe.close()?;
        for (v, (seen, rows)) in seen.iter_mut().zip(rows).enumerate() {
            let keep = self.keep_misses(task, inputs, &hit[v], &missed[v]);
            seen.misses = keep.iter().flat_map(|&i| &inputs[i * arity..(i + 1) * arity]).copied().collect();
            let hits = Hits { inputs, arity, rows };
            seen.best = hits.best();
            seen.changed = hits.changed();
            seen.hits = hits.thinned(&task.function, task.settings.gap, self.keep_hits);
        }
        Ok(Sampled { seen, closing, marks })
    }

    /// Which consistent samples to return: every n-th, and with one free parameter also neighbours
    /// of inconsistent ones, which bound their range.
    fn keep_misses(&self, task: &Task, inputs: &[u64], hit: &[bool], missed: &[bool]) -> Vec<usize> {
        let params = &task.function.coordinates;
        let regular = |i: usize| missed[i] && (i as u64).is_multiple_of(self.keep_every);
        let mut keep: Vec<usize> = (0..hit.len()).filter(|&i| regular(i)).collect();
        let mut free = (0..params.len()).filter(|&p| !params[p].domain.is_fixed());
        let wanted = self.keep_every > 1 && hit.contains(&true) && missed.contains(&true);
        if let (Some(only), None, true) = (free.next(), free.next(), wanted) {
            let place = |i: &usize| params[only].ty.axis(inputs[i * params.len() + only]);
            let mut order: Vec<usize> = (0..hit.len()).collect();
            order.sort_by_cached_key(|i| place(i).map(|p| (p.side, p.mag)));
            let pairs = order.windows(2).filter(|pair| hit[pair[0]] != hit[pair[1]]);
            let bounds: Vec<usize> = pairs.flatten().copied().filter(|&i| missed[i]).collect();
            // In a sparse region nearly every sample bounds another.
            keep.extend(bounds.iter().step_by(bounds.len().div_ceil(self.keep_hits.max(1) as usize).max(1)));
            keep.sort_unstable();
            keep.dedup();
        }
        keep
    }
}

/// Samples for plots: every n-th input, and the first inconsistent ones of each variant.
fn pick_plot(task: &Task, unit: &InputsUnit, marks: &[Vec<Mark>]) -> Vec<PlotSample> {
    let arity = task.function.arity();
    let count = unit.inputs.len() / arity;
    let row = |i: usize, chosen_by| {
        let input = unit.inputs[i * arity..(i + 1) * arity].to_vec();
        let sample =
            Mark::sample(task, input, unit.crowd.variants.iter().copied().zip(marks.iter().map(|m| m[i])));
        PlotSample { sample, chosen_by }
    };
    // A stride is below the number of inputs, so within usize.
    let every = (unit.plot_every.max(1) as usize).min(count.max(1));
    let mut picked: Vec<PlotSample> = (0..count).step_by(every).map(|i| row(i, None)).collect();
    for (v, &variant) in unit.crowd.variants.iter().enumerate() {
        let interesting = (0..count).filter(|&i| marks[v][i].bits > 0.0 && i % every != 0);
        picked.extend(interesting.take(unit.plot_hits as usize).map(|i| row(i, Some(variant))));
    }
    picked
}

/// The inputs of strata `from..to`. One free parameter: a random place in each stratum, in random
/// order, so that a stretch that crashes does not fill a batch. Several: an even sequence over the
/// axes of all, with every fourth input partitioned.
fn strata_inputs(task: &Task, unit: &StrataUnit) -> Vec<u64> {
    let sampler = |param: &Coordinate| {
        let usual = ParamSampler::of_usual(param, &task.settings).filter(|_| unit.usual);
        usual.unwrap_or_else(|| ParamSampler::new(param, &task.settings))
    };
    let samplers: Vec<ParamSampler> = task.function.coordinates.iter().map(sampler).collect();
    let single = free_params(task) == 1;
    let lattice = Lattice::new(samplers.len(), &mut task.stream(StreamKey::Lattice));
    let (usual, round) = (unit.usual, unit.round);
    let stream_at = |i: u64| task.stream(StreamKey::Strata { usual, round, block: i / STREAM_BLOCK });
    let mut stream = stream_at(unit.from);
    let mut inputs = Vec::with_capacity((unit.to - unit.from) as usize * samplers.len());
    for i in unit.from..unit.to {
        if i % STREAM_BLOCK == 0 {
            stream = stream_at(i);
        }
        let partitioned = !single && i % 4 == 3;
        for (p, sampler) in samplers.iter().enumerate() {
            inputs.push(if partitioned || (sampler.is_wide_integer() && i % 2 == 1) {
                sampler.partitioned(&mut stream)
            } else if single {
                sampler.in_stratum(i, unit.count, &mut stream)
            } else {
                sampler.at_fraction(lattice.fraction(unit.base + i, p))
            });
        }
    }
    if single {
        let mut order: Vec<usize> = (0..inputs.len() / samplers.len()).collect();
        let key = StreamKey::StrataOrder { round, from: unit.from };
        task.stream_about(strata_name(usual), key).shuffle(&mut order);
        let rows = order.iter().flat_map(|&i| &inputs[i * samplers.len()..(i + 1) * samplers.len()]);
        inputs = rows.copied().collect();
    }
    inputs
}
