//! Messages between bitrift and a build's runner: 64-bit little-endian words, as harness-c/runner.h
//! says. What a runner writes may be noise.

use super::slab::CAPACITY;
use super::token::Token;
use crate::model::{FpSetting, MAX_RESULTS, Precision, Rounding};

const PROTOCOL: u64 = 3;
const HELLO: u64 = 0x6272_0001;
const READY: u64 = 0x6272_0002;
const RUN: u64 = 0x6272_0003;
const BEAT: u64 = 0x6272_0004;
const DONE: u64 = 0x6272_0005;
const REFUSED: u64 = 0x6272_0006;

/// Four numbers, then results and statuses of a full batch of the widest function.
const LONGEST: u64 = 4 + (CAPACITY * (MAX_RESULTS + 1)) as u64;

/// How a runner makes the calls of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In its own process.
    Hot,
    /// In a fork of it, which is replaced after a fault.
    Fork,
    /// Each in a fork of its own.
    Alone,
}

/// What a runner says of itself when it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub functions: u64,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub near: u64,
    pub spent_ns: u64,
    pub values: Vec<u64>,
    /// Empty when no call had a fault.
    pub statuses: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Ready(Ready),
    Beat,
    Done(Done),
    Refused(u64),
}

/// What came is no message of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noise;

pub(super) fn hello(setting: &FpSetting) -> Vec<u8> {
    let flush = match setting.flush {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    };
    let rounding = match setting.rounding {
        None => 0,
        Some(Rounding::Nearest) => 1,
        Some(Rounding::Up) => 2,
        Some(Rounding::Down) => 3,
        Some(Rounding::Zero) => 4,
    };
    bytes(HELLO, &[PROTOCOL, flush, rounding, setting.precision.map_or(0, Precision::bits)], &[])
}

/// What a request says of its inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub function: usize,
    pub arity: usize,
    pub width: usize,
    pub mode: Mode,
    pub timeout_us: u64,
    /// The answer must have it too.
    pub token: Token,
}

/// What the answer to a request must have: results of so many inputs, of so many words each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub count: usize,
    pub width: usize,
    /// Of the request.
    pub token: Token,
}

pub(super) fn request(asked: &Asked, inputs: &[u64]) -> Vec<u8> {
    let count = (inputs.len() / asked.arity.max(1)) as u64;
    let mode = match asked.mode {
        Mode::Hot => 0,
        Mode::Fork => 1,
        Mode::Alone => 2,
    };
    let [function, arity, width] = [asked.function, asked.arity, asked.width].map(|size| size as u64);
    bytes(RUN, &[function, arity, width, count, mode, asked.timeout_us, asked.token.word()], inputs)
}

fn bytes(tag: u64, head: &[u64], tail: &[u64]) -> Vec<u8> {
    let length = (head.len() + tail.len()) as u64;
    let mut bytes = Vec::with_capacity((2 + head.len() + tail.len()) * 8);
    for words in [&[tag, length], head, tail] {
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes
}

/// The next message of a stream and the bytes it takes; None while it is not all there.
pub(super) fn parse(stream: &[u8], expected: Expected) -> Result<Option<(Message, usize)>, Noise> {
    let Some([tag, length]) = words(stream) else { return Ok(None) };
    let known = matches!((tag, length), (READY, 6) | (BEAT, 0) | (REFUSED, 1))
        || (tag == DONE && (4..=LONGEST).contains(&length));
    if !known {
        return Err(Noise);
    }
    // At most LONGEST.
    let length = length as usize;
    let end = (2 + length) * 8;
    let Some(body) = stream.get(16..end) else { return Ok(None) };
    let message = match (tag, words(body), words(body), words(body)) {
        (READY, Some([PROTOCOL, functions]), ..) => Message::Ready(Ready { functions }),
        (BEAT, ..) => Message::Beat,
        (REFUSED, _, Some([reason]), _) => Message::Refused(reason),
        (DONE, _, _, Some([token, faults, near, spent_ns])) => {
            let results = expected.count * expected.width;
            let wanted = 4 + results + if faults > 0 { expected.count } else { 0 };
            if length != wanted || token != expected.token.word() {
                return Err(Noise);
            }
            let (values, statuses) = body[32..].split_at(results * 8);
            Message::Done(Done { near, spent_ns, values: all_words(values), statuses: all_words(statuses) })
        }
        _ => return Err(Noise),
    };
    Ok(Some((message, end)))
}

/// The first words of a stream; None while they are not all there.
fn words<const N: usize>(stream: &[u8]) -> Option<[u64; N]> {
    let (words, _) = stream.as_chunks::<8>();
    let first: &[[u8; 8]; N] = words.first_chunk()?;
    Some(first.map(u64::from_le_bytes))
}

fn all_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Why a runner refuses, in words.
pub(super) fn refusal(reason: u64) -> String {
    match reason {
        1 => "it did not understand the request".into(),
        2 => "this target cannot flush subnormals to zero; leave `fpenv` out".into(),
        3 => "this target cannot round that way".into(),
        4 => "this target has no x87, whose precision could be set".into(),
        5 => "it has not got this function".into(),
        6 => "the system gave it no memory or no process".into(),
        other => format!("it gave the unknown reason {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(count: usize, width: usize) -> Expected {
        Expected { count, width, token: Token::default() }
    }

    fn stream(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_message_is_taken_once_all_of_it_is_there() {
        let mut bytes = stream(&[BEAT, 0, DONE, 6, 0, 0, 2, 900, 7, 8]);
        bytes.extend([1, 2, 3]);
        assert_eq!(parse(&bytes, expected(2, 1)), Ok(Some((Message::Beat, 16))));
        let done = Done { near: 2, spent_ns: 900, values: vec![7, 8], statuses: Vec::new() };
        assert_eq!(parse(&bytes[16..], expected(2, 1)), Ok(Some((Message::Done(done), 64))));
        for cut in 0..64 {
            assert_eq!(parse(&bytes[16..16 + cut], expected(2, 1)), Ok(None), "{cut}");
        }
    }

    #[test]
    fn statuses_come_only_with_faults() {
        let bytes = stream(&[DONE, 8, 0, 1, 0, 0, 7, 8, 0, 4 << 32]);
        let Ok(Some((Message::Done(done), _))) = parse(&bytes, expected(2, 1)) else { panic!() };
        assert_eq!(done.statuses, [0, 4 << 32]);
    }

    #[test]
    fn a_wide_answer_has_all_words_of_every_input_and_one_status_each() {
        let wide = expected(2, 3);
        let bytes = stream(&[DONE, 12, 0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 0, 4 << 32]);
        let Ok(Some((Message::Done(done), _))) = parse(&bytes, wide) else { panic!() };
        assert_eq!((done.values, done.statuses), ((1..=6).collect(), vec![0, 4 << 32]));
        assert_eq!(parse(&bytes, expected(2, 1)), Err(Noise));
    }

    #[test]
    fn what_is_no_message_is_noise() {
        for words in [
            &[0, 0][..],
            &[DONE, u64::MAX],
            &[DONE, 3],
            &[BEAT, 1],
            &[DONE, 5, 0, 0, 0, 0, 7],
            // The answer to another request.
            &[DONE, 6, 1, 0, 0, 0, 7, 8],
            &[READY, 6, 99, 1, 8, 0, 0, 1],
        ] {
            assert_eq!(parse(&stream(words), expected(2, 1)), Err(Noise), "{words:x?}");
        }
        assert_eq!(parse(b"Segmentation fault", expected(2, 1)), Err(Noise));
    }
}
