//! The code of a linked build in regions, one for each function, and what can be reached from where.
//!
//! Reached is what a function under test, through its shim, may call or jump to, followed over the
//! addresses that instructions name. All instructions of a function count, whatever its arguments make
//! it do. A call through a pointer is followed only where the function's address is named on the way.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object, ObjectSymbol, SymbolKind};

use super::data::Data;
use super::kind::{Kind, Machine, is_vector_math};
use super::listing::lines;
use crate::model::InstructionCounts;

/// Whose code is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Own {
    /// All that is there: libraries are elsewhere.
    Everything,
    /// Functions of these names: a program may have its libraries inside.
    Named(BTreeSet<String>),
}

/// The functions that an object file defines; none when it has no machine code.
pub fn defined_names(content: &[u8]) -> BTreeSet<String> {
    let Ok(file) = object::File::parse(content) else { return BTreeSet::new() };
    let functions = file.symbols().filter(|s| s.is_definition() && s.kind() == SymbolKind::Text);
    functions.filter_map(|s| Some(s.name().ok()?.to_string())).collect()
}

/// From one address to the next region.
#[derive(Default)]
struct Region {
    named: bool,
    followed: bool,
}

/// What is known of a linked build without its instructions.
pub struct Code {
    pub(super) machine: Machine,
    /// What its code reads.
    pub(super) data: Data,
    /// By their first address. One begins where a function does and where one ends: objects without
    /// local symbols have functions without names between the others.
    regions: BTreeMap<u64, Region>,
    pub(super) symbols: BTreeMap<String, u64>,
}

/// What the instructions of one region add up to.
#[derive(Default)]
struct Tally {
    counts: InstructionCounts,
    /// Instructions that the disassembler does not know.
    unknown: u64,
    /// Regions that it leads to.
    next: BTreeSet<u64>,
}

impl Code {
    /// Reads the symbols of a linked build; says why when that is not possible.
    pub fn read(content: &[u8], own: &Own) -> Result<Code, String> {
        let file = object::File::parse(content).map_err(|e| e.to_string())?;
        let machine = Machine::of(file.architecture())
            .ok_or_else(|| format!("the instructions of {:?} are not known", file.architecture()))?;
        let (mut regions, mut symbols) = (BTreeMap::<u64, Region>::new(), BTreeMap::new());
        let defined = |s: &object::Symbol| s.is_definition() && s.kind() == SymbolKind::Text;
        for symbol in file.symbols().chain(file.dynamic_symbols()).filter(defined) {
            let Ok(name) = symbol.name() else { continue };
            // The last bit of an Arm function says how its instructions are encoded.
            let start = symbol.address() & if machine == Machine::Arm { !1 } else { !0 };
            let region = regions.entry(start).or_default();
            region.named = true;
            region.followed |= is_own(own, name);
            regions.entry(start.saturating_add(symbol.size())).or_default();
            symbols.entry(name.to_string()).or_insert(start);
        }
        if *own == Own::Everything {
            regions.values_mut().for_each(|region| region.followed = true);
        }
        Ok(Code { machine, data: Data::of(&file), regions, symbols })
    }

    /// The first address that is followed, and the one behind the last unless that is the end. The
    /// libraries inside a program need not be disassembled.
    pub fn extent(&self) -> (u64, Option<u64>) {
        let own = || self.regions.iter().filter(|(_, r)| r.followed).map(|(start, _)| *start);
        let (first, last) = (own().next().unwrap_or(0), own().next_back().unwrap_or(0));
        (first, self.regions.range(last.saturating_add(1)..).next().map(|(start, _)| *start))
    }

    /// The instructions reached from each of some symbols; says why when the listing does not tell.
    pub fn count(
        &self,
        listing: &str,
        symbols: &[&str],
    ) -> Result<BTreeMap<String, InstructionCounts>, String> {
        let tallies = self.tallies(listing);
        let mut counts = BTreeMap::new();
        for &symbol in symbols {
            let start = self.symbols.get(symbol).filter(|start| tallies.contains_key(start));
            let start = start.ok_or_else(|| format!("the disassembly has no code of {symbol}"))?;
            counts.insert(symbol.to_string(), reached(&tallies, *start)?);
        }
        Ok(counts)
    }

    fn tallies(&self, listing: &str) -> BTreeMap<u64, Tally> {
        let mut tallies: BTreeMap<u64, Tally> = BTreeMap::new();
        for line in lines(listing) {
            let Some(here) = self.region(line.address) else { continue };
            let tally = tallies.entry(here).or_default();
            tally.unknown += u64::from(line.is_unknown());
            if let Some((kind, by_maker)) = self.machine.kind(line.mnemonic) {
                *count_of(&mut tally.counts, kind) += 1;
                if by_maker {
                    tally.counts.by_maker.insert(line.mnemonic.into());
                }
            }
            for (address, name) in line.targets {
                match self.followed(address, name) {
                    Some(there) if there == here => {}
                    Some(there) => drop(tally.next.insert(there)),
                    None => tally.counts.vector_math += u64::from(name.is_some_and(is_vector_math)),
                }
            }
        }
        tallies
    }

    /// The region that a reference leads to, if it is followed. A name counts more than an address,
    /// which may be that of a stub: tcc calls through one what is in the same object.
    pub(super) fn followed(&self, address: u64, name: Option<&str>) -> Option<u64> {
        let begins = |start: &u64| self.regions.get(start).is_some_and(|r| r.named && r.followed);
        match name {
            Some(_) if begins(&address) => Some(address),
            Some(name) if self.symbols.get(name).is_some_and(begins) => self.symbols.get(name).copied(),
            Some(name) if is_vector_math(name) => None,
            _ => self.region(address),
        }
    }

    /// The followed region that an address lies in.
    pub(super) fn region(&self, address: u64) -> Option<u64> {
        let (start, region) = self.regions.range(..=address).next_back()?;
        region.followed.then_some(*start)
    }
}

/// Parts that a compiler splits off have the function's name and a suffix behind a dot.
fn is_own(own: &Own, name: &str) -> bool {
    match own {
        Own::Everything => true,
        Own::Named(names) => names.contains(name) || names.contains(name.split('.').next().unwrap_or(name)),
    }
}

fn count_of(counts: &mut InstructionCounts, kind: Kind) -> &mut u64 {
    match kind {
        Kind::Fma => &mut counts.fma,
        Kind::Approximate => &mut counts.approximate,
        Kind::X87 => &mut counts.x87,
    }
}

fn reached(tallies: &BTreeMap<u64, Tally>, start: u64) -> Result<InstructionCounts, String> {
    let mut counts = InstructionCounts::default();
    let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(region) = open.pop() {
        // What is not in the listing, such as a stub, leads out of the user's code.
        let Some(tally) = tallies.get(&region) else { continue };
        if tally.unknown > 0 {
            return Err(format!("{} instructions are not known to the disassembler", tally.unknown));
        }
        counts.add(&tally.counts);
        open.extend(tally.next.iter().filter(|region| seen.insert(**region)));
    }
    Ok(counts)
}
