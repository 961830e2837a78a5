//! BMCs as the user named them.

use crate::output::Failure;
use crate::plan_args::RedfishArgs;
use linerate_apply::drive::{Bmc, Node, Reached};
use linerate_apply::kube::Kube;
use linerate_apply::protocol::{Answer, Call};
use linerate_apply::redfish::{Credentials, Curl, Origin, Patience};
use linerate_snapshot::Snapshot;

/// Where the password is looked for.
const PASSWORD: &str = "LINERATE_REDFISH_PASSWORD";
/// Longest password file.
const MOST: usize = 4096;

impl RedfishArgs {
    /// The BMC of the only node.
    pub(super) fn one(&self, host: Option<&str>) -> Result<Option<Bmc>, Failure> {
        Ok(self.each(&[host])?.pop().flatten())
    }

    /// The BMC of each host.
    pub(super) fn each(&self, hosts: &[Option<&str>]) -> Result<Vec<Option<Bmc>>, Failure> {
        let mut found: Vec<Option<Bmc>> = hosts.iter().map(|_| None).collect();
        for text in &self.redfish {
            let (name, url) = named(text);
            let mut fits = (0..hosts.len()).filter(|at| match (name, hosts.get(*at)) {
                (None, _) => true,
                (Some(name), Some(Some(host))) => *host == name || bare(host) == name,
                _ => false,
            });
            let (Some(at), None) = (fits.next(), fits.next()) else {
                let known: Vec<&str> = hosts.iter().flatten().copied().collect();
                return Err(Failure::new(format!("--redfish {text}: of which host is this the BMC?"))
                    .hint(format!("with several hosts HOST=URL, HOST one of: {}", known.join(", "))));
            };
            let bmc = self.bmc(url)?;
            if let Some(place) = found.get_mut(at)
                && place.replace(bmc).is_some()
            {
                return Err(Failure::new(format!("--redfish {text}: this host has a BMC already")));
            }
        }
        Ok(found)
    }

    fn bmc(&self, url: &str) -> Result<Bmc, Failure> {
        let origin = Origin::parse(url)?;
        let mut curl = Curl::new(origin.clone(), self.credentials()?)?;
        curl.insecure = self.redfish_insecure;
        curl.cacert.clone_from(&self.redfish_cacert);
        Ok(Bmc::new(origin, Box::new(curl), self.redfish_system.clone(), Patience::default()))
    }

    fn credentials(&self) -> Result<Credentials, Failure> {
        if let Some(file) = &self.redfish_netrc {
            return Ok(Credentials::Netrc(file.clone()));
        }
        let Some(user) = self.redfish_user.clone() else { return Ok(Credentials::None) };
        let password = match &self.redfish_password_file {
            Some(file) => {
                let text = std::fs::read(file).map_err(|e| Failure::new(format!("{}: {e}", file.display())))?;
                let first = text.split(|b| *b == b'\n').next().unwrap_or_default();
                let first = first.strip_suffix(b"\r").unwrap_or(first);
                let text = (first.len() <= MOST).then(|| String::from_utf8(first.to_vec()).ok()).flatten();
                text.ok_or_else(|| {
                    Failure::new(format!(
                        "{}: the first line is not a valid password (not UTF-8, or longer than {MOST} bytes)",
                        file.display()
                    ))
                })?
            }
            None => std::env::var(PASSWORD).map_err(|_| {
                Failure::new(format!("--redfish-user {user} needs a password"))
                    .hint(format!("set {PASSWORD}, or name a file with --redfish-password-file"))
            })?,
        };
        Ok(Credentials::Password { user, password })
    }
}

/// `HOST=URL` or `URL`: a URL has `://` before any `=`.
fn named(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((host, url)) if !host.contains("://") => (Some(host), url),
        _ => (None, text),
    }
}

/// A host without user and port.
fn bare(host: &str) -> &str {
    let host = host.rsplit_once('@').map_or(host, |(_, h)| h);
    match host.split_once(':') {
        Some((name, _)) if !host.starts_with('[') => name,
        _ => host,
    }
}

/// A node with what is beside it.
struct Beside {
    node: Box<dyn Node>,
    bmc: Option<Bmc>,
    kube: Option<Kube>,
}

impl Node for Beside {
    fn name(&self) -> &str {
        self.node.name()
    }

    fn is_here(&self) -> bool {
        self.node.is_here()
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        self.node.ask(call)
    }

    fn host_key(&self) -> Reached<Option<String>> {
        self.node.host_key()
    }

    fn read(&self) -> Reached<Snapshot> {
        self.node.read()
    }

    fn boot(&self) -> Reached<String> {
        self.node.boot()
    }

    fn bmc(&self) -> Option<&Bmc> {
        self.bmc.as_ref()
    }

    fn kube(&self) -> Option<&Kube> {
        self.kube.as_ref()
    }
}

/// A node, with its BMC and the cluster of its object, where they were named.
pub(super) fn with(node: Box<dyn Node>, bmc: Option<Bmc>, kube: Option<Kube>) -> Box<dyn Node> {
    if bmc.is_none() && kube.is_none() { node } else { Box::new(Beside { node, bmc, kube }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(redfish: &[&str]) -> RedfishArgs {
        RedfishArgs {
            redfish: redfish.iter().map(|t| (*t).to_owned()).collect(),
            redfish_user: None,
            redfish_password_file: None,
            redfish_netrc: None,
            redfish_system: None,
            redfish_cacert: None,
            redfish_insecure: false,
        }
    }

    #[test]
    fn each_host_has_its_own() {
        let hosts = [Some("root@n1"), Some("n2:2222")];
        let got =
            |redfish: &[&str]| args(redfish).each(&hosts).map(|b| b.iter().map(Option::is_some).collect::<Vec<_>>());
        assert_eq!(got(&["n2=https://b2", "root@n1=https://b1"]).ok(), Some(vec![true, true]));
        assert_eq!(got(&["n2=https://b2"]).ok(), Some(vec![false, true]));
        assert!(got(&["https://b1"]).is_err(), "of which of both?");
        assert!(got(&["n3=https://b1"]).is_err() && got(&["n1=https://b1", "n1=https://b2"]).is_err());
        assert!(args(&["https://b1"]).one(None).is_ok_and(|b| b.is_some()));
        assert!(args(&["https://user:word@b1"]).one(None).is_err(), "no credentials in addresses");
    }
}
