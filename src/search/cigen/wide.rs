//! Plans what comes after the last phase when a comparison has ranges in so many orthants that they are joined.

use std::collections::BTreeSet;

use super::phases::{UNIT_INPUTS, pieces};
use super::{Cigen, Purpose, Step, Steps};
use crate::search::ledger::Comparison;
use crate::search::streams::StreamKey;
use crate::search::unit::{InputsUnit, Unit, WideUnit};

impl Cigen {
    /// Tries the worst input of every range that will be joined with others. It stays among the stored samples, so that
    /// a gate that looks at the samples of a joined range sees every orthant that the range was made of.
    pub(super) fn plan_parts(&mut self) -> Vec<Steps> {
        let members = self.ledger.open();
        let mut inputs: BTreeSet<&[u64]> = BTreeSet::new();
        for comparison in members.iter().map(|&c| &self.ledger.comparisons[c]).filter(|c| c.is_crowded()) {
            let worst = comparison.tracks.iter().filter_map(|track| comparison.best_in(track));
            inputs.extend(worst.map(|hit| hit.found.input.as_slice()));
        }
        if inputs.is_empty() {
            return Vec::new();
        }
        let unit = InputsUnit {
            crowd: self.ledger.crowd(&members, 1),
            inputs: inputs.into_iter().flatten().copied().collect(),
            first: false,
            plot_every: 1,
            plot_hits: 0,
        };
        let planned = Step { unit: Unit::Inputs(unit), purpose: Purpose::Parts(members) };
        vec![Box::new(std::iter::once(planned))]
    }

    /// Joins ranges of many orthants, and measures what they become.
    pub(super) fn plan_wide(&mut self) -> Vec<Steps> {
        let task = &self.ledger.task;
        let mut planned = Vec::new();
        if !self.ledger.comparisons.iter().any(Comparison::is_crowded) {
            return Vec::new();
        }
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate().filter(|(_, c)| c.is_open()) {
            comparison.cover_strays(&task.function, &task.settings);
            comparison.settle(&task.function, &task.settings);
            let ranges = comparison.wide.len() as u64;
            let budget = comparison.next_budget(&task.settings, self.ledger.free);
            let samples = budget.measure(comparison.evaluations, ranges);
            let allow = comparison.allowance(&task.settings, ranges * samples.div_ceil(UNIT_INPUTS));
            for (w, wide) in comparison.wide.iter().enumerate() {
                for (piece, samples) in pieces(samples) {
                    let stream = StreamKey::Wide { range: w as u64, piece };
                    let (variant, span) = (comparison.variant, wide.piece.span.clone());
                    let unit = Unit::Wide(WideUnit { variant, allow, stream, span, samples });
                    planned.push(Step { unit, purpose: Purpose::Wide { comparison: c, wide: w } });
                }
            }
        }
        vec![Box::new(planned.into_iter())]
    }
}
