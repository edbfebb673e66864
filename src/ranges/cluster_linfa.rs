//! Single linkage by DBSCAN of linfa-clustering: with two points to a neighbourhood every linked
//! point is a core point, and noise is a cluster of one. Quadratic on dense data.

use linfa::ParamGuard;
use linfa::traits::Transformer;
use linfa_clustering::Dbscan;
use linfa_nn::KdTree;
use linfa_nn::distance::Distance;
use ndarray::{ArrayView, ArrayView2, Dimension};

use super::reach::Reach;

/// For each point, the index of one fixed member of its cluster. Points are finite, `cut` positive.
pub(super) fn members(points: &[f64], dims: usize, cut: f64) -> Vec<u32> {
    // The tree halves max - min and never ends when that overflows.
    if points.iter().any(|value| value.abs() > f64::MAX / 2.0) {
        let halved: Vec<f64> = points.iter().map(|value| value / 2.0).collect();
        return members(&halved, dims, (cut / 2.0).max(f64::from_bits(1)));
    }
    let rows = points.len() / dims;
    let view = ArrayView2::from_shape((rows, dims), points).expect("a whole number of points");
    let found = Dbscan::params_with(2, Strict(Reach::new(cut)), KdTree::new())
        .tolerance(cut)
        .check()
        .expect("two points and a positive tolerance")
        .transform(&view);

    let mut first = Vec::new();
    let mut members = Vec::with_capacity(rows);
    for (index, cluster) in (0..).zip(&found) {
        members.push(match *cluster {
            // Clusters are numbered in the order of their first points.
            Some(cluster) if cluster == first.len() => {
                first.push(index);
                index
            }
            Some(cluster) => first[cluster],
            None => index,
        });
    }
    members
}

/// The squared distance of `Reach`. DBSCAN's tolerance is inclusive; the largest square below the
/// cut's makes it strict.
#[derive(Clone, Debug)]
struct Strict(Reach);

impl Distance<f64> for Strict {
    fn distance<D: Dimension>(&self, a: ArrayView<f64, D>, b: ArrayView<f64, D>) -> f64 {
        self.rdistance(a, b).sqrt()
    }

    fn rdistance<D: Dimension>(&self, a: ArrayView<f64, D>, b: ArrayView<f64, D>) -> f64 {
        self.0.sum(a.iter().zip(&b).map(|(a, b)| a - b))
    }

    /// Only ever asked for the tolerance.
    fn dist_to_rdist(&self, _tolerance: f64) -> f64 {
        self.0.largest_linking()
    }
}
