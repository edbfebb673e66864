//! The row of `run.json` for one build: what it was made of, or why it is not there.

use crate::model::{Artifact, ArtifactStatus, Build, BuildRow, BuildStatus, ControlWords};

/// The row of a build after compilation.
pub fn build_row(build: &Build, artifact: &Artifact) -> BuildRow {
    let (status, reason) = match &artifact.status {
        ArtifactStatus::Built(_) => (BuildStatus::Built, ""),
        ArtifactStatus::Failed { message } => (BuildStatus::Failed, message.as_str()),
        ArtifactStatus::Skipped { reason } => (BuildStatus::Skipped, reason.as_str()),
    };
    let audit = artifact.object().map(|o| o.audit.clone()).unwrap_or_default();
    BuildRow {
        id: build.id.clone(),
        implementation: build.implementation.clone(),
        compiler: build.compiler.clone(),
        version: artifact.version.clone(),
        flags: build.args.clone(),
        target: build.target.clone(),
        fpenv: artifact.object().map(|o| environment(o.control)).unwrap_or_default(),
        emulated: !build.runner.is_empty(),
        arithmetic: artifact.object().and_then(|o| o.arithmetic.clone()),
        libm: artifact.object().map(|o| o.libm.clone()).unwrap_or_default(),
        libraries: artifact.object().map(|o| o.libraries.clone()).unwrap_or_default(),
        audit: audit.functions,
        unaudited: audit.unread,
        optional: build.optional && status == BuildStatus::Skipped,
        status,
        reason: reason.into(),
    }
}

fn environment(control: ControlWords) -> String {
    match control {
        ControlWords::IEEE => "ieee".into(),
        ControlWords::FTZ => "ftz".into(),
        ControlWords { mxcsr, x87 } => format!("mxcsr={mxcsr:#06x} x87={x87:#06x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Audit, BuildId, BuiltObject, Environment, FpEnvPolicy};

    fn build() -> Build {
        Build {
            id: BuildId::new("gcc", "O3", "native"),
            implementation: String::new(),
            compiler: "gcc".into(),
            flags: "O3".into(),
            target: "native".into(),
            command: "gcc".into(),
            args: vec!["-O3".into()],
            fpenv: FpEnvPolicy::Probed,
            optional: false,
            runner: Vec::new(),
            triple: None,
            environment: Environment::default(),
            plain: false,
            apart: false,
        }
    }

    fn row(status: ArtifactStatus) -> BuildRow {
        let build = build();
        build_row(&build, &Artifact { build: build.id.clone(), version: "gcc 12".into(), status })
    }

    fn built(control: ControlWords) -> ArtifactStatus {
        let functions = Vec::new();
        ArtifactStatus::Built(Box::new(BuiltObject {
            path: "a.so".into(),
            control,
            runner: None,
            arithmetic: None,
            libm: String::new(),
            libraries: Default::default(),
            setup_symbol: None,
            functions,
            audit: Audit::default(),
        }))
    }

    #[test]
    fn the_environment_is_named_or_shown_in_hex() {
        assert_eq!(row(built(ControlWords::IEEE)).fpenv, "ieee");
        assert_eq!(row(built(ControlWords::FTZ)).fpenv, "ftz");
        let odd = ControlWords { mxcsr: 0x3f80, x87: 0x037f };
        assert_eq!(row(built(odd)).fpenv, "mxcsr=0x3f80 x87=0x037f");
    }

    #[test]
    fn a_failed_build_keeps_the_compilers_words() {
        let row = row(ArtifactStatus::Failed { message: "a.c:1: error: no".into() });
        assert_eq!((row.status, row.reason.as_str()), (BuildStatus::Failed, "a.c:1: error: no"));
        assert_eq!(row.fpenv, "");
    }
}
