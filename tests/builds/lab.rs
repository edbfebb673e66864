//! A folder with sources and a cache, and what the tests do with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bitrift::compile::{Cache, Compiled, Settings, compile_all};
use bitrift::fp::Scalar;
use bitrift::lab::{Means, tool_reach};
use bitrift::model::{
    Artifact, ArtifactStatus, Build, BuildId, BuiltObject, Callee, Coordinate, Domain, Environment, Event,
    EventSink, Experiment, FpEnvPolicy, Function, FunctionStatus, Harness, Implementation, Interface,
    Results, SandboxSettings, SearchSettings, Sources,
};
use bitrift::toolchain::{Compilers, ToolReach, find};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use tempfile::TempDir;

/// Events, as they came.
#[derive(Default)]
pub struct Log(pub Mutex<Vec<Event>>);

impl EventSink for Log {
    fn send(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

pub struct Lab {
    pub folder: TempDir,
    pub experiment: Experiment,
    pub log: Log,
    pub jobs: usize,
    pub timeout: Duration,
    /// For compilers that write elsewhere.
    pub no_sandbox: bool,
    pub cancel: AtomicBool,
}

impl Lab {
    /// Writes files (name, text); those that end in `.c` are the sources.
    pub fn new(files: &[(&str, &str)], functions: Vec<Function>) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let mut lab = Lab {
            experiment: Experiment {
                name: "test".into(),
                path: folder.path().join("matrix.toml"),
                baseline: None,
                implementations: vec![Implementation::unnamed(Sources {
                    include: vec![folder.path().join("include")],
                    libs: vec!["m".into()],
                    ..Sources::default()
                })],
                harness: Harness::default(),
                sandbox: SandboxSettings::default(),
                presets: Vec::new(),
                compilers: Vec::new(),
                flags: Vec::new(),
                targets: Vec::new(),
                environments: vec![Environment::default()],
                exclude: Vec::new(),
                declared: Vec::new(),
                functions,
                limits: Vec::new(),
                search: SearchSettings::default(),
            },
            folder,
            log: Log::default(),
            jobs: 2,
            timeout: Duration::from_secs(60),
            no_sandbox: false,
            cancel: AtomicBool::new(false),
        };
        for (name, text) in files {
            let path = lab.write(name, text);
            if name.ends_with(".c") {
                lab.experiment.implementations[0].sources.files.push(path);
            }
        }
        lab.experiment.implementations[0].sources.files.sort();
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A compiler that is a shell script.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    pub fn cache_folder(&self) -> PathBuf {
        self.path("cache")
    }

    pub fn compile(&self, builds: &[Build]) -> Compiled {
        self.log.0.lock().unwrap().clear();
        let cache = Cache::open(&self.cache_folder()).unwrap();
        let means = Means { no_sandbox: self.no_sandbox, ..Means::default() };
        let compilers = &Compilers::new(tool_reach(&self.experiment, &means));
        let settings = Settings { jobs: self.jobs, timeout: self.timeout, cancel: &self.cancel, compilers };
        let mut compiled = compile_all(&self.experiment, builds, &cache, &settings, &self.log).unwrap();
        drop(cache);
        self.take_from_the_cache(&mut compiled);
        if !self.cancel.load(Ordering::Relaxed) {
            let left: Vec<_> = fs::read_dir(self.path("cache/tmp")).unwrap().collect();
            assert!(left.is_empty(), "left in the cache: {left:?}");
        }
        compiled
    }

    /// Objects by the names that they keep when the process that made them has ended.
    fn take_from_the_cache(&self, compiled: &mut Compiled) {
        let lasting = |path: &mut PathBuf| {
            let hex = path.file_name().unwrap().to_str().unwrap();
            *path = self.cache_folder().join("objects").join(&hex[..2]).join(&hex[2..]);
        };
        for artifact in &mut compiled.artifacts {
            if let ArtifactStatus::Built(object) = &mut artifact.status {
                lasting(&mut object.path);
            }
        }
        for objects in &mut compiled.objects {
            objects.sources.iter_mut().for_each(|(_, object)| lasting(object));
            objects.setup.iter_mut().chain(objects.shims.iter_mut().flatten()).for_each(lasting);
        }
    }

    /// What was really compiled in the last run, sorted.
    pub fn steps_run(&self) -> Vec<String> {
        let log = self.log.0.lock().unwrap();
        let mut steps: Vec<String> = log
            .iter()
            .filter_map(|e| match e {
                Event::CompileStep { what, cached: false, .. } => Some(what.clone()),
                _ => None,
            })
            .collect();
        steps.sort();
        steps
    }
}

/// A build by a compiler that must be there.
pub fn build(command: &str, args: &[&str]) -> Build {
    if !command.contains('/') {
        find(command, &ToolReach::default())
            .unwrap_or_else(|missing| panic!("{missing}: apt-get install {command}"));
    }
    absent(command, args)
}

/// A build by a compiler that need not be there.
pub fn absent(command: &str, args: &[&str]) -> Build {
    Build {
        id: BuildId::new(command, &args.concat(), "native"),
        implementation: String::new(),
        compiler: command.into(),
        flags: args.concat(),
        target: "native".into(),
        command: command.into(),
        args: args.iter().map(ToString::to_string).collect(),
        fpenv: FpEnvPolicy::Probed,
        optional: false,
        runner: Vec::new(),
        triple: None,
        environment: Environment::default(),
        plain: false,
        apart: false,
    }
}

/// One build by each compiler.
pub fn every_compiler() -> Vec<Build> {
    vec![build("gcc", &["-O2"]), build("clang-16", &["-O2"]), build("tcc", &[])]
}

pub fn function(name: &str, result: (&str, Scalar), params: &[(&str, Scalar)], callee: Callee) -> Function {
    const NAMES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];
    let coordinate = |(i, (_, ty)): (usize, &(&str, Scalar))| Coordinate {
        name: NAMES[i].into(),
        ty: *ty,
        domain: Domain::all(*ty),
        domain_text: String::new(),
    };
    let declared: Vec<(&str, &str, Scalar)> =
        params.iter().zip(NAMES).map(|(&(c_type, ty), name)| (c_type, name, ty)).collect();
    Function {
        name: name.into(),
        coordinates: params.iter().enumerate().map(coordinate).collect(),
        results: Results::one(result.1),
        interface: Interface::of_scalars(&declared, result),
        callee,
        headers: Vec::new(),
        within: None,
        declared: None,
    }
}

/// A function of doubles named x, y, z.
pub fn doubles(name: &str, arity: usize, callee: Callee) -> Function {
    function(name, ("double", Scalar::F64), &vec![("double", Scalar::F64); arity], callee)
}

/// `double name(double x)`.
pub fn unary(name: &str) -> Function {
    doubles(name, 1, Callee::Signature(format!("double {name}(double x)")))
}

pub fn object(artifact: &Artifact) -> &BuiltObject {
    artifact.object().unwrap_or_else(|| panic!("{} is not built: {:?}", artifact.build, artifact.status))
}

pub fn failure(artifact: &Artifact) -> &str {
    match &artifact.status {
        ArtifactStatus::Failed { message } => message,
        other => panic!("{} did not fail: {other:?}", artifact.build),
    }
}

pub fn missing(object: &BuiltObject, function: usize) -> &str {
    match &object.functions[function] {
        FunctionStatus::Missing { message } => message,
        other => panic!("function {function} is not missing: {other:?}"),
    }
}

/// A loaded private copy of an object.
pub struct Loaded {
    library: Library,
    object: BuiltObject,
    _copy: TempDir,
}

pub fn load(artifact: &Artifact) -> Loaded {
    let object = object(artifact).clone();
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("object.so");
    fs::copy(&object.path, &path).unwrap();
    Loaded { library: open(&path), object, _copy: copy }
}

fn open(path: &Path) -> Library {
    // SAFETY: the tests' objects have no constructors that could do harm.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.unwrap_or_else(|e| panic!("{e:?}"))
}

impl Loaded {
    pub fn call(&self, function: usize, inputs: &[u64]) -> u64 {
        let FunctionStatus::Ready { symbol } = &self.object.functions[function] else {
            panic!("function {function} is missing: {:?}", self.object.functions[function])
        };
        type Shim = unsafe extern "C" fn(*const u64, *mut u64);
        let mut out = 0xdead_beef_dead_beef;
        // SAFETY: a shim has this type, reads one word for each parameter and writes one.
        unsafe { self.library.get::<Shim>(symbol.as_bytes()).unwrap()(inputs.as_ptr(), &mut out) };
        out
    }

    pub fn call_f64(&self, function: usize, inputs: &[f64]) -> f64 {
        let bits: Vec<u64> = inputs.iter().map(|x| x.to_bits()).collect();
        f64::from_bits(self.call(function, &bits))
    }

    pub fn set_up(&self) {
        let symbol = self.object.setup_symbol.as_ref().unwrap();
        // SAFETY: the setup function has this type.
        unsafe { self.library.get::<unsafe extern "C" fn()>(symbol.as_bytes()).unwrap()() };
    }
}
