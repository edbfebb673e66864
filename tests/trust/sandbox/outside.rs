//! What happens on the machine while code under test runs, and what that code leaves behind.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::Desk;

const AXES: &str = "[lab]\nname = \"outside\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n\
    [[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n";

/// A folder that becomes a mount while code under test looks: on most machines new mounts appear in every world.
#[test]
fn what_is_mounted_during_a_run_cannot_be_changed_from_inside() {
    let desk = Desk::private();
    let place = desk.path("late").display().to_string();
    std::fs::create_dir(desk.path("late")).unwrap();
    let code = format!(
        "#include <errno.h>\n#include <sys/stat.h>\n#include <unistd.h>\ndouble f(double x) {{ int seen = 0; for (int k = 0; k < 400; k++) {{ \
         if (chmod(\"{place}/x\", 0601) == 0) return 1; if (errno != ENOENT) seen = 2; usleep(10000); }} return seen; }}\n"
    );
    desk.write("code.c", &code);
    let one = AXES.split("[[flags]]\nname = \"O2\"").next().unwrap();
    desk.write(
        "matrix.toml",
        &format!("{one}[search]\ntimeout_ms = 8000\n[[function]]\nsignature = \"double f(double x)\"\n"),
    );
    let answer = |flag: &str| {
        desk.expect(0, &["eval", "f", "1", "--cache", "warm"]);
        let eval = format!("{} eval f 1 --cache warm {flag}", crate::common::BITRIFT);
        let script = format!(
            "mount --make-rshared / && (sleep 1; mount -t tmpfs none {place}; touch {place}/x) & \
             sleep 0.2; {eval}; wait; stat -c %a {place}/x"
        );
        let mut world = Command::new("unshare");
        world.args([
            "--user",
            "--map-root-user",
            "--mount",
            "--propagation",
            "unchanged",
            "sh",
            "-c",
            &script,
        ]);
        world
            .current_dir(desk.path(""))
            .envs(desk.command(&[]).get_envs().filter_map(|(k, v)| Some((k, v?))));
        String::from_utf8(world.output().unwrap().stdout).unwrap()
    };
    let (held, open) = (answer(""), answer("--no-sandbox"));
    assert!(held.trim_end().ends_with("644"), "{held}");
    assert!(open.trim_end().ends_with("601"), "the attack is real: {open}");
}

const LEAVES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int leave(size_t bytes) {
    char name[] = "leftXXXXXX";
    static char block[65536];
    int fd = mkstemp(name), whole = fd >= 0;
    for (size_t k = 0; whole && k < bytes; k += sizeof block) whole = write(fd, block, sizeof block) == sizeof block;
    if (fd >= 0) close(fd);
    return whole;
}
double logs(double x) { leave(65536); return x; }
double fills(double x) { while (leave(1 << 24)) {} return x; }
double faulty(double x) { if (x > 0.5 && x < 0.6) abort(); return x; }
double clean(double x) { return x; }
double table(double x) { return access("table", R_OK) == 0; }
void set_up(void) { FILE *file = fopen("table", "w"); if (file) fclose(file); }
"#;

/// Each leaves files, one until nothing more can be written; others of the same worker are searched as if it were not there.
#[test]
fn files_that_one_function_leaves_take_no_room_from_another() {
    let desk = Desk::private();
    let function = |name: &str| {
        format!("[[function]]\nsignature = \"double {name}(double x)\"\ndomain = {{ x = \"[0, 1]\" }}\n")
    };
    let functions: String = ["fills", "logs", "faulty", "clean", "table"].map(function).concat();
    let setup = "setup = \"extern void set_up(void); set_up();\"\n";
    desk.write("code.c", LEAVES)
        .write("matrix.toml", &format!("{setup}{AXES}[search]\nbudget = 3000\nmax_faults = 64\n{functions}"));
    let run = |jobs: &str, out: &str| {
        let said = desk.bitrift(&["run", "-q", "-j", jobs, "--out", out]);
        assert!(said.code == 0 || said.code == 3, "{}", said.shown());
        desk.read(&format!("{out}/run.json"))
    };
    let (one, two) = (run("1", "one"), run("2", "two"));
    assert_eq!(one, two);
    let run: serde_json::Value = serde_json::from_str(&one).unwrap();
    let functions = run["functions"].as_array().unwrap();
    // The first leaves no room to itself.
    for function in functions.iter().filter(|function| function["name"] != "fills") {
        for comparison in function["comparisons"].as_array().unwrap() {
            assert_ne!(comparison["stop_reason"], "lost", "{function:#}");
            assert!(comparison["evaluations"].as_u64().unwrap() > 1000, "{function:#}");
        }
    }
    let table = functions.iter().find(|f| f["name"] == "table").unwrap();
    assert!(table["constant"].to_string().contains("\"1\""), "{table:#}");
}

/// It writes to the page by which it is watched that each moment is a new call.
#[test]
fn an_evaluation_that_pretends_to_go_on_comes_to_an_end() {
    let desk = Desk::private();
    let code = r#"
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        double f(double x) {
            volatile unsigned long *page = 0;
            FILE *maps = fopen("/proc/self/maps", "r");
            char line[512], rights[8];
            unsigned long from, to;
            while (maps && fgets(line, sizeof line, maps))
                if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && !strcmp(rights, "rw-s")) page = (void *)from;
            for (;;) { if (page) page[0]++; usleep(1000); }
        }
    "#;
    let one = AXES.split("[[flags]]\nname = \"O2\"").next().unwrap();
    desk.write("code.c", code);
    desk.write(
        "matrix.toml",
        &format!("{one}[search]\ntimeout_ms = 10\n[[function]]\nsignature = \"double f(double x)\"\n"),
    );
    let begun = Instant::now();
    let said = desk.bitrift(&["eval", "f", "1"]);
    assert!(
        said.out.contains("timeout") && begun.elapsed() < Duration::from_secs(90),
        "{:?} {}",
        begun.elapsed(),
        said.shown()
    );
}
