//! What is answered about one interface.

use super::kin::Kin;
use super::written::{Found, Group, Mtu};
use crate::{Finding, Findings, Remedy, Severity, Subject};
use linerate_formats::net_config::{Kind, Mode, Writer};
use linerate_node::net_written::NetWritten;
use linerate_node::roce;
use linerate_snapshot::Place;

/// Ethernet's, which drivers begin with.
const ETHERNET: u32 = 1500;
/// The largest of IPoIB: an InfiniBand MTU of 4096 less 4 bytes, and 64 KiB less 16.
const DATAGRAM: u32 = 4092;
const CONNECTED: u32 = 65_520;

/// One interface.
pub(super) struct Judge<'a, 'g> {
    pub(super) kin: &'g Kin<'a>,
    pub(super) found: &'g Found<'a>,
    pub(super) g: &'g Group<'a>,
}

impl Judge<'_, '_> {
    fn subject(&self) -> Subject {
        Subject::Net(self.g.name.clone())
    }

    pub(super) fn answer(&self, out: &mut Findings) {
        let (mtu, at, w) = match self.g.mtu() {
            Mtu::None => return self.unwritten(out),
            Mtu::Hidden(at) => {
                out.unknown(self.subject(), "the value of its MTU is not shown").at(at);
                return;
            }
            Mtu::Contrary(a, b) => {
                let text =
                    format_args!("is written with MTU {} and MTU {}: which one holds is not in this source", a.0, b.0);
                out.unknown(self.subject(), text).at(a.1).at(b.1).see("netplan get, or nmcli device show");
                return;
            }
            Mtu::Is(mtu, at, w) => (mtu, at, w),
        };
        if !self.beyond_mode(mtu, at, w, out) && !self.beyond_parent(mtu, at, w, out) {
            self.compare(mtu, at, w, out);
        }
    }

    /// More than IPoIB takes in the mode that is written.
    fn beyond_mode(&self, mtu: u32, at: Place, w: &NetWritten, out: &mut Findings) -> bool {
        let Some(&mode) = w.mode().known() else { return false };
        let most = if mode == Mode::Datagram { DATAGRAM } else { CONNECTED };
        if mtu <= most {
            return false;
        }
        let text = format_args!(
            "MTU {mtu} is written, and IPoIB in {} mode takes {most} at most: the kernel refuses it",
            mode.name()
        );
        self.fix(out.fail(self.subject(), text).severity(Severity::Low).at(at).at(w.mode().place()), w);
        true
    }

    /// More than a VLAN's parent has.
    fn beyond_parent(&self, mtu: u32, at: Place, w: &NetWritten, out: &mut Findings) -> bool {
        let Some(parent) = w.parent.as_ref().filter(|_| w.interface.kind == Kind::Vlan) else { return false };
        let written = self.found.named.get(&parent.value).map(Group::mtu);
        let (most, place, verb) = match written {
            Some(Mtu::Is(most, place, _)) => (most, place, "is written for"),
            // networkd raises a parent whose MTU is not written.
            _ if w.interface.writer == Writer::Netplan => return false,
            _ => match self.found.running.mtu(&parent.value) {
                Some((most, place)) => (most, place, "runs on"),
                None => return false,
            },
        };
        if mtu <= most {
            return false;
        }
        let text = format_args!(
            "MTU {mtu} is written, and {most} {verb} its parent {}: the kernel refuses a VLAN that is larger than its parent",
            parent.value
        );
        self.fix(out.fail(self.subject(), text).severity(Severity::Low).at(at).at(place), w);
        true
    }

