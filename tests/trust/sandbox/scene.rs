//! What attacks aim at, made for a test and looked at from outside afterwards: a home with a key, files, processes,
//! servers, shared memory; and bitrift among them, as root or as an ordinary user.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{BITRIFT, Said, names_in, need_compilers};

/// An ordinary user that nobody else is.
const ORDINARY: &str = "61234";
/// The variable that nobody but bitrift is to know.
const SECRET_NAME: &str = "BITRIFT_TEST_SECRET";
pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/attacks");

/// Who starts bitrift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Root,
    Ordinary,
}

pub fn tested_by_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Both, where the tests run as root.
pub fn everyone() -> Vec<Who> {
    if tested_by_root() { vec![Who::Root, Who::Ordinary] } else { vec![Who::Ordinary] }
}

pub struct Scene {
    folder: TempDir,
    who: Who,
    pub secret: String,
    mark: String,
    daemon: String,
    victim: Child,
    killed: Child,
    segments: Vec<(&'static str, String)>,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    unix: UnixListener,
    hidden: UnixListener,
    datagrams: UnixDatagram,
    /// What every bitrift said.
    said: Mutex<String>,
    /// A command, with its arguments, through which bitrift is started.
    pub through: Vec<String>,
    begun: Instant,
    before: Vec<(PathBuf, String)>,
    cached: Vec<(PathBuf, String)>,
}

impl Scene {
    pub fn new(who: Who) -> Scene {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        need_compilers();
        let number = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let (secret, mark) = (format!("hushhush{number}"), format!("bitrift-attack-{number}"));
        let folder = reachable(who);
        let root = folder.path();
        fs::set_permissions(root, Permissions::from_mode(0o755)).unwrap();
        for name in ["bin", "home/.ssh", "victim/to-rmdir", "lab", "cache", "tmp", "sockets", "shared"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::copy(BITRIFT, root.join("bin/bitrift")).unwrap();
        let key = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{secret}\n");
        for name in ["victim/file", "victim/to-unlink", "victim/to-rename", "bin/replaceable"] {
            fs::write(root.join(name), format!("content of {name}\n")).unwrap();
        }
        fs::write(root.join("home/.ssh/id_rsa"), &key).unwrap();
        fs::write(format!("/dev/shm/{mark}-secret"), &key).unwrap();
        for name in names_in(Path::new(FIXTURES)) {
            if name.ends_with(".c") || name.ends_with(".h") {
                fs::copy(Path::new(FIXTURES).join(&name), root.join("lab").join(&name)).unwrap();
            }
        }
        let sockets = root.join("sockets");
        let (unix, datagrams) = (
            UnixListener::bind(sockets.join("stream")).unwrap(),
            UnixDatagram::bind(sockets.join("datagrams")).unwrap(),
        );
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&mark).unwrap()).unwrap();
        let mut scene = Scene {
            victim: sleeper(who, &secret),
            killed: sleeper(who, &secret),
            segments: vec![("-m", segment(who, &["-M", "4096"])), ("-s", segment(who, &["-S", "1"]))],
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            daemon: format!("atk{number}").chars().take(15).collect(),
            unix,
            hidden,
            datagrams,
            said: Mutex::default(),
            through: Vec::new(),
            begun: Instant::now(),
            before: Vec::new(),
            cached: Vec::new(),
            folder,
            who,
            secret,
            mark,
        };
        scene.write_targets();
        scene.give(&[scene.path(""), format!("/dev/shm/{}-secret", scene.mark).into()]);
        // Root's own, for the program that takes on its rights.
        fs::write(scene.path("shared/root-secret"), &key).unwrap();
        fs::set_permissions(scene.path("shared/root-secret"), Permissions::from_mode(0o600)).unwrap();
        fs::copy("/bin/cat", scene.path("shared/cat")).unwrap();
        fs::set_permissions(scene.path("shared/cat"), Permissions::from_mode(0o4755)).unwrap();
        scene.remember();
        scene
    }

    /// What is on the desk belongs to whoever starts bitrift.
    fn give(&self, paths: &[PathBuf]) {
        if self.who == Who::Ordinary && tested_by_root() {
            let owner = format!("{ORDINARY}:{ORDINARY}");
            assert!(Command::new("chown").args(["-R", &owner]).args(paths).status().unwrap().success());
        }
    }

