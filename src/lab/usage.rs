//! CPU time of this program and its finished children, from /proc.

/// Ticks per second of the times in /proc; fixed on Linux.
const TICKS: f64 = 100.0;

/// User and system seconds so far, children included once they have ended.
pub fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in brackets, which may itself hold spaces and brackets.
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    // utime, stime, cutime and cstime are fields 14 to 17; `fields` begins with field 3.
    let ticks: u64 = fields.split_whitespace().skip(11).take(4).filter_map(|f| f.parse::<u64>().ok()).sum();
    // Far below 2^53.
    ticks as f64 / TICKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work() {
        let before = cpu_seconds();
        let start = std::time::Instant::now();
        let mut x = 1u64;
        while start.elapsed().as_millis() < 80 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(cpu_seconds() > before);
    }
}
