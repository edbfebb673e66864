//! `bitrift cache`: what is kept of compiled code, and what was removed of it.

use super::number::{count, plural};
use super::style::{Style, text_of};
use crate::model::{CacheShare, CacheState, byte_text, printable};

pub fn json(state: &CacheState) -> String {
    serde_json::to_string_pretty(state).unwrap_or_default() + "\n"
}

pub fn render(state: &CacheState, style: Style) -> String {
    let folder = printable(&state.folder);
    let mut text = String::new();
    if let Some(freed) = &state.freed {
        text.push_str(&match freed.files {
            0 => "nothing was removed\n".into(),
            _ => format!("removed {}, {}\n", files(freed.files), byte_text(freed.bytes)),
        });
    }
    if !state.exists {
        text.push_str(&format!("there is no cache in {folder}; what is compiled next makes one\n"));
        return text;
    }
    text.push_str(&format!(
        "the cache {folder} holds {}; its limit is {}\n\n",
        byte_text(state.bytes),
        state.limit
    ));
    let mut table = style.table(&["kind", "files", "size", ""]);
    let rows: [(&str, &CacheShare, &str); 4] = [
        ("objects", &state.objects, "compiled and linked code, and what is known of it"),
        ("recipes", &state.recipes, "which object answers which request"),
        ("libraries", &state.libraries, "links that lead the loader to libraries"),
        ("temporary", &state.temporary, "of processes at work, or that were killed"),
    ];
    for (kind, share, what) in rows {
        table.add_row([kind.into(), count(share.files), byte_text(share.bytes), what.into()]);
    }
    text.push_str(&text_of(&table));
    if let (Some(oldest), Some(newest)) = (&state.oldest_use, &state.newest_use) {
        text.push_str(&format!("\nlast used between {oldest} and {newest}\n"));
    }
    if state.others > 0 {
        let others = files(state.others);
        text.push_str(&format!("{others} in the folder that no cache makes: left alone\n"));
    }
    text
}

fn files(n: u64) -> String {
    plural(usize::try_from(n).unwrap_or(usize::MAX), "file")
}
