//! Inputs at which code is likely to change its mind: edge values, and numbers of the sources with their
//! neighbours. A source every strategy may draw from; it evaluates nothing.

use std::collections::BTreeSet;

use super::edge_values::edge_values;
use super::sampler::ParamSampler;
use crate::fp::{Scalar, Stream};
use crate::model::Coordinate;
use crate::search::Task;
use crate::search::streams::StreamKey;

/// How far from a literal a sample beside it lies, in parts of the literal: beyond the rounding of what is
/// compared, close enough to take the same branch.
const BESIDE: f64 = 1.0 / (1 << 20) as f64;

/// What most functions have an answer to, whatever else they refuse.
const PLAIN: [f64; 8] = [1.0, 0.5, 2.0, 1.5, 3.0, 10.0, -0.5, -1.0];

/// Most special inputs, however large a budget is: more would be chance among values that are not special any more.
const MOST_SPECIALS: usize = 1 << 18;

/// At most `most` distinct complete inputs, one after the other, the most promising first. For one parameter
/// each special value; for several each value in each parameter among plain or partitioned others, in turns with
/// pairs of special values, which fill what is left. `edges` and `literals` of the settings say what values count as special.
pub fn specials(task: &Task, most: usize) -> Vec<u64> {
    let most = most.min(MOST_SPECIALS);
    let params = &task.function.coordinates;
    let values: Vec<Vec<u64>> = params.iter().map(|param| special_values(task, param)).collect();
    let mut planner = SpecialsPlanner {
        samplers: params.iter().map(|p| ParamSampler::new(p, &task.settings)).collect(),
        plain: params.iter().map(plain_values).collect(),
        stream: task.stream(StreamKey::Specials),
        seen: BTreeSet::new(),
        inputs: Vec::new(),
    };
    let mut singles = singles(&values);
    if params.len() < 2 {
        for (p, value) in singles.take(most) {
            planner.add(&[(p, value)]);
        }
        return planner.inputs;
    }
    // Pairs of the best values grow with the singles, so that a small `most` has both.
    let mut reach = 1;
    while planner.seen.len() < most {
        let Some((p, value)) = singles.next() else { break };
        planner.add(&[(p, value)]);
        if planner.seen.len() < most {
            planner.pair(&values, reach);
        }
        reach += 1;
    }
    // A draw may hit an input that is there already: a few more attempts than inputs end it.
    for _ in 0..2 * most {
        if planner.seen.len() >= most {
            break;
        }
        planner.pair(&values, usize::MAX);
    }
    planner.inputs
}

/// Every value of every parameter: the first of each, then the second of each.
fn singles(values: &[Vec<u64>]) -> impl Iterator<Item = (usize, u64)> {
    let longest = values.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(move |i| {
        values.iter().enumerate().filter_map(move |(p, list)| list.get(i).map(|&value| (p, value)))
    })
}

struct SpecialsPlanner {
    samplers: Vec<ParamSampler>,
    /// Plain values of each parameter.
    plain: Vec<Vec<u64>>,
    stream: Stream,
    seen: BTreeSet<Vec<u64>>,
    inputs: Vec<u64>,
}

impl SpecialsPlanner {
    /// An input with some parameters set and the others plain, or partitioned.
    fn add(&mut self, set: &[(usize, u64)]) {
        let SpecialsPlanner { samplers, plain, stream, seen, inputs } = self;
        let among_plain = stream.below(2) == 0;
        let value = |(q, sampler): (usize, &ParamSampler)| {
            if let Some((_, value)) = set.iter().find(|(p, _)| *p == q) {
                return *value;
            }
            match plain[q].len() as u64 {
                0 => sampler.partitioned(stream),
                // An index below a length.
                choices if among_plain => plain[q][stream.below(choices) as usize],
                _ => sampler.partitioned(stream),
            }
        };
        let input: Vec<u64> = samplers.iter().enumerate().map(value).collect();
        if seen.insert(input.clone()) {
            inputs.extend(input);
        }
    }

