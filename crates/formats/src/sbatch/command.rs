//! Commands of a script that start ranks, and its limit of locked memory.

use super::option::{Of, Options};
use super::words::{Shell, Word};
use super::{Memlock, Script};
use crate::limits::Limit;
use crate::text::At;
use serde::Serialize;
use std::collections::HashMap;

/// A command that starts ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// 1-based line.
    pub line: u32,
    /// What starts them.
    pub launcher: Launcher,
    /// Its own options; for the rest Slurm takes the job's.
    pub options: Options,
    /// Where a variable may hold further options.
    pub open: Option<u32>,
    /// torchrun, alone or started by the launcher.
    pub torchrun: Option<At<Processes>>,
}

/// A program that starts ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Launcher {
    /// Slurm's.
    Srun,
    /// An MPI's.
    Mpirun,
    /// PyTorch's, by itself.
    Torchrun,
}

impl Launcher {
    /// The program.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Launcher::Srun => "srun",
            Launcher::Mpirun => "mpirun",
            Launcher::Torchrun => "torchrun",
        }
    }
}

/// Numbers that variables of a script have: `NGPUS=8`.
#[derive(Default)]
pub(super) struct Numbers(HashMap<String, String>);

/// A script has fewer.
const VARIABLES: usize = 4096;

impl Numbers {
    /// What `$NAME` and `${NAME}` are, where that is known.
    pub(super) fn of<'v>(&'v self, value: &'v str) -> &'v str {
        let name = value.strip_prefix('$').map(|n| n.strip_prefix('{').and_then(|n| n.strip_suffix('}')).unwrap_or(n));
        name.and_then(|n| self.0.get(n)).map_or(value, String::as_str)
    }

    /// Takes an assignment. One that a condition may decide, and one of something else, takes the number away.
    fn take(&mut self, word: &str, is_inner: bool) {
        let Some((name, value)) = word.split_once('=') else { return };
        let is_number = (1..=9).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
        if is_number && !is_inner && self.0.len() < VARIABLES {
            self.0.insert(name.to_owned(), value.to_owned());
        } else {
            self.0.remove(name);
        }
    }
}

/// How many processes torchrun starts (`--nproc-per-node`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// So many; 1 where nothing is said.
    Number(u64),
    /// One for each GPU that it sees: `gpu`, `auto`.
    PerGpu,
    /// One for each GPU that the job has on the node: `$SLURM_GPUS_ON_NODE`, `$SLURM_GPUS_PER_NODE`.
    GpusOnNode,
    /// One for each task that the job has on a node: `$SLURM_NTASKS_PER_NODE`.
    TasksPerNode,
    /// A variable.
    Unknown,
}

/// Reads commands line by line.
#[derive(Default)]
pub(super) struct Commands {
    shell: Shell,
    goes_on: bool,
    /// The word that ends a document within the script (`<<EOF`).
    until: Option<String>,
    numbers: Numbers,
}

impl Commands {
    /// Whether the next line belongs to what is open.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on || self.until.is_some()
    }

    /// Reads a line.
    pub(super) fn line(&mut self, raw: &str, number: u32, script: &mut Script) {
        if let Some(end) = &self.until {
            if raw.trim() == end {
                self.until = None;
            }
            return;
        }
        let is_inner = !self.goes_on && raw.starts_with([' ', '\t']);
        let (until, numbers) = (&mut self.until, &mut self.numbers);
        self.goes_on = self.shell.line(raw, number, |words| {
            *until = until.take().or_else(|| document(&words));
            command(&words, is_inner, numbers, script);
        });
    }

    /// Ends what the text ends in.
    pub(super) fn end(&mut self, script: &mut Script) {
        let numbers = &mut self.numbers;
        self.shell.end(&mut |words| command(&words, true, numbers, script));
    }
}

/// The word that ends the document that a command reads: `<<EOF`, `<< EOF`, `<<-EOF`. `<<<` reads a word.
fn document(words: &[Word]) -> Option<String> {
    // `$((1 << n))` shifts bits.
    if words.iter().any(|w| w.text.contains("((")) {
        return None;
    }
    let mut all = words.iter().map(|w| w.text.as_str());
    while let Some(word) = all.next() {
        let before = |b: &str| b.bytes().all(|c| c.is_ascii_digit());
        let Some((_, rest)) = word.split_once("<<").filter(|(b, r)| before(b) && !r.starts_with('<')) else { continue };
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let end = if rest.is_empty() { all.next()? } else { rest };
        let end = end.split('>').next().unwrap_or(end);
        return Some(end.to_owned()).filter(|e| !e.is_empty());
    }
    None
}

const LAUNCHERS: [&str; 5] = ["srun", "mpirun", "mpiexec", "orterun", "prterun"];

/// Programs that start the program that they are given.
const WRAPPERS: [&str; 14] = [
    "timeout",
    "stdbuf",
    "numactl",
    "taskset",
    "nsys",
    "ncu",
    "uv",
    "poetry",
    "pixi",
    "conda",
    "singularity",
    "apptainer",
    "podman",
    "docker",
];

/// Words that stand before a command and change nothing of what is read here.
const BEFORE: [&str; 12] = ["time", "exec", "nohup", "sudo", "env", "then", "else", "do", "if", "while", "!", "{"];

