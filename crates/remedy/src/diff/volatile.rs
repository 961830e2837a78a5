//! What moves by itself between two readings of a node that nobody changed, each with the reason: files and outputs that are no fact of the
//! list (`linerate_facts::moves` has those). Registers of PCI functions are in `config.rs`.

use super::What;
use super::glob::{covers, within};
use linerate_facts::moves::{COUNTS, GIDS, LIDS, LINKS, MOVING};

/// A pattern of paths and parts that says nothing when it differs.
#[derive(Debug, Clone, Copy)]
pub struct Volatile {
    /// Paths: `*` within a name, `**` for any names. A pattern that begins with a back-tick is a command's.
    pub path: &'static str,
    /// Parts, any of them: `*` for any run of characters.
    pub parts: &'static [&'static str],
    /// Only other values: that it appears or vanishes does say something.
    pub values_only: bool,
    /// Why.
    pub reason: &'static str,
}

const fn all(path: &'static str, reason: &'static str) -> Volatile {
    Volatile { path, parts: &["*"], values_only: false, reason }
}

const fn values(path: &'static str, parts: &'static [&'static str], reason: &'static str) -> Volatile {
    Volatile { path, parts, values_only: true, reason }
}

const fn parts(path: &'static str, parts: &'static [&'static str], reason: &'static str) -> Volatile {
    Volatile { path, parts, values_only: false, reason }
}

const SMI: &str = "`nvidia-smi -q*";
const CLOCK: &str = "clock frequencies follow load and heat";
const SENSOR: &str = "temperature, power, clocks and load are sensors";
const MEMORY: &str = "free memory follows what runs";
const AGAIN: &str = "it repeats what registers and files say, and those are compared";

/// Modules that come and go with what happens to be used: sums, ciphers, filesystems, packet filters, tunnels, loops.
const ON_DEMAND: &[&str] = &[
    "crc*",
    "libcrc*",
    "crct*",
    "*_generic",
    "aes*",
    "ghash*",
    "sha*",
    "poly*",
    "gf128mul",
    "crypt*",
    "nls_*",
    "fat",
    "vfat",
    "isofs",
    "squashfs",
    "overlay",
    "fuse",
    "autofs4",
    "binfmt_misc",
    "efi_pstore",
    "configfs",
    "loop",
    "dm_*",
    "nf_*",
    "nft_*",
    "xt_*",
    "nfnetlink*",
    "ip_tables",
    "ip6_tables",
    "iptable_*",
    "x_tables",
    "br_netfilter",
    "bridge",
    "stp",
    "llc",
    "veth",
    "tun",
    "af_packet",
    "*udp_tunnel",
    "intel_rapl_*",
    "rapl",
    "pcspkr",
    "joydev",
    "mac_hid",
    "sg",
    "sr_mod",
    "cdrom",
];
const LOADED: &str = "it is loaded by whoever first needs it, and is not on the path between GPUs and NICs";

/// The table.
pub const VOLATILE: &[Volatile] = &[
    all("proc/sys/kernel/random/boot_id", "each boot has its own"),
    all("proc/uptime", "time passes"),
    all("run/systemd/network", "each boot makes this directory; its content is compared separately"),
    all("proc/self", "a link to the process that reads it"),
    all("proc/loadavg", "load changes all the time"),
    all("proc/stat", COUNTS),
    all("proc/interrupts", COUNTS),
    all("proc/1/cgroup", "it names the session that read"),
    all("proc/self/cgroup", "it names the session that read"),
    parts("proc/modules", ON_DEMAND, LOADED),
    values("proc/meminfo", &["*"], MEMORY),
    values("proc/cpuinfo", &["cpu MHz"], CLOCK),
    values("proc/cpuinfo", &["bogomips"], "it is measured at each boot"),
    values(
        "proc/modules",
        &["*"],
        "users and addresses of a module change at each load; which modules there are does not",
    ),
    values("proc/driver/nvidia/gpus/*/information", &["IRQ"], "interrupt numbers are assigned at each boot"),
    all("**/aer_dev_*", COUNTS),
    all("**/aer_rootport_*", COUNTS),
    all("**/counters/*", COUNTS),
    all("**/hw_counters/*", COUNTS),
    all("**/statistics/*", COUNTS),
    values("**/power_state", &["*"], "power states follow the load"),
    values("**/enable", &["*"], "it counts the drivers that use the function"),
    values("**/net/*/carrier", &["*"], LINKS),
    values("**/net/*/duplex", &["*"], LINKS),
    all("**/net/*/ifindex", "the kernel numbers interfaces anew at each boot"),
    all("run/NetworkManager/devices/*", "NetworkManager notes its devices by the kernel's numbers"),
    values("**/free_hugepages", &["*"], MEMORY),
    values("sys/devices/system/node/*/meminfo", &["*"], MEMORY),
    values("**/cpufreq/scaling_cur_freq", &["*"], CLOCK),
    values("**/hwmon/**", &["*"], SENSOR),
    values("**/thermal/**", &["*"], SENSOR),
    all("`dmesg*", "the kernel's log is of this boot; rules judge what it says"),
    all("`journalctl*", "the kernel's log is of this boot; rules judge what it says"),
    all("`lspci*", AGAIN),
    parts(SMI, &["timestamp"], "time passes"),
    parts(SMI, &["*temp*"], SENSOR),
    parts(SMI, &["*power_draw*"], SENSOR),
    parts(SMI, &["*power_state"], SENSOR),
    parts(SMI, &["*clock*"], CLOCK),
    parts(SMI, &["*_util*"], SENSOR),
    parts(SMI, &["fan_speed"], SENSOR),
    parts(SMI, &["performance_state"], SENSOR),
    parts(SMI, &["used"], MEMORY),
    parts(SMI, &["free"], MEMORY),
    parts(SMI, &["reserved"], MEMORY),
    parts(SMI, &["current_link_*"], LINKS),
    parts(SMI, &["*current*link*"], LINKS),
    parts(SMI, &["replay*"], COUNTS),
    parts(SMI, &["*violation*"], COUNTS),
    parts(SMI, &["*_count*"], COUNTS),
    parts(SMI, &["process*"], "the running programs change all the time"),
    parts(SMI, &["pid"], "the running programs change all the time"),
    parts(SMI, &["used_memory"], MEMORY),
    all("`ethtool -S*", COUNTS),
    all("`rdma -j statistic*", COUNTS),
    values("`rdma -j link*", &["*"], LINKS),
    values("`ibv_devinfo*", &["state"], LINKS),
    values("`ibv_devinfo*", &["phys_state"], LINKS),
    values("`ibv_devinfo*", &["port_lid"], LIDS),
    values("`ibv_devinfo*", &["sm_lid"], LIDS),
    parts("`ibv_devinfo*", &["GID*"], GIDS),
    values("`ibv_devinfo*", &["active_width"], LINKS),
    values("`ibv_devinfo*", &["active_speed"], LINKS),
    values("`modinfo*", &["sig*"], "a module that is built again is signed again"),
    all("pasted/*dmesg*", "the kernel's log is of this boot; rules judge what it says"),
];

/// Why a difference says nothing; `None`: it does.
pub(super) fn why(path: &str, part: &str, what: &What) -> Option<&'static str> {
    let other_value = matches!(what, What::Changed { .. });
    let mut facts = MOVING.iter().filter(|m| other_value || m.comes_and_goes);
    let fact = facts.find(|m| path_is(m.path, path)).map(|m| m.reason);
    let mut others = VOLATILE.iter().filter(|v| other_value || !v.values_only);
    fact.or_else(|| Some(others.find(|v| path_is(v.path, path) && v.parts.iter().any(|p| within(p, part)))?.reason))
}

/// Whether a pattern is of this path or command.
pub(super) fn path_is(pattern: &str, path: &str) -> bool {
    if pattern.starts_with('`') { within(pattern, path) } else { covers(pattern, path) }
}
