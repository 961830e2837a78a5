//! Bootstrap, environment, plugin, and what the network finds.

use super::facts::Facts;
use super::spec::Fault;
use super::writer::Pen;
use crate::printf::Value;
use crate::release::Release;

/// `10.1.0.11<0>`, in the words of the release.
pub(super) fn endpoint(pen: &mut Pen<'_>, node: usize, port: u64) -> String {
    let (_, address) = pen.facts.address(node);
    pen.text("part.addr", &[("host", address.as_str().into()), ("port", port.to_string().into())]).unwrap_or_default()
}

/// The interface of the bootstrap, and the variable that chose it.
pub(super) fn bootstrap(pen: &mut Pen<'_>) {
    let node = pen.rank.node;
    if let Some(value) = pen.facts.env("NCCL_SOCKET_IFNAME").map(str::to_owned) {
        let given = [("value", value.as_str().into())];
        pen.say("env.ifname", &given);
        pen.say("env.ifname.net", &given);
    }
    if pen.facts.has(|f| matches!(f, Fault::NoInterface { node: n } if *n == node)) {
        return;
    }
    let (ifname, _) = pen.facts.address(node);
    let address = endpoint(pen, node, 0);
    let line = if pen.rank.release < Release(2, 8, 3) {
        pen.text("part.sockif", &[("d", 0.into()), ("ifname", ifname.into()), ("oobaddr", address.into())])
    } else {
        pen.text("part.bootif", &[("ifname", ifname.into())]).map(|l| l + &address)
    };
    pen.say("bootstrap.using", &[("line", line.unwrap_or_default().into())]);
}

/// Variables that NCCL names when it reads them, each by its own form.
pub(super) fn environment(pen: &mut Pen<'_>) {
    for (name, value) in &pen.facts.job.env {
        let text: Value = value.as_str().into();
        let given = [("name", name.as_str().into()), ("value", text)];
        match name.as_str() {
            "NCCL_IB_HCA" | "NCCL_SOCKET_IFNAME" | "NCCL_NET" | "NCCL_DEBUG" | "NCCL_DEBUG_SUBSYS" => {}
            "NCCL_NET_PLUGIN" => {
                pen.say("env.netplugin", &given);
            }
            "NCCL_COMM_ID" => {
                pen.say("env.commid", &given);
            }
            "NCCL_HOSTID" => {
                pen.say("env.hostid", &given);
            }
            "NCCL_NET_GDR_LEVEL"
            | "NCCL_P2P_LEVEL"
            | "NCCL_ALGO"
            | "NCCL_PROTO"
            | "NCCL_TOPO_FILE"
            | "NCCL_TOPO_DUMP_FILE" => {}
            n if n.starts_with("NCCL_DEBUG_") => {}
            _ => {
                if let Ok(number) = value.parse::<i64>() {
                    pen.say("env.param", &[("name", name.as_str().into()), ("ivalue", number.into())]);
                }
            }
        }
    }
}

/// The plugin, then IB, then sockets: the first with devices carries the traffic.
pub(super) fn load(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let (node, release) = (pen.rank.node, pen.rank.release);
    let network = facts.network(node);
    plugin(pen);
    let by_plugin = !matches!(network, "IB" | "Socket");
    let disabled = facts.env("NCCL_IB_DISABLE") == Some("1") || facts.env("NCCL_NET") == Some("Socket");
    if !by_plugin {
        if !disabled {
            ib(pen);
        }
        if network == "Socket" {
            if release >= Release(2, 28, 3) && !disabled {
                pen.say("plugin.initfailed", &[("netname", "IB".into())]);
            }
            let (ifname, _) = facts.address(node);
            let address = endpoint(pen, node, 0);
            let line =
                pen.text("part.sockif", &[("d", 0.into()), ("ifname", ifname.into()), ("oobaddr", address.into())]);
            pen.say("socket.using", &[("line", line.unwrap_or_default().into())]);
        }
    }
    pen.say("plugin.initialized", &[]);
    pen.say("plugin.assigned", &[]);
    pen.say("network", &[]);
    if facts.dmabuf() && network != "Socket" {
        pen.say("dmabuf", &[]);
    }
}

