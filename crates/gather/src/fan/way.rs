//! What the way to the program says, and the bytes behind it.

use super::{Collector, Options};
use crate::Target;
use linerate_formats::bounds::{FLEET_NOISE, FLEET_SNAPSHOT};
use linerate_out::child::Need;
use linerate_snapshot::capture::Purpose;
use linerate_transport::{Command, chance};

/// The script. A constant: what it is about comes as its arguments.
const WAY: &str = include_str!("way.sh");
/// What the script says instead of a program's output begins so, behind the word that marks it.
const WORD: &str = "linerate-way";
/// Characters kept of a host's words: a line of the dynamic linker with two paths fits.
const BRIEF: usize = 400;

/// What the script did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// A program began: what follows is its output.
    Begin {
        /// It is installed there, not in the cache.
        installed: bool,
        /// The user that it runs as: `sudo`, or a number.
        user: String,
    },
    /// It is not there, and could be pushed.
    Missing(String),
    /// None of the programs is for that machine.
    Foreign(String),
    /// No program can be pushed there or runs there, and why.
    Cannot(String),
}

/// Why no more is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enough {
    /// It prints without saying what.
    Noise,
    /// It is larger than a snapshot may be.
    Endless,
    /// The run ends.
    Cancelled,
}

/// Takes the output of the script: what hosts print before it is passed over, up to a limit.
#[derive(Debug)]
pub(super) struct Ear {
    mark: String,
    line: Vec<u8>,
    noise: usize,
    pub(super) said: Option<Said>,
    pub(super) bytes: Vec<u8>,
}

impl Ear {
    pub(super) fn new(nonce: &str) -> Self {
        Ear { mark: format!("{WORD} {nonce} "), line: Vec::new(), noise: 0, said: None, bytes: Vec::new() }
    }

    /// # Errors
    /// There is more than may be.
    pub(super) fn hear(&mut self, mut piece: &[u8]) -> Result<(), Enough> {
        while self.said.is_none() && !piece.is_empty() {
            let (head, end) = match piece.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (piece.len(), false),
            };
            let (head, rest) = piece.split_at_checked(head).unwrap_or((piece, &[]));
            self.noise += head.len();
            if self.noise > FLEET_NOISE {
                return Err(Enough::Noise);
            }
            self.line.extend_from_slice(head);
            piece = rest;
            if end {
                self.said = said(&String::from_utf8_lossy(&self.line), &self.mark);
                self.line.clear();
            }
        }
        if self.bytes.len() + piece.len() > FLEET_SNAPSHOT {
            return Err(Enough::Endless);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

/// A banner without a line's end may stand before it.
fn said(line: &str, mark: &str) -> Option<Said> {
    let (_, said) = line.trim_end().split_once(mark)?;
    let (_, rest) = said.split_once(' ').unwrap_or((said, ""));
    let mut words = said.split(' ');
    let plain = |w: Option<&str>| -> String {
        w.unwrap_or_default().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(20).collect()
    };
    Some(match words.next()? {
        "begin" => Said::Begin { installed: words.next() == Some("installed"), user: plain(words.next()) },
        "missing" => Said::Missing(plain(words.next())),
        "foreign" => Said::Foreign(plain(words.next())),
        "cannot" => Said::Cannot(format!("the program does not run on the host: {}", brief(rest))),
        "no-home" => Said::Cannot("the user has no home directory".to_owned()),
        "no-digest" => {
            let why = "no program on the host makes SHA-256 sums, so no program can be checked before it runs";
            Said::Cannot(why.to_owned())
        }
        _ => return None,
    })
}

/// Words of a host: without control characters and secrets, and not many of them.
fn brief(words: &str) -> String {
    let words: String = words.chars().filter(|c| !c.is_control()).take(BRIEF).collect();
    linerate_snapshot::without_secrets(&words).into_owned()
}

/// The script with its arguments, and the word that marks what it says.
pub(super) fn command(target: &Target, options: &Options) -> (Command, Ear) {
    let nonce = chance();
    let words = ["sh", "-c", WAY, "linerate-way", &nonce];
    let flags = [
        if target.sudo { "sudo" } else { "-" },
        if options.leave_nothing { "leave" } else { "keep" },
        if options.collector == Collector::Given { "-" } else { "installed" },
        options.version.as_str(),
    ];
    let programs = options.programs.iter().map(|p| format!("{}:{}", p.machine, p.digest));
    let run = ["--", "collect", "--quiet", "--output", "-"]
        .into_iter()
        .chain((!options.redact_there()).then_some("--no-redact"))
        .chain((options.purpose == Purpose::Counters).then_some("--counters"));
    let argv = words.into_iter().chain(flags).map(str::to_owned).chain(programs).chain(run.map(str::to_owned));
    let command = Command::new(argv).limit(options.limit).need(Need::Plain).tidy();
    (command, Ear::new(&nonce))
}

/// Runs the collector that is a script, below sudo where that is allowed.
const AS: &str = r#"
if [ "$1" = sudo ] && [ "$(id -u)" != 0 ] && sudo -n true </dev/null >/dev/null 2>&1; then
    exec sudo -n -- sh -c "$2" linerate-collect "$3"
fi
exec sh -c "$2" linerate-collect "$3"
"#;

/// The collector that is a script, and the word that marks what it says.
pub(super) fn script(target: &Target, options: &Options) -> (Command, Ear, String) {
    let nonce = chance();
    let sudo = if target.sudo { "sudo" } else { "-" };
    let argv = ["sh", "-c", AS, "linerate-script", sudo, linerate_snapshot::capture::posix::script(), &nonce];
    let command = Command::new(argv).limit(options.limit).need(Need::Plain);
    (command, Ear::new(&nonce), nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&[u8]]) -> (Result<(), Enough>, Ear) {
        let mut ear = Ear::new("abc");
        let ended = pieces.iter().try_for_each(|p| ear.hear(p));
        (ended, ear)
    }

    #[test]
    fn what_is_printed_before_is_no_part() {
        let (ended, ear) = heard(&[
            b"Welcome!\nlinerate-way xyz begin cache 0\n$ lin",
            b"erate-way abc begin installed 10",
            b"00\n\x28\xb5\n",
            b"\nx",
        ]);
        assert_eq!(ended, Ok(()));
        assert_eq!(ear.said, Some(Said::Begin { installed: true, user: "1000".into() }));
        assert_eq!(ear.bytes, b"\x28\xb5\n\nx");
        assert_eq!(
            heard(&[b"linerate-way abc missing x86_64\x1b[2J\n"]).1.said,
            Some(Said::Missing("x86_642J".into()))
        );
        assert_eq!(heard(&[b"linerate-way abc\n", b"linerate-way abc what\n"]).1.said, None);
        let long = format!("linerate-way abc cannot \x1b[2Jno {}\n", "x".repeat(4000));
        let Some(Said::Cannot(why)) = heard(&[long.as_bytes()]).1.said else { panic!("nothing was heard") };
        assert!(why.starts_with("the program does not run on the host: [2Jno x") && why.len() < 500, "{why}");
    }

    #[test]
    fn nobody_is_listened_to_for_ever() {
        let noise = vec![b'x'; 40 << 10];
        assert_eq!(heard(&[&noise, &noise]).0, Err(Enough::Noise));
        let more = vec![0; 1 << 20];
        let mut ear = Ear::new("abc");
        ear.hear(b"linerate-way abc begin cache 0\n").unwrap();
        assert_eq!((0..65).try_for_each(|_| ear.hear(&more)), Err(Enough::Endless));
    }
}
