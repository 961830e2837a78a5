//! A log of a large job, of any length, for benchmarks: written as it is made, never whole in memory.

use std::io::{self, Write};

use crate::job::{Facts, Gpu, Job, play};
use crate::release::Release;

/// Ranks of the large job: 128 nodes of 8.
const NODES: usize = 128;

/// Writes about `bytes`: the start of a job of 1,024 ranks, then collectives.
///
/// # Errors
/// What the writer says.
pub fn write(out: &mut impl Write, bytes: u64, release: Release, seed: u64) -> io::Result<u64> {
    let job = Job { nodes: NODES, gpu: Gpu::H100, ..Job::default() };
    let facts = Facts::new(&job, release, seed);
    let mut written = 0_u64;
    let subsystems = ["INIT", "ENV", "NET", "GRAPH", "COLL"].map(String::from).to_vec();
    for line in play(&facts, true, Some(subsystems)).0 {
        out.write_all(line.text.as_bytes())?;
        written += line.text.len() as u64;
        if written >= bytes {
            return Ok(written);
        }
    }
    let hosts: Vec<String> = facts
        .ranks
        .iter()
        .map(|r| format!("{}:{}:{} [{}] NCCL INFO ", facts.host(r.node), r.pid, r.pid, r.gpu))
        .collect();
    let mut opcount = 12_u64;
    let mut line = Vec::with_capacity(512);
    while written < bytes {
        for (rank, head) in facts.ranks.iter().zip(&hosts) {
            line.clear();
            // The words of the form `coll`; a test compares.
            writeln!(
                line,
                "{head}AllReduce: opCount {opcount:x} sendbuff 0x7f{:010x} recvbuff 0x7f{:010x} count {} datatype 9 op 0 root 0 comm 0x{:x} [nranks={}] stream 0x{:x}",
                (opcount * 0x20_0000) & 0xff_ffff_ffff,
                (opcount * 0x20_0000 + 0x1000_0000) & 0xff_ffff_ffff,
                1 << (18 + opcount % 6),
                rank.comm,
                hosts.len(),
                rank.comm + 0x4000
            )?;
            out.write_all(&line)?;
            written += line.len() as u64;
            if written >= bytes {
                break;
            }
        }
        opcount += 1;
    }
    Ok(written)
}
