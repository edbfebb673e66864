//! Numbers in the tables of a bench.

use crate::bench::Spread;

/// `125 (121 to 126)`, or the one value.
pub(super) fn spread(spread: Spread, decimals: usize) -> String {
    let number = |x: f64| fixed(x, decimals);
    if spread.min == spread.max {
        return number(spread.median);
    }
    format!("{} ({} to {})", number(spread.median), number(spread.min), number(spread.max))
}

/// So many decimals; a count may be a half when the number of seeds is even.
pub(super) fn fixed(x: f64, decimals: usize) -> String {
    let halves = usize::from(decimals == 0 && x.fract() != 0.0);
    format!("{x:.prec$}", prec = decimals.max(halves))
}

/// `96.0%`.
pub(super) fn percent(part: usize, whole: usize) -> String {
    // Numbers of functions stay far below 2^53.
    if whole == 0 { "-".into() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// Three digits of a time or a rate, whatever its size.
pub(super) fn digits(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => format!("{x:.2e}"),
        size if size >= 100.0 => grouped(x),
        size => {
            let more = [10.0, 1.0, 0.1, 0.01, 0.001].iter().filter(|&&limit| size < limit).count();
            format!("{x:.prec$}", prec = 1 + more)
        }
    }
}

/// A whole number with its thousands apart.
pub(super) fn grouped(x: f64) -> String {
    // Below 2^53 and not negative: exact.
    crate::report::number::count(x.round().clamp(0.0, 9e15) as u64)
}

pub(super) fn probability(p: f64) -> String {
    match p {
        p if p < 1e-300 => "< 1e-300".into(),
        p if p < 0.001 => format!("{p:.2e}"),
        p => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<_> = [0.0, 0.00312, 0.5, 17.95, 1234.5, 16_800.4, 2.5e7, 3e-6].map(digits).to_vec();
        assert_eq!(shown, ["0", "0.00312", "0.500", "17.9", "1,235", "16,800", "2.50e7", "3.00e-6"]);
        assert_eq!(fixed(124.5, 0), "124.5");
        assert_eq!(fixed(124.0, 0), "124");
        assert_eq!(spread(Spread { median: 43.4, min: 41.91, max: 43.4 }, 1), "43.4 (41.9 to 43.4)");
        assert_eq!(probability(0.0390625), "0.039");
        assert_eq!(probability(0.0), "< 1e-300");
    }
}
