//! C text to tokens and their lines: comments and continued lines are gone, preprocessor lines are kept apart.

use super::number::Number;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// An identifier or keyword.
    Name(String),
    Number(Number),
    /// A string, a character or a character no token starts with.
    Text,
    Mark(&'static str),
}

impl Token {
    pub fn is(&self, mark: &str) -> bool {
        matches!(self, Token::Mark(m) if *m == mark)
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(self, Token::Name(n) if n == name)
    }

    pub fn name(&self) -> Option<&str> {
        match self {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Longer ones first.
const MARKS: [&str; 45] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "##", "<", ">", "=", "!", "+", "-", "*", "/", "%", "&", "|", "^", "~", "?",
    ":", ";", ",", ".", "(", ")", "[", "]",
];
const BRACES: [&str; 3] = ["{", "}", "#"];

/// A `#define`.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    pub name: String,
    pub has_parameters: bool,
    pub tokens: Vec<Token>,
    pub line: u64,
}

/// A file cut into what the compiler sees and what the preprocessor does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scanned {
    pub code: Vec<Token>,
    /// The line of each token of the code, counted from 1.
    pub lines: Vec<u64>,
    pub defines: Vec<Define>,
    /// Names as written between quotes or brackets.
    pub includes: Vec<String>,
}

/// Stands for the end of a line that a comment or a backslash hides: white space, so that no token holds it, and
/// in no source.
const JOINT: char = '\u{85}';

/// Hidden ends of lines.
fn joints(text: &str) -> u64 {
    text.matches(JOINT).count() as u64
}

/// Reads a whole file. Never fails: what is no C gives tokens that mean nothing.
pub fn scan(text: &str) -> Scanned {
    let joint = JOINT.to_string();
    let plain = without_comments(&text.replace("\\\r\n", &joint).replace("\\\n", &joint));
    let mut scanned = Scanned::default();
    let mut conditions = Conditions::default();
    let mut next = 1;
    for line in plain.lines() {
        let number = next;
        next += 1 + joints(line);
        let directive = line.trim_start().strip_prefix('#').map(str::trim);
        if directive.is_some_and(|text| conditions.read(text, &scanned.code)) || !conditions.live() {
            continue;
        }
        match directive {
            None => tokenize(line, number, |token, number| {
                scanned.code.push(token);
                scanned.lines.push(number);
            }),
            Some(text) => read_directive(text, number, &mut scanned),
        }
    }
    scanned
}

/// A branch of an `#if`.
struct Branch {
    /// Where its code starts.
    start: usize,
    live: bool,
    /// No later branch can be live.
    done: bool,
}

/// The `#if`s around a line. Conditions are not evaluated: all branches count, but not that of `#if 0`, and
/// of branches that open the same brace only the first, for the sake of the code behind.
#[derive(Default)]
struct Conditions(Vec<Branch>);

impl Conditions {
    fn live(&self) -> bool {
        self.0.iter().all(|branch| branch.live)
    }

    /// Whether a directive was one of these.
    fn read(&mut self, directive: &str, code: &[Token]) -> bool {
        if directive.starts_with("if") {
            let live = directive.strip_prefix("if").is_none_or(|rest| rest.trim() != "0");
            self.0.push(Branch { start: code.len(), live, done: false });
        } else if directive.starts_with("endif") {
            self.0.pop();
        } else if directive.starts_with("el") {
            if let Some(branch) = self.0.last_mut() {
                let opened = code[branch.start..].iter().filter(|t| t.is("{")).count();
                let closed = code[branch.start..].iter().filter(|t| t.is("}")).count();
                branch.done |= opened != closed;
                branch.live = !branch.done;
                branch.start = code.len();
            }
        } else {
            return false;
        }
        true
    }
}

/// The tokens of an expression or of statements.
pub fn tokens(text: &str) -> Vec<Token> {
    scan(text).code
}

