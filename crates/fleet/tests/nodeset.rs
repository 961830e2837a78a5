//! Sets of nodes beside ClusterShell's own library and its program `nodeset`: the same sets, the same text.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

use linerate_fleet::NodeSet;
use linerate_fleet::nodeset::{Groups, Why, names_of, parse};
use std::io::Write;
use std::process::{Command, Stdio};

/// Answers each line with the folded set and its names, or `!` and the error. Groups are those of [`Site`].
const ORACLE: &str = r#"
import sys
from ClusterShell.NodeSet import NodeSet
from ClusterShell.NodeUtils import GroupResolver, GroupSource
groups = {"gpu": "gpu[1-4],gpu9", "rack1": "gpu[1-2]", "rack2": "gpu[3-4]", "all": "gpu[1-12],login1,n[01-20]b[1-2]"}
other = {"b": "@gpu,x1", "gpu": "s[1-2]", "all": "s[1-2],x1"}
site = GroupResolver(GroupSource("site", groups, groups["all"]))
site.add_source(GroupSource("s", other, other["all"]))
for line in sys.stdin:
    try:
        n = NodeSet(line[:-1], resolver=site)
        print(n, " ".join(n), sep="\t")
    except AssertionError as e:
        print("!range", e)
    except Exception as e:
        print("!" + type(e).__name__, e)
"#;

struct Site;

impl Groups for Site {
    fn group(&self, source: Option<&str>, name: &str) -> Option<Vec<String>> {
        let text = match (source, name) {
            (None | Some("site"), "gpu") => "gpu[1-4],gpu9",
            (None | Some("site"), "rack1") => "gpu[1-2]",
            (None | Some("site"), "rack2") => "gpu[3-4]",
            (Some("s"), "b") => "@gpu,x1",
            (Some("s"), "gpu") => "s[1-2]",
            _ => return None,
        };
        Some(vec![text.to_owned()])
    }

    fn all(&self, source: Option<&str>) -> Option<Vec<String>> {
        match source {
            None | Some("site") => Some(vec!["gpu[1-12],login1,n[01-20]b[1-2]".to_owned()]),
            Some("s") => Some(vec!["s[1-2],x1".to_owned()]),
            Some(_) => None,
        }
    }
}

/// Its answers, line for line; `None`: it is not here.
fn clustershell(lines: &[String]) -> Option<Vec<String>> {
    let python = ["/usr/bin/python3", "python3"].into_iter().find(|p| {
        let mut c = Command::new(p);
        c.args(["-c", "import ClusterShell.NodeSet"]).stderr(Stdio::null());
        c.status().is_ok_and(|s| s.success())
    });
    let Some(python) = python else {
        println!("SKIPPED: no ClusterShell: install Debian's clustershell, `cargo xtask test` does");
        return None;
    };
    let mut c = Command::new(python);
    let mut child = c.args(["-c", ORACLE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = lines.concat_lines();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(out.status.success());
    let answers: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), lines.len());
    Some(answers)
}

trait Lines {
    fn concat_lines(&self) -> String;
}

impl Lines for [String] {
    fn concat_lines(&self) -> String {
        self.iter().flat_map(|l| [l.as_str(), "\n"]).collect()
    }
}

/// Expressions by chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn number(&mut self, width: usize) -> String {
        let top = self.one(&[4, 12, 120]);
        format!("{:0width$}", self.below(top))
    }

    fn range(&mut self) -> String {
        let width = self.one(&[1, 1, 1, 2, 3]);
        let parts = 1 + self.below(3);
        let part = |s: &mut Self| {
            let a = s.below(30);
            let b = a + s.below(20).max(u64::from(a == 0));
            match s.below(8) {
                0..3 => s.number(width),
                3 => format!("{a:0width$}-{b:0width$}/{}", 1 + s.below(4)),
                4 => format!("{a}-{b:0width$}"),
                _ => format!("{a:0width$}-{b:0width$}"),
            }
        };
        let parts: Vec<String> = (0..parts).map(|_| part(self)).collect();
        format!("[{}]", parts.join(self.one(&[",", ",", ", "])))
    }

    fn name(&mut self, text: &[&str]) -> String {
        let mut out = self.one(text).to_owned();
        for between in ["", "b", "-ib"] {
            if self.below(3) == 0 {
                break;
            }
            out += between;
            let width = self.one(&[1, 1, 2]);
            out += &if self.below(3) == 0 { self.number(width) } else { self.range() };
            if self.below(12) == 0 {
                out += &self.number(1);
            }
        }
        out + self.one(&["", "", "", "-m", "%"])
    }

    fn expression(&mut self, groups: bool) -> String {
        let mut out = String::new();
        for i in 0..=self.below(6) {
            if i > 0 {
                out += self.one(&[",", ",", ",", "!", "&", "^", " , "]);
            }
            out += &match self.below(if groups { 6 } else { 3 }) {
                3 => {
                    self.one(&["@gpu", "@rack1", "@rack[1-2]", "@s:gpu", "@s:b", "@*", "@s:*", "@site:gpu"]).to_owned()
                }
                4 => self.one(&["gpu*", "*1", "gpu?", "g*[1-3]", "n0?b*", "*", "n[01-20]*", "?*9"]).to_owned(),
                _ => self.name(if groups { &["gpu", "n", "x"] } else { &["a", "b", "rack", ""] }),
            };
        }
        if self.below(12) == 0 {
            // A wrong one, most of the time.
            let at = usize::try_from(self.below(out.len() as u64 + 1)).unwrap();
            if out.is_char_boundary(at) {
                out.insert_str(at, self.one(&["[", "]", ",", "!", "-", "/", "0", "1", " ", "[]"]));
            }
        }
        out
    }
}

