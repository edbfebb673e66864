//! Single linkage against independent implementations, at its edges and at a million points.

use std::time::{Duration, Instant};

use bitrift::fp::Stream;
use bitrift::model::ClusterBackend::{self, Grid, Linfa};
use bitrift::ranges::{ClusterError, MAX_DIMS, single_linkage};
use proptest::prelude::*;

fn labels(points: &[f64], dims: usize, cut: f64, backend: ClusterBackend) -> Vec<u32> {
    single_linkage(points, dims, cut, backend).expect("finite points")
}

/// Numbers groups by first appearance.
fn numbered<T: PartialEq>(groups: &[T]) -> Vec<u32> {
    let mut seen: Vec<&T> = Vec::new();
    let number = |group| {
        let known = seen.iter().position(|&other| other == group);
        known.unwrap_or_else(|| {
            seen.push(group);
            seen.len() - 1
        }) as u32
    };
    groups.iter().map(number).collect()
}

/// The sum of squared differences, in coordinate order.
fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Every pair of points, groups relabelled at every link. `shrink` keeps squares in range.
fn naive(points: &[f64], dims: usize, cut: f64, shrink: f64) -> Vec<u32> {
    let points: Vec<f64> = points.iter().map(|value| value * shrink).collect();
    let cut = cut * shrink;
    let rows: Vec<&[f64]> = points.chunks(dims).collect();
    let mut groups: Vec<usize> = (0..rows.len()).collect();
    for a in 0..rows.len() {
        for b in a + 1..rows.len() {
            if groups[a] != groups[b] && squared(rows[a], rows[b]) < cut * cut {
                let (from, to) = (groups[b], groups[a]);
                groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    numbered(&groups)
}

/// kodama's dendrogram, merged while the dissimilarity is below the cut.
fn kodama_cut(points: &[f64], dims: usize, cut: f64) -> Vec<u32> {
    let rows: Vec<&[f64]> = points.chunks(dims).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut condensed = Vec::new();
    for (a, row) in rows.iter().enumerate() {
        condensed.extend(rows[a + 1..].iter().map(|other| squared(row, other).sqrt()));
    }
    let dendrogram = kodama::linkage(&mut condensed, rows.len(), kodama::Method::Single);
    let mut members: Vec<Vec<usize>> = (0..rows.len()).map(|row| vec![row]).collect();
    let mut groups: Vec<usize> = (0..rows.len()).collect();
    for (number, step) in (rows.len()..).zip(dendrogram.steps()) {
        let mut both = members[step.cluster1].clone();
        both.extend(&members[step.cluster2]);
        if step.dissimilarity < cut {
            both.iter().for_each(|&row| groups[row] = number);
        }
        members.push(both);
    }
    numbered(&groups)
}

fn assert_all_agree(points: &[f64], dims: usize, cut: f64) {
    let grid = labels(points, dims, cut, Grid);
    assert_eq!(grid, naive(points, dims, cut, 1.0), "naive, cut {cut:?}, {dims} dims, {points:?}");
    assert_eq!(grid, labels(points, dims, cut, Linfa), "linfa, cut {cut:?}, {dims} dims, {points:?}");
    assert_eq!(grid, kodama_cut(points, dims, cut), "kodama, cut {cut:?}, {dims} dims, {points:?}");
}

fn uniform(stream: &mut Stream, values: usize) -> Vec<f64> {
    (0..values).map(|_| stream.unit()).collect()
}

/// Random centres with points scattered around them.
fn clumps(stream: &mut Stream, points: usize, dims: usize, centres: usize, radius: f64) -> Vec<f64> {
    let middle = uniform(stream, centres * dims);
    let mut out = Vec::with_capacity(points * dims);
    for _ in 0..points {
        let centre = stream.below(centres as u64) as usize;
        for axis in 0..dims {
            out.push(middle[centre * dims + axis] + radius * (stream.unit() - 0.5));
        }
    }
    out
}

/// All points of a lattice of eighths with `side` points along each axis.
fn full_lattice(side: usize, dims: usize) -> Vec<f64> {
    let mut points = Vec::new();
    for at in 0..side.pow(dims as u32) {
        points.extend((0..dims as u32).map(|axis| (at / side.pow(axis) % side) as f64 * 0.125));
    }
    points
}

/// Two spheres around one centre (in one dimension, two points each), densely covered, `gap` apart.
fn shells(stream: &mut Stream, points: usize, dims: usize, gap: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(points * dims);
    while out.len() < points * dims {
        let at: Vec<f64> = (0..dims).map(|_| 2.0 * stream.unit() - 1.0).collect();
        let norm = squared(&at, &vec![0.0; dims]).sqrt();
        let radius = if (out.len() / dims).is_multiple_of(2) { 1.0 } else { 1.0 + gap };
        if (0.1..=1.0).contains(&norm) {
            out.extend(at.iter().map(|value| value / norm * radius));
        }
    }
    out
}

/// Cuts from a point alone to all together: a distance of two points of the set, moved off the tie.
fn cut_of(stream: &mut Stream, points: &[f64], dims: usize) -> f64 {
    let count = points.len() / dims;
    let mut row = || {
        let at = stream.below(count as u64) as usize * dims;
        &points[at..at + dims]
    };
    let nearest = (0..count / 8 + 1).map(|_| squared(row(), row()).sqrt()).filter(|d| *d > 0.0);
    nearest.fold(f64::INFINITY, f64::min).min(f64::MAX / 4.0) * 1.000001
}

#[test]
fn every_implementation_gives_the_same_clusters_on_random_sets() {
    let mut telling = 0;
    for case in 0..400 {
        let mut stream = Stream::new(1, &["random"], case);
        let dims = 1 + (case % 5) as usize;
        let count = 2 + stream.below(299) as usize;
        let mut points = match case % 3 {
            0 => uniform(&mut stream, count * dims),
            1 => clumps(&mut stream, count, dims, 7, 0.1),
            _ => clumps(&mut stream, count, dims, 20, 0.0),
        };
        // Spans around 1e-120, 1 and 1e120 and points far from the origin.
        let scale = [1.0, 1e-120, 1e120, 3e-5][case as usize / 5 % 4];
        let offset = if case % 7 == 0 { 1000.0 } else { 0.0 };
        points.iter_mut().for_each(|value| *value = (*value + offset) * scale);
        let cut = cut_of(&mut stream, &points, dims);
        assert_all_agree(&points, dims, cut);
        let last = labels(&points, dims, cut, Grid).into_iter().max().expect("a point") as usize;
        telling += usize::from((1..count - 1).contains(&last));
    }
    // Most sets are neither one cluster nor points alone.
    assert!(telling > 300, "{telling}");
}

#[test]
fn ties_on_a_lattice_never_link_and_one_ulp_more_always_does() {
    for case in 0..300 {
        let mut stream = Stream::new(2, &["lattice"], case);
        let dims = 1 + (case % 5) as usize;
        let side = 2 + stream.below(12);
        let count = 1 + stream.below(300) as usize;
        // Multiples of 1/8: sums of squares are exact.
        let points: Vec<f64> = (0..count * dims).map(|_| stream.below(side) as f64 / 8.0).collect();
        // Ties along an axis, and along a diagonal of 3 and 4 steps.
        let steps = [1.0, 2.0, 3.0, 5.0][stream.below(4) as usize];
        assert_all_agree(&points, dims, steps / 8.0);
        let above = (steps / 8.0f64).next_up();
        assert_eq!(labels(&points, dims, above, Grid), naive(&points, dims, above, 1.0));
        assert_eq!(labels(&points, dims, above, Grid), labels(&points, dims, above, Linfa));
    }
}

#[test]
fn a_full_lattice_falls_apart_at_its_spacing_and_holds_together_just_above() {
    for dims in 1..=4 {
        let side = [1000, 40, 12, 7][dims - 1];
        let points = full_lattice(side, dims);
        let count = points.len() / dims;
        let alone = labels(&points, dims, 0.125, Grid);
        assert_eq!(alone, (0..count as u32).collect::<Vec<u32>>());
        let together = labels(&points, dims, 0.125f64.next_up(), Grid);
        assert_eq!(together, vec![0; count]);
    }
}

#[test]
fn backends_agree_bit_for_bit_even_where_squares_round() {
    for case in 0..200 {
        let mut stream = Stream::new(3, &["rounding"], case);
        let dims = 2 + (case % 4) as usize;
        // Few values, none of them exact: many distances within an ulp of each other and of the cut.
        let points: Vec<f64> = (0..150 * dims).map(|_| stream.below(7) as f64 * 0.1 + 0.7).collect();
        for cut in [0.1, 0.2, 0.1 * 2f64.sqrt(), 0.1 * 3f64.sqrt()] {
            for cut in [cut.next_down(), cut, cut.next_up()] {
                let grid = labels(&points, dims, cut, Grid);
                assert_eq!(grid, labels(&points, dims, cut, Linfa), "{cut:?} {points:?}");
                assert_eq!(grid, naive(&points, dims, cut, 1.0), "{cut:?} {points:?}");
            }
        }
    }
}

#[test]
fn spans_whose_squares_overflow_or_vanish_are_clustered_like_any_other() {
    for case in 0..60 {
        let mut stream = Stream::new(4, &["extreme"], case);
        let dims = 1 + (case % 4) as usize;
        let points = clumps(&mut stream, 120, dims, 6, 0.05);
        let cut = cut_of(&mut stream, &points, dims);
        let expected = naive(&points, dims, cut, 1.0);
        for exponent in [-900, -600, 600, 1020] {
            let scale = 2f64.powi(exponent);
            let scaled: Vec<f64> = points.iter().map(|value| value * scale).collect();
            for backend in [Grid, Linfa] {
                assert_eq!(labels(&scaled, dims, cut * scale, backend), expected, "{backend:?} {exponent}");
            }
        }
    }
    // Opposite ends of the doubles, whose difference overflows.
    let ends = [f64::MAX, 0.0, -f64::MAX, 0.0, f64::MAX, 1.0, 0.0, 0.0, 5e-324, 0.0];
    for backend in [Grid, Linfa] {
        assert_eq!(labels(&ends, 2, 2.0, backend), [0, 1, 0, 2, 2]);
        assert_eq!(labels(&ends, 2, f64::MAX, backend), [0, 1, 0, 2, 2]);
        assert_eq!(labels(&ends, 1, f64::MAX, backend), [0, 1, 2, 1, 0, 1, 1, 1, 1, 1]);
        // More than one leaf of any tree.
        assert_eq!(labels(&ends.repeat(20), 2, 2.0, backend), [0, 1, 0, 2, 2].repeat(20));
    }
}

#[test]
fn more_than_four_dimensions_are_exact_too() {
    for (case, dims) in [5, 6, 7, 8, 9, 20, MAX_DIMS].into_iter().enumerate() {
        let mut stream = Stream::new(5, &["many"], case as u64);
        for points in [uniform(&mut stream, 300 * dims), clumps(&mut stream, 300, dims, 9, 0.3)] {
            let cut = cut_of(&mut stream, &points, dims);
            assert_all_agree(&points, dims, cut);
        }
    }
}

#[test]
fn a_cut_of_nothing_leaves_each_point_alone_and_an_infinite_cut_joins_all() {
    let equal = [0.5, 0.5, 0.5, 0.5];
    for backend in [Grid, Linfa] {
        assert_eq!(labels(&equal, 2, 0.0, backend), [0, 1]);
        assert_eq!(labels(&equal, 2, -1.0, backend), [0, 1]);
        assert_eq!(labels(&equal, 2, f64::NEG_INFINITY, backend), [0, 1]);
        assert_eq!(labels(&equal, 2, 5e-324, backend), [0, 0]);
        assert_eq!(labels(&[f64::MAX, -f64::MAX], 1, f64::INFINITY, backend), [0, 0]);
        assert_eq!(labels(&[0.0, -0.0], 1, 5e-324, backend), [0, 0]);
        assert!(labels(&[], 3, 1.0, backend).is_empty());
        assert!(labels(&[], 0, 1.0, backend).is_empty());
    }
}

#[test]
fn clusters_are_numbered_in_the_order_of_their_first_points() {
    let points = [9.0, 5.0, 1.0, 5.5, 9.5, 3.0];
    for backend in [Grid, Linfa] {
        assert_eq!(labels(&points, 1, 1.0, backend), [0, 1, 2, 1, 0, 3]);
        let flat: Vec<f64> = points.iter().flat_map(|&value| [value, 7.0]).collect();
        assert_eq!(labels(&flat, 2, 1.0, backend), [0, 1, 2, 1, 0, 3]);
    }
}

#[test]
fn input_that_cannot_be_clustered_is_answered_with_what_is_wrong() {
    for backend in [Grid, Linfa] {
        let with = |points: &[f64], dims, cut| single_linkage(points, dims, cut, backend).unwrap_err();
        assert_eq!(with(&[1.0; 3], 2, 1.0), ClusterError::Shape { values: 3, dims: 2 });
        assert_eq!(with(&[1.0; 3], 0, 1.0), ClusterError::Shape { values: 3, dims: 0 });
        assert_eq!(with(&[1.0; 65], 65, 1.0), ClusterError::Dimensions { dims: 65 });
        assert_eq!(with(&[1.0], 1, f64::NAN), ClusterError::Cut);
        let infinite = with(&[1.0, 1.0, 1.0, f64::INFINITY], 2, 1.0);
        assert_eq!(infinite, ClusterError::NotFinite { point: 1, axis: 1, value: f64::INFINITY });
        let text = with(&[1.0, f64::NAN], 1, 1.0).to_string();
        assert_eq!(text, "coordinate 0 of point 1 is NaN; only finite coordinates can be clustered");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_points_are_clustered_like_the_naive_way(
        dims in 1usize..=5,
        values in prop::collection::vec(prop_oneof![-4i32..4, -1000i32..1000], 0..600),
        steps in 1u32..40,
    ) {
        let whole = values.len() - values.len() % dims;
        // Eighths: squares are exact, and an odd number of sixteenths is on no axis' tie.
        let points: Vec<f64> = values[..whole].iter().map(|&value| f64::from(value) / 8.0).collect();
        assert_all_agree(&points, dims, f64::from(steps) / 16.0);
    }

    #[test]
    fn any_finite_doubles_and_any_cut_are_answered_alike_by_both_backends(
        dims in 1usize..=4,
        values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 0..80),
        cut in prop::num::f64::POSITIVE | prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
    ) {
        let whole = values.len() - values.len() % dims;
        let grid = labels(&values[..whole], dims, cut, Grid);
        prop_assert_eq!(grid, labels(&values[..whole], dims, cut, Linfa));
    }
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

#[test]
fn a_million_points_take_seconds_and_less_than_two_gibibytes() {
    const MILLION: usize = 1_000_000;
    for dims in 1..=4usize {
        let mut stream = Stream::new(6, &["million"], dims as u64);
        let root = (dims as f64).sqrt();
        let spread = uniform(&mut stream, MILLION * dims);
        let clumped = clumps(&mut stream, MILLION, dims, 1000, 0.01);
        let side = [MILLION, 1000, 100, 31][dims - 1];
        let lattice = full_lattice(side, dims);
        // Two joined halves whose points are all nearly in reach of each other.
        let shells = shells(&mut stream, MILLION, dims, 0.1001);
        // A distance at which a point of `spread` has one neighbour or so.
        let critical = 0.6 * (MILLION as f64).powf(-1.0 / dims as f64);
        for (name, points, cut, clusters) in [
            ("the usual cut", &spread, 0.2 * root, 1..=1),
            ("one cell", &spread, 2.0 * root, 1..=1),
            ("many cells", &spread, 0.02 * root, 1..=1000),
            ("some neighbours", &spread, critical, 1000..=MILLION - 1000),
            ("none near", &spread, 1e-9, MILLION - 2000..=MILLION),
            ("clumps", &clumped, 0.002 * root, 1..=1000),
            ("clumps taken apart", &clumped, 1e-10, MILLION / 2..=MILLION),
            ("a lattice of ties", &lattice, 0.125, side.pow(dims as u32)..=MILLION),
            ("two shells out of reach", &shells, 0.1, 2..=4),
            ("equal", &vec![0.25; MILLION * dims], 1e-3, 1..=1),
        ] {
            let start = Instant::now();
            let labels = labels(points, dims, cut, Grid);
            let taken = start.elapsed();
            let found = labels.iter().max().map_or(0, |last| *last as usize + 1);
            println!("{dims} dims, {name}: {found} clusters in {taken:?}");
            assert!(clusters.contains(&found), "{dims} dims, {name}: {found} clusters");
            assert!(taken < Duration::from_secs(20), "{dims} dims, {name}: {taken:?}");
        }
    }
    // The peak of this whole process, so an upper bound of what one call takes.
    let peak = peak_memory();
    println!("peak memory {} MiB", peak >> 20);
    assert!(peak < 2 << 30, "{peak} bytes");
}
