//! The passes that gcc runs under a list of arguments and that can be switched off one at a time.

use super::arguments::words;
use super::compiler::{Compiler, Family};

/// Passes that floating-point results depend on, the likeliest first. gcc numbers those that run several
/// times.
const FIRST: [&str; 32] = [
    "tree-reassoc",
    "tree-widening_mul",
    "tree-recip",
    "tree-sincos",
    "tree-powcabs",
    "tree-expandpow",
    "tree-vect",
    "tree-slp",
    "tree-forwprop",
    "tree-backprop",
    "tree-phiopt",
    "tree-ifcvt",
    "tree-ifcombine",
    "tree-cselim",
    "tree-fre",
    "tree-pre",
    "tree-dom",
    "tree-ccp",
    "tree-evrp",
    "tree-vrp",
    "tree-sccp",
    "tree-pcom",
    "tree-cdce",
    "tree-einline",
    "tree-fnsplit",
    "rtl-combine",
    "rtl-cse",
    "rtl-fwprop",
    "rtl-ce",
    "rtl-cprop",
    "rtl-gcse",
    "rtl-peephole",
];

/// Passes that gcc cannot do without: it fails, or writes code that does. With gcc 11 and 12, each of the
/// other passes can be switched off alone at any level for the code of the tests. Some of these can too,
/// but only because that code has nothing for them: they bring down what is above the machine (complex
/// numbers, vectors, switches, va_arg), keep gcc's own books, or hold other passes.
const REQUIRED: [&str; 59] = [
    "tree-omplower",
    "tree-lower",
    "tree-tmlower",
    "tree-ehopt",
    "tree-eh",
    "tree-cfg",
    "tree-ompexp",
    "tree-ompexpssa",
    "tree-ompdevlow",
    "tree-oaccloops",
    "tree-oaccdevlow",
    "tree-fixup_cfg",
    "tree-ssa",
    "tree-nothrow",
    "tree-local-fnsummary",
    "tree-early_optimizations",
    "tree-release_ssa",
    "tree-adjust_alignment",
    "tree-stdarg",
    "tree-lower_vaarg",
    "tree-fix_loops",
    "tree-loop",
    "tree-loopinit",
    "tree-loopdone",
    "tree-no_loop",
    "tree-cplxlower",
    "tree-veclower",
    "tree-switchlower",
    "tree-bitintlower",
    "tree-crited",
    "tree-tmmark",
    "tree-tmedge",
    "tree-tmmemopt",
    "tree-ubsan",
    "tree-isel",
    "tree-optimized",
    "tree-fab",
    "rtl-expand",
    "rtl-vregs",
    "rtl-into_cfglayout",
    "rtl-outof_cfglayout",
    "rtl-dfinit",
    "rtl-dfinish",
    "rtl-reginfo",
    "rtl-loop",
    "rtl-split",
    "rtl-mode_sw",
    "rtl-asmcons",
    "rtl-ira",
    "rtl-reload",
    "rtl-pro_and_epilogue",
    "rtl-stack",
    "rtl-zero_call_used_regs",
    "rtl-mach",
    "rtl-barriers",
    "rtl-shorten",
    "rtl-dwarf",
    "rtl-vartrack",
    "rtl-final",
];

/// Passes that only warn.
const SILENT: [&str; 7] = [
    "tree-walloca",
    "tree-waccess",
    "tree-wrestrict",
    "tree-warn-printf",
    "tree-early_uninit",
    "tree-uninit",
    "rtl-nothrow",
];

/// The arguments that each switch off one pass that gcc runs under these arguments, the likeliest causes of
/// other bits first: `-fdisable-tree-reassoc1`. gcc notes each on standard error. Asked from gcc; the error
/// is in its own words. A compiler that is no gcc has none.
pub fn passes(compiler: &Compiler, args: &[String]) -> Result<Vec<String>, String> {
    if compiler.family != Family::Gcc {
        return Ok(Vec::new());
    }
    // Other arguments choose no pass, and could name files that are not here.
    let chooses =
        |word: &str| word == "--param" || ["-O", "-f", "-m", "--param="].iter().any(|s| word.starts_with(s));
    let mut question: Vec<String> =
        words(args).into_iter().filter(|word| chooses(&word[0])).flatten().collect();
    question.extend(["-fdump-passes", "-S", "-o", "/dev/null", "-x", "c", "/dev/null"].map(String::from));
    let (_, answer) = compiler.ask(&question)?;
    let found = parse(&answer);
    if found.is_empty() { Err("its answer names no pass".into()) } else { Ok(found) }
}

