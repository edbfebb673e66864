//! Files of shims to objects. One that does not compile is made in halves, so that a function that does not compile
//! has the compiler's words about it alone, and costs no other function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::bench::{Failure, Object};
use super::pipeline::Pipeline;
use super::ready::Ready;

/// The object of one file of shims.
#[derive(Clone)]
pub struct ShimObject<'a> {
    /// Whose flags it is compiled with.
    pub ready: &'a Ready<'a>,
    /// The shims that it has.
    pub members: Vec<usize>,
    /// Its name in command lines.
    pub name: String,
    pub object: Object,
}

#[derive(Default)]
pub struct ShimObjects<'a> {
    pub objects: Vec<ShimObject<'a>>,
    /// The shims that do not compile, in the compiler's words.
    pub missing: BTreeMap<usize, String>,
    /// Every header that was read.
    pub headers: BTreeSet<PathBuf>,
}

impl ShimObjects<'_> {
    pub fn append(&mut self, other: Self) {
        self.objects.extend(other.objects);
        self.missing.extend(other.missing);
        self.headers.extend(other.headers);
    }
}

pub fn make_shims<'a>(
    pipeline: &Pipeline<'_>,
    ready: &'a Ready<'a>,
    members: &[usize],
) -> Result<ShimObjects<'a>, Failure> {
    let request = ready.generated(&ready.lines.shims(members));
    let mut made = ShimObjects::default();
    match pipeline.object(ready.build, &request) {
        Ok(file) => {
            made.headers.extend(file.headers);
            let (members, name) = (members.to_vec(), request.object);
            made.objects.push(ShimObject { ready, members, name, object: file.object });
        }
        Err(Failure::Tool(words)) => match members {
            [only] => drop(made.missing.insert(*only, words)),
            _ => {
                let (some, others) = members.split_at(members.len() / 2);
                made.append(make_shims(pipeline, ready, some)?);
                made.append(make_shims(pipeline, ready, others)?);
            }
        },
        Err(other) => return Err(other),
    }
    Ok(made)
}
