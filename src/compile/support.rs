//! The files of a matrix's `[harness]`: one compiler for each target, the harness's own arguments, and nothing of a
//! build's flags, so that all builds of a target have the same machine code of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::command::{CommandLine, SourceLine, dependency_args, object_stem};
use super::harness::abi_args;
use super::material::Material;
use crate::model::{Build, CompilerSpec, Experiment, Harness, TargetSpec};
use crate::toolchain::{Family, locate};

/// What a matrix says of the files, and the compilers that they may be compiled with.
pub struct Support<'a> {
    harness: &'a Harness,
    compilers: &'a [CompilerSpec],
    targets: &'a [TargetSpec],
}

impl<'a> Support<'a> {
    pub fn of(experiment: &'a Experiment) -> Support<'a> {
        let Experiment { harness, compilers, targets, .. } = experiment;
        Support { harness, compilers, targets }
    }

    pub fn files(&self) -> &'a [PathBuf] {
        &self.harness.files
    }

    /// The command that compiles the files for a build: that of the first compiler of its target that is on this
    /// machine, whichever compiler the build has.
    fn command(&self, build: &Build) -> String {
        let target = self.targets.iter().find(|target| target.name == build.target);
        let commands = self.compilers.iter().filter_map(|compiler| match target?.compilers.as_ref() {
            None => Some(&compiler.command),
            Some(named) => named.iter().find(|(name, _)| *name == compiler.name).map(|(_, command)| command),
        });
        let mut there = commands.filter(|command| locate(command).is_some());
        there.next().unwrap_or(&build.command).clone()
    }

    /// The binary interface that the target asks for.
    fn target_args(&self, build: &Build) -> Vec<String> {
        let target = self.targets.iter().find(|target| target.name == build.target);
        target.map(|target| abi_args(&target.args)).unwrap_or_default()
    }
}

/// The lines that compile the files for a build.
pub fn lines(material: &Material<'_>, build: &Build, taken: &mut BTreeSet<String>) -> Vec<SourceLine> {
    let support = &material.support;
    if support.files().is_empty() {
        return Vec::new();
    }
    let command = support.command(build);
    let family = Family::guess(&command);
    let line = |path: &PathBuf| {
        let stem = object_stem(path, taken);
        let mut argv = vec![command.clone()];
        if family == Family::Clang {
            argv.extend(build.triple.as_ref().map(|triple| format!("--target={triple}")));
        }
        argv.extend(support.target_args(build));
        argv.extend(support.harness.args.iter().cloned());
        // Part of objects to load and of programs alike.
        argv.push("-fPIC".into());
        argv.extend(dependency_args(family, &stem));
        argv.extend(["-o".into(), format!("{stem}.o"), path.display().to_string()]);
        let shown = path.strip_prefix(material.folder).unwrap_or(path).display();
        let line = CommandLine { what: format!("harness {shown}"), argv };
        SourceLine { path: path.clone(), family, object: format!("{stem}.o"), line }
    };
    support.files().iter().map(line).collect()
}
