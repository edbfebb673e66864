//! Numbers in the embedded data: as short as their exactness allows. The page makes the hexadecimal form
//! of a finite float from its decimal one.

use serde_json::{Value, json};

use crate::fp::{Scalar, format_hex, parse_number};
use crate::model::NumberText;

/// The scalar of a type as `run.json` spells it; an unknown one is shown like a double.
pub(super) fn scalar(ty: &str) -> Scalar {
    Scalar::ALL.into_iter().find(|s| s.c_name() == ty).unwrap_or(Scalar::F64)
}

/// A finite float as a JSON number, what has one spelling (an integer, an infinity, a fault) as a
/// string, anything else as hexadecimal and decimal text.
pub(super) fn number(scalar: Scalar, text: &NumberText) -> Value {
    if text.hex == text.dec {
        return json!(text.hex);
    }
    let same = parse_number(scalar, &text.dec).is_ok_and(|bits| format_hex(scalar, bits) == text.hex);
    match text.dec.parse::<f64>() {
        Ok(x) if same && x.is_finite() => json!(x),
        _ => json!([text.hex, text.dec]),
    }
}

/// Numbers with the type of each parameter.
pub(super) fn numbers(scalars: &[Scalar], texts: &[NumberText]) -> Vec<Value> {
    let of = |index: usize| scalars.get(index).copied().unwrap_or(Scalar::F64);
    texts.iter().enumerate().map(|(index, text)| number(of(index), text)).collect()
}

/// Bits of inconsistency to a hundredth: more is noise on a page.
pub(super) fn bits(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scalar: Scalar, bits: u64) -> String {
        number(scalar, &NumberText::new(scalar, bits)).to_string()
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
        let fault = NumberText { hex: "timeout".into(), dec: "timeout".into() };
        assert_eq!(number(Scalar::F64, &fault), json!("timeout"));
    }

    #[test]
    fn two_texts_that_do_not_belong_together_are_both_kept() {
        let odd = NumberText { hex: "0x1p+0".into(), dec: "2".into() };
        assert_eq!(number(Scalar::F64, &odd), json!(["0x1p+0", "2"]));
    }

    #[test]
    fn types_are_found_by_their_name() {
        assert_eq!(scalar("uint8_t"), Scalar::U8);
        assert_eq!(scalar("float"), Scalar::F32);
        assert_eq!(scalar("quad"), Scalar::F64);
    }
}
