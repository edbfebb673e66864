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

/// Places beside a seam are tried at so many powers of two of steps on either side.
const STEPS: [u32; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44];
/// About what a seam costs: the bisection and the places beside it.
const COST: u64 = 84;

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
    // A count below the number of seams. Half of them are chosen by what was seen beside them.
    let most = (search.left / COST) as usize;
    if seams.len() > most {
        seams[most / 2..].sort_by(|a, b| b.bits.total_cmp(&a.bits));
        seams.truncate(most);
    }
    search.bisect(&mut seams)?;
    search.look_around(&seams)?;
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

/// The kinds of both builds' results for an input, and their bits.
type Look = ([Kind; 2], f64);

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
            let kind = |outcome| Kind::of(*result, outcome);
            kinds.push(score.evaluated.then(|| ([kind(score.baseline), kind(score.variant)], score.bits)));
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
            let (Some((here, bits)), Some((there, bits_there))) = (pair[0], pair[1]) else { continue };
            for build in 0..2 {
                if here[build] != there[build] {
                    seams.push(Seam {
                        orthant: orthant.clone(),
                        point: line.point.clone(),
                        axis: line.axis,
                        lo: at[0],
                        hi: at[1],
                        variant: build == 1,
                        kind: here[build],
                        bits: bits.max(bits_there),
                    });
                }
            }
        }
        Ok(seams)
    }

    /// Closes in on every seam, all of them at a time, until its two places are neighbours.
    fn bisect(&mut self, seams: &mut [Seam]) -> Result<(), EvalError> {
        loop {
            let mut open = Vec::new();
            let mut inputs = Vec::new();
            for (i, seam) in seams.iter().enumerate() {
                let axis = &seam.orthant.axes[seam.axis];
                let mut middle = axis.settle(seam.lo + (seam.hi - seam.lo) / 2);
                if middle <= seam.lo {
                    // Among subnormals many places share a value.
                    middle = axis.after(seam.lo).unwrap_or(seam.hi);
                }
                if middle < seam.hi {
                    open.push((i, middle));
                    inputs.extend(seam.input(middle));
                }
            }
            if open.is_empty() {
                return Ok(());
            }
            let kinds = self.kinds(&inputs)?;
            for (&(i, middle), kinds) in open.iter().zip(kinds) {
                let seam = &mut seams[i];
                match kinds {
                    Some((kinds, _)) if kinds[usize::from(seam.variant)] == seam.kind => seam.lo = middle,
                    Some(_) => seam.hi = middle,
                    // Nobody answers any more.
                    None => seam.hi = seam.lo,
                }
            }
        }
    }

    /// Tries places beside every seam, nearest first.
    fn look_around(&mut self, seams: &[Seam]) -> Result<(), EvalError> {
        let mut inputs = Vec::new();
        for seam in seams {
            let axis = &seam.orthant.axes[seam.axis];
            for step in STEPS {
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
    fn input(&self, at: u64) -> Vec<u64> {
        self.orthant.input(&moved(&self.point, self.axis, at))
    }
}
