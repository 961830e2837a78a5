//! A unit that sets MTUs and addresses after whoever configures the network.

use super::{STEP, Want, rendered};
use crate::change::unit::{Pair, Unit, escaped};
use crate::change::{Change, Refusal};
use crate::model::Condition;
use linerate_snapshot::Snapshot;

/// Its name.
const NAME: &str = "linerate-network.service";

/// A unit after ifupdown, or where nobody is known to keep an interface: `/etc/network/interfaces` is the user's, and a second stanza for an
/// interface would bring it up twice.
pub(super) fn render(good: &[Want<'_>], s: &Snapshot) -> Result<Change, Refusal> {
    let mut order = vec!["After=network.target networking.service systemd-networkd.service".to_owned()];
    let mut pairs = Vec::new();
    for w in good {
        let device = format!("sys-subsystem-net-devices-{}.device", escaped(w.name));
        order.push(format!("Wants={device}"));
        order.push(format!("After={device}"));
        if let Some(m) = w.mtu {
            let key = format!("ip link set dev {} mtu", w.name);
            pairs.push(Pair {
                start: format!("{key} {}", m.after),
                stop: format!("{key} {}", m.before),
                mask: None,
                key,
            });
        }
        for c in w.addresses {
            let start = format!("ip address replace {c} dev {}", w.name);
            let stop = format!("ip address flush dev {} to {}/32", w.name, c.address);
            pairs.push(Pair { key: start.clone(), start, stop, mask: None });
        }
    }
    let description = "MTU and addresses of interfaces, set by linerate";
    let unit = Unit { name: NAME, step: STEP, description, order: &order, pairs };
    let mut change = unit.acts(s)?;
    if change.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{NAME} does it at each boot: is it enabled, and did it run?"),
        });
    }
    // Beside the unit, which does the same: what is wanted is told in one way, whoever keeps it.
    let addresses = good.iter().flat_map(|w| Want { mtu: None, ..w.clone() }.now()).collect::<Vec<_>>();
    change.splice(0..0, addresses);
    let program = Condition::program("ip", "iproute2");
    let note = "a unit of its own sets it after the network is up: ifdown and ifup put the old one back until the unit is started again";
    Ok(rendered(good, vec![program], change, note))
}
