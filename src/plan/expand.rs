//! Crossing the axes: implementations x compilers x flag sets x targets x environments, less what is excluded.

use glob::Pattern;

use super::{PlanError, baseline, limits};
use crate::model::{
    Build, BuildId, CompilerSpec, Environment, Exclude, Experiment, FlagSet, Implementation, TargetSpec,
};

/// More builds than this are a mistake in the matrix.
const MOST_BUILDS: usize = 10_000;

/// The builds of an experiment, in the order of the matrix: by implementation, then compiler, flag set, target.
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
    let count = experiment
        .implementations
        .len()
        .saturating_mul(experiment.compilers.len())
        .saturating_mul(experiment.flags.len())
        .saturating_mul(experiment.targets.len())
        .saturating_mul(experiment.environments.len());
    if count > MOST_BUILDS {
        return Err(PlanError::TooManyBuilds { builds: count, most: MOST_BUILDS });
    }
    let rules = experiment.exclude.iter().map(Rule::new).collect::<Result<Vec<_>, _>>()?;
    let (mut builds, mut excluded) = (Vec::new(), Vec::new());
    for implementation in &experiment.implementations {
        for build in cells(experiment, implementation)? {
            match rules.iter().any(|rule| rule.matches(&build)) {
                true => excluded.push(build.id),
                false => builds.push(build),
            }
        }
    }
    if builds.is_empty() {
        return Err(PlanError::NoBuilds { excluded: excluded.len() });
    }
    limits::check(experiment, &builds)?;
    let baseline = baseline::resolve(experiment.baseline.as_deref(), &builds, &excluded)?;
    Ok(Plan { builds, baseline })
}

/// Every build of one implementation, before excludes.
fn cells(experiment: &Experiment, implementation: &Implementation) -> Result<Vec<Build>, PlanError> {
    let Experiment { baseline, compilers, flags, targets, environments, .. } = experiment;
    let cell = baseline.as_deref().map(|id| BuildId::split(id).1).unwrap_or_default();
    let mut usual = cell.split('/');
    let chosen = Choice::new(implementation, implementation.compilers.as_deref())?;
    let compilers = chosen.among(compilers, |c| &c.name, usual.next());
    let chosen = Choice::new(implementation, implementation.flags.as_deref())?;
    let flags = chosen.among(flags, |f| &f.name, usual.next());
    let mut builds = Vec::new();
    for compiler in compilers {
        for flags in &flags {
            for target in targets {
                let Some(mut cell) = build(compiler, flags, target) else { continue };
                cell.implementation = implementation.name.clone();
                cell.id = cell.id.of_implementation(&implementation.name);
                builds.extend(environments.iter().map(|e| surround(cell.clone(), e)));
            }
        }
    }
    Ok(builds)
}

/// Which values of an axis an implementation is crossed with.
enum Choice {
    All,
    /// The baseline's: no compiler has a say in the code of a library.
    Usual,
    Globs(Vec<Pattern>),
}

impl Choice {
    fn new(implementation: &Implementation, globs: Option<&[String]>) -> Result<Choice, PlanError> {
        match globs {
            Some(globs) => {
                Ok(Choice::Globs(globs.iter().map(|text| pattern(text)).collect::<Result<_, _>>()?))
            }
            None if implementation.name.is_empty() => Ok(Choice::All),
            None if implementation.sources.files.is_empty() => Ok(Choice::Usual),
            None => Ok(Choice::All),
        }
    }

    fn among<'a, T>(&self, axis: &'a [T], name: fn(&T) -> &String, usual: Option<&str>) -> Vec<&'a T> {
        match self {
            Choice::All => axis.iter().collect(),
            Choice::Usual => {
                let named = axis.iter().find(|value| Some(name(value).as_str()) == usual);
                named.or(axis.first()).into_iter().collect()
            }
            Choice::Globs(globs) => {
                axis.iter().filter(|value| globs.iter().any(|glob| glob.matches(name(value)))).collect()
            }
        }
    }
}

fn pattern(text: &str) -> Result<Pattern, PlanError> {
    let bad =
        |error: glob::PatternError| PlanError::BadGlob { pattern: text.into(), reason: error.msg.into() };
    Pattern::new(text).map_err(bad)
}

/// One cell; None when the target does not name the compiler.
fn build(compiler: &CompilerSpec, flags: &FlagSet, target: &TargetSpec) -> Option<Build> {
    let command = match &target.compilers {
        None => &compiler.command,
        Some(commands) => &commands.iter().find(|(name, _)| *name == compiler.name)?.1,
    };
    // Compilers let the last of several options win, so the most special list comes last.
    let args = [&compiler.args, &target.args, &flags.args].into_iter().flatten().cloned().collect();
    Some(Build {
        id: BuildId::new(&compiler.name, &flags.name, &target.name),
        implementation: String::new(),
        compiler: compiler.name.clone(),
        flags: flags.name.clone(),
        target: target.name.clone(),
        command: command.clone(),
        args,
        fpenv: target.fpenv.unwrap_or(flags.fpenv),
        optional: compiler.optional || target.optional,
        runner: target.runner.clone(),
        triple: target.triple.clone(),
        environment: Environment::default(),
        plain: false,
        apart: false,
    })
}

