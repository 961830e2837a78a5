//! The client on answers that were written down: right ones, and hostile ones.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;

/// Answers by path, and what was sent.
#[derive(Default)]
struct Recorded {
    answers: HashMap<String, Response>,
    sent: RefCell<Vec<Request>>,
}

impl Recorded {
    fn put(&mut self, path: &str, value: &Value) -> &mut Recorded {
        self.raw(path, 200, &[], value.to_string().as_bytes())
    }
    fn raw(&mut self, path: &str, status: u16, headers: &[(&str, &str)], body: &[u8]) -> &mut Recorded {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        self.answers.insert(path.to_owned(), Response { status, headers, body: body.to_vec() });
        self
    }
}

impl Transport for &Recorded {
    fn send(&self, request: &Request) -> Result<Response, Error> {
        self.sent.borrow_mut().push(request.clone());
        let key = match request.method {
            Method::Get => request.path.clone(),
            other => format!("{} {}", other.word(), request.path),
        };
        Ok(self.answers.get(&key).cloned().unwrap_or(Response { status: 404, ..Response::default() }))
    }
}

fn link(path: &str) -> Value {
    json!({ "@odata.id": path })
}

fn server() -> Recorded {
    let mut r = Recorded::default();
    r.put("/redfish/v1/", &json!({ "Systems": link("/redfish/v1/Systems") }))
        .put("/redfish/v1/Systems", &json!({ "Members": [link("/redfish/v1/Systems/1")] }))
        .put("/redfish/v1/Systems/1", &json!({
            "Id": "1", "UUID": "30303030-AAAA", "Bios": link("/redfish/v1/Systems/1/Bios"),
            "Actions": { "#ComputerSystem.Reset": { "target": "/redfish/v1/Systems/1/Reset", "ResetType@Redfish.AllowableValues": ["ForceRestart"] } }
        }))
        .put("/redfish/v1/Systems/1/Bios", &json!({
            "Attributes": { "Iommu": "Auto", "Threads": 2, "Odd": { "a": 1 } },
            "@Redfish.Settings": { "SettingsObject": link("https://bmc.example/redfish/v1/Systems/1/Bios/SD"), "SupportedApplyTimes": ["OnReset"] }
        }))
        .raw("/redfish/v1/Systems/1/Bios/SD", 200, &[("etag", "W/\"5\"")], br#"{"Attributes":{"Iommu":"Auto"}}"#)
        .raw("PATCH /redfish/v1/Systems/1/Bios/SD", 200, &[], b"{}")
        .raw("POST /redfish/v1/Systems/1/Reset", 204, &[], b"");
    r
}

fn client(r: &Recorded) -> Client<&Recorded> {
    Client::new(Origin::parse("https://bmc.example:443/").unwrap(), r)
}

fn want(name: &str, value: &Value) -> Attributes {
    [(name.to_owned(), value.clone())].into()
}

const ONCE: Patience = Patience { looks: 1, pause: std::time::Duration::ZERO };

fn set(r: &Recorded, wanted: &Attributes) -> Result<Outcome, Error> {
    let c = client(r);
    let bios = c.bios(&c.system(None)?)?;
    c.set(&bios, c.registry(&bios)?.as_ref(), wanted, ONCE)
}

#[test]
fn a_change_is_sent_once_with_its_etag_and_apply_time() {
    let r = server();
    let seen = set(&r, &want("Iommu", &json!("Enabled"))).unwrap();
    assert_eq!((seen.active.len(), seen.task), (1, None));
    let sent = r.sent.borrow();
    let patches: Vec<&Request> = sent.iter().filter(|q| q.method == Method::Patch).collect();
    assert_eq!(patches.len(), 1);
    assert_eq!(patches[0].if_match.as_deref(), Some("W/\"5\""));
    let body = patches[0].body.as_ref().unwrap();
    assert_eq!(body["Attributes"], json!({ "Iommu": "Enabled" }));
    assert_eq!(body["@Redfish.SettingsApplyTime"]["ApplyTime"], "OnReset");
    // What is in force is not sent again, unless something else waits.
    let patches = |r: &Recorded| r.sent.borrow().iter().filter(|q| q.method == Method::Patch).count();
    let mut r = server();
    set(&r, &want("Iommu", &json!("Auto"))).unwrap();
    assert_eq!(patches(&r), 0);
    r.put("/redfish/v1/Systems/1/Bios/SD", &json!({ "Attributes": { "Iommu": "Disabled" } }));
    set(&r, &want("Iommu", &json!("Auto"))).unwrap();
    assert_eq!(patches(&r), 1);
}

#[test]
fn what_cannot_be_set_is_not_sent() {
    let r = server();
    for (name, value) in [
        ("Nope", json!("x")),
        ("Iommu", json!(true)),
        ("Threads", json!("2")),
        ("Iommu", json!(null)),
        ("Odd", json!(1)),
    ] {
        let error = set(&r, &want(name, &value)).unwrap_err();
        assert!(matches!(&error, Error::Refused { attribute, .. } if attribute == name), "{error}");
    }
    assert!(set(&r, &Attributes::new()).is_err());
    assert!(r.sent.borrow().iter().all(|q| q.method == Method::Get));
}

#[test]
fn answers_of_a_change() {
    let patch = "PATCH /redfish/v1/Systems/1/Bios/SD";
    let wanted = want("Iommu", &json!("Enabled"));
    let mut r = server();
    r.raw(patch, 412, &[], b"");
    assert!(matches!(set(&r, &wanted), Err(Error::Changed { .. })));
    r.raw(patch, 400, &[], br#"{"error":{"@Message.ExtendedInfo":[{"Message":"No\u0000t so."}]}}"#);
    let error = set(&r, &wanted).unwrap_err().to_string();
    assert!(error.contains("400") && error.contains("No\u{fffd}t so."), "{error}");
    r.raw(patch, 307, &[("location", "https://evil.example/")], b"");
    assert!(set(&r, &wanted).unwrap_err().to_string().contains("not followed"));
    r.raw(patch, 202, &[("location", "//evil.example/task")], b"");
    // The change was taken before the answer led astray.
    assert!(matches!(set(&r, &wanted), Err(Error::Sent(e)) if matches!(*e, Error::Link { .. })));
    r.raw(patch, 202, &[("location", "/redfish/v1/T")], b"")
        .put("/redfish/v1/T", &json!({ "TaskState": "Exception", "Messages": [{ "Message": "no power" }] }));
    let error = set(&r, &wanted).unwrap_err();
    assert!(matches!(&error, Error::Task { state, why, .. } if state == "Exception" && why == "no power"), "{error}");
    for (state, seen) in [("Completed", "Completed"), ("Scheduled", "Scheduled"), ("Running", "Running")] {
        r.put("/redfish/v1/T", &json!({ "TaskState": state }));
        assert_eq!(set(&r, &wanted).unwrap().task.unwrap().state, seen);
    }
    // A monitor that is gone has done its work.
    r.raw("/redfish/v1/T", 404, &[], b"");
    assert_eq!(set(&r, &wanted).unwrap().task.unwrap().state, "Completed");
}

#[test]
fn an_etag_that_would_be_a_header_of_its_own_is_not_sent() {
    let mut r = server();
    r.put("/redfish/v1/Systems/1/Bios/SD", &json!({ "Attributes": {}, "@odata.etag": "1\r\nX-Evil: 1" }));
    set(&r, &want("Iommu", &json!("Enabled"))).unwrap();
    assert!(r.sent.borrow().iter().all(|q| q.if_match.is_none()));
}

#[test]
fn links_that_lead_away_are_refused() {
    let origin = Origin::parse("https://bmc.example").unwrap();
    for good in ["/a", "https://bmc.example/a", "https://BMC.example:443/a", "/a#/Bios"] {
        assert_eq!(origin.path("p", good).unwrap(), "/a", "{good}");
    }
    let long = format!("/{}", "a".repeat(3000));
    for bad in [
        "http://bmc.example/a",
        "https://bmc.example:444/a",
        "https://evil.example/a",
        "//evil.example/a",
        "https://bmc.example@evil.example/a",
        "a",
        "",
        "/a/../b",
        "/a/%2E%2e/b",
        "/a b",
        "/a\nb",
        "/\u{e4}",
        "file:///etc/passwd",
        "/a\"b",
        "https://bmc.example",
        long.as_str(),
    ] {
        assert!(origin.path("p", bad).is_err(), "{bad}");
    }
    for bad in [
        "bmc",
        "ftp://b",
        "https://",
        "https://u:p@b",
        "https://b:x",
        "https://b:99999",
        "https://b/other",
        "https://-o",
        "https://[::1",
        "https://a b",
    ] {
        assert!(Origin::parse(bad).is_err(), "{bad}");
    }
    assert!(Origin::parse("http://[::1]:8000").unwrap().is_loopback() && !origin.is_loopback());
    let mut r = server();
    r.put("/redfish/v1/", &json!({ "Systems": link("https://evil.example/redfish/v1/Systems") }));
    assert!(matches!(client(&r).systems(), Err(Error::Link { .. })));
    assert_eq!(r.sent.borrow().len(), 1);
}

#[test]
fn answers_of_wrong_kinds() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let many: serde_json::Map<String, Value> = (0..9000).map(|n| (n.to_string(), json!(n))).collect();
    for body in [
        "",
        "[]",
        "null",
        "{",
        "\u{0}",
        deep.as_str(),
        "{}",
        r#"{"Attributes":[]}"#,
        r#"{"Attributes":null}"#,
        json!({ "Attributes": many }).to_string().as_str(),
        r#"{"Attributes":{},"@Redfish.Settings":{"SettingsObject":{"@odata.id":7}}}"#,
    ] {
        let mut r = server();
        r.raw("/redfish/v1/Systems/1/Bios", 200, &[], body.as_bytes());
        let c = client(&r);
        let error = c.bios(&c.system(None).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
    }
    // A collection that goes round ends.
    let mut r = server();
    r.put("/redfish/v1/Systems", &json!({ "Members": [], "Members@odata.nextLink": "/redfish/v1/Systems" }));
    assert!(client(&r).systems().unwrap().is_empty());
    assert!(r.sent.borrow().len() < 32);
}

#[test]
fn the_system_that_is_meant() {
    let mut r = server();
    assert_eq!(client(&r).system(Some("30303030-aaaa")).unwrap().id, "1");
    assert!(matches!(client(&r).system(Some("2")), Err(Error::Missing { .. })));
    r.put("/redfish/v1/Systems", &json!({ "Members": [link("/redfish/v1/Systems/1"), link("/redfish/v1/Systems/2")] }))
        .put("/redfish/v1/Systems/2", &json!({ "Id": "2" }));
    assert!(client(&r).system(None).unwrap_err().to_string().contains("1, 2"));
    let two = client(&r).system(Some("2")).unwrap();
    assert!(client(&r).bios(&two).is_err() && client(&r).reset(&two, ResetType::On).is_err());
    let one = client(&r).system(Some("1")).unwrap();
    assert!(client(&r).reset(&one, ResetType::PowerCycle).unwrap_err().to_string().contains("ForceRestart"));
    client(&r).reset(&one, ResetType::ForceRestart).unwrap();
    assert_eq!(r.sent.borrow().last().unwrap().body, Some(json!({ "ResetType": "ForceRestart" })));
}

#[test]
fn the_value_in_force_decides() {
    let seen = |active: &str, pending: Option<&str>, task: Option<&str>| Outcome {
        pending: pending.map(|v| want("A", &json!(v))),
        active: want("A", &json!(active)),
        task: task.map(|t| Task { path: "/t".into(), state: t.into() }),
    };
    let is = |seen: &Outcome, rebooted| standing("A", &json!("on"), seen, rebooted);
    assert_eq!(is(&seen("on", None, None), true), Standing::Effective);
    assert_eq!(is(&seen("off", Some("on"), None), false), Standing::Pending);
    assert_eq!(is(&seen("off", Some("off"), Some("Completed")), false), Standing::Unconfirmed);
    let Standing::Ineffective(why) = is(&seen("off", Some("off"), Some("Completed")), true) else { panic!("not told") };
    assert!(why.contains("accepted a task (Completed) and changed nothing"), "{why}");
    assert!(matches!(is(&seen("off", Some("on"), None), true), Standing::Ineffective(w) if w.contains("still waits")));
    assert_eq!(
        standing("A", &json!(1.0), &Outcome { active: want("A", &json!(1)), ..Outcome::default() }, true),
        Standing::Effective
    );
}

proptest! {
    #[test]
    fn any_link_stays_here_or_is_refused(text in "\\PC{0,60}|(https?:)?//[a-z.@:/]{0,30}|/[a-z./%#?]{0,30}") {
        let origin = Origin::parse("https://bmc.example").unwrap();
        if let Ok(path) = origin.path("p", &text) {
            prop_assert!(path.starts_with('/') && !path.split('/').any(|s| s == ".."));
            prop_assert!(path.bytes().all(|b| b.is_ascii_graphic()));
        }
    }

    #[test]
    fn any_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = super::curl::answer(&bytes);
        let mut r = server();
        r.raw("/redfish/v1/Systems/1", 200, &[], &bytes);
        let _ = client(&r).systems();
    }
}

#[test]
fn what_a_service_or_curl_says_is_told_without_secrets() {
    for p in crate::hand::tests::secrets::corpus::lines(0) {
        // The corpus wraps nothing: what was longer than an error may be is cut behind the net, not before it.
        for text in [p.text.clone(), format!("{} {}", "x ".repeat(120), p.text)] {
            let said = super::error::short(&text);
            assert!(!said.contains(&p.secret) && said.chars().count() <= 301, "{said}");
        }
    }
}