/// Many sparse names with two numbers: folding has no easy way.
fn sparse(chance: &mut Chance) -> String {
    let n = 2 + chance.below(60);
    let axis = 2 + chance.below(8);
    let names: Vec<String> = (0..n).map(|_| format!("r{}n{}", chance.below(axis), chance.below(2 * axis))).collect();
    names.join(",")
}

/// Three numbers, some padded.
fn deep(chance: &mut Chance) -> String {
    let n = 2 + chance.below(40);
    let one = |c: &mut Chance| format!("a{}b{:02}c{}", c.below(3), c.below(3), c.below(12));
    (0..n).map(|_| one(chance)).collect::<Vec<_>>().join(",")
}

/// What is refused on purpose where ClusterShell makes something of it.
const STRICTER: &[Why] = &[Why::Digits, Why::Character, Why::Number, Why::EmptyRange, Why::Group];

#[test]
fn the_same_sets_and_the_same_text_as_clustershell() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut texts: Vec<String> = (0..10_000).map(|i| chance.expression(i % 3 == 0)).collect();
    texts.extend((0..1_000).map(|_| sparse(&mut chance)));
    texts.extend((0..400).map(|_| deep(&mut chance)));
    let Some(answers) = clustershell(&texts) else { return };
    let (mut same, mut refused, mut stricter, mut ranges) = (0, 0, 0, 0);
    for (text, answer) in texts.iter().zip(&answers) {
        let got = parse(text, &Site);
        match (got, answer.split_once('\t')) {
            (Ok(set), Some((fold, names))) => {
                let theirs: NodeSet = names.split_whitespace().collect();
                assert_eq!(set, theirs, "{text:?}");
                assert_eq!(set.to_string(), fold, "{text:?}");
                assert_eq!(parse(fold, &Site).unwrap(), set, "{text:?}");
                same += 1;
                ranges += usize::from(fold.contains('['));
            }
            (Err(_), None) => refused += 1,
            (Err(e), Some(_)) if STRICTER.contains(&e.why) => stricter += 1,
            (got, _) => panic!("{text:?}: {:?}, ClusterShell: {answer}", got.map(|s| s.to_string())),
        }
    }
    println!("{same} the same ({ranges} with ranges), {refused} refused by both, {stricter} by us alone");
    assert!(same > 8_000 && refused > 300 && stricter < 200, "{same} {refused} {stricter}");
}

/// The program, with two sets.
#[test]
fn operations_are_those_of_the_program_nodeset() {
    if Command::new("nodeset").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: no nodeset: install Debian's clustershell, `cargo xtask test` does");
        return;
    }
    let nodeset = |args: &[&str]| {
        let out = Command::new("nodeset").args(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    };
    let mut chance = Chance(77);
    let mut done = 0;
    while done < 8 {
        let [a, b] = [chance.name(&["a", "b"]), chance.name(&["a", "b"])];
        let (Ok(one), Ok(other)) = (names_of(&a), names_of(&b)) else { continue };
        done += 1;
        assert_eq!(nodeset(&["-f", &a, &b]), one.clone().union(other.clone()).to_string(), "{a} {b}");
        assert_eq!(nodeset(&["-f", &a, "-x", &b]), one.clone().difference(&other).to_string(), "{a} {b}");
        assert_eq!(nodeset(&["-f", &a, "-i", &b]), one.clone().intersection(&other).to_string(), "{a} {b}");
        assert_eq!(
            nodeset(&["-f", &a, "-X", &b]),
            one.clone().symmetric_difference(other.clone()).to_string(),
            "{a} {b}"
        );
        let expanded: NodeSet = nodeset(&["-e", &a]).split_whitespace().collect();
        assert_eq!(expanded, one, "{a}");
        assert_eq!(nodeset(&["-c", &a]), one.len().to_string(), "{a}");
    }
}