/// A cell in an environment.
fn surround(mut build: Build, environment: &Environment) -> Build {
    build.id = build.id.in_environment(&environment.name);
    build.fpenv = environment.fpenv.unwrap_or(build.fpenv);
    build.optional |= environment.optional;
    build.environment = environment.clone();
    build
}

/// An exclude with its globs ready; a part that is not given matches everything.
struct Rule {
    implementation: Option<Pattern>,
    compiler: Option<Pattern>,
    flags: Option<Pattern>,
    target: Option<Pattern>,
    environment: Option<Pattern>,
}

impl Rule {
    fn new(exclude: &Exclude) -> Result<Rule, PlanError> {
        let pattern = |text: &Option<String>| text.as_deref().map(pattern).transpose();
        Ok(Rule {
            implementation: pattern(&exclude.implementation)?,
            compiler: pattern(&exclude.compiler)?,
            flags: pattern(&exclude.flags)?,
            target: pattern(&exclude.target)?,
            environment: pattern(&exclude.environment)?,
        })
    }

    fn matches(&self, build: &Build) -> bool {
        let Rule { implementation, compiler, flags, target, environment } = self;
        [
            (implementation, &build.implementation),
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
    use crate::model::{
        FpEnvPolicy, Harness, Limit, LimitRule, Rounding, SandboxSettings, SearchSettings, Sources,
    };

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
            optional: false,
        }
    }

    fn experiment(baseline: Option<&str>) -> Experiment {
        Experiment {
            name: "lab".into(),
            path: "/m.toml".into(),
            baseline: baseline.map(Into::into),
            implementations: vec![Implementation::default()],
            harness: Harness::default(),
            sandbox: SandboxSettings::default(),
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
        assert_eq!(plan.builds[1].args, ["-from-gcc", "-O3"]);
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
        assert_eq!(arm.args, ["-from-gcc", "-mtarget", "-O0"]);
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

    /// An implementation with a source, or with a library alone.
    fn named(name: &str, files: &[&str]) -> Implementation {
        let files = files.iter().map(Into::into).collect();
        let sources = Sources { files, libs: vec!["m".into()], ..Sources::default() };
        Implementation { name: name.into(), ..Implementation::unnamed(sources) }
    }

    #[test]
    fn implementations_are_outermost_and_a_library_has_the_baselines_compiler_and_flags() {
        let mut lab = experiment(Some("clang/O3"));
        lab.implementations.extend([named("lib", &[]), named("own", &["own.c"])]);
        lab.implementations[2].flags = Some(vec!["O[0-2]".into()]);
        let plan = expand(&lab).unwrap();
        let wanted = ["lib:clang/O3/native", "own:gcc/O0/native", "own:clang/O0/native"];
        assert_eq!(ids(&plan)[4..], wanted);
        assert_eq!(plan.baseline_build().id.as_str(), "clang/O3/native");
        assert_eq!(
            (plan.builds[0].implementation.as_str(), plan.builds[4].implementation.as_str()),
            ("", "lib")
        );
        lab.baseline = Some("own:gcc".into());
        assert_eq!(expand(&lab).unwrap().baseline_build().id.as_str(), "own:gcc/O0/native");
        assert_eq!(ids(&expand(&lab).unwrap())[4], "lib:gcc/O0/native");
        lab.exclude = vec![Exclude { implementation: Some("".into()), ..exclude(Some("gcc"), None) }];
        let wanted = ["clang/O0/native", "clang/O3/native", "lib:gcc/O0/native"];
        assert_eq!(ids(&expand(&lab).unwrap())[..3], wanted);
    }

    #[test]
    fn a_limit_that_matches_no_build_is_an_error_where_implementations_have_names() {
        let mut lab = experiment(None);
        let limit = |build: &str| Limit {
            build: Some(build.into()),
            rule: Some(LimitRule::MaxBits(1.0)),
            ..Limit::default()
        };
        lab.limits = vec![limit("icc/*")];
        assert!(expand(&lab).is_ok());
        lab.implementations.push(named("lib", &[]));
        let error = expand(&lab).unwrap_err().to_string();
        assert!(error.contains("no build matches `icc/*` of a [[limit]]\nthe builds are"), "{error}");
        lab.limits = vec![limit("lib:*"), limit("gcc/*"), limit("*:*")];
        assert!(expand(&lab).is_ok());
        lab.implementations.remove(0);
        let error = expand(&lab).unwrap_err().to_string();
        assert!(error.contains("it is about [sources] alone: did you mean `*:gcc/*`?"), "{error}");
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
