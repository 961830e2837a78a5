//! What an input is.

use super::list::is_name;
use serde::Serialize;

/// What an input was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `/proc/PID/environ`, or a process's own environment.
    Environ,
    /// What `env` prints.
    List,
    /// `nccl.conf`.
    Conf,
    /// A shell script.
    Script,
    /// YAML or JSON.
    Manifest,
    /// A Dockerfile.
    Dockerfile,
    /// NCCL's log.
    Log,
    /// None of these.
    Unknown,
}

impl Form {
    /// As reports call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Environ | Form::List => "environment",
            Form::Conf => "nccl.conf",
            Form::Script => "script",
            Form::Manifest => "manifest",
            Form::Dockerfile => "Dockerfile",
            Form::Log => "log",
            Form::Unknown => "not understood",
        }
    }
}

/// What an input is, by its content; the file name helps. As much of the beginning as is there is looked at, 64 KiB at most.
#[must_use]
pub fn sniff(name: Option<&str>, bytes: &[u8]) -> Form {
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let name = name.unwrap_or_default().to_ascii_lowercase();
    let base = name.rsplit('/').next().unwrap_or_default();
    let log = text.lines().any(|l| {
        let said = l.contains("NCCL INFO") || l.contains("NCCL WARN") || l.contains(" set by environment to ");
        said && !l.trim_start().starts_with('#')
    });
    if head.contains(&0) {
        let pieces = || head.split(|b| *b == 0).map(String::from_utf8_lossy).filter(|p| !p.is_empty());
        let named = pieces().filter(|p| p.split_once('=').is_some_and(|(n, _)| is_name(n))).count();
        return match () {
            () if log => Form::Log,
            () if named > 0 && named * 2 >= pieces().count() => Form::Environ,
            () => Form::Unknown,
        };
    }
    let ends = |e: &[&str]| e.iter().any(|e| base.ends_with(e));
    let first = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#')).unwrap_or_default();
    let starts = |w: &[&str]| text.lines().any(|l| w.iter().any(|w| l.trim_start().starts_with(w)));
    match () {
        () if ends(&["nccl.conf"]) => Form::Conf,
        () if text.starts_with("#!") => Form::Script,
        () if base.starts_with("dockerfile")
            || ends(&[".dockerfile"])
            || first.to_ascii_uppercase().starts_with("FROM ") =>
        {
            Form::Dockerfile
        }
        () if log => Form::Log,
        () if ends(&[".yaml", ".yml", ".json"]) || is_manifest(&text, first) => Form::Manifest,
        () if ends(&[".sh", ".sbatch", ".slurm", ".bash"])
            || starts(&[
                "export ",
                "declare -x ",
                "#SBATCH",
                "setenv ",
                "mpirun ",
                "mpiexec ",
                "srun ",
                "torchrun ",
            ]) =>
        {
            Form::Script
        }
        () if is_list(&text) => Form::List,
        () if text
            .lines()
            .any(|l| l.split_whitespace().any(|w| w.split_once('=').is_some_and(|(n, _)| is_name(n)))) =>
        {
            Form::Script
        }
        () => Form::Unknown,
    }
}

fn is_manifest(text: &str, first: &str) -> bool {
    let key = |l: &str, k: &str| {
        l.trim_start_matches([' ', '-', '"', '{'])
            .strip_prefix(k)
            .is_some_and(|r| r.trim_start_matches('"').starts_with(':'))
    };
    let has = |k: &str| text.lines().any(|l| key(l, k));
    let json = first.starts_with(['{', '[']) && !first.starts_with("[[") && text.contains("\":");
    has("apiVersion")
        || has("containers")
        || text.lines().any(|l| l.trim() == "Environment:" || l.trim().starts_with("Environment Variables from:"))
        || has("services")
        || (has("env") && (has("name") || text.contains('=')))
        || json
        || first == "---"
        || (first.starts_with("- name:") && has("value"))
        || first.split_once(": ").is_some_and(|(n, _)| super::relevant(n))
}

fn is_list(text: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let named = lines().filter(|l| l.split_once('=').is_some_and(|(n, _)| is_name(n))).count();
    // A command after an assignment makes it a script: the value of `VAR=x command` has a blank and no quote.
    let first_names = lines().next().is_some_and(|l| l.split_once('=').is_some_and(|(n, _)| is_name(n)));
    let commands = lines()
        .any(|l| l.contains(" && ") || l.ends_with('\\') || (l.matches('=').count() > 1 && l.contains(" NCCL_")));
    named > 0 && !commands && (first_names || named * 2 >= lines().count())
}
