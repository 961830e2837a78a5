//! Collectives, where the voice hears `COLL`.

use super::spec::Fault;
use super::writer::Pen;
use crate::printf::Value;

/// Collectives number `from` to `to`.
pub(super) fn collectives(pen: &mut Pen<'_>, from: u64, to: u64) {
    let behind = pen.facts.job.fault.iter().find_map(|f| match f {
        Fault::Watchdog { behind, op } => Some((*behind, op.clone())),
        _ => None,
    });
    for opcount in from..to {
        pen.wait(0.4);
        let mut name = "AllReduce";
        if let Some((rank, op)) = &behind
            && *rank == pen.rank.rank
            && opcount + 1 == 12
        {
            match op.as_str() {
                "" => break,
                _ => name = "Broadcast",
            }
        }
        one(pen, name, opcount, 1 << (18 + opcount % 6));
    }
}

/// One collective: its line, and the tuner's.
pub(crate) fn one(pen: &mut Pen<'_>, name: &str, opcount: u64, count: i64) {
    let given: [(&str, Value); 13] = [
        ("coll", name.into()),
        ("opcount", opcount.into()),
        ("count", count.into()),
        ("datatype", 9.into()),
        ("op", 0.into()),
        ("root", 0.into()),
        ("bytes", (count * 2).into()),
        ("algoi", 1.into()),
        ("protoi", 2.into()),
        ("timef", 41.25.into()),
        ("algo", "RING".into()),
        ("proto", "SIMPLE".into()),
        ("nch1", 7.into()),
    ];
    pen.say("coll", &given);
    pen.say("coll.tuning", &given);
}
