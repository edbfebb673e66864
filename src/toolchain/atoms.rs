//! The difference between two lists of a compiler's arguments, in parts that can be switched one by one.
//!
//! A list of arguments is a level, words, and switches. The words are those of the two lists side by side,
//! without those whose effect the compiler tells itself (flags, composites such as -ffast-math). For each
//! of these effects that is not what the words alone give, an explicit switch follows: no order of the
//! user's and no default of a level decides it. With all atoms, and with none, the code is that of the
//! lists, instruction for instruction.
//!
//! Single atoms need not have an effect: gcc ignores most flags below -O1, and both compilers reassociate
//! only without signed zeros and (gcc) trapping math. A search has to go down from the full set.

use std::collections::{BTreeMap, BTreeSet};

use super::arguments::{Place, Word, align, join_values, words};
use super::atoms_clang::ClangStates;
use super::atoms_gcc::GccStates;
use super::compiler::{Compiler, Family};

/// Arguments that stand for several floating-point flags.
const COMPOSITES: [&str; 2] = ["-ffast-math", "-funsafe-math-optimizations"];
/// Machine options that are no part of an instruction set: each is a suspect of its own.
const APART: [&str; 14] = [
    "-mfpmath",
    "-mrecip",
    "-mlong-double",
    "-m80387",
    "-mfancy-math-387",
    "-mieee-fp",
    "-mpc",
    "-mdaz-ftz",
    "-mhard-float",
    "-msoft-float",
    "-mfloat-abi",
    "-mfpu",
    "-mabi",
    "-mcmodel",
];
const CONTRACT: &str = "-ffp-contract=";
const NO_CONTRACTION: &str = "-ffp-contract=off";
/// How often a compiler is asked again without the switches that it did not know.
const ROUNDS: usize = 8;

/// What an atom is about, the likeliest cause of other bits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Float,
    Level,
    Machine,
    Flag,
    Other,
}

/// One part of the difference between two lists of arguments, which can be there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The arguments of the second list, or `without` those of the first where the second has none.
    pub name: String,
    pub kind: Kind,
}

/// An effect that can be written as arguments, as each of the two lists has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    pub kind: Kind,
    pub from: Word,
    pub to: Word,
    /// What the atom is called where its arguments would mislead.
    pub name: Option<&'static str>,
}

impl Switch {
    pub fn new(kind: Kind, from: Option<String>, to: Option<String>) -> Switch {
        Switch { kind, from: from.into_iter().collect(), to: to.into_iter().collect(), name: None }
    }
}

/// What a compiler says of the effects of a list of arguments.
pub(super) trait States: Sized {
    /// Whether composites stand beside the switches when all of their parts are on.
    const KEEPS_COMPOSITES: bool;

    fn ask(compiler: &Compiler, args: &[String]) -> Result<Self, String>;

    /// Whether a word has no effect but those that are told.
    fn covers(&self, word: &str) -> bool;

    /// Whether the machine has instructions that multiply and add at once.
    fn has_fma(&self) -> bool;

    /// The value of -ffp-contract.
    fn contract(&self) -> &str;

    /// The switches for all effects that are not the same under the two lists and under the words that
    /// are left of them.
    fn switches(from: &Self, to: &Self, left: [&Self; 2]) -> Vec<Switch>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    from: Word,
    to: Word,
    /// None: the same in both lists.
    atom: Option<usize>,
}

/// The difference between two lists of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atoms {
    atoms: Vec<Atom>,
    /// The level, and what the lists have beside it.
    words: Vec<Part>,
    /// The composites of each list, which stand for floating-point atoms.
    composites: [Word; 2],
    switches: Vec<Part>,
    fused: Option<Fused>,
}

/// Contraction where only the second list's machine can fuse: to give it up there is to forbid it, whatever the
/// first list says, which has nothing to fuse with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fused {
    contraction: usize,
    machine: usize,
}

impl Atoms {
    /// Asks the compiler what two lists of arguments stand for. The error is in its own words.
    pub fn between(compiler: &Compiler, from: &[String], to: &[String]) -> Result<Atoms, String> {
        match compiler.family {
            Family::Gcc => expand::<GccStates>(compiler, from, to),
            Family::Clang => expand::<ClangStates>(compiler, from, to),
            Family::Tcc | Family::Other => {
                let places = join_values(align(&words(from), &words(to)));
                Ok(assemble(places, Default::default(), Vec::new(), Named::default()))
            }
        }
    }

