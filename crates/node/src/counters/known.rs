//! What counters mean: those of ports (`/sys/class/infiniband/*/ports/*/{counters,hw_counters}`), of interfaces (`ethtool -S`, sysfs), of PCIe
//! (AER) and of GPUs. Read by rules, which judge one sample, and by growth, which judges several.
//!
//! Sources: Linux `Documentation/ABI/stable/sysfs-class-infiniband` and `drivers/infiniband/core/sysfs.c` (widths: `PORT_PMA_ATTR`),
//! `Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst`, `Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats`,
//! NVIDIA's "Understanding mlx5 Linux counters and status parameters", `nvml.h` (`NVML_FI_DEV_NVLINK_*`), `hw_counters.c` of bnxt_re, irdma
//! and EFA.

use linerate_formats::wildcard::star;
use serde::Serialize;

/// What it means that a counter grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A link or a device failed, or data was lost for good.
    Fault,
    /// Packets were lost, damaged or sent again.
    Loss,
    /// Somebody had to wait: pauses, credits, marks of congestion.
    Congestion,
    /// Repaired at once, as links of today do all the time: a rate, not a fault.
    Repaired,
    /// What ended jobs and closed connections leave.
    Event,
    /// Data that passed.
    Traffic,
}

/// In what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Occurrences.
    Times,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// 1024 bytes.
    Kib,
    /// Words of four bytes: InfiniBand's data counters.
    Words,
    /// Microseconds.
    Microseconds,
    /// Ticks of the port's own clock.
    Ticks,
}

/// A counter that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its names; `*` stands for any characters.
    pub names: &'static [&'static str],
    /// What growth is.
    pub kind: Kind,
    /// In what it counts.
    pub unit: Unit,
    /// Bits, where it stops at its maximum: InfiniBand's PortCounters.
    pub stops_at_bits: Option<u32>,
    /// What it means that it grows.
    pub means: &'static str,
    /// What to do then. Empty for traffic.
    pub then: &'static str,
}

impl Known {
    /// The largest value, where the counter stops there.
    #[must_use]
    pub fn maximum(&self) -> Option<u64> {
        self.stops_at_bits.map(|bits| (1_u64 << bits) - 1)
    }

    /// So much of it in bytes; `None`: it counts no data.
    #[must_use]
    pub fn bytes(&self, n: u64) -> Option<u64> {
        match self.unit {
            Unit::Bytes => Some(n),
            Unit::Kib => Some(n.saturating_mul(1024)),
            Unit::Words => Some(n.saturating_mul(4)),
            Unit::Times | Unit::Packets | Unit::Microseconds | Unit::Ticks => None,
        }
    }
}

const CABLE: &str = "clean, reseat or swap cable and transceiver; see whether the count moves with them";
const SWITCH: &str =
    "look at drops, pauses and queues of the switch ports on the path, and PFC and ECN at both ends (rdma/roce-qos)";
const SLOT: &str = "reseat card or riser; see whether the count moves with the card (pcie/aer-errors)";
const JOB: &str = "read the job's log at that time";
const HOST: &str =
    "find what keeps the host from taking packets: PCIe width and speed, buffers, a receiver that is slow";

const fn row(names: &'static [&'static str], kind: Kind, unit: Unit, means: &'static str, then: &'static str) -> Known {
    Known { names, kind, unit, stops_at_bits: None, means, then }
}

const fn pma(bits: u32, known: Known) -> Known {
    Known { stops_at_bits: Some(bits), ..known }
}

const fn data(names: &'static [&'static str], unit: Unit, means: &'static str) -> Known {
    row(names, Kind::Traffic, unit, means, "")
}

use Kind::{Congestion, Event, Fault, Loss, Repaired};
use Unit::{Bytes, Kib, Microseconds, Packets, Ticks, Times, Words};

