//! From stored text to numbers. A file has a number as text that does not say its type; the types stand in the
//! row of its function. So the rows that hold numbers are read with `NumberText` first and typed here.

use serde::{Deserialize, Deserializer};

use super::shape::results_of;
use super::{
    Answer, ComparisonRow, ConfirmFile, ConfirmRow, FaultRow, FunctionRow, GateFile, GateFinding,
    LockComparison, LockFile, LockFunction, LockRange, MovedWitness, Number, NumberText, ParamRow, RangeRow,
    ResultRow, Results, RunFile, TruthComparison, TruthFile, TruthSegment, WitnessRow,
};
use crate::fp::Scalar;

/// Files as they are read, before their numbers have types.
pub type StoredRun = RunFile<FunctionRow<NumberText, NumberText>>;
pub type StoredLock = LockFile<LockFunction<NumberText, NumberText>>;
pub type StoredGate = GateFile<NumberText, NumberText>;
pub type StoredConfirm = ConfirmFile<NumberText>;

/// A place in a file, as a path of fields, whose text is no number of its type, or no number for each parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct Misfit {
    pub at: String,
    pub message: String,
}

impl Misfit {
    fn new(at: impl Into<String>, message: impl ToString) -> Misfit {
        Misfit { at: at.into(), message: message.to_string() }
    }

    fn below(self, at: &str) -> Misfit {
        Misfit { at: format!("{at}.{}", self.at), message: self.message }
    }
}

/// What a list of another length than there are parameters is told.
pub fn one_per_parameter(found: usize, expected: usize) -> Result<(), String> {
    let entries = if found == 1 { "entry" } else { "entries" };
    let message = || format!("{found} {entries}, expected {expected}, one per parameter");
    if found == expected { Ok(()) } else { Err(message()) }
}

/// The types of a function.
struct Types {
    params: Vec<Scalar>,
    results: Results,
}

impl Types {
    fn new(params: &[ParamRow], result: Scalar, results: &[ParamRow]) -> Types {
        Types { params: params.iter().map(|p| p.ty).collect(), results: results_of(result, results) }
    }

    /// The type of a value by its name; without one, of the only value.
    fn result(&self, name: Option<&String>) -> Scalar {
        let known = name.and_then(|name| self.results.values().iter().find(|value| value.name == *name));
        known.map_or(self.results.ty(0), |value| value.ty)
    }

    fn inputs(&self, at: &str, texts: Vec<NumberText>) -> Result<Vec<Number>, Misfit> {
        one_per_parameter(texts.len(), self.params.len()).map_err(|message| Misfit::new(at, message))?;
        let number = |(index, (text, &scalar)): (usize, (&NumberText, &Scalar))| {
            text.number(scalar).map_err(|error| Misfit::new(format!("{at}[{index}]"), error))
        };
        texts.iter().zip(&self.params).enumerate().map(number).collect()
    }

    fn answer(&self, at: &str, value: Option<&String>, text: &NumberText) -> Result<Answer, Misfit> {
        text.answer(self.result(value)).map_err(|error| Misfit::new(at, error))
    }

    /// One value of each of the function's results, or none at all.
    fn values(&self, at: &str, texts: &[NumberText]) -> Result<Vec<Answer>, Misfit> {
        let types = self.results.values().iter().map(|value| value.ty);
        let answer = |(index, (text, ty)): (usize, (&NumberText, Scalar))| {
            text.answer(ty).map_err(|error| Misfit::new(format!("{at}[{index}]"), error))
        };
        texts.iter().zip(types).enumerate().map(answer).collect()
    }

    fn witness(&self, at: &str, row: WitnessRow<NumberText, NumberText>) -> Result<WitnessRow, Misfit> {
        Ok(WitnessRow {
            inputs: self.inputs(&format!("{at}.inputs"), row.inputs)?,
            baseline: self.answer(&format!("{at}.baseline"), row.worst.as_ref(), &row.baseline)?,
            variant: self.answer(&format!("{at}.variant"), row.worst.as_ref(), &row.variant)?,
            worst: row.worst,
            results: each(&format!("{at}.results"), row.results, |value| self.value(value))?,
        })
    }

    fn value(&self, row: ResultRow<NumberText>) -> Result<ResultRow, Misfit> {
        Ok(ResultRow {
            baseline: self.answer("baseline", Some(&row.name), &row.baseline)?,
            variant: self.answer("variant", Some(&row.name), &row.variant)?,
            name: row.name,
        })
    }

    fn range(&self, row: RangeRow<NumberText, NumberText>) -> Result<RangeRow, Misfit> {
        Ok(RangeRow {
            lo: self.inputs("lo", row.lo)?,
            hi: self.inputs("hi", row.hi)?,
            witness: self.witness("witness", row.witness)?,
            id: row.id,
            edges: row.edges,
            samples: row.samples,
            inconsistent: row.inconsistent,
            mean_bits: row.mean_bits,
            max_bits: row.max_bits,
            category: row.category,
            without_flushing: row.without_flushing,
        })
    }

