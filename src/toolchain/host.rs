//! The facts about this machine that results depend on, for run.json.

use std::fs;
use std::path::Path;

use super::loader::own_libraries;
use super::variables::deciding_variables;

/// The processor's name, as the kernel gives it.
pub fn cpu_model() -> String {
    fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_line(&text)).unwrap_or_else(|| {
        // Machines other than x86 often name no model.
        format!("{} (model unknown)", std::env::consts::ARCH)
    })
}

fn model_line(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|n| !n.is_empty())
}

/// The mathematics library that loaded objects call: its path and the C library's version.
pub fn libm_identity() -> String {
    format!("{} ({})", libm_path().unwrap_or_else(|| "libm".into()), libc_version())
}

/// The library mapped into this process, or the one the loader's usual folders hold.
fn libm_path() -> Option<String> {
    // The processes that load objects do not have the variables, and so not what those chose for this one.
    if !deciding_variables().is_empty()
        && let Some(path) = own_libraries().get("libm.so.6")
    {
        return Some(path.display().to_string());
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapped = maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..])).find(|path| {
        let name = path.rsplit('/').next().unwrap_or("");
        name.starts_with("libm.so") || name.starts_with("libm-") || name.starts_with("ld-musl-")
    });
    if let Some(path) = mapped {
        return Some(path.to_string());
    }
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]
        .iter()
        .flat_map(|folder| [format!("{folder}/{multiarch}/libm.so.6"), format!("{folder}/libm.so.6")])
        .find(|path| Path::new(path).exists())
}

/// What the C library beside the libm says of itself, such as "GNU C Library (Debian GLIBC 2.36-9)".
fn libc_version() -> String {
    let folder = libm_path().and_then(|libm| Path::new(&libm).parent().map(Path::to_path_buf));
    let content = folder.and_then(|folder| fs::read(folder.join("libc.so.6")).ok()).unwrap_or_default();
    banner(&content).unwrap_or_else(|| "C library of unknown version".into())
}

/// The first line of the text that glibc prints when it is run as a program.
fn banner(library: &[u8]) -> Option<String> {
    const OPENING: &[u8] = b"GNU C Library ";
    let at = library.windows(OPENING.len()).position(|window| window == OPENING)?;
    let line: Vec<u8> =
        library[at..].iter().copied().take(200).take_while(|b| (b' '..0x7f).contains(b)).collect();
    let text = String::from_utf8(line).ok()?;
    Some(text.split(", by ").next().unwrap_or(&text).trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_names_its_processor_and_its_libm() {
        assert!(!cpu_model().is_empty());
        let libm = libm_identity();
        assert!(libm.contains("libm") && libm.contains("GNU C Library (") && libm.contains("2."), "{libm}");
    }

    #[test]
    fn the_model_is_read_with_single_spaces() {
        let text = "processor\t: 0\nmodel name\t: Some  CPU   @ 2 GHz\nmodel name\t: other\n";
        assert_eq!(model_line(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model_line("Features : fp asimd"), None);
    }
}