/// The table. The first row that has a name counts.
pub const KNOWN: &[Known] = &[
    // InfiniBand's PortCounters, as sysfs and perfquery call them.
    pma(16, row(&["symbol_error", "SymbolErrorCounter"], Loss, Times, "small errors on a lane of the link", CABLE)),
    pma(
        8,
        row(
            &["link_error_recovery", "LinkErrorRecoveryCounter"],
            Loss,
            Times,
            "the link had to retrain, and came back",
            CABLE,
        ),
    ),
    pma(8, row(&["link_downed", "LinkDownedCounter"], Fault, Times, "the link went down", CABLE)),
    pma(16, row(&["port_rcv_errors", "PortRcvErrors"], Loss, Packets, "packets arrived damaged", CABLE)),
    pma(
        16,
        row(
            &["port_rcv_remote_physical_errors", "PortRcvRemotePhysicalErrors"],
            Loss,
            Packets,
            "packets arrived that an earlier hop had marked as damaged",
            "look for the link before this one whose errors grow",
        ),
    ),
    pma(
        16,
        row(
            &["port_rcv_switch_relay_errors", "PortRcvSwitchRelayErrors"],
            Event,
            Packets,
            "a switch had no way to forward packets; multicast counts here, too",
            "nothing on its own",
        ),
    ),
    pma(
        16,
        row(
            &["port_xmit_discards", "PortXmitDiscards"],
            Loss,
            Packets,
            "packets were thrown away before they were sent: the port was down, or congested for too long",
            SWITCH,
        ),
    ),
    pma(
        8,
        row(
            &[
                "port_xmit_constraint_errors",
                "port_rcv_constraint_errors",
                "PortXmitConstraintErrors",
                "PortRcvConstraintErrors",
            ],
            Loss,
            Packets,
            "packets did not match the port's partition",
            "compare the partition keys of both ends",
        ),
    ),
    pma(
        4,
        row(
            &["local_link_integrity_errors", "LocalLinkIntegrityErrors"],
            Loss,
            Times,
            "errors of the link passed the threshold that is set for it",
            CABLE,
        ),
    ),
    pma(
        4,
        row(
            &["excessive_buffer_overrun_errors", "ExcessiveBufferOverrunErrors"],
            Loss,
            Times,
            "a receive buffer ran over, in spite of credits",
            "look at the port's configuration by the subnet manager, and at the link",
        ),
    ),
    pma(
        16,
        row(
            &["VL15_dropped", "VL15Dropped"],
            Event,
            Packets,
            "management packets were dropped because there was no buffer",
            "nothing, unless the subnet manager complains",
        ),
    ),
    row(
        &["port_xmit_wait", "PortXmitWait"],
        Congestion,
        Ticks,
        "there was data to send, but no credits or no turn: the other end or the fabric does not accept it",
        "find the receiver that is slow, or the link that is shared",
    ),
    data(&["port_xmit_data", "PortXmitData", "port_xmit_data_64"], Words, "sent"),
    data(&["port_rcv_data", "PortRcvData", "port_rcv_data_64"], Words, "received"),
    data(
        &[
            "port_xmit_packets",
            "PortXmitPkts",
            "unicast_xmit_packets",
            "multicast_xmit_packets",
            "PortUnicastXmitPkts",
            "PortMulticastXmitPkts",
        ],
        Packets,
        "sent",
    ),
    data(
        &[
            "port_rcv_packets",
            "PortRcvPkts",
            "unicast_rcv_packets",
            "multicast_rcv_packets",
            "PortUnicastRcvPkts",
            "PortMulticastRcvPkts",
        ],
        Packets,
        "received",
    ),
    // RDMA: mlx5, and what others call the same.
    row(
        &["packet_seq_err", "seq_err_naks_rcvd", "sq_num_oos"],
        Loss,
        Packets,
        "the other end reported that packets of this port are missing",
        SWITCH,
    ),
    row(
        &["out_of_sequence", "rq_num_oos", "oos_drop_count", "oooPkts"],
        Loss,
        Packets,
        "packets arrived out of order: some before them are missing, or took another way (adaptive routing)",
        SWITCH,
    ),
    row(
        &["local_ack_timeout_err", "to_retransmits", "sq_num_to", "retrans_timeout_events", "roce_adp_retrans_to"],
        Loss,
        Times,
        "no answer came in time, and the request was sent again",
        "see whether the peer ran then: killed jobs leave such counts; else the path loses packets",
    ),
    row(&["implied_nak_seq_err"], Loss, Times, "an answer showed that an earlier one is missing", SWITCH),
    row(
        &["roce_adp_retrans", "retrans_pkts", "RetxedSegs", "retrans_bytes"],
        Loss,
        Times,
        "packets were sent again",
        SWITCH,
    ),
    row(
        &["rnr_nak_retry_err", "rnr_naks_rcvd", "sq_num_rnr"],
        Loss,
        Packets,
        "the receiver had posted no buffer, and the sender had to wait",
        "the receiving process is slow or stuck: look at its host",
    ),
    row(&["rx_icrc_encapsulated"], Loss, Packets, "RoCE packets arrived with a wrong checksum", CABLE),
    row(
        &["duplicate_request", "rq_num_dup", "dup_req"],
        Loss,
        Packets,
        "requests arrived a second time: the other end sent them again",
        SWITCH,
    ),
    row(
        &["roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans"],
        Congestion,
        Times,
        "a connection had to start slowly again after a loss",
        SWITCH,
    ),
    row(
        &["np_cnp_sent", "cnpSent"],
        Congestion,
        Packets,
        "marked packets arrived, and the senders were asked to slow down",
        "many senders to one receiver, or a link that is shared: look at the switch on the way to this port",
    ),
    row(
        &["np_ecn_marked_roce_packets", "RxECNMrkd", "rx_ecn_marked_pkts"],
        Congestion,
        Packets,
        "switches marked packets to this port as congested",
        "many senders to one receiver, or a link that is shared: look at the switch on the way to this port",
    ),
    row(
        &["rp_cnp_handled", "cnpHandled", "rx_cnp_pkts"],
        Congestion,
        Packets,
        "this port was asked to slow down, and did",
        "look for congestion on the way of what it sends",
    ),
    row(
        &["rp_cnp_ignored", "cnpIgnored"],
        Congestion,
        Packets,
        "this port was asked to slow down, and did not",
        "switch on congestion control of RoCE at this port (rdma/roce-qos)",
    ),
    row(
        &["out_of_buffer", "rx_out_of_buffer", "rx_drops"],
        Loss,
        Packets,
        "packets were dropped because no receive buffer was posted",
        HOST,
    ),
    row(
        &["req_cqe_error", "resp_cqe_error", "req_cqe_flush_error", "resp_cqe_flush_error"],
        Event,
        Times,
        "work ended with an error, or was flushed when a connection closed",
        JOB,
    ),
    row(
        &[
            "req_remote_access_errors",
            "resp_remote_access_errors",
            "req_remote_invalid_request",
            "resp_local_length_error",
            "*remote_access_err*",
            "*remote_invalid_req*",
        ],
        Event,
        Times,
        "a request to memory that the other end does not allow",
        JOB,
    ),
    data(
        &[
            "rx_read_requests",
            "rx_write_requests",
            "rx_atomic_requests",
            "rx_dct_connect",
            "send_wrs",
            "recv_wrs",
            "rdma_read_wrs",
            "rdma_write_wrs",
        ],
        Times,
        "requests",
    ),
    data(&["send_bytes", "rdma_write_bytes"], Bytes, "sent"),
    data(&["recv_bytes", "rdma_read_bytes"], Bytes, "received"),
    // Interfaces: mlx5's `ethtool -S`.
    row(
        &["rx_discards_phy"],
        Loss,
        Packets,
        "the port had no buffer for packets that arrived: the host or PCIe is too slow for the network, or flow control is off",
        HOST,
    ),
    row(&["tx_discards_phy", "tx_errors_phy"], Loss, Packets, "packets were thrown away before they were sent", SWITCH),
    row(
        &[
            "rx_crc_errors_phy",
            "rx_symbol_err_phy",
            "rx_pcs_symbol_err_phy",
            "rx_fragments_phy",
            "rx_jabbers_phy",
            "rx_fcs_err_frames",
        ],
        Loss,
        Packets,
        "packets arrived damaged",
        CABLE,
    ),
    row(
        &["rx_corrected_bits_phy", "rx_err_lane_*_phy"],
        Repaired,
        Times,
        "bits that error correction repaired; links of 50 Gb/s and more a lane always have some",
        "compare the rate with the other ports; where it is far higher, clean or swap the cable",
    ),
    row(&["link_down_events_phy", "carrier_down_count"], Fault, Times, "the link went down", CABLE),
    row(
        &["module_bus_stuck", "module_bad_shorted", "module_high_temp"],
        Fault,
        Times,
        "the transceiver is broken or too hot",
        "look at the module (`ethtool -m`), its cooling, and swap it",
    ),
    row(
        &["rx_oversize_pkts_phy", "rx_out_of_range_len_phy", "rx_undersize_pkts_phy"],
        Loss,
        Packets,
        "packets had a length that this port does not take: the ends have different MTUs",
        "compare the MTU of both ends (rdma/roce-mtu)",
    ),
    row(
        &["tx_pause_storm_error_events"],
        Fault,
        Times,
        "the port sent pauses for so long that it gave up, and dropped packets",
        HOST,
    ),
    row(&["tx_pause_storm_warning_events"], Congestion, Times, "the port sent pauses for a long time", HOST),
    row(
        &["rx_prio*_pause_duration", "rx_global_pause_duration"],
        Congestion,
        Microseconds,
        "the network paused this port",
        "look at the switch, and at the receivers of what this port sends",
    ),
    row(
        &["tx_prio*_pause_duration", "tx_global_pause_duration"],
        Congestion,
        Microseconds,
        "this port paused the network: the host takes packets too slowly",
        HOST,
    ),
    row(
        &[
            "rx_prio*_pause",
            "rx_global_pause",
            "rx_pause_ctrl_phy",
            "rx_prio*_pause_transition",
            "rx_global_pause_transition",
            "rx_pause_frames",
            "link_xoff_rx*",
        ],
        Congestion,
        Packets,
        "pauses from the network",
        "look at the switch, and at the receivers of what this port sends",
    ),
    row(
        &["tx_prio*_pause", "tx_global_pause", "tx_pause_ctrl_phy", "tx_pause_frames", "link_xoff_tx*"],
        Congestion,
        Packets,
        "pauses to the network: the host takes packets too slowly",
        HOST,
    ),
    row(
        &["rx_prio*_discards", "rx_prio*_buf_discard", "rx_prio*_cong_discard", "rx_steer_missed_packets"],
        Loss,
        Packets,
        "packets were dropped because there was no receive buffer",
        HOST,
    ),
    row(
        &["rx_prio*_marked", "rx*_ecn_mark"],
        Congestion,
        Packets,
        "packets were marked as congested",
        "look at the switch on the way to this port",
    ),
    row(&["rx_buffer_passed_thres_phy"], Congestion, Times, "the receive buffer was more than 85 % full", HOST),
    row(
        &["rx_pci_signal_integrity", "tx_pci_signal_integrity"],
        Loss,
        Times,
        "the card's PCIe link had to recover from damaged signals",
        SLOT,
    ),
    row(
        &["outbound_pci_buffer_overflow"],
        Loss,
        Packets,
        "PCIe took less than the network brought, and packets were dropped",
        HOST,
    ),
    row(
        &["outbound_pci_stalled_rd_events", "outbound_pci_stalled_wr_events"],
        Congestion,
        Times,
        "seconds in which PCIe held the card up for more than 30 %",
        "look at the slot's width and speed, payload size, and what shares the switch",
    ),
    // A share of the last second, no counter.
    data(&["outbound_pci_stalled_rd", "outbound_pci_stalled_wr"], Times, "share of the last second"),
    data(&["rx_bytes_phy", "rx_vport_rdma_unicast_bytes"], Bytes, "received"),
    data(&["tx_bytes_phy", "tx_vport_rdma_unicast_bytes"], Bytes, "sent"),
    // Interfaces of any driver, in sysfs.
    row(&["rx_crc_errors", "rx_frame_errors", "rx_length_errors"], Loss, Packets, "packets arrived damaged", CABLE),
    row(
        &["rx_missed_errors", "rx_over_errors", "rx_fifo_errors"],
        Loss,
        Packets,
        "packets were dropped because the host did not fetch them in time",
        HOST,
    ),
    row(
        &["tx_carrier_errors", "tx_aborted_errors", "tx_fifo_errors", "tx_window_errors", "tx_heartbeat_errors"],
        Loss,
        Packets,
        "packets could not be sent",
        CABLE,
    ),
    row(&["rx_errors", "tx_errors"], Loss, Packets, "packets with errors; the counters beside it say which", CABLE),
    row(
        &["rx_dropped", "tx_dropped"],
        Event,
        Packets,
        "packets that no protocol accepted, or for which there was no room",
        "nothing on its own: unknown protocols count here, too",
    ),
    data(&["rx_bytes"], Bytes, "received"),
    data(&["tx_bytes"], Bytes, "sent"),
    data(&["rx_packets", "rx_packets_phy"], Packets, "received"),
    data(&["tx_packets", "tx_packets_phy"], Packets, "sent"),
    // PCIe: names of the kernel's AER counters below the file that has them.
    row(
        &["aer_dev_correctable.NonFatalErr", "aer_dev_correctable.Advisory*", "aer_dev_correctable.HeaderOF"],
        Event,
        Times,
        "a request that a device does not support, reported as correctable",
        "nothing on its own: bus scans cause it",
    ),
    row(
        &["aer_dev_correctable.Rollover", "aer_dev_correctable.RELAY_NUM*"],
        Loss,
        Times,
        "a packet was repeated four times without success, and the PCIe link retrained",
        SLOT,
    ),
    row(&["aer_dev_correctable.*"], Loss, Times, "packets on the PCIe link were damaged and sent again", SLOT),
    row(
        &["aer_dev_nonfatal.UnsupReq", "aer_dev_nonfatal.Unsupported*"],
        Event,
        Times,
        "a request that a device does not support",
        "nothing on its own: bus scans cause it",
    ),
    row(
        &["aer_dev_nonfatal.*"],
        Fault,
        Times,
        "a PCIe transaction failed and its data is lost",
        "read the kernel log at that time (`linerate doctor`); reseat card and riser",
    ),
    row(
        &["aer_dev_fatal.*"],
        Fault,
        Times,
        "the PCIe link failed",
        "read the kernel log at that time (`linerate doctor`); reseat card and riser",
    ),
    // GPUs: NVML's fields, and what nvidia-smi prints of them. The GPU's end of the PCIe link: a guest sees it, too.
    row(
        &["pcie_replays", "pcie_naks_received"],
        Loss,
        Times,
        "packets that the GPU sent arrived damaged at the port above, and were sent again",
        SLOT,
    ),
    row(
        &["pcie_naks_sent", "pcie_bad_tlp", "pcie_lcrc_error", "pcie_bad_dllp"],
        Loss,
        Times,
        "packets arrived damaged at the GPU, and were sent again",
        SLOT,
    ),
    row(
        &["pcie_replay_rollovers"],
        Fault,
        Times,
        "a packet was repeated four times without success, and the GPU's PCIe link retrained",
        SLOT,
    ),
    row(
        &["pcie_receiver_error", "pcie_lane_errors", "pcie_correctable"],
        Loss,
        Times,
        "the GPU saw damaged signals on its PCIe link",
        SLOT,
    ),
    row(
        &["pcie_non_fatal"],
        Fault,
        Times,
        "a PCIe transaction of the GPU failed and its data is lost",
        "read the kernel log at that time (`linerate doctor`); reseat card and riser",
    ),
    row(
        &["pcie_fatal"],
        Fault,
        Times,
        "the GPU's PCIe link failed",
        "read the kernel log at that time (`linerate doctor`); reseat card and riser",
    ),
    row(
        &["pcie_unsupported_request"],
        Event,
        Times,
        "a request that the GPU does not support",
        "nothing on its own: bus scans cause it",
    ),
    row(
        &["pcie_l0_to_recovery"],
        Repaired,
        Times,
        "the PCIe link retrained: also each time that it changes its speed, as an idle GPU's does",
        "nothing, unless the link's errors grow with it",
    ),
    row(
        &["ecc_uncorrected"],
        Fault,
        Times,
        "GPU memory lost data",
        "drain the node; reset the GPU; run the vendor's field diagnostics",
    ),
    row(
        &["ecc_corrected"],
        Repaired,
        Times,
        "GPU memory repaired single bits",
        "nothing, while it is rare; a high rate ends in rows that are remapped",
    ),
    row(
        &["rows_remapped_uncorrectable"],
        Fault,
        Times,
        "rows of GPU memory that lost data were replaced",
        "reset the GPU where a remapping is pending (`nvidia-smi -q`); run the vendor's field diagnostics if it goes on",
    ),
    row(
        &["rows_remapped_correctable"],
        Repaired,
        Times,
        "rows of GPU memory were replaced before they lost data",
        "nothing; see that no remapping failed (`nvidia-smi -q`)",
    ),
    row(
        &["nvlink_replay", "nvlink_crc", "nvlink_crc_data", "nvlink_crc_flit", "nvlink_ecc_data"],
        Repaired,
        Times,
        "packets on NVLink were damaged and repaired or sent again",
        "compare with the GPU's other links; reseat the board if one has far more",
    ),
    row(
        &["nvlink_recovery"],
        Fault,
        Times,
        "an NVLink had to retrain",
        "reset the GPU; reseat the board if it comes back",
    ),
    data(&["nvlink_tx_kib"], Kib, "sent"),
    data(&["nvlink_rx_kib"], Kib, "received"),
];