    /// Floating-point flags, the level, machine options, other flags, other arguments.
    pub fn list(&self) -> &[Atom] {
        &self.atoms
    }

    /// Arguments with these atoms (by their place in the list) as the second list has them, and all others as
    /// the first has them.
    ///
    /// For gcc, composites such as -ffast-math stand there if all floating-point atoms are on, or, those of
    /// the first list, if none is. They have no effect on code that the atoms have not; __FAST_MATH__ comes
    /// and goes with the atoms. The start-up code that flushes subnormals goes with
    /// -funsafe-math-optimizations. For clang that start-up code is an atom of its own, whose argument is
    /// the composite: the switches behind it decide everything else that it stands for.
    pub fn args(&self, on: &BTreeSet<usize>) -> Vec<String> {
        let chosen = |part: &Part| match part.atom {
            Some(atom) if on.contains(&atom) => part.to.clone(),
            Some(atom) => self.back(part, atom, |machine| on.contains(&machine)),
            None => part.from.clone(),
        };
        let mut args: Vec<String> = self.words.iter().flat_map(chosen).collect();
        args.extend(self.composites(on).iter().cloned());
        let mut switches: Vec<String> = self.switches.iter().flat_map(chosen).collect();
        switches.sort_by_key(|switch| !goes_first(switch));
        args.extend(switches);
        args
    }

    /// Arguments that switch these atoms to the second list's state.
    pub fn on(&self, atoms: &BTreeSet<usize>) -> Vec<String> {
        self.parts(atoms).flat_map(|part| part.to.clone()).collect()
    }

    /// Arguments that switch these atoms back to the first list's state, to stand behind the second list.
    pub fn off(&self, atoms: &BTreeSet<usize>) -> Vec<String> {
        let back = |part: &Part| match part.atom {
            Some(atom) => self.back(part, atom, |machine| !atoms.contains(&machine)),
            None => part.from.clone(),
        };
        self.parts(atoms).flat_map(back).collect()
    }

    /// The place of contraction in the list, where it differs.
    pub fn contraction(&self) -> Option<usize> {
        self.atoms.iter().position(|atom| atom.name.starts_with(CONTRACT))
    }

    /// The first list's state of a part, `stays` being whether an atom stays as the second list has it.
    fn back(&self, part: &Part, atom: usize, stays: impl Fn(usize) -> bool) -> Word {
        match self.fused {
            Some(fused) if fused.contraction == atom && stays(fused.machine) => vec![NO_CONTRACTION.into()],
            _ => part.from.clone(),
        }
    }

    fn parts(&self, atoms: &BTreeSet<usize>) -> impl Iterator<Item = &Part> {
        let all = self.words.iter().chain(&self.switches);
        all.filter(|part| part.atom.is_some_and(|atom| atoms.contains(&atom)))
    }

    fn composites(&self, on: &BTreeSet<usize>) -> &[String] {
        let floats = self.atoms.iter().enumerate().filter(|(_, atom)| atom.kind == Kind::Float);
        let states: BTreeSet<bool> = floats.map(|(at, _)| on.contains(&at)).collect();
        match (states.contains(&false), states.contains(&true)) {
            (true, false) => &self.composites[0],
            (false, true) => &self.composites[1],
            _ => &[],
        }
    }
}

/// Whether other switches have to stand behind this one: they decide more exactly what it decides too. An
/// instruction set brings those that it builds on, and takes those along that build on it: with off before
/// on, -mfma is enough for FMA.
fn goes_first(switch: &str) -> bool {
    let positive = switch.replacen("-fno-", "-f", 1);
    switch.starts_with("-mno-") || COMPOSITES.contains(&positive.as_str())
}

