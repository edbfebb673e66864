//! Experiments and builds for the unit tests of this stage.

use crate::fp::Scalar;
use crate::model::{
    Build, BuildId, Callee, Domain, Environment, Experiment, FpEnvPolicy, Function, Implementation, Param,
    SearchSettings, Sources,
};

pub fn function(
    name: &str,
    params: &[(&str, &str, Scalar)],
    result: (&str, Scalar),
    callee: Callee,
) -> Function {
    let params = params
        .iter()
        .map(|(c_type, name, ty)| Param {
            name: (*name).into(),
            c_type: (*c_type).into(),
            ty: *ty,
            domain: Domain::all(*ty),
            domain_text: String::new(),
        })
        .collect();
    Function {
        name: name.into(),
        params,
        result: result.1,
        result_c_type: result.0.into(),
        callee,
        headers: Vec::new(),
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
        })],
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
