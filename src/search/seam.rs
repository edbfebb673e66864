//! Seams: places where a build's result changes its sign or its class (zero, subnormal, normal,
//! infinity, NaN) along one axis. Two builds seldom put a seam at the same place, and beside a root
//! cancellation leaves few correct bits, so a bisection to the last bit finds inconsistencies that
//! no sampling meets.

use super::Task;
use super::found::Score;
use super::probe::Probe;
use super::scout::moved;
use super::thin::Hits;
use super::unit::{Answer, Line, SeamUnit, Seen};
use crate::eval::{EvalError, Evaluator};
use crate::fp::{Scalar, Stream};
use crate::model::Outcome;
use crate::ranges::Orthant;

/// Places beside a seam are tried at so many powers of two of steps on either side. Beside a root
/// little is left to find but close to it.
const STEPS: [u32; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44];
const ROOT_STEPS: [u32; 10] = [0, 1, 2, 3, 4, 6, 9, 14, 20, 28];
/// Seams closed in on at a time: enough for a batch.
const AT_ONCE: usize = 16;
/// Steps in which interpolation may close in on a root before bisection takes over.
const INTERPOLATED: u32 = 24;

pub fn run(task: &Task, unit: &SeamUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let mut seen = Seen { variant: unit.variant, ..Seen::default() };
    let mut search = SeamSearch {
        probe: Probe::new(task, evaluator, task.allowances(unit.variant, unit.allow), false),
        result: task.function.result,
        left: unit.budget,
        seen: &mut seen,
        inputs: Vec::new(),
        rows: Vec::new(),
    };
    let names = [task.function.name.as_str(), task.builds[unit.variant].as_str(), "seams"];
    let mut stream = Stream::new(task.settings.seed, &names, unit.index);
    let mut seams = Vec::new();
    let per_line = unit.budget / 3 / (unit.lines.len() as u64).max(1);
    for line in &unit.lines {
        let Some(orthant) = Orthant::new(&task.function, &line.sides) else { continue };
        seams.extend(search.scan(&orthant, line, per_line, &mut stream)?);
    }
    stream.shuffle(&mut seams);
    // Every second one is chosen by what was seen beside it.
    let mut worst: Vec<Seam> = seams.split_off(seams.len() / 2);
    worst.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    let mut rest = seams.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let both = worst.into_iter().flat_map(|seam| [Some(seam), rest.next().flatten()]).flatten();
    let mut queue: Vec<Seam> = both.collect();
    queue.reverse();
    while search.left > 0 && !queue.is_empty() {
        let mut few = queue.split_off(queue.len().saturating_sub(AT_ONCE));
        search.close_in(&mut few)?;
        search.look_around(&few)?;
    }
    let SeamSearch { probe, inputs, rows, .. } = search;
    let closing = probe.close()?;
    let hits = Hits { inputs: &inputs, arity: task.function.arity(), rows };
    seen.best = hits.best();
    seen.hits = hits.thinned(&task.function, task.settings.gap, unit.keep);
    Ok(Answer::new(vec![seen], closing))
}

/// Two places of an axis with a change of one build's result between them.
struct Seam {
    orthant: Orthant,
    point: Vec<u64>,
    axis: usize,
    lo: u64,
    hi: u64,
    /// Which of the two builds changes, and its kind of result at `lo`.
    variant: bool,
    kind: Kind,
    /// That build's results at the two places.
    values: [f64; 2],
    /// Inconsistency of the two places.
    bits: f64,
}

/// What of a result must change for a seam.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fault,
    Nan,
    Zero,
    Subnormal { negative: bool },
    Normal { negative: bool },
    Infinite { negative: bool },
}

impl Kind {
    fn of(ty: Scalar, outcome: Outcome) -> Kind {
        let Outcome::Value(bits) = outcome else { return Kind::Fault };
        let negative = ty.is_negative(bits);
        let Some(infinity) = ty.infinity_bits() else {
            return if bits == 0 { Kind::Zero } else { Kind::Normal { negative } };
        };
        let magnitude = bits & !(1 << (ty.width() - 1));
        match magnitude {
            0 => Kind::Zero,
            m if m > infinity => Kind::Nan,
            m if m == infinity => Kind::Infinite { negative },
            m if m >> ty.mantissa_bits() == 0 => Kind::Subnormal { negative },
            _ => Kind::Normal { negative },
        }
    }
}

/// What both builds answered to an input.
#[derive(Clone, Copy)]
struct Look {
    kinds: [Kind; 2],
    /// NaN for a fault.
    values: [f64; 2],
    bits: f64,
}

struct SeamSearch<'a> {
    probe: Probe<'a>,
    result: Scalar,
    left: u64,
    seen: &'a mut Seen,
    /// The inconsistent samples.
    inputs: Vec<u64>,
    rows: Vec<(usize, Score)>,
}

