//! Numbers in the embedded data: as short as their exactness allows. The page makes the hexadecimal form
//! of a finite float from its decimal one.

use serde_json::{Value, json};

use crate::model::{Answer, Number};

/// A finite float as a JSON number, what has one spelling (an integer, an infinity, a fault) as a
/// string, a NaN as hexadecimal and decimal text.
pub(super) fn answer(answer: Answer) -> Value {
    let (hex, dec) = (answer.hex(), answer.dec());
    match dec.parse::<f64>() {
        _ if hex == dec => json!(hex),
        // The digits are those of the shortest decimal, for a float too.
        Ok(x) if x.is_finite() => json!(x),
        _ => json!([hex, dec]),
    }
}

pub(super) fn numbers(numbers: &[Number]) -> Vec<Value> {
    numbers.iter().map(|&number| answer(Answer::Value(number))).collect()
}

/// Bits of inconsistency to a hundredth: more is noise on a page.
pub(super) fn bits(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::FaultKind;

    fn of(scalar: Scalar, bits: u64) -> String {
        answer(Answer::Value(Number::new(scalar, bits))).to_string()
    }

    #[test]
    fn every_number_keeps_its_exact_value() {
        let double = |x: f64| of(Scalar::F64, x.to_bits());
        assert_eq!(double(0.1), "0.1");
        assert_eq!(double(-0.0), "-0.0");
        assert_eq!(double(5e-324), "5e-324");
        assert_eq!(double(f64::NEG_INFINITY), r#""-inf""#);
        assert_eq!(of(Scalar::F64, 0x7ff8_0000_0000_0001), r#"["nan:0x7ff8000000000001","nan"]"#);
        assert_eq!(of(Scalar::F32, u64::from(0.1f32.to_bits())), "0.1");
        assert_eq!(of(Scalar::I64, i64::MIN.cast_unsigned()), r#""-9223372036854775808""#);
        assert_eq!(answer(Answer::Fault(FaultKind::Timeout)), json!("timeout"));
    }
}
