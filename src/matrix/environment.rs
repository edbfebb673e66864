//! `[[environment]]`: what calls run in beside the build's own code.

use std::path::Path;

use super::names::{Unique, check_name};
use super::place::Text;
use super::problem::{Problem, Problems};
use super::raw::RawEnvironment;
use super::sources::plain;
use crate::model::{Environment, FpEnvPolicy, Libm, Precision, Rounding};

const FPENVS: [(&str, FpEnvPolicy); 3] =
    [("probed", FpEnvPolicy::Probed), ("ieee", FpEnvPolicy::Ieee), ("ftz", FpEnvPolicy::Ftz)];
const ROUNDINGS: [(&str, Rounding); 4] = [
    ("nearest", Rounding::Nearest),
    ("up", Rounding::Up),
    ("down", Rounding::Down),
    ("zero", Rounding::Zero),
];
const PRECISIONS: [(&str, Precision); 3] =
    [("single", Precision::Single), ("double", Precision::Double), ("extended", Precision::Extended)];

/// The declared environments, or the one that changes nothing.
pub(super) fn environments(
    raw: &[RawEnvironment],
    folder: &Path,
    problems: &mut Problems,
) -> Vec<Environment> {
    if raw.is_empty() {
        return vec![Environment::default()];
    }
    let mut unique = Unique::default();
    let mut environments = Vec::new();
    for entry in raw {
        check_name("environment", &entry.name, problems);
        unique.add("environments", entry.name.as_str(), entry.name.place, "", problems);
        environments.push(Environment {
            name: entry.name.value.clone(),
            fpenv: entry.fpenv.as_ref().and_then(|text| fpenv(text, problems)),
            rounding: entry.rounding.as_ref().and_then(|text| choose("rounding", text, &ROUNDINGS, problems)),
            precision: entry
                .x87_precision
                .as_ref()
                .and_then(|text| choose("x87_precision", text, &PRECISIONS, problems)),
            libm: entry.libm.as_ref().and_then(|text| libm(text, folder, problems)),
            tunables: entry.glibc_tunables.as_ref().and_then(|text| tunables(text, problems)),
            optional: entry.optional,
        });
        if let (Some(libm), Some(tunables)) = (&entry.libm, &entry.glibc_tunables) {
            let title = "`glibc_tunables` has no effect on another libm";
            let problem = Problem::new(tunables.place, title).label("read by glibc alone");
            problems.add(problem.also(libm.place, "not glibc's").help("make two environments of them"));
        }
    }
    environments
}

pub(super) fn fpenv(text: &Text, problems: &mut Problems) -> Option<FpEnvPolicy> {
    choose("fpenv", text, &FPENVS, problems)
}

pub(super) fn choose<T: Copy>(
    key: &str,
    text: &Text,
    known: &[(&str, T)],
    problems: &mut Problems,
) -> Option<T> {
    let found = known.iter().find(|(name, _)| *name == text.as_str());
    if found.is_none() {
        let problem = Problem::new(text.place, format!("`{key}` cannot be {:?}", text.as_str()));
        let allowed = known.iter().map(|(name, _)| *name);
        problems.add(problem.meant(text.as_str(), allowed, "unknown", "allowed values"));
    }
    found.map(|(_, value)| *value)
}

/// `musl`, or a library file.
fn libm(text: &Text, folder: &Path, problems: &mut Problems) -> Option<Libm> {
    if text.as_str() == "musl" {
        return Some(Libm::Musl);
    }
    let help = "`libm` is \"musl\", or the path of a library such as \"/opt/openlibm/libopenlibm.a\"";
    if !text.as_str().contains('/') {
        let title = format!("`libm` cannot be {:?}", text.as_str());
        problems.add(Problem::new(text.place, title).label("neither a known name nor a path").help(help));
        return None;
    }
    let path = plain(&folder.join(text.as_str()));
    if !path.is_file() {
        let title = format!("there is no library {}", path.display());
        problems.add(Problem::new(text.place, title).label("no such file").help(help));
        return None;
    }
    Some(Libm::File(path))
}

fn tunables(text: &Text, problems: &mut Problems) -> Option<String> {
    let sound = |part: &str| part.split_once('=').is_some_and(|(name, _)| name.starts_with("glibc."));
    if !text.as_str().split(':').all(sound) {
        let title = format!("{:?} is no value of GLIBC_TUNABLES", text.as_str());
        let help = "for example \"glibc.cpu.hwcaps=-AVX2,-FMA\"; several are joined with colons";
        problems.add(Problem::new(text.place, title).label("expected glibc.NAME=VALUE").help(help));
        return None;
    }
    Some(text.value.clone())
}
