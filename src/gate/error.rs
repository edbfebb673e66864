//! Why a run is not accepted.

use crate::model::BuildId;

/// Why a run cannot update a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    #[error("the lock is of the lab `{lock}`, the run of `{run}`; name another file with --lock")]
    OtherLab { lock: String, run: String },
    #[error(
        "the lock was made against the baseline {lock}, the run against {run}: nothing in it can be compared; \
         to start anew, delete the lock and accept again"
    )]
    OtherBaseline { lock: BuildId, run: BuildId },
    #[error(
        "in the lock something else of a NaN or of a zero counts than in the run (`nan`, `zero` of the matrix), so that no \
         difference means the same; --loosen accepts it"
    )]
    OtherMetric,
    #[error(
        "the run searched nothing, so there is nothing to accept:{why}\nmend that and run again; --loosen does not help"
    )]
    NothingSearched { why: String },
    #[error(
        "the run searched too little to be accepted:{why}\nrun it with a larger budget, or accept it as it is with --loosen"
    )]
    TooLittle { why: String },
}
