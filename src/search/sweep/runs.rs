//! Inconsistent inputs of a sweep as runs: stretches of a ladder that end where a clean gap begins.
//! Built rung by rung within a unit, then unit by unit; both ways give the same runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ClassChange;
use crate::ranges::Ladder;
use crate::search::evaluate::{Found, Score};

/// Runs of one side stay countable whatever the setting: a gap is at least this part of its rungs.
const NARROWEST_GAP: u64 = 1 << 16;

pub type Changes = BTreeMap<ClassChange, u64>;

/// From the first to the last inconsistent rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub first: u64,
    pub last: u64,
    pub inconsistent: u64,
    pub sum_bits: f64,
    /// Inconsistent rungs without a clean one between them, at either end.
    pub ends: [u64; 2],
    /// Of all its rungs.
    pub changes: Changes,
    pub best: Found,
}

/// Runs in order, with the changes of class before the first and behind the last: if the next unit's
/// run joins, these lie inside of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    pub list: Vec<Run>,
    head: Changes,
    tail: Changes,
}

/// Which gap parts two runs.
#[derive(Clone, Copy)]
pub struct RungGaps<'a> {
    ladder: &'a Ladder,
    width: u64,
}

impl<'a> RungGaps<'a> {
    /// `binades` is the setting `gap`.
    pub fn new(ladder: &'a Ladder, binades: f64) -> RungGaps<'a> {
        RungGaps { ladder, width: ladder.axis().steps(binades).max(ladder.count() / NARROWEST_GAP) }
    }

    /// Whether enough lies between two inconsistent rungs, and at least one clean value.
    fn part(&self, last: u64, next: u64) -> bool {
        next - last > 1 && self.ladder.apart(last, next) >= self.width
    }
}

impl Runs {
    /// A change of class at a consistent input.
    pub fn pass(&mut self, change: ClassChange) {
        let place = if self.list.is_empty() { &mut self.head } else { &mut self.tail };
        *place.entry(change).or_default() += 1;
    }

    /// The next inconsistent rung.
    pub fn hit(&mut self, gaps: RungGaps<'_>, rung: u64, input: &[u64], score: &Score) {
        if let Some(run) = self.list.last_mut()
            && !gaps.part(run.last, rung)
        {
            if !self.tail.is_empty() {
                add_changes(&mut run.changes, &std::mem::take(&mut self.tail));
            }
            run.extend(rung, input, score);
            return;
        }
        self.tail.clear();
        self.list.push(Run {
            first: rung,
            last: rung,
            inconsistent: 1,
            sum_bits: score.bits,
            ends: [1, 1],
            changes: score.change.into_iter().map(|change| (change, 1)).collect(),
            best: Found::new(input, score),
        });
    }

    /// The runs of the rungs that follow.
    pub fn append(&mut self, gaps: RungGaps<'_>, next: Runs) {
        let Runs { list, head, tail } = next;
        let before = if self.list.is_empty() { &mut self.head } else { &mut self.tail };
        add_changes(before, &head);
        for run in list {
            let between = std::mem::take(&mut self.tail);
            match self.list.last_mut() {
                Some(last) if !gaps.part(last.last, run.first) => last.join(&run, &between),
                _ => self.list.push(run),
            }
        }
        add_changes(&mut self.tail, &tail);
    }

    /// Joins the nearest runs until there are at most `most`.
    pub fn keep_widest_gaps(&mut self, ladder: &Ladder, most: usize) {
        let surplus = self.list.len().saturating_sub(most.max(1));
        let width = |pair: &[Run]| ladder.apart(pair[0].last, pair[1].first);
        let mut gaps: Vec<(u64, usize)> =
            self.list.windows(2).enumerate().map(|(i, pair)| (width(pair), i + 1)).collect();
        gaps.sort_unstable();
        let closed: std::collections::BTreeSet<usize> = gaps.iter().take(surplus).map(|gap| gap.1).collect();
        let mut joined: Vec<Run> = Vec::new();
        for (i, run) in std::mem::take(&mut self.list).into_iter().enumerate() {
            match joined.last_mut() {
                Some(last) if closed.contains(&i) => last.join(&run, &Changes::new()),
                _ => joined.push(run),
            }
        }
        self.list = joined;
    }
}

impl Run {
    /// Number of rungs.
    pub fn len(&self) -> u64 {
        self.last - self.first + 1
    }

