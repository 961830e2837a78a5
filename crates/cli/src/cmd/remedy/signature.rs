//! Signatures of plans by SSH keys: a plan is root's code. `ssh-keygen` makes and checks them; who may sign is a file of allowed signers
//! (ssh-keygen(1), ALLOWED SIGNERS).

use super::stored::base;
use crate::output::Failure;
use linerate_out::child::{self, Need};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What signatures are for: one that was made for another use is not taken.
const NAMESPACE: &str = "linerate-plan";
/// Longest signature.
pub(super) const MOST: u64 = 1 << 20;

/// Runs ssh-keygen with a text on its standard input. Only what reaches the user's agent is inherited.
fn keygen(arguments: impl FnOnce(&mut Command), input: &[u8]) -> Result<Output, Failure> {
    let mut command = child::command("ssh-keygen", Need::Ssh);
    arguments(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |e: std::io::Error| {
        Failure::new(format!("ssh-keygen: {e}"))
            .hint("install OpenSSH's client, 8.2 or later: it makes and checks signatures")
    };
    let mut child = command.spawn().map_err(failed)?;
    // It may end before it has read everything; what it says tells why.
    let written = child.stdin.take().map(|mut to| to.write_all(input));
    drop(written);
    child.wait_with_output().map_err(failed)
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.lines().chain(std::str::from_utf8(&output.stdout).unwrap_or_default().lines());
    text.map(str::trim).rfind(|l| !l.is_empty()).unwrap_or("nothing").to_owned()
}

/// Where a plan's signature is: beside it.
pub(super) fn beside(plan: &Path) -> PathBuf {
    let mut name = plan.as_os_str().to_owned();
    name.push(".sig");
    PathBuf::from(name)
}

/// Signs a plan's bytes with a key: a private one, or a public one whose private half the agent has.
pub(super) fn sign(key: &Path, plan: &[u8]) -> Result<Vec<u8>, Failure> {
    let sign = |c: &mut Command| {
        c.args(["-Y", "sign", "-f"]).arg(key).args(["-n", NAMESPACE]);
    };
    let output = keygen(sign, plan)?;
    if !output.status.success() || output.stdout.is_empty() {
        return Err(Failure::new(format!(
            "{}: the plan was not signed: ssh-keygen said: {}",
            key.display(),
            said(&output)
        ))
        .hint("name a private key, or a public one that ssh-agent has the private half of"));
    }
    Ok(output.stdout)
}

/// The file of those who may sign plans: as named, else the user's own.
fn signers(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let own = || base("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("allowed_signers"));
    let file = named.map(Path::to_owned).or_else(own).filter(|f| f.is_file());
    file.ok_or_else(|| {
        Failure::new("a signature is required, but there is no file of allowed signers")
            .hint("name it with --allowed-signers FILE, or make ~/.config/linerate/allowed_signers: lines of `NAME KEYTYPE KEY`, as ssh-keygen(1) has them")
    })
}

/// Who signed a plan's bytes: a name of the file of allowed signers.
pub(super) fn verified(plan: &[u8], signature: &[u8], allowed: Option<&Path>) -> Result<String, Failure> {
    let signers = signers(allowed)?;
    // ssh-keygen reads signatures from files alone.
    let file = held(signature)?;
    let refuse = |output: &Output| {
        Failure::new(format!("the plan's signature is not accepted: ssh-keygen said: {}", said(output))).hint(format!(
            "the key has to be in {} for the namespace {NAMESPACE}, and the plan as it was signed",
            signers.display()
        ))
    };
    let find = |c: &mut Command| {
        c.args(["-Y", "find-principals", "-s"]).arg(file.path()).arg("-f").arg(&signers);
    };
    let output = keygen(find, b"")?;
    let principals = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(name) = principals.lines().map(str::trim).find(|l| !l.is_empty()).filter(|_| output.status.success())
    else {
        return Err(refuse(&output));
    };
    let verify = |c: &mut Command| {
        c.args(["-Y", "verify", "-f"]).arg(&signers).args(["-I", name, "-n", NAMESPACE, "-s"]).arg(file.path());
    };
    let output = keygen(verify, plan)?;
    if output.status.success() { Ok(name.to_owned()) } else { Err(refuse(&output)) }
}

/// A private file of a signature, removed when it is dropped.
struct Held(PathBuf);

impl Held {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn held(signature: &[u8]) -> Result<Held, Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = std::env::temp_dir().join(format!("linerate-{}.sig", linerate_transport::chance()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let mut file = file.map_err(|e| Failure::writing(&path, &e))?;
    let held = Held(path);
    file.write_all(signature).map_err(|e| Failure::writing(held.path(), &e))?;
    Ok(held)
}