fn plugin(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let release = pen.rank.release;
    let env = facts.env("NCCL_NET_PLUGIN");
    let lib = match env {
        Some("none") | None => "libnccl-net.so".to_owned(),
        Some(name) => format!("libnccl-net-{name}.so"),
    };
    let missing = format!("{lib}: cannot open shared object file: No such file or directory");
    let given = |dlerror: &str| -> Vec<(&'static str, Value)> {
        vec![
            ("lib", lib.as_str().into()),
            ("liblist", format!(" {lib}").into()),
            ("errno", 2.into()),
            ("dlerror", dlerror.into()),
            ("fallback", "".into()),
        ]
    };
    if let Some(name) = env
        && name != "none"
        && (release < Release(2, 28, 3))
    {
        pen.say("plugin.envname", &given(""));
    }
    if env == Some("none") {
        return;
    }
    match facts.job.plugin.as_str() {
        "none" => {
            let missing = given(&missing);
            // Until 2.18 the loader's error came first; later only other errors than "no such file" are told.
            if (Release(2, 17, 1)..Release(2, 19, 1)).contains(&release) {
                pen.say("plugin.loaderr", &missing);
            }
            pen.say("plugin.none", &missing);
            if release == Release(2, 21, 5) {
                pen.say("plugin.internal", &[]);
            }
        }
        "old" => {
            // A plugin of before NCCL's oldest supported interface: found, and not usable.
            for id in [
                "plugin.nosymbol.v10",
                "plugin.nosymbol.v9",
                "plugin.nosymbol.v8",
                "plugin.nosymbol.v6",
                "plugin.nosymbol",
            ] {
                pen.say(id, &[]);
            }
            pen.say("plugin.unsupported", &given(""));
        }
        kind => external(pen, kind, &lib, &given("libfabric.so.1: cannot open shared object file: Permission denied")),
    }
}

/// A plugin that is there: it loads, or lacks what it needs, or loads and cannot start.
fn external(pen: &mut Pen<'_>, kind: &str, lib: &str, broken: &[(&'static str, Value)]) {
    let release = pen.rank.release;
    let failed = pen.facts.job.fault.iter().find_map(|f| match f {
        Fault::PluginInitFailed { missing } => Some(*missing),
        _ => None,
    });
    if failed == Some(true) {
        if !pen.say("plugin.error", broken) {
            pen.say("plugin.loaderr", broken);
        }
        pen.say("plugin.tried", broken);
        if release >= Release(2, 21, 5) {
            pen.say("plugin.internal", broken);
        }
        return;
    }
    if kind == "OFI" {
        pen.foreign("NET/OFI Initializing aws-ofi-nccl 1.14.0");
        if failed.is_some() {
            pen.foreign("NET/OFI Couldn't find any optimal provider");
            pen.foreign("NET/OFI aws-ofi-nccl initialization failed");
        } else {
            pen.foreign("NET/OFI Selected provider is efa, fabric is efa (found 4 nics)");
        }
    }
    let name = super::facts::plugin_name(kind, release);
    let name = [("netname", Value::from(name)), ("lib", lib.into())];
    match release {
        r if r >= Release(2, 28, 3) => pen.say("plugin.loaded.v11", &name),
        r if r >= Release(2, 26, 2) => pen.say("plugin.loaded.v10", &name),
        r if r >= Release(2, 24, 3) => pen.say("plugin.loaded.v9", &name),
        // v8 is taken without a word until 2.24; what is told is a search that fell back.
        r if r >= Release(2, 20, 3) => pen.say("plugin.nosymbol.v8", &[]) && pen.say("plugin.loaded.v7", &name),
        _ => pen.say("plugin.nosymbol.v6", &[]) && pen.say("plugin.loaded.v5", &name),
    };
    pen.say("plugin.success", &name);
    if failed.is_some() {
        pen.say("plugin.initfailed", &name);
    }
}

