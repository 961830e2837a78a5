//! Hosts as people name them: `local`, `node1`, `root@node1:2222`, each with `=ADDRESS` where the data goes another way.

use crate::srun::is_node;
use crate::{Kubectl, Local, Pods, Srun, Ssh, Transport, TransportError};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostSpec {
    /// How it is reached.
    pub way: Way,
    /// The address that the other host sends its data to (`node1=10.0.0.1`). Without: the one that the connection uses.
    pub address: Option<String>,
}

/// How a host is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Way {
    /// This host.
    Local,
    /// This host, inside a network namespace.
    Netns(String),
    /// The user's `ssh`.
    Ssh {
        /// `host` or `user@host`; an alias of the user's configuration as well.
        destination: String,
        /// Port, where it is not that of the configuration.
        port: Option<u16>,
    },
    /// Slurm's `srun`.
    Srun {
        /// The node's name in Slurm.
        node: String,
        /// Further options, each in one word.
        options: Vec<String>,
    },
    /// A pod on the node, by `kubectl exec`.
    Kubectl {
        /// The node's name in Kubernetes.
        node: String,
        /// Which pods.
        pods: Pods,
    },
}

/// Why a host's name is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no host: {why}; expected local, HOST or USER@HOST[:PORT], each with =ADDRESS if the data goes another way"
)]
pub struct HostError {
    /// What was given.
    pub text: String,
    /// Why.
    pub why: &'static str,
}

impl HostSpec {
    /// A list as `--on` takes it: separated by commas.
    ///
    /// # Errors
    /// One of them names no host.
    pub fn list(text: &str) -> Result<Vec<HostSpec>, HostError> {
        text.split(',').map(|t| t.trim().parse()).collect()
    }

    /// A node by a scheduler, which knows it by this name.
    ///
    /// # Errors
    /// No scheduler has a node of this name.
    pub fn scheduled(name: &str, way: impl FnOnce(String) -> Way) -> Result<HostSpec, HostError> {
        let fail = || HostError { text: name.to_owned(), why: "no node of Slurm or Kubernetes has such a name" };
        is_node(name).then(|| HostSpec { way: way(name.to_owned()), address: None }).ok_or_else(fail)
    }

    /// Its transport for a single command: over `ssh`, a connection of its own for each. `ssh_options` go to `ssh` as they are.
    ///
    /// # Errors
    /// The destination is none.
    pub fn transport_alone(&self, ssh_options: &[String]) -> Result<Box<dyn Transport>, TransportError> {
        match &self.way {
            Way::Ssh { destination, port } => Ok(Box::new(Ssh::alone(destination, *port, ssh_options)?)),
            _ => self.transport(ssh_options),
        }
    }

    /// Its transport. `ssh_options` go to `ssh` as they are.
    ///
    /// # Errors
    /// The destination is none.
    pub fn transport(&self, ssh_options: &[String]) -> Result<Box<dyn Transport>, TransportError> {
        Ok(match &self.way {
            Way::Local => Box::new(Local::new()),
            Way::Netns(name) => Box::new(Local::netns(name)),
            Way::Ssh { destination, port } => Box::new(Ssh::new(destination, *port, ssh_options)?),
            Way::Srun { node, options } => Box::new(Srun::new(node, options)?),
            Way::Kubectl { node, pods } => Box::new(Kubectl::new(node, pods)?),
        })
    }
}

