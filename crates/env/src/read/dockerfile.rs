//! `ENV` of a Dockerfile. `RUN export …` ends with its layer, and sets nothing.

use super::Sink;
use super::list::is_name;
use super::words::Word;

pub(super) fn read(text: &str, out: &mut Sink) {
    super::words::commands(text, 1, &mut |part| out.part(part, instruction));
}

fn instruction(words: &[Word], out: &mut Sink) {
    let Some(((first, _), rest)) = words.split_first() else { return };
    if first.eq_ignore_ascii_case("FROM") {
        // Another stage.
        out.next_scope();
    }
    if !first.eq_ignore_ascii_case("ENV") {
        return;
    }
    match rest {
        // The old form: one name, and the rest of the line.
        [(name, line), value @ ..] if is_name(name) => {
            let value: Vec<&str> = value.iter().map(|(w, _)| w.as_str()).collect();
            out.put(name, &value.join(" "), Some(*line));
        }
        list => {
            for (word, line) in list {
                if let Some((name, value)) = word.split_once('=').filter(|(n, _)| is_name(n)) {
                    out.put(name, value, Some(*line));
                }
            }
        }
    }
}
