//! The same node with something else: links at full width, a NIC elsewhere, another environment or release.

use crate::config::Config;
use crate::env::Env;
use crate::system::speed_words;
use crate::version::{NotAVersion, Version};
use crate::xml::{Document, Element};
use linerate_formats::pci::LinkSpeed;
use std::str::FromStr;

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `full-links`: every link as fast and wide as it can be.
    FullLinks,
    /// `link=0000:41:00.0:Gen5x16`.
    Link {
        /// Bus id of the function.
        busid: String,
        /// Generation, 1 to 6.
        generation: u8,
        /// Lanes.
        width: u8,
    },
    /// `move=mlx5_3:0000:c5:00.0` or `move=mlx5_3:NUMA1`.
    Move {
        /// Name or bus id of the NIC.
        nic: String,
        /// Bus id of a switch, or `NUMA` and a number.
        to: String,
    },
    /// `NCCL_NET_GDR_LEVEL=PHB`, or `level=PHB` for short.
    Env(String, String),
    /// `nccl=2.21`.
    Nccl(Version),
}

/// Why a text is not a change, or the change cannot be made in this topology.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// A text that names no change; cut at 60 characters.
    #[error(
        "`{0}` is not a change: give full-links, link=BUSID:Gen5x16, move=NIC:BUSID, move=NIC:NUMA1, level=PHB, \
         NCCL_VARIABLE=VALUE or nccl=VERSION"
    )]
    Unknown(String),
    /// `nccl=` without a release.
    #[error(transparent)]
    Version(#[from] NotAVersion),
    /// `full-links`, and the source shows no link's capability.
    #[error("the source does not show what any link could be: name links with link=BUSID:Gen5x16")]
    NoCapability,
    /// `link=` of a function that is not in the topology.
    #[error("there is no function {0} in the topology")]
    NoFunction(String),
    /// `move=` to a place that is not in the topology.
    #[error("there is no switch or NUMA node `{0}` in the topology")]
    NoPlace(String),
    /// `move=` of a NIC that is not in the topology.
    #[error("there is no NIC `{0}` in the topology")]
    NoNic(String),
    /// `move=` to a place below the NIC.
    #[error("`{0}` cannot be moved below itself")]
    BelowItself(String),
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(s: &str) -> Result<Self, ChangeError> {
        let unknown = || ChangeError::Unknown(s.chars().take(60).collect());
        if s == "full-links" {
            return Ok(Change::FullLinks);
        }
        let (key, value) = s.split_once('=').ok_or_else(unknown)?;
        match key {
            "link" => {
                let (busid, link) = value.rsplit_once(':').ok_or_else(unknown)?;
                let link = link.to_ascii_lowercase();
                let (generation, width) =
                    link.strip_prefix("gen").and_then(|l| l.split_once('x')).ok_or_else(unknown)?;
                let (generation, width) = (generation.parse().ok(), width.parse().ok());
                match (generation.filter(|g| (1..=6).contains(g)), width) {
                    (Some(generation), Some(width @ (1 | 2 | 4 | 8 | 12 | 16 | 32))) => {
                        Ok(Change::Link { busid: busid.to_ascii_lowercase(), generation, width })
                    }
                    _ => Err(unknown()),
                }
            }
            "move" => {
                let (nic, to) = value.split_once(':').ok_or_else(unknown)?;
                Ok(Change::Move { nic: nic.to_owned(), to: to.to_ascii_lowercase() })
            }
            "level" => Ok(Change::Env("NCCL_NET_GDR_LEVEL".to_owned(), value.to_owned())),
            "nccl" => Ok(Change::Nccl(value.parse()?)),
            _ if key.starts_with("NCCL_") => Ok(Change::Env(key.to_owned(), value.to_owned())),
            _ => Err(unknown()),
        }
    }
}

/// The speed of a generation, as NCCL reads it.
fn speed(generation: u8) -> Option<&'static str> {
    LinkSpeed::from_register(generation).map(speed_words)
}

/// Makes the changes. `possible` says what the link of a function could be: generation and width.
///
/// # Errors
/// A change that names what is not there, or of which it is not known what would be possible.
pub fn apply(
    changes: &[Change],
    document: &mut Document,
    config: &mut Config,
    env: &mut Vec<(String, String)>,
    possible: &dyn Fn(&str) -> Option<(u8, u8)>,
) -> Result<(), ChangeError> {
    for change in changes {
        match change {
            Change::FullLinks => {
                let mut widened = 0;
                each(&mut document.system, &mut |e| {
                    let Some((generation, width)) = e.get("busid").and_then(possible) else { return };
                    if let Some(speed) = speed(generation) {
                        e.set("link_speed", speed);
                        e.set("link_width", width.to_string());
                        widened += 1;
                    }
                });
                if widened == 0 {
                    return Err(ChangeError::NoCapability);
                }
            }
            Change::Link { busid, generation, width } => {
                let mut found = false;
                each(&mut document.system, &mut |e| {
                    if e.name == "pci" && e.get("busid").is_some_and(|b| b.eq_ignore_ascii_case(busid)) {
                        e.set("link_speed", speed(*generation).unwrap_or(""));
                        e.set("link_width", width.to_string());
                        found = true;
                    }
                });
                if !found {
                    return Err(ChangeError::NoFunction(busid.clone()));
                }
            }
            Change::Move { nic, to } => relocate(&mut document.system, nic, to)?,
            Change::Env(key, value) => env.push((key.clone(), value.clone())),
            Change::Nccl(version) => config.version = *version,
        }
    }
    config.env = Env::parse(env.iter().map(|(k, v)| (k.as_str(), v.as_str())), config.version);
    Ok(())
}