impl FromStr for HostSpec {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let fail = |why| HostError { text: text.to_owned(), why };
        let netns = text.strip_prefix("local:netns=");
        let (name, address) = match netns.unwrap_or(text).split_once('=') {
            Some((name, address)) => (name, Some(address)),
            None => (netns.unwrap_or(text), None),
        };
        if let Some(a) = address {
            a.parse::<IpAddr>().map_err(|_| fail("what follows = is not an IP address"))?;
        }
        let address = address.map(str::to_owned);
        let bad = |c: char| c.is_whitespace() || c.is_control() || "'\"\\$`;|&<>(){}*?!#~".contains(c);
        if name.is_empty() || name.contains(bad) {
            return Err(fail("it is empty or has characters that a name cannot have"));
        }
        if netns.is_some() {
            if name.starts_with(['-', '.']) || name.contains('/') {
                return Err(fail("that is not a network namespace"));
            }
            return Ok(HostSpec { way: Way::Netns(name.to_owned()), address });
        }
        if name == "local" || name == "localhost" {
            return Ok(HostSpec { way: Way::Local, address });
        }
        let (user, rest) = name.rsplit_once('@').map_or(("", name), |(u, h)| (u, h));
        let (host, port) = match rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            Some((v6, "")) => (v6, None),
            Some((v6, port)) => (v6, Some(port.strip_prefix(':').ok_or_else(|| fail("a port follows a colon"))?)),
            // More than one colon: an IPv6 address without a port.
            None if rest.matches(':').count() == 1 => rest.split_once(':').map_or((rest, None), |(h, p)| (h, Some(p))),
            None => (rest, None),
        };
        let port = match port {
            None => None,
            Some(p) => {
                Some(p.parse().ok().filter(|p| *p > 0).ok_or_else(|| fail("the port is not a number up to 65535"))?)
            }
        };
        if host.is_empty() || host.starts_with('-') || user.starts_with('-') || (name.contains('@') && user.is_empty())
        {
            return Err(fail("there is no host, or it would be taken for an option"));
        }
        let destination = if user.is_empty() { host.to_owned() } else { format!("{user}@{host}") };
        Ok(HostSpec { way: Way::Ssh { destination, port }, address })
    }
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.way {
            Way::Local => f.write_str("local")?,
            Way::Netns(name) => write!(f, "local:netns={name}")?,
            Way::Ssh { destination, port: None } => f.write_str(destination)?,
            Way::Ssh { destination, port: Some(port) } => write!(f, "{destination}:{port}")?,
            // No text is read as one of these: they come from linerate.toml.
            Way::Srun { node, .. } => write!(f, "srun:{node}")?,
            Way::Kubectl { node, .. } => write!(f, "kubectl:{node}")?,
        }
        self.address.iter().try_for_each(|a| write!(f, "={a}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ssh(destination: &str, port: Option<u16>) -> Way {
        Way::Ssh { destination: destination.to_owned(), port }
    }

    #[test]
    fn names_of_hosts() {
        for (text, way, address) in [
            ("local", Way::Local, None),
            ("local=127.0.0.2", Way::Local, Some("127.0.0.2")),
            ("local:netns=a=10.1.0.1", Way::Netns("a".to_owned()), Some("10.1.0.1")),
            ("node1", ssh("node1", None), None),
            ("root@node1:2222", ssh("root@node1", Some(2222)), None),
            ("me@[fe80::1]:22=fd00::1", ssh("me@fe80::1", Some(22)), Some("fd00::1")),
            ("::1", ssh("::1", None), None),
        ] {
            let host: HostSpec = text.parse().unwrap();
            assert_eq!((&host.way, host.address.as_deref()), (&way, address), "{text}");
        }
        assert_eq!(HostSpec::list("local, root@b").unwrap().len(), 2);
    }

    #[test]
    fn what_names_none() {
        for text in [
            "",
            "-oProxyCommand=x",
            "a b",
            "a;b",
            "root@",
            "@a",
            "a:0",
            "a:x",
            "a:70000",
            "[::1]22",
            "a=b",
            "local,",
            "root@-x",
            "-l@a",
            "local:netns=../x",
            "a\nb",
            "$(x)",
        ] {
            assert!(HostSpec::list(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_host_that_is_written_as_it_is_read_or_none(text in "\\PC{0,30}") {
            if let Ok(host) = text.parse::<HostSpec>() {
                let again = host.to_string();
                // An IPv6 address loses its brackets only together with its port.
                if !again.contains("::") {
                    prop_assert_eq!(again.parse::<HostSpec>().unwrap(), host);
                }
            }
        }
    }
}
