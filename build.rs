//! Compiles the batch loop. Its flags are fixed: what it measures must not depend on the profile.

fn main() {
    println!("cargo::rerun-if-changed=harness-c/guard.c");
    println!("cargo::rerun-if-changed=harness-c/guard.h");
    cc::Build::new()
        .file("harness-c/guard.c")
        .opt_level(2)
        .flag("-fno-fast-math")
        .flag("-std=c11")
        .warnings_into_errors(true)
        .compile("bitrift_guard");
}
