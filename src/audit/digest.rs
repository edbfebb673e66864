//! A digest of the machine code of a function and of all that it reaches: equal where two builds have the same
//! instructions and constants, wherever the linker put them. Instructions are compared as the disassembler prints
//! them, with addresses replaced by what is there.

use std::collections::{BTreeMap, VecDeque};

use super::code::Code;
use super::listing::{Line, lines};

/// A function by its shim's symbol, and whether the shim is a part of its code: a shim that only calls a function
/// elsewhere is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub symbol: &'a str,
    pub with_shim: bool,
}

/// A part of a region's code.
enum Piece {
    Bytes(Vec<u8>),
    /// Another region.
    Region(u64),
    /// Something whose content nobody knows here.
    Unknown,
}

type Pieces = BTreeMap<u64, Vec<Piece>>;

impl Code {
    /// The digest of each function whose code is known to the last constant.
    pub fn digests(&self, listing: &str, entries: &[Entry<'_>]) -> BTreeMap<String, String> {
        let mut pieces = Pieces::new();
        for line in lines(listing) {
            if let Some(region) = self.region(line.address) {
                self.add(pieces.entry(region).or_default(), region, &line);
            }
        }
        let digest = |entry: &Entry<'_>| {
            let start = *self.symbols.get(entry.symbol)?;
            Some((entry.symbol.to_string(), self.digest(&pieces, start, entry.with_shim)?))
        };
        entries.iter().filter_map(digest).collect()
    }

    fn add(&self, pieces: &mut Vec<Piece>, here: u64, line: &Line<'_>) {
        let shown = format!("{} {}\n", line.mnemonic, without_addresses(line.operands));
        pieces.push(Piece::Bytes(shown.into_bytes()));
        pieces.extend(
            line.targets.iter().map(|(address, name)| self.piece(here, (*address, *name), width(line))),
        );
    }

    /// What an instruction of a region refers to.
    fn piece(&self, here: u64, (address, name): (u64, Option<&str>), width: u64) -> Piece {
        if let Some((offset, bytes)) = self.data.read(address, width) {
            return Piece::Bytes([&offset.to_le_bytes(), bytes].concat());
        }
        let there = self.followed(address, name).filter(|_| self.data.is_code(address));
        let is_named = |there: &u64| name.is_none_or(|name| self.symbols.get(name) == Some(there));
        match (there.filter(is_named), name) {
            (Some(there), _) if there == here => {
                Piece::Bytes(address.wrapping_sub(here).to_le_bytes().to_vec())
            }
            (Some(there), _) => Piece::Region(there),
            // Of a library, or a variable.
            (None, Some(name)) => Piece::Bytes(name.as_bytes().to_vec()),
            (None, None) => Piece::Unknown,
        }
    }

    /// None when something that is read is not known.
    fn digest(&self, pieces: &Pieces, start: u64, with_shim: bool) -> Option<String> {
        let mut hash = blake3::Hasher::new();
        let mut order = BTreeMap::from([(start, 0u64)]);
        let mut open = VecDeque::from([start]);
        let mut reached = false;
        while let Some(region) = open.pop_front() {
            let counts = with_shim || region != start;
            reached |= counts;
            // What is not in the listing leads out of the user's code.
            for piece in pieces.get(&region).into_iter().flatten() {
                match piece {
                    Piece::Region(next) => {
                        let count = order.len() as u64;
                        let number = *order.entry(*next).or_insert_with(|| {
                            open.push_back(*next);
                            count
                        });
                        if counts {
                            hash.update(&number.to_le_bytes());
                        }
                    }
                    Piece::Bytes(bytes) if counts => {
                        hash.update(&bytes.len().to_le_bytes()).update(bytes);
                    }
                    Piece::Unknown if counts => return None,
                    Piece::Bytes(_) | Piece::Unknown => {}
                }
            }
        }
        if !self.data.addressed {
            // Which of the constants are read cannot be told.
            for bytes in self.data.all() {
                hash.update(bytes);
            }
        }
        reached.then(|| hash.finalize().to_hex().to_string())
    }
}

/// The operands without the addresses that are told as targets, and without distances to them.
fn without_addresses(operands: &str) -> String {
    let text = operands.split(" #").next().unwrap_or_default().trim_end();
    let text = match text.find(" <") {
        Some(at) => &text[..text[..at].rfind([' ', '\t', ',']).map_or(0, |start| start + 1)],
        None => text,
    };
    match text.find("(%rip)") {
        Some(at) => {
            let is_number = |c: char| c.is_ascii_hexdigit() || c == 'x' || c == '-';
            let head = text[..at].trim_end_matches(is_number);
            format!("{head}{}", &text[at..])
        }
        None => text.to_string(),
    }
}

/// How many bytes an instruction of x86-64 reads at most.
fn width(line: &Line<'_>) -> u64 {
    match line.mnemonic {
        _ if line.operands.contains("%zmm") => 64,
        _ if line.operands.contains("%ymm") => 32,
        scalar if scalar.ends_with("sd") => 8,
        scalar if scalar.ends_with("ss") => 4,
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_lose_addresses_and_keep_everything_else() {
        for (operands, left) in [
            ("0xe9f(%rip),%xmm0        # 2008 <_fini+0xec8>", "(%rip),%xmm0"),
            ("1040 <helper>", ""),
            ("w0, 740 <g>", "w0,"),
            ("$0x10,%rsp", "$0x10,%rsp"),
            ("-0x8(%rbp),%xmm0", "-0x8(%rbp),%xmm0"),
        ] {
            assert_eq!(without_addresses(operands).trim_end(), left, "{operands}");
        }
    }
}
