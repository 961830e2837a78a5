//! The tests that take longest, of `slow.tsv`, have a step of their own: `cargo xtask test --slow`.

use super::pool::Program;
use crate::shell::Result;

const SLOW: &str = include_str!("slow.tsv");

/// Programs of tests, as [`Program`] names them, and a test of each, or a module.
fn listed() -> impl Iterator<Item = (&'static str, &'static str)> {
    SLOW.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t'))
}

/// The programs, with what is asked of them: their slow tests, or the others. And how many slow ones there are.
pub(super) fn share(programs: Vec<Program>, is_slow: bool) -> Result<(Vec<Program>, usize)> {
    if let Some((name, _)) = listed().find(|(name, _)| !programs.iter().any(|p| p.name == *name)) {
        return Err(format!("xtask/src/test/slow.tsv: there is no program of tests called {name}"));
    }
    let (mut chosen, mut count) = (Vec::new(), 0);
    for mut program in programs {
        let slow: Vec<&str> = listed().filter(|(name, _)| *name == program.name).map(|(_, test)| test).collect();
        // Nothing is asked of the many that have none.
        let tests = if slow.is_empty() { Vec::new() } else { program.tests()? };
        let (args, slow) = asked(&tests, &slow, is_slow)
            .map_err(|test| format!("xtask/src/test/slow.tsv: {} has no {test}", program.name))?;
        count += slow;
        if let Some(args) = args {
            program.args = args;
            chosen.push(program);
        }
    }
    Ok((chosen, count))
}

/// Arguments of a program with these tests, `None` where none is to run, and how many are slow; or what is listed and is not there.
fn asked<'l>(
    tests: &[String],
    listed: &[&'l str],
    is_slow: bool,
) -> std::result::Result<(Option<Vec<String>>, usize), &'l str> {
    let is_of =
        |test: &str, l: &str| test.strip_prefix(l).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    if let Some(none) = listed.iter().find(|l| !tests.iter().any(|t| is_of(t, l))) {
        return Err(none);
    }
    let slow: Vec<&String> = tests.iter().filter(|t| listed.iter().any(|l| is_of(t, l))).collect();
    let count = slow.len();
    let args = match (is_slow, count) {
        (true, 0) => None,
        (false, 0) => Some(Vec::new()),
        (false, n) if n == tests.len() => None,
        // By whole names: else one is looked for anywhere in a name.
        (true, _) => Some(slow.into_iter().cloned().chain(["--exact".to_owned()]).collect()),
        (false, _) => {
            let skip = slow.into_iter().flat_map(|t| ["--skip".to_owned(), t.clone()]);
            Some(skip.chain(["--exact".to_owned()]).collect())
        }
    };
    Ok((args, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_runs_in_one_of_the_steps() {
        let tests: Vec<String> = ["a::one", "a::one_more", "a::two::x", "b"].map(str::to_owned).into();
        let ask = |listed: &'static [&'static str], is_slow| {
            let asked = asked(&tests, listed, is_slow);
            asked.map(|(args, count)| (args.map(|a| a.join(" ")), count))
        };
        let some = |args: &str, count| Ok((Some(args.to_owned()), count));
        assert_eq!(ask(&[], false), some("", 0));
        assert_eq!(ask(&[], true), Ok((None, 0)));
        assert_eq!(ask(&["a::one", "a::two"], true), some("a::one a::two::x --exact", 2));
        assert_eq!(ask(&["a::one", "a::two"], false), some("--skip a::one --skip a::two::x --exact", 2));
        assert_eq!(ask(&["a", "b"], false), Ok((None, 4)));
        assert_eq!(ask(&["a::on"], false), Err("a::on"));
    }

    #[test]
    fn the_list_is_read() {
        assert_eq!(listed().count(), SLOW.lines().filter(|l| !l.starts_with('#')).count());
        assert!(listed().count() > 20);
    }
}
