//! `[pci.…]` patches: names, patterns, and what a patch does to its function and to the other end of the link.

use crate::config;
use crate::description::{Description, PciPatch, Scalar};
use crate::function::{Function, Kind, Link};
use crate::{DescribeError, glob, models};
use linerate_formats::pci::LinkSpeed;

/// Applies all patches: patterns first, then single names, so that the special case wins.
pub(crate) fn apply(d: &Description, functions: &mut Vec<Function>) -> Result<(), DescribeError> {
    let (patterns, single): (Vec<_>, Vec<_>) = d.pci.iter().partition(|(key, _)| key.contains('*'));
    for (key, patch) in patterns.into_iter().chain(single) {
        let hits: Vec<usize> =
            (0..functions.len()).filter(|i| functions.get(*i).is_some_and(|f| named(f, key))).collect();
        if hits.is_empty() {
            return Err(unknown("pci", key, functions.iter().flat_map(|f| f.names.iter().cloned())));
        }
        for hit in hits {
            one(functions, hit, key, patch)?;
        }
    }
    Ok(())
}

/// Whether a key means this function: its BDF, one of its names, or a pattern of either.
pub(crate) fn named(f: &Function, key: &str) -> bool {
    let bdf = f.bdf.to_string();
    glob::name(key, &bdf)
        || key.parse().is_ok_and(|b: linerate_formats::pci::Bdf| b == f.bdf)
        || f.names.iter().any(|n| name(key, n))
}

/// A star stays within one part of a name: `nic*` means the NICs, not `nic0.port`.
fn name(pattern: &str, text: &str) -> bool {
    let (mut p, mut t) = (pattern.split('.'), text.split('.'));
    loop {
        match (p.next(), t.next()) {
            (None, None) => return true,
            (Some(p), Some(t)) if glob::name(p, t) => {}
            _ => return false,
        }
    }
}

/// A key that means nothing, with what would have.
pub(crate) fn unknown(table: &str, key: &str, known: impl Iterator<Item = String>) -> DescribeError {
    let mut known: Vec<String> = known.collect();
    known.sort();
    known.truncate(40);
    DescribeError::impossible(
        format!("[{table}.{key:?}] matches nothing in this node"),
        format!("known names begin with: {}", known.join(", ")),
    )
}

fn one(functions: &mut Vec<Function>, at: usize, key: &str, p: &PciPatch) -> Result<(), DescribeError> {
    link(functions, at, key, p)?;
    let Some(f) = functions.get_mut(at) else { return Ok(()) };
    macro_rules! set {
        ($($field:ident),*) => { $( if let Some(v) = p.$field { f.$field = v; } )* };
    }
    set!(mps, mps_supported, mrrs, relaxed_ordering, ext_tag, ten_bit_tag, no_snoop, ats, ari_forwarding);
    f.mps_supported = f.mps_supported.max(if p.mps_supported.is_some() { 0 } else { f.mps });
    for (name, bytes) in [("mps", f.mps), ("mps_supported", f.mps_supported), ("mrrs", f.mrrs)] {
        if !(128..=4096).contains(&bytes) || !bytes.is_power_of_two() {
            let what = format!("[pci.{key:?}] {name} = {bytes}");
            return Err(DescribeError::impossible(what, "128, 256, 512, 1024, 2048 or 4096 bytes"));
        }
    }
    f.numa = p.numa_node.unwrap_or(f.numa);
    f.device = p.device_id.unwrap_or(f.device);
    f.config_len = p.config_len.unwrap_or(f.config_len);
    f.no_config |= p.no_config;
    f.gone |= p.gone;
    f.iommu_group = p.iommu_group.or(f.iommu_group);
    if let Some(driver) = &p.driver {
        f.driver = (driver != "none").then(|| driver.clone());
    }
    if let Some(control) = p.acs_ctl {
        f.acs = Some((f.acs.map_or(0x5f, |(cap, _)| cap), control));
    }
    if let Some(cap) = p.acs_cap {
        f.acs = Some((cap, f.acs.map_or(0, |(_, control)| control)));
    }
    if p.acs_absent {
        f.acs = None;
    }
    if let Some(aspm) = &p.aspm {
        f.aspm = match aspm.as_str() {
            "off" => 0,
            "l0s" => 1,
            "l1" => 2,
            "l0s-l1" => 3,
            other => {
                let what = format!("[pci.{key:?}] aspm = {other:?}");
                return Err(DescribeError::impossible(what, "off, l0s, l1 or l0s-l1"));
            }
        };
    }
    if let Some(aer) = &p.aer {
        let known =
            |name: &String| config::CORRECTABLE.iter().chain(config::UNCORRECTABLE.iter()).any(|(n, _)| n == name);
        if let Some(bad) = aer.correctable.keys().chain(aer.nonfatal.keys()).chain(aer.fatal.keys()).find(|n| !known(n))
        {
            let names: Vec<&str> = config::CORRECTABLE.iter().chain(&config::UNCORRECTABLE).map(|(n, _)| *n).collect();
            let what = format!("[pci.{key:?}] aer counter {bad:?}");
            return Err(DescribeError::impossible(what, format!("the kernel's names: {}", names.join(", "))));
        }
        (f.aer, f.has_aer) = (aer.clone(), true);
    }
    if let Some(size) = &p.bar1 {
        let bytes = bytes(size).filter(|b| *b == 0 || (b.is_power_of_two() && *b <= 1 << 47));
        let (Some(bytes), Some(bar)) = (bytes, f.bar1.and_then(|i| f.bars.get_mut(i))) else {
            let what = format!("[pci.{key:?}] bar1 = {size:?}");
            return Err(DescribeError::impossible(what, "a power of two with K, M or G, of a GPU: 256M, 128G, 0"));
        };
        // A smaller BAR fits where the larger one was; a larger one is put where nothing else is.
        if bytes > bar.size {
            bar.address = 0x7000_0000_0000 + (u64::from(f.bdf.bus) << 40);
        }
        bar.size = bytes;
    }
    virtual_functions(functions, at, key, p)
}

