//! The arguments of `lab run` and `lab list`.

use super::Result;
use super::patience::Patience;
use linerate_formats::wildcard::star;
use std::path::PathBuf;
use std::time::Duration;

/// What the developer asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) jobs: usize,
    /// Factor on all time limits.
    patience: u32,
    /// Most seconds of the whole run.
    within: Option<u32>,
    /// Every case of a matrix, not a sample.
    pub(super) full: bool,
    pub(super) facts_only: bool,
    pub(super) keep: bool,
    pub(super) list: bool,
    /// Only the scenarios marked `ci = true`.
    pub(super) ci: bool,
    /// Each Nth of the scenarios, from the Kth on: K and N.
    part: (usize, usize),
    /// Boot nothing: judge what the last run left in `.lab/out`.
    pub(super) recheck: bool,
    pub(super) linerate: Option<PathBuf>,
    names: Vec<String>,
}

impl Options {
    pub(super) fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options {
            jobs: 2,
            patience: 1,
            within: None,
            full: false,
            facts_only: false,
            keep: false,
            list: false,
            ci: false,
            part: (1, 1),
            recheck: false,
            linerate: None,
            names: Vec::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--facts-only" => options.facts_only = true,
                "--keep" => options.keep = true,
                "--list" => options.list = true,
                "--ci" => options.ci = true,
                "--part" => options.part = part(args.next())?,
                "--recheck" => options.recheck = true,
                "--jobs" | "-j" => options.jobs = number(arg, args.next(), 64)? as usize,
                "--full" => options.full = true,
                "--patience" => options.patience = number(arg, args.next(), 100)?,
                "--within" => options.within = Some(number(arg, args.next(), 1_000_000)?),
                "--linerate" => options.linerate = Some(args.next().ok_or("--linerate needs a file")?.into()),
                flag if flag.starts_with('-') => {
                    return Err(format!("lab: no option {flag:?}; see cargo xtask lab help"));
                }
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// The time limits of a run that begins now.
    pub(super) fn limits(&self) -> Patience {
        Patience::new(self.patience, self.within.map(|s| Duration::from_secs(s.into())))
    }

    /// Was this scenario asked for?
    pub(super) fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|pattern| star(pattern.as_bytes(), name.as_bytes()))
    }

    /// Those of the scenarios that `--part` leaves.
    pub(super) fn of_part<T>(&self, chosen: impl Iterator<Item = T>) -> Vec<T> {
        chosen.skip(self.part.0 - 1).step_by(self.part.1).collect()
    }

    /// The names and patterns that match none of `known`: a typing error must not look like a pass.
    pub(super) fn unmatched<'a>(&'a self, known: &[&str]) -> Vec<&'a str> {
        self.names
            .iter()
            .map(String::as_str)
            .filter(|p| !known.iter().any(|name| star(p.as_bytes(), name.as_bytes())))
            .collect()
    }
}

fn part(text: Option<&String>) -> Result<(usize, usize)> {
    let parsed = text.and_then(|t| t.split_once('/')).and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    parsed
        .filter(|(k, n)| (1..=*n).contains(k))
        .ok_or_else(|| "lab: --part needs K/N, the Kth of N parts, such as 1/2".to_owned())
}

fn number(flag: &str, text: Option<&String>, most: u32) -> Result<u32> {
    let number = text.and_then(|n| n.parse().ok()).filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("lab: {flag} needs a number from 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_and_names() {
        let options = parse(&["--jobs", "3", "acs-*", "--keep", "--patience", "4", "--ci"]).unwrap();
        assert_eq!((options.jobs, options.keep, options.facts_only, options.patience), (3, true, false, 4));
        assert!(options.ci && !options.recheck);
        assert!(options.wants("acs-kernel") && !options.wants("vtd-off"));
        assert_eq!(options.unmatched(&["vtd-off"]), ["acs-*"]);
        assert!(parse(&[]).unwrap().wants("anything"));
    }

    #[test]
    fn each_scenario_is_in_one_part() {
        let of = |part| parse(&["--part", part]).unwrap().of_part(0..5);
        assert_eq!((of("1/2"), of("2/2"), of("1/1")), (vec![0, 2, 4], vec![1, 3], vec![0, 1, 2, 3, 4]));
        assert!(of("6/6").is_empty());
    }

    #[test]
    fn wrong_options_are_errors() {
        for args in [
            &["--jobs"][..],
            &["--jobs", "0"],
            &["--patience", "101"],
            &["--within", "0"],
            &["--jobs", "x"],
            &["--frobnicate"],
            &["--linerate"],
            &["--part", "0/2"],
            &["--part", "3/2"],
            &["--part", "1"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
