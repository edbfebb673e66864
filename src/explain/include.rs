//! Where a compiler looks for the project's includes.

use std::path::{Path, PathBuf};

use crate::c::Include;

/// The folders of a build beside the one of the file that includes, in the compiler's order. The system's are not
/// among them: its headers are nobody's to take apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncludeFolders {
    /// For names in quotes, before the others.
    quoted: Vec<PathBuf>,
    all: Vec<PathBuf>,
}

impl IncludeFolders {
    /// Those of a build's arguments, then those of its sources, as the command line has them.
    pub fn new(args: &[String], include: &[PathBuf]) -> IncludeFolders {
        let mut folders = IncludeFolders::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            for (option, list) in [("-iquote", &mut folders.quoted), ("-I", &mut folders.all)] {
                if let Some(value) = arg.strip_prefix(option) {
                    let value = if value.is_empty() { rest.next().map(String::as_str) } else { Some(value) };
                    list.extend(value.map(PathBuf::from));
                    break;
                }
            }
        }
        folders.all.extend_from_slice(include);
        let is_ours = |folder: &PathBuf| {
            // A compile runs in a folder of its own, where a relative one leads nowhere.
            folder.is_absolute()
                && ![Path::new("/usr/include"), Path::new("/usr/local/include")].contains(&&**folder)
        };
        folders.quoted.retain(is_ours);
        folders.all.retain(is_ours);
        folders
    }

    /// The file that an include of another file stands for.
    pub fn find(&self, from: &Path, include: &Include) -> Option<PathBuf> {
        let beside = from.parent().unwrap_or(Path::new("/"));
        let quoted = std::iter::once(beside).chain(self.quoted.iter().map(PathBuf::as_path));
        let quoted = quoted.filter(|_| !include.is_angled);
        let all = self.all.iter().map(PathBuf::as_path);
        quoted.chain(all).map(|folder| folder.join(&include.name)).find(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_before_the_sources_and_quotes_before_both() {
        let args =
            ["-O2", "-I/a", "-iquote", "/q", "-I", "/b", "-Irelative", "-I/usr/include"].map(String::from);
        let folders = IncludeFolders::new(&args, &["/c".into()]);
        assert_eq!(folders.quoted, [PathBuf::from("/q")]);
        assert_eq!(folders.all, ["/a", "/b", "/c"].map(PathBuf::from));
    }
}
