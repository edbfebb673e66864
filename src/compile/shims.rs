//! The shims of all functions of a matrix, and which of them share a file: starting a compiler costs more than
//! compiling a shim.
//!
//! A shim made from a signature calls code in another file, so that nothing in its own file changes what it does.
//! A call or a body may use code of a header: sharing a file changes what is inlined, and bits with it. Those have
//! files of their own, and so has everything under -flto.

use std::collections::{BTreeMap, BTreeSet};

use super::key::KeyBuilder;
use super::shim::{Call, Shim, all_headers, calls_elsewhere, file_text, symbol, tail_text, unique_tag};
use crate::model::{Build, Function, Implementation};

/// The most shims in a file: more of them save little and lose more when one of them changes.
pub const MOST_TOGETHER: usize = 64;

pub struct Shims<'a> {
    /// Of all functions of the matrix, also of those that nobody asked for: they are in the same files whatever was
    /// asked for.
    calls: Vec<Call<'a>>,
    /// The unique tail of each shim's names.
    tags: Vec<String>,
    /// The shim of each function of the experiment.
    asked: Vec<usize>,
    /// For each shim the function of the experiment that it calls; none when nobody asked for it.
    places: Vec<Option<usize>>,
    /// The shims that share a file, if one of them was asked for.
    groups: Vec<Vec<usize>>,
    missing: BTreeMap<usize, String>,
}

impl<'a> Shims<'a> {
    /// The calls of an implementation. `functions` are those that were asked for; those of the same name in
    /// `declared` give way to them.
    pub fn new(
        implementation: &'a Implementation,
        (declared, functions): (&'a [Function], &'a [Function]),
        most: usize,
    ) -> Shims<'a> {
        let of_name: BTreeMap<&str, &Function> = functions.iter().map(|f| (f.name.as_str(), f)).collect();
        let known: BTreeSet<&str> = declared.iter().map(|f| f.name.as_str()).collect();
        let declared = declared.iter().map(|f| of_name.get(f.name.as_str()).copied().unwrap_or(f));
        let more = functions.iter().filter(|f| !known.contains(f.name.as_str()));
        let calls: Vec<Call> = declared.chain(more).map(|f| Call::of(f, implementation)).collect();
        let mut taken = BTreeSet::new();
        let tags = calls.iter().map(|call| unique_tag(&call.function.name, &mut taken)).collect();
        let numbers: BTreeMap<&str, usize> =
            calls.iter().enumerate().map(|(number, call)| (call.function.name.as_str(), number)).collect();
        let asked: Vec<usize> = functions.iter().map(|f| numbers[f.name.as_str()]).collect();
        let mut places = vec![None; calls.len()];
        asked.iter().enumerate().for_each(|(place, number)| places[*number] = Some(place));
        let first = |group: &Vec<usize>| group.iter().filter_map(|number| places[*number]).min();
        let mut groups = groups(&calls, most);
        groups.retain(|group| first(group).is_some());
        groups.sort_by_key(first);
        let missing = asked.iter().filter(|number| calls[**number].callee.is_none());
        let missing = missing.map(|&number| (number, implementation.lacks(calls[number].function))).collect();
        Shims { calls, tags, asked, places, groups, missing }
    }

    /// Those that were asked for and that the implementation has not got, with the reason.
    pub fn missing(&self) -> &BTreeMap<usize, String> {
        &self.missing
    }

    /// The shim of each function of the experiment, in its order.
    pub fn asked(&self) -> &[usize] {
        &self.asked
    }

    /// The function of the experiment that a shim calls.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.places[number]
    }

    /// The members of each file of a build, in link order.
    pub fn files(&self, build: &Build) -> Vec<Vec<usize>> {
        match build.args.iter().any(|arg| arg.starts_with("-flto")) {
            // Files are taken apart at the link, and what is there decides what is inlined.
            true => {
                let apart = |number: &&usize| self.calls[**number].within.is_none();
                let there =
                    self.asked.iter().filter(|number| !self.missing.contains_key(number)).filter(apart);
                there.map(|number| vec![*number]).collect()
            }
            false => self.groups.clone(),
        }
    }

    /// Whether all that a shim does is call a function of another file.
    pub fn calls_elsewhere(&self, number: usize) -> bool {
        calls_elsewhere(&self.calls[number])
    }

    pub fn tag(&self, number: usize) -> &str {
        &self.tags[number]
    }

    pub fn tagged(&self, tag: &str) -> Option<usize> {
        self.tags.iter().position(|known| known == tag)
    }

    pub fn symbol(&self, number: usize) -> String {
        symbol(&self.tags[number])
    }

    /// The symbol of each function of the experiment, in its order.
    pub fn symbols(&self) -> Vec<String> {
        self.asked.iter().map(|number| self.symbol(*number)).collect()
    }

    /// One file with some shims, which have the same headers.
    pub fn file(&self, members: &[usize]) -> Shim {
        let name = |number: &usize| self.calls[*number].function.name.as_str();
        let what = match members {
            [first, .., last] => format!("shims {} to {} ({})", name(first), name(last), members.len()),
            _ => members.iter().map(|number| format!("shim {}", name(number))).collect(),
        };
        let stem = self.stem(members);
        let calls: Vec<(&Call, &str)> =
            members.iter().map(|number| (&self.calls[*number], self.tag(*number))).collect();
        Shim { what, text: file_text(&calls, &stem), stem }
    }

    /// The shims at the end of a source, whether somebody asked for them or not: what stands beside a shim may
    /// change what is inlined.
    pub fn within(&self, source: usize) -> Vec<usize> {
        let is_within = |number: &usize| {
            let call = &self.calls[*number];
            call.within == Some(source) && call.callee.is_some()
        };
        (0..self.calls.len()).filter(is_within).collect()
    }

    /// What a source has beside itself, in words.
    pub fn names(&self, members: &[usize]) -> String {
        let names: Vec<&str> =
            members.iter().map(|number| self.calls[*number].function.name.as_str()).collect();
        if names.is_empty() { String::new() } else { format!(" with shims {}", names.join(", ")) }
    }

    /// The text of these shims at the end of a source.
    pub fn tail(&self, members: &[usize]) -> String {
        let calls: Vec<(&Call, &str)> =
            members.iter().map(|number| (&self.calls[*number], self.tag(*number))).collect();
        tail_text(&calls, &self.stem(members))
    }

    /// By names and not by numbers, so that adding a function leaves the files of others as they are.
    pub fn stem(&self, members: &[usize]) -> String {
        let tags: Vec<&str> = members.iter().map(|number| self.tag(*number)).collect();
        match tags[..] {
            [tag] => format!("bitrift_shim_{tag}"),
            _ => {
                let hash = KeyBuilder::new("shims").add_all(&tags).finish();
                let start: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                format!("bitrift_shims_{start}")
            }
        }
    }
}

