//! Inputs that decide a gate: the witnesses of the lock, and those of a new run that may be outside it. Each is
//! evaluated anew, twice, before anything is said about it.

use std::collections::BTreeMap;

use super::accepted::{Accepted, accepts_fault};
use super::area::{Area, place};
use crate::fp::{Scalar, parse_number};
use crate::model::{
    BuildId, ComparisonRow, FaultKind, FindingId, FunctionRow, FunctionSamples, LockFile, Number, RangeRow,
    RunFile, Whole, WitnessRow,
};

/// Samples of a range that are looked at again, at most.
const MOST_SAMPLES: usize = 8;

/// Why an input is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// It is a witness of the lock, with what was stored.
    Witness(WitnessRow),
    /// It differs, in the range of this id.
    Range(FindingId),
    /// It is the end of a range and may differ.
    End(FindingId),
    /// A build had this fault.
    Fault(FaultKind),
}

/// An input to evaluate on a build and the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub function: String,
    pub build: BuildId,
    pub inputs: Vec<Number>,
    pub role: Role,
    /// Ends of the range it belongs to; empty where there is none.
    pub lo: Vec<Number>,
    pub hi: Vec<Number>,
}

/// A look with what came of it: baseline and variant, twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub look: Look,
    pub first: (Whole, Whole),
    pub second: (Whole, Whole),
}

/// Every witness of the lock.
pub fn witness_looks(lock: &LockFile) -> Vec<Look> {
    let mut looks = Vec::new();
    for (name, function) in &lock.functions {
        for (build, comparison) in &function.builds {
            for range in &comparison.ranges {
                looks.push(Look {
                    function: name.clone(),
                    build: build.clone(),
                    inputs: range.witness.inputs.clone(),
                    role: Role::Witness(range.witness.clone()),
                    lo: range.lo.clone(),
                    hi: range.hi.clone(),
                });
            }
        }
    }
    looks
}

/// What of a run has to be looked at: witnesses of its ranges, samples of them that the lock does not accept,
/// their ends outside it, and faults that are not accepted.
pub fn run_looks(
    run: &RunFile,
    samples: &BTreeMap<String, FunctionSamples>,
    lock: &LockFile,
    tolerance: f64,
) -> Vec<Look> {
    let mut looks = Vec::new();
    for function in &run.functions {
        let scalars = function.scalars();
        let points = samples.get(&function.name).map(|s| read_samples(s, &scalars)).unwrap_or_default();
        for comparison in &function.comparisons {
            let accepted = Accepted::of(lock, &function.name, &comparison.build, &scalars);
            let desk = SampleLooks { function, comparison, accepted, tolerance };
            let column = samples.get(&function.name).and_then(|s| s.column(&comparison.build));
            for range in &comparison.ranges {
                desk.range_looks(range, &points, column, &mut looks);
            }
            desk.lone_look(&mut looks);
        }
        fault_looks(function, lock, &mut looks);
    }
    looks
}

type StoredSample<'a> = (Vec<Number>, &'a [Option<f32>]);

/// Samples whose inputs are no numbers are left out: they are for plots, and the rest speaks for itself.
fn read_samples<'a>(samples: &'a FunctionSamples, scalars: &[Scalar]) -> Vec<StoredSample<'a>> {
    let read = |(inputs, bits): &'a (Vec<String>, Vec<Option<f32>>)| {
        let number =
            |(&scalar, text): (&Scalar, &String)| Some(Number::new(scalar, parse_number(scalar, text).ok()?));
        Some((scalars.iter().zip(inputs).map(number).collect::<Option<_>>()?, bits.as_slice()))
    };
    samples.samples.iter().filter_map(read).collect()
}

/// One comparison of a run.
struct SampleLooks<'a> {
    function: &'a FunctionRow,
    comparison: &'a ComparisonRow,
    accepted: Accepted,
    tolerance: f64,
}

impl SampleLooks<'_> {
    fn look(&self, inputs: Vec<Number>, role: Role, ends: (&[Number], &[Number])) -> Look {
        Look {
            function: self.function.name.clone(),
            build: self.comparison.build.clone(),
            inputs,
            role,
            lo: ends.0.to_vec(),
            hi: ends.1.to_vec(),
        }
    }

    fn range_looks(
        &self,
        range: &RangeRow,
        points: &[StoredSample<'_>],
        column: Option<usize>,
        looks: &mut Vec<Look>,
    ) {
        let ends = (range.lo.as_slice(), range.hi.as_slice());
        let inside = || Role::Range(range.id.clone());
        looks.push(self.look(range.witness.inputs.clone(), inside(), ends));
        for end in [&range.lo, &range.hi] {
            if self.accepted.bits_at(end).is_none() {
                looks.push(self.look(end.clone(), Role::End(range.id.clone()), ends));
            }
        }
        let Some(column) = column else { return };
        let area = Area::new(&range.lo, &range.hi);
        // How many bits more than accepted.
        let excess = |(inputs, bits): &StoredSample<'_>| {
            let found = f64::from((*bits.get(column)?)?);
            let here = area.holds(&place(inputs));
            let over = match self.accepted.bits_at(inputs) {
                None => found,
                Some(accepted) => found - accepted - self.tolerance,
            };
            (here && found > 0.0 && over > 0.0).then_some(over)
        };
        let mut worst: Vec<(f64, &Vec<Number>)> =
            points.iter().filter_map(|point| Some((excess(point)?, &point.0))).collect();
        worst.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let worst = worst.into_iter().take(MOST_SAMPLES);
        looks.extend(worst.map(|(_, inputs)| self.look(inputs.clone(), inside(), ends)));
    }

    /// The comparison's own witness, where it is in no range.
    fn lone_look(&self, looks: &mut Vec<Look>) {
        let Some(witness) = &self.comparison.witness else { return };
        let at = place(&witness.inputs);
        let around = |r: &RangeRow| Area::new(&r.lo, &r.hi).holds(&at);
        if !self.comparison.ranges.iter().any(around) {
            let id = FindingId::of_max(&self.function.name, &self.comparison.build);
            let ends = (witness.inputs.as_slice(), witness.inputs.as_slice());
            looks.push(self.look(witness.inputs.clone(), Role::Range(id), ends));
        }
    }
}

/// One example of each fault that is not accepted.
fn fault_looks(function: &FunctionRow, lock: &LockFile, looks: &mut Vec<Look>) {
    for fault in &function.faults {
        let Some(inputs) = fault.examples.first() else { continue };
        if !accepts_fault(lock, &function.name, &fault.build, fault.kind) {
            looks.push(Look {
                function: function.name.clone(),
                build: fault.build.clone(),
                inputs: inputs.clone(),
                role: Role::Fault(fault.kind),
                lo: Vec::new(),
                hi: Vec::new(),
            });
        }
    }
}
