//! Crossing the axes: compilers x flag sets x targets x environments, less what is excluded.

use glob::Pattern;

use super::{PlanError, baseline};
use crate::model::{Build, BuildId, CompilerSpec, Environment, Exclude, Experiment, FlagSet, TargetSpec};

/// More builds than this are a mistake in the matrix.
const MOST_BUILDS: usize = 10_000;

/// The builds of an experiment, in the order of the matrix: by compiler, then flag set, then target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub builds: Vec<Build>,
    /// Index into `builds`.
    pub baseline: usize,
}

impl Plan {
    pub fn baseline_build(&self) -> &Build {
        &self.builds[self.baseline]
    }
}

/// Names every build of an experiment and finds the baseline among them.
pub fn expand(experiment: &Experiment) -> Result<Plan, PlanError> {
    let cells = experiment
        .compilers
        .len()
        .saturating_mul(experiment.flags.len())
        .saturating_mul(experiment.targets.len())
        .saturating_mul(experiment.environments.len());
    if cells > MOST_BUILDS {
        return Err(PlanError::TooManyBuilds { builds: cells, most: MOST_BUILDS });
    }
    let rules = experiment.exclude.iter().map(Rule::new).collect::<Result<Vec<_>, _>>()?;
    let (mut builds, mut excluded) = (Vec::new(), Vec::new());
    for compiler in &experiment.compilers {
        for flags in &experiment.flags {
            for target in &experiment.targets {
                let Some(cell) = build(compiler, flags, target) else { continue };
                for build in experiment.environments.iter().map(|e| surround(cell.clone(), e)) {
                    if rules.iter().any(|rule| rule.matches(&build)) {
                        excluded.push(build.id);
                    } else {
                        builds.push(build);
                    }
                }
            }
        }
    }
    if builds.is_empty() {
        return Err(PlanError::NoBuilds { excluded: excluded.len() });
    }
    let baseline = baseline::resolve(experiment.baseline.as_deref(), &builds, &excluded)?;
    Ok(Plan { builds, baseline })
}

/// One cell; None when the target does not name the compiler.
fn build(compiler: &CompilerSpec, flags: &FlagSet, target: &TargetSpec) -> Option<Build> {
    let command = match &target.compilers {
        None => &compiler.command,
        Some(commands) => &commands.iter().find(|(name, _)| *name == compiler.name)?.1,
    };
    let args = [&flags.args, &compiler.args, &target.args].into_iter().flatten().cloned().collect();
    Some(Build {
        id: BuildId::new(&compiler.name, &flags.name, &target.name),
        compiler: compiler.name.clone(),
        flags: flags.name.clone(),
        target: target.name.clone(),
        command: command.clone(),
        args,
        fpenv: target.fpenv.unwrap_or(flags.fpenv),
        optional: compiler.optional,
        runner: target.runner.clone(),
        triple: target.triple.clone(),
        environment: Environment::default(),
        plain: false,
    })
}

/// A cell in an environment.
fn surround(mut build: Build, environment: &Environment) -> Build {
    build.id = build.id.in_environment(&environment.name);
    build.fpenv = environment.fpenv.unwrap_or(build.fpenv);
    build.environment = environment.clone();
    build
}

/// An exclude with its globs ready; a part that is not given matches everything.
struct Rule {
    compiler: Option<Pattern>,
    flags: Option<Pattern>,
    target: Option<Pattern>,
    environment: Option<Pattern>,
}

impl Rule {
    fn new(exclude: &Exclude) -> Result<Rule, PlanError> {
        let pattern = |text: &Option<String>| {
            let parsed = text.as_ref().map(|text| {
                Pattern::new(text)
                    .map_err(|error| PlanError::BadGlob { pattern: text.clone(), reason: error.msg.into() })
            });
            parsed.transpose()
        };
        Ok(Rule {
            compiler: pattern(&exclude.compiler)?,
            flags: pattern(&exclude.flags)?,
            target: pattern(&exclude.target)?,
            environment: pattern(&exclude.environment)?,
        })
    }

