//! The order of things in a job: bootstrap, network, peers, topology, connections, traffic, end. A fault ends it where it strikes.

use super::facts::Facts;
use super::fail::{self, Stage};
use super::writer::{Entry, Pen, Voice};
use super::{connect, graph, network, run, tuning};
use crate::release::Release;

/// What one rank does after another, and what went wrong in writing it.
pub(crate) fn play(facts: &Facts<'_>, info: bool, subsystems: Option<Vec<String>>) -> (Vec<Entry>, Vec<String>) {
    let voice = Voice { info, subsystems };
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for rank in &facts.ranks {
        let mut pen = Pen::new(facts, rank, &voice);
        live(&mut pen);
        lines.append(&mut pen.lines);
        errors.append(&mut pen.errors);
    }
    // Each rank's own lines stay in order; ranks and hosts mix as they really do.
    lines.sort_by(|a, b| a.time.total_cmp(&b.time));
    (lines, errors)
}

fn live(pen: &mut Pen<'_>) {
    let start = pen.draw(40) as f64 / 100.0;
    pen.wait(start);
    network::bootstrap(pen);
    if fail::strikes(pen, Stage::Bootstrap) {
        return;
    }
    version(pen);
    network::environment(pen);
    network::load(pen);
    if fail::strikes(pen, Stage::Network) {
        return;
    }
    pen.thread = 70 + pen.rank.gpu as u32;
    graph::start(pen);
    if fail::strikes(pen, Stage::Peers) {
        return;
    }
    graph::topology(pen);
    if fail::strikes(pen, Stage::Topology) {
        return;
    }
    if graph::compare_devices(pen) {
        fail::few_devices(pen);
        return;
    }
    graph::rings(pen);
    pen.wait(0.2);
    connect::all(pen);
    if fail::strikes(pen, Stage::Connect) {
        return;
    }
    tuning::tuning(pen);
    graph::complete(pen);
    pen.thread = 0;
    run::collectives(pen, 0, 2);
    if fail::strikes(pen, Stage::FirstTraffic) {
        return;
    }
    run::collectives(pen, 2, 12);
    if fail::strikes(pen, Stage::Traffic) {
        return;
    }
    pen.wait(3.0);
    pen.say("proxy.closed", &[]);
    pen.say("comm.destroy", &[]);
}

/// Rank 0 says the version: alone by printf until 2.21, then as INFO, or as VERSION where INFO is off.
fn version(pen: &mut Pen<'_>) {
    pen.say("cuda.driver", &[("cudadriver", (pen.facts.cuda.0 * 1000 + pen.facts.cuda.1 * 10).into())]);
    if pen.rank.rank != 0 {
        return;
    }
    let text = format!("NCCL version {}+cuda{}.{}", pen.rank.release, pen.facts.cuda.0, pen.facts.cuda.1);
    let given = [("version", text.as_str().into())];
    if pen.rank.release < Release(2, 22, 3) {
        pen.say("version.printf", &given);
    } else if pen.voice.info {
        pen.say("version.info", &given);
    } else {
        pen.say("version", &given);
    }
}
