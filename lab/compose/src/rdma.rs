//! `sys/class/infiniband`, and what `ibv_devinfo` prints of it.

use crate::compose::{Commands, Plan};
use crate::description::{Fabric, Gid, RdmaPatch};
use crate::net::NicPort;
use crate::seed::colons;
use crate::{DescribeError, Tree, glob, patch};
use std::collections::BTreeMap;
use std::fmt::Write;

const COUNTERS: [&str; 21] = [
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "multicast_rcv_packets",
    "multicast_xmit_packets",
    "port_rcv_constraint_errors",
    "port_rcv_data",
    "port_rcv_errors",
    "port_rcv_packets",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_packets",
    "port_xmit_wait",
    "symbol_error",
    "unicast_rcv_packets",
    "unicast_xmit_packets",
];
const HW_COUNTERS: [&str; 28] = [
    "duplicate_request",
    "implied_nak_seq_err",
    "lifespan",
    "local_ack_timeout_err",
    "out_of_buffer",
    "out_of_sequence",
    "packet_seq_err",
    "req_cqe_error",
    "req_cqe_flush_error",
    "req_remote_access_errors",
    "req_remote_invalid_request",
    "resp_cqe_error",
    "resp_cqe_flush_error",
    "resp_local_length_error",
    "resp_remote_access_errors",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "roce_slow_restart_cnps",
    "roce_slow_restart_trans",
    "rx_atomic_requests",
    "rx_dct_connect",
    "rx_icrc_encapsulated",
    "rx_read_requests",
    "rx_write_requests",
    "np_cnp_sent",
    "rp_cnp_handled",
];

/// Some of `bnxt_re_stat_descs` (drivers/infiniband/hw/bnxt_re/hw_counters.c).
const BNXT_COUNTERS: [&str; 10] = [
    "rx_pkts",
    "tx_pkts",
    "recoverable_errors",
    "rx_roce_errors",
    "rx_roce_discards",
    "to_retransmits",
    "seq_err_naks_rcvd",
    "max_retry_exceeded",
    "rnr_naks_rcvd",
    "missing_resp",
];
/// Some of `diag_basic` and `diag_ext` (drivers/infiniband/hw/mlx4/main.c).
const MLX4_COUNTERS: [&str; 8] =
    ["rq_num_lle", "rq_num_oos", "rq_num_rnr", "sq_num_lle", "sq_num_oos", "sq_num_rnr", "sq_num_to", "rq_num_dup"];

/// Traffic of a port that has worked for a while.
fn usual(name: &str) -> u64 {
    match name {
        "port_rcv_data" | "port_xmit_data" => 230_000_000_000_000,
        "port_rcv_packets" | "port_xmit_packets" | "unicast_rcv_packets" | "unicast_xmit_packets" => 310_000_000_000,
        "lifespan" => 10,
        "rx_write_requests" => 3_800_000_000,
        "rx_read_requests" => 9_000_000,
        _ => 0,
    }
}

/// The state of one port, patched.
struct State {
    state: String,
    phys_state: String,
    rate: String,
    lid: u16,
    sm_lid: u16,
    active_mtu: u16,
    gids: Vec<Gid>,
    fw_ver: String,
    board_id: String,
    counters: BTreeMap<String, u64>,
    hw_counters: BTreeMap<String, u64>,
}

pub(crate) fn write(plan: &Plan, tree: &mut Tree, commands: &mut Commands) -> Result<(), DescribeError> {
    let mut info = String::new();
    for p in plan.ports.iter().filter(|p| !p.rdma.is_empty()) {
        let Some(path) = plan.paths.get(p.function) else { continue };
        let s = state(plan, p);
        let home = format!("{path}/infiniband/{}", p.rdma);
        if p.port == 1 {
            device(plan, tree, p, &s, path, &home);
        }
        port(tree, p, &s, &format!("{home}/ports/{}", p.port));
        describe(&mut info, p, &s);
    }
    if !info.is_empty() {
        commands.add(&["ibv_devinfo", "-v"], info, 0);
    }
    let known = || plan.ports.iter().map(|p| p.rdma.clone());
    match plan.d.rdma.keys().find(|key| !known().any(|n| glob::name(key, &n))) {
        Some(key) => Err(patch::unknown("rdma", key, known())),
        None => Ok(()),
    }
}

