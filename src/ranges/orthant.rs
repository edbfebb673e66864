//! An orthant: one side of zero for every parameter. Ranges live in one orthant each, because
//! values on both sides of zero share no logarithmic scale (CIGEN, section 3.2).

use super::{Axis, Cuboid};
use crate::fp::Side;
use crate::model::Function;

/// The sides of all parameters: an orthant's name.
pub type Sides = Vec<Side>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orthant {
    pub axes: Vec<Axis>,
}

impl Orthant {
    /// None when a parameter's domain has no values on its side.
    pub fn new(function: &Function, sides: &[Side]) -> Option<Orthant> {
        let axes: Option<Vec<Axis>> = function
            .coordinates
            .iter()
            .zip(sides)
            .map(|(p, &side)| Axis::new(p.ty, &p.domain, side))
            .collect();
        Some(Orthant { axes: axes? })
    }

    /// The orthant an input lies in.
    pub fn sides_of(function: &Function, input: &[u64]) -> Sides {
        let side = |negative| if negative { Side::Negative } else { Side::Positive };
        function.coordinates.iter().zip(input).map(|(p, &bits)| side(p.ty.is_negative(bits))).collect()
    }

    pub fn dims(&self) -> usize {
        self.axes.len()
    }

    /// The ranks of an input; None when it lies outside the orthant or the domain.
    pub fn point(&self, input: &[u64]) -> Option<Vec<u64>> {
        self.axes.iter().zip(input).map(|(axis, &bits)| axis.rank_of(bits)).collect()
    }

    /// The values at a point.
    pub fn input(&self, point: &[u64]) -> Vec<u64> {
        self.axes.iter().zip(point).map(|(axis, &rank)| axis.value(rank)).collect()
    }

    /// Every place of the orthant.
    pub fn whole(&self) -> Cuboid {
        Cuboid { lo: vec![0; self.dims()], hi: self.axes.iter().map(Axis::last).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{Callee, Coordinate, Domain};

    #[test]
    fn an_input_has_a_point_in_its_own_orthant_only() {
        let param = |name: &str, ty| Coordinate {
            name: name.into(),
            ty,
            domain: Domain::all(ty),
            domain_text: String::new(),
        };
        let function = Function::of_scalars(
            "f",
            vec![param("x", Scalar::F64), param("k", Scalar::I32)],
            Scalar::F64,
            Callee::Call("x".into()),
        );
        let input = [(-2.5f64).to_bits(), 7];
        let sides = Orthant::sides_of(&function, &input);
        assert_eq!(sides, [Side::Negative, Side::Positive]);
        let orthant = Orthant::new(&function, &sides).unwrap();
        let point = orthant.point(&input).unwrap();
        assert_eq!(orthant.input(&point), input);
        assert!(orthant.whole().contains(&point));
        assert_eq!(orthant.point(&[2.5f64.to_bits(), 7]), None);
    }
}
