//! The geometry of ranges: orthants, clusters, boxes, growing, merging. Pure: no evaluator, no
//! random numbers. Everything is in *ranks*, integer places of a parameter's domain on one side of
//! zero, so that it is exact and equal on every machine. Only a `Span` reaches over zero.

mod axis;
mod boxes;
mod cluster;
mod cluster_boxes;
mod cluster_linfa;
mod group;
mod grow;
mod ladder;
mod merge;
mod orthant;
mod reach;
mod scraps;
mod span;
mod statistics;
mod union_find;

pub use axis::Axis;
pub use boxes::Cuboid;
pub use cluster::{ClusterError, MAX_DIMS, single_linkage};
pub use group::group;
pub use grow::grow;
pub use ladder::Ladder;
pub use merge::{Range, extend, join_nearest, merge_overlapping};
pub use orthant::{Orthant, Sides};
pub use scraps::join_scraps;
pub use span::{Piece, Poles, Span, join_pieces};
pub use statistics::Statistics;
