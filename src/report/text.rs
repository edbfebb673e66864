//! Text from files and users made safe for the formats that other programs read.

use crate::model::printable;

/// Text as code in Markdown: never a table's bar, HTML, a mention or emphasis, whatever it holds.
pub(super) fn code(text: &str) -> String {
    let text = printable(text);
    if text.is_empty() {
        return String::new();
    }
    // A code span takes no escapes, and a bar inside a table would need one.
    if !text.contains(['`', '|', '\\', '<']) && text.trim() == text {
        return format!("`{text}`");
    }
    let mut html = String::from("<code>");
    for c in text.chars() {
        match c {
            c if c.is_ascii_punctuation() => html.push_str(&format!("&#{};", u32::from(c))),
            c => html.push(c),
        }
    }
    html.push_str("</code>");
    html
}

/// The value of a GitHub workflow command.
pub(super) fn workflow_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a GitHub workflow command.
pub(super) fn workflow_property(text: &str) -> String {
    workflow_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A path as the path of a URI.
pub(super) fn uri_path(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_plain_where_it_can_be_and_escaped_where_it_must() {
        assert_eq!(code("gcc/O3-fast/native"), "`gcc/O3-fast/native`");
        assert_eq!(code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(code("`@x <b>"), "<code>&#96;&#64;x &#60;b&#62;</code>");
        assert_eq!((code(""), code(" ")), (String::new(), "<code> </code>".into()));
    }

    #[test]
    fn workflow_commands_and_uris_are_escaped_as_their_documents_say() {
        assert_eq!(workflow_data("50 %\r\na: b, c"), "50 %25%0D%0Aa: b, c");
        assert_eq!(workflow_property("a:b,c%"), "a%3Ab%2Cc%25");
        assert_eq!(uri_path("a b/ü#?.c"), "a%20b/%C3%BC%23%3F.c");
    }
}
