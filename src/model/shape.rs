//! What a function takes and gives: as stored rows have it, as messages print it, and whether what was stored of it
//! still speaks of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::number::c_name;
use super::{Function, ResultValue, Results};
use crate::fp::Scalar;

/// A coordinate or a value of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamRow {
    pub name: String,
    #[serde(rename = "type", with = "c_name")]
    pub ty: Scalar,
}

/// Coordinates and values, with names and types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    coordinates: Vec<ParamRow>,
    results: Results,
}

impl Shape {
    pub fn new(coordinates: &[ParamRow], results: Results) -> Shape {
        Shape { coordinates: coordinates.to_vec(), results }
    }

    pub fn of(function: &Function) -> Shape {
        let row = |c: &super::Coordinate| ParamRow { name: c.name.clone(), ty: c.ty };
        Shape {
            coordinates: function.coordinates.iter().map(row).collect(),
            results: function.results.clone(),
        }
    }

    /// Whether inputs and results stored of this shape are inputs and results of another: the same types, and no name
    /// at another place. A new name at an old place is a renaming, which changes nothing.
    pub fn fits(&self, now: &Shape) -> bool {
        let types = |shape: &Shape| -> Vec<Scalar> { shape.coordinates.iter().map(|c| c.ty).collect() };
        types(self) == types(now)
            && self.results.scalars() == now.results.scalars()
            && !is_reordered(&self.coordinate_names(), &now.coordinate_names())
            && !is_reordered(&self.result_names(), &now.result_names())
    }

    fn coordinate_names(&self) -> Vec<&str> {
        self.coordinates.iter().map(|c| c.name.as_str()).collect()
    }

    fn result_names(&self) -> Vec<&str> {
        self.results.values().iter().map(|value| value.name.as_str()).collect()
    }
}

/// `double (double x, int32_t n)`; of a function that gives several values `(float x, float y) (float angle)`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |ty: Scalar, name: &str| format!("{} {name}", ty.c_name());
        let coordinates: Vec<String> = self.coordinates.iter().map(|c| named(c.ty, &c.name)).collect();
        let values = self.results.values();
        match self.results.is_wide() {
            false => f.write_str(self.results.ty(0).c_name())?,
            true => {
                let values: Vec<String> = values.iter().map(|value| named(value.ty, &value.name)).collect();
                write!(f, "({})", values.join(", "))?;
            }
        }
        write!(f, " ({})", coordinates.join(", "))
    }
}

/// Whether a name stands at another place than it did.
fn is_reordered(then: &[&str], now: &[&str]) -> bool {
    then.iter().enumerate().any(|(k, name)| now.get(k) != Some(name) && now.contains(name))
}

/// What a row says of the values its function gives: a list where there are several, else a type.
pub(super) fn results_of(result: Scalar, rows: &[ParamRow]) -> Results {
    let value = |row: &ParamRow| ResultValue { name: row.name.clone(), ty: row.ty };
    Results::new(rows.iter().map(value).collect()).unwrap_or_else(|| Results::one(result))
}

/// The list of a function's row, which is empty for one value.
pub fn result_rows(results: &Results) -> Vec<ParamRow> {
    let row = |value: &ResultValue| ParamRow { name: value.name.clone(), ty: value.ty };
    if results.is_wide() { results.values().iter().map(row).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(coordinates: &[(&str, Scalar)], results: &[&str]) -> Shape {
        let row = |&(name, ty): &(&str, Scalar)| ParamRow { name: name.into(), ty };
        let value = |name: &&str| ResultValue { name: (*name).into(), ty: Scalar::F64 };
        let coordinates: Vec<ParamRow> = coordinates.iter().map(row).collect();
        Shape::new(&coordinates, Results::new(results.iter().map(value).collect()).unwrap())
    }

    #[test]
    fn a_renamed_coordinate_fits_and_an_exchanged_one_does_not() {
        let (x, y, n) = (("x", Scalar::F64), ("y", Scalar::F64), ("n", Scalar::I32));
        let then = shape(&[x, y], &["re", "im"]);
        assert!(then.fits(&shape(&[("u", Scalar::F64), y], &["re", "im"])));
        assert!(!then.fits(&shape(&[y, x], &["re", "im"])));
        assert!(!then.fits(&shape(&[x, y], &["im", "re"])));
        assert!(!then.fits(&shape(&[x, n], &["re", "im"])));
        assert_eq!(shape(&[x, n], &["return"]).to_string(), "double (double x, int32_t n)");
        assert_eq!(then.to_string(), "(double re, double im) (double x, double y)");
    }
}