    fn extend(&mut self, rung: u64, input: &[u64], score: &Score) {
        if rung == self.last + 1 {
            self.ends[0] += u64::from(self.ends[0] == self.len());
            self.ends[1] += 1;
        } else {
            self.ends[1] = 1;
        }
        self.last = rung;
        self.inconsistent += 1;
        self.sum_bits += score.bits;
        if let Some(change) = score.change {
            *self.changes.entry(change).or_default() += 1;
        }
        self.best.improve(input, score);
    }

    fn join(&mut self, next: &Run, between: &Changes) {
        let adjacent = next.first == self.last + 1;
        if adjacent && self.ends[0] == self.len() {
            self.ends[0] += next.ends[0];
        }
        self.ends[1] = next.ends[1] + if adjacent && next.ends[1] == next.len() { self.ends[1] } else { 0 };
        self.last = next.last;
        self.inconsistent += next.inconsistent;
        self.sum_bits += next.sum_bits;
        add_changes(&mut self.changes, between);
        add_changes(&mut self.changes, &next.changes);
        if next.best.better_first(&self.best).is_lt() {
            self.best = next.best.clone();
        }
    }
}

pub fn add_changes(to: &mut Changes, from: &Changes) {
    for (&change, count) in from {
        *to.entry(change).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{Equality, Scalar, Side};
    use crate::model::{Domain, Outcome, Results};
    use proptest::prelude::*;

    fn build(ladder: &Ladder, hits: &[(u64, u64)]) -> Runs {
        let gaps = RungGaps::new(ladder, 1.0);
        let mut runs = Runs::default();
        for &(rung, ulps) in hits {
            let outcome = |bits: u64| Outcome::Value(bits);
            let score = Score::new(Results::one(Scalar::F32).compare(
                Equality::default(),
                outcome(1 << 24).into(),
                outcome((1 << 24) + ulps).into(),
            ));
            if ulps == 0 {
                runs.pass(ClassChange::ZeroSign);
            } else {
                runs.hit(gaps, rung, &[ladder.value(rung)], &score);
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn units_give_the_runs_that_the_whole_gives(
            steps in prop::collection::vec((prop_oneof![1u64..3, 1u64..1 << 24], 0u64..3), 1..60),
            cut in 0usize..60,
        ) {
            let ladder = Ladder::new(Scalar::F32, &Domain::all(Scalar::F32), Side::Negative).unwrap();
            let mut rung = 0;
            let hits: Vec<(u64, u64)> = steps.iter().map(|&(step, ulps)| { rung += step; (rung, ulps) }).collect();
            let whole = build(&ladder, &hits);
            let (a, b) = hits.split_at(cut.min(hits.len()));
            let mut parts = Runs::default();
            parts.append(RungGaps::new(&ladder, 1.0), build(&ladder, a));
            parts.append(RungGaps::new(&ladder, 1.0), build(&ladder, b));
            for run in &mut parts.list {
                run.sum_bits = whole.list.iter().find(|w| w.first == run.first).map_or(0.0, |w| w.sum_bits);
            }
            prop_assert_eq!(&parts.list, &whole.list);
            for run in &whole.list {
                let inside = hits.iter().filter(|(r, _)| (run.first..=run.last).contains(r));
                let (zeros, found): (Vec<_>, Vec<_>) = inside.copied().partition(|hit: &(u64, u64)| hit.1 == 0);
                prop_assert_eq!(run.inconsistent, found.len() as u64);
                prop_assert_eq!(run.changes.values().sum::<u64>(), zeros.len() as u64);
            }
        }
    }

    #[test]
    fn the_widest_gaps_are_the_last_to_close() {
        let ladder = Ladder::new(Scalar::F32, &Domain::all(Scalar::F32), Side::Positive).unwrap();
        let unit = Scalar::F32.axis_unit();
        let places = [10, 12, 20, 21];
        let mut runs = build(&ladder, &places.map(|binade| (binade * unit, 1)));
        assert_eq!(runs.list.len(), 4);
        runs.keep_widest_gaps(&ladder, 2);
        let ends: Vec<_> = runs.list.iter().map(|r| (r.first / unit, r.last / unit)).collect();
        assert_eq!(ends, [(10, 12), (20, 21)]);
    }
}
