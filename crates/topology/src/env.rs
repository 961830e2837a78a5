//! NCCL's environment, as far as it decides about paths: read with NCCL's own rules.

use crate::number::{int, long};
use crate::path::{ALL, PathType};
use crate::version::Version;

/// How many NICs a GPU uses (`NCCL_NETDEVS_POLICY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetDevs {
    /// The NICs near a GPU are shared out among the GPUs near them.
    #[default]
    Auto,
    /// Every GPU uses all NICs near it.
    All,
    /// At most this many.
    Max(u32),
}

/// Settings; each as NCCL has it where the environment is silent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // one a variable
pub struct Env {
    /// `NCCL_NET_GDR_LEVEL`.
    pub gdr_level: Option<PathType>,
    /// `NCCL_NET_GDR_READ`; -2 lets NCCL decide.
    pub gdr_read: i64,
    /// `NCCL_NET_GDR_C2C`; `None` is the release's default.
    pub gdr_c2c: Option<bool>,
    /// `NCCL_NET_GDR_MLOPART`.
    pub gdr_mlopart: bool,
    /// `NCCL_P2P_LEVEL`, or LOC for `NCCL_P2P_DISABLE=1`.
    pub p2p_level: Option<PathType>,
    /// Whether it was `NCCL_P2P_DISABLE` that set it.
    pub p2p_disabled: bool,
    /// `NCCL_PXN_DISABLE`.
    pub pxn_disable: bool,
    /// `NCCL_PXN_C2C`; `None` is the release's default.
    pub pxn_c2c: Option<bool>,
    /// `NCCL_P2P_PXN_LEVEL`.
    pub p2p_pxn_level: i64,
    /// `NCCL_CROSS_NIC`.
    pub cross_nic: i64,
    /// `NCCL_NVB_DISABLE`.
    pub nvb_disable: bool,
    /// `NCCL_NET_DISABLE_INTRA`.
    pub net_disable_intra: bool,
    /// `NCCL_SHM_DISABLE`.
    pub shm_disable: bool,
    /// `NCCL_IB_MERGE_NICS`.
    pub merge_nics: bool,
    /// `NCCL_NET_MERGE_LEVEL`; NVL stands for PORT, which has the same number.
    pub merge_level: PathType,
    /// `NCCL_NET_MERGE_POLICY=RAIL`.
    pub merge_rail: bool,
    /// `NCCL_NET_FORCE_MERGE`: groups of names.
    pub force_merge: Vec<Vec<String>>,
    /// `NCCL_NETDEVS_POLICY`.
    pub netdevs: NetDevs,
    /// `NCCL_NET_FORCE_FLUSH`.
    pub force_flush: bool,
    /// `NCCL_TOPO_SPLIT_MLOPART`.
    pub split_mlopart: bool,
    /// What was not understood, or decides nothing here.
    pub notes: Vec<String>,
}

impl Default for Env {
    fn default() -> Self {
        Env {
            gdr_level: None,
            gdr_read: -2,
            gdr_c2c: None,
            gdr_mlopart: false,
            p2p_level: None,
            p2p_disabled: false,
            pxn_disable: false,
            pxn_c2c: None,
            p2p_pxn_level: 2,
            cross_nic: 2,
            nvb_disable: false,
            net_disable_intra: false,
            shm_disable: false,
            merge_nics: true,
            merge_level: PathType::Nvl,
            merge_rail: false,
            force_merge: Vec::new(),
            netdevs: NetDevs::Auto,
            force_flush: false,
            split_mlopart: true,
            notes: Vec::new(),
        }
    }
}

