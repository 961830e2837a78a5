//! The tuner, its tables, and the counts of channels.

use super::writer::Pen;
use crate::printf::Value;
use crate::release::Release;

/// The tuner's choice, thresholds, tables, channels.
pub(super) fn tuning(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let list =
        if pen.rank.release >= Release(2, 24, 3) { " libnccl-tuner.so" } else { " libnccl-net.so libnccl-tuner.so" };
    pen.say("tuner.none", &[("liblist", list.into())]);
    if pen.rank.release < Release(2, 24, 3) {
        pen.say("tuner.internal", &[("fallback", "Using internal tuner plugin.".into())]);
    }
    for (name, id) in [("NCCL_ALGO", "env.algo"), ("NCCL_PROTO", "env.proto")] {
        if let Some(value) = facts.env(name).map(str::to_owned) {
            pen.say(id, &[("value", value.into())]);
        }
    }
    let mut given: Vec<(&str, Value)> = vec![
        ("nthreads", 256.into()),
        ("mincc", (facts.job.gpu.sm() / 10).into()),
        ("treestate", "enabled up to size -2".into()),
    ];
    given.extend([("nt0", 512.into()), ("nt1", 640.into()), ("nt2", 512.into())]);
    pen.say("threads", &given);
    let n = facts.nranks() as i64;
    pen.say(
        "thresholds",
        &[
            ("th0", 8.into()),
            ("th1", 8.into()),
            ("th2", 64.into()),
            ("th3", (n * 8).into()),
            ("th4", 8.into()),
            ("th5", 64.into()),
            ("th6", 512.into()),
            ("th7", 512.into()),
            ("th8", 64.into()),
        ],
    );
    if pen.rank.rank == 0 {
        table(pen);
    }
    let ch = facts.channels;
    pen.say(
        "channels.count",
        &[
            ("nch", ch.into()),
            ("nnvls", if facts.job.gpu.sm() >= 90 { 16 } else { 0 }.into()),
            ("np2p", ch.max(2).into()),
            ("npeer", 2.into()),
        ],
    );
    pen.say("cc", &[("ccstate", "Off".into()), ("fifo", 1_048_576.into())]);
}

fn table(pen: &mut Pen<'_>) {
    let algos = ["Tree", "Ring"];
    let protos = ["LL", "LL128", "Simple"];
    let cells: Vec<(&str, &str)> = algos.iter().flat_map(|a| protos.iter().map(|p| (*a, *p))).collect();
    if pen.rank.release < Release(2, 18, 1) {
        let mut line = pen.text("part.tuning.head", &[]).unwrap_or_default();
        for (algo, proto) in &cells {
            line += &pen
                .text("part.tuning.cell", &[("algo", (*algo).into()), ("proto", (*proto).into())])
                .unwrap_or_default();
        }
        pen.say("tuning.line", &[("line", line.into())]);
    } else {
        let mut line = pen.text("part.tuning.algohead", &[]).unwrap_or_default();
        for algo in algos {
            line += &pen.text("part.tuning.algo", &[("algo", algo.into())]).unwrap_or_default();
        }
        pen.say("tuning.line", &[("line", line.into())]);
        let mut line = pen.text("part.tuning.protohead", &[]).unwrap_or_default();
        for (_, proto) in &cells {
            line += &pen.text("part.tuning.proto", &[("proto", (*proto).into())]).unwrap_or_default();
        }
        pen.say("tuning.line", &[("line", line.into())]);
    }
    if let Some(mut line) = pen.text("part.tuning.maxhead", &[]) {
        for _ in &cells {
            line += &pen.text("part.tuning.max", &[("nt0", 512.into())]).unwrap_or_default();
        }
        pen.say("tuning.line", &[("line", line.into())]);
    }
    for (i, function) in ["Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"].iter().enumerate() {
        let mut line = pen.text("part.tuning.func", &[("func", (*function).into())]).unwrap_or_default();
        for j in 0..cells.len() {
            let given = [("lat", (6.6 + (i * 3 + j * 5) as f64).into()), ("bw", (12.0 + j as f64 * 7.5).into())];
            line += &pen.text("part.tuning.value", &given).unwrap_or_default();
        }
        pen.say("tuning.line", &[("line", line.into())]);
    }
}
