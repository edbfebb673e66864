//! A budget that nobody can wait for: memory stays bounded, the deadline and Ctrl-C are obeyed.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Desk;

/// Evaluations that take many minutes.
const BUDGET: [&str; 2] = ["--budget", "2000000000"];
/// Most memory of the coordinator, in KiB.
const MOST_KIB: u64 = 300 * 1024;

/// One function that differs nearly everywhere.
fn desk(parameters: &str, value: &str) -> Desk {
    let desk = Desk::new();
    desk.write("f.c", &format!("double f({parameters}) {{ return {value}; }}\n"));
    let axes = "[lab]\nname = \"one\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"f.c\"]\n
[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"fast\"
args = [\"-O3\", \"-ffast-math\", \"-march=x86-64-v3\"]\n";
    desk.write("matrix.toml", &format!("{axes}[[function]]\nsignature = \"double f({parameters})\"\n"));
    desk
}

fn start(desk: &Desk, args: &[&str]) -> Child {
    let all = [&["run", "-q", "--out", "run"][..], &BUDGET, args].concat();
    desk.command(&all).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The most memory that a process has had so far, in KiB; 0 when it is gone.
fn peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// Waits for the end of a process; its exit code, how long that took, and the most memory it had.
fn watch(mut child: Child) -> (Option<i32>, Duration, u64) {
    let (begun, mut most) = (Instant::now(), 0);
    loop {
        most = most.max(peak(&child));
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), begun.elapsed(), most);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on and on, with {most} KiB");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_huge_budget_ends_at_its_deadline_in_bounded_memory_whatever_the_strategy() {
    for (parameters, value) in
        [("double x", "x * x * 3.0 + x"), ("double x, double y", "x * x * 3.0 + x * y")]
    {
        let desk = desk(parameters, value);
        for strategy in ["auto", "random"] {
            let args = ["--strategy", strategy, "--deadline-s", "5", "--overwrite"];
            let (code, time, most) = watch(start(&desk, &args));
            assert_eq!(code, Some(0), "{strategy} of {parameters}");
            // Other tests share the machine; alone it is 6 to 7 seconds (results/bounded.md).
            assert!(time < Duration::from_secs(12), "{strategy} of {parameters}: {time:?}");
            assert!(most < MOST_KIB, "{strategy} of {parameters}: {most} KiB");
            let run = desk.json("run/run.json");
            let comparison = &run["functions"][0]["comparisons"][0];
            assert_eq!(comparison["stop_reason"], "deadline", "{strategy} of {parameters}");
            // What was found by then is told.
            assert!(comparison["evaluations"].as_u64().unwrap() > 100_000, "{comparison}");
            assert!(comparison["max_bits"].as_f64().unwrap() > 0.0, "{comparison}");
        }
    }
}

#[test]
fn an_interrupt_ends_a_huge_budget_at_once() {
    let desk = desk("double x, double y", "x * x * 3.0 + x * y");
    for after in [1500, 3000] {
        let child = start(&desk, &["--overwrite"]);
        std::thread::sleep(Duration::from_millis(after));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let (code, time, _) = watch(child);
        assert_eq!(code, Some(130), "after {after} ms");
        // Alone it is a fifth of a second; before, it was never.
        assert!(time < Duration::from_secs(5), "after {after} ms: {time:?}");
    }
}
