//! Camps: the builds that agree bit for bit on a range, and what divides them.

use std::collections::BTreeMap;

use crate::fp::NanPolicy;
use crate::model::{Build, CampRow, FindingId, Outcome, Outcomes, ResultValue, Results, Returned};

/// A range of a function and which of the inputs that were looked at lie in it.
pub struct Place {
    pub range: FindingId,
    pub inputs: Vec<usize>,
}

/// The builds that were looked at, the baseline first, and what each did with every input.
pub struct Looks<'a> {
    pub builds: Vec<&'a Build>,
    /// One list for each build.
    pub outcomes: Vec<Outcomes>,
    pub results: &'a Results,
    pub nan: NanPolicy,
}

impl Looks<'_> {
    /// The camps of every place; places with the same camps are one row.
    pub fn rows(&self, places: &[Place]) -> Vec<CampRow> {
        let mut rows: BTreeMap<Vec<Vec<usize>>, Vec<FindingId>> = BTreeMap::new();
        for place in places {
            rows.entry(self.camps(&place.inputs)).or_default().push(place.range.clone());
        }
        let ids = |camp: &Vec<usize>| camp.iter().map(|&b| self.builds[b].id.clone()).collect();
        let row = |(camps, ranges): (Vec<Vec<usize>>, Vec<FindingId>)| CampRow {
            ranges,
            divided_by: self.divided_by(&camps),
            camps: camps.iter().map(ids).collect(),
        };
        let mut rows: Vec<CampRow> = rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| a.ranges.cmp(&b.ranges));
        rows
    }

    /// Builds by what they answer to some inputs: the baseline's camp last, the others by their first build.
    fn camps(&self, inputs: &[usize]) -> Vec<Vec<usize>> {
        let mut camps: BTreeMap<Vec<(bool, u64)>, Vec<usize>> = BTreeMap::new();
        for (build, outcomes) in self.outcomes.iter().enumerate() {
            let answered = inputs.iter().filter(|&&i| i < outcomes.len());
            let answers = answered.flat_map(|&i| self.sameness(outcomes.get(i))).collect();
            camps.entry(answers).or_default().push(build);
        }
        let mut camps: Vec<Vec<usize>> = camps.into_values().collect();
        camps.sort();
        if let Some(home) = camps.iter().position(|camp| camp.contains(&0)) {
            let camp = camps.remove(home);
            camps.push(camp);
        }
        camps
    }

    /// Equal for outcomes that agree.
    fn sameness(&self, returned: Returned<'_>) -> Vec<(bool, u64)> {
        let sameness = |(k, value): (usize, &ResultValue)| match returned.value(k) {
            Outcome::Value(bits) => (true, self.nan.essence(value.ty, bits)),
            // Which fault it is matters less than that there is none.
            Outcome::Fault(_) => (false, 0),
        };
        self.results.values().iter().enumerate().map(sameness).collect()
    }

    /// `all aarch64 builds, gcc/O2-fma/native | the rest`.
    fn divided_by(&self, camps: &[Vec<usize>]) -> String {
        let Some((_, others)) = camps.split_last().filter(|(_, others)| !others.is_empty()) else {
            return String::new();
        };
        let mut words: Vec<String> = others.iter().map(|camp| self.name(camp)).collect();
        words.push("the rest".into());
        words.join(" | ")
    }

    /// A camp by the axis values whose builds it has all of, the most telling first; what is left by name.
    fn name(&self, camp: &[usize]) -> String {
        let mut left: Vec<usize> = camp.to_vec();
        let mut words = Vec::new();
        while !left.is_empty() {
            let Some((value, members)) = self.best_value(camp, &left) else { break };
            left.retain(|b| !members.contains(b));
            words.push(format!("all {value} builds"));
        }
        words.extend(left.iter().map(|&b| self.builds[b].id.to_string()));
        words.join(", ")
    }

    /// The axis value of which a camp has all builds, and that names most of those left.
    fn best_value(&self, camp: &[usize], left: &[usize]) -> Option<(&str, Vec<usize>)> {
        let mut best: Option<(usize, &str, Vec<usize>)> = None;
        for axis in 0..5 {
            for &build in left {
                let value = axes(self.builds[build])[axis];
                if value.is_empty() {
                    continue;
                }
                let members: Vec<usize> =
                    (0..self.builds.len()).filter(|&b| axes(self.builds[b])[axis] == value).collect();
                let named = members.iter().filter(|b| left.contains(b)).count();
                // A value of every build says nothing, and one of a single build no more than its name.
                let telling = members.len() > 1 && members.len() < self.builds.len();
                let whole = members.iter().all(|b| camp.contains(b));
                if telling && whole && best.as_ref().is_none_or(|(most, ..)| named > *most) {
                    best = Some((named, value, members));
                }
            }
        }
        best.map(|(_, value, members)| (value, members))
    }
}

