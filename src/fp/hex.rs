//! Numbers as text: exact hexadecimal floats, shortest decimals, and reading both back.

use super::{Class, Scalar};

/// Why a text is not a value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseNumberError {
    #[error(
        "`{text}` is not a number; expected a decimal such as 1.5e-3, a hex float such as 0x1.8p-3, inf, -inf or nan"
    )]
    NotANumber { text: String },
    #[error("`{text}` is not an integer; expected digits such as 42, -7, 0x1f or 1e3")]
    NotAnInteger { text: String },
    #[error("{text} does not fit {ty} ({min} to {max})")]
    OutOfRange { text: String, ty: &'static str, min: i128, max: i128 },
}

/// The exact text of a value: `0x1.8p+1` for floats, plain decimal for integers, `nan:0x…` with the bits.
pub fn format_hex(scalar: Scalar, bits: u64) -> String {
    if !scalar.is_float() {
        return format_dec(scalar, bits);
    }
    let sign = if scalar.is_negative(bits) { "-" } else { "" };
    let mantissa = scalar.mantissa_bits();
    let magnitude = bits & !scalar.sign_bit();
    match Class::of(scalar, bits) {
        Class::Zero => format!("{sign}0x0p+0"),
        Class::Infinity => format!("{sign}inf"),
        Class::Nan => format!("nan:0x{bits:0width$x}", width = scalar.width() as usize / 4),
        Class::Finite => {
            let field = magnitude >> mantissa;
            let fraction = magnitude & ((1 << mantissa) - 1);
            let bias = (1i64 << (scalar.width() - mantissa - 2)) - 1;
            let (lead, exponent) = match field {
                0 => (0, 1 - bias),
                // An exponent field has at most 11 bits.
                field => (1, field as i64 - bias),
            };
            // A mantissa of 23 bits ends in the middle of a hex digit: shift it to a whole one.
            let digits = mantissa.div_ceil(4);
            let aligned = fraction << (digits * 4 - mantissa);
            let text = format!("{aligned:0width$x}", width = digits as usize);
            let text = text.trim_end_matches('0');
            let dot = if text.is_empty() { "" } else { "." };
            format!("{sign}0x{lead}{dot}{text}p{exponent:+}")
        }
    }
}

/// The shortest decimal that reads back as the same value.
pub fn format_dec(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::F64 => shortest(f64::from_bits(bits), format!("{:?}", f64::from_bits(bits))),
        // A float lives in the low 32 bits.
        Scalar::F32 => {
            let x = f32::from_bits(bits as u32);
            shortest(f64::from(x), format!("{x:?}"))
        }
        _ if scalar.is_signed() => bits.cast_signed().to_string(),
        _ => bits.to_string(),
    }
}

fn shortest(x: f64, debug: String) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    debug.strip_suffix(".0").map(str::to_owned).unwrap_or(debug)
}

/// Reads a value of a type: decimal (correctly rounded), hex float (must be exact or is rounded to
/// nearest), `inf`, `nan`, or `nan:0x…`.
pub fn parse_number(scalar: Scalar, text: &str) -> Result<u64, ParseNumberError> {
    let text = text.trim();
    let wrong = || ParseNumberError::NotANumber { text: text.into() };
    if !scalar.is_float() {
        return parse_integer(scalar, text);
    }
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = body.to_ascii_lowercase();
    if let Some(payload) = lower.strip_prefix("nan:0x") {
        let bits = u64::from_str_radix(payload, 16).map_err(|_| wrong())?;
        let fits = scalar.width() == 64 || bits >> scalar.width() == 0;
        return (fits && scalar.is_nan(bits)).then_some(bits).ok_or_else(wrong);
    }
    let sign = if negative { scalar.sign_bit() } else { 0 };
    if let Some(digits) = lower.strip_prefix("0x") {
        return parse_hex_float(scalar, digits).map(|bits| bits | sign).ok_or_else(wrong);
    }
    let plain = lower.bytes().all(|b| b.is_ascii_digit() || b"+-.e".contains(&b))
        && lower.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !plain && lower != "inf" && lower != "infinity" && lower != "nan" {
        return Err(wrong());
    }
    // Rust's parser rounds to nearest even, for f32 without a detour through f64.
    let bits = match scalar {
        Scalar::F32 => u64::from(lower.parse::<f32>().map_err(|_| wrong())?.to_bits()),
        _ => lower.parse::<f64>().map_err(|_| wrong())?.to_bits(),
    };
    Ok(bits | sign)
}

fn parse_integer(scalar: Scalar, text: &str) -> Result<u64, ParseNumberError> {
    let wrong = || ParseNumberError::NotAnInteger { text: text.into() };
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match body.strip_prefix("0x") {
        _ if body.trim_start_matches("0x").starts_with(['-', '+']) => return Err(wrong()),
        Some(hex) => i128::from_str_radix(hex, 16),
        None => body.parse::<i128>(),
    };
    let value = match magnitude {
        Ok(m) if negative => -m,
        Ok(m) => m,
        // 1e3 is a fair way to write an integer.
        Err(_) => match text.parse::<f64>() {
            // Exact: the fraction is 0 and the magnitude far below i128's.
            Ok(x) if x.fract() == 0.0 && x.abs() < 1e30 => x as i128,
            _ => return Err(wrong()),
        },
    };
    let (min, max) = scalar.integer_limits().ok_or_else(wrong)?;
    scalar.from_ordinal(value).ok_or_else(|| ParseNumberError::OutOfRange {
        text: text.into(),
        ty: scalar.c_name(),
        min,
        max,
    })
}

