//! Text from files and tools made safe to show on a terminal.

/// Escapes what could move the cursor, change colours or reorder a line: control characters, line
/// separators, marks of writing direction and characters without width; and what the logs of pipelines take for a command.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if c.is_control() || is_invisible(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    if shown.contains("##[") { shown.replace("##[", "#\\u{23}[") } else { shown }
}

/// The same for a message of several lines, which stay lines.
pub fn printable_lines(message: &str) -> String {
    let shown = |line: &str| {
        let line = printable(&line.trim_end().replace('\t', "    "));
        // A line that begins so is a command to the log of a pipeline.
        match line.trim_start().strip_prefix("::") {
            Some(rest) => format!("\\u{{3a}}:{rest}"),
            None => line,
        }
    };
    message.trim_end().lines().map(shown).collect::<Vec<_>>().join("\n")
}

/// The line of a tool's message that says what is wrong: compilers and linkers open with where.
pub fn gist(message: &str) -> &str {
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = |line: &&str| line.contains("error:") || line.contains("undefined reference");
    lines().find(telling).or_else(|| lines().next()).unwrap_or("")
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_escaped_and_the_rest_is_kept() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{202e}d\u{9b}e"), "a\\u{1b}[31mb\\nc\\u{202e}d\\u{9b}e");
        assert_eq!(printable_lines("a:\n\tb\u{1b}\r\n\n"), "a:\n    b\\u{1b}");
        assert_eq!(
            printable_lines("a::b\n  ::error::c\nx ##[set]"),
            "a::b\n\\u{3a}:error::c\nx #\\u{23}[set]"
        );
        assert_eq!(printable("Größe <b> \\ 数"), "Größe <b> \\ 数");
    }

    #[test]
    fn the_gist_of_a_message_is_its_first_error() {
        assert_eq!(
            gist("\na.c: In function 'f':\na.c:1:2: error: no\nb.c:3: error: x"),
            "a.c:1:2: error: no"
        );
        assert_eq!(
            gist("ld: a.o: in function `f':\na.c:(.text+0x5): undefined reference to `g'"),
            "a.c:(.text+0x5): undefined reference to `g'"
        );
        assert_eq!(gist("  gcc-99 not found \nmore"), "gcc-99 not found");
        assert_eq!(gist("\n"), "");
    }
}
