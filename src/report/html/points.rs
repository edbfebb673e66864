//! The samples of one function as columns of packed numbers, a fraction of their size as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::fp::{Scalar, parse_number};
use crate::model::{BuildId, FunctionSamples};

/// A sample without a value to compare.
const NO_VALUE: u16 = u16::MAX;
/// Steps of one bit of inconsistency: 63.99 bits stay below the mark above.
const STEPS: f32 = 1000.0;

/// Columns in Base64, little-endian.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Points {
    /// Samples drawn, and how many are stored.
    count: usize,
    stored: usize,
    /// Per parameter 64 bits a sample: a double, or an integer where the type is one of 64 bits.
    inputs: Vec<String>,
    /// The distinct columns of bits, 16 bits a sample in thousandths.
    bits: Vec<String>,
    /// Per build its name and which of the columns is its own; none: consistent everywhere.
    of: Vec<(String, Option<usize>)>,
}

impl Points {
    /// At most `most` samples; those that are inconsistent somewhere get at least half of the room.
    pub(super) fn new(samples: &FunctionSamples, scalars: &[Scalar], most: usize) -> Points {
        let kept = thin(samples, most);
        let input = |param: usize| {
            let scalar = scalars.get(param).copied().unwrap_or(Scalar::F64);
            let text = |&sample: &usize| samples.samples[sample].0.get(param);
            pack(kept.iter().map(|s| word(scalar, text(s).map_or("nan", String::as_str)).to_le_bytes()))
        };
        let mut bits: Vec<String> = Vec::new();
        let column = |(index, build): (usize, &BuildId)| {
            let steps: Vec<u16> = kept.iter().map(|&s| step(samples.samples[s].1.get(index))).collect();
            if steps.iter().all(|&step| step == 0) {
                return (build.to_string(), None);
            }
            let text = pack(steps.into_iter().map(u16::to_le_bytes));
            // Builds of one compiler often agree with each other, and then their columns are equal.
            let place = bits.iter().position(|known| *known == text).unwrap_or_else(|| {
                bits.push(text);
                bits.len() - 1
            });
            (build.to_string(), Some(place))
        };
        let of = samples.builds.iter().enumerate().map(column).collect();
        Points {
            count: kept.len(),
            stored: samples.samples.len(),
            inputs: (0..samples.params.len()).map(input).collect(),
            bits,
            of,
        }
    }
}

/// Which samples to keep, in order.
fn thin(samples: &FunctionSamples, most: usize) -> Vec<usize> {
    let all = 0..samples.samples.len();
    if all.len() <= most {
        return all.collect();
    }
    let differs = |&index: &usize| samples.samples[index].1.iter().any(|b| *b != Some(0.0));
    let (odd, even): (Vec<usize>, Vec<usize>) = all.partition(differs);
    let odd_room = odd.len().min((most / 2).max(most.saturating_sub(even.len())));
    let mut kept = spread(&odd, odd_room);
    kept.extend(spread(&even, most - odd_room));
    kept.sort_unstable();
    kept
}

/// So many items of a list at equal distances.
fn spread(items: &[usize], count: usize) -> Vec<usize> {
    let count = count.min(items.len());
    (0..count).map(|k| items[k * items.len() / count]).collect()
}

/// An input as the page reads it: integers of 64 bits as they are, all else as a double.
fn word(scalar: Scalar, text: &str) -> u64 {
    let Ok(bits) = parse_number(scalar, text) else { return f64::NAN.to_bits() };
    match scalar {
        Scalar::F64 | Scalar::I64 | Scalar::U64 => bits,
        _ => scalar.to_f64(bits).to_bits(),
    }
}

fn step(bits: Option<&Option<f32>>) -> u16 {
    match bits {
        // Within 0 to 65.534 the product fits; a difference however small is not shown as none.
        Some(&Some(bits)) if bits > 0.0 => ((bits * STEPS).round().clamp(1.0, 65534.0)) as u16,
        Some(Some(_)) => 0,
        _ => NO_VALUE,
    }
}

fn pack<const N: usize>(words: impl Iterator<Item = [u8; N]>) -> String {
    STANDARD.encode(words.flatten().collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: usize) -> FunctionSamples {
        let sample = |k: usize| {
            let bits = if k.is_multiple_of(10) { 12.5 } else { 0.0 };
            (vec![format!("0x1p+{k}"), k.to_string()], vec![Some(0.0), Some(bits), Some(bits), None])
        };
        FunctionSamples {
            function: "f".into(),
            params: vec!["x".into(), "n".into()],
            builds: ["a", "b", "c", "d"].map(BuildId::from).into(),
            samples: (0..count).map(sample).collect(),
            worst: Vec::new(),
            held: Vec::new(),
        }
    }

    fn unpack<const N: usize>(text: &str) -> Vec<[u8; N]> {
        let bytes = STANDARD.decode(text).unwrap();
        bytes.chunks(N).map(|chunk| chunk.try_into().unwrap()).collect()
    }

    #[test]
    fn columns_read_back_and_equal_ones_are_stored_once() {
        let points = Points::new(&samples(20), &[Scalar::F64, Scalar::U64], 100);
        assert_eq!((points.count, points.stored), (20, 20));
        let x: Vec<f64> = unpack(&points.inputs[0]).into_iter().map(f64::from_le_bytes).collect();
        assert_eq!(x[..4], [1.0, 2.0, 4.0, 8.0]);
        let n: Vec<u64> = unpack(&points.inputs[1]).into_iter().map(u64::from_le_bytes).collect();
        assert_eq!(n[..4], [0, 1, 2, 3]);
        let places: Vec<_> = points.of.iter().map(|(_, place)| *place).collect();
        assert_eq!(places, [None, Some(0), Some(0), Some(1)]);
        let bits: Vec<u16> = unpack(&points.bits[0]).into_iter().map(u16::from_le_bytes).collect();
        assert_eq!((bits[0], bits[1], bits[10]), (12500, 0, 12500));
        assert!(unpack(&points.bits[1]).into_iter().all(|b| u16::from_le_bytes(b) == NO_VALUE));
    }

    #[test]
    fn thinning_keeps_to_the_room_and_prefers_what_differs() {
        let mut many = samples(1000);
        for (_, bits) in &mut many.samples {
            bits.pop();
        }
        let kept = thin(&many, 100);
        assert_eq!(kept.len(), 100);
        assert_eq!(kept.iter().filter(|k| k.is_multiple_of(10)).count(), 50);
        assert!(kept.is_sorted());
        assert_eq!(thin(&samples(1000), 100).len(), 100);
    }

    #[test]
    fn odd_inputs_and_bits_are_words_too() {
        assert_eq!(word(Scalar::F64, "-0x0p+0"), (-0.0f64).to_bits());
        assert_eq!(word(Scalar::F32, "-inf"), f64::NEG_INFINITY.to_bits());
        assert_eq!(word(Scalar::I32, "-7"), (-7.0f64).to_bits());
        assert!(f64::from_bits(word(Scalar::F64, "<script>")).is_nan());
        assert_eq!(step(Some(&Some(1e-9))), 1);
        assert_eq!(step(Some(&Some(63.99))), 63990);
        assert_eq!(step(None), NO_VALUE);
    }
}
