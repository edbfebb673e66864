//! Exact single-linkage clustering with a distance cut.
//!
//! Checks the input and numbers the clusters; which points are linked is decided in `reach`, and
//! found by a backend.

use crate::model::ClusterBackend;

use super::reach::Reach;
use super::{cluster_boxes, cluster_linfa};

/// The most coordinates a point may have.
pub const MAX_DIMS: usize = 64;

/// Why points cannot be clustered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClusterError {
    #[error("{values} coordinates do not divide into points of {dims}; pass a whole number of points")]
    Shape { values: usize, dims: usize },
    #[error("points have {dims} coordinates; at most {MAX_DIMS} can be clustered")]
    Dimensions { dims: usize },
    #[error("{points} points; at most {max} can be clustered", max = u32::MAX)]
    Count { points: usize },
    #[error("coordinate {axis} of point {point} is {value}; only finite coordinates can be clustered")]
    NotFinite { point: usize, axis: usize, value: f64 },
    #[error("the cut is not a number; pass the distance below which points belong together")]
    Cut,
}

/// The cluster of each point: chains of points whose neighbours are strictly less than `cut` apart
/// (Euclidean) form one cluster. Clusters are numbered from 0 in the order of their first points.
///
/// `points` holds `dims` coordinates per point, one point after the other, on any scale. A tie does
/// not link, so a cut of 0 or below leaves every point alone, equal points too; an infinite cut joins
/// all. All backends make the same comparison bit for bit and give the same answer.
pub fn single_linkage(
    points: &[f64],
    dims: usize,
    cut: f64,
    backend: ClusterBackend,
) -> Result<Vec<u32>, ClusterError> {
    let count = check(points, dims, cut)?;
    if cut <= 0.0 {
        return Ok((0..count).collect());
    }
    if cut == f64::INFINITY {
        return Ok(vec![0; count as usize]);
    }
    let members = match (backend, dims) {
        _ if points.is_empty() => Vec::new(),
        (ClusterBackend::Linfa, _) => cluster_linfa::members(points, dims, cut),
        (ClusterBackend::Grid, 1) => sorted_members(points, Reach::new(cut)),
        (ClusterBackend::Grid, _) => cluster_boxes::members(points, dims, Reach::new(cut)),
    };
    Ok(numbered(&members))
}

/// The number of points, if they can be clustered.
fn check(points: &[f64], dims: usize, cut: f64) -> Result<u32, ClusterError> {
    if cut.is_nan() {
        return Err(ClusterError::Cut);
    }
    if points.is_empty() {
        return Ok(0);
    }
    if dims == 0 || !points.len().is_multiple_of(dims) {
        return Err(ClusterError::Shape { values: points.len(), dims });
    }
    if dims > MAX_DIMS {
        return Err(ClusterError::Dimensions { dims });
    }
    if let Some(at) = points.iter().position(|value| !value.is_finite()) {
        return Err(ClusterError::NotFinite { point: at / dims, axis: at % dims, value: points[at] });
    }
    let count = points.len() / dims;
    u32::try_from(count).map_err(|_| ClusterError::Count { points: count })
}

/// For each point of a line, the index of one fixed member of its cluster.
fn sorted_members(points: &[f64], reach: Reach) -> Vec<u32> {
    let mut sorted: Vec<(f64, u32)> = points.iter().copied().zip(0..).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut members = vec![0; points.len()];
    let (mut previous, mut member) = sorted[0];
    for &(value, index) in &sorted {
        if !reach.links(&[previous], &[value]) {
            member = index;
        }
        members[index as usize] = member;
        previous = value;
    }
    members
}

/// Numbers clusters by first appearance. Each is known by the index of one of its points.
fn numbered(members: &[u32]) -> Vec<u32> {
    let mut labels = vec![u32::MAX; members.len()];
    let mut next = 0;
    members
        .iter()
        .map(|&member| {
            let label = &mut labels[member as usize];
            if *label == u32::MAX {
                *label = next;
                next += 1;
            }
            *label
        })
        .collect()
}
