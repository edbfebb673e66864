//! Near misses: the word that was probably meant.

/// Longer words are no typing errors, and comparing them would take quadratic time.
const LONGEST: usize = 64;

/// The candidate closest to `word`, if it is close enough to be what was meant.
pub fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    among
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| Some((distance(&lower, &candidate.to_lowercase())?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How far two words are apart; None when they are too far to be confused.
fn distance(word: &str, candidate: &str) -> Option<usize> {
    let lengths = (word.chars().count(), candidate.chars().count());
    let (shorter, longer) = (lengths.0.min(lengths.1), lengths.0.max(lengths.1));
    // A beginning is a likely abbreviation: `O3` for `O3-fast`, `gcc-12` for `gcc`.
    if shorter >= 2 && (word.starts_with(candidate) || candidate.starts_with(word)) {
        return Some(1);
    }
    // One edit for short words, about a third of longer ones, always less than half of the word.
    let edits = strsim::osa_distance(word, candidate);
    (edits <= (lengths.0 / 3).max(1) && 2 * edits < longer).then_some(edits)
}

/// `a`, `b`, `c`, for messages; long lists are cut.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 40;
    let words: Vec<&str> = words.into_iter().collect();
    let shown: Vec<String> = words.iter().take(SHOWN).map(|word| format!("`{word}`")).collect();
    let more = words.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let keys = ["name", "command", "args", "optional"];
        assert_eq!(nearest("optionl", keys), Some("optional"));
        assert_eq!(nearest("comand", keys), Some("command"));
        assert_eq!(nearest("Name", keys), Some("name"));
        assert_eq!(nearest("agrs", keys), Some("args"));
        assert_eq!(nearest("sysroot", keys), None);
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("O3", ["O0", "O3-fast"]), Some("O3-fast"));
        assert_eq!(nearest("gcc-12", ["clang", "gcc"]), Some("gcc"));
    }

    #[test]
    fn a_long_list_is_cut() {
        let many = vec!["x"; 50];
        assert!(quoted(many).ends_with("`x` and 10 more"));
    }
}
