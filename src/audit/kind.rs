//! Which instructions decide bits, for each machine, by the names that objdump gives them.

use object::Architecture;

/// A family of machines that share instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    X86,
    Aarch64,
    Arm,
    RiscV,
    PowerPc,
    S390x,
}

/// What an instruction does to bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fma,
    Approximate,
    X87,
}

impl Machine {
    /// None when its instructions are not known here.
    pub fn of(architecture: Architecture) -> Option<Machine> {
        Some(match architecture {
            Architecture::I386 | Architecture::X86_64 | Architecture::X86_64_X32 => Machine::X86,
            Architecture::Aarch64 => Machine::Aarch64,
            Architecture::Arm => Machine::Arm,
            Architecture::Riscv32 | Architecture::Riscv64 => Machine::RiscV,
            Architecture::PowerPc | Architecture::PowerPc64 => Machine::PowerPc,
            Architecture::S390x => Machine::S390x,
            _ => return None,
        })
    }

    /// What an instruction is counted as, and whether its bits are left to the maker of the processor.
    pub fn kind(self, mnemonic: &str) -> Option<(Kind, bool)> {
        match self {
            Machine::X86 => x86(mnemonic),
            // The estimates of Arm and RISC-V are defined by their architectures to the last bit. The
            // steps that refine them (frecps) are rounded as the standard says and are no estimates.
            Machine::Aarch64 => plain(mnemonic, AARCH64_FMA, &["frecpe", "frsqrte", "urecpe", "ursqrte"]),
            // vmla and vmls round twice.
            Machine::Arm => {
                plain(mnemonic, &["vfma", "vfms", "vfnma", "vfnms", "vcmla"], &["vrecpe", "vrsqrte"])
            }
            Machine::RiscV => plain(mnemonic, RISCV_FMA, &["vfrec7", "vfrsqrt7"]),
            Machine::PowerPc => power(mnemonic),
            Machine::S390x => is_s390x_fma(mnemonic).then_some((Kind::Fma, false)),
        }
    }
}

const AARCH64_FMA: &[&str] = &[
    "fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls", "fmad", "fmsb", "fnmla", "fnmls", "fnmad", "fnmsb",
    "fcmla", "bfmla",
];

const RISCV_FMA: &[&str] = &[
    "fmadd.",
    "fmsub.",
    "fnmadd.",
    "fnmsub.",
    "vfmadd.",
    "vfmsub.",
    "vfnmadd.",
    "vfnmsub.",
    "vfmacc.",
    "vfmsac.",
    "vfnmacc.",
    "vfnmsac.",
    "vfwmacc.",
    "vfwmsac.",
    "vfwnmacc.",
    "vfwnmsac.",
];

/// By the beginning of the name; what follows is a type or a width.
fn plain(mnemonic: &str, fma: &[&str], estimates: &[&str]) -> Option<(Kind, bool)> {
    let one_of = |list: &[&str]| list.iter().any(|start| mnemonic.starts_with(start));
    if one_of(fma) {
        Some((Kind::Fma, false))
    } else {
        one_of(estimates).then_some((Kind::Approximate, false))
    }
}