fn ib(pen: &mut Pen<'_>) {
    let facts = pen.facts;
    let (node, release) = (pen.rank.node, pen.rank.release);
    if facts.has(|f| matches!(f, Fault::NoLibibverbs)) {
        pen.say(
            "ib.dlopen",
            &[("dlerror", "libibverbs.so.1: cannot open shared object file: No such file or directory".into())],
        );
        return;
    }
    if let Some(value) = facts.env("NCCL_IB_HCA").map(str::to_owned) {
        pen.say("env.hca", &[("value", value.into())]);
    }
    let hcas = facts.hcas(node);
    if hcas.is_empty() {
        pen.say("ib.none", &[]);
        return;
    }
    let link = if facts.job.fabric == "roce" { "RoCE" } else { "IB" };
    let mut line = String::new();
    let merged = facts.job.merged && (Release(2, 20, 3)..Release(2, 24, 3)).contains(&release);
    if facts.job.merged {
        for (d, name) in hcas.iter().enumerate() {
            device_line(pen, d, name, link);
        }
    }
    for (d, name) in hcas.iter().enumerate() {
        let given = [("d", Value::from(d)), ("hca", name.as_str().into()), ("port", 1.into()), ("link", link.into())];
        if merged {
            let mut g = given.to_vec();
            if d % 2 == 0 {
                line += &pen.text("part.merged.open", &[("d", (d / 2).into())]).unwrap_or_default();
            }
            let last = d % 2 == 1 || d + 1 == hcas.len();
            g.push(("comma", if last { "" } else { ", " }.into()));
            line += &pen.text("part.merged.dev", &g).unwrap_or_default();
            if last {
                line.push('}');
            }
        } else if release >= Release(2, 30, 7) {
            line += &pen.text("part.ibdev30", &given).unwrap_or_default();
            line += &pen.text("part.iblink", &given).unwrap_or_default();
        } else {
            line += &pen.text("part.ibdev", &given).unwrap_or_default();
        }
    }
    let (oobif, _) = facts.address(node);
    let oobaddr = endpoint(pen, node, 0);
    let given = [("line", line.into()), ("ro", "[RO]".into()), ("oobif", oobif.into()), ("oobaddr", oobaddr.into())];
    pen.say("ib.using", &given);
    if release < Release(2, 13, 4) && !facts.job.peermem && facts.job.peermem_matters() {
        for (d, name) in hcas.iter().enumerate() {
            pen.say("ib.nomodule", &[("hcadev", d.into()), ("hca", name.as_str().into())]);
        }
    }
}

fn device_line(pen: &mut Pen<'_>, d: usize, name: &str, link: &str) {
    let given = [
        ("d", Value::from(d)),
        ("hca", name.into()),
        ("port", 1.into()),
        ("link", link.into()),
        ("provider", "Mlx5".into()),
        ("speed", 400_000.into()),
        ("pcipath", format!("/sys/devices/pci0000:{:02x}/0000:{:02x}:00.0", d * 16, d * 16 + 1).into()),
        ("ar", 1.into()),
        ("ooo", 0.into()),
        ("ndevs", 1.into()),
        ("rail", Value::Int(-1)),
        ("plane", Value::Int(-1)),
    ];
    pen.say("ib.device", &given);
    pen.say("ib.vnic", &given);
}

impl super::spec::Job {
    fn peermem_matters(&self) -> bool {
        self.fabric != "none"
    }
}

/// What NCCL calls the NIC number in later lines: an index until 2.20, then an id of the topology, here the same.
pub(super) fn nic(facts: &Facts<'_>, node: usize, gpu: usize) -> usize {
    facts.nic_of(node, gpu)
}
