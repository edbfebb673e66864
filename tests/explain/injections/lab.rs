//! Trees compiled and asked: objects of two modes mixed file by file, linked with a small driver.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use bitrift::fp::Stream;
use tempfile::TempDir;

use super::{Guilty, Tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    Clang,
    Gcc,
}

impl Compiler {
    fn command(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-16",
            Compiler::Gcc => "gcc",
        }
    }

    fn flags(self, mode: Mode) -> &'static [&'static str] {
        match (mode, self) {
            (Mode::Plain, _) => &["-O0"],
            (Mode::Fast, _) => &["-O3", "-ffast-math", "-mfma"],
            (Mode::FastWithPragmas, Compiler::Clang) => {
                &["-O3", "-ffast-math", "-mfma", "-Xclang", "-ffp-contract=fast-honor-pragmas"]
            }
            (Mode::FastWithPragmas, Compiler::Gcc) => panic!("gcc has no such pragmas"),
        }
    }
}

/// How one file is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// -O0, the baseline.
    Plain,
    Fast,
    /// As `Fast`, but pragmas decide what is fused; clang only.
    FastWithPragmas,
}

pub type Input = [f64; 2];

/// Objects by what they are made of, so that equal code is compiled once.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/injections");

/// Reads pairs of doubles as bits, prints the bits of the result. Linked without fast-math, so that
/// subnormals are flushed only when asked for.
const DRIVER: &str = r#"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xmmintrin.h>
#include "reservoir.h"

int main(int argc, char **argv)
{
    uint64_t in[2];
    (void)argv;
    if (argc > 1)
        _mm_setcsr(_mm_getcsr() | 0x8040);
    while (scanf("%" SCNx64 " %" SCNx64, &in[0], &in[1]) == 2) {
        double x[2], result;
        uint64_t out;
        memcpy(x, in, sizeof x);
        result = season_income(x[0], x[1]);
        memcpy(&out, &result, sizeof out);
        printf("%" PRIx64 "\n", out);
    }
    return 0;
}
"#;

/// A compiler, and a folder for what it makes.
pub struct Lab {
    compiler: Compiler,
    version: Vec<u8>,
    folder: TempDir,
    names: AtomicUsize,
}

impl Lab {
    pub fn open(compiler: Compiler) -> Lab {
        let folder = TempDir::new().unwrap();
        for (name, text) in Tree::fixture().files.iter().filter(|(name, _)| name.ends_with(".h")) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir_all(CACHE).unwrap();
        let version = Command::new(compiler.command()).arg("--version").output();
        let version = version.unwrap_or_else(|e| panic!("{compiler:?}: {e}")).stdout;
        Lab { compiler, version, folder, names: AtomicUsize::new(0) }
    }

    /// The bits of the result at each input, with each file compiled in the mode that is asked for.
    pub fn results(
        &self,
        tree: &Tree,
        mode: impl Fn(&str) -> Mode,
        flushed: bool,
        inputs: &[Input],
    ) -> Vec<u64> {
        let mut objects = vec![self.object(DRIVER, Mode::Plain)];
        objects.extend(tree.sources().map(|(name, text)| self.object(text, mode(name))));
        let program = self.fresh("program");
        run(Command::new(self.compiler.command()).args(&objects).arg("-lm").arg("-o").arg(&program));
        let mut ask = Command::new(&program);
        ask.args(flushed.then_some("flushed")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = ask.spawn().unwrap();
        let words: String =
            inputs.iter().map(|[x, y]| format!("{:x} {:x}\n", x.to_bits(), y.to_bits())).collect();
        let mut pipe = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || pipe.write_all(words.as_bytes()));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap().unwrap();
        std::fs::remove_file(program).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let bits: Vec<u64> = text.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
        assert_eq!(bits.len(), inputs.len(), "{}", output.status);
        bits
    }

    /// All files in one mode, subnormals kept.
    pub fn all(&self, tree: &Tree, mode: Mode, inputs: &[Input]) -> Vec<u64> {
        self.results(tree, |_| mode, false, inputs)
    }

    /// All files fast, with these statements precise.
    pub fn healed(&self, tree: &Tree, guilty: &[&Guilty], inputs: &[Input]) -> Vec<u64> {
        let healed = guilty.iter().fold(tree.clone(), |tree, guilty| tree.healed(guilty));
        let mode = |file: &str| match guilty.iter().any(|g| g.file == file) {
            true => Mode::FastWithPragmas,
            false => Mode::Fast,
        };
        self.results(&healed, mode, false, inputs)
    }

    /// At how many of the inputs a fast build differs from the plain one.
    pub fn share(&self, tree: &Tree, inputs: &[Input]) -> f64 {
        share(&self.all(tree, Mode::Plain, inputs), &self.all(tree, Mode::Fast, inputs))
    }

    fn object(&self, text: &str, mode: Mode) -> PathBuf {
        let flags = self.compiler.flags(mode);
        let header = &Tree::fixture().files["reservoir.h"];
        let mut key = blake3::Hasher::new();
        for part in [&self.version[..], flags.join(" ").as_bytes(), header.as_bytes(), text.as_bytes()] {
            key.update(blake3::hash(part).as_bytes());
        }
        let known = Path::new(CACHE).join(format!("{}.o", key.finalize().to_hex()));
        if !known.exists() {
            let source = self.fresh("c");
            // Other tests may be at the same object: it gets its name when it is complete.
            let object = tempfile::NamedTempFile::new_in(CACHE).unwrap().into_temp_path();
            std::fs::write(&source, text).unwrap();
            let mut compile = Command::new(self.compiler.command());
            compile.arg("-I").arg(self.folder.path()).args(["-fPIC", "-c"]).args(flags);
            run(compile.arg(&source).arg("-o").arg(&object));
            object.persist(&known).unwrap();
        }
        known
    }

    fn fresh(&self, extension: &str) -> PathBuf {
        let number = self.names.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join(format!("{number}.{extension}"))
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Random inputs of the fixture's domain.
pub fn inputs(count: usize) -> Vec<Input> {
    let mut stream = Stream::new(1, &["injections"], 0);
    let mut value = || 1.0 + 999.0 * stream.unit();
    (0..count).map(|_| [value(), value()]).collect()
}

/// The share of results that differ.
pub fn share(some: &[u64], others: &[u64]) -> f64 {
    let differ = some.iter().zip(others).filter(|(a, b)| a != b).count();
    differ as f64 / some.len() as f64
}