fn x86(mnemonic: &str) -> Option<(Kind, bool)> {
    let one_of = |list: &[&str]| list.iter().any(|start| mnemonic.starts_with(start));
    if one_of(&["vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "vfcmadd", "v4fmadd", "v4fnmadd"]) {
        return Some((Kind::Fma, false));
    }
    // With and without v, of 11, 14 and 28 bits; pf: 3DNow!.
    if one_of(&["rcp", "rsqrt", "vrcp", "vrsqrt", "pfrcp", "pfrsqrt"]) {
        return Some((Kind::Approximate, true));
    }
    // Only what rounds to the x87's own precision. Loads and stores are how the ABI of i686 passes
    // and returns numbers whatever computes them; signs, comparisons, remainders and roundings to an
    // integer are exact.
    if one_of(&["fadd", "fiadd", "fsub", "fisub", "fmul", "fimul", "fdiv", "fidiv"]) || mnemonic == "fsqrt" {
        return Some((Kind::X87, false));
    }
    let functions = ["fsin", "fcos", "fsincos", "fptan", "fpatan", "f2xm1", "fyl2x", "fyl2xp1"];
    functions.contains(&mnemonic).then_some((Kind::X87, true))
}

fn power(mnemonic: &str) -> Option<(Kind, bool)> {
    // A dot means that the condition register is set too.
    let name = mnemonic.trim_end_matches('.');
    let fused = ["fmadd", "fmsub", "fnmadd", "fnmsub"];
    let vector = ["xsmadd", "xsmsub", "xsnmadd", "xsnmsub", "xvmadd", "xvmsub", "xvnmadd", "xvnmsub"];
    if fused.iter().chain(&vector).any(|start| name.starts_with(start))
        || matches!(name, "vmaddfp" | "vnmsubfp")
    {
        return Some((Kind::Fma, false));
    }
    let estimates = [
        "fre",
        "fres",
        "frsqrte",
        "frsqrtes",
        "vrefp",
        "vrsqrtefp",
        "xsredp",
        "xsresp",
        "xsrsqrtedp",
        "xsrsqrtesp",
        "xvredp",
        "xvresp",
        "xvrsqrtedp",
        "xvrsqrtesp",
    ];
    estimates.contains(&name).then_some((Kind::Approximate, true))
}

/// The vector forms end in a type: `wfmaxb` multiplies and adds, `wfmaxdb` is a maximum.
fn is_s390x_fma(mnemonic: &str) -> bool {
    let scalar = ["madb", "maeb", "msdb", "mseb"].iter().any(|start| mnemonic.starts_with(start));
    let vector = ["vfma", "vfms", "vfnma", "vfnms", "wfma", "wfms", "wfnma", "wfnms"].iter();
    let typed = |rest: &str| matches!(rest, "" | "sb" | "db" | "xb");
    scalar || vector.filter_map(|start| mnemonic.strip_prefix(start)).any(typed)
}

/// Whether a function of this name is a library's vector version of a mathematical one: glibc's and
/// SLEEF's by the vector ABI, Intel's, AMD's, Arm's, SLEEF's own.
pub fn is_vector_math(name: &str) -> bool {
    ["_ZGV", "__svml_", "amd_vr", "armpl_v", "armpl_sv", "Sleef_"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(machine: Machine, mnemonics: &str) -> Vec<Option<(Kind, bool)>> {
        mnemonics.split(' ').map(|m| machine.kind(m)).collect()
    }

    #[test]
    fn fused_multiply_adds_are_known_on_every_machine() {
        for (machine, fused, others) in [
            (Machine::X86, "vfmadd213sd vfnmsub231ps vfmaddsub132pd vfmaddpd", "mulsd vaddsd fmulp vmaxps"),
            (Machine::Aarch64, "fmadd fnmsub fmla fmls", "fmul fmax fmaxnm madd fadd fmov"),
            (Machine::Arm, "vfma.f64 vfnms.f32", "vmla.f64 vmls.f32 vmul.f64 vmax.f32"),
            (Machine::RiscV, "fmadd.d fnmsub.s vfmacc.vv", "fmul.d fmax.d vfmax.vv fmsubx"),
            (Machine::PowerPc, "fmadd fnmsubs. xsmaddadp xvnmsubmsp vmaddfp", "fmul maddld xsmaxdp xxpermdi"),
            (Machine::S390x, "madbr maeb msdbr wfmadb vfmasb wfmaxb", "mdbr wfmaxdb vfmaxsb wfmaxxb wfmdb"),
        ] {
            let fma = Some((Kind::Fma, false));
            assert!(all(machine, fused).iter().all(|k| *k == fma), "{machine:?} {fused}");
            assert!(all(machine, others).iter().all(|k| *k != fma), "{machine:?} {others}");
        }
    }

    #[test]
    fn estimates_are_left_to_the_maker_on_x86_and_power_alone() {
        for (machine, estimates, by_maker) in [
            (Machine::X86, "rcpps rcpss vrsqrtss vrcp14pd vrsqrt28ss rsqrtps", true),
            (Machine::Aarch64, "frecpe frsqrte", false),
            (Machine::Arm, "vrecpe.f32 vrsqrte.f32", false),
            (Machine::RiscV, "vfrec7.v vfrsqrt7.v", false),
            (Machine::PowerPc, "fre fres frsqrte. xsrsqrtesp xvredp", true),
        ] {
            let kind = Some((Kind::Approximate, by_maker));
            assert!(all(machine, estimates).iter().all(|k| *k == kind), "{machine:?} {estimates}");
        }
        assert_eq!(all(Machine::Aarch64, "frecps frsqrts frecpx"), [None; 3]);
        assert_eq!(all(Machine::PowerPc, "frsp frin"), [None; 2]);
    }

    #[test]
    fn x87_moves_are_not_arithmetic() {
        let (rounded, function) = (Some((Kind::X87, false)), Some((Kind::X87, true)));
        assert!(
            all(Machine::X86, "fadds faddp fiaddl fsubrp fmull fdivrp fsqrt").iter().all(|k| *k == rounded)
        );
        assert!(all(Machine::X86, "fsin fpatan fyl2x").iter().all(|k| *k == function));
        let exact = "fldl fstpl fld1 fildll fistpll fxch fchs fabs fucomip fnstcw frndint fprem ffree fnop";
        assert!(all(Machine::X86, exact).iter().all(Option::is_none));
    }

    #[test]
    fn vector_functions_are_known_by_their_libraries_names() {
        for name in ["_ZGVbN4v_sinf", "_ZGVnN2v_exp", "__svml_sin4", "amd_vrd4_exp", "armpl_vsinq_f64"] {
            assert!(is_vector_math(name), "{name}");
        }
        assert!(!is_vector_math("sin") && !is_vector_math("gsl_vector_add"));
    }
}
