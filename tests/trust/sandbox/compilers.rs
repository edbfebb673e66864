//! Attacks by compilers: scripts that stand for one, plugins, options that name files, sources that name files.

use std::process::Command;

use super::scene::{Scene, Who, everyone};

/// An attack: what the matrix has for it, and what is seen of it from outside without the sandbox.
struct Case {
    name: &'static str,
    /// A script in place of gcc; empty for gcc itself.
    script: String,
    args: Vec<String>,
    source: String,
    /// A part of the harm that shows; None where it is refused, or too much to be tried, without the sandbox too.
    seen: Option<&'static str>,
}

const F: &str = "double f(double x) { return x * 0.5; }\n";

fn script(name: &'static str, text: String, seen: Option<&'static str>) -> Case {
    Case { name, script: text, args: Vec::new(), source: F.into(), seen }
}

fn option(name: &'static str, args: &[String], seen: Option<&'static str>) -> Case {
    Case { name, script: String::new(), args: args.to_vec(), source: F.into(), seen }
}

fn source(name: &'static str, text: String, seen: Option<&'static str>) -> Case {
    Case { name, script: String::new(), args: Vec::new(), source: format!("{text}\n{F}"), seen }
}

fn cases(scene: &Scene) -> Vec<Case> {
    let [victim, secret, cache, lab] = ["victim", "home/.ssh/id_rsa", "cache/objects", "lab"]
        .map(|name| scene.path(name).display().to_string());
    let (port, pid) = (scene.target("TCP_PORT"), scene.target("KILLED_PID"));
    let then = "exec gcc \"$@\"";
    // A checkout keeps its token there; here it is the key.
    scene.write("lab/.git/config", &std::fs::read_to_string(&secret).unwrap());
    std::os::unix::fs::symlink(&secret, scene.path("lab/linked.h")).unwrap();
    scene.script("lab/steps", &format!("touch '{victim}/steps'\nexec \"$@\""));
    scene.script("lab/tools/as", &format!("touch '{victim}/tools'\nexec /usr/bin/as \"$@\""));
    scene.write(
        "lab/plugin.cc",
        &format!("#include <fcntl.h>\n__attribute__((constructor)) static void go(void) {{ open(\"{victim}/plugin\", O_CREAT | O_WRONLY, 0644); }}\n"),
    );
    let mut compiler = Command::new("gcc");
    compiler.args(["-x", "c", "-w", "-shared", "-fPIC", "-o"]).arg(scene.path("lab/plugin.so"));
    assert!(compiler.arg(scene.path("lab/plugin.cc")).status().unwrap().success());
    let at = |head: &str, name: &str| format!("{head}{victim}/{name}");
    vec![
        script("script_writes", format!("touch '{victim}/script'\n{then}"), Some("victim/script")),
        script("script_appends", format!("echo spoilt >> '{victim}/file'\n{then}"), Some("victim/file")),
        script("script_chmods", format!("chmod 777 '{victim}/to-rename'\n{then}"), Some("victim/to-rename")),
        script("script_reads", format!("cat '{secret}' >&2\nexit 1"), Some("the secret was printed")),
        script(
            "script_reads_history",
            format!("cat '{lab}/.git/config' >&2\nexit 1"),
            Some("the secret was printed"),
        ),
        script("script_tells_environment", "env >&2\ncat /proc/$PPID/environ >&2\nexit 1".into(), None),
        script(
            "script_connects",
            format!("bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'\n{then}"),
            Some("TCP heard something"),
        ),
        script("script_kills", format!("kill {pid}\n{then}"), Some("other victim")),
        script(
            "script_spoils_cache",
            format!("for f in '{cache}'/*/*; do echo x >> $f; done\n{then}"),
            Some("is another"),
        ),
        script("script_ends_bitrift", format!("kill -9 $PPID\n{then}"), None),
        script("script_reads_inherited", format!("cat <&9 >&2\n{then}"), None),
        script("script_writes_inherited", format!("echo spoilt >&8\n{then}"), None),
        script("script_slows_everyone", format!("renice -n 19 -u $(id -u) >&2\n{then}"), None),
        script("script_names_its_reach", format!("# {secret}\ncat '{secret}' >&2\nexit 1"), None),
        // bitrift asks one that says so whether it links a program, in the same folder.
        script(
            "script_links_probe",
            format!(
                "[ \"$1\" = --version ] && {{ echo 'tcc version 0.9.27'; exit; }}\n\
                 case \"$*\" in *-shared*) rm -f bitrift_probe.c; ln -s '{victim}/file' bitrift_probe.c;; esac\n\
                 for a; do shift; case \"$a\" in -bench|-vv) ;; *) set -- \"$@\" \"$a\";; esac; done\n{then}"
            ),
            None,
        ),
        script(
            "script_digs",
            format!(
                "i=0; while [ $i -lt 3000 ]; do mkdir d && cd d || break; i=$((i + 1)); done\ncd \"$OLDPWD\"\n{then}"
            ),
            None,
        ),
        script("script_fills", format!("truncate -s 6G x.o big\n{then}"), None),
        option("plugin", &[format!("-fplugin={lab}/plugin.so")], Some("victim/plugin")),
        option("wrapper", &["-wrapper".into(), format!("{lab}/steps")], Some("victim/steps")),
        option("tools", &[format!("-B{lab}/tools/")], Some("victim/tools")),
        option("depends", &["-MD".into(), "-MF".into(), at("", "depends")], Some("victim/depends")),
        option("depends_of_cpp", &[at("-Wp,-MD,", "cpp")], Some("victim/cpp")),
        option("dump", &[at("-fdump-tree-optimized=", "dump")], Some("victim/dump")),
        option("remarks", &["-O2".into(), at("-fopt-info-all=", "remarks")], Some("victim/remarks")),
        option("map", &[at("-Wl,-Map=", "map")], Some("victim/map")),
        option("output", &["-o".into(), at("", "output")], None),
        option("names", &["-aux-info".into(), at("", "names")], Some("victim/names")),
        option(
            "steps_kept",
            &["-save-temps".into(), "-dumpdir".into(), at("", "kept-")],
            Some("victim/kept-"),
        ),
        source("include_by_link", "#include \"linked.h\"".into(), Some("the secret was printed")),
        source("include", format!("#include \"{secret}\""), Some("the secret was printed")),
        source(
            "incbin",
            format!("__asm__(\".pushsection .rodata\\n.incbin \\\"{secret}\\\"\\n.popsection\");"),
            Some("the secret is in"),
        ),
    ]
}

