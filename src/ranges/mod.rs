//! The geometry of ranges: orthants, boxes, growing, merging, grouping. Pure: no evaluator, no
//! random numbers. Everything is in *ranks*, integer places of a parameter's domain on one side of
//! zero, so that it is exact and equal on every machine.

mod axis;
mod boxes;
mod cluster;
mod group;
mod grow;
mod merge;
mod orthant;
mod statistics;

pub use axis::Axis;
pub use boxes::Cuboid;
pub use cluster::{ClusterError, single_linkage};
pub use group::group;
pub use grow::grow;
pub use merge::{Range, extend, merge_overlapping};
pub use orthant::{Orthant, Sides};
pub use statistics::Statistics;
