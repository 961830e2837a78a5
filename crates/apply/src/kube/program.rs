//! kubectl itself: started by its argument list, below a guard, within limits of time and output.

use super::{Error, Kubectl};
use linerate_out::child::Need;
use linerate_transport::{Cancel, Command, Local, Ran, Transport, kubectl};
use std::path::PathBuf;
use std::time::Duration;

/// Longest that kubectl may take, with its helpers for credentials.
const LIMIT: Duration = Duration::from_secs(60);
/// Longest that it waits for one answer of the API.
const REQUEST: &str = "--request-timeout=20s";

/// kubectl, with the configuration that the operator named.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Its configuration; `None`: its own choice (`KUBECONFIG`, `~/.kube/config`).
    pub config: Option<PathBuf>,
    /// The context in it; `None`: the present one.
    pub context: Option<String>,
    /// Ends it.
    pub cancel: Cancel,
}

impl Program {
    fn argv(&self, arguments: &[String]) -> Result<Vec<String>, Error> {
        let text = |file: &PathBuf| file.to_str().map(str::to_owned).ok_or_else(|| Error::Path(file.clone()));
        let config = self.config.as_ref().map(text).transpose()?;
        let mut argv = kubectl(config.as_deref(), self.context.as_deref());
        argv.push(REQUEST.to_owned());
        argv.extend(arguments.iter().cloned());
        Ok(argv)
    }
}

impl Kubectl for Program {
    fn run(&self, what: &str, arguments: &[String]) -> Result<Ran, Error> {
        let command = Command::new(self.argv(arguments)?).limit(LIMIT).need(Need::Kubectl);
        // A change that is on its way is brought to its end: it is a matter of seconds, and then known.
        let reads = arguments.first().is_some_and(|a| a == "get");
        let cancel = if reads { self.cancel.clone() } else { Cancel::new() };
        let ran = Local::new().run(&command, &cancel);
        ran.map_err(|e| Error::of_transport(what, &e))
    }
}
