//! What the compiler sees of a file before macros are expanded: the tokens of its code with their lines; what
//! the preprocessor is told is kept apart.

use super::lexeme::{Lexeme, LexemeKind, lexemes};
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

impl From<&Lexeme<'_>> for Token {
    fn from(lexeme: &Lexeme<'_>) -> Token {
        match lexeme.kind {
            LexemeKind::Word => Token::Name(lexeme.text.into()),
            LexemeKind::Number => Number::parse(lexeme.text).map_or(Token::Text, Token::Number),
            LexemeKind::Mark(mark) => Token::Mark(mark),
            LexemeKind::Quoted
            | LexemeKind::Stray
            | LexemeKind::Comment
            | LexemeKind::Continuation
            | LexemeKind::LineEnd => Token::Text,
        }
    }
}

/// A `#define`.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    pub name: String,
    pub has_parameters: bool,
    pub tokens: Vec<Token>,
    /// Where its directive starts, counted from 1.
    pub line: u64,
}

/// A file cut into what the compiler sees and what the preprocessor does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokens {
    pub code: Vec<Token>,
    /// The line of each token of the code, counted from 1.
    pub lines: Vec<u64>,
    pub defines: Vec<Define>,
    /// Names as written between quotes or brackets.
    pub includes: Vec<String>,
}

impl Tokens {
    /// Reads a whole file. Never fails: what is no C gives tokens that mean nothing.
    pub fn read(text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        let mut conditions = Conditions::default();
        let all: Vec<Lexeme<'_>> = lexemes(text).collect();
        for line in all.split(|lexeme| lexeme.kind == LexemeKind::LineEnd) {
            let first = line.first().map_or(0, |lexeme| lexeme.line);
            let line: Vec<&Lexeme<'_>> = line.iter().filter(|lexeme| lexeme.is_seen()).collect();
            match line.as_slice() {
                [mark, directive @ ..] if mark.is_mark("#") => {
                    let is_condition = conditions.read(directive, &tokens.code);
                    if !is_condition && conditions.are_live() {
                        tokens.read_directive(directive, first, text);
                    }
                }
                code if conditions.are_live() => {
                    tokens.code.extend(code.iter().map(|lexeme| Token::from(*lexeme)));
                    tokens.lines.extend(code.iter().map(|lexeme| lexeme.line));
                }
                _ => {}
            }
        }
        tokens
    }

    fn read_directive(&mut self, directive: &[&Lexeme<'_>], line: u64, text: &str) {
        let [word, name, rest @ ..] = directive else { return };
        match word.text {
            "include" if name.text.starts_with(['"', '<']) => {
                let end = rest.last().map_or(name.end(), |last| last.end());
                let named = text[name.start + 1..end].split(['"', '>']).next();
                self.includes.extend(named.map(str::to_owned));
            }
            "define" => {
                // Parameters follow without a space; their names are no numbers and need not be known.
                let has_parameters = rest.first().is_some_and(|l| l.is_mark("(") && l.start == name.end());
                let behind = rest.iter().position(|l| l.is_mark(")")).map_or(rest.len(), |at| at + 1);
                let body = if has_parameters { &rest[behind..] } else { rest };
                let tokens = body.iter().map(|lexeme| Token::from(*lexeme)).collect();
                self.defines.push(Define { name: name.text.into(), has_parameters, tokens, line });
            }
            _ => {}
        }
    }
}

/// The tokens of an expression or of statements.
pub fn tokens(text: &str) -> Vec<Token> {
    Tokens::read(text).code
}

/// A branch of an `#if`.
struct Branch {
    /// Where its code starts.
    start: usize,
    is_live: bool,
    /// No later branch can be live.
    is_last: bool,
}

/// The `#if`s around a line. Conditions are not evaluated: all branches count, but not that of `#if 0`, and
/// of branches that open the same brace only the first, for the sake of the code behind.
#[derive(Default)]
struct Conditions(Vec<Branch>);

impl Conditions {
    fn are_live(&self) -> bool {
        self.0.iter().all(|branch| branch.is_live)
    }

    /// Whether a directive was one of these.
    fn read(&mut self, directive: &[&Lexeme<'_>], code: &[Token]) -> bool {
        let Some((word, rest)) = directive.split_first() else { return false };
        if word.text.starts_with("if") {
            let is_live = !matches!(rest, [only] if word.text == "if" && only.text == "0");
            self.0.push(Branch { start: code.len(), is_live, is_last: false });
        } else if word.text.starts_with("endif") {
            self.0.pop();
        } else if word.text.starts_with("el") {
            if let Some(branch) = self.0.last_mut() {
                let opened = code[branch.start..].iter().filter(|t| t.is("{")).count();
                let closed = code[branch.start..].iter().filter(|t| t.is("}")).count();
                branch.is_last |= opened != closed;
                branch.is_live = !branch.is_last;
                branch.start = code.len();
            }
        } else {
            return false;
        }
        true
    }
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
        let scanned = Tokens::read(text);
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
        let scanned = Tokens::read(text);
        let named: Vec<(&str, u64)> =
            scanned.code.iter().zip(&scanned.lines).filter_map(|(t, &n)| Some((t.name()?, n))).collect();
        assert_eq!(named, [("a", 2), ("c", 8), ("d", 9), ("f", 12)]);
        assert_eq!(scanned.defines[0].line, 3);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_scanner_panic(text in "[ -~\n\u{e4}]{0,80}") {
            Tokens::read(&text);
        }
    }
}
