//! Interruptions, and what others set meanwhile, on a BMC that is a few lines.

use super::*;
use crate::drive::Stop;
use crate::drive::elsewhere::{Afar, At, make, put_back};
use crate::protocol::Stands;
use crate::redfish::{Method, Request, Response};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A BMC: in force, waiting, and what was sent.
#[derive(Default)]
pub(in crate::drive) struct Fake {
    active: Attributes,
    waits: Attributes,
    /// Whether it shows what waits.
    hides: bool,
    patches: usize,
    refuses: bool,
    dead: bool,
    /// Attributes that were sent, in order.
    pub(in crate::drive) sent: Vec<String>,
}

#[derive(Clone)]
pub(in crate::drive) struct Wire(Arc<Mutex<Fake>>);

impl Transport for Wire {
    fn send(&self, request: &Request) -> Result<Response, Error> {
        let mut f = self.0.lock().unwrap();
        if f.dead {
            return Err(Error::NoAnswer { method: "GET", path: request.path.clone(), why: "cut".into() });
        }
        let link = |p: &str| json!({ "@odata.id": p });
        let body = match (request.method, request.path.as_str()) {
            (Method::Get, "/redfish/v1/") => json!({ "Systems": link("/s") }),
            (Method::Get, "/s") => json!({ "Members": [link("/s/1")] }),
            (Method::Get, "/s/1") => json!({ "Id": "1", "UUID": crate::kube::tests::UUID, "Bios": link("/b") }),
            (Method::Get, "/b") => {
                json!({ "Attributes": f.active, "@Redfish.Settings": { "SettingsObject": link("/b/sd") } })
            }
            (Method::Get, "/b/sd") if f.hides => json!({ "Attributes": {} }),
            (Method::Get, "/b/sd") => {
                let mut all = f.active.clone();
                all.extend(f.waits.clone());
                json!({ "Attributes": all })
            }
            (Method::Patch, "/b/sd") if f.refuses => {
                return Ok(Response { status: 400, ..Response::default() });
            }
            (Method::Patch, "/b/sd") => {
                let wanted = request.body.as_ref().unwrap()["Attributes"].as_object().unwrap().clone();
                f.sent.push(request.body.as_ref().unwrap()["Attributes"].to_string());
                f.waits.extend(wanted);
                f.patches += 1;
                json!({})
            }
            _ => return Ok(Response { status: 404, ..Response::default() }),
        };
        Ok(Response { status: 200, headers: vec![], body: body.to_string().into_bytes() })
    }
}

impl Wire {
    pub(in crate::drive) fn new() -> Wire {
        let fake = Fake { active: one("Iommu", "Off"), ..Fake::default() };
        Wire(Arc::new(Mutex::new(fake)))
    }

    pub(in crate::drive) fn bmc(&self) -> Bmc {
        let patience = Patience { looks: 1, pause: Duration::ZERO };
        Bmc::new(Origin::parse("https://bmc.example").unwrap(), Box::new(self.clone()), None, patience)
    }

    fn change(&self, f: impl FnOnce(&mut Fake)) {
        f(&mut self.0.lock().unwrap());
    }

    pub(in crate::drive) fn start(&self) {
        self.change(|f| {
            let waits = std::mem::take(&mut f.waits);
            f.active.extend(waits);
        });
    }

    pub(in crate::drive) fn sent(&self) -> Vec<String> {
        self.0.lock().unwrap().sent.clone()
    }

    fn patches(&self) -> usize {
        self.0.lock().unwrap().patches
    }

    fn active(&self) -> Value {
        self.0.lock().unwrap().active["Iommu"].clone()
    }
}

fn one(name: &str, value: &str) -> Attributes {
    [(name.to_owned(), value.into())].into()
}

/// The node's journal, as far as it knows acts that are made elsewhere.
struct Journal {
    act: Afar<BiosAct>,
    /// Requests that are answered; then the connection is gone.
    left: usize,
}

impl Journal {
    fn new() -> Journal {
        let at =
            At { step: "bios-iommu".into(), number: 0, stands: Stands::Open, what: "set Iommu".into(), before: None };
        let set = BiosAct { attribute: "Iommu".into(), before: "Off".into(), after: "On".into() };
        let act = Afar { at, set, was: None };
        Journal { act, left: usize::MAX }
    }

    fn note(&mut self, stands: Stands, text: &str) -> Result<(), Stop> {
        if self.left == 0 {
            return Err(Stop::Cancelled);
        }
        self.left -= 1;
        if stands == Stands::Announced && self.act.at.stands != Stands::Announced {
            self.act.was = serde_json::from_str(text).ok();
        }
        self.act.at.stands = stands;
        Ok(())
    }

    fn make(&mut self, bmc: &Bmc) -> Result<Vec<String>, Stop> {
        let acts = [self.act.clone()];
        make(bmc, &acts, &mut |_, stands, text| self.note(stands, &text)).map(|(made, _)| made)
    }

    fn put_back(&mut self, bmc: &Bmc) -> Result<Vec<String>, Stop> {
        self.put_back_or(bmc, false)
    }

    fn put_back_or(&mut self, bmc: &Bmc, keep: bool) -> Result<Vec<String>, Stop> {
        let acts = [self.act.clone()];
        put_back(bmc, &acts, keep, &mut |_, stands, text| self.note(stands, &text))
    }
}

pub(in crate::drive) fn code<T: std::fmt::Debug>(stop: Result<T, Stop>) -> String {
    match stop {
        Err(Stop::Refused(all)) => all.iter().map(|t| t.code.clone()).collect(),
        other => format!("{other:?}"),
    }
}

