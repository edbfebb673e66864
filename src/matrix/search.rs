//! `[search]`: settings with their places, so that a wrong one can be pointed at.

use super::place::{At, Text};
use super::problem::{Problem, Problems};
use crate::model::{SearchKey, SearchSettings, SettingValue};

/// The settings of a matrix; what it does not set keeps its default.
pub(super) fn resolve(raw: &[(Text, At<SettingValue>)], problems: &mut Problems) -> SearchSettings {
    let mut settings = SearchSettings::default();
    for (index, (key, value)) in raw.iter().enumerate() {
        // The seed may stand in [lab] or in [search].
        if let Some((_, first)) = raw[..index].iter().find(|(other, _)| other.as_str() == key.as_str()) {
            let problem = Problem::new(value.place, format!("`{}` is set twice", key.as_str()));
            problems
                .add(problem.label("again here").also(first.place, "first here").help("keep one of the two"));
            continue;
        }
        // A key that is none was told when the table was read.
        let Some(setting) = SearchKey::named(key.as_str()) else { continue };
        if let Err(expected) = setting.set(&mut settings, &value.value) {
            let label = match expected.meant {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("this is {}", value.value.describe()),
            };
            let title = format!("`{}` must be {}", key.as_str(), expected.what);
            problems.add(Problem::new(value.place, title).label(label));
        }
    }
    settings
}