fn command(all: &[Word], is_inner: bool, numbers: &mut Numbers, script: &mut Script) {
    let is_before = |w: &&Word| BEFORE.contains(&w.text.as_str()) || is_assignment(&w.text);
    let skipped = all.iter().take_while(is_before).count();
    let is_inner = is_inner || all.iter().take(skipped).any(|w| !is_assignment(&w.text));
    let words = all.get(skipped..).unwrap_or_default();
    // `A=1`, `export A=1 B=2`.
    let first = words.first().map(|w| w.text.as_str());
    if matches!(first, None | Some("export" | "declare" | "local" | "readonly")) {
        all.iter().for_each(|w| numbers.take(&w.text, is_inner));
        return;
    }
    // `N=$(nvidia-smi -L | wc -l)`: whatever it is now.
    let values = all.iter().take(skipped).filter(|w| w.text.contains(['$', '`']));
    values.for_each(|w| numbers.take(&w.text, true));
    // What comes before a launcher, with arguments of its own.
    let launcher = |w: &Word| LAUNCHERS.contains(&base(&w.text));
    let before = words.iter().position(launcher).filter(|_| first.is_some_and(|f| WRAPPERS.contains(&base(f))));
    let Some((first, rest)) = words.get(before.unwrap_or(0)..).and_then(<[Word]>::split_first) else { return };
    let (mut options, line) = (Options::default(), first.line);
    match base(&first.text) {
        "ulimit" => {
            script.memlock.extend(memlock(rest).map(|limit| At::new(Memlock { limit, is_inner }, line)));
        }
        name if LAUNCHERS.contains(&name) => {
            let (launcher, of) =
                if name == "srun" { (Launcher::Srun, Of::Srun) } else { (Launcher::Mpirun, Of::Mpirun) };
            let (used, open) = options.take(rest, of, numbers);
            let torchrun = torchrun(rest.get(used..).unwrap_or_default(), 0, numbers);
            script.steps.push(Step { line, launcher, options, open, torchrun });
        }
        _ => {
            if let Some(torchrun) = torchrun(words, 2, numbers) {
                let (launcher, line) = (Launcher::Torchrun, torchrun.line);
                script.steps.push(Step { line, launcher, options, open: None, torchrun: Some(torchrun) });
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Modules of Python that torchrun is.
const MODULES: [&str; 2] = ["torch.distributed.run", "torch.distributed.launch"];

/// torchrun among the words behind a launcher, or in a word that a shell is given (`bash -c "torchrun …"`).
fn torchrun(words: &[Word], depth: u32, numbers: &Numbers) -> Option<At<Processes>> {
    for (at, word) in words.iter().enumerate() {
        let is_module = MODULES.contains(&word.text.as_str())
            && at.checked_sub(1).and_then(|b| words.get(b)).is_some_and(|b| b.text == "-m");
        if base(&word.text) == "torchrun" || is_module {
            return Some(At::new(processes(words.get(at + 1..).unwrap_or_default(), numbers), word.line));
        }
        let is_inner = depth < 2 && (word.text.contains("torchrun") || word.text.contains("torch.distributed."));
        if is_inner && word.text.contains(char::is_whitespace) {
            let mut found = None;
            let mut shell = Shell::default();
            let mut each = |all: Vec<Word>| found = found.or_else(|| torchrun(&all, depth + 1, numbers));
            for line in word.text.split('\n') {
                shell.line(line, word.line, &mut each);
            }
            shell.end(&mut each);
            if found.is_some() {
                return found;
            }
        }
        // By itself it is the program, or what Python runs.
        let may_start = |name: &str| name.starts_with("python") || WRAPPERS.contains(&name);
        if depth == 2 && at == 0 && !may_start(base(&word.text)) {
            return None;
        }
    }
    None
}

/// Options of torchrun that take no value.
const BARE: [&str; 7] = ["--standalone", "--no-python", "--no_python", "--run-path", "--run_path", "--module", "-m"];

fn processes(words: &[Word], numbers: &Numbers) -> Processes {
    let names = ["--nproc_per_node", "--nproc-per-node"];
    for (at, word) in words.iter().enumerate() {
        let (name, value) = word.text.split_once('=').map_or((word.text.as_str(), None), |(n, v)| (n, Some(v)));
        if !names.contains(&name) {
            // A variable may hold it, unless it is the value of an option.
            let before = at.checked_sub(1).and_then(|b| words.get(b)).map_or("", |w| w.text.as_str());
            let is_value = before.starts_with('-') && !before.contains('=') && !BARE.contains(&before);
            if word.text.starts_with('$') && !is_value {
                return Processes::Unknown;
            }
            // What torchrun starts has options of its own.
            if word.text.ends_with(".py") {
                break;
            }
            continue;
        }
        let value = value.or_else(|| words.get(at + 1).map(|w| w.text.as_str())).unwrap_or_default();
        return match numbers.of(value).trim_start_matches("${").trim_start_matches('$').trim_end_matches('}') {
            "gpu" | "auto" => Processes::PerGpu,
            "SLURM_GPUS_ON_NODE" | "SLURM_GPUS_PER_NODE" => Processes::GpusOnNode,
            "SLURM_NTASKS_PER_NODE" => Processes::TasksPerNode,
            n if n.len() <= 9 => n.parse().map_or(Processes::Unknown, Processes::Number),
            _ => Processes::Unknown,
        };
    }
    Processes::Number(1)
}

/// `-l 65536`, `-Sl unlimited`, `-n 4096 -l unlimited`. Without a value it prints the limit.
fn memlock(words: &[Word]) -> Option<Option<Limit>> {
    let mut all = words.iter().map(|w| w.text.as_str());
    while let Some(word) = all.next() {
        if word.starts_with('-') && word.ends_with('l') && word.len() <= 4 {
            let value = all.next()?;
            return Some(match value {
                "unlimited" => Some(Limit::Unlimited),
                n if n.len() <= 15 => n.parse::<u64>().ok().and_then(|n| n.checked_mul(1024)).map(Limit::Value),
                _ => None,
            });
        }
    }
    None
}