/// What a build is made of, the most telling axis first. Builds of the sources say nothing by being theirs.
fn axes(build: &Build) -> [&str; 5] {
    [&build.implementation, &build.target, &build.environment.name, &build.flags, &build.compiler]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{BuildId, Environment, FaultKind, FpEnvPolicy};

    fn build(compiler: &str, flags: &str, target: &str) -> Build {
        Build {
            id: BuildId::new(compiler, flags, target),
            implementation: String::new(),
            compiler: compiler.into(),
            flags: flags.into(),
            target: target.into(),
            command: compiler.into(),
            args: Vec::new(),
            fpenv: FpEnvPolicy::Probed,
            optional: false,
            runner: Vec::new(),
            triple: None,
            environment: Environment::default(),
            plain: false,
            apart: false,
        }
    }

    /// Rows of one range over all inputs.
    fn rows(builds: &[Build], outcomes: &[&[f64]]) -> Vec<CampRow> {
        let values = |list: &&[f64]| list.iter().map(|x| Outcome::Value(x.to_bits())).collect();
        let outcomes: Vec<Outcomes> = outcomes.iter().map(values).collect();
        let inputs = (0..outcomes[0].len()).collect();
        let results = Results::one(Scalar::F64);
        let looks =
            Looks { builds: builds.iter().collect(), outcomes, results: &results, nan: NanPolicy::Any };
        looks.rows(&[Place { range: "f#b.1".parse().unwrap(), inputs }])
    }

    #[test]
    fn camps_are_named_by_the_axis_that_divides_them() {
        let builds = [
            build("gcc", "O2", "native"),
            build("gcc", "fma", "native"),
            build("clang", "O2", "native"),
            build("gcc", "O2", "arm"),
            build("clang", "O2", "arm"),
        ];
        let row = &rows(&builds, &[&[1.0], &[2.0], &[1.0], &[2.0], &[2.0]])[0];
        assert_eq!(row.divided_by, "all arm builds, gcc/fma/native | the rest");
        assert_eq!(row.camps[1], ["gcc/O2/native", "clang/O2/native"]);
        let row = &rows(&builds, &[&[1.0], &[1.0], &[1.0], &[2.0], &[2.0]])[0];
        assert_eq!(row.divided_by, "all arm builds | the rest");
        let row = &rows(&builds, &[&[1.0], &[1.0], &[3.0], &[1.0], &[3.0]])[0];
        assert_eq!(row.divided_by, "all clang builds | the rest");
    }

    #[test]
    fn three_camps_are_three_and_one_camp_is_divided_by_nothing() {
        let builds =
            [build("a", "O0", "t"), build("b", "O1", "t"), build("c", "O2", "t"), build("d", "O3", "t")];
        let row = &rows(&builds, &[&[1.0, 5.0], &[1.0, 5.0], &[1.0, 6.0], &[2.0, 5.0]])[0];
        assert_eq!(row.divided_by, "c/O2/t | d/O3/t | the rest");
        let row = &rows(&builds, &[&[1.0], &[1.0], &[1.0], &[1.0]])[0];
        assert_eq!((row.divided_by.as_str(), row.camps.len()), ("", 1));
    }

    #[test]
    fn nans_agree_whatever_their_bits_and_faults_are_a_camp() {
        let builds = [build("a", "O0", "t"), build("b", "O0", "t"), build("c", "O0", "t")];
        let outcomes = [
            vec![Outcome::Value(f64::NAN.to_bits())],
            vec![Outcome::Value((-f64::NAN).to_bits())],
            vec![Outcome::Fault(FaultKind::Timeout)],
        ]
        .map(Outcomes::from_iter)
        .to_vec();
        let results = Results::one(Scalar::F64);
        let looks =
            Looks { builds: builds.iter().collect(), outcomes, results: &results, nan: NanPolicy::Any };
        let row = &looks.rows(&[Place { range: "f#b.1".parse().unwrap(), inputs: vec![0] }])[0];
        assert_eq!(row.divided_by, "c/O0/t | the rest");
    }

    #[test]
    fn ranges_with_the_same_camps_share_a_row() {
        let builds = [build("a", "O0", "t"), build("b", "O0", "t")];
        let value = |x: u64| Outcome::Value(x);
        let outcomes = [[value(1), value(1)], [value(2), value(3)]].map(Outcomes::from_iter).to_vec();
        let results = Results::one(Scalar::F64);
        let looks =
            Looks { builds: builds.iter().collect(), outcomes, results: &results, nan: NanPolicy::Any };
        let place = |range: &str, input: usize| Place { range: range.parse().unwrap(), inputs: vec![input] };
        let rows = looks.rows(&[place("f#b.1", 0), place("f#b.2", 1)]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].ranges.iter().map(FindingId::to_string).collect::<Vec<_>>(), ["f#b.1", "f#b.2"]);
    }
}