impl Env {
    /// Reads variables. Later ones of the same name win; names without `NCCL_` are passed over.
    #[must_use]
    pub fn parse<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>, version: Version) -> Self {
        let mut env = Env::default();
        let mut level = None;
        for (key, value) in vars {
            if key.starts_with("NCCL_") {
                env.set(key, value, version, &mut level);
            }
        }
        // Which of the two came first does not matter: the switch wins.
        env.p2p_level = if env.p2p_disabled { Some(PathType::Loc) } else { level };
        env
    }

    /// Reads lines of `KEY=VALUE`.
    #[must_use]
    pub fn parse_lines(text: &str, version: Version) -> Self {
        let line = |l: &'_ str| -> Option<(String, String)> {
            let l = l.trim();
            let l = l.strip_prefix("export ").unwrap_or(l);
            let (k, v) = l.split_once('=').filter(|_| !l.starts_with('#'))?;
            Some((k.trim().to_owned(), v.to_owned()))
        };
        let vars: Vec<_> = text.lines().filter_map(line).collect();
        Self::parse(vars.iter().map(|(k, v)| (k.as_str(), v.as_str())), version)
    }

    fn set(&mut self, key: &str, value: &str, version: Version, p2p_level: &mut Option<PathType>) {
        // NCCL reads an integer from the front of the text, and keeps the default where it is empty.
        let number = (!value.is_empty()).then(|| long(value));
        let flag = |default: bool| number.map_or(default, |n| n != 0);
        match key {
            "NCCL_NET_GDR_LEVEL" => self.gdr_level = self.level(key, value, version),
            "NCCL_P2P_LEVEL" => *p2p_level = self.level(key, value, version),
            "NCCL_P2P_DISABLE" => self.p2p_disabled = int(value) == 1,
            "NCCL_NET_GDR_READ" => self.gdr_read = number.unwrap_or(-2),
            "NCCL_NET_GDR_C2C" => self.gdr_c2c = number.map(|n| n != 0),
            "NCCL_NET_GDR_MLOPART" => self.gdr_mlopart = flag(false),
            "NCCL_PXN_DISABLE" => self.pxn_disable = number == Some(1),
            "NCCL_PXN_C2C" => self.pxn_c2c = number.map(|n| n != 0),
            "NCCL_P2P_PXN_LEVEL" => self.p2p_pxn_level = number.unwrap_or(2),
            "NCCL_CROSS_NIC" => self.cross_nic = number.unwrap_or(2),
            "NCCL_NVB_DISABLE" => self.nvb_disable = flag(false),
            "NCCL_NET_DISABLE_INTRA" => self.net_disable_intra = number == Some(1),
            "NCCL_SHM_DISABLE" => self.shm_disable = number == Some(1),
            "NCCL_IB_MERGE_NICS" => self.merge_nics = flag(true),
            "NCCL_NET_FORCE_FLUSH" => self.force_flush = flag(false),
            "NCCL_TOPO_SPLIT_MLOPART" => self.split_mlopart = flag(true),
            "NCCL_NET_MERGE_LEVEL" => self.merge_level = self.merge(value),
            "NCCL_NET_MERGE_POLICY" => {
                self.merge_rail = value.eq_ignore_ascii_case("RAIL");
                if !self.merge_rail && !value.eq_ignore_ascii_case("ALL") {
                    self.note(key, value, "NCCL knows RAIL and ALL, and takes ALL");
                }
            }
            "NCCL_NET_FORCE_MERGE" => {
                let group = |g: &str| g.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect::<Vec<_>>();
                self.force_merge = value.split(';').map(group).filter(|g| !g.is_empty()).collect();
            }
            "NCCL_NETDEVS_POLICY" => self.netdevs = self.policy(key, value),
            "NCCL_HOSTID" | "NCCL_DEBUG" | "NCCL_DEBUG_SUBSYS" | "NCCL_DEBUG_FILE" | "NCCL_TOPO_FILE" => {}
            _ => self.note(key, value, "it does not decide about paths here"),
        }
    }

    fn note(&mut self, key: &str, value: &str, why: &str) {
        let value: String = value.chars().take(60).collect();
        self.notes.push(format!("{key}={value}: {why}"));
    }

    /// A name of a type up to SYS, or an old number.
    fn level(&mut self, key: &str, value: &str, version: Version) -> Option<PathType> {
        use PathType::*;
        let named = |t: &PathType| *t <= Sys && t.known_to(version) && t.name() == value;
        if let Some(t) = ALL.into_iter().find(named) {
            return Some(t);
        }
        if value.starts_with(|c: char| c.is_ascii_digit()) {
            let old = [Loc, Pix, Pxb, Phb, Sys, Sys];
            let n = usize::try_from(int(value).clamp(0, 5)).unwrap_or(0);
            let t = old.get(n).copied()?;
            self.note(key, value, &format!("an old number, which NCCL reads as {t}: write the name"));
            return Some(t);
        }
        self.note(key, value, "NCCL does not know this level and uses its default");
        None
    }

    /// A prefix of NCCL's table; anything else is LOC, which fuses nothing.
    fn merge(&mut self, value: &str) -> PathType {
        use PathType::*;
        let table = [
            ("LOC", Loc),
            ("PORT", Nvl),
            ("PIX", Pix),
            ("PXB", Pxb),
            ("P2C", P2c),
            ("PXN", Pxn),
            ("PHB", Phb),
            ("SYS", Sys),
        ];
        if let Some((_, t)) = table.iter().find(|(n, _)| value.starts_with(n)) {
            return *t;
        }
        self.note("NCCL_NET_MERGE_LEVEL", value, "NCCL does not know this level and fuses nothing");
        Loc
    }

    fn policy(&mut self, key: &str, value: &str) -> NetDevs {
        let max = value.get(..4).filter(|p| p.eq_ignore_ascii_case("MAX:")).and_then(|_| value.get(4..)).map(int);
        match max {
            _ if value.eq_ignore_ascii_case("AUTO") => NetDevs::Auto,
            _ if value.eq_ignore_ascii_case("ALL") => NetDevs::All,
            Some(n) if n > 0 => NetDevs::Max(n.unsigned_abs()),
            _ => {
                self.note(key, value, "NCCL knows AUTO, ALL and MAX:n, and takes AUTO");
                NetDevs::Auto
            }
        }
    }

    /// Whether NICs behind the CPU of a C2C GPU may use GPUDirect.
    pub(crate) fn gdr_c2c_in(&self, v: Version) -> bool {
        v.since(2, 26) && self.gdr_c2c.unwrap_or(v.since(2, 27))
    }

    /// Whether such a GPU may relay for others.
    pub(crate) fn pxn_c2c_in(&self, v: Version) -> bool {
        v.since(2, 27) && self.pxn_c2c.unwrap_or(v.since(2, 28))
    }
}
