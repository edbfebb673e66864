//! The subcommands and their options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{
    AcceptArgs, BenchArgs, CacheArgs, CompareArgs, ConfirmArgs, Exit, ExplainArgs, FunctionGlobs, GateArgs,
    LabOptions, MatrixChoice, MeansOptions, ReportArgs, ReproArgs, RunChoice, RunOption, SearchOptions,
    SpeedArgs,
};

const EXAMPLES: &str = "\
Examples:
  bitrift                                 search everything in ./matrix.toml
  bitrift --seed 3 --function 'kahan_*'   the same as `bitrift run --seed 3 ...`
  bitrift doctor                          what of the matrix this machine can build
  bitrift show --all                      the latest run again, with every range
  bitrift eval hypot_naive 3 -0x1.8p-3    one input on every build
  bitrift explain                         why: the flag, the statement, the compiler's pass, a patch
  bitrift accept && bitrift gate          from now on, fail when results move
  bitrift bench --seeds 1..3              why to believe the search: strategies side by side
";

/// Find the input ranges where builds of the same C code disagree, and by how many bits
#[derive(Debug, Parser)]
#[command(name = "bitrift", version, subcommand_required = true, arg_required_else_help = false)]
#[command(after_help = format!("Without a command, `bitrift` is `bitrift run matrix.toml`.\n\n{EXAMPLES}\n{}", Exit::help()))]
#[command(max_term_width = 100, override_usage = "bitrift [COMMAND] [OPTIONS]")]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Command {
    /// Compile every build of a matrix, search every function, print and store what differs
    Run(Box<RunArgs>),
    /// Compare search strategies over functions and seeds at equal evaluations, print and store how they did
    Bench(Box<BenchArgs>),
    /// Print the builds and their exact command lines without running them
    Plan(PlanArgs),
    /// Print what of a matrix this machine can build and run, and what is missing
    Doctor(DoctorArgs),
    /// Print a stored run again
    Show(ShowArgs),
    /// Turn a stored run into a page, a table for a pull request, or a file for another program
    Report(ReportArgs),
    /// Compare two stored runs: which ranges are new, gone, worse, better
    Compare(CompareArgs),
    /// Evaluate one input on every build
    Eval(EvalArgs),
    /// Evaluate every stored witness again and say which still hold
    Replay(ReplayArgs),
    /// Evaluate every stored witness in plain executables, built with the builds' own flags alone
    Confirm(ConfirmArgs),
    /// Write a folder that shows a finding on a machine without bitrift
    Repro(ReproArgs),
    /// Say why findings differ: environment, file, flags, function, statement, compiler pass, and a patch
    Explain(ExplainArgs),
    /// Time every build of a stored run: what its flags buy beside what they cost in bits
    Speed(SpeedArgs),
    /// Fail when results moved more than the committed lock file accepts
    Gate(Box<GateArgs>),
    /// Make the lock file of a gate from a run, or tighten it
    Accept(AcceptArgs),
    /// Show what is kept of compiled code, or remove it
    Cache(CacheArgs),
    /// A worker process
    #[command(name = "__worker", hide = true)]
    Worker(RawArgs),
    /// A helper process of a worker
    #[command(name = "__helper", hide = true)]
    Helper(RawArgs),
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift run
  bitrift run gsl.toml --function 'gsl_sf_bessel_*' --budget paper --out /tmp/bessel
  bitrift run --json --quiet | jq '.functions[].comparisons[].max_bits'
  bitrift run --resume                    go on with the latest run that was interrupted")]
pub struct RunArgs {
    #[command(flatten)]
    pub matrix: MatrixChoice,
    /// The run's folder itself.
    #[arg(long, value_name = "DIR", help = "The run's folder itself [default: results/NNNN-<lab>]")]
    pub out: Option<PathBuf>,
    /// Replace a run that is already in --out
    #[arg(long, requires = "out", conflicts_with = "resume")]
    pub overwrite: bool,
    /// Go on with an interrupted run: the one in --out, or the latest
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub means: MeansOptions,
    #[command(flatten)]
    pub functions: FunctionGlobs,
    /// Leave out the confirmation of witnesses in plain executables: see `bitrift confirm`
    #[arg(long)]
    pub no_confirm: bool,
    /// Fail with exit code 3 when a build or function could not be evaluated
    #[arg(long)]
    pub strict: bool,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// Print run.json on standard output instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub search: SearchOptions,
}

#[derive(Clone, Debug, PartialEq, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub matrix: MatrixChoice,
    /// Run every compiler with --version, to know which arguments it takes; else its name tells
    #[arg(long)]
    pub ask: bool,
    /// Compilers that are asked run with all of your rights
    #[arg(long)]
    pub no_sandbox: bool,
}

#[derive(Clone, Debug, PartialEq, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub matrix: MatrixChoice,
    #[command(flatten)]
    pub means: MeansOptions,
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift show                            the latest run
  bitrift show 3 --all                    every range of results/0003-...
  bitrift show /tmp/bessel --json")]
pub struct ShowArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// Every range and every example of a fault
    #[arg(long)]
    pub all: bool,
    /// Print run.json on standard output instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub functions: FunctionGlobs,
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift eval cube_root -8
  bitrift eval quadratic_root 1 -0x1.8p+20 1e-3 --matrix other.toml
  bitrift eval log_sum_exp -inf nan")]
pub struct EvalArgs {
    /// The function's name
    pub function: String,
    /// One value per parameter: 1.5e-3, -0x1.8p-3, inf, nan, nan:0x7ff8000000000001
    #[arg(value_name = "X", allow_hyphen_values = true)]
    pub values: Vec<String>,
    /// Instead of one input those of a block whose results a lock holds: one line for each, on the baseline
    #[arg(long, value_name = "N", conflicts_with = "values")]
    pub block: Option<usize>,
    #[command(flatten)]
    pub run: RunOption,
    #[command(flatten)]
    pub lab: LabOptions,
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift replay                          the witnesses of the latest run
  bitrift replay 3 --function 'kahan_*' --all")]
pub struct ReplayArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// List the witnesses that hold too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub functions: FunctionGlobs,
    #[command(flatten)]
    pub lab: LabOptions,
}

/// Whatever the coordinator passes to a process of its own.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RawArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}
