//! Numbers as bits: scalar types, ordinals, the logarithmic axis, the metric, hex floats, random streams.
//! Pure: nothing here touches a file, a process or the machine's math library.

mod axis;
mod class;
mod equality;
mod hex;
mod metric;
mod random;
mod scalar;

pub use axis::{AxisPoint, Side};
pub use class::Class;
pub use equality::{Equality, NanPolicy, Tolerance, ZeroPolicy};
pub use hex::{ParseNumberError, format_dec, format_hex, parse_number};
pub use metric::{bits_of_distance, distance, inconsistency};
pub use random::Stream;
pub use scalar::Scalar;
