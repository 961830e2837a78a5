//! The menu of a `grub.cfg`, and which entry starts by default.

use crate::boot::BootError;
use crate::boot::words::split;

/// More than any menu has; a bound for hostile files.
const MAX_ENTRIES: usize = 10_000;
const MAX_DEPTH: usize = 8;

/// An entry or a submenu.
#[derive(Debug, Default)]
pub(super) struct Item<'a> {
    pub(super) title: String,
    pub(super) id: Option<String>,
    /// Words between title and brace, as written.
    pub(super) head: Vec<&'a str>,
    /// Lines of an entry.
    pub(super) body: Vec<&'a str>,
    /// Items of a submenu.
    pub(super) below: Option<Vec<Item<'a>>>,
}

/// The items of a menu, in order.
pub(super) fn items(cfg: &str) -> Vec<Item<'_>> {
    let mut lines = cfg.lines();
    let mut left = MAX_ENTRIES;
    level(&mut lines, 0, &mut left)
}

fn level<'a>(lines: &mut std::str::Lines<'a>, depth: usize, left: &mut usize) -> Vec<Item<'a>> {
    let mut out = Vec::new();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed == "}" && depth > 0 {
            break;
        }
        let opens = trimmed.strip_suffix('{').map(str::trim_end);
        let Some(head) = opens else { continue };
        if *left == 0 || depth >= MAX_DEPTH {
            break;
        }
        match (head.split_ascii_whitespace().next(), item(head)) {
            (Some("menuentry"), Some(mut i)) => {
                i.body = body(lines);
                out.push(i);
                *left -= 1;
            }
            (Some("submenu"), Some(mut i)) => {
                i.below = Some(level(lines, depth + 1, left));
                out.push(i);
                *left -= 1;
            }
            // A function, or an entry whose head cannot be read: passed over as a whole. It is counted, so that indices hold.
            (first, _) => {
                let skipped = body(lines);
                if matches!(first, Some("menuentry" | "submenu")) {
                    out.push(Item { body: skipped, ..Item::default() });
                }
            }
        }
    }
    out
}

/// Lines up to the brace that closes.
fn body<'a>(lines: &mut std::str::Lines<'a>) -> Vec<&'a str> {
    let (mut out, mut depth) = (Vec::new(), 0_usize);
    for line in lines {
        let trimmed = line.trim();
        if trimmed == "}" {
            match depth.checked_sub(1) {
                Some(d) => depth = d,
                None => break,
            }
        } else if trimmed.ends_with('{') {
            depth += 1;
        }
        out.push(line);
    }
    out
}

/// `menuentry 'title' --class x $menuentry_id_option 'id'`
fn item(head: &str) -> Option<Item<'_>> {
    let words = split(head)?;
    let mut title = None;
    let (mut id, mut takes) = (None, None);
    let mut rest = Vec::new();
    for w in words.iter().skip(1) {
        match takes.take() {
            Some("id") => id = Some(w.bare()),
            Some(_) => {}
            None => match w.raw {
                "--id" | "$menuentry_id_option" | "${menuentry_id_option}" => takes = Some("id"),
                "--class" | "--users" | "--hotkey" | "--source" => takes = Some("other"),
                o if o.starts_with("--id=") => {
                    id = Some(o.trim_start_matches("--id=").trim_matches(['\'', '"']).to_owned())
                }
                o if o.starts_with('-') => {}
                _ if title.is_none() => title = Some(w.bare()),
                _ => {}
            },
        }
        rest.push(w.raw);
    }
    Some(Item { title: title?, id, head: rest, ..Item::default() })
}

/// What `default` is: of the last plain assignment; `${saved_entry}` is looked up in the environment block.
pub(super) fn default_of(cfg: &str, grubenv: Option<&str>) -> Result<String, BootError> {
    let none = |why: &str| BootError::NoDefault { file: "grub.cfg", why: why.to_owned() };
    let set = cfg
        .lines()
        .map(str::trim)
        .take_while(|l| !l.starts_with("menuentry ") && !l.starts_with("submenu "))
        .filter_map(|l| l.strip_prefix("set default="))
        .map(|v| v.trim_matches(['"', '\'']))
        .filter(|v| !v.contains("next_entry"))
        .last();
    match set {
        None => Ok("0".to_owned()),
        Some("${saved_entry}" | "$saved_entry") => {
            let env = grubenv.ok_or_else(|| none("it is the saved entry, and grubenv was not read"))?;
            let saved = env.lines().find_map(|l| l.strip_prefix("saved_entry=")).unwrap_or_default();
            Ok(if saved.is_empty() { "0".to_owned() } else { saved.to_owned() })
        }
        Some(v) if v.contains('$') => Err(none("it is computed when the machine starts")),
        Some("") => Ok("0".to_owned()),
        Some(v) => Ok(v.to_owned()),
    }
}

/// The entry that a default leads to: numbers, titles and ids, `>` between levels (`>>` is a `>` of a title).
pub(super) fn find<'a, 'b>(items: &'b [Item<'a>], default: &str) -> Result<&'b Item<'a>, BootError> {
    let none = |why: String| BootError::NoDefault { file: "grub.cfg", why };
    let marked = default.replace(">>", "\u{0}");
    let mut level = items;
    let mut found: Option<&Item<'a>> = None;
    for part in marked.split('>').take(MAX_DEPTH) {
        let part = part.replace('\u{0}', ">");
        let item = match part.trim().parse::<usize>() {
            Ok(n) => level.get(n),
            Err(_) => level.iter().find(|i| i.id.as_deref() == Some(part.as_str()) || i.title == part),
        };
        // GRUB takes the first where it does not find the one that is asked for.
        let item = item.or_else(|| level.first()).ok_or_else(|| none("the menu is empty".to_owned()))?;
        found = Some(item);
        level = item.below.as_deref().unwrap_or_default();
        if item.below.is_none() {
            break;
        }
    }
    let mut item = found.ok_or_else(|| none("the menu is empty".to_owned()))?;
    // A submenu as the default shows itself; its first entry is what starts.
    for _ in 0..MAX_DEPTH {
        let Some(below) = item.below.as_deref() else { break };
        item = below.first().ok_or_else(|| none(format!("the submenu {:?} is empty", item.title)))?;
    }
    Ok(item)
}