/// Lines such as `     tree-reassoc1            :  ON`; those with a star have no switch.
fn parse(answer: &str) -> Vec<String> {
    let on =
        answer.lines().filter_map(|line| line.rsplit_once(':')).filter(|(_, state)| state.trim() == "ON");
    let switchable = |name: &&str| {
        let known = name.starts_with("tree-") || name.starts_with("rtl-");
        let needed = REQUIRED.contains(&base(name)) || SILENT.contains(&base(name));
        known && !needed && !name.contains(char::is_whitespace)
    };
    let mut names: Vec<&str> = on.map(|(name, _)| name.trim()).filter(switchable).collect();
    names.sort_by_key(|name| FIRST.iter().position(|first| *first == base(name)).unwrap_or(FIRST.len()));
    names.into_iter().map(switch).collect()
}

fn switch(name: &str) -> String {
    match name {
        // The pass before it leaves questions in the code that only this pass answers; the flag takes both
        // away.
        "tree-vect" => "-fno-tree-loop-vectorize".into(),
        _ => format!("-fdisable-{name}"),
    }
}

/// The name of a pass without its number, and without the part of a group that it is: `rtl-loop2_init`.
fn base(name: &str) -> &str {
    match name.split_once("-loop2") {
        Some(("rtl", "" | "_init" | "_done")) => "rtl-loop",
        _ => name.trim_end_matches(|c: char| c.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{ToolReach, find};

    const ANSWER: &str = "   *warn_unused_result                                 :  ON\n   \
        tree-ssa                                            :  ON\n       \
        tree-ccp1                                           :  ON\n       \
        tree-ubsan                                          :  OFF\n      \
        tree-reassoc1                                       :  ON\n   \
        tree-veclower21                                     :  ON\n   ipa-inline      :  ON\n   \
        rtl-rtl pre                                         :  ON\n      \
        rtl-loop2_init                                      :  ON\n      rtl-loop2_invariant    :  ON\n\
        cc1: note: this is noise: at all\n";

    #[test]
    fn passes_that_run_and_can_be_missed_are_named_likely_ones_first() {
        let wanted = ["-fdisable-tree-reassoc1", "-fdisable-tree-ccp1", "-fdisable-rtl-loop2_invariant"];
        assert_eq!(parse(ANSWER), wanted);
        assert!(parse("noise\n: ON\n::ON").is_empty());
    }

    #[test]
    fn gcc_names_the_passes_of_a_level() {
        let gcc = find("gcc", &ToolReach::default()).unwrap();
        let ask = |text: &str| {
            passes(&gcc, &text.split_whitespace().map(String::from).collect::<Vec<_>>()).unwrap()
        };
        let all = ask("-O3 -ffast-math -DX -include nowhere.h");
        assert!(all[0].starts_with("-fdisable-tree-reassoc"), "{all:?}");
        for wanted in ["-fdisable-tree-recip", "-fno-tree-loop-vectorize", "-fdisable-rtl-combine"] {
            assert!(all.contains(&wanted.to_string()), "{wanted}");
        }
        assert!(!ask("-O1").contains(&"-fno-tree-loop-vectorize".to_string()));
        assert!(!ask("-O3 -fno-tree-vectorize").contains(&"-fno-tree-loop-vectorize".to_string()));
        assert_eq!(passes(&find("clang-16", &ToolReach::default()).unwrap(), &[]), Ok(Vec::new()));
        let complaint = passes(&gcc, &["-fno-such-flag".into()]).unwrap_err();
        assert!(complaint.contains("-fno-such-flag"), "{complaint}");
    }
}