    fn matches(&self, build: &Build) -> bool {
        let Rule { compiler, flags, target, environment } = self;
        [
            (compiler, &build.compiler),
            (flags, &build.flags),
            (target, &build.target),
            (environment, &build.environment.name),
        ]
        .into_iter()
        .all(|(pattern, name)| pattern.as_ref().is_none_or(|pattern| pattern.matches(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FpEnvPolicy, Rounding, SearchSettings, Sources};

    fn compiler(name: &str) -> CompilerSpec {
        CompilerSpec {
            name: name.into(),
            command: name.into(),
            args: vec![format!("-from-{name}")],
            optional: false,
        }
    }

    fn flags(name: &str) -> FlagSet {
        FlagSet { name: name.into(), args: vec![format!("-{name}")], fpenv: FpEnvPolicy::Probed }
    }

    fn target(name: &str, compilers: Option<&[&str]>) -> TargetSpec {
        TargetSpec {
            name: name.into(),
            triple: compilers.map(|_| format!("{name}-linux-gnu")),
            compilers: compilers
                .map(|list| list.iter().map(|c| ((*c).into(), format!("{name}-{c}"))).collect()),
            args: Vec::new(),
            runner: Vec::new(),
            fpenv: None,
        }
    }

    fn experiment(baseline: Option<&str>) -> Experiment {
        Experiment {
            name: "lab".into(),
            path: "/m.toml".into(),
            baseline: baseline.map(Into::into),
            sources: Sources::default(),
            presets: Vec::new(),
            compilers: vec![compiler("gcc"), compiler("clang")],
            flags: vec![flags("O0"), flags("O3")],
            targets: vec![target("native", None)],
            environments: vec![Environment::default()],
            exclude: Vec::new(),
            declared: Vec::new(),
            functions: Vec::new(),
            limits: Vec::new(),
            search: SearchSettings::default(),
            setup: None,
            setup_headers: Vec::new(),
        }
    }

    fn exclude(compiler: Option<&str>, flags: Option<&str>) -> Exclude {
        Exclude { compiler: compiler.map(Into::into), flags: flags.map(Into::into), ..Exclude::default() }
    }

    fn ids(plan: &Plan) -> Vec<&str> {
        plan.builds.iter().map(|build| build.id.as_str()).collect()
    }

    #[test]
    fn builds_come_in_the_order_of_the_file() {
        let plan = expand(&experiment(None)).unwrap();
        assert_eq!(ids(&plan), ["gcc/O0/native", "gcc/O3/native", "clang/O0/native", "clang/O3/native"]);
        assert_eq!(plan.baseline_build().id.as_str(), "gcc/O0/native");
        assert_eq!(plan.builds[1].args, ["-O3", "-from-gcc"]);
        assert!(plan.builds[0].is_native());
    }

    #[test]
    fn a_target_is_crossed_only_with_the_compilers_it_names() {
        let mut lab = experiment(Some("clang/O3/native"));
        lab.targets.push(TargetSpec {
            fpenv: Some(FpEnvPolicy::Ieee),
            args: vec!["-mtarget".into()],
            runner: vec!["qemu".into()],
            ..target("arm", Some(&["gcc"]))
        });
        let plan = expand(&lab).unwrap();
        assert_eq!(ids(&plan)[..4], ["gcc/O0/native", "gcc/O0/arm", "gcc/O3/native", "gcc/O3/arm"]);
        assert_eq!(plan.builds.len(), 6);
        let arm = &plan.builds[1];
        assert_eq!((arm.command.as_str(), arm.fpenv), ("arm-gcc", FpEnvPolicy::Ieee));
        assert_eq!(arm.args, ["-O0", "-from-gcc", "-mtarget"]);
        assert_eq!(arm.triple.as_deref(), Some("arm-linux-gnu"));
        assert!(!arm.is_native());
        assert_eq!(plan.baseline, 5);
    }

    #[test]
    fn every_cell_is_crossed_with_every_environment() {
        let mut lab = experiment(None);
        let environment =
            |name: &str, rounding| Environment { name: name.into(), rounding, ..Environment::default() };
        lab.environments = vec![environment("plain", None), environment("up", Some(Rounding::Up))];
        lab.environments[1].fpenv = Some(FpEnvPolicy::Ftz);
        lab.exclude = vec![
            exclude(Some("clang"), None),
            Exclude { flags: Some("O0".into()), environment: Some("u*".into()), ..Exclude::default() },
        ];
        let plan = expand(&lab).unwrap();
        assert_eq!(ids(&plan), ["gcc/O0/native/plain", "gcc/O3/native/plain", "gcc/O3/native/up"]);
        let up = &plan.builds[2];
        assert_eq!((up.fpenv, up.environment.rounding), (FpEnvPolicy::Ftz, Some(Rounding::Up)));
        assert_eq!(plan.builds[1].fpenv, FpEnvPolicy::Probed);
    }

    #[test]
    fn excludes_match_every_given_part_as_a_glob() {
        let mut lab = experiment(Some("gcc/O3"));
        lab.exclude = vec![exclude(Some("gc*"), Some("O0")), exclude(None, Some("O[0-2]"))];
        assert_eq!(ids(&expand(&lab).unwrap()), ["gcc/O3/native", "clang/O3/native"]);
        lab.exclude.push(exclude(Some("*"), None));
        assert_eq!(expand(&lab), Err(PlanError::NoBuilds { excluded: 4 }));
    }

    #[test]
    fn a_beginning_that_one_build_has_is_its_name() {
        assert_eq!(expand(&experiment(Some("clang/O0"))).unwrap().baseline, 2);
        let error = expand(&experiment(Some("clang"))).unwrap_err().to_string();
        assert!(error.contains("any of `clang/O0/native`, `clang/O3/native`"), "{error}");
        let error = expand(&experiment(Some("clang/O"))).unwrap_err();
        assert!(matches!(error, PlanError::UnknownBaseline { .. }));
    }

    #[test]
    fn an_unknown_baseline_is_answered_with_the_builds_and_the_nearest() {
        let error = expand(&experiment(Some("gcc/O1/native"))).unwrap_err().to_string();
        assert!(error.contains("did you mean `gcc/O0/native`?"), "{error}");
        assert!(error.contains("`clang/O3/native`"), "{error}");
    }

    #[test]
    fn an_excluded_baseline_is_called_excluded() {
        let mut lab = experiment(Some("gcc/O0"));
        lab.exclude = vec![exclude(Some("gcc"), Some("O0"))];
        let error = expand(&lab).unwrap_err().to_string();
        assert!(error.contains("`gcc/O0/native` is removed by an [[exclude]]"), "{error}");
    }

    #[test]
    fn the_same_build_may_be_there_twice_under_two_names() {
        let mut lab = experiment(None);
        lab.compilers[1].command = "gcc".into();
        lab.flags[1].args = lab.flags[0].args.clone();
        assert_eq!(expand(&lab).unwrap().builds.len(), 4);
    }

    #[test]
    fn an_absurd_number_of_builds_is_refused() {
        let mut lab = experiment(None);
        lab.compilers = (0..200).map(|i| compiler(&format!("c{i}"))).collect();
        lab.flags = (0..200).map(|i| flags(&format!("f{i}"))).collect();
        assert_eq!(expand(&lab), Err(PlanError::TooManyBuilds { builds: 40_000, most: 10_000 }));
    }
}