    fn comparison(&self, row: ComparisonRow<NumberText, NumberText>) -> Result<ComparisonRow, Misfit> {
        Ok(ComparisonRow {
            witness: row.witness.map(|witness| self.witness("witness", witness)).transpose()?,
            ranges: each("ranges", row.ranges, |range| self.range(range))?,
            build: row.build,
            baseline: row.baseline,
            evaluations: row.evaluations,
            stop_reason: row.stop_reason,
            max_bits: row.max_bits,
            class_changes: row.class_changes,
            tolerance: row.tolerance,
        })
    }

    fn fault(&self, row: FaultRow<NumberText>) -> Result<FaultRow, Misfit> {
        let examples = row.examples.into_iter().enumerate();
        let examples = examples.map(|(index, inputs)| self.inputs(&format!("examples[{index}]"), inputs));
        Ok(FaultRow {
            build: row.build,
            kind: row.kind,
            count: row.count,
            examples: examples.collect::<Result<_, _>>()?,
        })
    }

    fn lock_range(&self, range: LockRange<NumberText, NumberText>) -> Result<LockRange, Misfit> {
        Ok(LockRange {
            lo: self.inputs("lo", range.lo)?,
            hi: self.inputs("hi", range.hi)?,
            witness: self.witness("witness", range.witness)?,
            edges: range.edges,
            max_bits: range.max_bits,
            category: range.category,
        })
    }
}

/// Every entry of a list, a misfit with its place in it.
fn each<T, U>(at: &str, list: Vec<T>, typed: impl Fn(T) -> Result<U, Misfit>) -> Result<Vec<U>, Misfit> {
    let entry = |(index, entry)| typed(entry).map_err(|misfit| misfit.below(&format!("{at}[{index}]")));
    list.into_iter().enumerate().map(entry).collect()
}

impl FunctionRow<NumberText, NumberText> {
    pub fn typed(self) -> Result<FunctionRow, Misfit> {
        let types = Types::new(&self.params, self.result, &self.results);
        Ok(FunctionRow {
            comparisons: each("comparisons", self.comparisons, |row| types.comparison(row))?,
            faults: each("faults", self.faults, |row| types.fault(row))?,
            name: self.name,
            params: self.params,
            result: self.result,
            results: self.results,
            domains: self.domains,
            status: self.status,
            stop_reason: self.stop_reason,
            evaluations: self.evaluations,
            camps: self.camps,
            missing: self.missing,
            held: self.held,
            source: self.source,
            constant: types.values("constant", &self.constant)?,
            same_code: self.same_code,
        })
    }
}

/// For files that hold single rows, such as journals; `RunFile::typed` has better places for messages.
impl<'de> Deserialize<'de> for FunctionRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FunctionRow, D::Error> {
        let row = FunctionRow::<NumberText, NumberText>::deserialize(deserializer)?;
        row.typed().map_err(serde::de::Error::custom)
    }
}

impl StoredRun {
    pub fn typed(self) -> Result<RunFile, Misfit> {
        Ok(RunFile {
            functions: each("functions", self.functions, FunctionRow::typed)?,
            schema: self.schema,
            bitrift: self.bitrift,
            name: self.name,
            seed: self.seed,
            strategy: self.strategy,
            budget: self.budget,
            nan: self.nan,
            zero: self.zero,
            host: self.host,
            baseline: self.baseline,
            builds: self.builds,
            sources: self.sources,
        })
    }
}

impl LockFunction<NumberText, NumberText> {
    fn typed(self) -> Result<LockFunction, Misfit> {
        let types = Types::new(&self.params, self.result, &self.results);
        let comparison = |(build, comparison): (super::BuildId, LockComparison<NumberText, NumberText>)| {
            let ranges = each("ranges", comparison.ranges, |range| types.lock_range(range));
            let ranges = ranges.map_err(|misfit| misfit.below(&format!("builds.{build}")))?;
            Ok((build, LockComparison { class_changes: comparison.class_changes, ranges }))
        };
        Ok(LockFunction {
            builds: self.builds.into_iter().map(comparison).collect::<Result<_, Misfit>>()?,
            params: self.params,
            result: self.result,
            results: self.results,
            domains: self.domains,
            held: self.held,
            clean: self.clean,
            evaluations: self.evaluations,
            tolerances: self.tolerances,
            faults: self.faults,
        })
    }
}

impl StoredLock {
    pub fn typed(self) -> Result<LockFile, Misfit> {
        let function = |(name, function): (String, LockFunction<NumberText, NumberText>)| {
            let function = function.typed().map_err(|misfit| misfit.below(&format!("functions.{name}")))?;
            Ok((name, function))
        };
        Ok(LockFile {
            functions: self.functions.into_iter().map(function).collect::<Result<_, Misfit>>()?,
            schema: self.schema,
            bitrift: self.bitrift,
            name: self.name,
            baseline: self.baseline,
            nan: self.nan,
            zero: self.zero,
            search: self.search,
            builds: self.builds,
            absent: self.absent,
        })
    }
}

