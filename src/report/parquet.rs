//! The stored samples as Apache Parquet: the columns of the CSV, with numbers as numbers.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Material;
use super::samples::{SampleRow, WORST, each, most_inputs, names_worst};

/// Rows that are kept in memory until they are written.
const GROUP: usize = 1 << 16;

/// Writes the table, group by group.
pub fn write(material: &Material, out: &mut (dyn Write + Send)) -> io::Result<()> {
    fill(material, out).map_err(io::Error::other)
}

fn fill(material: &Material, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let (inputs, wide) = (most_inputs(material), names_worst(material));
    let schema = Arc::new(parse_message_type(&message(inputs, wide))?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = RowGroup::new(inputs, wide);
    each(material, |row| {
        group.add(row);
        if group.rows < GROUP {
            Ok(())
        } else {
            std::mem::replace(&mut group, RowGroup::new(inputs, wide)).write(&mut file)
        }
    })?;
    if group.rows > 0 {
        group.write(&mut file)?;
    }
    file.close()?;
    Ok(())
}

fn message(inputs: usize, wide: bool) -> String {
    let head = "REQUIRED BYTE_ARRAY function (STRING); REQUIRED INT64 sample; \
        REQUIRED BYTE_ARRAY build (STRING); REQUIRED BOOLEAN emulated; OPTIONAL FLOAT bits;";
    let input = |n: usize| {
        format!(
            "OPTIONAL BYTE_ARRAY x{n}_name (STRING); OPTIONAL BYTE_ARRAY x{n}_hex (STRING); \
             OPTIONAL DOUBLE x{n}_dec;"
        )
    };
    let worst = if wide { format!("OPTIONAL BYTE_ARRAY {WORST} (STRING);") } else { String::new() };
    format!("message samples {{ {head} {} {worst} }}", (1..=inputs).map(input).collect::<String>())
}

/// One column: what is there, and for optional ones which rows have it.
enum Column {
    Text(Vec<ByteArray>, Vec<i16>),
    Integer(Vec<i64>),
    Flag(Vec<bool>),
    Single(Vec<f32>, Vec<i16>),
    Double(Vec<f64>, Vec<i16>),
}

impl Column {
    fn text(&mut self, value: Option<&str>) {
        if let Column::Text(values, there) = self {
            there.push(i16::from(value.is_some()));
            values.extend(value.map(ByteArray::from));
        }
    }

    fn write(&self, writer: &mut ColumnWriter, optional: bool) -> Result<(), ParquetError> {
        let levels = |there: &'_ Vec<i16>| optional.then(|| there.clone());
        match (self, writer) {
            (Column::Text(values, there), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(values, levels(there).as_deref(), None)
            }
            (Column::Integer(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, None, None)
            }
            (Column::Flag(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, None, None)
            }
            (Column::Single(values, there), ColumnWriter::FloatColumnWriter(writer)) => {
                writer.write_batch(values, levels(there).as_deref(), None)
            }
            (Column::Double(values, there), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(values, levels(there).as_deref(), None)
            }
            _ => return Err(ParquetError::General("a column is not of the type of the schema".into())),
        }
        .map(|_| ())
    }
}

/// Rows on their way out, by column in the order of the schema.
struct RowGroup {
    rows: usize,
    /// The column of the value that differs most.
    worst: Option<usize>,
    columns: Vec<Column>,
}

/// Columns in front of the inputs, and how many belong to an input.
const HEAD: usize = 5;
const OF_INPUT: usize = 3;

impl RowGroup {
    fn new(inputs: usize, wide: bool) -> RowGroup {
        let text = || Column::Text(Vec::new(), Vec::new());
        let single = Column::Single(Vec::new(), Vec::new());
        let mut columns = vec![text(), Column::Integer(Vec::new()), text(), Column::Flag(Vec::new()), single];
        for _ in 0..inputs {
            columns.extend([text(), text(), Column::Double(Vec::new(), Vec::new())]);
        }
        columns.extend(wide.then(text));
        RowGroup { rows: 0, worst: wide.then_some(HEAD + OF_INPUT * inputs), columns }
    }

    fn add(&mut self, row: &SampleRow) {
        self.rows += 1;
        for (index, column) in self.columns.iter_mut().enumerate() {
            let input = index.checked_sub(HEAD).and_then(|at| row.inputs.get(at / OF_INPUT));
            match (index, column) {
                (0, column) => column.text(Some(row.function)),
                (at, column) if Some(at) == self.worst => column.text(row.worst),
                // Samples of a function are far fewer than 2^63.
                (_, Column::Integer(values)) => values.push(row.sample as i64),
                (2, column) => column.text(Some(row.build)),
                (_, Column::Flag(values)) => values.push(row.emulated),
                (_, Column::Single(values, there)) => {
                    there.push(i16::from(row.bits.is_some()));
                    values.extend(row.bits);
                }
                (_, Column::Double(values, there)) => {
                    let value = input.and_then(|x| x.dec.parse::<f64>().ok());
                    there.push(i16::from(value.is_some()));
                    values.extend(value);
                }
                (_, column) => {
                    let is_name = (index - HEAD).is_multiple_of(OF_INPUT);
                    column.text(input.map(|x| if is_name { x.name } else { x.hex }));
                }
            }
        }
    }

    fn write(self, file: &mut SerializedFileWriter<&mut (dyn Write + Send)>) -> Result<(), ParquetError> {
        let mut group = file.next_row_group()?;
        for (index, column) in self.columns.iter().enumerate() {
            let missing = || ParquetError::General("the schema has fewer columns than the table".into());
            let mut writer = group.next_column()?.ok_or_else(missing)?;
            column.write(writer.untyped(), index >= HEAD - 1)?;
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::ParamRow;
    use crate::report::sample;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn every_row_reads_back() {
        let material = sample::material();
        let mut file = tempfile::tempfile().unwrap();
        write(&material, &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[0].get_string(0).unwrap(), "airy_ai");
        assert_eq!((rows[0].get_float(4).unwrap(), rows[0].get_double(7).unwrap()), (1.5, 0.1));
        assert!(rows[1].get_float(4).is_err(), "no bits where a build gave no value");
        assert_eq!(rows[3].get_double(10).unwrap(), 1.0 / 3.0);
        assert_eq!((rows[3].get_long(1).unwrap(), rows[4].get_string(6).unwrap().as_str()), (1, "=1+1"));
    }

    #[test]
    fn the_value_that_differs_most_is_named_where_a_function_gives_several() {
        let mut material = sample::material();
        let value = |name: &str| ParamRow { name: name.into(), ty: Scalar::F64 };
        let function = material.run.functions.iter_mut().find(|f| f.name == "log_sum_exp").unwrap();
        function.results = vec![value("re"), value("im")];
        material.samples.get_mut("log_sum_exp").unwrap().worst = vec![vec![0, 1]];
        let mut file = tempfile::tempfile().unwrap();
        write(&material, &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        assert!(rows[2].get_string(11).is_err(), "the first build does not differ");
        assert_eq!(rows[3].get_string(11).unwrap(), "im");
        assert!(rows[0].get_string(11).is_err(), "a function that gives one value");
    }

    #[test]
    fn a_run_without_samples_is_a_table_without_rows() {
        let mut material = sample::material();
        material.samples.clear();
        let mut file = tempfile::tempfile().unwrap();
        write(&material, &mut file).unwrap();
        assert_eq!(SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows(), 0);
    }
}
