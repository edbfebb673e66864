//! Grouping inconsistent points of one orthant by single linkage on normalised ranks.

use super::{ClusterError, Cuboid, single_linkage};
use crate::model::ClusterBackend;

/// The members of each cluster, as indices of `points`, in the order of their first members.
///
/// Ranks are normalised to 0..1 over `span`, the box of all samples of the orthant; `threshold` is
/// multiplied by the square root of the number of dimensions in which the span is open.
pub fn group(
    points: &[Vec<u64>],
    span: &Cuboid,
    threshold: f64,
    backend: ClusterBackend,
) -> Result<Vec<Vec<usize>>, ClusterError> {
    let dims = span.open_dims();
    if points.is_empty() {
        return Ok(Vec::new());
    }
    if dims.is_empty() {
        return Ok(vec![(0..points.len()).collect()]);
    }
    let mut flat = Vec::with_capacity(points.len() * dims.len());
    for point in points {
        for &d in &dims {
            let width = span.hi[d] - span.lo[d];
            // Rounding to 53 bits is far below any threshold; the division is exact in IEEE terms.
            flat.push((point[d].saturating_sub(span.lo[d])) as f64 / width as f64);
        }
    }
    // sqrt is correctly rounded on every machine.
    let labels = single_linkage(&flat, dims.len(), threshold * (dims.len() as f64).sqrt(), backend)?;
    let count = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut clusters = vec![Vec::new(); count];
    for (index, &label) in labels.iter().enumerate() {
        clusters[label as usize].push(index);
    }
    Ok(clusters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_farther_apart_than_the_threshold_of_the_span_are_two_groups() {
        let points: Vec<Vec<u64>> = [100, 250, 700, 800].iter().map(|&x| vec![x, 7]).collect();
        let span = Cuboid { lo: vec![0, 7], hi: vec![1000, 7] };
        let groups = group(&points, &span, 0.2, ClusterBackend::Grid).unwrap();
        assert_eq!(groups, [vec![0, 1], vec![2, 3]]);
        let fixed = Cuboid { lo: vec![5], hi: vec![5] };
        assert_eq!(group(&[vec![5], vec![5]], &fixed, 0.2, ClusterBackend::Grid).unwrap(), [vec![0, 1]]);
    }
}
