//! Reading one TOML table key by key: types are checked, unknown keys are answered.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place::{At, Place, SourceFile, Text};
use super::problem::{Problem, Problems};

/// The most entries a list of tables may have; functions may be generated.
const MOST_ENTRIES: usize = 1_000;
const MOST_FUNCTIONS: usize = 20_000;

/// The file that is being read, and what is wrong with it so far.
pub(super) struct Reader<'a> {
    pub file: &'a SourceFile,
    pub index: usize,
    pub problems: &'a mut Problems,
}

impl Reader<'_> {
    pub fn place<T>(&self, spanned: &Spanned<T>) -> Place {
        Place::new(self.index, spanned.span())
    }

    /// A string, or a complaint that `what` has to be `expected`.
    pub fn text(&mut self, what: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Option<Text> {
        let place = self.place(value);
        let Some(string) = value.get_ref().as_str() else {
            self.wrong_type(what, value, expected, None);
            return None;
        };
        if string.contains('\0') {
            self.problems.add(
                Problem::new(place, format!("{what} contains a NUL character"))
                    .label("no string may have one"),
            );
            return None;
        }
        Some(Text::new(self.file, place, string))
    }

    pub fn wrong_type(
        &mut self,
        what: &str,
        value: &Spanned<DeValue<'_>>,
        expected: &str,
        help: Option<String>,
    ) {
        let label = format!("this is {}", type_name(value.get_ref()));
        let mut problem = Problem::new(self.place(value), format!("{what} must be {expected}")).label(label);
        if let Some(help) = help {
            problem = problem.help(help);
        }
        self.problems.add(problem);
    }
}

pub(super) fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// The keys of one table, taken out one by one.
pub(super) struct Keys<'i> {
    /// The table as the user writes it: `[lab]`, `[[compiler]]`.
    pub name: &'static str,
    pub place: Place,
    /// In the order of the file.
    entries: Vec<(Text, Spanned<DeValue<'i>>)>,
}

