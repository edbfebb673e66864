//! Single linkage: our own against linfa and kodama on few points, and our own alone up to a million.

use std::hint::black_box;
use std::time::Duration;

use bitrift::fp::Stream;
use bitrift::model::ClusterBackend;
use bitrift::ranges::single_linkage;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn uniform(count: usize, dims: usize) -> Vec<f64> {
    let mut stream = Stream::new(1, &["bench"], dims as u64);
    (0..count * dims).map(|_| stream.unit()).collect()
}

/// The default cut of a search: few cells, many points in each.
fn usual(dims: usize) -> f64 {
    0.2 * (dims as f64).sqrt()
}

fn kodama_linkage(points: &[f64], dims: usize) -> usize {
    let rows: Vec<&[f64]> = points.chunks(dims).collect();
    let mut condensed = Vec::with_capacity(rows.len() * rows.len().saturating_sub(1) / 2);
    for (at, row) in rows.iter().enumerate() {
        condensed.extend(
            rows[at + 1..]
                .iter()
                .map(|other| row.iter().zip(*other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()),
        );
    }
    kodama::linkage(&mut condensed, rows.len(), kodama::Method::Single).len()
}

fn few_points(criterion: &mut Criterion) {
    for dims in [1, 2, 4] {
        let mut group = criterion.benchmark_group(format!("usual cut, {dims} dims"));
        for count in [100, 1000, 3000] {
            let points = uniform(count, dims);
            for backend in [ClusterBackend::Grid, ClusterBackend::Linfa] {
                group.bench_function(BenchmarkId::new(format!("{backend:?}"), count), |bench| {
                    bench.iter(|| single_linkage(black_box(&points), dims, usual(dims), backend));
                });
            }
            group.bench_function(BenchmarkId::new("Kodama", count), |bench| {
                bench.iter(|| kodama_linkage(black_box(&points), dims));
            });
        }
    }
}

fn many_points(criterion: &mut Criterion) {
    for dims in 1..=4 {
        let mut group = criterion.benchmark_group(format!("grid, {dims} dims"));
        for count in [10_000, 100_000, 1_000_000] {
            let points = uniform(count, dims);
            // At the last, a point has about one neighbour: the most boxes meet without being joined.
            let critical = 0.6 * (count as f64).powf(-1.0 / dims as f64);
            for (name, cut) in [("usual", usual(dims)), ("sparse", 1e-9), ("critical", critical)] {
                group.bench_function(BenchmarkId::new(name, count), |bench| {
                    bench.iter(|| single_linkage(black_box(&points), dims, cut, ClusterBackend::Grid));
                });
            }
        }
    }
}

criterion_group! {
    name = clustering;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = few_points, many_points
}
criterion_main!(clustering);