    /// Two parameters set to special values among the first `reach` of each.
    fn pair(&mut self, values: &[Vec<u64>], reach: usize) {
        // Indices below a length, so within usize.
        let count = values.len() as u64;
        let first = self.stream.below(count) as usize;
        let second = (first + 1 + self.stream.below(count - 1) as usize) % values.len();
        let mut set = Vec::new();
        for p in [first, second] {
            let choices = values[p].len().min(reach) as u64;
            if choices > 0 {
                set.push((p, values[p][self.stream.below(choices) as usize]));
            }
        }
        if !set.is_empty() {
            self.add(&set);
        }
    }
}

fn plain_values(param: &Coordinate) -> Vec<u64> {
    let mut list = Special { param, seen: BTreeSet::new(), found: Vec::new() };
    PLAIN.iter().for_each(|&v| list.nearest(v));
    list.found
}

/// A parameter's special values, without duplicates: literals, edge values, then what lies beside literals.
fn special_values(task: &Task, param: &Coordinate) -> Vec<u64> {
    let literals: &[f64] = if task.settings.literals { &task.literals } else { &[] };
    let mut list = Special { param, seen: BTreeSet::new(), found: Vec::new() };
    literals.iter().for_each(|&v| list.nearest(v));
    if task.settings.edges {
        edge_values(param).into_iter().for_each(|bits| list.add(bits));
    }
    if task.settings.edges && param.ty.is_float() {
        let mut stream = task.stream_about(&param.name, StreamKey::Powers);
        beside_powers(&mut stream).for_each(|v| list.nearest(v));
    }
    literals.iter().for_each(|&v| list.neighbours(v));
    literals.iter().for_each(|&v| list.nearest(-v));
    literals.iter().for_each(|&v| list.neighbours(-v));
    if param.ty.is_float() {
        for v in literals.iter().flat_map(|&v| [v, -v]) {
            list.nearest(v * (1.0 - BESIDE));
            list.nearest(v * (1.0 + BESIDE));
        }
    }
    list.found
}

/// Powers of two and a little more than that, on both sides of zero: what is left of a reduction to
/// a period has few digits there, and rounding goes either way.
fn beside_powers(stream: &mut Stream) -> impl Iterator<Item = f64> {
    (-8..52).flat_map(move |exponent: i32| {
        // Biased, the exponent is positive; its low end is no subnormal.
        let power = f64::from_bits(((exponent + 1023) as u64) << 52);
        let (more, less) = (power + stream.unit(), power + stream.unit() * power.min(1.0) / 1024.0);
        [power, -power, more, -more, less, -less]
    })
}

struct Special<'a> {
    param: &'a Coordinate,
    seen: BTreeSet<u64>,
    found: Vec<u64>,
}

