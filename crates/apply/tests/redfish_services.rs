//! The Redfish client against services that run: sushy-tools, and one that lies. `lab/emulators/redfish-setup` makes the first.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod service;

use linerate_apply::redfish::*;
use serde_json::{Value, json};
use service::{Service, root, runs};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The real service.
fn sushy(name: &str, args: &[&str]) -> Option<Service> {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sushy").join(name);
    let _ = std::fs::remove_dir_all(&state);
    let state = state.to_str().unwrap().to_owned();
    let args = [&["--state", state.as_str()][..], args].concat();
    Service::start(&root().join(".lab/redfish/bin/python"), "redfish-sushy", &args)
}

fn curl(service: &Service, scheme: &str, credentials: Credentials) -> Curl {
    let origin = Origin::parse(&format!("{scheme}://127.0.0.1:{}", service.port)).unwrap();
    Curl::new(origin, credentials).unwrap()
}

fn client(service: &Service) -> Client<Curl> {
    let curl = curl(service, "http", Credentials::None);
    Client::new(curl.origin.clone(), curl)
}

fn want(name: &str, value: Value) -> Attributes {
    [(name.to_owned(), value)].into()
}

const QUICK: Patience = Patience { looks: 5, pause: Duration::from_millis(20) };

/// What was set is seen, the machine is started again, and the settings are read again.
fn change(client: &Client<Curl>, wanted: &Attributes) -> (Outcome, Outcome) {
    let system = client.system(None).unwrap();
    let bios = client.bios(&system).unwrap();
    let registry = client.registry(&bios).unwrap();
    assert!(registry.is_some());
    let before = client.set(&bios, registry.as_ref(), wanted, QUICK).unwrap();
    client.reset(&system, ResetType::ForceRestart).unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    std::thread::sleep(Duration::from_millis(50));
    while client.system(None).unwrap().power.as_deref() != Some("On") && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(200));
    }
    let after = client.read(&bios, wanted).unwrap();
    (before.clone(), Outcome { task: before.task, ..after })
}

#[test]
fn sushy_tools_applies_at_the_start() {
    let Some(service) = sushy("waits", &[]) else { return };
    let wanted = want("ProcTurboMode", json!("Disabled"));
    let (before, after) = change(&client(&service), &wanted);
    assert_eq!(before.active, want("ProcTurboMode", json!("Enabled")));
    assert_eq!(standing("ProcTurboMode", &json!("Disabled"), &before, false), Standing::Pending);
    assert_eq!(standing("ProcTurboMode", &json!("Disabled"), &after, true), Standing::Effective);
}

#[test]
fn sushy_tools_as_with_libvirt_applies_at_once() {
    let Some(service) = sushy("at-once", &["--immediate"]) else { return };
    let client = client(&service);
    let bios = client.bios(&client.system(Some("fake")).unwrap()).unwrap();
    let seen = client.set(&bios, None, &want("QuietBoot", json!(false)), QUICK).unwrap();
    assert_eq!(standing("QuietBoot", &json!(false), &seen, false), Standing::Effective);
}

#[test]
fn sushy_tools_registry_refuses() {
    let Some(service) = sushy("registry", &[]) else { return };
    let client = client(&service);
    let bios = client.bios(&client.system(None).unwrap()).unwrap();
    let registry = client.registry(&bios).unwrap().unwrap();
    for (name, value) in [
        ("NumCores", json!(12)),
        ("SecureBootStatus", json!("Disabled")),
        ("ProcTurboMode", json!("Perhaps")),
        ("SysPassword", json!("x")),
        ("NoSuch", json!(1)),
    ] {
        let error = client.set(&bios, Some(&registry), &want(name, value), QUICK).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
    }
    assert_eq!(client.bios(&client.system(None).unwrap()).unwrap(), bios);
}

#[test]
fn sushy_tools_asks_who_it_is() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("htpasswd");
    // The hash of `secret`, made for this test.
    std::fs::write(&file, "admin:$2b$05$Jx7JdndnUdVPogYx8m0GfORYetkyLOkdiFWbAA1P8SMfYbsFjjA7C\n").unwrap();
    let Some(service) = sushy("auth", &["--auth-file", file.to_str().unwrap()]) else { return };
    assert!(matches!(client(&service).system(None), Err(Error::Status { status: 401, .. })));
    let client = |password: &str| {
        let credentials = Credentials::Password { user: "admin".into(), password: password.into() };
        let curl = curl(&service, "http", credentials);
        Client::new(curl.origin.clone(), curl)
    };
    let error = client("wrong-word").system(None).unwrap_err().to_string();
    assert!(error.contains("401") && !error.contains("wrong-word"), "{error}");
    assert!(client("secret").system(None).is_ok());
    let netrc = file.with_file_name("netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login admin password secret\n").unwrap();
    let curl = curl(&service, "http", Credentials::Netrc(netrc));
    assert!(Client::new(curl.origin.clone(), curl).system(None).is_ok());
}

