//! Finding a program that disassembles what a compiler makes.

use std::path::PathBuf;
use std::time::Duration;

use super::compiler::{Compiler, Family, Missing, locate, newest};
use super::package::debian_package;
use super::process::{Invocation, run};

/// How long a compiler may take to name a program.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The programs that may be able to, the likeliest first: the one that the compiler names, the
/// target's, this machine's, LLVM's, which knows most targets.
pub fn disassemblers(compiler: &Compiler, triple: Option<&str>) -> Vec<PathBuf> {
    let own = (compiler.family == Family::Gcc).then(|| named_by(compiler)).flatten();
    let targets = triple.and_then(|triple| locate(&format!("{triple}-objdump")));
    let llvm = || newest("llvm-objdump").and_then(|command| locate(&command));
    let mut found = Vec::new();
    for path in own.into_iter().chain(targets).chain(locate("objdump")).chain(llvm()) {
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

/// A bare name is what a compiler answers that has no objdump of its own.
fn named_by(compiler: &Compiler) -> Option<PathBuf> {
    let argv = [compiler.path.display().to_string(), "-print-prog-name=objdump".into()];
    let tmp = std::env::temp_dir();
    let done = run(&Invocation {
        program: &compiler.path,
        argv: &argv,
        cwd: &tmp,
        tmp: &tmp,
        timeout: TIMEOUT,
        cancel: None,
    });
    let name = done.stdout.trim();
    if done.success() && name.starts_with('/') { locate(name) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::find;

    #[test]
    fn a_compiler_is_asked_first_and_this_machine_s_own_comes_after() {
        let found = disassemblers(&find("aarch64-linux-gnu-gcc").unwrap(), Some("aarch64-linux-gnu"));
        assert!(found[0].display().to_string().contains("aarch64-linux-gnu"), "{found:?}");
        assert!(found.contains(&locate("objdump").unwrap()), "{found:?}");
        let found = disassemblers(&find("gcc").unwrap(), None);
        assert_eq!(found.first(), locate("objdump").as_ref());
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