impl Special<'_> {
    /// Keeps a value of the domain that is new.
    fn add(&mut self, bits: u64) {
        let inside = self.param.ty.axis(bits).is_some_and(|place| self.param.domain.contains(place));
        if inside && self.seen.insert(bits) {
            self.found.push(bits);
        }
    }

    /// The value of the parameter's type nearest to `v`; for an integer those on both sides.
    fn nearest(&mut self, v: f64) {
        let ty = self.param.ty;
        match ty {
            Scalar::F64 => self.add(v.to_bits()),
            // Rounds to nearest; beyond the largest it is infinite and outside every domain.
            Scalar::F32 => self.add(u64::from((v as f32).to_bits())),
            _ => {
                for whole in [v.floor(), v.ceil()] {
                    self.integer(whole, 0);
                }
            }
        }
    }

    /// The values one step above and below that of `v`.
    fn neighbours(&mut self, v: f64) {
        match self.param.ty {
            Scalar::F64 => [v.next_down(), v.next_up()].into_iter().for_each(|x| self.add(x.to_bits())),
            Scalar::F32 => {
                let x = v as f32;
                [x.next_down(), x.next_up()].into_iter().for_each(|x| self.add(u64::from(x.to_bits())));
            }
            _ => [-1, 1].into_iter().for_each(|step| self.integer(v.floor(), step)),
        }
    }

    fn integer(&mut self, whole: f64, step: i128) {
        // Saturates far outside every type, where no ordinal is.
        let ordinal = (whole as i128).saturating_add(step);
        if let Some(bits) = self.param.ty.from_ordinal(ordinal) {
            self.add(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Side;
    use crate::model::{Callee, Domain, Function, SearchSettings, Segment};

    fn task(types: &[Scalar], literals: &[f64]) -> Task {
        let param = |ty: &Scalar| Coordinate {
            name: "x".into(),
            ty: *ty,
            domain: Domain::all(*ty),
            domain_text: String::new(),
        };
        Task {
            function: Function::of_scalars(
                "f",
                types.iter().map(param).collect(),
                Scalar::F64,
                Callee::Call("f(x)".into()),
            ),
            builds: Vec::new(),
            settings: SearchSettings::default(),
            literals: literals.to_vec(),
            tolerances: Vec::new(),
        }
    }

    fn values(task: &Task, most: usize) -> Vec<f64> {
        let ty = task.function.coordinates[0].ty;
        specials(task, most).into_iter().map(|bits| ty.to_f64(bits)).collect()
    }

    #[test]
    fn a_literal_comes_with_its_negative_its_neighbours_and_what_lies_beside() {
        let found = values(&task(&[Scalar::F64], &[2.5, 700.0]), 1000);
        assert_eq!(found[..2], [2.5, 700.0]);
        for x in [2.5f64, 700.0] {
            let beside = x / f64::from(1 << 20);
            for y in [x, x.next_up(), x.next_down(), x + beside, x - beside] {
                assert!(found.contains(&y) && found.contains(&-y), "{y:?}");
            }
        }
        assert!(found.contains(&f64::MAX), "edge values are special too");
        let distinct: BTreeSet<u64> = found.iter().map(|x| x.to_bits()).collect();
        assert_eq!(distinct.len(), found.len());
    }

    #[test]
    fn settings_switch_each_kind_off() {
        let mut task = task(&[Scalar::F64], &[2.5]);
        task.settings.literals = false;
        assert!(!values(&task, 1000).contains(&2.5));
        task.settings.edges = false;
        assert!(values(&task, 1000).is_empty());
        task.settings.literals = true;
        assert_eq!(values(&task, 1000).len(), 10);
        assert_eq!(values(&task, 3).len(), 3);
    }

    #[test]
    fn values_are_of_the_parameters_type_and_in_its_domain() {
        let mut task = task(&[Scalar::F32], &[0.1, 1e300]);
        task.settings.edges = false;
        let tenth = 0.1f32;
        let found = values(&task, 1000);
        assert!(found.contains(&f64::from(tenth)) && found.contains(&f64::from(tenth.next_up())));
        assert!(found.iter().all(|x| x.is_finite()));

        task.function.coordinates[0].ty = Scalar::I32;
        task.function.coordinates[0].domain =
            Domain::of(vec![Segment { side: Side::Positive, lo: 1, hi: 9 }]);
        task.literals = vec![3.5, 9.0, -7.0, 1e300, 40.0];
        assert_eq!(values(&task, 1000), [3.0, 4.0, 9.0, 2.0, 8.0, 7.0, 6.0]);
    }

    #[test]
    fn several_parameters_have_each_value_alone_and_pairs_of_values() {
        let mut task = task(&[Scalar::F64, Scalar::F64], &[2.5, 7.25]);
        task.settings.edges = false;
        let inputs = specials(&task, 400);
        let pairs: Vec<(f64, f64)> =
            inputs.chunks(2).map(|x| (f64::from_bits(x[0]), f64::from_bits(x[1]))).collect();
        // Twenty values in each of two places, and 400 pairs of values, of which chance misses a few.
        assert!((350..=400).contains(&pairs.len()), "{}", pairs.len());
        assert_eq!(specials(&task, 30).len(), 60);
        let special = |x: f64| [2.5, 7.25].contains(&x);
        assert!(pairs.iter().any(|&(x, y)| x == 2.5 && !special(y)));
        assert!(pairs.iter().any(|&(x, y)| y == 7.25 && !special(x)));
        assert!(pairs.contains(&(2.5, 7.25)) && pairs.contains(&(7.25, 2.5)));
        assert_eq!(inputs, specials(&task, 400));
        task.settings.seed = 2;
        assert_ne!(inputs, specials(&task, 400));
    }

    #[test]
    fn a_function_without_parameters_or_special_values_has_no_special_input() {
        assert!(specials(&task(&[], &[1.0]), 100).is_empty());
        let mut two = task(&[Scalar::F64, Scalar::F32], &[]);
        two.settings.edges = false;
        assert!(specials(&two, 100).is_empty());
    }
}
