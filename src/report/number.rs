//! Numbers as a table shows them: short where a reader compares sizes, exact where a reader copies.

use crate::model::{Answer, Number, WitnessRow, printable};

/// About four digits of a bound. The exact one is in `run.json`.
pub(super) fn short(number: &Number) -> String {
    let text = number.dec();
    let Ok(x) = text.parse::<f64>() else { return text };
    let size = x.abs();
    // 1000000 is easier to read as 1e6, 1234567 as it is.
    let round = size >= 1e6 && x % 1e6 == 0.0;
    if (text.len() <= 7 && !round) || !x.is_finite() {
        return text;
    }
    if (1e-3..1e6).contains(&size) {
        // Four significant digits, fewer decimals for larger numbers.
        let decimals = [10.0, 100.0, 1000.0].iter().filter(|&&limit| size < limit).count();
        let more = [1.0, 0.1, 0.01].iter().filter(|&&limit| size < limit).count();
        return format!("{x:.prec$}", prec = decimals + more);
    }
    let text = format!("{x:.3e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.')),
        None => text,
    }
}

/// `[lo, hi]` in short form, or the single value.
pub(super) fn interval(lo: &Number, hi: &Number) -> String {
    if lo == hi {
        return exact(lo);
    }
    format!("[{}, {}]", short(lo), short(hi))
}

/// `0x1.8p+1 = 3`; one text where both say the same.
pub(super) fn exact(number: &Number) -> String {
    exact_answer(&Answer::Value(*number))
}

/// The same of what a build answered: a fault has one text.
pub(super) fn exact_answer(answer: &Answer) -> String {
    let (hex, dec) = (answer.hex(), answer.dec());
    if hex == dec { hex } else { format!("{hex} = {dec}") }
}

/// `12,345,678`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 range`, `2 ranges`.
pub(super) fn plural(n: usize, noun: &str) -> String {
    let count = count(n as u64);
    if n == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

/// The share of inconsistent samples; never rounded to "none" or "all".
pub(super) fn share(inconsistent: u64, samples: u64) -> String {
    if samples == 0 {
        return "-".into();
    }
    // Counts of samples stay far below 2^53.
    let percent = 100.0 * inconsistent as f64 / samples as f64;
    match percent {
        p if inconsistent > 0 && p < 0.1 => "<0.1%".into(),
        p if inconsistent < samples && p > 99.9 => ">99.9%".into(),
        // The witness is inconsistent, so the share is small and not nothing.
        _ if inconsistent == 0 => "~0%".into(),
        p if inconsistent == samples => format!("{p:.0}%"),
        p => format!("{p:.1}%"),
    }
}

/// The name of the value that a witness is about, with a colon; nothing where a function gives one value.
pub fn worst(witness: &WitnessRow) -> String {
    witness.worst.as_ref().map(|name| format!("{}: ", printable(name))).unwrap_or_default()
}

/// The values of a witness beside the worst, one text each; none where a function gives one value.
pub fn others(witness: &WitnessRow) -> Vec<String> {
    let others = witness.results.iter().filter(|row| Some(&row.name) != witness.worst.as_ref());
    others
        .map(|row| format!("{}: {} -> {}", printable(&row.name), row.baseline.dec(), row.variant.dec()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;

    fn of(x: f64) -> Number {
        Number::new(Scalar::F64, x.to_bits())
    }

    #[test]
    fn bounds_have_about_four_digits() {
        let texts =
            [-1e6 - 1e-5, 0.1, 3.24159265358979, 12345.678, 0.012345678, -8.43210987e26, 5e-324, 1.0 / 3e9];
        let shown: Vec<_> = texts.map(|x| short(&of(x))).into();
        assert_eq!(short(&of(1e6)), "1e6");
        assert_eq!(short(&of(1234567.0)), "1234567");
        assert_eq!(shown, ["-1e6", "0.1", "3.242", "12346", "0.01235", "-8.432e26", "5e-324", "3.333e-10"]);
        assert_eq!(short(&of(f64::NEG_INFINITY)), "-inf");
    }

    #[test]
    fn a_share_is_never_rounded_to_none_or_all() {
        assert_eq!(share(1, 100_000), "<0.1%");
        assert_eq!(share(99_999, 100_000), ">99.9%");
        assert_eq!(share(512, 512), "100%");
        assert_eq!(share(0, 1024), "~0%");
        assert_eq!(share(0, 0), "-");
        assert_eq!(share(1, 3), "33.3%");
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(plural(1, "range"), "1 range");
        assert_eq!(plural(0, "range"), "0 ranges");
    }
}
