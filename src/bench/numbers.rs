//! Medians, means and ratios of small lists.

/// The middle of a list, with its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of nothing it is 0.
    pub fn of(values: &[f64]) -> Spread {
        let least = values.iter().copied().min_by(f64::total_cmp);
        let most = values.iter().copied().max_by(f64::total_cmp);
        Spread { median: median(values), min: least.unwrap_or(0.0), max: most.unwrap_or(0.0) }
    }
}

/// The middle value, or the mean of the two in the middle; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    // Lengths stay far below 2^53.
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// CIGEN's stability ratio (section 4.2): the standard deviation of the maxima of repeated searches
/// over their mean. The deviation is that of the searches made (divided by their number). A function
/// on which every search finds nothing is steady: 0.
pub fn stability_ratio(maxima: &[f64]) -> f64 {
    let mean_bits = mean(maxima);
    if mean_bits == 0.0 {
        return 0.0;
    }
    let squares: Vec<f64> = maxima.iter().map(|x| (x - mean_bits) * (x - mean_bits)).collect();
    mean(&squares).sqrt() / mean_bits
}

/// Of positive values; None when there are none.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().filter(|x| **x > 0.0).map(|x| libm::log(*x)).collect();
    (!logs.is_empty()).then(|| libm::exp(mean(&logs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_or_between_the_two_in_the_middle() {
        assert_eq!(median(&[5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(Spread::of(&[5.0, 1.0, 3.0]), Spread { median: 3.0, min: 1.0, max: 5.0 });
    }

    #[test]
    fn the_stability_ratio_is_deviation_over_mean() {
        // Mean 5, deviations 3, 1, 1, 1, 0, 0, 2, 4: squares add up to 32, so the deviation is 2.
        let ratio = stability_ratio(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(ratio, 0.4);
        assert_eq!(stability_ratio(&[52.0; 5]), 0.0);
        assert_eq!(stability_ratio(&[0.0, 0.0]), 0.0);
        // Found in one of four: mean 15, deviation sqrt((45^2 + 3 * 15^2) / 4) = 15 sqrt 3.
        assert!((stability_ratio(&[60.0, 0.0, 0.0, 0.0]) - 3f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn ratios_are_averaged_as_ratios() {
        assert!((geometric_mean(&[1000.0, 10.0]).unwrap() - 100.0).abs() < 1e-10);
        assert_eq!(geometric_mean(&[0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
