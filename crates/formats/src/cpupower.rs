//! `cpupower frequency-info`: driver and governor of the processors that it was asked for, by default of one (cpupower, utils/cpufreq-info.c).

use crate::bounds::TEXT_ITEMS;
use crate::text::{At, decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `cpupower frequency-info`.
pub const TOOL: Tool = Tool {
    name: "cpupower",
    called: "cpupower",
    run: "cpupower -c all frequency-info",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[Mark::aside(|l| analysed(l).is_some() || governor(l.trim()).is_some())
        .begins(&["analyzing CPU ", "The governor "])],
    commands: &[Command::with("cpupower", &["frequency-info"])],
    files: &["cpupower"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "analyzing CPU 0:\n  driver: intel_pstate\n  current policy: frequency should be within 800 MHz and 3.80 GHz.\n                  The governor \"performance\" may decide which speed to use\n                  within this range.\n",
    ],
    ..Tool::NONE
};

/// What is shown of a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// Its number.
    pub id: u32,
    /// 1-based line that names it.
    pub line: u32,
    /// Frequency driver.
    pub driver: Option<At<String>>,
    /// Governor.
    pub governor: Option<At<String>>,
}

/// The processors of a text, each once.
pub fn parse(bytes: &[u8]) -> Vec<Processor> {
    let text = decode(bytes);
    let mut out: Vec<Processor> = Vec::new();
    for (line, raw) in lines(&text) {
        let raw = raw.trim();
        if let Some(id) = analysed(raw) {
            // Processors come in their order; another output begins anew.
            if out.len() >= TEXT_ITEMS || out.last().is_some_and(|p| p.id >= id) {
                break;
            }
            out.push(Processor { id, line, driver: None, governor: None });
            continue;
        }
        // The end of the text may be the middle of a word.
        let Some(last) = out.last_mut().filter(|_| !text.ends_with(raw)) else { continue };
        if let Some(driver) = raw.strip_prefix("driver: ").filter(|d| is_name(d)) {
            last.driver.get_or_insert_with(|| At::new(driver.to_owned(), line));
        } else if let Some(governor) = governor(raw) {
            last.governor.get_or_insert_with(|| At::new(governor.to_owned(), line));
        }
    }
    out
}

/// `analyzing CPU 0:`; from release 6.9 on with more behind it.
fn analysed(line: &str) -> Option<u32> {
    let id = line.strip_prefix("analyzing CPU ")?.strip_suffix(':')?;
    id.bytes().all(|b| b.is_ascii_digit()).then(|| id.parse().ok()).flatten()
}

/// `The governor "performance" may decide which speed to use`.
fn governor(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("The governor \"")?.split_once('"')?;
    (is_name(name) && rest.starts_with(" may decide which speed to use")).then_some(name)
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_with_driver_and_governor() {
        let one = |n: u32, g: &str| {
            format!(
                "analyzing CPU {n}:\n  driver: amd-pstate-epp\n  The governor \"{g}\" may decide which speed to use\n"
            )
        };
        let text = format!("$ cpupower -c all frequency-info\n{}{}", one(0, "performance"), one(1, "powersave"));
        let all = parse(text.as_bytes());
        let [a, b] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((a.id, a.line, a.driver.clone()), (0, 2, Some(At::new("amd-pstate-epp".to_owned(), 3))));
        assert_eq!(b.governor, Some(At::new("powersave".to_owned(), 7)));
        assert_eq!(parse(format!("{text}{text}").as_bytes()).len(), 2, "another output is another node's");
        assert_eq!(parse(b"analyzing CPU 0:\n  driver: intel_ps")[0].driver, None);
        assert_eq!(parse(b"analyzing CPU 0:\n  no or unknown cpufreq driver is active on this CPU\n")[0].driver, None);
    }

    #[test]
    fn prose_is_none() {
        for line in ["The governor \"performance\" is best", "analyzing CPU usage:", "driver: x"] {
            assert!(analysed(line).is_none() && governor(line).is_none(), "{line}");
        }
    }
}
