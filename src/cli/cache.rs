//! The options of `bitrift cache`.

use std::path::PathBuf;

use clap::Args;

use crate::model::CacheLimit;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift cache                           where it is, how large, when it was used
  bitrift cache --size 500M               remove what was used longest ago
  bitrift cache --clear                   remove everything
  bitrift cache --json | jq .bytes

Commands that compile keep the cache below their --cache-size, 5 GiB without one. Processes at
work lose nothing: what they use stays until they end.")]
pub struct CacheArgs {
    /// The folder [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Remove what was used longest ago until the rest is no larger: 500M, 2G
    #[arg(long, value_name = "SIZE")]
    pub size: Option<CacheLimit>,
    /// Remove everything that is the cache's own
    #[arg(long, conflicts_with = "size")]
    pub clear: bool,
    /// Print numbers for programs
    #[arg(long)]
    pub json: bool,
}
