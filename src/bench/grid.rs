//! The rows of a bench in order: strategy, function, seed.

use std::collections::BTreeMap;

use super::numbers::median;
use crate::model::{BenchFile, BenchRow, StrategyName};

/// Rows by strategy and function. Rows of strategies, functions or seeds that the file does not list
/// are left out.
pub struct Grid<'a> {
    pub strategies: Vec<StrategyName>,
    pub functions: Vec<&'a str>,
    pub seeds: Vec<u64>,
    /// By strategy and function, each list by seed.
    cells: BTreeMap<(usize, usize), BTreeMap<u64, &'a BenchRow>>,
}

impl<'a> Grid<'a> {
    pub fn new(file: &'a BenchFile) -> Grid<'a> {
        let strategies = file.strategies.clone();
        let functions: Vec<&str> = file.functions.iter().map(String::as_str).collect();
        let function_at: BTreeMap<&str, usize> =
            functions.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let mut cells: BTreeMap<_, BTreeMap<u64, &BenchRow>> = BTreeMap::new();
        for row in file.rows.iter().filter(|row| file.seeds.contains(&row.seed)) {
            let strategy = strategies.iter().position(|name| *name == row.strategy);
            let function = function_at.get(row.function.as_str());
            if let (Some(strategy), Some(&function)) = (strategy, function) {
                cells.entry((strategy, function)).or_default().insert(row.seed, row);
            }
        }
        Grid { strategies, functions, seeds: file.seeds.clone(), cells }
    }

    /// The rows of a strategy on a function, by seed.
    pub fn rows(&self, strategy: usize, function: usize) -> impl Iterator<Item = &'a BenchRow> {
        self.cells.get(&(strategy, function)).into_iter().flat_map(|by_seed| by_seed.values().copied())
    }

    /// Every row of a strategy, by function.
    pub fn rows_of(&self, strategy: usize) -> impl Iterator<Item = &'a BenchRow> {
        (0..self.functions.len()).flat_map(move |function| self.rows(strategy, function))
    }

    /// The rows of a strategy with one seed, by function.
    pub fn rows_of_seed(&self, strategy: usize, seed: u64) -> impl Iterator<Item = &'a BenchRow> {
        self.rows_of(strategy).filter(move |row| row.seed == seed)
    }

    /// The maxima of a strategy on a function, by seed.
    pub fn maxima(&self, strategy: usize, function: usize) -> Vec<f64> {
        self.rows(strategy, function).map(|row| row.max_bits).collect()
    }

    /// Their median; None when the function was not searched.
    pub fn median(&self, strategy: usize, function: usize) -> Option<f64> {
        let maxima = self.maxima(strategy, function);
        (!maxima.is_empty()).then(|| median(&maxima))
    }
}
