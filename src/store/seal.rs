//! A line of JSON with a check sum of its bytes as its last field.

/// What stands between the fields of the line and the check sum.
const BEFORE: &str = ",\"check\":\"";
/// What follows it.
const AFTER: &str = "\"}";
/// Hexadecimal digits of a check sum.
const DIGITS: usize = 32;

/// An object with a check sum that also covers a context: the line is believed nowhere else.
pub(super) fn seal(context: &str, object: &str) -> String {
    let fields = object.strip_suffix('}').unwrap_or(object);
    format!("{fields}{BEFORE}{}{AFTER}", check(context, fields.as_bytes()))
}

/// The object without its check sum; None when it is not as it was written.
pub(super) fn unseal(context: &str, line: &[u8]) -> Option<Vec<u8>> {
    let line = line.strip_suffix(AFTER.as_bytes())?;
    let (fields, found) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    let fields = fields.strip_suffix(BEFORE.as_bytes())?;
    (found == check(context, fields).as_bytes()).then(|| [fields, b"}"].concat())
}

fn check(context: &str, fields: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("bitrift line 1");
    hasher.update(&(context.len() as u64).to_le_bytes()).update(context.as_bytes()).update(fields);
    hasher.finalize().to_hex()[..DIGITS].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_and_every_other_place_is_noticed() {
        let object = r#"{"row":{"bits":1.5},"n":[1,2]}"#;
        let line = seal("here", object);
        assert_eq!(unseal("here", line.as_bytes()).as_deref(), Some(object.as_bytes()));
        assert_eq!(unseal("there", line.as_bytes()), None);
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert_eq!(unseal("here", &bytes), None, "byte {at}, bit {bit}");
            }
        }
        for end in 0..line.len() {
            assert_eq!(unseal("here", &line.as_bytes()[..end]), None);
        }
    }
}
