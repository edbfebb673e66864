//! What a process becomes: a program with its arguments and its environment, made before a fork so that nothing has to be made
//! after it.

use std::ffi::{CString, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A program to start. Unlike the C library, it is never tried as a script of a shell when it is none of this machine's.
pub(super) struct Image {
    path: CString,
    /// What the pointers point into.
    _texts: Vec<CString>,
    argv: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

impl Image {
    pub(super) fn new(
        path: &Path,
        argv: &[OsString],
        environment: &[(OsString, OsString)],
    ) -> io::Result<Image> {
        let variable =
            |(name, value): &(OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        let words = argv.iter().map(|word| word.as_bytes().to_vec());
        let texts: Vec<CString> =
            words.chain(environment.iter().map(variable)).map(text).collect::<Result<_, _>>()?;
        let list = |texts: &[CString]| texts.iter().map(|t| t.as_ptr()).chain([ptr::null()]).collect();
        let (argv, environment) = (list(&texts[..argv.len()]), list(&texts[argv.len()..]));
        Ok(Image { path: whole(path.as_os_str())?, _texts: texts, argv, environment })
    }

    /// Makes this process that program. Comes back only with a reason why not.
    pub(super) fn become_it(&self) -> io::Error {
        // SAFETY: texts that end with NUL, and lists of them that end with a null pointer.
        unsafe { libc::execve(self.path.as_ptr(), self.argv.as_ptr(), self.environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// Words as the kernel takes them.
pub(super) fn whole(words: &OsStr) -> io::Result<CString> {
    text(words.as_bytes().to_vec())
}

fn text(bytes: Vec<u8>) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL in a word"))
}
