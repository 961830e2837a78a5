//! How wide text is, about: there is no font here to ask, so it is taken as wide as a wide sans-serif would set it.

/// Width in pixels of a text in a proportional font of `size` pixels.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    text.chars().map(em).sum::<f32>() * size
}

/// The same in a monospaced font.
pub(crate) fn mono(text: &str, size: f32) -> f32 {
    text.chars().map(|c| if c.is_ascii() { 0.61 } else { 1.05 }).sum::<f32>() * size
}

fn em(c: char) -> f32 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | 'I' | ' ' | '·' => 0.35,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' | '+' | '<' | '>' | '=' | '~' | '#' => 0.76,
        c if c.is_ascii() => 0.63,
        '→' | '–' => 0.85,
        _ => 1.05,
    }
}

/// The text, or as much of it as has room, with an ellipsis.
pub(crate) fn fit(text: &str, size: f32, room: f32) -> String {
    cut(text, room, |t| width(t, size))
}

/// The same in a monospaced font.
pub(crate) fn fit_mono(text: &str, size: f32, room: f32) -> String {
    cut(text, room, |t| mono(t, size))
}

fn cut(text: &str, room: f32, width: impl Fn(&str) -> f32) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = width("…");
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        short.push(c);
    }
    let mut short = short.trim_end().to_owned();
    short.push('…');
    short
}

/// The text in lines of `room` pixels, broken at spaces.
pub(crate) fn wrap(text: &str, size: f32, room: f32, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || width(&longer, size) <= room {
            line = longer;
        } else {
            out.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    out.push(line);
    if out.len() > lines {
        out.truncate(lines);
        if let Some(last) = out.last_mut() {
            last.push_str(" …");
        }
    }
    out.iter().map(|l| fit(l, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_its_room() {
        assert_eq!(fit("mlx5_0", 12.0, 100.0), "mlx5_0");
        let short = fit(&"mlx5_0+".repeat(20), 12.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0 && short.len() > 8, "{short}");
        assert_eq!(fit("abc", 12.0, 0.0), "…");
    }

    #[test]
    fn text_is_broken_at_spaces() {
        let lines = wrap("one two three four", 10.0, 50.0, 9);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 10.0) <= 50.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four");
        assert_eq!(wrap("a b c d e f", 10.0, 7.0, 2).len(), 2);
    }
}
