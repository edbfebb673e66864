//! A real Chromium without a window, driven through the pipe of its own debugging protocol.
#![allow(dead_code)] // Each test program uses a part of it.

pub mod explained;
pub mod stored;

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub const DESKTOP: (u32, u32) = (1300, 900);
pub const PHONE: (u32, u32) = (375, 667);

/// One page in a browser of its own.
pub struct Page {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Everything the browser told without being asked.
    events: Vec<Value>,
    /// All that the browser writes.
    profile: TempDir,
}

impl Page {
    /// An empty page of this size.
    pub fn new((width, height): (u32, u32)) -> Page {
        let profile = TempDir::new().unwrap();
        // The protocol is on the descriptors 3 and 4, which a shell can make of 0 and 1.
        let line = format!(
            "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --disable-background-networking --disable-component-update --remote-debugging-pipe \
             --user-data-dir='{}' about:blank 3<&0 4>&1 </dev/null >/dev/null",
            profile.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            // Chromium makes folders of its own beside the profile.
            .env("TMPDIR", profile.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let output = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(bytes) = message else { break };
                let Ok(value) = serde_json::from_slice(&bytes) else { break };
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take().unwrap();
        let mut page = Page { child, input, messages, session: None, last: 0, events: Vec::new(), profile };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}));
        let params = json!({"targetId": target["targetId"], "flatten": true});
        let session = page.call("Target.attachToTarget", params)["sessionId"].as_str().unwrap().to_owned();
        page.session = Some(session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        page.call("Emulation.setDeviceMetricsOverride", size);
        page
    }

    /// Opens a file and waits until the page says that it is there: milliseconds from the navigation.
    pub fn open(&mut self, file: &Path, hash: &str) -> f64 {
        self.go(&format!("file://{}{hash}", file.display()))
    }

    fn go(&mut self, url: &str) -> f64 {
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        self.until("document.documentElement?.dataset.ready !== undefined");
        self.number("Number(document.documentElement.dataset.ready)")
    }

    /// Asks the browser something and waits for the answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let sent = self.input.write_all(format!("{message}\0").as_bytes());
        sent.unwrap_or_else(|e| panic!("chromium cannot be asked ({e}): apt-get install chromium"));
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message
                .unwrap_or_else(|e| panic!("{method}: {e}; is chromium there? apt-get install chromium"));
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    #[track_caller]
    pub fn number(&mut self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// The texts of all elements that a selector finds.
    #[track_caller]
    pub fn texts(&mut self, selector: &str) -> Vec<String> {
        let list =
            self.eval(&format!("[...document.querySelectorAll({selector:?})].map(e => e.textContent)"));
        serde_json::from_value(list).unwrap()
    }

    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let start = Instant::now();
        while self.eval(expression) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The middle of an element, which is scrolled into view.
    #[track_caller]
    fn middle(&mut self, selector: &str) -> (f64, f64) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); if (!e) return null; \
             e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getBoundingClientRect(); \
             return [r.left + r.width / 2, r.top + r.height / 2]; }})()"
        ));
        let [x, y] = [&place[0], &place[1]].map(|v| v.as_f64());
        (x.unwrap_or_else(|| panic!("no {selector}")), y.unwrap())
    }

    pub fn mouse(&mut self, kind: &str, (x, y): (f64, f64), clicks: u32) {
        let held = u32::from(kind != "mouseReleased" && clicks > 0);
        let params = json!({"type": kind, "x": x, "y": y, "buttons": held, "clickCount": clicks,
            "button": if clicks > 0 { "left" } else { "none" }});
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Clicks on an element as a hand does.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let at = self.middle(selector);
        self.mouse("mouseMoved", at, 0);
        self.mouse("mousePressed", at, 1);
        self.mouse("mouseReleased", at, 1);
    }

    /// A drag over the middle of an element: fractions of its width.
    #[track_caller]
    pub fn drag(&mut self, selector: &str, from: f64, to: f64) {
        let (x, y) = self.middle(selector);
        let width =
            self.number(&format!("document.querySelector({selector:?}).getBoundingClientRect().width"));
        let at = |part: f64| (x + (part - 0.5) * width, y);
        self.mouse("mouseMoved", at(from), 0);
        self.mouse("mousePressed", at(from), 1);
        for step in 1..=4 {
            self.mouse("mouseMoved", at(from + (to - from) * f64::from(step) / 4.0), 1);
        }
        self.mouse("mouseReleased", at(to), 1);
    }

    #[track_caller]
    pub fn double_click(&mut self, selector: &str) {
        let at = self.middle(selector);
        for clicks in [1, 2] {
            self.mouse("mousePressed", at, clicks);
            self.mouse("mouseReleased", at, clicks);
        }
    }

    /// Presses a key by its name (`Enter`, `ArrowDown`) or a character.
    pub fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let down = json!({"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}),
        );
    }

    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Fails when the page complained, opened a dialog, or asked for anything but the file itself.
    #[track_caller]
    pub fn assert_quiet(&mut self, file: &Path) {
        // Whatever was under way is told before the answer to this.
        self.eval("new Promise(done => setTimeout(done, 50))");
        let own = format!("file://{}", file.display());
        for event in &self.events {
            let params = &event["params"];
            let trouble = match event["method"].as_str().unwrap_or("") {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                "Runtime.consoleAPICalled" => params["type"] == "error" || params["type"] == "warning",
                "Log.entryAdded" => {
                    params["entry"]["level"] == "error" || params["entry"]["level"] == "warning"
                }
                "Network.requestWillBeSent" => params["request"]["url"] != own,
                "Network.webSocketCreated" => true,
                _ => false,
            };
            assert!(!trouble, "{event:#}");
        }
        let asked = self.events.iter().filter(|e| e["method"] == "Network.requestWillBeSent");
        assert!(asked.count() >= 1, "the browser does not report its requests");
    }
}

impl Drop for Page {
    /// Ends all processes of the browser, so that none of them writes while its folder is removed.
    fn drop(&mut self) {
        // The shell was made the leader of a group, and every process of the browser is in it.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        let start = Instant::now();
        while std::fs::remove_dir_all(self.profile.path()).is_err_and(|e| e.kind() != ErrorKind::NotFound) {
            assert!(std::thread::panicking() || start.elapsed() < PATIENCE, "chromium still writes");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