/// Calls with every element. Not recursive: documents may be deep.
fn each(root: &mut Element, with: &mut dyn FnMut(&mut Element)) {
    let mut left = vec![root];
    while let Some(e) = left.pop() {
        with(e);
        left.extend(e.children.iter_mut());
    }
}

fn relocate(system: &mut Element, nic: &str, to: &str) -> Result<(), ChangeError> {
    let target = |e: &Element| match to.strip_prefix("numa") {
        Some(numa) => e.name == "cpu" && e.get("numaid") == Some(numa),
        None => e.name == "pci" && e.get("busid").is_some_and(|b| b.eq_ignore_ascii_case(to)),
    };
    let names = |e: &Element| {
        let port = |n: &Element| n.get("name") == Some(nic);
        e.get("busid").is_some_and(|b| b.eq_ignore_ascii_case(nic)) || e.named("nic").any(|n| n.named("net").any(port))
    };
    let is_nic = |e: &Element| e.name == "pci" && names(e);
    if !system.all().any(target) {
        return Err(ChangeError::NoPlace(to.to_owned()));
    }
    let moved = take(system, &is_nic).ok_or_else(|| ChangeError::NoNic(nic.to_owned()))?;
    let mut moved = Some(moved);
    each(system, &mut |e| {
        if target(e)
            && let Some(m) = moved.take()
        {
            e.children.push(m);
        }
    });
    // The target was inside what was moved.
    if moved.is_some() { Err(ChangeError::BelowItself(nic.to_owned())) } else { Ok(()) }
}

/// Takes the first such element out.
fn take(root: &mut Element, is: &dyn Fn(&Element) -> bool) -> Option<Element> {
    let mut left = vec![root];
    while let Some(e) = left.pop() {
        if let Some(i) = e.children.iter().position(is) {
            return Some(e.children.remove(i));
        }
        left.extend(e.children.iter_mut());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, Input, PathType};

    const NODE: &str = r#"<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143" host_hash="0x1">
    <pci busid="0000:40:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x1" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:41:00.0" class="0x030200" vendor="0x10de" device="0x2330" subsystem_vendor="0x10de" subsystem_device="0x16c1" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1"/>
      </pci>
    </pci>
    <pci busid="0000:60:00.0" class="0x020700" vendor="0x15b3" device="0x1021" subsystem_vendor="0x15b3" subsystem_device="0x41" link_speed="32.0 GT/s PCIe" link_width="8">
      <nic>
        <net name="mlx5_0" dev="0" speed="400000" port="1" latency="0.0" guid="0x1" maxconn="131072" gdr="1"/>
      </nic>
    </pci>
  </cpu>
</system>
"#;

    fn judged(changes: &[&str]) -> Result<(PathType, f32, bool), ChangeError> {
        let mut document = Document::parse(NODE, crate::xml::Dialect::Nccl).unwrap();
        let mut config = Config { input: Input::Fused, ..Config::default() };
        let changes: Vec<Change> = changes.iter().map(|c| c.parse()).collect::<Result<_, _>>()?;
        let possible = |b: &str| (b == "0000:60:00.0").then_some((5, 16));
        apply(&changes, &mut document, &mut config, &mut Vec::new(), &possible)?;
        let a = Analysis::new(&document, &config).unwrap();
        let g = &a.gdr[0];
        Ok((g.kind, g.bandwidth, g.recv.mode.is_some()))
    }

    #[test]
    fn what_would_be_otherwise() {
        assert_eq!(judged(&[]), Ok((PathType::Phb, 24.0, false)));
        assert_eq!(judged(&["level=PHB"]), Ok((PathType::Phb, 24.0, true)));
        assert_eq!(judged(&["full-links"]), Ok((PathType::Phb, 48.0, false)));
        assert_eq!(judged(&["link=0000:60:00.0:Gen4x16"]), Ok((PathType::Phb, 24.0, false)));
        let moved = judged(&["move=mlx5_0:0000:40:00.0", "link=0000:60:00.0:Gen5x16"]);
        assert_eq!(moved, Ok((PathType::Pix, 48.0, true)));
        for bad in
            ["", "x=1", "link=0000:60:00.0:Gen9x16", "move=mlx5_0", "move=mlx5_9:0000:40:00.0", "move=mlx5_0:NUMA7"]
        {
            assert!(judged(&[bad]).is_err(), "{bad}");
        }
    }
}
