//! Which element a name means.

use super::facts::key;
use crate::topo::scene::Scene;

/// Marks what limits; whether it was found.
pub(super) fn mark(scene: &mut Scene, name: &str) -> bool {
    let plain = |s: &str| s.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect::<String>().to_lowercase();
    let (wanted, id) = (plain(name), name.contains(':').then(|| key(name)));
    if wanted.is_empty() {
        return false;
    }
    let busid = |b: &str| id.is_some_and(|id| id == key(b));
    let mut found = false;
    let mut set = |limits: &mut bool, yes: bool| {
        *limits |= yes;
        found |= yes;
    };
    let (has_fabric, has_mesh, has_smp) = (scene.has_fabric(), !scene.nvlinks.is_empty(), !scene.smp.is_empty());
    for c in &mut scene.cpus {
        set(&mut c.limits, plain(&c.name) == wanted);
    }
    for s in &mut scene.switches {
        set(&mut s.limits, busid(&s.busid));
    }
    for g in &mut scene.gpus {
        set(&mut g.limits, busid(&g.busid) || plain(&g.name) == wanted);
    }
    for n in &mut scene.nics {
        let named = plain(&n.name) == wanted || n.name.split('+').any(|p| plain(p) == wanted);
        set(&mut n.limits, named || n.busid.as_deref().is_some_and(busid));
    }
    set(&mut scene.fabric_limits, (has_fabric || has_mesh) && ["nvlink", "nvswitch", "nvs"].contains(&wanted.as_str()));
    set(&mut scene.smp_limits, has_smp && ["smp", "sys", "upi", "xgmi"].contains(&wanted.as_str()));
    found
}