fn expand<S: States>(compiler: &Compiler, from: &[String], to: &[String]) -> Result<Atoms, String> {
    let states = [S::ask(compiler, from)?, S::ask(compiler, to)?];
    let (level, [from, to]) = levels(words(from), words(to));
    let told = |word: &Word| word.len() == 1 && states.iter().any(|states| states.covers(&word[0]));
    let (told, mut places): (Vec<Place>, Vec<Place>) = align(&from, &to)
        .into_iter()
        .partition(|place| !place.shared() && (told(&place.from) || told(&place.to)));
    places.insert(0, level);
    let places = join_values(places);
    let ask = |side: fn(&Place) -> &Word| {
        S::ask(compiler, &places.iter().flat_map(side).cloned().collect::<Vec<_>>())
    };
    let left = [ask(|place| &place.from)?, ask(|place| &place.to)?];
    let switches = S::switches(&states[0], &states[1], [&left[0], &left[1]]);
    let composites = |side: fn(&Place) -> &Word| {
        let words = told.iter().flat_map(side);
        words.filter(|word| S::KEEPS_COMPOSITES && COMPOSITES.contains(&word.as_str())).cloned().collect()
    };
    let composites = [composites(|place| &place.from), composites(|place| &place.to)];
    let contraction = contraction(&states, [&from, &to]);
    let named = Named { machine: machine_name(&told, &places), fuses: contraction.is_some() };
    let mut switches = accepted(compiler, switches);
    let known = switches.iter().any(|switch| switch.to.iter().any(|arg| arg.starts_with(CONTRACT)));
    switches.extend(contraction.filter(|_| !known));
    Ok(assemble(places, composites, switches, named))
}

/// What the compiler's answers say of parts of the difference that are named by more than their own arguments.
#[derive(Default)]
struct Named {
    /// The words of the lists that choose the instruction set.
    machine: Option<String>,
    /// Only the second list's machine can fuse, and does.
    fuses: bool,
}

/// The switch for contraction where only the second list's machine can fuse. Both lists may say the same of it, and
/// only one of them acts on it; a word that both lists have is no part of their difference.
fn contraction<S: States>([from, to]: &[S; 2], lists: [&[Word]; 2]) -> Option<Switch> {
    let said = |list: &[Word]| list.iter().rev().flatten().find(|arg| arg.starts_with(CONTRACT)).cloned();
    let [a, b] = lists.map(said);
    let fuses = to.has_fma() && !from.has_fma() && to.contract() != "off" && (a.is_none() || a != b);
    fuses.then(|| Switch::new(Kind::Float, a, Some(format!("{CONTRACT}{}", to.contract()))))
}

/// The differing words that choose the instruction set, as the lists have them.
fn machine_name(told: &[Place], left: &[Place]) -> Option<String> {
    let places = || told.iter().chain(left).filter(|place| !place.shared());
    let names = |side: fn(&Place) -> &Word| {
        let words = places().map(side).filter(|word| word.first().is_some_and(|arg| is_instruction_set(arg)));
        words.flatten().cloned().collect::<Vec<String>>().join(" ")
    };
    match (names(|place| &place.from), names(|place| &place.to)) {
        (from, to) if to.is_empty() => (!from.is_empty()).then(|| format!("without {from}")),
        (_, to) => Some(to),
    }
}

/// Whether an argument is about the instructions of the machine and how they are chosen.
fn is_instruction_set(arg: &str) -> bool {
    let positive = arg.replacen("-mno-", "-m", 1);
    arg.starts_with("-m")
        && !["-mllvm", "-m32", "-m64", "-mx32"].contains(&arg)
        && !APART.iter().any(|apart| positive.starts_with(apart))
}

/// The level of each list, and the lists without it. -Ofast is -O3 -ffast-math, unless both lists have it.
fn levels(mut from: Vec<Word>, mut to: Vec<Word>) -> (Place, [Vec<Word>; 2]) {
    let is_level = |word: &Word| word.len() == 1 && word[0].starts_with("-O");
    let last = |list: &[Word]| list.iter().rev().find(|word| is_level(word)).cloned().unwrap_or_default();
    let mut level = Place { from: last(&from), to: last(&to) };
    let fast = |level: &Word| level.first().is_some_and(|level| level == "-Ofast");
    let both = fast(&level.from) && fast(&level.to);
    for (level, list) in [(&mut level.from, &mut from), (&mut level.to, &mut to)] {
        if fast(level) && !both {
            if let Some(at) = list.iter().rposition(is_level) {
                list[at] = vec!["-ffast-math".into()];
            }
            *level = vec!["-O3".into()];
        }
        list.retain(|word| !is_level(word));
    }
    (level, [from, to])
}

