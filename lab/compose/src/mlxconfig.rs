//! What `mlxconfig -d BDF -e q` prints.

use crate::compose::{Commands, Plan};
use crate::description::{Ats, Fabric, Role, Scalar, Setting};
use crate::function::{Function, Kind};
use crate::models::NicModel;
use crate::{DescribeError, glob, patch};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn write(plan: &Plan, commands: &mut Commands) -> Result<(), DescribeError> {
    let mut known = Vec::new();
    for p in plan.ports.iter().filter(|p| p.port == 1 && p.model.driver.starts_with("mlx")) {
        let Some(f) = plan.functions.get(p.function).filter(|f| matches!(f.kind, Kind::Nic { .. })) else { continue };
        let own: Vec<_> =
            plan.d.mlxconfig.iter().filter(|(key, _)| patch::named(f, key) || glob::name(key, &p.rdma)).collect();
        known.extend(f.names.iter().cloned().chain([p.rdma.clone()]));
        // One answer for a card: its first function.
        let mlx = p.model.driver.starts_with("mlx");
        if f.bdf.function != 0 || !mlx || (plan.d.node.role == Role::Guest && own.is_empty()) {
            continue;
        }
        let mut settings = usual(f, &p.model, p.fabric);
        for (_, table) in own {
            for (name, setting) in table {
                settings.entry(name.clone()).or_default().patch(setting);
            }
        }
        commands.add(&["mlxconfig", "-d", &f.bdf.to_string(), "-e", "q"], text(f, &p.model, &settings), 0);
    }
    // Passed-through NICs have no RDMA device here, but their firmware can be asked.
    for f in plan.functions.iter().filter(|f| f.driver.as_deref() == Some("vfio-pci") && f.bdf.function == 0) {
        let (Kind::Nic { .. }, Some(model)) = (f.kind, f.model.and_then(crate::models::nic_model)) else { continue };
        known.extend(f.names.iter().cloned());
        let mut settings = usual(f, &model, model.fabric);
        for (_, table) in plan.d.mlxconfig.iter().filter(|(key, _)| patch::named(f, key)) {
            for (name, setting) in table {
                settings.entry(name.clone()).or_default().patch(setting);
            }
        }
        commands.add(&["mlxconfig", "-d", &f.bdf.to_string(), "-e", "q"], text(f, &model, &settings), 0);
    }
    match plan
        .d
        .mlxconfig
        .keys()
        .find(|key| !known.iter().any(|n| glob::name(key, n)) && !plan.functions.iter().any(|f| patch::named(f, key)))
    {
        Some(key) => Err(patch::unknown("mlxconfig", key, known.into_iter())),
        None => Ok(()),
    }
}

impl Setting {
    /// A value given for an earlier moment holds for the later ones until they say otherwise.
    fn patch(&mut self, own: &Setting) {
        self.hidden = own.hidden;
        if let Some(v) = &own.default {
            (self.default, self.current, self.next) = (Some(v.clone()), Some(v.clone()), Some(v.clone()));
        }
        if let Some(v) = &own.current {
            (self.current, self.next) = (Some(v.clone()), Some(v.clone()));
        }
        if let Some(v) = &own.next {
            self.next = Some(v.clone());
        }
    }
}

/// Factory settings of the model, and what the function's state implies.
fn usual(f: &Function, model: &NicModel, fabric: Fabric) -> BTreeMap<String, Setting> {
    let same = |v: &str| Setting { default: Some(Scalar(v.into())), current: None, next: None, hidden: false };
    let mut s = BTreeMap::new();
    let mut put = |name: &str, setting: Setting| {
        let mut full = Setting::default();
        full.patch(&setting);
        s.insert(name.to_owned(), full);
    };
    let link_type = if fabric == Fabric::InfiniBand { "IB(1)" } else { "ETH(2)" };
    if model.driver == "mlx4_core" {
        put("SRIOV_EN", same("False(0)"));
        put("NUM_OF_VFS", same("8"));
        put("LINK_TYPE_P1", same(link_type));
        put("LINK_TYPE_P2", same(link_type));
        return s;
    }
    for (name, v) in [
        ("NUM_OF_PF", "1"),
        ("NUM_PF_MSIX", "63"),
        ("PF_LOG_BAR_SIZE", "5"),
        ("VF_LOG_BAR_SIZE", "0"),
        ("CQE_COMPRESSION", "BALANCED(0)"),
        ("PCI_ATOMIC_MODE", "PCI_ATOMIC_DISABLED_EXT_ATOMIC_ENABLED(0)"),
        ("ROCE_CONTROL", "ROCE_ENABLE(2)"),
        ("ROCE_CC_PRIO_MASK_P1", "255"),
        ("CNP_DSCP_P1", "48"),
        ("CNP_802P_PRIO_P1", "6"),
        ("ADVANCED_PCI_SETTINGS", "False(0)"),
        ("ZERO_TOUCH_TUNING_ENABLE", "False(0)"),
    ] {
        put(name, same(v));
    }
    let ats = if f.ats == Ats::Absent { "False(0)" } else { "True(1)" };
    put("ATS_ENABLED", Setting { current: Some(Scalar(ats.into())), ..same("False(0)") });
    let vfs = f.sriov.map_or(0, |s| s.total).to_string();
    put("SRIOV_EN", Setting { current: Some(Scalar("True(1)".into())), ..same("False(0)") });
    put("NUM_OF_VFS", Setting { current: Some(Scalar(vfs)), ..same("0") });
    if model.device_type == "BlueField3" {
        let own = f.model == Some(crate::Nics::BlueField3Dpu);
        put("INTERNAL_CPU_MODEL", same("EMBEDDED_CPU(1)"));
        put("INTERNAL_CPU_OFFLOAD_ENGINE", same(if own { "ENABLED(0)" } else { "DISABLED(1)" }));
    }
    put("LINK_TYPE_P1", Setting { current: Some(Scalar(link_type.into())), ..same("IB(1)") });
    s
}

fn text(f: &Function, model: &NicModel, settings: &BTreeMap<String, Setting>) -> String {
    let mut out = format!(
        "\nDevice #1:\n----------\n\nDevice type:        {:<20}\nName:               {:<20}\nDescription:        {}\nDevice:             {:<20}\n\n",
        model.device_type, model.part, model.product, f.bdf
    );
    let mlx4 = model.driver == "mlx4_core";
    if mlx4 {
        let _ = writeln!(out, "Configurations:                                          Next Boot");
    } else {
        let _ = writeln!(out, "{:<56}{:<21}{:<21}Next Boot", "Configurations:", "Default", "Current");
    }
    let value = |v: &Option<Scalar>| v.as_ref().map_or_else(|| "N/A".to_owned(), |v| v.0.clone());
    let mut any = false;
    for (name, s) in settings.iter().filter(|(_, s)| !s.hidden) {
        let changed = s.next != s.default || s.next != s.current;
        any |= changed;
        let star = if changed && !mlx4 { '*' } else { ' ' };
        let _ = if mlx4 {
            writeln!(out, "{star}       {name:<48}{:<20}", value(&s.next))
        } else {
            writeln!(
                out,
                "{star}       {name:<48}{:<20} {:<20} {:<20}",
                value(&s.default),
                value(&s.current),
                value(&s.next)
            )
        };
    }
    if any && !mlx4 {
        out.push_str("The '*' shows parameters with next value different from default/current value.\n");
    }
    out
}
