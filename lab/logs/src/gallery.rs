//! Every form of a release once, with values of the right kinds: what a reader must know, whether or not a scenario prints it.

use crate::forms::{Level, forms};
use crate::head::{Origin, Speaker, info, warn};
use crate::printf::{Kind, Piece, PrintfError, Value};
use crate::release::Release;
use crate::rng::Rng;

/// A line for each form that a release prints, with the form's id. Texts of `%s` are words that say what they stand for: `<hca>`.
///
/// # Errors
/// A row of the table that does not fit itself; a test renders them all.
pub fn lines(release: Release, seed: u64) -> Result<Vec<(&'static str, String)>, PrintfError> {
    let mut rng = Rng::named(seed, "gallery");
    let who = Speaker { host: "node01", pid: 4242, tid: 4299, dev: 0 };
    let mut out = Vec::new();
    for form in forms().iter().filter(|f| f.holds(release)) {
        let mut names = form.arguments.iter();
        let mut values = Vec::new();
        for piece in form.format.pieces() {
            let Piece::Conversion { kind, star, .. } = piece else { continue };
            if *star {
                names.next();
                values.push(Value::Int(3));
            }
            let name = names.next().copied().unwrap_or("");
            values.push(match kind {
                Kind::Text | Kind::Pasted => match name.strip_prefix('\'') {
                    Some(constant) => constant.trim_end_matches('\'').into(),
                    None => format!("<{name}>").into(),
                },
                Kind::Fixed => Value::Float(rng.unit() * 100.0),
                Kind::Signed | Kind::Unsigned => Value::Int(rng.below(64) as i64),
                Kind::Hex | Kind::HexUpper | Kind::Pointer => Value::Uint(1 + rng.below(1 << 40)),
            });
        }
        let text = form.format.render(&values)?;
        let origin =
            Origin { file: "misc/socket.cc".into(), line: 1 + rng.below(2000) as u32, function: "ncclFunction".into() };
        let line = match form.level {
            Level::Info => info(release, &who, None, &text),
            Level::InfoLocated => {
                info(release, &who, None, &format!("{}:{} ({}) {text}", origin.file, origin.line, origin.function))
            }
            Level::Warn => warn(release, &who, "2025-03-01 10:00:00", &origin, &text),
            Level::Version => text + "\n",
            Level::Printf => text,
            Level::Part | Level::Macro(_) => continue,
        };
        out.push((form.id, line));
    }
    Ok(out)
}