/// Writes the case into the lab.
fn prepare(scene: &Scene, case: &Case) {
    let name = case.name;
    let command = match case.script.as_str() {
        "" => "gcc".to_owned(),
        text => scene.script(&format!("lab/{name}.sh"), text),
    };
    let args: Vec<String> = case.args.iter().map(|arg| format!("{arg:?}")).collect();
    scene.write(&format!("lab/{name}-source.c"), &case.source);
    scene.write(
        &format!("lab/{name}.toml"),
        &format!(
            "[lab]\nname = \"compilers\"\n[sources]\nfiles = [\"{name}-source.c\"]\n[[compiler]]\nname = \"gcc\"\ncommand = \"{command}\"\n\
             [[flags]]\nname = \"O0\"\nargs = [{}]\n[[function]]\nsignature = \"double f(double x)\"\n",
            args.join(", ")
        ),
    );
}

fn lab(who: Who) -> (Scene, Vec<Case>) {
    let mut scene = Scene::new(who);
    let cases = cases(&scene);
    cases.iter().for_each(|case| prepare(&scene, case));
    // Something for the cache, which must stay as it is.
    prepare(
        &scene,
        &Case { name: "plain", script: String::new(), args: Vec::new(), source: F.into(), seen: None },
    );
    scene.remember();
    let said = scene.bitrift("plain", &["eval", "f", "1"]);
    assert_eq!(said.code, 0, "{}", said.shown());
    scene.remember();
    (scene, cases)
}

#[test]
fn no_compiler_reads_or_changes_what_is_not_its_job() {
    for who in everyone() {
        let (mut scene, cases) = lab(who);
        let mut broken = Vec::new();
        for case in &cases {
            let said = scene.bitrift(case.name, &["eval", "f", "1"]);
            // 4: the build cannot be used, because its compiler was refused something.
            if !(0..=4).contains(&said.code) || said.err.contains("panicked") {
                broken.push(format!("{}: {}", case.name, said.shown()));
            }
        }
        let harm = scene.harm();
        assert!(harm.is_empty() && broken.is_empty(), "{who:?}\n{}\n{}", harm.join("\n"), broken.join("\n"));
        let said = scene.bitrift("plain", &["eval", "f", "1"]);
        assert_eq!(said.code, 0, "{}", said.shown());
    }
}

