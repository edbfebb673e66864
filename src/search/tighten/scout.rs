//! Tests single points of an orthant for the tightening, within a budget, and keeps what it saw.

use std::collections::BTreeSet;

use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::model::Coordinate;
use crate::ranges::{Axis, Cuboid, Orthant};
use crate::search::Task;
use crate::search::evaluate::{Closing, Found, Probe};
use crate::search::sample::edge_values;
use crate::search::unit::{Seen, TightenUnit};

/// The part of a binade in which the surroundings of an edge are looked at.
const NEAR: f64 = 0.1;

/// Why testing ends before its purpose is reached.
pub enum Halt {
    /// The budget is used up, or a build was given up.
    Spent,
    Failed(EvalError),
}

impl From<EvalError> for Halt {
    fn from(error: EvalError) -> Halt {
        Halt::Failed(error)
    }
}

/// A set of inconsistent points that belong to one range, and the smallest box around them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub hits: Vec<Vec<u64>>,
    pub hull: Cuboid,
    /// Share of inconsistent samples in a box around them.
    pub density: f64,
}

impl Group {
    pub fn new(hits: Vec<Vec<u64>>, density: f64) -> Option<Group> {
        let hull = Cuboid::hull(hits.iter().map(Vec::as_slice))?;
        Some(Group { hits, hull, density })
    }

    pub fn add(&mut self, point: Vec<u64>) {
        self.hull.include(&point);
        self.hits.push(point);
    }

    /// The side of the box along one axis: away from zero (`outward`) or towards it.
    pub fn side(&self, d: usize, outward: bool) -> u64 {
        if outward { self.hull.hi[d] } else { self.hull.lo[d] }
    }

    /// A member at a coordinate, preferably at exactly that one.
    pub fn member_at(&self, d: usize, coordinate: u64) -> &[u64] {
        let nearest = self.hits.iter().min_by_key(|p| p[d].abs_diff(coordinate));
        nearest.map_or(self.hull.lo.as_slice(), Vec::as_slice)
    }
}

pub struct Scout<'a> {
    probe: Probe<'a>,
    pub orthant: Orthant,
    variant: usize,
    pub seen: Seen,
    pub stream: Stream,
    /// Evaluations that may still be spent.
    pub left: u64,
    /// Per axis: the narrowest gap that splits a range, and the width looked at around an edge.
    pub gap: Vec<u64>,
    pub near: Vec<u64>,
    /// Per axis: ranks of the edge values.
    edge_values: Vec<BTreeSet<u64>>,
}

impl<'a> Scout<'a> {
    /// None when the unit's orthant is not part of the domain.
    pub fn new(task: &'a Task, unit: &TightenUnit, evaluator: &'a mut dyn Evaluator) -> Option<Scout<'a>> {
        let orthant = Orthant::new(&task.function, &unit.spot.sides)?;
        let gap: Vec<u64> = orthant.axes.iter().map(|axis| axis.steps(task.settings.gap)).collect();
        let near = orthant.axes.iter().zip(&gap).map(|(axis, &gap)| axis.steps(NEAR).min(gap)).collect();
        let ranks = |(axis, param): (&Axis, &Coordinate)| {
            edge_values(param).into_iter().filter_map(|bits| axis.rank_of(bits)).collect()
        };
        let edge_values = orthant.axes.iter().zip(&task.function.coordinates).map(ranks).collect();
        Some(Scout {
            probe: Probe::new(task, evaluator, unit.spot.allowances(task), false),
            orthant,
            variant: unit.spot.variant,
            seen: Seen::of(unit.spot.variant),
            stream: task.stream_of(unit.spot.variant, unit.stream),
            left: unit.budget,
            gap,
            near,
            edge_values,
        })
    }

    /// Axes with more than one place.
    pub fn open_dims(&self) -> Vec<usize> {
        self.orthant.whole().open_dims()
    }

    /// Whether each point is inconsistent.
    pub fn test(&mut self, points: &[Vec<u64>]) -> Result<Vec<bool>, Halt> {
        if points.len() as u64 > self.left || !self.probe.is_open(self.variant) {
            return Err(Halt::Spent);
        }
        self.left -= points.len() as u64;
        let inputs: Vec<u64> = points.iter().flat_map(|p| self.orthant.input(p)).collect();
        let mut hits = Vec::with_capacity(points.len());
        let seen = &mut self.seen;
        self.probe.scores(&[self.variant], &inputs, |_, _, input, score| {
            let inconsistent = score.is_inconsistent();
            hits.push(inconsistent);
            if score.evaluated {
                seen.statistics.add(score.bits, score.change, inconsistent);
            }
            if inconsistent {
                seen.rank(input, score);
                seen.hits.push(Found::new(input, score));
            }
        })?;
        Ok(hits)
    }

    /// The inconsistent ones of some points.
    pub fn hits_of(&mut self, points: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, Halt> {
        let hits = self.test(&points)?;
        Ok(points.into_iter().zip(hits).filter(|(_, hit)| *hit).map(|(point, _)| point).collect())
    }

    /// `count` places spread over lo..=hi of an axis, one at a random place of each equal part,
    /// without duplicates.
    pub fn spread(&mut self, d: usize, lo: u64, hi: u64, count: u64) -> Vec<u64> {
        let width = u128::from(hi - lo) + 1;
        let edge = |i: u64| lo + (width * u128::from(i) / u128::from(count)) as u64;
        let mut places: Vec<u64> = (0..count)
            .map(|i| {
                let (from, to) = (edge(i), edge(i + 1).max(edge(i) + 1) - 1);
                self.orthant.axes[d].settle(self.stream.between(from, to.min(hi)))
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// A random member of a group.
    pub fn any_member<'g>(&mut self, group: &'g Group) -> &'g [u64] {
        // Below a length, so within usize.
        &group.hits[self.stream.below(group.hits.len() as u64) as usize]
    }

    /// A random place of a box.
    pub fn anywhere(&mut self, cuboid: &Cuboid) -> Vec<u64> {
        let axes = self.orthant.axes.iter().zip(cuboid.lo.iter().zip(&cuboid.hi));
        axes.map(|(axis, (&lo, &hi))| axis.settle(self.stream.between(lo, hi)).max(lo)).collect()
    }

    /// Whether a place of an axis is an edge value, which every search samples.
    pub fn is_edge_value(&self, d: usize, rank: u64) -> bool {
        self.edge_values[d].contains(&rank)
    }

    pub fn close(self) -> Result<(Seen, Closing), EvalError> {
        Ok((self.seen, self.probe.close()?))
    }
}

/// A point moved along one axis.
pub fn moved(point: &[u64], d: usize, to: u64) -> Vec<u64> {
    let mut point = point.to_vec();
    point[d] = to;
    point
}
