//! Prints ceilings: `ceiling` those of the clusters in the field notes, from figures alone;
//! `ceiling FILE [nodes] [ib|roce|?] [mtu]` those of a node, FILE as NCCL has it after filling and merging.

use linerate_formats::pci::LinkSpeed;
use linerate_topology::ceiling::{
    Direction, Extra, NicTotal, PcieLink, Port, Protocol, Shape, adapter, between, node_ceilings,
};
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Document, Input};
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| args.get(i).map(String::as_str);
    let Some(file) = word(0) else { return clusters() };
    let document = Document::parse(&std::fs::read(file)?, Dialect::Nccl)?;
    let nodes = word(1).map(str::parse).transpose()?;
    let config = Config { input: Input::Fused, nodes: nodes.unwrap_or(1), ..Config::default() };
    let analysis = Analysis::new(&document, &config)?;
    let infiniband = match word(2) {
        Some("ib") => Some(true),
        Some("roce") => Some(false),
        _ => None,
    };
    let any_port = Port { infiniband, mtu: word(3).map(str::parse).transpose()?, ..Port::default() };
    let c = node_ceilings(&analysis, &Extra { nodes, any_port, ..Extra::default() });
    let mut out = std::io::stdout().lock();
    for n in &c.nics {
        let gpu = n.gpu.as_deref().unwrap_or("no GPU");
        for (what, d) in [
            ("receives into host memory", &n.host_receive),
            ("sends from host memory", &n.host_send),
            (&*format!("receives into {gpu}"), &n.gpu_receive),
            (&*format!("sends from {gpu}"), &n.gpu_send),
        ] {
            if let Some(d) = d {
                writeln!(out, "{} {what}: {d}", n.name)?;
            }
        }
    }
    for (where_, list) in [("within the node", &c.intra), ("between nodes", &c.inter)] {
        for x in list {
            writeln!(out, "{} {where_}, {}: {}", x.collective, x.algorithm, x.bus)?;
        }
    }
    for n in &c.notes {
        writeln!(out, "note: {n}")?;
    }
    Ok(())
}

/// What is known of them: counts, rates and MTUs, no topology.
fn clusters() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let port =
        |rate, protocol, mtu| Port { rate: Some(rate), protocol: Some(protocol), mtu: Some(mtu), ..Port::default() };
    writeln!(out, "ConnectX-3, 40 GbE, 2K MTU, PCIe Gen3 x8:")?;
    let slot = PcieLink { mps: Some(256), ..PcieLink::new(LinkSpeed::Gen3, 8) };
    for protocol in [Protocol::RoceV1, Protocol::RoceV2] {
        let (one, two) = (("port 1", port(40.0, protocol, 2048)), ("port 2", port(40.0, protocol, 2048)));
        let alone = adapter(&[one], Some(&slot), Direction::Write).ok_or("no rate")?;
        let mib = alone.gigabytes().high * 1e9 / 1_048_576.0;
        writeln!(out, "{}: {:.0} MiB/s as perftest counts; {alone}", protocol.name(), mib)?;
        let both = adapter(&[one, two], Some(&slot), Direction::Write).ok_or("no rate")?;
        writeln!(out, "both ports at once: {}", both.sentence())?;
    }
    for (what, protocol) in [("RoCE v2", Protocol::RoceV2), ("InfiniBand", Protocol::InfiniBand)] {
        writeln!(out, "\n2 nodes of 4 GPUs and 4 × 400G, {what}, MTU 4096:")?;
        let one = port(400.0, protocol, 4096).payload("400G NIC").ok_or("no rate")?;
        writeln!(out, "one NIC: {one}")?;
        let total = NicTotal::of_equal(4, &one).ok_or("no NIC")?;
        for c in between(Shape { nodes: 2, gpus: 4 }, &total) {
            let step = c.bus.steps.last().map(ToString::to_string).unwrap_or_default();
            writeln!(out, "{}, {}: {}\n  {step}", c.collective, c.algorithm, c.bus.sentence())?;
        }
    }
    Ok(())
}
