//! The search for seams along lines: scans or walks them, and closes in on what changes there, the
//! most promising first.

mod seam;

use std::collections::VecDeque;

use crate::eval::{EvalError, Evaluator};
use crate::fp::{Scalar, Stream};
use crate::model::Results;
use crate::ranges::Orthant;
use crate::search::Task;
use crate::search::evaluate::{Hits, Probe, Score};
use crate::search::tighten::moved;
use crate::search::unit::{Answer, Line, SeamUnit, Seen};
use seam::{Kind, Look, Seam};

/// Places beside a seam are tried at so many powers of two of steps on either side. Beside a root
/// little is left to find but close to it.
const STEPS: [u32; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 28, 32, 36, 40, 44];
const ROOT_STEPS: [u32; 6] = [0, 1, 2, 4, 8, 20];
/// Places looked at in one go on a walk, and its shortest and longest steps in binades.
const WALKED: usize = 16;
const STRIDES: [f64; 2] = [1.0 / 8192.0, 1.0 / 16.0];
/// Steps on either side of a seam without another for its slope to be trusted.
const ALONE: usize = 1;
/// Seams closed in on at a time: enough for a batch.
const AT_ONCE: usize = 16;
/// Looks that a root may take before it has to wait for all others.
const PATIENCE: u32 = 14;

pub fn run(task: &Task, unit: &SeamUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let mut seen = Seen::of(unit.variant);
    let mut search = SeamSearch {
        probe: Probe::new(task, evaluator, task.allowances(unit.variant, unit.allow), false),
        results: &task.function.results,
        left: unit.budget,
        seen: &mut seen,
        inputs: Vec::new(),
        rows: Vec::new(),
    };
    let mut stream = task.stream_of(unit.variant, unit.stream);
    let mut seams: Vec<Seam> = Vec::new();
    let per_line = unit.budget / 3 / (unit.lines.len() as u64).max(1);
    for line in &unit.lines {
        let Some(orthant) = Orthant::new(&task.function, &line.sides) else { continue };
        let row = match line.walked {
            true => search.walk(&orthant, line, per_line)?,
            false => search.scan(&orthant, line, per_line, &mut stream)?,
        };
        seams.extend(row.seams(&orthant, line, task.function.results.ty(0)));
    }
    let mut queue = VecDeque::from(ordered(seams, &mut stream));
    while search.left > 0 && !queue.is_empty() {
        let mut few: Vec<Seam> = queue.drain(..queue.len().min(AT_ONCE)).collect();
        search.close_in(&mut few)?;
        // Some take many looks, and have to wait for those that do not, unless nearly all are such.
        if few.iter().filter(|seam| !seam.is_closed()).count() > few.len() * 3 / 4 {
            search.close_in(&mut few)?;
        }
        let (closed, open): (Vec<Seam>, Vec<Seam>) = few.into_iter().partition(Seam::is_closed);
        search.look_around(&closed)?;
        queue.extend(open);
    }
    let SeamSearch { probe, inputs, rows, .. } = search;
    let closing = probe.close()?;
    let hits = Hits { inputs: &inputs, arity: task.function.arity(), rows };
    seen.best = hits.best();
    seen.changed = hits.changed();
    seen.hits = hits.thinned(&task.function, task.settings.gap, unit.keep);
    Ok(Answer::of_variant(seen, closing))
}

/// The most promising first, and in every second place a random one: promises may be wrong.
fn ordered(mut seams: Vec<Seam>, stream: &mut Stream) -> Vec<Seam> {
    seams.sort_by(|a, b| b.promise.total_cmp(&a.promise));
    let mut any: Vec<usize> = (0..seams.len()).collect();
    stream.shuffle(&mut any);
    let mut seams: Vec<Option<Seam>> = seams.into_iter().map(Some).collect();
    let turns = (0..seams.len()).zip(any).flat_map(|(best, any)| [best, any]);
    turns.filter_map(|i| seams[i].take()).collect()
}

/// Places of a line in order, and what was seen there; None where a build has been given up.
struct Row {
    places: Vec<u64>,
    looks: Vec<Option<Look>>,
}

impl Row {
    /// Whether something changes between a place and the next one.
    fn changes(&self, i: usize) -> bool {
        match (self.looks.get(i), self.looks.get(i + 1)) {
            (Some(Some(here)), Some(Some(there))) => here.kinds != there.kinds,
            _ => false,
        }
    }

