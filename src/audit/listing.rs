//! The text of `objdump -d --no-show-raw-insn`, GNU's or LLVM's, line by line.

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub address: u64,
    pub mnemonic: &'a str,
    /// What follows the mnemonic, as it is printed.
    pub operands: &'a str,
    /// The addresses it names, each with the symbol there; no symbol when it only lies behind one.
    pub targets: Vec<(u64, Option<&'a str>)>,
}

impl Line<'_> {
    /// Whether the disassembler does not know these bytes.
    pub fn is_unknown(&self) -> bool {
        matches!(self.mnemonic, "(bad)" | "<unknown>" | ".inst")
    }
}

/// The instructions of a listing, without those of sections that only lead elsewhere.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut skipped = false;
    text.lines().filter_map(move |line| {
        if let Some(section) = line.strip_prefix("Disassembly of section ") {
            skipped = [".plt", ".iplt", ".init", ".fini"].iter().any(|start| section.starts_with(start));
        }
        if skipped { None } else { instruction(line) }
    })
}

fn instruction(line: &str) -> Option<Line<'_>> {
    let (address, text) = line.trim_start().split_once(':')?;
    let address = hex(address)?;
    let mut words = text.split_whitespace();
    // `{evex}` and the like say how an instruction is encoded.
    let mnemonic = words.find(|word| !word.starts_with('{'))?;
    let operands = text.split_once(mnemonic).map_or("", |(_, rest)| rest.trim());
    // A page is no address of code.
    let targets = if mnemonic == "adrp" { Vec::new() } else { targets(text) };
    Some(Line { address, mnemonic, operands, targets })
}

/// Every `1139 <name>` and `# 0x2018 <name+0x10>`.
fn targets(text: &str) -> Vec<(u64, Option<&str>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" <") {
        let word = text[..at].rsplit([' ', '\t', ',']).next().unwrap_or("");
        let name = text[at + 2..].split('>').next().unwrap_or("");
        if let Some(address) = hex(word.strip_prefix("0x").unwrap_or(word)) {
            let exact = (!name.contains('+') && !name.contains("-0x")).then_some(name);
            // What follows @ is a version, or says that the way goes through the linkage table.
            found.push((address, exact.map(|name| name.split('@').next().unwrap_or(name))));
        }
    }
    found
}

fn hex(word: &str) -> Option<u64> {
    // The sign that from_str_radix would take is none here.
    if word.starts_with('+') { None } else { u64::from_str_radix(word, 16).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> (u64, &str, Vec<(u64, Option<&str>)>) {
        let line = instruction(line).unwrap_or_else(|| panic!("no instruction: {line}"));
        (line.address, line.mnemonic, line.targets)
    }

    #[test]
    fn both_objdumps_are_read() {
        assert_eq!(one("    1139:\tvfmadd213sd %xmm1,%xmm2,%xmm0"), (0x1139, "vfmadd213sd", vec![]));
        assert_eq!(one("  ab:\tcall   1040 <helper>"), (0xab, "call", vec![(0x1040, Some("helper"))]));
        assert_eq!(
            one("    11ac:      \tcallq\t0x1030 <sin@plt>"),
            (0x11ac, "callq", vec![(0x1030, Some("sin"))])
        );
        assert_eq!(one("  7:\tb.ne\t740 <f+0x1c>  // b.any"), (7, "b.ne", vec![(0x740, None)]));
        assert_eq!(
            one("    11cf:\tcall   *0x2dfb(%rip)        # 3fd0 <_ZGVbN2v_sin@GLIBC_2.22>"),
            (0x11cf, "call", vec![(0x3fd0, Some("_ZGVbN2v_sin"))])
        );
        assert_eq!(one("  9:\tcbz\tw0,740 <g>"), (9, "cbz", vec![(0x740, Some("g"))]));
        assert_eq!(one(" 9:\t{evex} vrcpps %xmm0,%xmm1").1, "vrcpps");
        assert_eq!(one(" 9:\tadrp\tx0, 11000 <f+0x10>").2, []);
    }

    #[test]
    fn headings_comments_and_stubs_are_no_instructions() {
        let text = "\na.so:     file format elf64-x86-64\n\nDisassembly of section .plt:\n\n\
            0000000000001030 <sin@plt>:\n    1030:\tjmp    *0x2fc2(%rip)        # 4008 <sin@GLIBC_2.2.5>\n\
            Disassembly of section .text:\n0000000000001139 <f>:\n    1139:\tret\n\
            \x20                                               # 0x2018 <sin@GLIBC_2.2.5+0x2018>\n\t...\n";
        let found: Vec<Line> = lines(text).collect();
        assert_eq!(found, [Line { address: 0x1139, mnemonic: "ret", operands: "", targets: vec![] }]);
    }
}
