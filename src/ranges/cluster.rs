//! Single linkage, naive: every pair is compared.

use crate::model::ClusterBackend;

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("cannot cluster: a coordinate is not a finite number")]
    NotFinite,
}

/// Labels of the clusters after cutting the single linkage of `points` (each `dims` coordinates) at
/// `cut`: points nearer than it are linked. Labels are numbered by first appearance.
pub fn single_linkage(
    points: &[f64],
    dims: usize,
    cut: f64,
    _backend: ClusterBackend,
) -> Result<Vec<u32>, ClusterError> {
    if points.iter().any(|x| !x.is_finite()) {
        return Err(ClusterError::NotFinite);
    }
    let count = points.len() / dims;
    let mut labels = vec![u32::MAX; count];
    let mut next = 0;
    for first in 0..count {
        if labels[first] != u32::MAX {
            continue;
        }
        labels[first] = next;
        let mut open = vec![first];
        while let Some(a) = open.pop() {
            for b in 0..count {
                let near =
                    (0..dims).map(|d| (points[a * dims + d] - points[b * dims + d]).powi(2)).sum::<f64>()
                        < cut * cut;
                if labels[b] == u32::MAX && near {
                    labels[b] = next;
                    open.push(b);
                }
            }
        }
        next += 1;
    }
    Ok(labels)
}
