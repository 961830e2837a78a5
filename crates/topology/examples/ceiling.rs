//! Prints the ceilings of a node: `ceiling FILE [nodes] [ib|roce|?] [mtu]`, FILE as NCCL has it after filling and merging.

use linerate_topology::ceiling::{Extra, Port, node_ceilings};
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Document, Input};
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| args.get(i).map(String::as_str);
    let file = word(0).ok_or("give a topology file")?;
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
