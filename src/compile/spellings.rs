//! The ways to spell the type of a function that are called alike: the sign of an integer, `long` or `long long`, and
//! `const` behind a pointer change nothing of how a call is made.

use crate::fp::Scalar;
use crate::model::{Interface, Parameter, Passing};

/// More spellings than this are not tried one by one.
const MOST: usize = 256;

/// Every spelling of a function's type, such as `double (long, const double *)`.
pub fn function_types(interface: &Interface) -> Vec<String> {
    let returns = match interface.returns_scalar() {
        Some(slot) => scalar_spellings(&slot.c_type, slot.ty),
        None => vec![interface.returns.clone()],
    };
    let mut parts = vec![returns];
    parts.extend(interface.parameters.iter().map(parameter_spellings));
    let count = parts.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
    let lists = match count.filter(|count| *count <= MOST) {
        Some(_) => product(&parts),
        // All parts by their first spelling, by their second, and so on.
        None => {
            (0..4).map(|n| parts.iter().map(|part| part[n.min(part.len() - 1)].as_str()).collect()).collect()
        }
    };
    lists.into_iter().map(|list| format!("{} ({})", list[0], list[1..].join(", "))).collect()
}

fn product(parts: &[Vec<String>]) -> Vec<Vec<&str>> {
    let mut lists: Vec<Vec<&str>> = vec![Vec::new()];
    for part in parts {
        let longer = lists
            .iter()
            .flat_map(|list| part.iter().map(|word| list.iter().copied().chain([word.as_str()]).collect()));
        lists = longer.collect();
    }
    lists
}

fn parameter_spellings(Parameter { c_type, passing, slots, name }: &Parameter) -> Vec<String> {
    match (passing, slots.as_slice()) {
        (Passing::Value, [slot]) if slot.place == *name => scalar_spellings(c_type, slot.ty),
        (Passing::Value, _) => vec![c_type.clone()],
        (Passing::Array(_) | Passing::Pointer, _) => vec![format!("{c_type} *"), format!("const {c_type} *")],
    }
}

fn scalar_spellings(c_type: &str, ty: Scalar) -> Vec<String> {
    let others: &[&str] = match (ty.is_float(), ty.width()) {
        (true, _) => &[],
        (false, 8) => &["char", "signed char", "unsigned char", "_Bool"],
        (false, 16) => &["short", "unsigned short"],
        (false, 32) => &["int", "unsigned int"],
        _ => &["long", "unsigned long", "long long", "unsigned long long"],
    };
    if others.is_empty() { vec![c_type.into()] } else { others.iter().map(|o| (*o).to_string()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_in_every_spelling_and_floats_in_one() {
        let interface = Interface::of_scalars(
            &[("double", "x", Scalar::F64), ("int", "n", Scalar::I32)],
            ("double", Scalar::F64),
        );
        assert_eq!(function_types(&interface), ["double (double, int)", "double (double, unsigned int)"]);
    }

    #[test]
    fn very_many_integers_are_spelled_alike() {
        let parameters = [("long", "n", Scalar::I64); 9];
        let types = function_types(&Interface::of_scalars(&parameters, ("double", Scalar::F64)));
        assert_eq!(types.len(), 4);
        assert!(types[2].starts_with("double (long long, long long"), "{}", types[2]);
    }
}
