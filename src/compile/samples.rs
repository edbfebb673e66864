//! Experiments and builds for the unit tests of this stage.

use crate::fp::Scalar;
use crate::model::{
    Build, BuildId, Callee, Coordinate, Domain, Environment, Experiment, FpEnvPolicy, Function, Harness,
    Implementation, Interface, Results, SandboxSettings, SearchSettings, Sources,
};

pub fn function(
    name: &str,
    params: &[(&str, &str, Scalar)],
    result: (&str, Scalar),
    callee: Callee,
) -> Function {
    let coordinates = params
        .iter()
        .map(|(_, name, ty)| Coordinate {
            name: (*name).into(),
            ty: *ty,
            domain: Domain::all(*ty),
            domain_text: String::new(),
        })
        .collect();
    Function {
        name: name.into(),
        coordinates,
        results: Results::one(result.1),
        interface: Interface::of_scalars(params, result),
        callee,
        headers: Vec::new(),
        within: None,
        declared: None,
    }
}

/// `double name(double x)` by its signature.
pub fn unary(name: &str) -> Function {
    let callee = Callee::Signature(format!("double {name}(double x)"));
    function(name, &[("double", "x", Scalar::F64)], ("double", Scalar::F64), callee)
}

pub fn experiment(files: &[&str], functions: Vec<Function>) -> Experiment {
    Experiment {
        name: "sample".into(),
        path: "/lab/matrix.toml".into(),
        baseline: None,
        implementations: vec![Implementation::unnamed(Sources {
            files: files.iter().map(Into::into).collect(),
            include: vec!["/lab/include".into()],
            defines: vec!["N=3".into()],
            libs: vec!["m".into()],
            library_path: Vec::new(),
        })],
        harness: Harness::default(),
        sandbox: SandboxSettings::default(),
        presets: Vec::new(),
        compilers: Vec::new(),
        flags: Vec::new(),
        targets: Vec::new(),
        environments: Vec::new(),
        exclude: Vec::new(),
        declared: Vec::new(),
        functions,
        limits: Vec::new(),
        search: SearchSettings::default(),
    }
}

pub fn build(command: &str, args: &[&str]) -> Build {
    Build {
        id: BuildId::new(command, &args.join(""), "native"),
        implementation: String::new(),
        compiler: command.into(),
        flags: args.join(""),
        target: "native".into(),
        command: command.into(),
        args: args.iter().map(ToString::to_string).collect(),
        fpenv: FpEnvPolicy::Probed,
        optional: false,
        runner: Vec::new(),
        triple: None,
        environment: Environment::default(),
        plain: false,
        apart: false,
    }
}