impl SeamSearch<'_> {
    /// Evaluates inputs; None where a build has been given up.
    fn kinds(&mut self, inputs: &[u64]) -> Result<Vec<Option<Look>>, EvalError> {
        let SeamSearch { probe, result, seen, inputs: hits, rows, .. } = self;
        let mut kinds = Vec::new();
        let variant = seen.variant;
        probe.scores(&[variant], inputs, |_, _, input, score| {
            let outcomes = [score.baseline, score.variant];
            kinds.push(score.evaluated.then(|| Look {
                kinds: outcomes.map(|outcome| Kind::of(*result, outcome)),
                values: outcomes.map(|outcome| outcome.value().map_or(f64::NAN, |bits| result.to_f64(bits))),
                bits: score.bits,
            }));
            if score.evaluated {
                seen.statistics.add(score.bits, score.change, score.is_inconsistent());
            }
            if score.is_inconsistent() {
                rows.push((rows.len(), *score));
                hits.extend_from_slice(input);
            }
        })?;
        self.left = self.left.saturating_sub(kinds.len() as u64);
        Ok(kinds)
    }

    /// Looks along a line at `count` places, and returns where something changes.
    fn scan(
        &mut self,
        orthant: &Orthant,
        line: &Line,
        count: u64,
        stream: &mut Stream,
    ) -> Result<Vec<Seam>, EvalError> {
        let axis = &orthant.axes[line.axis];
        let width = u128::from(line.hi - line.lo) + 1;
        let edge = |i: u64| line.lo + (width * u128::from(i) / u128::from(count.max(1))) as u64;
        let mut places = vec![axis.settle(line.lo), axis.settle(line.hi)];
        places.extend((0..count).map(|i| {
            let to = edge(i + 1).max(edge(i) + 1) - 1;
            axis.settle(stream.between(edge(i), to.min(line.hi)))
        }));
        places.sort_unstable();
        places.dedup();
        let inputs: Vec<u64> =
            places.iter().flat_map(|&at| orthant.input(&moved(&line.point, line.axis, at))).collect();
        let kinds = self.kinds(&inputs)?;
        let mut seams = Vec::new();
        for (at, pair) in places.windows(2).zip(kinds.windows(2)) {
            let (Some(here), Some(there)) = (pair[0], pair[1]) else { continue };
            for build in 0..2 {
                if here.kinds[build] != there.kinds[build] {
                    seams.push(Seam {
                        orthant: orthant.clone(),
                        point: line.point.clone(),
                        axis: line.axis,
                        lo: at[0],
                        hi: at[1],
                        variant: build == 1,
                        kind: here.kinds[build],
                        values: [here.values[build], there.values[build]],
                        bits: here.bits.max(there.bits),
                    });
                }
            }
        }
        Ok(seams)
    }

    /// Closes in on every seam, all of them at a time, until its two places are neighbours.
    fn close_in(&mut self, seams: &mut [Seam]) -> Result<(), EvalError> {
        for turn in 0.. {
            let mut open = Vec::new();
            let mut inputs = Vec::new();
            for (i, seam) in seams.iter().enumerate() {
                if let Some(between) = seam.between(turn) {
                    open.push((i, between));
                    inputs.extend(seam.input(between));
                }
            }
            if open.is_empty() {
                break;
            }
            let looks = self.kinds(&inputs)?;
            for (&(i, between), look) in open.iter().zip(looks) {
                seams[i].narrow(between, look);
            }
        }
        Ok(())
    }

    /// Tries places beside every seam, nearest first.
    fn look_around(&mut self, seams: &[Seam]) -> Result<(), EvalError> {
        let mut inputs = Vec::new();
        for seam in seams {
            let axis = &seam.orthant.axes[seam.axis];
            let steps: &[u32] = if seam.is_root() { &ROOT_STEPS } else { &STEPS };
            for step in steps {
                let below = axis.settle(seam.lo.saturating_sub((1 << step) - 1));
                let above = axis.settle(seam.hi.saturating_add((1 << step) - 1));
                inputs.extend(seam.input(below));
                inputs.extend(seam.input(above));
            }
        }
        self.kinds(&inputs)?;
        Ok(())
    }
}

impl Seam {
    /// Whether the build's result changes its sign here, among finite numbers.
    fn is_root(&self) -> bool {
        let [lo, hi] = self.values;
        lo.is_finite() && hi.is_finite() && lo != 0.0 && hi != 0.0 && (lo < 0.0) != (hi < 0.0)
    }

    /// A place between the two to look at next; None when they are neighbours.
    fn between(&self, turn: u32) -> Option<u64> {
        let axis = &self.orthant.axes[self.axis];
        let width = self.hi - self.lo;
        let offset = match self.is_root() && turn < INTERPOLATED {
            true => {
                let [lo, hi] = self.values.map(f64::abs);
                // A share of a width below 2^63.
                let share = (lo / (lo + hi) * width as f64) as u64;
                share.clamp(1, (width - width.min(1)).max(1))
            }
            false => width / 2,
        };
        let mut between = axis.settle(self.lo + offset);
        if between <= self.lo {
            // Among subnormals many places share a value.
            between = axis.after(self.lo).unwrap_or(self.hi);
        }
        (between < self.hi).then_some(between)
    }

    /// Moves one of the two places to a place between them, by what was seen there. The value of the
    /// place that stays is halved: interpolation would else come closer from one side only.
    fn narrow(&mut self, between: u64, look: Option<Look>) {
        // Nobody answers any more.
        let Some(look) = look else { return self.hi = self.lo };
        let build = usize::from(self.variant);
        let [lo, hi] = &mut self.values;
        if look.kinds[build] == self.kind {
            self.lo = between;
            (*lo, *hi) = (look.values[build], *hi / 2.0);
        } else {
            self.hi = between;
            (*lo, *hi) = (*lo / 2.0, look.values[build]);
        }
    }

    fn input(&self, at: u64) -> Vec<u64> {
        self.orthant.input(&moved(&self.point, self.axis, at))
    }
}