    /// Where something changes.
    fn seams(&self, orthant: &Orthant, line: &Line, result: Scalar) -> Vec<Seam> {
        let mut seams = Vec::new();
        for (i, (at, pair)) in self.places.windows(2).zip(self.looks.windows(2)).enumerate() {
            let (Some(here), Some(there)) = (pair[0], pair[1]) else { continue };
            for build in 0..2 {
                let kinds = [here.kinds[build], there.kinds[build]];
                // The border of a fault costs many faults, and says no more than one of them.
                if kinds[0] == kinds[1] || kinds.contains(&Kind::Fault) {
                    continue;
                }
                let mut seam = Seam::new(orthant, line, [at[0], at[1]], build, [&here, &there]);
                // A root of both builds is one place, which both look at.
                if build == 1 && seam.is_root() && here.kinds[0] != there.kinds[0] {
                    continue;
                }
                // Where seams are crowded there are more than were seen, and slopes mean nothing.
                let near = i.saturating_sub(ALONE)..=i + ALONE;
                let alone = near.filter(|&j| self.changes(j)).count() == 1;
                let apart = here.apart().max(there.apart());
                if let Some(bits) = seam.bits_at_root(result, apart).filter(|_| alone) {
                    seam.promise = bits;
                }
                seams.push(seam);
            }
        }
        seams
    }
}

struct SeamSearch<'a> {
    probe: Probe<'a>,
    results: &'a Results,
    left: u64,
    seen: &'a mut Seen,
    /// The inconsistent samples.
    inputs: Vec<u64>,
    rows: Vec<(usize, Score)>,
}

impl SeamSearch<'_> {
    /// Evaluates inputs; None where a build has been given up.
    fn kinds(&mut self, inputs: &[u64]) -> Result<Vec<Option<Look>>, EvalError> {
        let SeamSearch { probe, results, seen, inputs: hits, rows, .. } = self;
        let mut kinds = Vec::new();
        let variant = seen.variant;
        probe.scores(&[variant], inputs, |_, _, input, score| {
            let (outcomes, result) = ([score.baseline, score.variant], results.ty(score.worst));
            kinds.push(score.evaluated.then(|| Look {
                kinds: outcomes.map(|outcome| Kind::of(result, outcome)),
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

    /// Looks along a line at `count` places.
    fn scan(
        &mut self,
        orthant: &Orthant,
        line: &Line,
        count: u64,
        stream: &mut Stream,
    ) -> Result<Row, EvalError> {
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
        let looks = self.look_along(orthant, line, &places)?;
        Ok(Row { places, looks })
    }

    /// Walks along a line from its low end in at most `count` steps. They are shortened where seams
    /// follow each other closely and lengthened where there are none. They are parts of a binade, so
    /// that numbers of few digits are among the places.
    fn walk(&mut self, orthant: &Orthant, line: &Line, count: u64) -> Result<Row, EvalError> {
        let axis = &orthant.axes[line.axis];
        let [shortest, longest] = STRIDES.map(|binades| axis.steps(binades));
        let mut row = Row { places: Vec::new(), looks: Vec::new() };
        let (mut next, mut stride) = (line.lo, longest);
        while (row.places.len() as u64) < count && next <= line.hi {
            let last = row.places.last().copied();
            let ahead = (0..WALKED as u64).map_while(|i| next.checked_add(i * stride));
            let mut places: Vec<u64> =
                ahead.take_while(|&at| at <= line.hi).map(|at| axis.settle(at)).collect();
            places.retain(|&at| last.is_none_or(|last| at > last));
            places.dedup();
            next = next.saturating_add(WALKED as u64 * stride);
            let looks = self.look_along(orthant, line, &places)?;
            row.places.extend(places);
            row.looks.extend(looks);
            let from = row.looks.len().saturating_sub(WALKED + 1);
            let seams = (from..row.looks.len()).filter(|&i| row.changes(i)).count();
            if seams * 4 > WALKED {
                stride = (stride / 2).max(shortest);
            } else if seams * 8 < WALKED {
                stride = (stride * 2).min(longest);
            }
        }
        Ok(row)
    }

    fn look_along(
        &mut self,
        orthant: &Orthant,
        line: &Line,
        places: &[u64],
    ) -> Result<Vec<Option<Look>>, EvalError> {
        let inputs: Vec<u64> =
            places.iter().flat_map(|&at| orthant.input(&moved(&line.point, line.axis, at))).collect();
        self.kinds(&inputs)
    }

    /// Closes in on every seam, all of them at a time, until its two places are neighbours or it has
    /// taken more looks than it should.
    fn close_in(&mut self, seams: &mut [Seam]) -> Result<(), EvalError> {
        let limit = |seam: &Seam| if seam.is_root() && seam.looks == 0 { PATIENCE } else { u32::MAX };
        let limits: Vec<u32> = seams.iter().map(limit).collect();
        loop {
            let mut open = Vec::new();
            let mut inputs = Vec::new();
            for (i, seam) in seams.iter().enumerate().filter(|(i, seam)| seam.looks < limits[*i]) {
                if let Some(between) = seam.between() {
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
                let below = axis.settle(seam.lo.saturating_sub((1 << step) - 1).max(seam.line[0]));
                let above = axis.settle(seam.hi.saturating_add((1 << step) - 1).min(seam.line[1]));
                inputs.extend(seam.input(below));
                inputs.extend(seam.input(above));
            }
        }
        self.kinds(&inputs)?;
        Ok(())
    }
}
