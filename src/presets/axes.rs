//! What a preset brings, and how it joins what is there.

use super::{fast_math, ports, upgrade};
use crate::model::{
    CompilerSpec, Environment, Exclude, Experiment, FlagSet, FpEnvPolicy, Preset, TargetSpec,
};
use crate::toolchain::ToolReach;

/// Why a preset cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    #[error(
        "the preset `upgrade` needs two versions of one compiler, such as gcc-11 and gcc-12; this machine has {found}\n\
         install one more, or declare two [[compiler]] tables instead"
    )]
    OneVersion { found: String },
    #[error("the preset `fast-math` cannot ask {command} what -ffast-math stands for: {reason}")]
    NoAnswer { command: String, reason: String },
}

/// Entries for every axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Axes {
    pub compilers: Vec<CompilerSpec>,
    pub flags: Vec<FlagSet>,
    pub targets: Vec<TargetSpec>,
    pub environments: Vec<Environment>,
    pub exclude: Vec<Exclude>,
}

/// Adds the axes of every preset of an experiment. An entry that the matrix declares itself, by the same
/// name, stays as it is.
pub fn apply(experiment: &mut Experiment, reach: &ToolReach) -> Result<(), PresetError> {
    for preset in experiment.presets.clone() {
        let axes = match preset {
            Preset::PortArm => ports::arm(),
            Preset::PortMusl => ports::musl(),
            Preset::X87 => ports::x87(),
            Preset::Upgrade => upgrade::newest_two(&upgrade::versions())?,
            Preset::FastMath => fast_math::sub_flags(&experiment.compilers, reach)?,
        };
        join(experiment, axes);
    }
    Ok(())
}

fn join(experiment: &mut Experiment, axes: Axes) {
    add(&mut experiment.compilers, axes.compilers, |c| &c.name);
    add(&mut experiment.flags, axes.flags, |f| &f.name);
    add(&mut experiment.targets, axes.targets, |t| &t.name);
    // The environment without a name stands for there being none.
    if !axes.environments.is_empty() {
        experiment.environments.retain(|e| !e.name.is_empty());
    }
    add(&mut experiment.environments, axes.environments, |e| &e.name);
    experiment.exclude.extend(axes.exclude);
}

fn add<T>(to: &mut Vec<T>, entries: Vec<T>, name: impl Fn(&T) -> &String) {
    for entry in entries {
        if !to.iter().any(|there| name(there) == name(&entry)) {
            to.push(entry);
        }
    }
}

pub(super) fn compiler(name: &str, command: &str) -> CompilerSpec {
    CompilerSpec { name: name.into(), command: command.into(), args: Vec::new(), optional: true }
}

pub(super) fn flags(name: &str, args: &[&str]) -> FlagSet {
    let args = args.iter().map(ToString::to_string).collect();
    FlagSet { name: name.into(), args, fpenv: FpEnvPolicy::Probed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Harness, Implementation, SandboxSettings, SearchSettings};

    pub fn experiment(presets: &[Preset]) -> Experiment {
        Experiment {
            name: "lab".into(),
            path: "/m.toml".into(),
            baseline: None,
            implementations: vec![Implementation::default()],
            harness: Harness::default(),
            sandbox: SandboxSettings::default(),
            presets: presets.to_vec(),
            compilers: Vec::new(),
            flags: Vec::new(),
            targets: vec![ports::native()],
            environments: vec![Environment::default()],
            exclude: Vec::new(),
            declared: Vec::new(),
            functions: Vec::new(),
            limits: Vec::new(),
            search: SearchSettings::default(),
        }
    }

    #[test]
    fn what_the_matrix_declares_itself_stays() {
        let mut lab = experiment(&[Preset::PortMusl]);
        lab.compilers.push(compiler("gcc", "/opt/gcc/bin/gcc"));
        lab.flags.push(flags("O1", &["-O1"]));
        apply(&mut lab, &ToolReach::default()).unwrap();
        assert_eq!(lab.compilers, [compiler("gcc", "/opt/gcc/bin/gcc")]);
        assert_eq!(lab.flags.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["O1", "O2"]);
        assert_eq!(lab.environments.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["glibc", "musl"]);
    }

    #[test]
    fn two_presets_add_up() {
        let mut lab = experiment(&[Preset::PortArm, Preset::X87]);
        apply(&mut lab, &ToolReach::default()).unwrap();
        let names: Vec<&str> = lab.targets.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["native", "aarch64", "i686"]);
        assert_eq!(lab.environments, [Environment::default()]);
    }
}
