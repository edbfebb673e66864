//! The instruction audit of a linked build, through the cache. One that cannot be made is a note.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bench::{Bench, Failure, Object};
use super::key::{Hash, KeyBuilder};
use super::message::tidy;
use crate::audit::{Code, Entry, Own, defined_names};
use crate::model::{Audit, Build, InstructionCounts};
use crate::sandbox::Folder;
use crate::toolchain::{Compiler, End, Invocation, disassemblers, no_disassembler, run_reading};

/// The most of a disassembly that is read: some ten million instructions.
const LISTING_LIMIT: u64 = 256 << 20;

/// A linked build and where its code comes from.
pub struct AuditRequest<'a> {
    pub bench: &'a Bench<'a>,
    pub build: &'a Build,
    pub compiler: &'a Compiler,
    pub linked: &'a Object,
    /// The objects of sources, setup and shims: the code that is followed inside a program.
    pub parts: Vec<&'a Object>,
    /// Each function that it has.
    pub functions: Vec<Audited>,
}

/// A function whose code is looked at.
pub struct Audited {
    pub name: String,
    /// The shim's.
    pub symbol: String,
    /// Whether code of the matrix itself, in the shim, is a part of it.
    pub with_shim: bool,
}

/// What a disassembly tells, by the symbols of shims.
#[derive(Default, Serialize, Deserialize)]
struct Told {
    counts: BTreeMap<String, InstructionCounts>,
    /// Of those whose code is known to the last constant.
    digests: BTreeMap<String, String>,
}

impl AuditRequest<'_> {
    pub fn audit(&self) -> Result<Audit, Failure> {
        self.bench.stop_if_cancelled()?;
        let key = self.key();
        let _turn = self.bench.in_flight.enter(key);
        if let Some(told) = self.known(&key) {
            return Ok(self.by_name(&told));
        }
        match self.told() {
            Ok(told) => {
                let content = serde_json::to_vec(&told).map_err(|e| Failure::Cache(e.into()))?;
                self.bench.keep(Some(&key), &content, Vec::new())?;
                Ok(self.by_name(&told))
            }
            // Not kept: the tool may be there the next time.
            Err(Failure::Tool(unread)) => Ok(Audit { unread, ..Audit::default() }),
            Err(other) => Err(other),
        }
    }

    /// Which program reads the bytes is no part of it: what they mean does not depend on that.
    fn key(&self) -> Hash {
        let mut key = KeyBuilder::new("audit 2");
        key.add(self.linked.hash).add_all(&self.parts.iter().map(|o| o.hash).collect::<Vec<_>>());
        key.add_all(&self.symbols());
        key.add(self.functions.iter().map(|f| u8::from(f.with_shim)).collect::<Vec<u8>>());
        key.finish()
    }

    fn known(&self, key: &Hash) -> Option<Told> {
        let (_, answer) = self.bench.look_up(Some(key), &[])?;
        serde_json::from_slice(&fs::read(answer.path).ok()?).ok()
    }

    fn symbols(&self) -> Vec<&str> {
        self.functions.iter().map(|function| function.symbol.as_str()).collect()
    }

    fn by_name(&self, told: &Told) -> Audit {
        let of = |f: &Audited| Some((f.name.clone(), told.counts.get(&f.symbol)?.clone()));
        let functions = self.functions.iter().filter_map(of).filter(|(_, counts)| !counts.is_empty());
        let digest = |f: &Audited| Some((f.name.clone(), told.digests.get(&f.symbol)?.clone()));
        let digests = self.functions.iter().filter_map(digest).collect();
        Audit { functions: functions.collect(), digests, unread: String::new() }
    }

    fn told(&self) -> Result<Told, Failure> {
        let symbols = self.symbols();
        let own = self.own()?;
        if let Own::Named(names) = &own
            && symbols.iter().any(|symbol| !names.contains(*symbol))
        {
            let words = "its code is made at link time and cannot be told from its libraries'";
            return Err(Failure::Tool(words.into()));
        }
        let code = Code::read(&fs::read(&self.linked.path)?, &own).map_err(Failure::Tool)?;
        let triple = self.build.triple.as_deref();
        let mut problem = no_disassembler(triple).to_string();
        for program in disassemblers(&self.compiler.path, triple) {
            let listing = match self.listing(&program, &code) {
                Ok(listing) => listing,
                // One for other machines: what is missing says more than its complaint.
                Err(Failure::Tool(_)) if triple.is_some() => continue,
                Err(Failure::Tool(words)) => {
                    problem = words;
                    continue;
                }
                Err(other) => return Err(other),
            };
            match code.count(&listing, &symbols) {
                Ok(counts) => {
                    let shims = self.functions.iter();
                    let entries: Vec<Entry> =
                        shims.map(|f| Entry { symbol: &f.symbol, with_shim: f.with_shim }).collect();
                    return Ok(Told { counts, digests: code.digests(&listing, &entries) });
                }
                Err(words) => problem = words,
            }
        }
        Err(Failure::Tool(problem))
    }

    fn own(&self) -> Result<Own, Failure> {
        if self.build.is_loaded() {
            return Ok(Own::Everything);
        }
        let contents: Result<Vec<_>, _> = self.parts.iter().map(|part| fs::read(&part.path)).collect();
        Ok(Own::Named(contents?.iter().flat_map(|content| defined_names(content)).collect()))
    }

    /// What a disassembler prints.
    fn listing(&self, program: &Path, code: &Code) -> Result<String, Failure> {
        let (first, end) = code.extent();
        let mut argv = vec![program.display().to_string()];
        argv.extend(["-d".into(), "--no-show-raw-insn".into(), format!("--start-address={first:#x}")]);
        argv.extend(end.map(|end| format!("--stop-address={end:#x}")));
        argv.push(self.linked.path.display().to_string());
        let own = Folder::temporary()?;
        let own = own.path();
        let invocation = Invocation {
            program,
            argv: &argv,
            cwd: own,
            own,
            tmp: own,
            reach: &self.bench.reach,
            timeout: self.bench.timeout,
            cancel: Some(self.bench.cancel),
        };
        let done = run_reading(&invocation, LISTING_LIMIT);
        match done.end {
            End::Cancelled => Err(Failure::Cancelled),
            End::Exited(0) if (done.stdout.len() as u64) < LISTING_LIMIT => Ok(done.stdout),
            End::Exited(0) => Err(Failure::Tool("its disassembly is too long".into())),
            _ => {
                let words = done.complaint("objdump", self.bench.timeout);
                Err(Failure::Tool(tidy(&words, &self.bench.cache.jobs_folder())))
            }
        }
    }
}
