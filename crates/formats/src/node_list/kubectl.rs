//! `kubectl get nodes`, and `-o wide`: the columns of `printNode` (pkg/printers/internalversion/printers.go of Kubernetes).

use super::{Row, keep, write};
use crate::bounds::{CLUSTER_NODES, Kept};
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `kubectl get nodes`.
pub const TOOL: Tool = Tool {
    name: "kubectl-nodes",
    called: "kubectl get nodes",
    run: "kubectl get nodes",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| l.starts_with("NAME ") && l.contains(" ROLES ") && l.contains(" VERSION")).begins(&["NAME "])
    ],
    commands: &[Command::with("kubectl", &["get", "nodes"]), Command::with("oc", &["get", "nodes"])],
    of_cluster: true,
    read: Some(|b| {
        seen(parse(b));
        seen(shown(b));
    }),
    samples: &[
        "NAME         STATUS   ROLES    AGE   VERSION\ngpu-node-1   Ready    worker   12d   v1.31.4\n",
        "NAME   STATUS                        ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE\na      NotReady,SchedulingDisabled   <none>   1d    v1.31.4   192.0.2.1     <none>        Ubuntu 24.04\n",
    ],
    ..Tool::NONE
};

/// The nodes of a list.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Row> {
    read(bytes, CLUSTER_NODES)
}

fn read(bytes: &[u8], most: usize) -> Kept<Row> {
    let text = decode(bytes);
    let (mut out, mut below) = (Kept::default(), false);
    for (line, raw) in lines(&text) {
        let mut words = raw.split_whitespace();
        let (Some(name), Some(status)) = (words.next(), words.next()) else { continue };
        if name == "NAME" {
            below = status == "STATUS";
        } else if below && let Some(used) = used(status) {
            let (nodes, state) = (name.to_owned(), status.to_owned());
            keep(&mut out, Row { line, nodes, state, used: Some(used), reason: None }, most);
        }
    }
    out
}

/// Whether pods start on a node; `None`: it is no status of a node.
fn used(status: &str) -> Option<bool> {
    let is_word = |w: &str| matches!(w, "Ready" | "NotReady" | "Unknown" | "SchedulingDisabled");
    status.split(',').all(is_word).then_some(status == "Ready")
}

/// The list with nothing but names and states: [`parse`] gives the same of it.
#[must_use]
pub fn shown(bytes: &[u8]) -> Vec<u8> {
    let count = lines(&decode(bytes)).last().map_or(0, |(n, _)| n);
    let rows = read(bytes, usize::MAX).items;
    write(&rows, count, &|_| "NAME STATUS ROLES VERSION", &|r| format!("{} {}", r.nodes, r.state)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
$ kubectl get nodes -o wide
NAME      STATUS                     ROLES           AGE    VERSION   INTERNAL-IP   OS-IMAGE
master1   Ready                      control-plane   104d   v1.29.5   192.0.2.1     Ubuntu 22.04
gpu1      Ready,SchedulingDisabled   worker          104d   v1.29.5   192.0.2.2     Ubuntu 22.04
gpu2      NotReady                   worker          104d   v1.29.5   192.0.2.3     Ubuntu 22.04

NAME      READY   STATUS    RESTARTS   AGE
train-0   1/1     Running   0          4d
";

    #[test]
    fn a_list() {
        let all = parse(LIST.as_bytes()).items;
        let got: Vec<_> = all.iter().map(|r| (r.line, r.nodes.as_str(), r.used)).collect();
        assert_eq!(got, [(3, "master1", Some(true)), (4, "gpu1", Some(false)), (5, "gpu2", Some(false))]);
        let kept = shown(LIST.as_bytes());
        assert_eq!(parse(&kept), parse(LIST.as_bytes()), "{}", String::from_utf8_lossy(&kept));
        assert_eq!((shown(&kept), kept.iter().filter(|b| **b == b'\n').count()), (kept.clone(), 8));
        assert!(parse(b"gpu1 NotReady\nNAME STATUS\ngpu1 is NotReady\nSTATUS\n").items.is_empty());
    }
}
