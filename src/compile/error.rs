//! What stops compiling altogether. A failed compile is an artifact, not an error.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("failed to use the cache folder {}: {source}; name another with BITRIFT_CACHE", path.display())]
    Cache { path: PathBuf, source: io::Error },
    #[error(
        "the folder {} is no cache of bitrift: {reason}; nothing in it was changed; name a cache, or a new folder for one, \
         with --cache or BITRIFT_CACHE",
        path.display()
    )]
    NotACache { path: PathBuf, reason: String },
    #[error("failed to start {jobs} compile threads: {reason}")]
    Threads { jobs: usize, reason: String },
}
