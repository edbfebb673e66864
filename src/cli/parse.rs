//! From the words of the command line to a command.

use std::ffi::OsString;

use clap::Parser;

use super::Command;
use super::options::Cli;

/// Parses the words of the command line, the program's name first. No command means `run`, also
/// when options follow. The error may be help or the version: see `Exit::of_clap`.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Command, Box<clap::Error>> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if words.is_empty() {
        words.push("bitrift".into());
    }
    if implies_run(words.get(1)) {
        words.insert(1, "run".into());
    }
    let words = options_before_values(words);
    Ok(Cli::try_parse_from(words)?.command)
}

/// No word, a matrix file, or an option that is not bitrift's own.
fn implies_run(first: Option<&OsString>) -> bool {
    let Some(first) = first else { return true };
    let first = first.to_string_lossy();
    if first.ends_with(".toml") {
        return true;
    }
    first.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&first.as_ref())
}

/// In `eval` any word that begins with a hyphen and is not an option is a value: -1, -0x1p3, -inf.
/// clap would take every word after the first value as a value too, so the options go first.
fn options_before_values(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|w| w != "eval") {
        return words;
    }
    let mut words = words.into_iter();
    let mut front: Vec<OsString> = words.by_ref().take(2).collect();
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            values.extend(words);
            break;
        }
        if ["--matrix", "--run", "--block", "--cache", "--cache-size", "--jobs", "-j"]
            .contains(&text.as_ref())
        {
            front.push(word);
            front.extend(words.next());
        } else if text.starts_with("--") || ["-h", "-q"].contains(&text.as_ref()) {
            front.push(word);
        } else {
            values.push(word);
        }
    }
    front.push("--".into());
    front.extend(values);
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Exit;
    use crate::model::{Budget, ClusterBackend, SearchSettings};
    use clap::CommandFactory;

    fn parsed(line: &str) -> Result<Command, Box<clap::Error>> {
        parse(format!("bitrift {line}").split_whitespace().map(OsString::from))
    }

    fn exit(line: &str) -> u8 {
        parsed(line).map_or_else(|e| Exit::of_clap(&e).code(), |_| panic!("{line} parses"))
    }

    #[test]
    fn clap_finds_no_fault_in_the_definitions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_run() {
        assert_eq!(parsed("").unwrap(), parsed("run matrix.toml").unwrap());
        assert_eq!(parsed("--seed 3 -j 2").unwrap(), parsed("run --seed 3 -j 2 matrix.toml").unwrap());
        assert_eq!(parsed("gsl.toml -q").unwrap(), parsed("run gsl.toml -q").unwrap());
        assert_eq!(parse([]).unwrap(), parsed("run").unwrap());
    }

    #[test]
    fn matrix_and_run_are_given_by_name_or_by_the_commands_own_word() {
        let matrix = |line: &str| match parsed(line).unwrap() {
            Command::Run(args) => args.matrix.path().to_path_buf(),
            Command::Bench(args) => args.matrix.path().to_path_buf(),
            Command::Gate(args) => args.matrix.path().to_path_buf(),
            Command::Plan(args) => args.matrix.path().to_path_buf(),
            Command::Doctor(args) => args.matrix.path().to_path_buf(),
            other => panic!("{other:?}"),
        };
        for command in ["run", "bench", "gate", "plan", "doctor"] {
            assert_eq!(matrix(command).to_str(), Some("matrix.toml"));
            assert_eq!(matrix(&format!("{command} m.toml")), matrix(&format!("{command} --matrix m.toml")));
            assert_eq!(exit(&format!("{command} m.toml --matrix n.toml")), 1);
        }
        for command in ["show", "report", "replay", "confirm", "speed", "accept"] {
            assert!(parsed(&format!("{command} 3")).is_ok() && parsed(&format!("{command} --run 3")).is_ok());
            assert_eq!(exit(&format!("{command} 3 --run 4")), 1);
        }
        for command in ["explain", "repro f#b.1", "eval f 1"] {
            assert!(parsed(&format!("{command} --run 3 --matrix m.toml")).is_ok(), "{command}");
        }
    }

    #[test]
    fn usage_errors_exit_with_1_and_help_with_0() {
        for line in ["shwo", "--sed 3", "run --jobs 0", "run --budget none", "eval", "run --overwrite"] {
            assert_eq!(exit(line), 1, "{line}");
        }
        for line in ["--help", "-V", "run --help", "eval -h", "eval f -1 --help"] {
            assert_eq!(exit(line), 0, "{line}");
        }
    }

    #[test]
    fn values_with_a_hyphen_are_values_wherever_the_options_are() {
        let Command::Eval(args) = parsed("eval f -1 -0x1.8p-3 -inf --matrix m.toml -nan -.5 -q 1e3").unwrap()
        else {
            panic!("not eval");
        };
        assert_eq!(args.values, ["-1", "-0x1.8p-3", "-inf", "-nan", "-.5", "1e3"]);
        assert_eq!((args.lab.matrix, args.function.as_str()), (Some("m.toml".into()), "f"));
        assert!(args.lab.quiet);
        let Command::Eval(args) = parsed("eval -- f --matrix").unwrap() else { panic!("not eval") };
        assert_eq!(args.values, ["--matrix"]);
        assert!(parsed("eval f 1 --martix m.toml").is_err());
    }

    #[test]
    fn every_search_parameter_can_be_set() {
        let line = "run --strategy random --seed 7 --budget paper --timeout-ms 20 --max-faults 3 --deadline-s 1.5 --pace-us 7.5 \
            --memory-mb 100 --batch 20 --nan sign --zero sign --samples 8 --dense 9 --partitions-f64 -10,0,10 \
            --partitions-f32 -3,3 --coverage false --edges false --literals false --threshold 0.3 --clustering linfa --popsize 5 \
            --generations 6 --crossover 0.9 --dither 0.4,0.8 --tolerance 0 --tighten false --gap 2";
        let Command::Run(args) = parsed(line).unwrap() else { panic!("not run") };
        let mut settings = SearchSettings::default();
        args.search.apply(&mut settings).unwrap();
        let expected = SearchSettings {
            strategy: crate::model::StrategyName::Random,
            seed: 7,
            budget: Budget::Paper,
            timeout_ms: 20,
            max_faults: 3,
            pace_us: 7.5,
            deadline_s: Some(1.5),
            memory_mb: 100,
            batch: 20,
            nan: crate::fp::NanPolicy::Sign,
            zero: crate::fp::ZeroPolicy::Sign,
            samples: 8,
            dense: 9,
            partitions_f64: vec![-10, 0, 10],
            partitions_f32: vec![-3, 3],
            coverage: false,
            edges: false,
            literals: false,
            threshold: 0.3,
            clustering: ClusterBackend::Linfa,
            popsize: 5,
            generations: 6,
            crossover: 0.9,
            dither: (0.4, 0.8),
            tolerance: 0.0,
            tighten: false,
            gap: 2.0,
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn without_options_the_matrix_decides() {
        let Command::Run(args) = parsed("run").unwrap() else { panic!("not run") };
        let mut settings = SearchSettings { seed: 42, gap: 3.0, ..Default::default() };
        let before = settings.clone();
        args.search.apply(&mut settings).unwrap();
        assert_eq!(settings, before);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        for option in [
            "--threshold 0",
            "--threshold nan",
            "--crossover 1.5",
            "--dither 0.9,0.1",
            "--dither 1",
            "--partitions-f64 3,1",
            "--partitions-f64 5000",
            "--deadline-s -1",
            "--popsize 3",
            "--max-faults 0",
            "--memory-mb 63",
            "--threshold 1.5",
            "--dither 0,1",
            "--coverage 1",
            "--nan none",
            "--timeout-ms 0",
            "--budget 0",
            "--gap inf",
        ] {
            assert_eq!(exit(&format!("run {option}")), 1, "{option}");
        }
    }

    #[test]
    fn a_budget_may_be_written_as_people_write_it() {
        let budget = |text: &str| {
            let Command::Run(args) = parsed(&format!("--budget {text}")).unwrap() else { panic!("not run") };
            let mut settings = SearchSettings::default();
            args.search.apply(&mut settings).unwrap();
            settings.budget
        };
        assert_eq!(budget("2_000_000"), Budget::Evaluations(2_000_000));
        assert_eq!(budget("2e6"), Budget::Evaluations(2_000_000));
        assert_eq!(budget("paper"), Budget::Paper);
    }

    #[test]
    fn a_glob_selects_functions_by_name() {
        let Command::Show(args) = parsed("show --function a* --function b").unwrap() else {
            panic!("not show")
        };
        assert!(
            args.functions.matches("airy") && args.functions.matches("b") && !args.functions.matches("c")
        );
        assert_eq!(args.functions.unmatched(["airy"]), Some("b"));
        assert_eq!(exit("show --function [a"), 1);
    }

    #[test]
    fn workers_take_any_words() {
        let Command::Worker(raw) = parsed("__worker --fd 3 -x").unwrap() else { panic!("not a worker") };
        assert_eq!(raw.args, ["--fd", "3", "-x"]);
    }

    /// A longer line would be broken in its middle where help goes to no terminal.
    #[test]
    fn what_stands_behind_the_options_fits_into_a_hundred_columns() {
        let program = Cli::command();
        let commands = [&program].into_iter().chain(program.get_subcommands());
        let texts = commands.flat_map(|command| command.get_after_help().map(ToString::to_string));
        let lines: Vec<String> =
            texts.flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>()).collect();
        assert!(lines.len() > 100);
        let long: Vec<&String> = lines.iter().filter(|line| line.chars().count() > 100).collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn help_names_commands_examples_and_exit_codes() {
        insta::assert_snapshot!(Cli::command().term_width(100).render_help().to_string());
    }

    #[test]
    fn the_help_of_run_groups_the_search_parameters() {
        let mut command = Cli::command().term_width(100);
        let run = command.find_subcommand_mut("run").unwrap();
        insta::assert_snapshot!(run.render_help().to_string());
    }
}