    fn write_targets(&self) {
        let port = |server: &TcpListener| server.local_addr().unwrap().port();
        let numbers = [
            ("TCP_PORT", u32::from(port(&self.tcp))),
            ("TCP6_PORT", self.tcp6.as_ref().map_or(9, |server| u32::from(port(server)))),
            ("UDP_PORT", u32::from(self.udp.local_addr().unwrap().port())),
            ("VICTIM_PID", self.victim.id()),
            ("KILLED_PID", self.killed.id()),
            ("SHM_ID", self.segments[0].1.parse().unwrap()),
            ("SEM_ID", self.segments[1].1.parse().unwrap()),
        ];
        let paths = [
            ("DESK", ""),
            ("HOME_FOLDER", "/home"),
            ("SECRET", "/home/.ssh/id_rsa"),
            ("VICTIM_FOLDER", "/victim"),
            ("VICTIM", "/victim/file"),
            ("CACHE", "/cache"),
            ("RUN_FOLDER", "/out"),
            ("UNIX_STREAM", "/sockets/stream"),
            ("UNIX_DGRAM", "/sockets/datagrams"),
            ("SET_USER_CAT", "/shared/cat"),
            ("ROOT_SECRET", "/shared/root-secret"),
        ];
        let texts = [
            ("VICTIM_NUMBER", self.victim.id().to_string()),
            ("SECRET_NAME", SECRET_NAME.to_owned()),
            ("MARK", self.mark.clone()),
            ("SHM_SECRET", format!("{}-secret", self.mark)),
            ("DAEMON_NAME", self.daemon.clone()),
        ];
        let root = self.folder.path().display();
        let mut header = String::new();
        numbers.iter().for_each(|(name, value)| header += &format!("#define {name} {value}\n"));
        paths.iter().for_each(|(name, path)| header += &format!("#define {name} \"{root}{path}\"\n"));
        texts.iter().for_each(|(name, text)| header += &format!("#define {name} \"{text}\"\n"));
        self.write("lab/targets.h", &header);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the attacks know by that name.
    pub fn target(&self, name: &str) -> String {
        let header = fs::read_to_string(self.path("lab/targets.h")).unwrap();
        let head = format!("#define {name} ");
        header.lines().find_map(|line| line.strip_prefix(&head)).unwrap().trim_matches('"').to_owned()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn script(&self, name: &str, text: &str) -> String {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
        self.path(name).display().to_string()
    }

    /// Notes what there is, as it should be afterwards. Everything that bitrift may change is not in it.
    pub fn remember(&mut self) {
        self.give(&[self.path("lab")]);
        self.before = self.state();
        self.cached = self.objects();
    }

    fn state(&self) -> Vec<(PathBuf, String)> {
        let folders = ["victim", "home", "lab", "bin"].map(|name| everything(&self.path(name)));
        folders.into_iter().flatten().collect()
    }

    /// Of the cache: objects may come, and none may change.
    fn objects(&self) -> Vec<(PathBuf, String)> {
        let digest = |(path, about): (PathBuf, String)| (path, about.split(' ').next().unwrap().to_owned());
        everything(&self.path("cache")).into_iter().map(digest).collect()
    }

    /// bitrift, as the one whose scene it is, with the matrix `lab/NAME.toml`.
    pub fn bitrift(&self, matrix: &str, args: &[&str]) -> Said {
        self.bitrift_says(matrix, &[args, &["-q"]].concat())
    }

    /// The same with all that it has to say.
    pub fn bitrift_says(&self, matrix: &str, args: &[&str]) -> Said {
        let file = self.path(&format!("lab/{matrix}.toml"));
        let file = file.to_str().unwrap();
        let cache = self.path("cache");
        let all = [args, &["--matrix", file, "--cache", cache.to_str().unwrap()]].concat();
        // A bitrift that an attack put to sleep fails a test, and does not keep it waiting.
        let mut command = as_user(self.who, "sh");
        // Whoever starts it has a secret open, and a file of others.
        let (secret, victim) = (self.path("home/.ssh/id_rsa"), self.path("victim/file"));
        let open = format!("exec \"$@\" 9<'{}' 8>>'{}'", secret.display(), victim.display());
        command.args(["-c", &open, "sh", "timeout", "-k", "5", "100"]).args(&self.through);
        command.arg(self.path("bin/bitrift")).args(&all);
        command.current_dir(self.path("lab")).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        command.env("TMPDIR", self.path("tmp")).env(SECRET_NAME, &self.secret);
        let said = Said::of(command.output().unwrap(), &all);
        self.said.lock().unwrap().push_str(&said.shown());
        said
    }

    /// Every harm that can be seen from outside.
    pub fn harm(&mut self) -> Vec<String> {
        let mut harm = Vec::new();
        // A daemon would do its work later.
        let left = Duration::from_secs(3).saturating_sub(self.begun.elapsed());
        std::thread::sleep(left);
        let after = self.state();
        for entry in after.iter().filter(|entry| !self.before.contains(entry)) {
            harm.push(format!("{} is now {}", entry.0.display(), entry.1));
        }
        for (path, _) in self.before.iter().filter(|(path, _)| !after.iter().any(|(other, _)| other == path))
        {
            harm.push(format!("{} is gone", path.display()));
        }
        let objects = self.objects();
        for (path, _) in self.cached.iter().filter(|entry| !objects.contains(entry)) {
            harm.push(format!("{} is another", path.display()));
        }
        for (name, child) in [("victim", &mut self.victim), ("other victim", &mut self.killed)] {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
            let asleep = stat.rsplit(')').next().unwrap().trim().starts_with('S');
            if child.try_wait().unwrap().is_some() || !asleep {
                harm.push(format!("the {name} does not sleep any more: {stat}"));
            }
        }
        harm.extend(self.heard().into_iter().map(|server| format!("{server} heard something")));
        for path in [format!("/dev/shm/{}", self.mark), format!("/tmp/{}", self.mark)] {
            if Path::new(&path).exists() {
                harm.push(format!("{path} was made"));
            }
        }
        harm.extend(self.daemons().into_iter().map(|pid| format!("process {pid} was left behind")));
        let left = names_in(&self.path("tmp"));
        if !left.is_empty() {
            harm.push(format!("left in TMPDIR: {left:?}"));
        }
        if self.said.lock().unwrap().contains(&self.secret) {
            harm.push("the secret was printed".into());
        }
        let stored = everything(&self.path("out")).into_iter().chain(everything(&self.path("cache")));
        for (path, _) in stored.filter(|(path, _)| path.is_file()) {
            let content = fs::read(&path).unwrap();
            if content.windows(self.secret.len()).any(|part| part == self.secret.as_bytes()) {
                harm.push(format!("the secret is in {}", path.display()));
            }
        }
        harm
    }

    /// Servers that somebody talked to.
    fn heard(&self) -> Vec<&'static str> {
        let tcp = |server: &TcpListener| {
            server.set_nonblocking(true).unwrap();
            server.accept().map(drop)
        };
        let unix = |server: &UnixListener| {
            server.set_nonblocking(true).unwrap();
            server.accept().map(drop)
        };
        self.udp.set_nonblocking(true).unwrap();
        self.datagrams.set_nonblocking(true).unwrap();
        let all = [
            ("TCP", tcp(&self.tcp)),
            ("TCP by IPv6", self.tcp6.as_ref().map_or(Err(ErrorKind::WouldBlock.into()), tcp)),
            ("UDP", self.udp.recv(&mut [0; 8]).map(drop)),
            ("the socket in a folder", unix(&self.unix)),
            ("the socket without a path", unix(&self.hidden)),
            ("the socket of datagrams", self.datagrams.recv(&mut [0; 8]).map(drop)),
        ];
        all.into_iter().filter(|(_, heard)| heard.is_ok()).map(|(name, _)| name).collect()
    }

    /// Processes that attacks left; those that are about to end are given a moment.
    fn daemons(&self) -> Vec<u32> {
        let named = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == self.daemon)
        };
        let find = || {
            let numbers = fs::read_dir("/proc").unwrap().flatten();
            let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            numbers.filter(named).collect::<Vec<u32>>()
        };
        let start = Instant::now();
        loop {
            let found = find();
            if found.is_empty() || start.elapsed() > Duration::from_secs(2) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for child in [&mut self.victim, &mut self.killed] {
            let _ = child.kill();
            let _ = child.wait();
        }
        for (kind, id) in &self.segments {
            let _ = Command::new("ipcrm").args([kind, id.as_str()]).stderr(Stdio::null()).status();
        }
        for path in ["/dev/shm", "/tmp"] {
            let _ = fs::remove_file(format!("{path}/{}", self.mark));
        }
        let _ = fs::remove_file(format!("/dev/shm/{}-secret", self.mark));
    }
}

