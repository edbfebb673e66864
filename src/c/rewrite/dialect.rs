//! How each compiler is told that a piece of code is precise.

/// Whose pragmas and attributes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    Clang,
    Gcc,
}

pub const PRECISE: &str = "float_control(precise, on)";
pub const NO_CONTRACTION: &str = "clang fp contract(off)";

impl Dialect {
    /// Whether single statements can be precise; otherwise only whole functions.
    pub fn has_statements(self) -> bool {
        self == Dialect::Clang
    }

    /// What a command line that contracts everywhere (`-ffast-math`, `-Ofast`, `-ffp-contract=fast`) needs
    /// at its end: without it clang's code generator fuses multiplications and additions of precise code
    /// too where the target can. The rest of the file is contracted as before.
    pub fn arguments_beside_contraction(self) -> &'static [&'static str] {
        match self {
            Dialect::Clang => &["-Xclang", "-ffp-contract=fast-honor-pragmas"],
            Dialect::Gcc => &[],
        }
    }
}

/// Both pragmas in the form that needs no line of its own. The second must follow the first, which
/// allows contraction again.
pub fn inline_pragmas() -> String {
    format!("_Pragma(\"{PRECISE}\") _Pragma(\"{NO_CONTRACTION}\")")
}

/// GCC's attribute, which may stand before everything else of a definition.
pub fn attribute(without_contraction: bool) -> &'static str {
    if without_contraction {
        "__attribute__((optimize(\"no-fast-math\",\"fp-contract=off\")))"
    } else {
        "__attribute__((optimize(\"no-fast-math\")))"
    }
}