fn state(plan: &Plan, p: &NicPort) -> State {
    let infiniband = p.fabric == Fabric::InfiniBand;
    let bond = plan.d.bond.iter().find(|(_, b)| b.members.contains(&p.netdev));
    let interface = bond.map_or_else(|| p.netdev.clone(), |(name, _)| name.clone());
    let ndev = Some(interface).filter(|n| !n.is_empty());
    let gid = |index: u16, gid: String, kind: &str| Gid { index, gid, kind: kind.into(), ndev: ndev.clone() };
    let gids = if p.fabric == Fabric::Unspecified {
        vec![gid(0, format!("fe80:0000:0000:0000:{}", colons(eui64(p.mac))), "IB/RoCE v1")]
    } else if infiniband {
        vec![gid(0, format!("fe80:0000:0000:0000:{}", colons(p.guid)), "IB/RoCE v1")]
    } else {
        let local = format!("fe80:0000:0000:0000:{}", colons(eui64(p.mac)));
        let v4 =
            format!("0000:0000:0000:0000:0000:ffff:0a{:02x}:{:04x}", p.number & 0xff, plan.d.node.seed % 65_000 + 1);
        let v1 = "IB/RoCE v1";
        vec![gid(0, local.clone(), v1), gid(1, local, "RoCE v2"), gid(2, v4.clone(), v1), gid(3, v4, "RoCE v2")]
    };
    // The largest RDMA MTU that fits the interface's MTU with RoCE v2 headers (Ethernet payload less 58 bytes).
    let fits = |mtu: u16| u32::from(mtu) + 58 <= p.mtu;
    let mtu = [4096_u16, 2048, 1024, 512].into_iter().find(|m| fits(*m)).unwrap_or(256);
    let down = p.operstate == "down";
    let mut s = State {
        state: if down { "1: DOWN" } else { "4: ACTIVE" }.into(),
        phys_state: if down { "3: Disabled" } else { "5: LinkUp" }.into(),
        rate: p.model.rate.into(),
        lid: if infiniband { (plan.seed.bits(&p.rdma) % 40_000 + 2) as u16 } else { 0 },
        sm_lid: u16::from(infiniband),
        active_mtu: if infiniband { 4096 } else { mtu },
        gids,
        fw_ver: p.model.fw_ver.into(),
        board_id: p.model.board_id.into(),
        counters: BTreeMap::new(),
        hw_counters: BTreeMap::new(),
    };
    let hits = |key: &str, patch: &RdmaPatch| glob::name(key, &p.rdma) && patch.port.is_none_or(|n| n == p.port);
    let (patterns, single): (Vec<_>, Vec<_>) =
        plan.d.rdma.iter().filter(|(k, patch)| hits(k, patch)).partition(|(k, _)| k.contains('*'));
    for (_, patch) in patterns.into_iter().chain(single) {
        apply(&mut s, patch);
    }
    s
}

