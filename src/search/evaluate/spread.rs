//! Whether a build gives the same answer to everything: a sign that its data was not found.

use serde::{Deserialize, Serialize};

use crate::fp::NanPolicy;
use crate::model::{Outcome, Outcomes, Results, Returned};

/// How many answers were seen: none, one, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    #[default]
    Nothing,
    /// All values of the one answer.
    One(Vec<u64>),
    Several,
}

impl Spread {
    /// Takes in what a build made of inputs. Faults are no answers. Costs nothing once there were several.
    pub fn add(&mut self, results: &Results, nan: NanPolicy, outcomes: &Outcomes) {
        if *self == Spread::Several {
            return;
        }
        for returned in outcomes.iter() {
            if let Outcome::Value(first) = returned.first {
                self.see(results, nan, returned, first);
            }
        }
    }

    fn see(&mut self, results: &Results, nan: NanPolicy, returned: Returned<'_>, first: u64) {
        match self {
            Spread::Nothing => *self = Spread::One([&[first], returned.rest].concat()),
            Spread::One(known) => {
                let same = known[0] == first && known[1..] == *returned.rest;
                let known = Returned { first: Outcome::Value(known[0]), rest: &known[1..] };
                if !same && !results.agree(nan, known, returned) {
                    *self = Spread::Several;
                }
            }
            Spread::Several => {}
        }
    }

    /// Joins what two units saw.
    pub fn absorb(&mut self, results: &Results, nan: NanPolicy, other: &Spread) {
        match (&*self, other) {
            (_, Spread::Nothing) | (Spread::Several, _) => {}
            (Spread::Nothing, _) | (_, Spread::Several) => *self = other.clone(),
            (Spread::One(_), Spread::One(words)) => {
                let returned = Returned { first: Outcome::Value(words[0]), rest: &words[1..] };
                self.see(results, nan, returned, words[0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;

    fn spread(values: &[f64]) -> Spread {
        let mut spread = Spread::default();
        let outcomes = values.iter().map(|x| Outcome::Value(x.to_bits())).collect();
        spread.add(&Results::one(Scalar::F64), NanPolicy::Any, &outcomes);
        spread
    }

    #[test]
    fn one_answer_is_told_from_several_and_nans_are_one() {
        assert_eq!(spread(&[]), Spread::Nothing);
        assert_eq!(spread(&[-1.0, -1.0]), Spread::One(vec![(-1.0f64).to_bits()]));
        assert_eq!(spread(&[-1.0, -1.0, 2.0, -1.0]), Spread::Several);
        assert_eq!(spread(&[f64::NAN, -f64::NAN]), Spread::One(vec![f64::NAN.to_bits()]));
    }

    #[test]
    fn what_units_saw_adds_up_in_any_order() {
        let (results, nan) = (Results::one(Scalar::F64), NanPolicy::Any);
        let joined = |parts: [&[f64]; 2]| {
            let mut sum = spread(parts[0]);
            sum.absorb(&results, nan, &spread(parts[1]));
            sum
        };
        assert_eq!(joined([&[1.0], &[1.0]]), spread(&[1.0]));
        assert_eq!(joined([&[], &[1.0]]), joined([&[1.0], &[]]));
        assert_eq!(joined([&[1.0], &[2.0]]), Spread::Several);
    }
}
