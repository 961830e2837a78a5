//! A node of a Slurm cluster, by `srun`: a step of one task there, in the job that is named or in one of its own.

use crate::{Transport, TransportError};
use linerate_out::child::Need;

/// Before the user's options, which may say otherwise. Resources that are not there at once are not waited for; a step shares what others of
/// its job use; the directory and the environment here mean nothing there.
const BEFORE: &[&str] = &[
    "--quiet",
    "--job-name=linerate",
    "--overlap",
    "--immediate=10",
    "--mpi=none",
    "--chdir=/",
    "--export=HOME,LOGNAME,PATH,SHELL,USER",
];
/// Options that make the outputs something else than the program's bytes, or run another one.
const REFUSED: &[&str] =
    &["--label", "--pty", "--unbuffered", "--output", "--error", "--input", "--multi-prog", "--async"];

/// A node by `srun`.
#[derive(Debug, Clone)]
pub struct Srun {
    name: String,
    node: String,
    options: Vec<String>,
}

impl Srun {
    /// A node by its name in Slurm, with further options of `srun`, each in one word (`--partition=gpu`, `--jobid=4711`). In an allocation
    /// (`salloc`, a batch script) a step of its job is made.
    ///
    /// # Errors
    /// The name is none of a node; an option is no option, or changes what the program prints.
    pub fn new(node: &str, options: &[String]) -> Result<Self, TransportError> {
        let name = format!("srun:{node}");
        let fail = |argument: &str, why| TransportError::Way { host: name.clone(), argument: argument.to_owned(), why };
        if !is_node(node) {
            return Err(fail(node, "not a valid name of a node"));
        }
        let key = |o: &str| o.split('=').next().unwrap_or_default().to_owned();
        if let Some(o) = options.iter().find(|o| key(o).len() < 4 || !o.starts_with("--")) {
            return Err(fail(o, "srun's options are given in one word each, as --partition=gpu"));
        }
        // `srun` takes an option by the beginning of its name, too.
        if let Some(o) = options.iter().find(|o| REFUSED.iter().any(|r| r.starts_with(&key(o)))) {
            return Err(fail(o, "with this option of srun the output is not the program's own"));
        }
        let here = std::env::var("SLURM_JOB_ID").ok();
        let job = here.filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()));
        let job = job.filter(|_| !options.iter().any(|o| key(o) == "--jobid"));
        let options = job.map(|id| format!("--jobid={id}")).into_iter().chain(options.iter().cloned()).collect();
        Ok(Srun { name, node: node.to_owned(), options })
    }
}

/// Whether a scheduler can have a node of this name. Brackets, commas and slashes would be a list, or a file with one.
pub(crate) fn is_node(name: &str) -> bool {
    name.len() <= 253
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

impl Transport for Srun {
    fn host(&self) -> &str {
        &self.name
    }

    fn carrier(&self) -> Option<Need> {
        Some(Need::Slurm)
    }

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        let mut out = vec!["srun".to_owned()];
        out.extend(BEFORE.iter().map(|o| (*o).to_owned()));
        out.extend(self.options.iter().cloned());
        out.extend(["--nodes=1", "--ntasks=1"].map(str::to_owned));
        out.extend([format!("--nodelist={}", self.node), "--".to_owned()]);
        out.extend(argv.iter().cloned());
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn a_step_runs_the_words_as_they_are() {
        let srun = Srun::new("gpu001", &words(&["--partition=gpu", "--jobid=4711"])).unwrap();
        let argv = srun.carry(&words(&["sh", "-c", "echo $(x); 'y'", "--pty"])).unwrap();
        let given = argv.iter().position(|w| w == "--partition=gpu").unwrap();
        let tail = ["--partition=gpu", "--jobid=4711", "--nodes=1", "--ntasks=1", "--nodelist=gpu001", "--"];
        assert_eq!(argv[given..given + tail.len()], tail);
        assert_eq!(argv[given + tail.len()..], ["sh", "-c", "echo $(x); 'y'", "--pty"]);
        assert_eq!(argv[..given].concat(), format!("srun{}", BEFORE.concat()));
    }

    #[test]
    fn what_names_no_node_and_what_is_no_option() {
        for node in ["", "-x", "gpu[1-2]", "a,b", "/etc/passwd", "a b", "$(x)", "a\nb"] {
            assert!(matches!(Srun::new(node, &[]), Err(TransportError::Way { .. })), "{node:?}");
        }
        for option in ["gpu", "-p", "--", "--x", "--label", "--pty", "--output=/x", "--multi", "--unb"] {
            assert!(matches!(Srun::new("a", &words(&[option])), Err(TransportError::Way { .. })), "{option}");
        }
    }
}
