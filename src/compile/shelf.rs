//! The libraries of an implementation: as arguments of a link, and the folders in which the loader finds exactly the
//! files that the matrix names, whatever else lies beside them.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::cache::{again, shelves_in};
use crate::model::Sources;
use crate::toolchain::{Family, Libraries, soname};

/// What a link of an implementation says of its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// Folders that a linker looks in for libraries given by name.
    searched: Vec<PathBuf>,
    /// Names as after `-l`, and files.
    libs: Vec<String>,
    /// Shared libraries that are given by their files, by the names the loader knows them by.
    named: Vec<(String, PathBuf)>,
    /// Where the loader looks, in this order.
    folders: Vec<PathBuf>,
    /// Links from the name of a library to its file, for those that the loader would not find otherwise.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Shelf {
    /// Links, where they are needed, are to go below `root`.
    pub fn new(sources: &Sources, root: &Path) -> Shelf {
        let mut shelf =
            Shelf { searched: sources.library_path.clone(), libs: sources.libs.clone(), ..Shelf::default() };
        let files = sources.libs.iter().filter(|lib| lib.contains('/')).map(Path::new);
        for file in files.filter(|file| name_of(file).contains(".so")) {
            let own = soname(file);
            let known = own.clone().unwrap_or_else(|| name_of(file));
            shelf.named.push((known, file.into()));
            add(&mut shelf.folders, file.parent());
        }
        shelf.searched.iter().for_each(|folder| add(&mut shelf.folders, Some(folder)));
        let astray = |(name, file): &&(String, PathBuf)| {
            let first = shelf.folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
            soname(file).is_some() && first.is_none_or(|first| real(&first) != real(file))
        };
        let astray: Vec<(String, PathBuf)> = shelf.named.iter().filter(astray).cloned().collect();
        for (name, file) in astray.into_iter().rev() {
            let digest = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
            let folder = shelves_in(root).join(&digest[..16]);
            shelf.links.push((folder.join(name), file));
            shelf.folders.insert(0, folder);
        }
        shelf
    }

    /// The arguments of a link, behind its objects.
    pub fn args(&self, family: Family) -> Vec<String> {
        let mut args: Vec<String> = self.searched.iter().map(|f| format!("-L{}", f.display())).collect();
        let library = |lib: &String| if lib.contains('/') { lib.clone() } else { format!("-l{lib}") };
        args.extend(self.libs.iter().map(library));
        if family != Family::Tcc && !self.folders.is_empty() {
            // What the object says goes before LD_LIBRARY_PATH, and holds for what its libraries need, too.
            args.push("-Wl,--disable-new-dtags".into());
        }
        for folder in self.folders.iter().map(|folder| folder.display().to_string()) {
            match family {
                Family::Tcc => args.push(format!("-Wl,-rpath={folder}")),
                // A driver splits what stands behind -Wl at each comma.
                _ => args.extend(["-Xlinker", "-rpath", "-Xlinker", &folder].map(String::from)),
            }
        }
        args
    }

    /// Makes the links that the loader needs.
    pub fn make(&self) -> io::Result<()> {
        for (link, file) in &self.links {
            if fs::read_link(link).is_ok_and(|to| to == *file) {
                continue;
            }
            again(|| {
                link.parent().map_or(Ok(()), fs::create_dir_all)?;
                match symlink(file, link) {
                    // Another process may have made it meanwhile.
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    made => made,
                }
            })?;
        }
        Ok(())
    }

    /// The shared libraries that are given by their files.
    pub fn named(&self) -> &[(String, PathBuf)] {
        &self.named
    }

    /// What is wrong with the files that the loader would take.
    pub fn check(&self, found: &Libraries) -> Result<(), String> {
        for (name, file) in &self.named {
            if let Some(other) = found.get(name).filter(|other| **other != real(file)) {
                let (file, other) = (file.display(), other.display());
                return Err(format!(
                    "the matrix names the library {file}, whose SONAME is {name}, and the loader would take \
                     {other} for it: take out the -rpath or -L argument that leads there"
                ));
            }
        }
        Ok(())
    }
}

fn add(folders: &mut Vec<PathBuf>, folder: Option<&Path>) {
    let fresh = folder.filter(|folder| !folders.iter().any(|known| known == folder));
    folders.extend(fresh.map(PathBuf::from));
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(libs: &[&str], folders: &[&str]) -> Shelf {
        let sources = Sources {
            libs: libs.iter().map(ToString::to_string).collect(),
            library_path: folders.iter().map(PathBuf::from).collect(),
            ..Sources::default()
        };
        Shelf::new(&sources, Path::new("/cache"))
    }

    #[test]
    fn a_library_is_linked_by_its_name_or_its_file_and_looked_for_where_the_matrix_says() {
        assert_eq!(shelf(&["m"], &[]).args(Family::Gcc), ["-lm"]);
        let args = shelf(&["/no/a,b/libv.so.1", "v", "/no/libw.a"], &["/opt/w"]).args(Family::Clang);
        let wanted = "-L/opt/w /no/a,b/libv.so.1 -lv /no/libw.a -Wl,--disable-new-dtags \
            -Xlinker -rpath -Xlinker /no/a,b -Xlinker -rpath -Xlinker /opt/w";
        assert_eq!(args.join(" "), wanted);
        assert_eq!(shelf(&["/no/libv.so"], &[]).args(Family::Tcc), ["/no/libv.so", "-Wl,-rpath=/no"]);
    }

    #[test]
    fn another_file_than_the_named_one_is_told() {
        let found = |path: &str| Libraries::from([("libv.so.1".to_string(), PathBuf::from(path))]);
        let shelf = shelf(&["/no/libv.so.1"], &[]);
        assert_eq!(shelf.check(&found("/no/libv.so.1")), Ok(()));
        let words = shelf.check(&found("/other/libv.so.1")).unwrap_err();
        assert!(words.contains("/no/libv.so.1") && words.contains("/other/libv.so.1"), "{words}");
    }
}
