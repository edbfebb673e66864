//! An option for every setting of the search; each overrides the matrix. Names, bounds and help are those of
//! `SEARCH_KEYS`.

use std::marker::PhantomData;
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::model::{SEARCH_KEYS, SearchKey, SearchSettings, SettingValue, UnknownStrategy};

/// What was given on the command line; the rest is the matrix's.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct SearchOptions {
    // Any word: the command says which strategies there are.
    #[arg(long, value_name = "NAME", help = help_of("strategy"), help_heading = AllKeys::HEADING)]
    pub strategy: Option<String>,
    /// Ask for identical bits: signs of zeros and all of a NaN count, no tolerance does
    #[arg(long, conflicts_with_all = ["nan", "zero"], help_heading = AllKeys::HEADING)]
    pub bitwise: bool,
    #[command(flatten)]
    pub settings: Overrides<AllKeys>,
}

/// Every setting but the seed and the strategy, where a command has several of these.
pub type Tuning = Overrides<TuningKeys>;

/// Which settings a command has options for. The strategy is never among them.
pub trait OptionKeys {
    const HEADING: &'static str = "Search parameters (each overrides the matrix)";

    fn has(name: &str) -> bool;
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AllKeys;

impl OptionKeys for AllKeys {
    fn has(name: &str) -> bool {
        name != "strategy"
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TuningKeys;

impl OptionKeys for TuningKeys {
    fn has(name: &str) -> bool {
        !["strategy", "seed"].contains(&name)
    }
}

/// Settings by key, as they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides<K> {
    given: Vec<(&'static str, SettingValue)>,
    keys: PhantomData<K>,
}

impl SearchOptions {
    /// Puts what was given over the settings of the matrix.
    pub fn apply(&self, settings: &mut SearchSettings) -> Result<(), UnknownStrategy> {
        if let Some(strategy) = &self.strategy {
            settings.strategy = strategy.parse()?;
        }
        self.settings.apply(settings);
        if self.bitwise {
            settings.count_all_bits();
        }
        Ok(())
    }
}

impl<K: OptionKeys> Overrides<K> {
    /// Puts what was given over the settings of the matrix.
    pub fn apply(&self, settings: &mut SearchSettings) {
        for (name, value) in &self.given {
            // The value was checked when the option was read.
            let _ = SearchKey::named(name).map(|key| key.set(settings, value));
        }
    }

    fn keys() -> impl Iterator<Item = (&'static SearchKey, &'static str)> {
        SEARCH_KEYS.iter().zip(OPTIONS.iter().map(String::as_str)).filter(|(key, _)| K::has(key.name))
    }
}

/// The names of the options.
static OPTIONS: LazyLock<Vec<String>> =
    LazyLock::new(|| SEARCH_KEYS.iter().map(|key| key.name.replace('_', "-")).collect());

impl<K: OptionKeys> Args for Overrides<K> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::keys().map(|(key, option)| {
            let parse = |word: &str| read(key, word);
            let arg = Arg::new(key.name).long(option).value_name(key.value_name).help(key.help);
            let arg = arg.value_parser(parse).help_heading(K::HEADING);
            if key.is_list() { arg.allow_hyphen_values(true) } else { arg.allow_negative_numbers(true) }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<K: OptionKeys> FromArgMatches for Overrides<K> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |key: &SearchKey| matches.get_one::<SettingValue>(key.name).cloned();
        let given = Self::keys().filter_map(|(key, _)| Some((key.name, value(key)?)));
        Ok(Overrides { given: given.collect(), keys: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.given.extend(Self::from_arg_matches(matches)?.given);
        Ok(())
    }
}

/// The help of a setting.
pub(super) fn help_of(name: &str) -> &'static str {
    SearchKey::named(name).map_or("", |key| key.help)
}

/// A word as a value of a setting, or what was expected; words of a command line have no quotes.
fn read(key: &SearchKey, word: &str) -> Result<SettingValue, String> {
    key.parse(word).map_err(|expected| {
        let meant = expected.meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("expected {}{meant}", expected.what.replace('"', "`"))
    })
}