/// Files, folders and whatever else is below a folder: no link is followed, no pipe is opened.
fn everything(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in names_in(folder).into_iter().map(|name| folder.join(name)) {
        let about = fs::symlink_metadata(&path).unwrap();
        let kind = match about.file_type() {
            kind if kind.is_file() => blake3::hash(&fs::read(&path).unwrap()).to_string(),
            kind => format!("{kind:?}"),
        };
        let is_dir = about.is_dir();
        let time = if is_dir { 0 } else { about.mtime() };
        found.push((path.clone(), format!("{kind} {:o} {} {time}", about.mode(), about.uid())));
        if is_dir {
            found.extend(everything(&path));
        }
    }
    found
}

/// A command of that user.
fn as_user(who: Who, program: &str) -> Command {
    if who == Who::Root || !tested_by_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={ORDINARY}")).arg(format!("--regid={ORDINARY}"));
    command.args(["--clear-groups", program]);
    command
}

/// A folder in a place that the user can reach: the tester's own may be closed to others.
fn reachable(who: Who) -> TempDir {
    let own = std::env::temp_dir();
    let reached = |folder: &Path| as_user(who, "test").arg("-x").arg(folder).status().unwrap().success();
    // Names of sockets are at most 108 bytes long.
    let place = if reached(&own) && own.as_os_str().len() < 60 { own } else { PathBuf::from("/tmp") };
    tempfile::Builder::new().prefix("bitrift-attacks-").tempdir_in(place).unwrap()
}

fn sleeper(who: Who, secret: &str) -> Child {
    as_user(who, "sleep").arg("300").env(SECRET_NAME, secret).stdin(Stdio::null()).spawn().unwrap()
}

/// The number of a new segment or semaphore.
fn segment(who: Who, args: &[&str]) -> String {
    let output = as_user(who, "ipcmk").args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.rsplit(' ').next().unwrap().trim().to_owned()
}
