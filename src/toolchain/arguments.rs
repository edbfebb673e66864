//! A compiler's arguments as words that belong together, and two lists of them side by side.

/// Options whose value is the next argument.
const WITH_VALUE: [&str; 31] = [
    "-A",
    "-D",
    "-I",
    "-L",
    "-MF",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-e",
    "-idirafter",
    "-imacros",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-l",
    "-mllvm",
    "-o",
    "-target",
    "-u",
    "-x",
    "-z",
    "--param",
    "--sysroot",
];

/// An option with its value, or an argument alone.
pub(super) type Word = Vec<String>;

/// Cuts a list of arguments into words. What is handed through by `-Xclang` stays with the values that
/// follow it.
pub(super) fn words(args: &[String]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut word = vec![arg.clone()];
        if WITH_VALUE.contains(&arg.as_str()) {
            word.extend(rest.next().cloned());
        }
        let value = |word: &Word| word[0] == "-Xclang" && word.get(1).is_some_and(|w| !w.starts_with('-'));
        match words.last_mut() {
            Some(last) if last[0] == "-Xclang" && value(&word) => last.extend(word),
            _ => words.push(word),
        }
    }
    words
}

/// A place in two lists side by side: what each of them has there. Equal when they share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub from: Word,
    pub to: Word,
}

impl Place {
    pub fn shared(&self) -> bool {
        self.from == self.to
    }
}

/// Two lists side by side: read on either side, the places give that list in its order.
pub(super) fn align(from: &[Word], to: &[Word]) -> Vec<Place> {
    // The longest common part of each pair of tails.
    let mut common = vec![vec![0usize; to.len() + 1]; from.len() + 1];
    for a in (0..from.len()).rev() {
        for b in (0..to.len()).rev() {
            common[a][b] = if from[a] == to[b] {
                common[a + 1][b + 1] + 1
            } else {
                common[a + 1][b].max(common[a][b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut places = Vec::new();
    while a < from.len() || b < to.len() {
        if a < from.len() && b < to.len() && from[a] == to[b] {
            places.push(Place { from: from[a].clone(), to: to[b].clone() });
            (a, b) = (a + 1, b + 1);
        } else if a < from.len() && (b == to.len() || common[a + 1][b] >= common[a][b + 1]) {
            places.push(Place { from: from[a].clone(), to: Word::new() });
            a += 1;
        } else {
            places.push(Place { from: Word::new(), to: to[b].clone() });
            b += 1;
        }
    }
    places
}

/// Joins the places between which nothing is shared and which give one option two values: `-std=c99`,
/// `-std=c11`.
pub(super) fn join_values(places: Vec<Place>) -> Vec<Place> {
    let mut joined: Vec<Place> = Vec::new();
    for place in places {
        let start = joined.iter().rposition(Place::shared).map_or(0, |at| at + 1);
        let key = if place.from.is_empty() { option(&place.to) } else { None };
        let partner = joined[start..]
            .iter()
            .position(|other| other.to.is_empty() && key.is_some() && option(&other.from) == key);
        // Only the last of the words of a list may move to its partner: those behind it would change places.
        match partner {
            Some(at) if joined[start + at + 1..].iter().all(|other| other.to.is_empty()) => {
                joined[start + at].to = place.to;
            }
            _ => joined.push(place),
        }
    }
    joined
}

/// The option that a word gives a value: `-std`, `-O`, or `-x`.
fn option(word: &Word) -> Option<&str> {
    match &word[..] {
        [level] if level.starts_with("-O") => Some("-O"),
        [one] => one.split_once('=').map(|(name, _)| name).filter(|name| name.starts_with('-')),
        [name, value] if name == "-x" || name == "-target" => (!value.is_empty()).then_some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn place(from: &str, to: &str) -> Place {
        Place { from: list(from), to: list(to) }
    }

    #[test]
    fn an_option_keeps_its_value() {
        let args =
            list("-O2 -D A=1 -include x.h -DB -Xclang -target-feature -Xclang +fma -Xclang -menable -I");
        let wanted = [
            "-O2",
            "-D A=1",
            "-include x.h",
            "-DB",
            "-Xclang -target-feature -Xclang +fma",
            "-Xclang -menable",
            "-I",
        ];
        assert_eq!(words(&args), wanted.map(list));
    }

    #[test]
    fn what_both_lists_have_is_shared_and_values_of_one_option_are_joined() {
        let places = align(&words(&list("-g -std=c99 -D A -w")), &words(&list("-g -std=c11 -D B -w -x c")));
        let wanted = [
            place("-g", "-g"),
            place("-std=c99", "-std=c11"),
            place("-D A", ""),
            place("", "-D B"),
            place("-w", "-w"),
            place("", "-x c"),
        ];
        let mut joined = join_values(places);
        assert_eq!(joined.remove(0), wanted[0]);
        for wanted in &wanted[1..] {
            assert!(joined.contains(wanted), "{wanted:?} in {joined:?}");
        }
    }

    fn argument() -> impl Strategy<Value = String> {
        let known =
            ["-D", "-x", "-Xclang", "-std=c99", "-std=c11", "-DA=1", "-DA=2", "+fma", "c", "", "=", "-O2"];
        prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => "\\PC{0,6}"]
    }

    proptest! {
        #[test]
        fn each_side_of_the_places_is_its_list_in_order(
            from in proptest::collection::vec(argument(), 0..12),
            to in proptest::collection::vec(argument(), 0..12),
        ) {
            let places = join_values(align(&words(&from), &words(&to)));
            let side = |pick: fn(&Place) -> &Word| places.iter().flat_map(|p| pick(p).clone()).collect::<Vec<_>>();
            prop_assert_eq!(side(|p| &p.from), from);
            prop_assert_eq!(side(|p| &p.to), to);
        }

        #[test]
        fn a_list_beside_itself_shares_everything(args in proptest::collection::vec(argument(), 0..12)) {
            prop_assert!(align(&words(&args), &words(&args)).iter().all(Place::shared));
        }
    }
}
