//! Where inputs come from: samplers of one parameter, even sequences, edge values and special values; the
//! survey made of them; and the units that evaluate inputs by the thousand.

mod anchors;
mod dense;
mod edge_values;
mod lattice;
mod ordinary;
mod sampler;
mod sampling;
mod specials;
mod survey;
mod wide;

pub use anchors::anchors;
pub use dense::run as run_dense;
pub use edge_values::edge_values;
pub use ordinary::{is_ordinary, ordinary_inputs};
pub use sampler::{ParamSampler, usual_magnitudes};
pub use sampling::{STREAM_BLOCK, run_inputs, run_strata};
pub use specials::specials;
pub use survey::{domain_size, free_params, per_dimension, survey};
pub use wide::run as run_wide;