#[test]
fn set_once_whatever_interrupts_and_put_back() {
    // Ended before the announcement, between announcement and end, and not at all.
    for left in [0, 1, usize::MAX] {
        let (wire, mut journal) = (Wire::new(), Journal::new());
        journal.left = left;
        let first = journal.make(&wire.bmc());
        assert_eq!(first.is_ok(), left == usize::MAX);
        assert_eq!(wire.patches(), usize::from(left > 0), "announced before it is sent");
        journal.left = usize::MAX;
        journal.make(&wire.bmc()).unwrap();
        assert_eq!((wire.patches(), journal.act.at.stands), (1, Stands::Made), "the BMC is asked, not the journal");
        wire.start();
        assert_eq!(wire.active(), "On");
        journal.put_back(&wire.bmc()).unwrap();
        assert_eq!(journal.act.at.stands, Stands::Undone);
        assert!(is_back(&wire.bmc(), &[journal.act.clone()], false).is_err(), "it waits for a start");
        wire.start();
        assert!(is_back(&wire.bmc(), &[journal.act.clone()], false).is_ok());
        assert_eq!(wire.active(), "Off");
    }
}

#[test]
fn what_waited_before_waits_again() {
    let (wire, mut journal) = (Wire::new(), Journal::new());
    wire.change(|f| f.waits = one("Iommu", "Auto"));
    journal.make(&wire.bmc()).unwrap();
    journal.put_back(&wire.bmc()).unwrap();
    assert_eq!(wire.0.lock().unwrap().waits, one("Iommu", "Auto"));
}

#[test]
fn a_service_that_hides_what_waits_is_told_again() {
    let (wire, mut journal) = (Wire::new(), Journal::new());
    wire.change(|f| f.hides = true);
    let made = journal.make(&wire.bmc()).unwrap();
    assert!(made[0].contains("not confirmed"), "{made:?}");
    journal.put_back(&wire.bmc()).unwrap();
    assert_eq!(wire.0.lock().unwrap().waits, one("Iommu", "Off"), "the change that waits unseen is overwritten");
}

#[test]
fn refused_is_noted_as_failed_and_lost_stays_announced() {
    let (wire, mut journal) = (Wire::new(), Journal::new());
    wire.change(|f| f.refuses = true);
    assert_eq!(code(journal.make(&wire.bmc())), "failed");
    assert_eq!(journal.act.at.stands, Stands::Failed);
    let mut journal = Journal::new();
    wire.change(|f| f.dead = true);
    assert_eq!(code(journal.make(&wire.bmc())), "failed");
    assert_eq!(journal.act.at.stands, Stands::Open, "it could not even be looked at");
}

#[test]
fn what_somebody_else_set_is_left() {
    let (wire, mut journal) = (Wire::new(), Journal::new());
    journal.make(&wire.bmc()).unwrap();
    wire.change(|f| f.waits = one("Iommu", "Auto"));
    assert_eq!(code(journal.put_back(&wire.bmc())), "unexpected");
    assert_eq!(wire.patches(), 1);
    // Asked for, it ends the plan as it is, also when it was started since.
    let said = journal.put_back_or(&wire.bmc(), true).unwrap();
    assert!(said[0].starts_with("left as it is: ") && journal.act.at.stands == Stands::Undone, "{said:?}");
    wire.start();
    let acts = [journal.act.clone()];
    assert!(is_back(&wire.bmc(), &acts, false).is_err() && is_back(&wire.bmc(), &acts, true).is_ok());
    wire.change(|f| f.active = one("Iommu", "On"));
    assert!(is_back(&wire.bmc(), &acts, true).is_err(), "ours is nobody else's");
    assert_eq!(wire.patches(), 1);
}

#[test]
fn whose_bmc_it_is() {
    let node = Some("27946b59-9e44-4fa7-8e91-f3527a1ef094");
    assert_eq!(is_of(node, Some("27946B59-9E44-4FA7-8E91-F3527A1EF094")), Some(true));
    assert_eq!(is_of(node, Some("596b9427-449e-a74f-8e91-f3527a1ef094")), Some(true), "the low byte first");
    assert_eq!(is_of(node, Some("27946b59-9e44-4fa7-8e91-f3527a1ef095")), Some(false));
    assert_eq!(is_of(node, Some("00000000-0000-0000-0000-000000000000")), None);
    assert_eq!((is_of(None, node), is_of(node, Some("AA"))), (None, None));
}

#[test]
fn only_the_machine_of_the_plan() {
    let (ours, other) = ("27946b59-9e44-4fa7-8e91-f3527a1ef094", "11111111-9e44-4fa7-8e91-f3527a1ef094");
    let node = crate::hand::tests::Node::new();
    let plan = |uuid: Option<&str>| {
        let mut plan = node.plan_of(Vec::new());
        plan.node.uuid = uuid.map(str::to_owned);
        plan
    };
    let sure = |planned, node, bmc| is_sure(&plan(planned), node, bmc).is_ok();
    assert!(sure(Some(ours), Some(ours), Some(ours)));
    for (planned, node, bmc) in [
        (None, Some(ours), Some(ours)),
        (Some(ours), None, Some(ours)),
        (Some(ours), Some(ours), None),
        (Some(ours), Some(other), Some(ours)),
        (Some(ours), Some(ours), Some(other)),
        (Some(other), Some(ours), Some(ours)),
        (Some(ours), Some(other), Some(other)),
        (Some("AA"), Some("AA"), Some("AA")),
        (Some("00000000-0000-0000-0000-000000000000"), Some(ours), Some(ours)),
    ] {
        assert!(!sure(planned, node, bmc), "{planned:?}, {node:?}, {bmc:?}");
    }
}