fn apply(s: &mut State, patch: &RdmaPatch) {
    if let Some(v) = &patch.state {
        s.state = numbered(v, &["NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"]);
        if patch.phys_state.is_none() && s.state.starts_with('1') {
            s.phys_state = "2: Polling".into();
        }
    }
    if let Some(v) = &patch.phys_state {
        s.phys_state = numbered(v, &["", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp"]);
    }
    s.lid = patch.lid.unwrap_or(s.lid);
    s.sm_lid = patch.sm_lid.unwrap_or(s.sm_lid);
    s.active_mtu = patch.active_mtu.unwrap_or(s.active_mtu);
    for (to, from) in [(&mut s.rate, &patch.rate), (&mut s.fw_ver, &patch.fw_ver), (&mut s.board_id, &patch.board_id)] {
        if let Some(v) = from {
            to.clone_from(v);
        }
    }
    if let Some(gids) = &patch.gids {
        s.gids.clone_from(gids);
    }
    s.counters.extend(patch.counters.clone());
    s.hw_counters.extend(patch.hw_counters.clone());
}

/// The kernel (`core/sysfs.c`, `link_layer_show`) and libibverbs have different words for "neither".
fn link_layer(fabric: Fabric, neither: &'static str) -> &'static str {
    match fabric {
        Fabric::InfiniBand => "InfiniBand",
        Fabric::Ethernet => "Ethernet",
        Fabric::Unspecified => neither,
    }
}

/// `DOWN` becomes `1: DOWN`; what has a number already stays.
fn numbered(text: &str, names: &[&str]) -> String {
    names.iter().position(|n| *n == text).map_or_else(|| text.to_owned(), |n| format!("{n}: {text}"))
}

fn eui64(mac: u64) -> u64 {
    ((mac & 0xffff_ff00_0000) << 16 | 0xff_fe00_0000 | (mac & 0xff_ffff)) ^ (2 << 56)
}

fn device(plan: &Plan, tree: &mut Tree, p: &NicPort, s: &State, path: &str, home: &str) {
    for (name, v) in [
        ("fw_ver", s.fw_ver.clone()),
        ("hca_type", p.model.hca_type.to_owned()),
        ("board_id", s.board_id.clone()),
        ("hw_rev", p.model.hw_rev.to_owned()),
        ("node_type", if p.fabric == Fabric::Unspecified { "7: unspecified" } else { "1: CA" }.to_owned()),
        ("node_guid", colons(p.guid)),
        ("sys_image_guid", colons(p.image)),
        ("node_desc", format!("{} {}", plan.host, p.rdma)),
    ] {
        tree.value(format!("{home}/{name}"), v);
    }
    tree.link_to(format!("{home}/device"), path);
    tree.link_to(format!("{home}/subsystem"), "sys/class/infiniband");
    tree.link_to(format!("sys/class/infiniband/{}", p.rdma), home);
}

fn port(tree: &mut Tree, p: &NicPort, s: &State, home: &str) {
    let infiniband = p.fabric == Fabric::InfiniBand;
    for (name, v) in [
        ("state", s.state.clone()),
        ("phys_state", s.phys_state.clone()),
        ("rate", s.rate.clone()),
        ("link_layer", link_layer(p.fabric, "Unknown").to_owned()),
        ("lid", format!("0x{:x}", s.lid)),
        ("sm_lid", format!("0x{:x}", s.sm_lid)),
        ("lid_mask_count", "0".to_owned()),
        ("sm_sl", "0".to_owned()),
        ("cap_mask", if infiniband { "0xa751e848" } else { "0x00010000" }.to_owned()),
        ("pkeys/0", "0xffff".to_owned()),
    ] {
        tree.value(format!("{home}/{name}"), v);
    }
    // Real tables are longer; what follows is empty there too.
    for index in 0..if infiniband { 8 } else { 16 } {
        tree.value(format!("{home}/gids/{index}"), "0000:0000:0000:0000:0000:0000:0000:0000");
    }
    for g in &s.gids {
        tree.value(format!("{home}/gids/{}", g.index), &g.gid);
        tree.value(format!("{home}/gid_attrs/types/{}", g.index), &g.kind);
        if let Some(ndev) = &g.ndev {
            tree.value(format!("{home}/gid_attrs/ndevs/{}", g.index), ndev);
        }
    }
    let all = |names: &[&str], own: &BTreeMap<String, u64>| {
        let mut all: BTreeMap<String, u64> = names.iter().map(|n| ((*n).to_owned(), usual(n))).collect();
        all.extend(own.clone());
        all
    };
    for (name, v) in all(&COUNTERS, &s.counters) {
        tree.value(format!("{home}/counters/{name}"), v.to_string());
    }
    let (bnxt, mlx4) = (p.model.driver == "bnxt_en", p.model.driver == "mlx4_core");
    if bnxt || mlx4 {
        for (name, v) in all(if bnxt { &BNXT_COUNTERS } else { &MLX4_COUNTERS }, &s.hw_counters) {
            tree.value(format!("{home}/hw_counters/{name}"), v.to_string());
        }
    }
    if p.model.driver == "mlx5_core" {
        for (name, v) in all(&HW_COUNTERS, &s.hw_counters) {
            tree.value(format!("{home}/hw_counters/{name}"), v.to_string());
        }
    }
}

fn describe(out: &mut String, p: &NicPort, s: &State) {
    if p.port == 1 {
        let part = p.model.hca_type.trim_start_matches("MT");
        let _ = write!(
            out,
            "hca_id:\t{}\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t{}\n\tnode_guid:\t\t\t{}\n\tsys_image_guid:\t\t\t{}\n\
             \tvendor_id:\t\t\t0x{}\n\tvendor_part_id:\t\t\t{part}\n\thw_ver:\t\t\t\t0x{}\n\tboard_id:\t\t\t{}\n\tphys_port_cnt:\t\t\t{}\n",
            p.rdma,
            s.fw_ver,
            colons(p.guid),
            colons(p.image),
            if p.model.driver == "bnxt_en" { "14e4" } else { "02c9" },
            p.model.hw_rev,
            s.board_id,
            p.model.ports
        );
    }
    let (number, word) = s.state.split_once(": ").unwrap_or(("0", "NOP"));
    let mtu = |bytes: u16| format!("{bytes} ({})", (u32::from(bytes.max(1)).ilog2()).saturating_sub(7));
    let _ = write!(
        out,
        "\t\tport:\t{}\n\t\t\tstate:\t\t\tPORT_{word} ({number})\n\t\t\tmax_mtu:\t\t{}\n\t\t\tactive_mtu:\t\t{}\n\
         \t\t\tsm_lid:\t\t\t{}\n\t\t\tport_lid:\t\t{}\n\t\t\tport_lmc:\t\t0x00\n\t\t\tlink_layer:\t\t{}\n\n",
        p.port,
        mtu(4096),
        mtu(s.active_mtu),
        s.sm_lid,
        s.lid,
        link_layer(p.fabric, "Unspecified")
    );
}
