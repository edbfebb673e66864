//! Whether an answer can be one to what was asked. Code under test shares a process with whoever answers, and may have written
//! over it: what does not fit is no answer, and nothing that comes later has to doubt it.

use super::{Answer, Harvest, PlotSample, Seen, Unit};
use crate::model::{Coordinate, FaultRecord};
use crate::ranges::{Orthant, Range, Sides, Statistics};
use crate::search::Task;
use crate::search::evaluate::{Closing, Found, Spread};
use crate::search::sweep::{Run, Swept};

/// No search counts further, and sums of such counts stay far below 2^64.
const MOST: u64 = 1 << 48;

/// Two doubles are never further apart.
const MOST_BITS: f64 = 64.0;

impl Unit {
    /// The builds that it compares with the baseline.
    fn variants(&self) -> Vec<usize> {
        match self {
            Unit::Inputs(unit) => unit.crowd.variants.clone(),
            Unit::Strata(unit) => unit.crowd.variants.clone(),
            Unit::Sweep(unit) => unit.crowd.variants.clone(),
            Unit::Dense(unit) => vec![unit.spot.variant],
            Unit::Tighten(unit) => vec![unit.spot.variant],
            Unit::Evolve(unit) => vec![unit.spot.variant],
            Unit::Zoom(unit) => vec![unit.spot.variant],
            Unit::Wide(unit) => vec![unit.variant],
            Unit::Seams(unit) => vec![unit.variant],
            Unit::Walk(unit) => vec![unit.variant],
        }
    }
}

impl Answer {
    /// Whether it can be one to this unit.
    pub fn fits(&self, task: &Task, unit: &Unit) -> bool {
        let form = Form { task, variants: unit.variants() };
        form.closing(&self.closing)
            && match (&self.harvest, unit) {
                (Harvest::Inputs { seen, plot }, Unit::Inputs(_)) => form.all(seen) && form.plot(plot),
                (Harvest::Strata(seen), Unit::Strata(_)) => form.all(seen),
                (Harvest::Tighten { seen, ranges }, Unit::Tighten(unit)) => {
                    form.seen(seen) && form.ranges(ranges, &unit.spot.sides)
                }
                (Harvest::Sweep { swept, plot }, Unit::Sweep(unit)) => {
                    let rungs = unit.from..unit.to;
                    swept.iter().all(|swept| form.swept(swept, &rungs)) && form.plot(plot)
                }
                (Harvest::Variant(seen), unit) => {
                    let of_several = matches!(unit, Unit::Inputs(_) | Unit::Strata(_) | Unit::Sweep(_));
                    !of_several && form.seen(seen)
                }
                _ => false,
            }
    }
}

/// What every part of an answer has to be like.
struct Form<'a> {
    task: &'a Task,
    variants: Vec<usize>,
}

impl Form<'_> {
    fn all(&self, seen: &[Seen]) -> bool {
        seen.len() <= self.variants.len() && seen.iter().all(|seen| self.seen(seen))
    }

    fn seen(&self, seen: &Seen) -> bool {
        let Seen { variant, statistics, hits, misses, best, changed } = seen;
        let arity = self.task.function.arity();
        self.variants.contains(variant)
            && is_counted(statistics)
            && hits.iter().chain(best).chain(changed).all(|found| self.found(found))
            && misses.len().is_multiple_of(arity)
            && misses.chunks(arity).all(|input| self.input(input))
    }

    fn found(&self, found: &Found) -> bool {
        let is_known = usize::from(found.worst) < self.task.function.results.width();
        is_known && is_height(found.bits) && self.input(&found.input)
    }

    /// Whether the domain has it.
    fn input(&self, input: &[u64]) -> bool {
        let coordinates = &self.task.function.coordinates;
        let has = |(coordinate, bits): (&Coordinate, &u64)| {
            let Coordinate { ty, domain, .. } = coordinate;
            ty.axis(*bits).is_some_and(|point| domain.contains(point)) || domain.specials.contains(bits)
        };
        input.len() == coordinates.len() && coordinates.iter().zip(input).all(has)
    }

    fn plot(&self, plot: &[PlotSample]) -> bool {
        let variants = self.task.variants().len();
        plot.iter().all(|PlotSample { sample, chosen_by }| {
            self.input(&sample.input)
                && sample.bits.len() == variants
                && (sample.worst.is_empty() || sample.worst.len() == variants)
                && sample.bits.iter().all(|bits| is_height(f64::from(*bits)))
                && chosen_by.is_none_or(|build| self.task.variants().contains(&build))
        })
    }

    fn ranges(&self, ranges: &[Range], sides: &Sides) -> bool {
        let whole = Orthant::new(&self.task.function, sides).map(|orthant| orthant.whole());
        let Some(whole) = whole else { return ranges.is_empty() };
        let dims = whole.lo.len();
        let is_inside = |Range { cuboid, edges }: &Range| {
            let ends = cuboid.lo.iter().zip(&cuboid.hi).zip(&whole.hi);
            cuboid.lo.len() == dims
                && cuboid.hi.len() == dims
                && edges.len() == dims
                && ends.into_iter().all(|((lo, hi), last)| lo <= hi && hi <= last)
        };
        ranges.iter().all(is_inside)
    }

    fn swept(&self, swept: &Swept, rungs: &std::ops::Range<u64>) -> bool {
        let Swept { variant, statistics, best, at_max, cells, runs } = swept;
        let is_in_order = |runs: &[Run]| runs.windows(2).all(|pair| pair[0].last < pair[1].first);
        let run = |run: &Run| {
            let Run { first, last, inconsistent, sum_bits, ends, best, .. } = run;
            let count = last.saturating_sub(*first).saturating_add(1);
            first <= last
                && rungs.contains(first)
                && rungs.contains(last)
                && ends.iter().chain([inconsistent]).all(|counted| *counted <= count)
                && sum_bits.is_finite()
                && self.found(best)
        };
        self.variants.contains(variant)
            && is_counted(statistics)
            && best.iter().all(|found| self.found(found))
            && *at_max <= MOST
            && cells.iter().all(|cell| cell.inconsistent <= MOST)
            && runs.list.iter().all(run)
            && is_in_order(&runs.list)
    }

    fn closing(&self, closing: &Closing) -> bool {
        let Closing { faults, nondeterministic, seconds, spread } = closing;
        let builds = self.task.builds.len();
        let fault = |FaultRecord { build, count, examples, .. }: &FaultRecord| {
            *build < builds && *count <= MOST && examples.iter().all(|input| self.input(input))
        };
        let width = self.task.function.results.width();
        faults.iter().all(fault)
            && nondeterministic.iter().all(|build| *build < builds)
            && seconds.len() <= builds
            && seconds.iter().all(|time| time.is_finite() && *time >= 0.0)
            && !matches!(spread, Spread::One(values) if values.len() != width)
    }
}

fn is_counted(statistics: &Statistics) -> bool {
    let Statistics { samples, inconsistent, sum_bits, changes } = statistics;
    let counts = changes.values().chain([inconsistent]);
    *samples <= MOST && sum_bits.is_finite() && counts.into_iter().all(|count| count <= samples)
}

fn is_height(bits: f64) -> bool {
    (0.0..=MOST_BITS).contains(&bits)
}