fn read_directive(text: &str, line: u64, scanned: &mut Scanned) {
    if let Some(rest) = text.strip_prefix("include") {
        let name = rest.trim().strip_prefix(['"', '<']).and_then(|r| r.split(['"', '>']).next());
        scanned.includes.extend(name.map(str::to_owned));
    } else if let Some(rest) = text.strip_prefix("define") {
        let rest = rest.trim_start();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (name, mut body) = rest.split_at(end);
        // Parameters follow without a space; their names are no numbers and need not be known.
        let has_parameters = body.starts_with('(');
        if has_parameters {
            body = body.split_once(')').map_or("", |(_, after)| after);
        }
        let mut tokens = Vec::new();
        tokenize(body, line, |token, _| tokens.push(token));
        scanned.defines.push(Define { name: name.into(), has_parameters, tokens, line });
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Comments become a space, and joints for the lines they go over; those in strings are none.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let comment = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else {
            let inside = rest.strip_prefix("/*");
            inside.map(|inside| inside.find("*/").map_or(rest.len(), |end| end + 4))
        };
        let length = match comment {
            Some(length) => {
                out.push(' ');
                out.extend(rest[..length].chars().filter(|c| matches!(*c, '\n' | JOINT)).map(|_| JOINT));
                length
            }
            None => {
                let length = if rest.starts_with('/') { 1 } else { quoted_length(rest) };
                out.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Bytes of the string or character at the start; it ends at the line's end at the latest.
fn quoted_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Hands on every token with its line; the text starts at line `number`.
fn tokenize(text: &str, mut number: u64, mut put: impl FnMut(Token, u64)) {
    let mut rest = text;
    loop {
        let start = rest.trim_start();
        number += joints(&rest[..rest.len() - start.len()]);
        let Some(first) = start.chars().next() else { return };
        let (token, length) = next_token(start, first);
        put(token, number);
        number += joints(&start[..length]);
        rest = &start[length..];
    }
}

fn next_token(rest: &str, first: char) -> (Token, usize) {
    let second_is_digit = rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || (first == '.' && second_is_digit) {
        let length = number_length(rest);
        return (Number::parse(&rest[..length]).map_or(Token::Text, Token::Number), length);
    }
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        return (Token::Name(rest[..length].into()), length);
    }
    if first == '"' || first == '\'' {
        return (Token::Text, quoted_length(rest));
    }
    match MARKS.iter().chain(&BRACES).find(|mark| rest.starts_with(**mark)) {
        Some(mark) => (Token::Mark(mark), mark.len()),
        None => (Token::Text, first.len_utf8()),
    }
}

/// A preprocessing number: a sign belongs to it after the letter of an exponent.
fn number_length(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = if is_hex { matches!(before, 'p' | 'P') } else { matches!(before, 'e' | 'E') };
        if !(is_word(c) || c == '.' || (exponent && matches!(c, '+' | '-'))) {
            return at;
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let show = |t: &Token| match t {
            Token::Name(name) => name.clone(),
            Token::Number(n) => format!("{:?}", n.value),
            Token::Text => "TEXT".into(),
            Token::Mark(mark) => (*mark).into(),
        };
        tokens(text).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_strings_and_continued_lines_hide_their_numbers() {
        let text =
            "a /* 1.5 */ < 2.5; // 3.5\nputs(\"4.5 /* \\\" 5.5\"); c = '6'; d \\\n = 7; e /* 8\n9 */ > 10;";
        assert_eq!(shown(text), "a < 2.5 ; puts ( TEXT ) ; c = TEXT ; d = 7.0 ; e > 10.0 ;");
    }

    #[test]
    fn signs_belong_to_exponents_and_to_nothing_else() {
        assert_eq!(shown("x<1e-5-2+0x1p-3"), "x < 1e-5 - 2.0 + 0.125");
        assert_eq!(shown("0xe-1"), "14.0 - 1.0");
        assert_eq!(shown("a->b<=c.d>>=3...4"), "a -> b <= c . d >>= TEXT");
    }

    #[test]
    fn directives_are_kept_apart() {
        let text = "#include <gsl/a.h>\n #  include \"b.c\"\n#define LIMIT (2.0 * EPS) /* two */\n#define SQ(x) ((x)*(x))\nint y;";
        let scanned = scan(text);
        assert_eq!(scanned.includes, ["gsl/a.h", "b.c"]);
        assert_eq!(scanned.code.len(), 3);
        assert_eq!((scanned.defines[0].name.as_str(), scanned.defines[0].tokens.len()), ("LIMIT", 5));
        assert!(scanned.defines[1].has_parameters && !scanned.defines[0].has_parameters);
    }

    #[test]
    fn dead_code_and_second_openings_of_a_brace_are_left_out() {
        let text = "#if 0\n1;\n# if X\n2;\n# endif\n#else\n3;\n#endif\n#ifdef X\nf(4) {\n#elif Y\nf(5) {\n#else\nf(6) {\n#endif\n}\n#if X\n7;\n#else\n8;\n#endif\n#endif\n9;";
        assert_eq!(shown(text), "3.0 ; f ( 4.0 ) { } 7.0 ; 8.0 ; 9.0 ;");
    }

    #[test]
    fn tokens_know_their_lines_behind_comments_continued_lines_and_dead_code() {
        let text =
            "/* 1\n 2 */ a\n#define B(x) \\\n  (x)\n#if 0\ndead\n#endif\nc \\\r\n d // \\\n e\n\"\\\n\" f\n";
        let scanned = scan(text);
        let named: Vec<(&str, u64)> =
            scanned.code.iter().zip(&scanned.lines).filter_map(|(t, &n)| Some((t.name()?, n))).collect();
        assert_eq!(named, [("a", 2), ("c", 8), ("d", 9), ("f", 12)]);
        assert_eq!(scanned.defines[0].line, 3);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_scanner_panic(text in "[ -~\n\u{e4}]{0,80}") {
            scan(&text);
        }
    }
}