/// Which calls share a file: those elsewhere with the same headers, split by ever more bits of the hash of their
/// names until at most `most` are together. A new function moves no other, unless its group becomes too large.
fn groups(calls: &[Call<'_>], most: usize) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    let mut alike: BTreeMap<Vec<String>, Vec<(u64, usize)>> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate() {
        if call.callee.is_none() || call.within.is_some() {
            continue;
        }
        if calls_elsewhere(call) {
            let hash = blake3::hash(call.function.name.as_bytes());
            let bits = hash.as_bytes().iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            alike.entry(all_headers(call)).or_default().push((bits, number));
        } else {
            groups.push(vec![number]);
        }
    }
    for members in alike.into_values() {
        split(members, most.max(1), u64::BITS, &mut groups);
    }
    for group in &mut groups {
        group.sort_by_key(|number| &calls[*number].function.name);
    }
    groups
}

/// `bits` are those not yet looked at.
fn split(members: Vec<(u64, usize)>, most: usize, bits: u32, groups: &mut Vec<Vec<usize>>) {
    if members.len() <= most || bits == 0 {
        groups.push(members.into_iter().map(|(_, number)| number).collect());
        return;
    }
    let (ones, zeros): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(hash, _)| hash >> (bits - 1) & 1 == 1);
    split(zeros, most, bits - 1, groups);
    split(ones, most, bits - 1, groups);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::samples;
    use crate::model::{Callee, Implementation};

    /// Of the matrix's sources.
    fn shims<'a>(declared: &'a [Function], functions: &'a [Function], most: usize) -> Shims<'a> {
        Shims::new(Implementation::named("", &[]), (declared, functions), most)
    }

    fn many(count: usize) -> Vec<Function> {
        (0..count).map(|n| samples::unary(&format!("f{n}"))).collect()
    }

    fn names(shims: &Shims<'_>) -> BTreeSet<Vec<String>> {
        let name = |number: &usize| shims.calls[*number].function.name.clone();
        shims.groups.iter().map(|group| group.iter().map(name).collect()).collect()
    }

    #[test]
    fn groups_have_at_most_so_many_and_everyone_is_in_one() {
        let functions = many(1000);
        let groups = shims(&[], &functions, 64).groups;
        assert!(groups.iter().all(|group| group.len() <= 64) && groups.len() < 40, "{}", groups.len());
        let all: BTreeSet<usize> = groups.into_iter().flatten().collect();
        assert_eq!(all.len(), 1000);
        assert_eq!(shims(&[], &functions, 1).groups.len(), 1000);
    }

    #[test]
    fn a_new_function_moves_no_other() {
        let functions = many(1000);
        let before = names(&shims(&[], &functions[1..], 64));
        let after = names(&shims(&[], &functions, 64));
        let changed: Vec<&Vec<String>> = after.difference(&before).collect();
        assert!(
            changed.len() <= 2 && changed.iter().any(|group| group.contains(&"f0".into())),
            "{changed:?}"
        );
    }

    #[test]
    fn what_was_asked_for_changes_no_file() {
        let functions = many(200);
        let all = names(&shims(&functions, &functions, 64));
        let some = shims(&functions, &functions[3..4], 64);
        assert_eq!((some.groups.len(), some.symbols()), (1, vec!["bitrift_call_f3".to_string()]));
        assert!(names(&some).is_subset(&all));
    }

    #[test]
    fn only_signatures_with_the_same_headers_share_a_file() {
        let mut functions = many(4);
        functions[1].headers = vec!["math.h".into()];
        functions[2].callee = Callee::Call("x".into());
        functions[3].callee = Callee::Signature("double f3(double /* x".into());
        functions.extend([samples::unary("g"), samples::unary("h")]);
        let together = names(&shims(&[], &functions, 64));
        let shared: Vec<&Vec<String>> = together.iter().filter(|group| group.len() > 1).collect();
        assert_eq!(shared, [&vec!["f0".to_string(), "g".into(), "h".into()]]);
    }
}