/// `1.8p+1` (after the 0x): the bits of the nearest value, ties to even.
fn parse_hex_float(scalar: Scalar, text: &str) -> Option<u64> {
    let (digits, exponent) = match text.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value: u128 = 0;
    let mut scale = exponent.clamp(-100_000, 100_000);
    let mut sticky = false;
    for (index, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u128::from(c.to_digit(16)?);
        let after_point = index >= whole.len();
        if value >> 120 == 0 {
            value = value << 4 | digit;
            scale -= if after_point { 4 } else { 0 };
        } else {
            // Past 120 bits a digit can only break a tie.
            sticky |= digit != 0;
            scale += if after_point { 0 } else { 4 };
        }
    }
    Some(round_to_float(scalar, value, scale, sticky))
}

/// value * 2^scale (with something below it when `sticky`) to the nearest float, ties to even.
fn round_to_float(scalar: Scalar, value: u128, scale: i64, sticky: bool) -> u64 {
    if value == 0 {
        return 0;
    }
    let mantissa = i64::from(scalar.mantissa_bits());
    let bias = (1i64 << (scalar.width() - scalar.mantissa_bits() - 2)) - 1;
    let top = i64::from(value.ilog2()) + scale;
    // The weight of the result's last bit: fixed among subnormals.
    let last = (top - mantissa).max(1 - bias - mantissa);
    let shift = last - scale;
    let rounded = if shift <= 0 {
        value << -shift
    } else if shift > 127 {
        0
    } else {
        let kept = value >> shift;
        let rest = value & ((1 << shift) - 1);
        let half = 1u128 << (shift - 1);
        let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
        kept + u128::from(up)
    };
    // Without its hidden bit, plus the exponent: a carry out of the mantissa lands right.
    let field = last + mantissa + bias;
    let infinity = scalar.infinity_bits().unwrap_or(0);
    if field > (1 << (scalar.width() - scalar.mantissa_bits() - 1)) {
        return infinity;
    }
    let hidden = 1u128 << mantissa;
    let bits = if rounded < hidden { rounded } else { rounded - hidden + ((field as u128) << mantissa) };
    u64::try_from(bits).unwrap_or(infinity).min(infinity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn doubles_survive_hex_and_decimal(bits: u64) {
            let hex = format_hex(Scalar::F64, bits);
            prop_assert_eq!(parse_number(Scalar::F64, &hex), Ok(bits));
            if !f64::from_bits(bits).is_nan() {
                let dec = format_dec(Scalar::F64, bits);
                prop_assert_eq!(parse_number(Scalar::F64, &dec), Ok(bits));
            }
        }

        #[test]
        fn floats_survive_hex_and_decimal(bits: u32) {
            let hex = format_hex(Scalar::F32, bits.into());
            prop_assert_eq!(parse_number(Scalar::F32, &hex), Ok(bits.into()));
            if !f32::from_bits(bits).is_nan() {
                let dec = format_dec(Scalar::F32, bits.into());
                prop_assert_eq!(parse_number(Scalar::F32, &dec), Ok(bits.into()));
            }
        }

        #[test]
        fn a_long_hex_float_rounds_like_a_conversion(x: f64) {
            prop_assume!(!x.is_nan());
            let hex = format_hex(Scalar::F64, x.to_bits());
            // `as f32` rounds to nearest, ties to even.
            prop_assert_eq!(parse_number(Scalar::F32, &hex), Ok(u64::from((x as f32).to_bits())));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,24}") {
            for scalar in Scalar::ALL {
                let _ = parse_number(scalar, &text);
            }
        }
    }

    #[test]
    fn texts_are_the_ones_a_c_programmer_expects() {
        assert_eq!(format_hex(Scalar::F64, 3.0f64.to_bits()), "0x1.8p+1");
        assert_eq!(format_hex(Scalar::F64, (-1.0f64).to_bits()), "-0x1p+0");
        assert_eq!(format_hex(Scalar::F64, 5e-324f64.to_bits()), "0x0.0000000000001p-1022");
        assert_eq!(format_hex(Scalar::F32, u64::from(0.1f32.to_bits())), "0x1.99999ap-4");
        assert_eq!(format_hex(Scalar::F64, f64::NAN.to_bits()), "nan:0x7ff8000000000000");
        assert_eq!(format_dec(Scalar::F64, 3.0f64.to_bits()), "3");
        assert_eq!(format_dec(Scalar::F64, 1e300f64.to_bits()), "1e300");
        assert_eq!(format_dec(Scalar::I32, (-7i64).cast_unsigned()), "-7");
    }

    #[test]
    fn wrong_numbers_are_refused_with_a_reason() {
        assert!(parse_number(Scalar::F64, "1..5").is_err());
        assert!(parse_number(Scalar::F64, "").is_err());
        for twice in ["+-5", "--5", "-+5", "0x-5"] {
            assert!(parse_number(Scalar::F64, twice).is_err(), "{twice}");
            assert!(parse_number(Scalar::I32, twice).is_err(), "{twice}");
        }
        assert!(parse_number(Scalar::F64, "0x").is_err());
        let error = parse_number(Scalar::I8, "200").unwrap_err();
        assert_eq!(error.to_string(), "200 does not fit int8_t (-128 to 127)");
        assert_eq!(parse_number(Scalar::I32, "1e3"), Ok(1000));
        assert_eq!(parse_number(Scalar::U64, "0xff"), Ok(255));
    }
}
