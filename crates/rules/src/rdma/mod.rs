//! Ports of RDMA NICs, InfiniBand and RoCE: are they there, up, fast, clean, addressed.

mod bond;
pub(crate) mod common;
mod connectx3;
mod device_present;
mod efa_plugin;
mod firmware_mixed;
mod gid_ndev;
mod gid_table;
mod global_pause;
mod ib_mtu;
mod link_layer;
mod mtu_kept;
mod netns_mode;
mod nic_counters;
mod nic_fault;
mod port_errors;
mod port_module;
mod port_rate;
mod port_state;
mod roce_errors;
mod roce_mtu;
mod roce_qos;
mod software_rdma;
mod subnet_manager;
mod traffic_class;
mod verbs_open;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[
    &device_present::RULE,
    &verbs_open::RULE,
    &efa_plugin::RULE,
    &nic_fault::RULE,
    &port_state::RULE,
    &port_module::RULE,
    &subnet_manager::RULE,
    &port_rate::RULE,
    &link_layer::RULE,
    &port_errors::RULE,
    &ib_mtu::RULE,
    &roce_mtu::RULE,
    &mtu_kept::RULE,
    &gid_table::RULE,
    &gid_ndev::RULE,
    &roce_errors::RULE,
    &nic_counters::RULE,
    &roce_qos::RULE,
    &global_pause::RULE,
    &traffic_class::RULE,
    &bond::RULE,
    &netns_mode::RULE,
    &firmware_mixed::RULE,
    &connectx3::RULE,
    &software_rdma::RULE,
];
