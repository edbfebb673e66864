//! The random streams of a search: what each is for. A stream follows from the seed, the function, the build and
//! its key alone, so that no result depends on how many numbers another part of the search has drawn.

use serde::{Deserialize, Serialize};

/// What a random stream is for. Counts are far below the bits that `number` has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamKey {
    Survey,
    Specials,
    /// Inputs with values that a domain names: infinities, NaN, -0.
    Fringe,
    /// Values beside powers of two of one parameter.
    Powers,
    /// The shift of the even sequence that all strata follow.
    Lattice,
    /// A block of strata, of the whole domain or of the magnitudes that people use.
    Strata {
        usual: bool,
        round: u64,
        block: u64,
    },
    /// The order of the strata of a unit that begins at stratum `from`.
    StrataOrder {
        round: u64,
        from: u64,
    },
    /// Part of the dense samples of a candidate range.
    Dense {
        range: u64,
        piece: u64,
    },
    /// Part of the final statistics of a range.
    Measure {
        range: u64,
        piece: u64,
    },
    /// Part of the final statistics of a range of several orthants.
    Wide {
        range: u64,
        piece: u64,
    },
    Tighten {
        round: u64,
        strays: u64,
        cluster: u64,
    },
    Zoom {
        range: u64,
        turn: u64,
    },
    Evolve {
        range: u64,
        island: u64,
    },
    /// Where the lines of a round lie.
    Lines {
        round: u64,
        close: bool,
    },
    /// Places along a group of those lines.
    Seams {
        round: u64,
        close: bool,
        group: u64,
    },
    /// Places along the lines of one range.
    SeamsOfRange {
        range: u64,
    },
}

impl StreamKey {
    /// The name of the purpose, which is part of the stream's.
    pub fn purpose(self) -> &'static str {
        match self {
            StreamKey::Survey => "survey",
            StreamKey::Specials => "specials",
            StreamKey::Fringe => "fringe",
            StreamKey::Powers => "powers",
            StreamKey::Lattice => "lattice",
            StreamKey::Strata { usual, .. } => strata_name(usual),
            StreamKey::StrataOrder { .. } => "order",
            StreamKey::Dense { .. } => "dense",
            StreamKey::Measure { .. } => "measure",
            StreamKey::Wide { .. } => "wide",
            StreamKey::Tighten { .. } => "tighten",
            StreamKey::Zoom { .. } => "zoom",
            StreamKey::Evolve { .. } => "evolve",
            StreamKey::Lines { .. } => "lines",
            StreamKey::Seams { .. } | StreamKey::SeamsOfRange { .. } => "seams",
        }
    }

    /// The number of the stream among those of its purpose. Changing one changes what every search finds.
    pub fn number(self) -> u64 {
        match self {
            StreamKey::Survey
            | StreamKey::Specials
            | StreamKey::Fringe
            | StreamKey::Powers
            | StreamKey::Lattice => 0,
            StreamKey::Strata { round, block: at, .. } | StreamKey::StrataOrder { round, from: at } => {
                round << 48 | at
            }
            StreamKey::Dense { range, piece: part }
            | StreamKey::Measure { range, piece: part }
            | StreamKey::Wide { range, piece: part }
            | StreamKey::Zoom { range, turn: part } => range << 24 | part,
            StreamKey::Tighten { round, strays, cluster } => round << 48 | strays << 32 | cluster,
            StreamKey::Evolve { range, island } => range << 20 | island,
            StreamKey::Lines { round, close } => round << 33 | u64::from(close) << 32,
            StreamKey::Seams { round, close, group } => StreamKey::Lines { round, close }.number() | group,
            StreamKey::SeamsOfRange { range } => 1 << 63 | range,
        }
    }
}

/// What strata of the whole domain, or of the magnitudes that people use, are called in the names of streams.
pub fn strata_name(usual: bool) -> &'static str {
    if usual { "usual strata" } else { "strata" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_keep_the_names_and_numbers_that_stored_runs_were_made_with() {
        for (key, purpose, number) in [
            (StreamKey::Strata { usual: true, round: 2, block: 7 }, "usual strata", 0x0002_0000_0000_0007),
            (StreamKey::StrataOrder { round: 1, from: 4096 }, "order", 0x0001_0000_0000_1000),
            (StreamKey::Dense { range: 3, piece: 1 }, "dense", 0x0300_0001),
            (StreamKey::Measure { range: 3, piece: 1 }, "measure", 0x0300_0001),
            (StreamKey::Tighten { round: 1, strays: 2, cluster: 5 }, "tighten", 0x0001_0002_0000_0005),
            (StreamKey::Zoom { range: 1, turn: 9 }, "zoom", 0x0100_0009),
            (StreamKey::Evolve { range: 2, island: 4095 }, "evolve", 0x0020_0fff),
            (StreamKey::Lines { round: 1, close: true }, "lines", 0x0003_0000_0000),
            (StreamKey::Seams { round: 1, close: false, group: 8 }, "seams", 0x0002_0000_0008),
            (StreamKey::SeamsOfRange { range: 6 }, "seams", 0x8000_0000_0000_0006),
        ] {
            assert_eq!((key.purpose(), key.number()), (purpose, number), "{key:?}");
        }
    }
}