/// The types of a function of the run that a file stands beside.
fn types_in(run: &RunFile, function: &str) -> Result<Types, String> {
    let row = run.functions.iter().find(|row| row.name == function);
    row.map(|row| Types::new(&row.params, row.result, &row.results))
        .ok_or_else(|| format!("the run has no function `{function}`"))
}

impl StoredGate {
    /// With the types of the run that was judged.
    pub fn typed(self, run: &RunFile) -> Result<GateFile, Misfit> {
        let finding = |finding: GateFinding<NumberText, NumberText>| {
            // One about a build as a whole has no numbers.
            let types = match finding.function.as_str() {
                "" => Types::new(&[], Scalar::F64, &[]),
                name => types_in(run, name).map_err(|message| Misfit::new("function", message))?,
            };
            let ends = |at: &str, texts: Vec<NumberText>| match texts.is_empty() {
                true => Ok(Vec::new()),
                false => types.inputs(at, texts),
            };
            Ok(GateFinding {
                lo: ends("lo", finding.lo)?,
                hi: ends("hi", finding.hi)?,
                witness: finding.witness.map(|witness| types.witness("witness", witness)).transpose()?,
                kind: finding.kind,
                function: finding.function,
                build: finding.build,
                bits: finding.bits,
                accepted: finding.accepted,
                what: finding.what,
                text: finding.text,
            })
        };
        let moved = |moved: MovedWitness<NumberText, NumberText>| {
            let types = types_in(run, &moved.function).map_err(|message| Misfit::new("function", message))?;
            Ok(MovedWitness { witness: types.witness("witness", moved.witness)?, function: moved.function })
        };
        Ok(GateFile {
            findings: each("findings", self.findings, finding)?,
            moved: each("moved", self.moved, moved)?,
            schema: self.schema,
            partial: self.partial,
            bitrift: self.bitrift,
            name: self.name,
            baseline: self.baseline,
            verdict: self.verdict,
            tolerance: self.tolerance,
            replay: self.replay,
            searched: self.searched,
            unsearched: self.unsearched,
            notes: self.notes,
        })
    }
}

impl StoredConfirm {
    /// With the types of the run that was confirmed; of its functions only.
    pub fn typed(self, run: &RunFile) -> Result<ConfirmFile, Misfit> {
        let row =
            |(id, row): (super::FindingId, ConfirmRow<NumberText>)| {
                let types = types_in(run, &id.function).ok()?;
                let at = format!("witnesses.{id}");
                let ConfirmRow { confirmed, worst, baseline, variant, reason } = row;
                let answer = |field: &str, text: Option<NumberText>| {
                    text.map(|text| types.answer(&format!("{at}.{field}"), worst.as_ref(), &text)).transpose()
                };
                let answers = answer("baseline", baseline).and_then(|a| Ok((a, answer("variant", variant)?)));
                Some(answers.map(|(baseline, variant)| {
                    (id, ConfirmRow { confirmed, worst, baseline, variant, reason })
                }))
            };
        let witnesses = self.witnesses.into_iter().filter_map(row).collect::<Result<_, Misfit>>()?;
        Ok(ConfirmFile { schema: self.schema, witnesses })
    }
}

impl TruthFile<NumberText, NumberText> {
    fn typed(self) -> Result<TruthFile, Misfit> {
        let types = Types::new(&self.params, self.result, &self.results);
        let swept = types.params.get(self.swept).copied();
        let swept = swept.ok_or_else(|| Misfit::new("swept", "there is no such parameter"))?;
        let segment = |segment: TruthSegment<NumberText>| {
            let end =
                |at: &str, text: &NumberText| text.number(swept).map_err(|error| Misfit::new(at, error));
            Ok(TruthSegment { lo: end("lo", &segment.lo)?, hi: end("hi", &segment.hi)? })
        };
        let comparison = |row: TruthComparison<NumberText, NumberText>| {
            Ok(TruthComparison {
                witness: row.witness.map(|witness| types.witness("witness", witness)).transpose()?,
                build: row.build,
                inputs: row.inputs,
                inconsistent: row.inconsistent,
                max_bits: row.max_bits,
                at_max: row.at_max,
                cells: row.cells,
                cells_inconsistent: row.cells_inconsistent,
                counts: row.counts,
            })
        };
        Ok(TruthFile {
            segments: each("segments", self.segments, segment)?,
            comparisons: each("comparisons", self.comparisons, comparison)?,
            schema: self.schema,
            bitrift: self.bitrift,
            name: self.name,
            host: self.host,
            function: self.function,
            params: self.params,
            result: self.result,
            results: self.results,
            domains: self.domains,
            swept: self.swept,
            baseline: self.baseline,
        })
    }
}

impl<'de> Deserialize<'de> for TruthFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TruthFile, D::Error> {
        let file = TruthFile::<NumberText, NumberText>::deserialize(deserializer)?;
        file.typed().map_err(serde::de::Error::custom)
    }
}
