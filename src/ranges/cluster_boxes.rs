//! Single linkage in two and more dimensions: a grid refined only where it must be.
//!
//! Points are split at the median of their box's widest side until a box is smaller than the cut, so
//! that all its points are linked, or holds few points. Pairs of boxes are pruned when out of reach or
//! already joined, joined when wholly in reach, and split otherwise. Near-linear on dense, sparse and
//! clumped data. The time grows steeply beyond 4 dimensions, where a box has many neighbours, and with
//! pairs of points a hair beyond the cut, which only single points can tell apart.

use std::ops::Range;

use super::cluster::MAX_DIMS;
use super::reach::{Bounds, Reach};
use super::union_find::UnionFind;

/// Points in a box that are compared one by one rather than split.
const FEW: u32 = 8;

/// For each point, the index of one fixed member of its cluster. Points are finite, at least one.
pub(super) fn members(points: &[f64], dims: usize, reach: Reach) -> Vec<u32> {
    // Coordinates are padded with zeros to a few fixed sizes: zeros change no distance.
    match dims {
        ..=2 => Boxes::<2>::new(points, dims, reach).members(),
        3 => Boxes::<3>::new(points, dims, reach).members(),
        4 => Boxes::<4>::new(points, dims, reach).members(),
        5..=8 => Boxes::<8>::new(points, dims, reach).members(),
        9..=16 => Boxes::<16>::new(points, dims, reach).members(),
        _ => Boxes::<MAX_DIMS>::new(points, dims, reach).members(),
    }
}

#[derive(Clone, Copy)]
struct Point<const D: usize> {
    at: [f64; D],
    index: u32,
}

/// A box of the grid and its points, a stretch of `Boxes::points`.
struct Node<const D: usize> {
    bounds: Bounds<D>,
    start: u32,
    end: u32,
    /// The first of two boxes this one is split into, one after the other.
    parts: Option<u32>,
    /// All its points are known to be in one cluster.
    joined: bool,
}

impl<const D: usize> Node<D> {
    fn new(points: &[Point<D>], range: Range<u32>) -> Node<D> {
        let mut bounds = Bounds { lo: [f64::INFINITY; D], hi: [f64::NEG_INFINITY; D] };
        for point in &points[range.start as usize..range.end as usize] {
            for axis in 0..D {
                bounds.lo[axis] = bounds.lo[axis].min(point.at[axis]);
                bounds.hi[axis] = bounds.hi[axis].max(point.at[axis]);
            }
        }
        Node { bounds, start: range.start, end: range.end, parts: None, joined: false }
    }

    fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    fn widest(&self) -> (usize, f64) {
        let mut widest = (0, 0.0);
        for axis in 0..D {
            let side = self.bounds.hi[axis] - self.bounds.lo[axis];
            if side > widest.1 {
                widest = (axis, side);
            }
        }
        widest
    }
}

struct Boxes<const D: usize> {
    points: Vec<Point<D>>,
    nodes: Vec<Node<D>>,
    /// Over positions in `points`. A box is only split, and its points moved, before any of its points
    /// is joined with another or after all of them are.
    clusters: UnionFind,
    reach: Reach,
}

impl<const D: usize> Boxes<D> {
    fn new(points: &[f64], dims: usize, reach: Reach) -> Boxes<D> {
        let points: Vec<Point<D>> = points
            .chunks_exact(dims)
            .zip(0..)
            .map(|(coordinates, index)| {
                let mut at = [0.0; D];
                at[..dims].copy_from_slice(coordinates);
                Point { at, index }
            })
            .collect();
        // The caller has checked that points are counted by a u32.
        let count = points.len() as u32;
        let nodes = vec![Node::new(&points, 0..count)];
        Boxes { points, nodes, clusters: UnionFind::new(count), reach }
    }

    fn members(mut self) -> Vec<u32> {
        self.link_within(0);
        let mut members = vec![0; self.points.len()];
        for (position, point) in (0..).zip(&self.points) {
            let root = self.clusters.find(position);
            members[point.index as usize] = self.points[root as usize].index;
        }
        members
    }

    /// Links the points of a box with each other.
    fn link_within(&mut self, node: u32) {
        let Node { bounds, start, end, .. } = &self.nodes[node as usize];
        let (start, end) = (*start, *end);
        if self.reach.covers(bounds, bounds) {
            for other in start + 1..end {
                self.clusters.union(start, other);
            }
            self.nodes[node as usize].joined = true;
        } else if let Some((first, second)) = self.split(node) {
            self.link_within(first);
            self.link_within(second);
            self.link_between(first, second);
        } else {
            for a in start..end {
                for b in a + 1..end {
                    self.link_points(a, b);
                }
            }
        }
        self.joined(node);
    }

