//! Messages between processes: a length of four bytes, then that many bytes of postcard.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// No message of ours is longer. What comes back may be as long as whoever waits for it says; a longer length is noise that code
/// under test wrote.
const MAX_FRAME: usize = 1 << 30;

pub(crate) fn write_frame<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    to.write_all(&frame(message)?)
}

/// A message as it is written.
pub(super) fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    // Room for the length, filled in when it is known, so that a frame is one write.
    let mut bytes = postcard::to_extend(message, vec![0; 4]).map_err(invalid)?;
    let length = bytes.len() - 4;
    if length > MAX_FRAME {
        return Err(invalid(format!("a message of {length} bytes")));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// Blocks for the next message; None at the end of the stream.
pub(crate) fn read_frame<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut inbox = Inbox::new(MAX_FRAME);
    loop {
        if let Some(message) = inbox.take()? {
            return Ok(Some(message));
        }
        let wanted = inbox.wanted();
        if inbox.fill(from, wanted)? == 0 {
            return Ok(None);
        }
    }
}

/// Bytes of the next message, as far as they have come.
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    longest: usize,
}

impl Inbox {
    /// For messages of at most so many bytes.
    pub(crate) fn new(longest: usize) -> Inbox {
        Inbox { bytes: Vec::new(), longest }
    }

    /// The same for those that are still to come.
    pub(crate) fn expect(&mut self, longest: usize) {
        self.longest = longest.min(MAX_FRAME);
    }

    /// Whether a part of a message has come.
    pub(crate) fn has_begun(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// The message, once all of it is there.
    pub(crate) fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(length) = self.length()? else { return Ok(None) };
        if self.bytes.len() < 4 + length {
            return Ok(None);
        }
        let message = postcard::from_bytes(&self.bytes[4..4 + length]).map_err(invalid)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }

    /// One read of at most `most` bytes; the number read, 0 at the end of the stream.
    pub(crate) fn fill(&mut self, from: &mut impl Read, most: usize) -> io::Result<usize> {
        let start = self.bytes.len();
        // Grown step by step: the length field may be noise.
        self.bytes.resize(start + most.min(1 << 16), 0);
        let result = loop {
            match from.read(&mut self.bytes[start..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.bytes.truncate(start + result.as_ref().copied().unwrap_or(0));
        result
    }

    /// Bytes missing from the message, or from its length.
    pub(crate) fn wanted(&self) -> usize {
        match self.length() {
            Ok(Some(length)) => 4 + length - self.bytes.len(),
            _ => 4 - self.bytes.len().min(3),
        }
    }

    fn length(&self) -> io::Result<Option<usize>> {
        let Some(head) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > self.longest {
            return Err(invalid(format!("a message of {length} bytes")));
        }
        Ok(Some(length))
    }
}

fn invalid(error: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_one_by_one_as_they_went_in() {
        let mut stream = Vec::new();
        write_frame(&mut stream, &"first").unwrap();
        write_frame(&mut stream, &vec![7u64; 100_000]).unwrap();
        let mut from = stream.as_slice();
        assert_eq!(read_frame::<String>(&mut from).unwrap().as_deref(), Some("first"));
        assert_eq!(read_frame::<Vec<u64>>(&mut from).unwrap(), Some(vec![7; 100_000]));
        assert_eq!(read_frame::<String>(&mut from).unwrap(), None);
    }

    #[test]
    fn noise_is_an_error_and_half_a_message_is_the_end() {
        assert!(read_frame::<String>(&mut [0xff; 8].as_slice()).is_err());
        assert!(read_frame::<String>(&mut [1, 0, 0, 0, 0xff].as_slice()).is_err());
        assert!(read_frame::<String>(&mut [9, 0, 0, 0, 1].as_slice()).unwrap().is_none());
    }
}