#[test]
fn an_accepted_task_that_changes_nothing_is_ineffective() {
    let Some(service) = Service::liar(&["--busy", "2"]) else { return };
    let (before, after) = change(&client(&service), &want("IOMMU", json!("Enabled")));
    assert_eq!(before.task.as_ref().map(|t| t.state.as_str()), Some("Completed"));
    assert_eq!(standing("IOMMU", &json!("Enabled"), &before, false), Standing::Unconfirmed);
    let told = standing("IOMMU", &json!("Enabled"), &after, true);
    assert!(
        matches!(&told, Standing::Ineffective(why) if why.contains("accepted a task") && why.contains("changed nothing")),
        "{told:?}"
    );
}

#[test]
fn what_waited_and_was_dropped_is_ineffective() {
    let Some(service) = Service::liar(&["--forgets"]) else { return };
    let (before, after) = change(&client(&service), &want("SRIOV", json!("Enabled")));
    assert_eq!(standing("SRIOV", &json!("Enabled"), &before, false), Standing::Pending);
    assert!(matches!(standing("SRIOV", &json!("Enabled"), &after, true), Standing::Ineffective(_)));
}

#[test]
fn an_honest_service_is_effective_and_is_put_back() {
    let Some(service) = Service::liar(&["--honest"]) else { return };
    for value in ["Enabled", "Disabled"] {
        let (before, after) = change(&client(&service), &want("IOMMU", json!(value)));
        assert_eq!(standing("IOMMU", &json!(value), &before, false), Standing::Pending);
        assert_eq!(standing("IOMMU", &json!(value), &after, true), Standing::Effective);
    }
}

#[test]
fn a_task_elsewhere_is_not_asked() {
    let Some(service) = Service::liar(&["--foreign"]) else { return };
    let client = client(&service);
    let bios = client.bios(&client.system(None).unwrap()).unwrap();
    let error = client.set(&bios, None, &want("IOMMU", json!("Enabled")), QUICK).unwrap_err();
    let Error::Sent(why) = &error else { panic!("{error}") };
    assert!(matches!(&**why, Error::Link { link, .. } if link.contains("elsewhere")), "{error}");
}

#[test]
fn answers_without_end_and_in_circles_end() {
    let Some(service) = Service::liar(&["--huge"]) else { return };
    let error = client(&service).system(None).unwrap_err().to_string();
    assert!(error.contains("larger than 16 MiB") || error.contains("size"), "{error}");
    let Some(service) = Service::liar(&["--loop"]) else { return };
    let error = client(&service).system(None).unwrap_err();
    assert!(matches!(error, Error::Status { status: 307, .. }), "{error}");
}

#[test]
fn certificates_are_verified() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("redfish-tls");
    std::fs::create_dir_all(&folder).unwrap();
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=bmc",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ])
        .args([Path::new("-out"), &cert, Path::new("-keyout"), &key])
        .output();
    if !made.is_ok_and(|o| o.status.success()) {
        println!("SKIPPED: no openssl to make a certificate");
        return;
    }
    let args = ["--user", "root:calvin", "--tls", cert.to_str().unwrap(), key.to_str().unwrap()];
    let Some(service) = Service::liar(&args) else { return };
    let credentials = Credentials::Password { user: "root".into(), password: "calvin".into() };
    let mut curl = curl(&service, "https", credentials);
    let system = |curl: &Curl| Client::new(curl.origin.clone(), curl.clone()).system(None);
    let error = system(&curl).unwrap_err();
    assert!(matches!(&error, Error::NoAnswer { why, .. } if why.contains("certificate")), "{error}");
    curl.insecure = true;
    assert_eq!(system(&curl).unwrap().id, "1");
    curl.insecure = false;
    curl.cacert = Some(cert);
    assert_eq!(system(&curl).unwrap().id, "1");
}

#[test]
fn nobody_there_and_no_program() {
    let origin = Origin::parse("http://127.0.0.1:9").unwrap();
    let mut curl = Curl::new(origin.clone(), Credentials::None).unwrap();
    if runs(Path::new("curl")) {
        assert!(matches!(Client::new(origin.clone(), curl.clone()).system(None), Err(Error::NoAnswer { .. })));
    }
    curl.program = "no-such-curl".into();
    assert!(matches!(Client::new(origin, curl).system(None), Err(Error::Program { .. })));
}
