//! Finding a program that disassembles what a compiler makes.

use std::path::{Path, PathBuf};

use super::compiler::{Missing, locate, newest};
use super::package::debian_package;

/// The programs that may be able to, the likeliest first: the one beside a cross compiler, the target's,
/// this machine's, LLVM's, which knows most targets. By their names: a compiler is run only to compile.
pub fn disassemblers(compiler: &Path, triple: Option<&str>) -> Vec<PathBuf> {
    let targets = triple.and_then(|triple| locate(&format!("{triple}-objdump")));
    let llvm = newest("llvm-objdump").and_then(|command| locate(&command));
    let mut found = Vec::new();
    for path in beside(compiler).into_iter().chain(targets).chain(locate("objdump")).chain(llvm) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// What to say when none of them is there, or none knows the target.
pub fn no_disassembler(triple: Option<&str>) -> Missing {
    let command = triple.map_or("objdump".into(), |triple| format!("{triple}-objdump"));
    Missing { package: debian_package(&command), command }
}

/// `aarch64-linux-gnu-objdump` in the folder of `aarch64-linux-gnu-gcc-12`.
fn beside(compiler: &Path) -> Option<PathBuf> {
    let name = compiler.file_name()?.to_str()?;
    let prefix = &name[..name.rfind("gcc")?];
    let path = compiler.with_file_name(format!("{prefix}objdump"));
    if prefix.ends_with('-') { locate(path.to_str()?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cross_compilers_own_comes_first_and_this_machines_after() {
        let found = disassemblers(&locate("aarch64-linux-gnu-gcc").unwrap(), None);
        assert_eq!(found.first(), locate("aarch64-linux-gnu-objdump").as_ref());
        assert!(found.contains(&locate("objdump").unwrap()), "{found:?}");
        let found = disassemblers(&locate("clang-16").unwrap(), Some("aarch64-linux-gnu"));
        assert_eq!(found.first(), locate("aarch64-linux-gnu-objdump").as_ref());
        assert_eq!(disassemblers(&locate("gcc").unwrap(), None).first(), locate("objdump").as_ref());
    }

    #[test]
    fn a_missing_one_names_its_package() {
        assert_eq!(no_disassembler(None).to_string(), "objdump not found; Debian package binutils");
        assert_eq!(
            no_disassembler(Some("s390x-linux-gnu")).to_string(),
            "s390x-linux-gnu-objdump not found; Debian package binutils-s390x-linux-gnu"
        );
    }
}