    /// Links the points of one box with those of another. Both have been linked within.
    fn link_between(&mut self, a: u32, b: u32) {
        let (box_a, box_b) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        if !self.reach.meets(&box_a.bounds, &box_b.bounds) {
            return;
        }
        let (start_a, start_b) = (box_a.start, box_b.start);
        let covers = self.reach.covers(&box_a.bounds, &box_b.bounds);
        let both_joined = self.joined(a) && self.joined(b);
        if both_joined && (covers || self.clusters.same(start_a, start_b)) {
            self.clusters.union(start_a, start_b);
            return;
        }
        match self.split_one_of(a, b) {
            Some((whole, near, far)) => {
                self.link_between(whole, near);
                self.link_between(whole, far);
            }
            None => self.link_few(a, b, both_joined),
        }
        self.joined(a);
        self.joined(b);
    }

    /// Compares the points of two boxes that cannot be split; one link is enough for joined boxes.
    fn link_few(&mut self, a: u32, b: u32, both_joined: bool) {
        for point in self.nodes[a as usize].range() {
            if !self.reach.touches(&self.points[point as usize].at, &self.nodes[b as usize].bounds) {
                continue;
            }
            for other in self.nodes[b as usize].range() {
                if self.link_points(point, other) && both_joined {
                    return;
                }
            }
        }
    }

    fn link_points(&mut self, a: u32, b: u32) -> bool {
        let linked = self.reach.links(&self.points[a as usize].at, &self.points[b as usize].at);
        if linked {
            self.clusters.union(a, b);
        }
        linked
    }

    /// Whether all points of a box are known to be in one cluster. Looks one level down.
    fn joined(&mut self, node: u32) -> bool {
        let Node { start, end, parts, joined, .. } = self.nodes[node as usize];
        if joined {
            return true;
        }
        let joined = match parts {
            Some(first) => {
                let (first, second) = (&self.nodes[first as usize], &self.nodes[first as usize + 1]);
                first.joined && second.joined && self.clusters.same(first.start, second.start)
            }
            None => (start + 1..end).all(|other| self.clusters.same(start, other)),
        };
        self.nodes[node as usize].joined = joined;
        joined
    }

    /// Splits the larger of two boxes that can be split: the other, then the nearer and the farther part.
    fn split_one_of(&mut self, a: u32, b: u32) -> Option<(u32, u32, u32)> {
        let larger_a = self.nodes[a as usize].widest().1 >= self.nodes[b as usize].widest().1;
        let (large, small) = if larger_a { (a, b) } else { (b, a) };
        let (whole, (first, second)) = match self.split(large) {
            Some(parts) => (small, parts),
            None => (large, self.split(small)?),
        };
        let distance = |part: u32| {
            self.reach.nearest(&self.nodes[whole as usize].bounds, &self.nodes[part as usize].bounds)
        };
        let (near, far) = if distance(first) <= distance(second) { (first, second) } else { (second, first) };
        Some((whole, near, far))
    }

    /// The two parts of a box, unless it has few points.
    fn split(&mut self, node: u32) -> Option<(u32, u32)> {
        let parent = &mut self.nodes[node as usize];
        let joined = parent.joined;
        let first = match parent.parts {
            Some(first) => first,
            None => {
                let (axis, side) = parent.widest();
                if side == 0.0 && joined {
                    // One of many equal points stands for all.
                    parent.end = parent.start + 1;
                }
                let Range { start, end } = parent.range();
                if end - start <= FEW {
                    return None;
                }
                let half = (end - start) / 2;
                self.points[start as usize..end as usize]
                    .select_nth_unstable_by(half as usize, |a, b| a.at[axis].total_cmp(&b.at[axis]));
                // Fits: a part has at least FEW / 2 points, so there are fewer boxes than points.
                let first = self.nodes.len() as u32;
                self.nodes[node as usize].parts = Some(first);
                self.nodes.push(Node::new(&self.points, start..start + half));
                self.nodes.push(Node::new(&self.points, start + half..end));
                first
            }
        };
        if joined {
            self.nodes[first as usize].joined = true;
            self.nodes[first as usize + 1].joined = true;
        }
        Some((first, first + 1))
    }
}