#[test]
fn the_attacks_of_compilers_are_real() {
    for who in everyone() {
        let (mut scene, cases) = lab(who);
        let real = cases.iter().filter_map(|case| Some((case.name, case.seen?)));
        let mut shown = Vec::new();
        for (name, seen) in real {
            let said = scene.bitrift(name, &["eval", "f", "1", "--no-sandbox"]);
            shown.push((name, seen, said.shown()));
        }
        let harm = scene.harm();
        let unseen = shown.iter().filter(|(_, seen, _)| !harm.iter().any(|line| line.contains(seen)));
        let unseen: Vec<String> =
            unseen.map(|(name, seen, said)| format!("{name}: no {seen}\n{said}")).collect();
        assert!(unseen.is_empty(), "{who:?}\n{}\n{harm:#?}", unseen.join("\n"));
    }
}

/// Digests of what a compiler says it read are stored, and `repro` copies it.
#[test]
fn what_a_compiler_cannot_have_read_is_not_read_for_it() {
    for who in everyone() {
        let mut scene = Scene::new(who);
        let secret = scene.path("home/.ssh/id_rsa").display().to_string();
        let told = format!(
            "gcc \"$@\" || exit\nfor f in *.d; do [ -f \"$f\" ] && echo \"x.o: {secret} /proc/kmsg /dev/zero\" > \"$f\"; done\nexit 0"
        );
        let source = "#ifdef __OPTIMIZE__\ndouble f(double x) { return x; }\n#else\ndouble f(double x) { return x * 0.5; }\n#endif\n";
        prepare(&scene, &Case { source: source.into(), ..script("tells", told, None) });
        let matrix = std::fs::read_to_string(scene.path("lab/tells.toml")).unwrap();
        scene.write(
            "lab/tells.toml",
            &matrix.replace(
                "args = []",
                "args = []\n[[flags]]\nname = \"O1\"\nargs = [\"-O1\"]\n[search]\nbudget = 100",
            ),
        );
        scene.remember();
        let out = scene.path("out").display().to_string();
        let said = scene.bitrift("tells", &["run", "--overwrite", "--no-confirm", "--out", &out]);
        assert_eq!(said.code, 0, "{}", said.shown());
        let run = std::fs::read_to_string(scene.path("out/run.json")).unwrap();
        assert!(!run.contains("id_rsa") && !run.contains("kmsg"), "{run}");
        let repro = scene.path("tmp/repro").display().to_string();
        let said = scene.bitrift("tells", &["repro", "--run", &out, "--all", "--out", &repro]);
        assert_eq!(said.code, 0, "{}", said.shown());
        std::fs::remove_dir_all(&repro).unwrap();
        let harm = scene.harm();
        assert!(harm.is_empty(), "{harm:?}");
    }
}

/// A header says with `#line` where it was, and bitrift shows the line of a declaration that contradicts the matrix.
#[test]
fn a_place_that_a_header_names_is_shown_without_its_text_where_it_is_not_the_projects() {
    for who in everyone() {
        let mut scene = Scene::new(who);
        let secret = scene.path("home/.ssh/id_rsa").display().to_string();
        scene.write("lab/sly.h", &format!("#line 2 \"{secret}\"\nfloat f(float x);\n"));
        prepare(&scene, &source("sly", String::new(), None));
        let matrix = std::fs::read_to_string(scene.path("lab/sly.toml")).unwrap();
        let matrix = matrix.replace("[sources]", "[sources]\ninclude = [\".\"]") + "headers = [\"sly.h\"]\n";
        scene.write("lab/sly.toml", &matrix);
        scene.remember();
        let said = scene.bitrift("sly", &["eval", "f", "1"]);
        assert!(said.code == 1 && said.err.contains("as the matrix declares it"), "{}", said.shown());
        let harm = scene.harm();
        assert!(harm.is_empty(), "{harm:?}");
    }
}

/// bitrift looks into files that a text names, to know when they change; this one is a file, and reading it never ends.
#[test]
fn a_source_that_names_a_file_without_an_end_does_not_keep_bitrift_waiting() {
    for who in everyone() {
        let mut scene = Scene::new(who);
        let text = "const char *log = \"/proc/kmsg\";".to_owned();
        prepare(&scene, &source("endless", text, None));
        scene.remember();
        let said = scene.bitrift("endless", &["eval", "f", "1"]);
        assert_eq!(said.code, 0, "{}", said.shown());
    }
}