fn virtual_functions(functions: &mut Vec<Function>, at: usize, key: &str, p: &PciPatch) -> Result<(), DescribeError> {
    if p.vfs.is_none() && p.total_vfs.is_none() {
        return Ok(());
    }
    let card = functions.get(at).map(|f| (f.bdf.domain, f.bdf.bus, f.bdf.device));
    let physical =
        |f: &&Function| matches!(f.kind, Kind::Nic { .. }) && Some((f.bdf.domain, f.bdf.bus, f.bdf.device)) == card;
    let on_card = functions.iter().filter(physical).count().max(1) as u16;
    let Some(f) = functions.get_mut(at) else { return Ok(()) };
    let Some(sriov) = f.sriov.as_mut() else {
        return Err(DescribeError::impossible(
            format!("[pci.{key:?}] has no SR-IOV capability, so no virtual functions"),
            "set vfs on a NIC (nic0)",
        ));
    };
    sriov.total = p.total_vfs.unwrap_or(sriov.total);
    sriov.number = p.vfs.unwrap_or(sriov.number);
    if sriov.number > sriov.total.min(127) {
        let what = format!("[pci.{key:?}] {} virtual functions of {}", sriov.number, sriov.total);
        return Err(DescribeError::impossible(what, "raise total_vfs; at most 127"));
    }
    // The virtual functions of a card's first function follow its last function, those of the next follow them: as many numbers as
    // there may be.
    sriov.offset = on_card + u16::from(f.bdf.function) * sriov.total.saturating_sub(1);
    let last = u16::from(f.bdf.device) * 8 + u16::from(f.bdf.function) + sriov.offset + sriov.number;
    if last > 256 {
        let what =
            format!("[pci.{key:?}] {} virtual functions after {} of the functions before", sriov.number, sriov.total);
        return Err(DescribeError::impossible(what, "lower total_vfs: a bus has 256 numbers"));
    }
    let (sriov, pf) = (*sriov, f.clone());
    if let Some(port) = pf.parent.filter(|_| sriov.number > 0 && pf.ari).and_then(|p| functions.get_mut(p)) {
        port.ari_forwarding = true;
    }
    for index in 0..sriov.number {
        let mut vf = models::vf();
        let devfn = u16::from(pf.bdf.device) * 8 + u16::from(pf.bdf.function) + sriov.offset + index * sriov.stride;
        (vf.bdf, vf.root_bus, vf.parent) = (pf.bdf, pf.root_bus, pf.parent);
        (vf.bdf.device, vf.bdf.function) = ((devfn >> 3) as u8 & 31, devfn as u8 & 7);
        (vf.socket, vf.numa, vf.subsystem, vf.class) = (pf.socket, pf.numa, pf.subsystem, pf.class);
        (vf.kind, vf.model) = (Kind::Vf { parent: at, index }, pf.model);
        vf.names = pf.names.iter().map(|n| format!("{n}.vf{index}")).collect();
        functions.push(vf);
    }
    Ok(())
}

fn link(functions: &mut [Function], at: usize, key: &str, p: &PciPatch) -> Result<(), DescribeError> {
    let speed = |s: &Option<Scalar>| match s {
        None => Ok(None),
        Some(s) => LinkSpeed::parse(&s.0).map(Some).ok_or_else(|| {
            DescribeError::impossible(format!("[pci.{key:?}] link speed {:?}", s.0), "2.5, 5, 8, 16, 32 or 64 (GT/s)")
        }),
    };
    let (now_speed, max_speed) = (speed(&p.link_speed)?, speed(&p.max_link_speed)?);
    if now_speed.is_none() && max_speed.is_none() && p.link_width.is_none() && p.max_link_width.is_none() {
        return Ok(());
    }
    let partner = functions.get(at).and_then(|f| match f.port {
        Some(crate::function::Port::Root | crate::function::Port::Down) => {
            functions.iter().position(|c| c.parent == Some(at))
        }
        _ => f.parent,
    });
    let Some(own) = functions.get_mut(at).and_then(|f| f.link.as_mut()) else {
        return Err(DescribeError::impossible(format!("[pci.{key:?}] has no PCIe link"), "name a port or a card"));
    };
    own.max_speed = max_speed.unwrap_or(own.max_speed);
    own.max_width = p.max_link_width.unwrap_or(own.max_width);
    // Without an explicit value, a link trains to what both ends still can.
    own.speed = now_speed.unwrap_or(own.speed.min(own.max_speed));
    own.width = p.link_width.unwrap_or(own.width.min(own.max_width));
    let Link { speed, width, .. } = *own;
    if let Some(other) = partner.and_then(|i| functions.get_mut(i)).and_then(|f| f.link.as_mut()) {
        (other.speed, other.width) = (speed, width);
    }
    Ok(())
}

/// `256M`, `16G`, `4096`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("iB");
    let (number, shift) = match text.chars().last()? {
        'K' => (text.strip_suffix('K')?, 10),
        'M' => (text.strip_suffix('M')?, 20),
        'G' => (text.strip_suffix('G')?, 30),
        _ => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_shl(shift).filter(|b| *b >> shift == number.parse().unwrap_or(0))
}
