//! One case on its ground: mixes are tried and what goes wrong with them is remembered for the answer.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::case::{Case, Trial, Yardstick};
use super::delta::{Causes, Parts, cause_with, causes, first_cause};
use super::error::ExplainError;
use super::scene::Scene;
use crate::compile::Mix;
use crate::model::gist;

/// A case, the scene of its trials, and what its difference is measured by.
pub struct Inquiry<'a> {
    pub scene: Scene<'a>,
    pub case: &'a Case,
    pub yardstick: Yardstick,
    /// Trials without an answer, by what went wrong.
    troubles: RefCell<BTreeMap<String, usize>>,
}

/// What a search among parts of the code found.
pub enum Search {
    /// With everything precise or taken from the reference it still shows, or with nothing it does not: why the
    /// search makes no sense, in words.
    Senseless(String),
    Found(Causes),
}

impl<'a> Inquiry<'a> {
    pub fn new(scene: Scene<'a>, case: &'a Case, yardstick: Yardstick) -> Inquiry<'a> {
        Inquiry { scene, case, yardstick, troubles: RefCell::default() }
    }

    pub fn shows(&self, mix: &Mix) -> Result<bool, ExplainError> {
        let trouble = match self.scene.try_mix(mix, self.case, &self.yardstick)? {
            Trial::Shows => return Ok(true),
            Trial::Agrees => return Ok(false),
            Trial::Fault(kind) => format!("ended with {kind}"),
            Trial::Unmade(words) => format!("could not be made: {}", gist(&words)),
        };
        *self.troubles.borrow_mut().entry(trouble).or_default() += 1;
        Ok(false)
    }

    /// How far a mix is from the baseline; 0 when it gives no value.
    pub fn bits(&self, mix: &Mix) -> Result<f64, ExplainError> {
        let Ok(object) = self.scene.object(mix)? else { return Ok(0.0) };
        let answer = self.scene.desk.ask(&object, self.case.function, &self.case.inputs)?;
        Ok(self.case.gap(&self.yardstick.baseline, &answer).map_or(0.0, |gap| gap.bits))
    }

    /// The smallest sets of `count` parts whose mixes show the difference.
    pub fn search(&self, count: usize, mix: impl Fn(&Parts) -> Mix) -> Result<Search, ExplainError> {
        match self.scene.try_mix(&mix(&Parts::new()), self.case, &self.yardstick)? {
            Trial::Shows => {
                return Ok(Search::Senseless("the difference is there without any of them".into()));
            }
            // A mix that cannot be made would count as one that agrees, and everything as needed together.
            Trial::Unmade(words) => {
                return Ok(Search::Senseless(format!(
                    "without any of them it could not be made: {}",
                    gist(&words)
                )));
            }
            Trial::Agrees | Trial::Fault(_) => {}
        }
        if !self.shows(&mix(&(0..count).collect()))? {
            return Ok(Search::Senseless("the difference is not there with all of them".into()));
        }
        Ok(Search::Found(causes(count, |parts| self.shows(&mix(parts)))?))
    }

    /// The same where one part may be needed for everything: it is asked for first, and a difference that is gone
    /// without it alone is searched around it.
    pub fn search_around(
        &self,
        part: Option<usize>,
        count: usize,
        mix: impl Fn(&Parts) -> Mix,
    ) -> Result<Search, ExplainError> {
        let all: Parts = (0..count).collect();
        if let Some(part) = part {
            let without = all.iter().copied().filter(|other| *other != part).collect();
            if self.agrees(&mix(&without))? && self.shows(&mix(&all))? {
                return Ok(Search::Found(cause_with(count, part, |parts| self.shows(&mix(parts)))?));
            }
        }
        self.search(count, mix)
    }

    /// Whether the variant's code of the function multiplies and adds at once; where nobody could count, it may.
    pub fn is_fused(&self) -> bool {
        self.scene.variant.fuses(&self.scene.desk.experiment.functions[self.case.function].name)
    }

    /// The smallest sets of parts whose mixes do *not* show the difference, which is there without them.
    pub fn search_absence(&self, count: usize, mix: impl Fn(&Parts) -> Mix) -> Result<Search, ExplainError> {
        if !self.agrees(&mix(&(0..count).collect()))? {
            return Ok(Search::Senseless("the difference stays with all of them".into()));
        }
        Ok(Search::Found(first_cause(count, |parts| self.agrees(&mix(parts)))?))
    }

    /// Whether a mix has the baseline's answer; one that says nothing has not.
    pub fn agrees(&self, mix: &Mix) -> Result<bool, ExplainError> {
        Ok(self.scene.try_mix(mix, self.case, &self.yardstick)? == Trial::Agrees)
    }

    /// What went wrong since the last time somebody asked, as the end of a sentence; empty when nothing did.
    pub fn troubles(&self) -> String {
        let troubles = std::mem::take(&mut *self.troubles.borrow_mut());
        let words = |(trouble, count): (String, usize)| {
            let noun = if count == 1 { "mix" } else { "mixes" };
            format!("; {count} {noun} {trouble}")
        };
        troubles.into_iter().map(words).collect()
    }
}