impl<'i> Keys<'i> {
    /// Opens a table and complains about every key that is not among `allowed`.
    pub fn open(
        reader: &mut Reader<'_>,
        name: &'static str,
        place: Place,
        table: DeTable<'i>,
        allowed: &[&str],
    ) -> Keys<'i> {
        let mut keys = Keys::open_any(reader, name, place, table);
        keys.entries.retain(|(key, _)| {
            let known = allowed.contains(&key.as_str());
            if !known {
                reader.problems.add(unknown_key(name, key, allowed));
            }
            known
        });
        keys
    }

    /// Opens a table whose keys are names the user chose.
    pub fn open_any(
        reader: &mut Reader<'_>,
        name: &'static str,
        place: Place,
        table: DeTable<'i>,
    ) -> Keys<'i> {
        let mut entries: Vec<_> = table
            .into_iter()
            .map(|(key, value)| (Text::new(reader.file, reader.place(&key), key.get_ref()), value))
            .collect();
        entries.sort_by_key(|(key, _)| key.place.start);
        Keys { name, place, entries }
    }

    pub fn into_entries(self) -> Vec<(Text, Spanned<DeValue<'i>>)> {
        self.entries
    }

    pub fn names(&self) -> Vec<Text> {
        self.entries.iter().map(|(name, _)| name.clone()).collect()
    }

    fn take(&mut self, key: &str) -> Option<Spanned<DeValue<'i>>> {
        let index = self.entries.iter().position(|(name, _)| name.as_str() == key)?;
        Some(self.entries.remove(index).1)
    }

    fn what(&self, key: &str) -> String {
        if self.name.is_empty() { format!("`{key}`") } else { format!("`{key}` in {}", self.name) }
    }

    pub fn text(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<Text> {
        let value = self.take(key)?;
        reader.text(&self.what(key), &value, "a string")
    }

    /// A string that has to be there.
    pub fn required(&mut self, reader: &mut Reader<'_>, key: &str, example: &str) -> Option<Text> {
        if self.entries.iter().any(|(name, _)| name.as_str() == key) {
            return self.text(reader, key);
        }
        let problem = Problem::new(self.place, format!("{} needs a `{key}`", self.name));
        reader.problems.add(problem.label(format!("no `{key}` here")).help(format!("for example {example}")));
        None
    }

    /// An array of strings, with the place of the whole.
    pub fn texts(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<At<Vec<Text>>> {
        let value = self.take(key)?;
        let (place, what) = (reader.place(&value), self.what(key));
        let expected = "an array of strings";
        let DeValue::Array(items) = value.get_ref() else {
            let help = value.get_ref().as_str().map(|one| {
                let words: Vec<String> = one.split_whitespace().map(|word| format!("{word:?}")).collect();
                format!("write `{key} = [{}]`", words.join(", "))
            });
            reader.wrong_type(&what, &value, expected, help);
            return None;
        };
        let texts =
            items.iter().filter_map(|item| reader.text(&format!("every entry of {what}"), item, "a string"));
        Some(At { value: texts.collect(), place })
    }

    pub fn boolean(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<bool> {
        let value = self.take(key)?;
        let found = value.get_ref().as_bool();
        if found.is_none() {
            reader.wrong_type(&self.what(key), &value, "`true` or `false`", None);
        }
        found
    }

    /// The raw value of a key, for keys that take several types.
    pub fn value(&mut self, key: &str) -> Option<Spanned<DeValue<'i>>> {
        self.take(key)
    }

    /// A table, with its place.
    pub fn table(&mut self, reader: &mut Reader<'_>, key: &str) -> Option<(Place, DeTable<'i>)> {
        let value = self.take(key)?;
        let place = reader.place(&value);
        if let DeValue::Array(_) = value.get_ref() {
            let help = format!("write `[{key}]`, with one pair of brackets, once");
            reader.wrong_type(&self.what(key), &value, "a single table", Some(help));
            return None;
        }
        if !value.get_ref().is_table() {
            reader.wrong_type(&self.what(key), &value, "a table", None);
            return None;
        }
        match value.into_inner() {
            DeValue::Table(table) => Some((place, table)),
            _ => None,
        }
    }

    /// A list of tables: `[[key]]`.
    pub fn tables(&mut self, reader: &mut Reader<'_>, key: &str) -> Vec<(Place, DeTable<'i>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let what = self.what(key);
        let expected = "a list of tables";
        let help = format!("write `[[{key}]]`, with two pairs of brackets, above each entry");
        if !value.get_ref().is_array() {
            reader.wrong_type(&what, &value, expected, Some(help));
            return Vec::new();
        }
        let DeValue::Array(items) = value.into_inner() else { return Vec::new() };
        let most = if key == "function" { MOST_FUNCTIONS } else { MOST_ENTRIES };
        let mut tables = Vec::new();
        for item in items {
            let place = reader.place(&item);
            if tables.len() == most {
                let problem = Problem::new(place, format!("more than {most} entries of `[[{key}]]`"));
                reader.problems.add(problem.label("this is one too many"));
                break;
            }
            if !item.get_ref().is_table() {
                reader.wrong_type(&what, &item, expected, Some(help.clone()));
                continue;
            }
            if let DeValue::Table(table) = item.into_inner() {
                tables.push((place, table));
            }
        }
        tables
    }
}

fn unknown_key(table: &str, key: &Text, allowed: &[&str]) -> Problem {
    let (kind, whole, list) = match table {
        "" => ("unknown table or key", "the matrix", "allowed tables and keys"),
        name => ("unknown key", name, "allowed keys"),
    };
    let title = format!("{kind} `{}` in {whole}", key.as_str());
    let home = super::raw::home_of(key.as_str()).filter(|home| *home != table);
    let otherwise = match home {
        Some(home) => format!("this key belongs in {home}"),
        None => "not known here".to_owned(),
    };
    Problem::new(key.place, title).meant(key.as_str(), allowed.iter().copied(), &otherwise, list)
}
