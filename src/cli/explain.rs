//! The options of `bitrift explain`.

use clap::Args;

use super::{FunctionGlobs, LabOptions, RunOption};
use crate::model::Layer;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(override_usage = "bitrift explain [OPTIONS] [RUN] [FINDING]")]
#[command(after_help = "\
Examples:
  bitrift explain                                       all findings of the latest run, by cause
  bitrift explain 'kahan_sum#gcc/O3-fast/native.1'      one finding, layer by layer
  bitrift explain 3 --function 'gsl_sf_airy_*' --layer statement
  bitrift explain --patch > fix.diff                    only the patches; they are never applied
  bitrift explain --limit 1                             which flags may stay for at most 1 bit

Answers are kept in explain.json beside the run and taken from there the next time.")]
pub struct ExplainArgs {
    /// A run's folder, its name under results/ or its number [default: the latest], then a finding's id
    /// [default: all findings]
    #[arg(value_name = "RUN] [FINDING", num_args = 0..=2)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub run: RunOption,
    #[command(flatten)]
    pub functions: FunctionGlobs,
    /// Only these layers, and what they stand on: environment, file, flags, function, statement, pass, fix
    /// [default: all]
    #[arg(long = "layer", alias = "layers", value_name = "LAYER", value_delimiter = ',', value_parser = layer)]
    pub layers: Vec<Layer>,
    /// Bits that a witness may have with the safe set of flags
    #[arg(long, value_name = "BITS", default_value_t = 0.0, value_parser = limit)]
    pub limit: f64,
    /// Do not look for the flags that may stay
    #[arg(long)]
    pub no_safe: bool,
    /// Find out again what is known from before
    #[arg(long)]
    pub again: bool,
    /// Print the patches alone
    #[arg(long, conflicts_with = "json")]
    pub patch: bool,
    /// Print explain.json
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub lab: LabOptions,
}

fn layer(word: &str) -> Result<Layer, String> {
    let found = Layer::ALL.into_iter().find(|layer| layer.as_str() == word);
    let known = || Layer::ALL.map(Layer::as_str).join(", ");
    found.ok_or_else(|| format!("expected one of {}", known()))
}

fn limit(word: &str) -> Result<f64, String> {
    let bits: f64 = word.parse().map_err(|_| "expected a number of bits, such as 1".to_string())?;
    if (0.0..=64.0).contains(&bits) { Ok(bits) } else { Err("expected bits from 0 to 64".into()) }
}
