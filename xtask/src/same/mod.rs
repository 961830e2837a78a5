//! `cargo xtask same OLD NEW [--only VERB] [--samples N]`: what two builds of `linerate` say of the same inputs.
//!
//! A change that is to change nothing is held to that: every verb that reads is run by both programs over the examples, all nodes of `lab/nodes`, and the real inputs of
//! `../shared/data` where they exist. Answers that are not the same to the byte are counted by the place in the answer that differs, with samples. It judges nothing:
//! who meant to change something looks whether the list has that, and nothing else.

mod lines;

use crate::examples::{self, Taken};
use crate::shell::{self, Result};
use linerate_compose::Description;
use lines::Changes;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A name, the arguments before the input, and whether the answer is JSON.
type Verb = (&'static str, &'static [&'static str], bool);

const VERBS: &[Verb] = &[
    ("audit", &["audit"], false),
    ("audit-json", &["audit", "--format", "json"], true),
    ("topo", &["topo"], false),
    ("topo-json", &["topo", "--format", "json"], true),
    ("topo-nccl", &["topo", "--format", "xml"], false),
    ("plan-json", &["plan", "--format", "json"], true),
    ("env-json", &["env", "check", "--format", "json"], true),
    ("doctor-json", &["doctor", "--format", "json"], true),
];

/// Inputs that are larger are left out: a verb reads a text in a few milliseconds.
const LARGEST: u64 = 4 << 20;

pub(crate) fn run(args: &[String]) -> ExitCode {
    let (mut programs, mut only, mut samples) = (Vec::new(), None, 2);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => only = rest.next().cloned(),
            "--samples" => samples = rest.next().and_then(|n| n.parse().ok()).unwrap_or(samples),
            _ => programs.push(PathBuf::from(arg)),
        }
    }
    let [old, new] = programs.as_slice() else {
        eprintln!("usage: cargo xtask same OLD NEW [--only VERB] [--samples N]   (two programs)");
        return ExitCode::from(3);
    };
    shell::exit(compare(old, new, only.as_deref(), samples))
}

fn compare(old: &Path, new: &Path, only: Option<&str>, samples: usize) -> Result<()> {
    let place = shell::target().join("same");
    let mut inputs = composed(&place)?;
    println!("{} nodes of examples/ and lab/nodes", inputs.len());
    let real = shell::root().join("../shared/data");
    let before = inputs.len();
    files(&real, &mut inputs);
    match inputs.len() - before {
        0 => println!("{}: NOT there, real inputs are left out", real.display()),
        n => println!("{n} real inputs of ../shared/data"),
    }
    for verb in VERBS.iter().filter(|v| only.is_none_or(|o| o == v.0)) {
        let (equal, refused, changes) = over(verb, old, new, &inputs);
        println!("\n{}: {equal} equal, {refused} of them refused by both; {} differ", verb.0, inputs.len() - equal);
        print!("{}", changes.shown(samples));
    }
    Ok(())
}

/// How many answers are equal, how many of these are refusals, and where the others differ.
fn over(verb: &Verb, old: &Path, new: &Path, inputs: &[PathBuf]) -> (usize, usize, Changes) {
    let (next, equal, refused) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let changes = Mutex::new(Changes::default());
    let (old_args, new_args) = (schema_1(verb, old), schema_1(verb, new));
    let work = || {
        while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (a, b) = (answer(old, &old_args, input), answer(new, &new_args, input));
            let gives = a.0 != Some(3);
            if a == b {
                equal.fetch_add(1, Ordering::Relaxed);
                refused.fetch_add(usize::from(!gives), Ordering::Relaxed);
            } else if let Ok(mut all) = changes.lock() {
                all.add(&input.file_name().unwrap_or_default().to_string_lossy(), verb.2, &a, &b);
            }
        }
    };
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            s.spawn(work);
        }
    });
    (equal.into_inner(), refused.into_inner(), changes.into_inner().unwrap_or_default())
}

/// The verb's arguments; of an audit whose JSON has several schemas, the first one, which all programs write.
fn schema_1(verb: &Verb, program: &Path) -> Vec<&'static str> {
    let mut args = verb.1.to_vec();
    let help = Command::new(program).args([verb.1.first().unwrap_or(&"help"), &"--help"]).output();
    if verb.0 == "audit-json" && help.is_ok_and(|h| String::from_utf8_lossy(&h.stdout).contains("--schema")) {
        args.extend(["--schema", "1"]);
    }
    args
}

/// Exit code, what went to standard output, and what to standard error.
type Answer = (Option<i32>, String, String);

fn answer(program: &Path, args: &[&str], input: &Path) -> Answer {
    let out = Command::new(program).args(args).arg(input).stdin(Stdio::null()).env("NO_COLOR", "1").output();
    out.map_or((None, String::new(), String::new()), |o| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (o.status.code(), text(&o.stdout), text(&o.stderr))
    })
}

/// The examples, and the nodes of the lab as archives below `place`.
fn composed(place: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(place).map_err(|e| format!("{}: {e}", place.display()))?;
    let root = shell::root();
    let mut out = Vec::new();
    files(&root.join("examples"), &mut out);
    out.retain(|path| path.extension().is_some_and(|e| e == "zst"));
    let mut taken = Taken::default();
    let mut descriptions = BTreeMap::new();
    for dir in ["lab/nodes", "lab/nodes/healthy", "lab/nodes/broken"] {
        for entry in fs::read_dir(root.join(dir)).map_err(|e| format!("{dir}: {e}"))?.flatten() {
            if entry.path().extension().is_some_and(|e| e == "toml") {
                descriptions.insert(entry.path(), dir.replace('/', "-"));
            }
        }
    }
    for (path, dir) in descriptions {
        let tree =
            Description::load(&path).and_then(|d| d.compose()).map_err(|e| format!("{}: {e}", path.display()))?;
        let to = place.join(format!("{dir}-{}.tar.zst", path.file_stem().unwrap_or_default().to_string_lossy()));
        fs::write(&to, examples::archive(&tree, &mut taken)?).map_err(|e| format!("{}: {e}", to.display()))?;
        out.push(to);
    }
    Ok(out)
}

/// All files below a directory, by name.
fn files(dir: &Path, to: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        match fs::symlink_metadata(&path) {
            Ok(m) if m.is_dir() => files(&path, to),
            Ok(m) if m.is_file() && m.len() <= LARGEST => to.push(path),
            _ => {}
        }
    }
}