/// What a counter means; `None`: it is not in the table.
#[must_use]
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|k| k.names.iter().any(|n| star(n.as_bytes(), name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_meaning() {
        for (name, kind, maximum) in [
            ("symbol_error", Kind::Loss, Some(65_535)),
            ("link_downed", Kind::Fault, Some(255)),
            ("excessive_buffer_overrun_errors", Kind::Loss, Some(15)),
            ("port_xmit_wait", Kind::Congestion, None),
            ("rx_prio3_pause_duration", Kind::Congestion, None),
            ("rx_prio3_discards", Kind::Loss, None),
            ("aer_dev_correctable.BadTLP", Kind::Loss, None),
            ("aer_dev_correctable.NonFatalErr", Kind::Event, None),
            ("aer_dev_nonfatal.CmpltTO", Kind::Fault, None),
            ("port_rcv_data", Kind::Traffic, None),
        ] {
            let k = known(name).unwrap();
            assert_eq!((k.kind, k.maximum()), (kind, maximum), "{name}");
        }
        assert!(known("lifespan").is_none() && known("ch0_poll").is_none());
    }

    #[test]
    fn each_row_says_what_to_do_and_no_name_has_two_meanings() {
        for (i, k) in KNOWN.iter().enumerate() {
            assert_eq!(k.then.is_empty(), k.kind == Kind::Traffic, "{:?}", k.names);
            assert!(!k.means.is_empty() && !k.names.is_empty());
            for n in k.names.iter().filter(|n| !n.contains('*')) {
                let first = KNOWN.iter().position(|o| o.names.iter().any(|p| star(p.as_bytes(), n.as_bytes())));
                assert_eq!(first, Some(i), "{n} has a row before its own");
            }
        }
    }
}
