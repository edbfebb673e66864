//! The two-sided sign test, exact: binomials as whole numbers of any size.

/// How likely at least so uneven a split of wins and losses is when either is as likely as the
/// other; ties are left out. 1 when there is nothing to compare.
pub fn sign_test(wins: u64, losses: u64) -> f64 {
    let (n, k) = (wins + losses, wins.min(losses));
    // 2 (C(n,0) + ... + C(n,k)) / 2^n; at an even split the two tails overlap.
    if 2 * k >= n {
        return 1.0;
    }
    let mut term = Whole(vec![1]);
    let mut tail = Whole(vec![1]);
    for i in 1..=k {
        term.multiply(n - i + 1);
        term.divide(i);
        tail.add(&term);
    }
    tail.over_power_of_two(n - 1).min(1.0)
}

/// A whole number, 32 bits a digit, lowest first.
struct Whole(Vec<u32>);

impl Whole {
    fn multiply(&mut self, by: u64) {
        let mut carry = 0u128;
        for digit in &mut self.0 {
            carry += u128::from(*digit) * u128::from(by);
            // The low 32 bits.
            *digit = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.0.push(carry as u32);
            carry >>= 32;
        }
    }

    /// By a divisor of it.
    fn divide(&mut self, by: u64) {
        let mut rest = 0u128;
        for digit in self.0.iter_mut().rev() {
            let part = rest << 32 | u128::from(*digit);
            // Below 2^32, because the rest is below the divisor.
            *digit = (part / u128::from(by)) as u32;
            rest = part % u128::from(by);
        }
    }

    fn add(&mut self, other: &Whole) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        let mut carry = 0u64;
        for (index, digit) in self.0.iter_mut().enumerate() {
            carry += u64::from(*digit) + u64::from(other.0.get(index).copied().unwrap_or(0));
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// The number over 2^n, rounded; 0 below the smallest double.
    fn over_power_of_two(&self, n: u64) -> f64 {
        let mut sum = 0.0;
        // Smallest first, so that what is rounded away is the least.
        for (index, &digit) in self.0.iter().enumerate() {
            let exponent = 32 * index as i64 - i64::try_from(n).unwrap_or(i64::MAX);
            let exponent = i32::try_from(exponent.max(-2000)).unwrap_or(i32::MAX);
            sum += libm::ldexp(f64::from(digit), exponent);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_splits_have_the_probabilities_of_a_table() {
        // 2 * 1/8; 2 * (1 + 9)/512; 2 * (1 + 10 + 45)/1024.
        assert_eq!(sign_test(3, 0), 0.25);
        assert_eq!(sign_test(8, 1), 0.0390625);
        assert_eq!(sign_test(2, 8), 0.109375);
        assert_eq!(sign_test(8, 2), 0.109375);
        assert_eq!(sign_test(1, 0), 1.0);
        assert_eq!(sign_test(6, 5), 1.0);
    }

    #[test]
    fn an_even_split_or_none_says_nothing() {
        assert_eq!(sign_test(0, 0), 1.0);
        assert_eq!(sign_test(5, 5), 1.0);
    }

    #[test]
    fn large_splits_are_exact_too() {
        // The counts of LSGA's Table V; its bounds 4.14e-22, 2.46e-11 and 6.52e-06 hold.
        let close = |p: f64, exact: f64| (p / exact - 1.0).abs() < 1e-14;
        assert!(close(sign_test(127, 12), 2.108124581703748e-25));
        assert!(close(sign_test(110, 30), 6.24913290161984e-12));
        assert!(close(sign_test(93, 40), 4.950860259590817e-06));
        assert_eq!(sign_test(175, 0), libm::ldexp(1.0, -174));
        assert_eq!(sign_test(5000, 0), 0.0);
    }
}
