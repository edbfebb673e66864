//! What the code of a linked build reads: constants and tables, by their addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// The sections that hold data.
pub struct Data {
    /// By their first address.
    sections: BTreeMap<u64, Vec<u8>>,
    /// Where instructions are.
    code: Vec<Range<u64>>,
    /// Tables and variables with names: how long each is.
    tables: BTreeMap<u64, u64>,
    /// Whether instructions name the address of what they read.
    pub addressed: bool,
}

impl Data {
    pub fn of(file: &object::File<'_>) -> Data {
        let constant = |kind| matches!(kind, SectionKind::ReadOnlyData | SectionKind::ReadOnlyString);
        let sections = file.sections().filter(|section| section.address() > 0 && constant(section.kind()));
        let sections = sections.filter_map(|s| Some((s.address(), s.data().ok()?.to_vec())));
        let tables = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let code = code.map(|section| section.address()..section.address().saturating_add(section.size()));
        Data {
            code: code.collect(),
            sections: sections.collect(),
            tables: tables.map(|table| (table.address(), table.size())).collect(),
            addressed: file.architecture() == Architecture::X86_64,
        }
    }

    /// What is read at an address: all of the table that it lies in, else so many bytes. None when that is no
    /// constant.
    pub fn read(&self, address: u64, width: u64) -> Option<(u64, &[u8])> {
        let table = self.tables.range(..=address).next_back();
        let table = table.filter(|(start, size)| address < start.saturating_add(**size));
        let (first, length) = table.map_or((address, width), |(start, size)| (*start, *size));
        let (start, content) = self.sections.range(..=first).next_back()?;
        let from = usize::try_from(first - start).ok()?;
        let to = from.saturating_add(usize::try_from(length).ok()?).min(content.len());
        Some((address - first, content.get(from..to).filter(|bytes| !bytes.is_empty())?))
    }

    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|section| section.contains(&address))
    }

    /// All constants there are.
    pub fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.sections.values().map(Vec::as_slice)
    }
}
