//! Variables of the caller's environment that decide what code under test computes. No process that runs such code
//! gets them: what decides results is said by the matrix, which results are stored with.

/// Which files the dynamic loader takes, and which variants of its functions the C library does.
pub const DECIDING: [&str; 3] = ["LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES"];

/// Those that the caller has set, with their values.
pub fn deciding_variables() -> Vec<(&'static str, String)> {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let set = |&name: &&'static str| Some((name, value(name)?.to_string_lossy().into_owned()));
    DECIDING.iter().filter_map(set).collect()
}
