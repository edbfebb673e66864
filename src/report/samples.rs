//! The stored samples as a table for Python or R: one row for each sample and build, in the CSV of RFC 4180.

use std::io::{self, Write};

use super::Material;
use crate::fp::{Scalar, format_dec, parse_number};
use crate::model::{FunctionSamples, printable};

/// Columns in front of the inputs.
const HEAD: [&str; 5] = ["function", "sample", "build", "emulated", "bits"];

/// The column behind the inputs.
pub(super) const WORST: &str = "worst";

/// Parameters of the function that has most: every row has the columns of so many.
pub(super) fn most_inputs(material: &Material) -> usize {
    material.samples.values().map(|s| s.params.len()).max().unwrap_or(0)
}

/// Whether a function of the run gives several values: the table then has a last column, which says which of them
/// differs most.
pub(super) fn names_worst(material: &Material) -> bool {
    material.run.functions.iter().any(|function| function.returns().is_wide())
}

fn columns(material: &Material) -> Vec<String> {
    let inputs =
        (1..=most_inputs(material)).flat_map(|n| ["name", "hex", "dec"].map(|what| format!("x{n}_{what}")));
    let worst = names_worst(material).then(|| WORST.to_owned());
    HEAD.iter().map(|name| (*name).to_owned()).chain(inputs).chain(worst).collect()
}

/// An input as its name, its exact text and its decimal.
pub(super) struct InputCell<'a> {
    pub name: &'a str,
    pub hex: &'a str,
    /// Reads back as the same value; empty where the exact text is no number.
    pub dec: String,
}

/// One row of the table.
pub(super) struct SampleRow<'a> {
    pub function: &'a str,
    /// Counted from 1 within a function: rows of the same number are the same input.
    pub sample: usize,
    pub build: &'a str,
    pub emulated: bool,
    /// None: one of the builds gave no value.
    pub bits: Option<f32>,
    pub inputs: &'a [InputCell<'a>],
    /// The name of the value that differs most, where a function gives several and they differ.
    pub worst: Option<&'a str>,
}

/// Hands on every row, function by function in the order of the run.
pub(super) fn each<E>(
    material: &Material,
    mut put: impl FnMut(&SampleRow) -> Result<(), E>,
) -> Result<(), E> {
    for function in &material.run.functions {
        let Some(stored) = material.samples.get(&function.name) else { continue };
        let (types, results) = (function.scalars(), function.returns());
        let emulated: Vec<bool> = stored.builds.iter().map(|b| material.run.is_emulated(b)).collect();
        for (index, (inputs, bits)) in stored.samples.iter().enumerate() {
            let inputs: Vec<InputCell> = cells(stored, &types, inputs);
            for (column, ((build, emulated), bits)) in
                stored.builds.iter().zip(&emulated).zip(bits).enumerate()
            {
                let differs = bits.is_some_and(|bits| bits > 0.0);
                let worst = stored.worst.get(index).and_then(|row| row.get(column)).filter(|_| differs);
                put(&SampleRow {
                    function: &stored.function,
                    sample: index + 1,
                    build,
                    emulated: *emulated,
                    bits: *bits,
                    inputs: &inputs,
                    worst: worst.and_then(|&worst| results.name(worst)),
                })?;
            }
        }
    }
    Ok(())
}

fn cells<'a>(stored: &'a FunctionSamples, types: &[Scalar], inputs: &'a [String]) -> Vec<InputCell<'a>> {
    let cell = |(index, (name, hex)): (usize, (&'a String, &'a String))| {
        let bits = types.get(index).and_then(|&ty| Some((ty, parse_number(ty, hex).ok()?)));
        InputCell { name, hex, dec: bits.map(|(ty, bits)| format_dec(ty, bits)).unwrap_or_default() }
    };
    stored.params.iter().zip(inputs).enumerate().map(cell).collect()
}

/// R reads infinities and NaN in this spelling only, Python in any.
fn spelled(dec: &str) -> String {
    match dec {
        "nan" => "NaN",
        "inf" => "Inf",
        "-inf" => "-Inf",
        dec => dec,
    }
    .into()
}

/// The error of the writer below, so that a closed pipe is known as one.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes the table as it goes, so that its size does not matter.
pub fn write_csv(material: &Material, out: impl Write) -> io::Result<()> {
    let (most, wide) = (most_inputs(material), names_worst(material));
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns(material)).map_err(plain)?;
    each(material, |row| {
        let bits = row.bits.map(|bits| bits.to_string()).unwrap_or_default();
        let (function, build) = (printable(row.function), printable(row.build));
        let head = [function, row.sample.to_string(), build, row.emulated.to_string(), bits];
        let inputs = row.inputs.iter().flat_map(|x| [printable(x.name), printable(x.hex), spelled(&x.dec)]);
        let given = head.into_iter().chain(inputs);
        let rest = 3 * (most - row.inputs.len());
        let worst = wide.then(|| row.worst.map(printable).unwrap_or_default());
        csv.write_record(given.chain(std::iter::repeat_n(String::new(), rest)).chain(worst)).map_err(plain)
    })?;
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn text(material: &Material) -> String {
        let mut bytes = Vec::new();
        write_csv(material, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_sample_and_build_is_a_row_whatever_the_number_of_parameters() {
        insta::assert_snapshot!(text(&sample::material()));
    }

    #[test]
    fn every_row_reads_back_with_every_value_exact() {
        let material = sample::material();
        let text = text(&material);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let width = reader.headers().unwrap().len();
        let mut rows = 0;
        for record in reader.records() {
            let record = record.unwrap();
            assert_eq!(record.len(), width);
            for (hex, dec) in [(6, 7), (9, 10)] {
                if !record[dec].is_empty() && &record[dec] != "NaN" {
                    let exact = parse_number(Scalar::F64, &record[hex]).unwrap();
                    assert_eq!(record[dec].parse::<f64>().unwrap().to_bits(), exact, "{record:?}");
                }
            }
            rows += 1;
        }
        let stored: usize = material.samples.values().map(|s| s.samples.len() * s.builds.len()).sum();
        assert_eq!(rows, stored);
    }

    #[test]
    fn a_run_without_samples_has_a_heading_only() {
        let mut material = sample::material();
        material.samples.clear();
        assert_eq!(text(&material), "function,sample,build,emulated,bits\n");
    }
}
