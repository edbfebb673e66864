//! Which Debian package brings a command, so that "not found" can say how to mend it.

/// The Debian package of a compiler, linker or emulator command; None when there is none.
pub fn debian_package(command: &str) -> Option<String> {
    let name = command.rsplit('/').next().unwrap_or(command);
    match name {
        "cc" | "c99" | "c89" | "gcc" => return Some("gcc".into()),
        "clang" | "tcc" | "lld" => return Some(name.into()),
        "ld.lld" => return Some("lld".into()),
        "ld" | "ld.bfd" | "ld.gold" | "objdump" => return Some("binutils".into()),
        "musl-gcc" => return Some("musl-tools".into()),
        _ => {}
    }
    if let Some(machine) = name.strip_prefix("qemu-") {
        let package = if machine.ends_with("-static") { "qemu-user-static" } else { "qemu-user" };
        return Some(package.into());
    }
    if let Some(triple) = name.strip_suffix("-objdump").filter(|triple| triple.contains("-linux-gnu")) {
        return Some(format!("binutils-{}", triple.replace('_', "-")));
    }
    let (stem, version) = split_version(name);
    if let Some(version) = version
        && matches!(stem, "gcc" | "clang")
    {
        return Some(format!("{stem}-{version}"));
    }
    let triple = stem.strip_suffix("-gcc")?;
    if let Some(machine) = triple.strip_suffix("-w64-mingw32") {
        return Some(format!("gcc-mingw-w64-{}", machine.replace('_', "-")));
    }
    // Debian has cross compilers for glibc only.
    if !triple.contains("-linux-gnu") {
        return None;
    }
    let triple = triple.replace('_', "-");
    Some(match version {
        Some(version) => format!("gcc-{version}-{triple}"),
        None => format!("gcc-{triple}"),
    })
}

/// Splits `gcc-12` into `gcc` and `12`.
fn split_version(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('-') {
        Some((stem, version)) if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) => {
            (stem, Some(version))
        }
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_answered_with_their_debian_package() {
        for (command, package) in [
            ("gcc", "gcc"),
            ("/usr/bin/cc", "gcc"),
            ("gcc-11", "gcc-11"),
            ("clang", "clang"),
            ("clang-16", "clang-16"),
            ("tcc", "tcc"),
            ("musl-gcc", "musl-tools"),
            ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
            ("aarch64-linux-gnu-gcc-12", "gcc-12-aarch64-linux-gnu"),
            ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"),
            ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
            ("i686-w64-mingw32-gcc", "gcc-mingw-w64-i686"),
            ("qemu-aarch64", "qemu-user"),
            ("qemu-aarch64-static", "qemu-user-static"),
            ("ld.lld", "lld"),
            ("objdump", "binutils"),
            ("aarch64-linux-gnu-objdump", "binutils-aarch64-linux-gnu"),
        ] {
            assert_eq!(debian_package(command).as_deref(), Some(package), "{command}");
        }
    }

    #[test]
    fn commands_that_debian_does_not_have_get_no_package() {
        for command in ["icx", "nvc", "my-gcc", "gcc-", "", "x86_64-linux-musl-gcc"] {
            assert_eq!(debian_package(command), None, "{command}");
        }
    }
}
