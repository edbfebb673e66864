//! How many evaluations each phase may spend. The paper's numbers, or shares of a given total.

use crate::model::{Budget, SearchSettings};
use crate::search::evolve::population_size;
use crate::search::sample::per_dimension;

/// Fewer evenly spread inputs than this add nothing to the survey.
const FEWEST_STRATA: u64 = 512;
/// Most dense samples, final samples and islands of a range. More would add little to what is known
/// of it; what they leave goes into finer strata.
const MOST_DENSE: u64 = 1 << 18;
const MOST_MEASURE: u64 = 1 << 20;
const MOST_ISLANDS: u64 = 4096;
/// Most evaluations that a comparison's seams get at a time: a unit that looks for them remembers all it has seen.
pub const MOST_SEAMS: u64 = 1 << 20;
/// What a range needs at least to be looked at again.
const FEWEST_PER_RANGE: u64 = 256;
/// Evaluations of the tightening for each axis, and once more: about a third is usually enough.
const TIGHTEN: u64 = 2048;

/// How the last phase spends its share on a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finale {
    pub measure: u64,
    pub islands: u64,
    pub generations: u32,
    /// Evaluations of one island.
    pub island: u64,
}

/// What the phases of one variant may still spend. `cut` is raised when a phase gets less than the paper's parameters.
pub struct PhaseBudget<'a> {
    settings: &'a SearchSettings,
    /// Parameters that are not fixed.
    free: usize,
    /// Evaluations that the function's pace still allows; None when it does not matter.
    more: Option<u64>,
    pub cut: bool,
}

