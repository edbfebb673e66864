//! Geometry of inconsistent inputs: clusters, boxes, statistics. Pure: nothing here evaluates code.

mod cluster;
mod cluster_boxes;
mod cluster_linfa;
mod reach;
mod union_find;

pub use cluster::{ClusterError, MAX_DIMS, single_linkage};
