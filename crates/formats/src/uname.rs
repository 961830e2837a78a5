//! `uname`: the release of the running kernel (coreutils, src/uname.c).

use crate::kernel_version::{self, KernelVersion};
use crate::text::{At, decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::{Kind, sniff};

/// `uname -a`, `uname -r`.
pub const TOOL: Tool = Tool {
    name: "uname",
    called: "uname",
    run: "uname -a",
    gives: Gives::Facts,
    // Scripts print it above what matters more.
    marks: &[Mark::aside(|l| of_all(l).is_some()).begins(&["Linux"])],
    commands: &[Command::any("uname")],
    files: &["uname"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "Linux gpu-1 6.8.0-60-generic #63-Ubuntu SMP PREEMPT_DYNAMIC Tue Apr 15 19:04:15 UTC 2025 x86_64 x86_64 x86_64 GNU/Linux\n",
        "$ uname -r\n6.8.0-60-generic\n",
    ],
    ..Tool::NONE
};

/// Machines, as `uname -m` names them.
const MACHINES: &[&str] =
    &["x86_64", "aarch64", "ppc64le", "ppc64", "s390x", "riscv64", "loongarch64", "i686", "armv7l", "armv8l"];

/// The release of the kernel: of a whole line of `uname -a`, of the line below a command `uname -r`, or of a text of one line.
pub fn parse(bytes: &[u8]) -> Option<At<KernelVersion>> {
    let text = decode(bytes);
    let all = || lines(&text).filter(|(_, raw)| !raw.trim().is_empty());
    if let Some(found) = all().find_map(|(line, raw)| Some(At::new(of_all(raw)?, line))) {
        return Some(found);
    }
    let is_command = |raw: &str| sniff::command(raw) == Some(Kind::Uname);
    let (line, raw) = match all().position(|(_, raw)| is_command(raw)) {
        Some(at) => all().nth(at + 1)?,
        None => all().next().filter(|_| all().nth(1).is_none())?,
    };
    // The end of the text may be the middle of the word.
    let whole = text.ends_with('\n') || !text.ends_with(raw);
    whole.then(|| of_some(raw)).flatten().map(|v| At::new(v, line))
}

/// `Linux HOST RELEASE #BUILD … MACHINE … GNU/Linux`.
fn of_all(line: &str) -> Option<KernelVersion> {
    let mut words = line.split_whitespace();
    words.next().filter(|w| *w == "Linux")?;
    words.next().filter(|host| *host != "version")?;
    let release = words.next().and_then(release)?;
    let build = words.next()?.strip_prefix('#')?;
    let rest: Vec<&str> = words.take(32).collect();
    let machine = rest.iter().any(|w| MACHINES.contains(w));
    let system = rest.last().is_some_and(|w| matches!(*w, "GNU/Linux" | "Linux") || MACHINES.contains(w));
    (build.starts_with(|c: char| c.is_ascii_digit()) && machine && system).then_some(release)
}

/// `6.8.0-60-generic`, with the words of few other options beside it.
fn of_some(line: &str) -> Option<KernelVersion> {
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    let known = |w: &&str| *w == "Linux" || MACHINES.contains(w);
    let mut releases = words.iter().filter(|w| !known(w));
    let found = releases.next().and_then(|w| release(w))?;
    (words.len() < 5 && releases.next().is_none()).then_some(found)
}

/// Three numbers at least, as every kernel since 3.0 has: `6.8` may be anything.
fn release(word: &str) -> Option<KernelVersion> {
    let numbers = word.split(['.', '-', '+']).take_while(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let good = numbers.count() >= 3 && word.len() <= 64 && word.bytes().all(|b| b.is_ascii_graphic());
    good.then(|| kernel_version::parse(word)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(String, u32)> {
        parse(text.as_bytes()).map(|v| (v.value.to_string(), v.line))
    }

    #[test]
    fn lines_of_the_tool() {
        let all = "Linux n1 5.14.0-427.13.1.el9_4.x86_64 #1 SMP PREEMPT_DYNAMIC Wed Apr 10 10:29:16 EDT 2024 x86_64 x86_64 x86_64 GNU/Linux";
        let release = "5.14.0-427.13.1.el9_4.x86_64";
        assert_eq!(of(all), Some((release.to_owned(), 1)));
        assert_eq!(of(&format!("# uname -a\n{all}\n")), Some((release.to_owned(), 2)));
        assert_eq!(
            of("Linux n 5.10.0-0-lts #1-Alpine SMP Mon x86_64 Linux\n").map(|f| f.0).as_deref(),
            Some("5.10.0-0-lts")
        );
        assert_eq!(of("root@n1:~# uname -r\n6.8.0-60-generic\nroot@n1:~#\n"), Some(("6.8.0-60-generic".to_owned(), 2)));
        assert_eq!(of("$ uname -srm\nLinux 6.8.0-60-generic x86_64\n"), Some(("6.8.0-60-generic".to_owned(), 2)));
        assert_eq!(of("6.8.0-60-generic\n"), Some(("6.8.0-60-generic".to_owned(), 1)));
    }

    #[test]
    fn prose_and_parts_are_none() {
        for text in [
            "Linux n1 6.8.0 is what we run",
            "Linux version 6.8.0-60-generic (buildd@x) #63 SMP x86_64 GNU/Linux",
            "Linux gpu 6.8.0-60-generic #63 SMP",
            "$ uname -r\n6.8.0-60-gen",
            "$ uname -r\nsh: uname: not found\n",
            "$ uname -r\n",
            "6.8.0\n6.8.1\n",
            "we run 6.8.0-60-generic\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
