//! Near misses: the word that was probably meant.

/// Longer words are no typing errors, and comparing them would take quadratic time.
const LONGEST: usize = 64;

/// The candidate closest to `word`, if it is close enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    // One edit for short words, about a third of longer ones.
    let most = (lower.chars().count() / 3).max(1);
    among
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= most && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a`, `b`, `c`, for messages; long lists are cut.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
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
    }

    #[test]
    fn a_long_list_is_cut() {
        let many = vec!["x"; 50];
        assert!(quoted(many).ends_with("`x` and 10 more"));
    }
}