impl<'a> PhaseBudget<'a> {
    pub fn new(settings: &'a SearchSettings, free: usize, more: Option<u64>) -> PhaseBudget<'a> {
        PhaseBudget { settings, free, more, cut: false }
    }

    /// Most inputs of the survey: half of the total.
    pub fn survey(&self) -> Option<u64> {
        match self.settings.budget {
            Budget::Paper => None,
            Budget::Evaluations(total) => Some((total / 2).max(1)),
        }
    }

    /// Evenly spread inputs: what the survey leaves of its half.
    pub fn strata(&self, surveyed: u64) -> u64 {
        let left = self.survey().map_or(0, |half| half.saturating_sub(surveyed));
        let left = left.min(self.more.map_or(u64::MAX, |more| more / 2));
        if left < FEWEST_STRATA { 0 } else { left }
    }

    /// Inputs of another round of strata, when more than a quarter of the total is left: three
    /// quarters of it, so that what they find can be looked at.
    pub fn finer_strata(&self, spent: u64) -> u64 {
        let Budget::Evaluations(total) = self.settings.budget else { return 0 };
        let left = self.left(spent).unwrap_or(0);
        let count = left - left / 4;
        if left < total.div_ceil(4) || count < FEWEST_STRATA { 0 } else { count }
    }

    /// Evaluations for seams, twice: of the total at first, of what is left later.
    pub fn seams(&self, spent: u64, round: usize) -> u64 {
        let left = self.left(spent).unwrap_or(u64::MAX);
        let wanted = match self.settings.budget {
            Budget::Paper => self.dense_of_paper(),
            Budget::Evaluations(total) if round == 0 => total / 8,
            Budget::Evaluations(_) => u64::MAX,
        };
        wanted.min(left / 4).min(MOST_SEAMS)
    }

    /// What is left; None means no limit.
    fn left(&self, spent: u64) -> Option<u64> {
        match self.settings.budget {
            Budget::Paper => self.more,
            Budget::Evaluations(total) => {
                Some(total.saturating_sub(spent).min(self.more.unwrap_or(u64::MAX)))
            }
        }
    }

    /// What is left for each range; None means no limit.
    fn share(&self, spent: u64, ranges: u64) -> Option<u64> {
        Some(self.left(spent)? / ranges.max(1))
    }

    /// Limits a number of ranges to those that can be looked at again.
    pub fn limit_ranges(&mut self, spent: u64, ranges: u64) -> u64 {
        let Some(left) = self.share(spent, 1) else { return ranges };
        let affordable = ranges.min(left / FEWEST_PER_RANGE);
        self.cut |= affordable < ranges;
        affordable
    }

    /// What is spent beyond the paper's numbers, which a paper's budget never is.
    fn most(&self, most: u64) -> u64 {
        if self.settings.budget == Budget::Paper { 0 } else { most }
    }

    fn dense_of_paper(&self) -> u64 {
        per_dimension(self.settings.dense, self.free)
    }

    /// Dense samples of each range: a fifth of its share, or the paper's number if a third allows it.
    pub fn dense(&mut self, spent: u64, ranges: u64) -> u64 {
        let paper = self.dense_of_paper();
        let Some(share) = self.share(spent, ranges) else { return paper };
        self.cut |= share / 3 < paper;
        (share / 5).min(self.most(MOST_DENSE)).max(paper.min(share / 3))
    }

    /// Most evaluations of one range's tightening; most ranges need far fewer.
    pub fn tighten(&mut self, spent: u64, ranges: u64) -> u64 {
        let most = TIGHTEN * (self.free as u64 + 1);
        match self.share(spent, ranges) {
            None => most,
            Some(share) => (share / 3).min(self.most(most * 16).max(most)),
        }
    }

    /// Final samples of each range of several orthants: all that is left.
    pub fn measure(&self, spent: u64, ranges: u64) -> u64 {
        let paper = self.dense_of_paper();
        self.share(spent, ranges).map_or(paper, |share| share.min(self.most(MOST_MEASURE).max(paper)))
    }

    /// The final samples and the evolution of each range; without generations there is no evolution.
    pub fn finale(&mut self, spent: u64, ranges: u64, dims: usize) -> Finale {
        let (settings, paper) = (self.settings, self.dense_of_paper());
        let members = population_size(settings, dims) as u64;
        let island = members * (u64::from(settings.generations) + 1);
        let Some(share) = self.share(spent, ranges) else {
            let (islands, generations) = (u64::from(settings.generations > 0), settings.generations);
            return Finale { measure: paper, islands, generations, island };
        };
        let measure = (share / 8).min(self.most(MOST_MEASURE)).max(paper.min(share / 3));
        let left = share - measure;
        if settings.generations == 0 {
            self.cut |= measure < paper;
            return Finale { measure, islands: 0, generations: 0, island };
        }
        self.cut |= measure < paper || (dims > 0 && left < island);
        if left >= island {
            let islands = (left / island).min(self.most(MOST_ISLANDS).max(1));
            return Finale { measure, islands, generations: settings.generations, island };
        }
        // Fewer generations than asked for, so within 32 bits.
        let generations = (left / members).saturating_sub(1) as u32;
        Finale { measure, islands: u64::from(generations > 0), generations, island }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(budget: Budget) -> SearchSettings {
        SearchSettings { budget, ..SearchSettings::default() }
    }

    #[test]
    fn the_papers_budget_is_its_parameters() {
        let settings = settings(Budget::Paper);
        let mut budget = PhaseBudget::new(&settings, 2, None);
        assert_eq!((budget.survey(), budget.strata(5000)), (None, 0));
        assert_eq!(budget.dense(9000, 7), 1024);
        assert_eq!(
            budget.finale(9000, 7, 2),
            Finale { measure: 1024, islands: 1, generations: 50, island: 40 * 51 }
        );
        assert!(!budget.cut);
    }

    #[test]
    fn two_million_hit_every_64th_of_a_binade_twice() {
        let settings = settings(Budget::Evaluations(2_000_000));
        assert!(PhaseBudget::new(&settings, 1, None).strata(5000) >= 2 * 2 * 2099 * 64);
    }

    #[test]
    fn shares_never_add_up_to_more_than_the_total() {
        for total in [1, 100, 3000, 20_000, 100_000, 5_000_000] {
            let settings = settings(Budget::Evaluations(total));
            for ranges in [1, 3, 40] {
                let mut budget = PhaseBudget::new(&settings, 1, None);
                let mut spent = budget.survey().unwrap();
                let count = budget.limit_ranges(spent, ranges);
                spent += budget.dense(spent, count) * count;
                spent += budget.tighten(spent, count) * count;
                let finale = budget.finale(spent, count, 1);
                spent += (finale.measure + finale.islands * 20 * (u64::from(finale.generations) + 1)) * count;
                assert!(spent <= total, "{spent} of {total} for {ranges}");
                assert!(budget.cut || total > 3000, "{total} for {ranges}");
                assert!(!budget.cut || total < 100_000 || ranges == 40, "{total} for {ranges}");
            }
        }
    }
}
