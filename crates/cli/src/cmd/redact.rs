//! `linerate redact`.

use crate::output::{Failure, Standard};
use crate::redact_args::{RedactArgs, RedactCommand, RevealArgs};
use linerate_snapshot::RedactKey;
use std::io::{BufRead, IsTerminal, Write};

pub(crate) fn run(a: &RedactArgs) -> Result<u8, Failure> {
    match &a.command {
        RedactCommand::Reveal(a) => reveal(a),
    }
}

fn reveal(a: &RevealArgs) -> Result<u8, Failure> {
    if !a.redact_key.exists() {
        return Err(Failure::new(format!("the key file {} does not exist", a.redact_key.display()))
            .hint("name the file that `collect --redact-key` made"));
    }
    let key = RedactKey::open(&a.redact_key).map_err(|e| Failure::new(e.to_string()))?;
    let is_terminal = std::io::stdout().is_terminal();
    let (mut out, mut found) = (Standard::new(), 0);
    let mut line = |text: &str| {
        let (new, n) = key.reveal(text);
        found += n;
        // Names are those of nodes: for a person they are shown as all that nodes say.
        match (is_terminal, new.strip_suffix('\n')) {
            (true, Some(line)) => writeln!(out, "{}", linerate_out::terminal(line)),
            (true, None) => write!(out, "{}", linerate_out::terminal(&new)),
            (false, _) => out.write_all(new.as_bytes()),
        }
    };
    if a.words.is_empty() {
        let mut stdin = std::io::stdin().lock();
        let mut text = Vec::new();
        // A line that is no text is none of ours, and passes as it is read.
        while stdin
            .read_until(b'\n', &mut text)
            .map_err(|e| Failure::new(format!("cannot read standard input: {e}")))?
            > 0
        {
            line(&String::from_utf8_lossy(&text))?;
            text.clear();
        }
    } else {
        a.words.iter().try_for_each(|w| line(&format!("{w}\n")))?;
    }
    out.flush()?;
    Ok(u8::from(found == 0))
}