/// The switches without those that the compiler does not know: not every flag can be negated, and
/// not every feature of a processor has a flag.
fn accepted(compiler: &Compiler, mut switches: Vec<Switch>) -> Vec<Switch> {
    for _ in 0..ROUNDS {
        let complaint = |side: fn(&Switch) -> &Word| {
            let start = ["-fsyntax-only", "-w", "-x", "c", "/dev/null"].map(String::from);
            let args: Vec<String> =
                start.into_iter().chain(switches.iter().flat_map(side).cloned()).collect();
            compiler.ask(&args).err().unwrap_or_default()
        };
        let complaints = [complaint(|switch| &switch.from), complaint(|switch| &switch.to)].join("\n");
        let unknown = rejected(&complaints);
        let before = switches.clone();
        for word in switches.iter_mut().flat_map(|switch| [&mut switch.from, &mut switch.to]) {
            word.retain(|arg| !unknown.contains(arg.as_str()));
        }
        // Nothing more to learn; a compile with such arguments fails in the compiler's own words.
        if switches == before {
            break;
        }
    }
    switches
}

/// The arguments that a compiler's errors are about: the first that each quotes.
fn rejected(complaints: &str) -> BTreeSet<&str> {
    let errors = complaints.lines().filter(|line| line.contains("error:"));
    errors.filter_map(|line| line.split('\'').nth(1)).collect()
}

fn assemble(places: Vec<Place>, composites: [Word; 2], switches: Vec<Switch>, named: Named) -> Atoms {
    let count = places.len();
    let places =
        places.into_iter().map(|Place { from, to }| Switch { kind: kind(&from, &to), from, to, name: None });
    let all: Vec<Switch> = places.chain(switches).collect();
    let is_fused = |switch: &Switch| named.fuses && switch.to.iter().any(|arg| arg.starts_with(CONTRACT));
    let mut differing: Vec<usize> =
        (0..all.len()).filter(|&at| all[at].from != all[at].to || is_fused(&all[at])).collect();
    differing.sort_by_key(|&at| all[at].kind);
    // What an instruction set brings along is one part: nobody has half of it.
    let mut atoms: Vec<Atom> = Vec::new();
    let (mut machine, mut contraction) = (None, None);
    let mut atom_of: BTreeMap<usize, usize> = BTreeMap::new();
    for &at in &differing {
        let switch = &all[at];
        let is_machine = switch.to.iter().chain(&switch.from).any(|arg| is_instruction_set(arg));
        let known = machine.filter(|_| is_machine);
        let atom = known.unwrap_or(atoms.len());
        if known.is_none() {
            let own = named.machine.clone().filter(|_| is_machine);
            atoms.push(Atom { name: own.unwrap_or_else(|| name(switch)), kind: switch.kind });
        }
        machine = machine.or(is_machine.then_some(atom));
        contraction = contraction.or(is_fused(switch).then_some(atom));
        atom_of.insert(at, atom);
    }
    let part = |(at, switch): (usize, Switch)| Part {
        from: switch.from,
        to: switch.to,
        atom: atom_of.get(&at).copied(),
    };
    let mut words: Vec<Part> = all.into_iter().enumerate().map(part).collect();
    let switches = words.split_off(count);
    let fused = contraction.zip(machine).map(|(contraction, machine)| Fused { contraction, machine });
    Atoms { atoms, words, composites, switches, fused }
}

fn kind(from: &Word, to: &Word) -> Kind {
    match to.first().or(from.first()).map_or("", String::as_str) {
        word if word.starts_with("-O") => Kind::Level,
        word if word.starts_with("-m") => Kind::Machine,
        word if word.starts_with("-f") => Kind::Flag,
        _ => Kind::Other,
    }
}

fn name(switch: &Switch) -> String {
    let arguments = if switch.to.is_empty() { &switch.from } else { &switch.to };
    let text = switch.name.map_or_else(|| arguments.join(" "), String::from);
    if switch.to.is_empty() { format!("without {text}") } else { text }
}
