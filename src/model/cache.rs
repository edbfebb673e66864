//! What a cache of compiled objects holds, how large it may become, and sizes as people write and read them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

pub const CACHE_SCHEMA: &str = "bitrift.cache/1";

/// Units and the letters behind a number that stand for them.
const UNITS: [(char, u32); 4] = [('K', 1), ('M', 2), ('G', 3), ('T', 4)];
/// Digits behind the point of a size that count.
const MOST_DIGITS: usize = 9;

/// How large a cache may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheLimit {
    Bytes(u64),
    Unlimited,
}

impl Default for CacheLimit {
    fn default() -> CacheLimit {
        CacheLimit::Bytes(5 << 30)
    }
}

/// A size that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of bytes, with K, M, G or T for powers of 1024 (500M, 1.5G), or `unlimited`")]
pub struct SizeError;

impl FromStr for CacheLimit {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<CacheLimit, SizeError> {
        if text.eq_ignore_ascii_case("unlimited") {
            return Ok(CacheLimit::Unlimited);
        }
        let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        bytes(number, factor(unit.trim_start()).ok_or(SizeError)?).map(CacheLimit::Bytes).ok_or(SizeError)
    }
}

impl fmt::Display for CacheLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheLimit::Bytes(bytes) => f.write_str(&byte_text(*bytes)),
            CacheLimit::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// A number; nothing stands for no limit.
impl Serialize for CacheLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CacheLimit::Bytes(bytes) => serializer.serialize_some(bytes),
            CacheLimit::Unlimited => serializer.serialize_none(),
        }
    }
}

/// `M` and `MiB` are 1024 * 1024, `MB` is a million, whatever the case of the letters.
fn factor(unit: &str) -> Option<u64> {
    let mut letters = unit.chars().map(|c| c.to_ascii_uppercase());
    let power = match letters.next() {
        None => return Some(1),
        Some('B') => 0,
        Some(letter) => UNITS.iter().find(|(known, _)| *known == letter)?.1,
    };
    match (power, letters.collect::<String>().as_str()) {
        (0, "") => Some(1),
        (0, _) => None,
        (power, "" | "IB") => Some(1024u64.pow(power)),
        (power, "B") => Some(1000u64.pow(power)),
        _ => None,
    }
}

fn bytes(number: &str, factor: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let whole = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let part = part.get(..MOST_DIGITS.min(part.len()))?;
    let scale = 10u128.pow(u32::try_from(part.len()).ok()?);
    let part = u128::from(part.parse::<u64>().ok()?) * u128::from(factor) / scale;
    whole.checked_add(u64::try_from(part).ok()?)
}

/// `800 bytes`, `1.2 GiB`.
pub fn byte_text(bytes: u64) -> String {
    let Some((letter, power)) = UNITS.iter().rev().find(|(_, power)| bytes >= 1024u64.pow(*power)) else {
        return if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") };
    };
    let unit = 1024u64.pow(*power);
    // In tenths, rounded down: what is shown is never more than what is there.
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    format!("{}.{} {letter}iB", tenths / 10, tenths % 10)
}

/// Files of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheShare {
    pub files: u64,
    /// Each file counts in blocks of 4 KiB.
    pub bytes: u64,
}

impl CacheShare {
    pub fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// What is in a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheState {
    pub schema: &'static str,
    pub folder: String,
    /// Whether there is a cache at all.
    pub exists: bool,
    /// Of objects, recipes and libraries together.
    pub bytes: u64,
    pub limit: CacheLimit,
    /// Compiled and linked code, and what was found out about it.
    pub objects: CacheShare,
    /// Which object answers which request.
    pub recipes: CacheShare,
    /// Links that lead the loader to libraries.
    pub libraries: CacheShare,
    /// Of processes at work, and of killed ones; what is an object of the cache too does not count.
    pub temporary: CacheShare,
    /// What is none of the cache's own and is left alone.
    pub others: u64,
    pub oldest_use: Option<String>,
    pub newest_use: Option<String>,
    /// What was removed just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<CacheShare>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_people_write_it() {
        let read = |text: &str| text.parse::<CacheLimit>().ok();
        let mega = 1 << 20;
        for (text, bytes) in [
            ("0", 0),
            ("1234", 1234),
            ("12b", 12),
            ("500M", 500 * mega),
            ("500 MiB", 500 * mega),
            ("500mib", 500 * mega),
            ("1.5G", 1536 * mega),
            ("2T", mega * mega * 2),
            ("64k", 65_536),
            ("20MB", 20_000_000),
            ("0.25K", 256),
        ] {
            assert_eq!(read(text), Some(CacheLimit::Bytes(bytes)), "{text}");
        }
        assert_eq!(read("unlimited"), Some(CacheLimit::Unlimited));
        for text in ["", "M", "-1", "5X", "5MM", "1.2.3", "1e9", "infinite", "99999999999T", ".", "5BB"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_is_shown_in_the_largest_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            ((5 << 30) - 1, "4.9 GiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(byte_text(bytes), text);
        }
    }
}
