//! `NCCL_SOCKET_IFNAME`: which interfaces for sockets.

use super::{Case, Judgement, Kind, Severity, words};
use crate::value::Filter;

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if case.name != "NCCL_SOCKET_IFNAME" || !out.is_empty() {
        return;
    }
    let filter = Filter::parse(case.value);
    let names: Vec<&str> = filter.entries.iter().map(|e| e.name.as_str()).collect();
    let say = |kind, severity, m: String| case.say(kind, severity, m);
    if let Some(j) = super::forms::blanks(case, &names) {
        out.push(j);
        return;
    }
    if let Some(odd) = names.iter().find(|n| n.starts_with(['=', '^'])) {
        out.push(say(
            Kind::Illegal,
            Severity::Medium,
            format!("`=` and `^` hold for the whole list and count at its beginning only: `{odd}` matches nothing"),
        ));
        return;
    }
    let device =
        |n: &&&str| ["mlx4_", "mlx5_", "bnxt_re", "irdma", "rdmap", "efa_", "hfi1_"].iter().any(|p| n.starts_with(p));
    if let Some(d) = names.iter().find(device) {
        let j = say(
            Kind::Illegal,
            Severity::High,
            format!("`{d}` is an RDMA device, not a network interface: NCCL finds no interface and ends"),
        );
        out.push(
            j.suggest(format!("NCCL_IB_HCA={} for RDMA; here the interface that has the nodes' addresses", case.value)),
        );
        return;
    }
    if filter.exclude {
        let covers = |name: &str| !filter.takes(name, None);
        if !covers("lo") {
            let j = say(
                Kind::Harmful,
                Severity::High,
                "excludes, but not lo: ranks can get 127.0.0.1, and other nodes cannot reach them".to_owned(),
            );
            out.push(j.set(format!("{filter},lo")));
            return;
        }
        if !covers("docker0") && !filter.exact {
            out.push(
                say(
                    Kind::Harmful,
                    Severity::Medium,
                    "excludes, but not docker: docker0 has the same address on every node".to_owned(),
                )
                .set(format!("{filter},docker")),
            );
            return;
        }
    } else if names.iter().any(|n| *n == "lo" || n.starts_with("docker")) {
        out.push(
            say(
                Kind::Harmful,
                Severity::Medium,
                "an interface that other nodes cannot reach: right on a single node only".to_owned(),
            )
            .suggest("name the interface that has the nodes' addresses, or unset it"),
        );
        return;
    }
    on_node(case, &filter, out);
}

fn on_node(case: &Case<'_>, filter: &Filter, out: &mut Vec<Judgement>) {
    let Some(all) = case.context.node.as_ref().and_then(|n| n.interfaces.as_ref()) else {
        out.push(
            case.say(
                Kind::Undecided,
                Severity::Info,
                "whether nodes reach each other over it is not visible from here",
            )
            .suggest("add --node SNAPSHOT"),
        );
        return;
    };
    let taken: Vec<&str> = all.iter().filter(|i| filter.takes(&i.name, None)).map(|i| i.name.as_str()).collect();
    if taken.is_empty() {
        // A snapshot's network namespace is the host's; a pod has its own.
        let j = case.say(
            Kind::Harmful,
            Severity::High,
            "this node has no such interface: NCCL ends with \"no socket interface found\"",
        );
        out.push(j.suggest("in a pod without the host's network look at its own interfaces, such as eth0"));
        return;
    }
    let up = |n: &&str| all.iter().any(|i| i.name == **n && i.up != Some(false));
    if !taken.iter().any(up) {
        out.push(case.say(Kind::Harmful, Severity::High, format!("{} is down", words(&taken))));
        return;
    }
    out.push(case.say(Kind::Fine, Severity::Info, format!("takes {} here", words(&taken))));
}