    fn compare(&self, mtu: u32, at: Place, w: &NetWritten, out: &mut Findings) {
        let name = &self.g.name;
        let Some((runs, place)) = self.found.running.mtu(name) else {
            if let Some(place) = self.found.running.is_missing(name) {
                out.not_applicable_to(
                    self.subject(),
                    format_args!("MTU {mtu} is written, and the node has no such interface"),
                )
                .at(at)
                .at(place);
                return;
            }
            out.unknown(self.subject(), format_args!("MTU {mtu} is written; the MTU that runs is not in this source"))
                .at(at)
                .see(format_args!("ip -d link show {name}"));
            return;
        };
        if runs == mtu {
            out.pass(self.subject(), format_args!("MTU {mtu} runs and is written")).at(place).at(at);
            return;
        }
        let is_ipoib = w.interface.kind == Kind::Infiniband;
        if is_ipoib && runs < mtu && w.mode().known() != Some(&Mode::Connected) {
            let text = format_args!(
                "MTU {mtu} is written and {runs} runs: in datagram mode the fabric's multicast group limits it"
            );
            out.not_applicable_to(self.subject(), text).at(place).at(at);
            return;
        }
        let writer = w.writer();
        if is_ipoib && runs < mtu {
            let text = format_args!(
                "runs with MTU {runs}, and {writer} writes {mtu} in connected mode: it is not applied, or the driver has no such mode (Enhanced IPoIB)"
            );
            self.fix(out.fail(self.subject(), text).severity(Severity::Low).at(place).at(at).at(w.mode().place()), w);
            return;
        }
        let when = match w.interface.writer {
            Writer::Netplan => "the next boot or `netplan apply`",
            Writer::NetworkManager => "the next activation of the connection",
        };
        let falls = !is_ipoib && roce::mtu(mtu) < roce::mtu(runs);
        let severity = if falls { self.kin.weigh(name) } else { Severity::Low };
        let text = format_args!("runs with MTU {runs}, and {writer} writes {mtu}: {mtu} comes with {when}");
        self.fix(out.fail(self.subject(), text).severity(severity).at(place).at(at), w);
    }

    /// Nothing is written: what holds after a boot depends on what else there is.
    fn unwritten(&self, out: &mut Findings) {
        let Some(w) = self.g.all.first() else { return };
        let (name, at) = (&self.g.name, w.place());
        let running = self.found.running.mtu(name);
        if let Some(place) = running.is_none().then(|| self.found.running.is_missing(name)).flatten() {
            out.not_applicable_to(self.subject(), "no MTU is written for it, and the node has no such interface")
                .at(at)
                .at(place);
        } else if matches!(w.interface.kind, Kind::Vlan | Kind::Infiniband) {
            let from = if w.interface.kind == Kind::Vlan { "its parent" } else { "the fabric" };
            out.not_applicable_to(self.subject(), format_args!("no MTU is written for it: it has that of {from}"))
                .at(at);
        } else if let Some((runs, place)) = running {
            if runs == ETHERNET {
                out.not_applicable_to(self.subject(), "no MTU is written for it, and Ethernet's 1500 runs")
                    .at(at)
                    .at(place);
                return;
            }
            let text = format_args!(
                "runs with MTU {runs}, and {} writes none: a boot begins with the driver's (1500 on Ethernet), and what sets another is not in this source",
                w.writer()
            );
            out.unknown(self.subject(), text)
                .at(place)
                .at(at)
                .see("grep -rs MTU /etc/netplan /etc/systemd/network /etc/udev/rules.d /etc/NetworkManager");
        } else {
            out.unknown(self.subject(), "no MTU is written for it; the MTU that runs is not in this source")
                .at(at)
                .see(format_args!("ip -d link show {name}"));
        }
    }

    fn fix(&self, finding: &mut Finding, w: &NetWritten) {
        let name = &self.g.name;
        let writer = w.writer();
        finding.fix(|| {
            Remedy::investigate(
                "decide which MTU is meant, write it and apply it",
                format!("MTU of {name}, as it runs and as {writer} writes it"),
            )
            .because("a change of the MTU interrupts the interface, and every switch must carry it")
            .prove(format!("sys/class/net/{name}/mtu"))
        });
    }
}
