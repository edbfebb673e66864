//! The project held to its own words: stages, documents, stored figures.

mod architecture;
mod docs;
mod figures;
