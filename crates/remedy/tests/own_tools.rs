//! Exports and acts, read by the programs that they are made for: NMState, NetworkManager, cloud-init, Ansible. `cargo xtask test` installs them.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::{bare, documents, file, plan, run, step, tool, value};
use linerate_remedy::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What `cargo xtask test` puts beside the repository's files instead of installing it.
fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.lab/tools")
}

/// What a program says, where it is installed.
fn said(program: &str, command: &mut Command) -> Option<Output> {
    match command.stdin(Stdio::null()).output() {
        Ok(out) => Some(out),
        Err(_) => {
            println!("SKIPPED: {program} is not installed");
            None
        }
    }
}

fn words(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// A text as a file that a program can be given.
fn written(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("writable");
    path
}

/// The profiles of NetworkManager that `nmstatectl gc` makes of a desired state, without looking at this machine.
fn profiles(state: &str) -> Option<Result<Vec<(String, String)>, String>> {
    let dir = tempfile::tempdir().expect("a directory");
    let state = written(dir.path(), "state.yaml", state);
    let own = tools().join("bin/nmstatectl");
    let program = if own.is_file() { own } else { PathBuf::from("nmstatectl") };
    let out = said("nmstatectl", Command::new(program).arg("gc").arg(state))?;
    if !out.status.success() {
        return Some(Err(words(&out)));
    }
    let made = &documents(&String::from_utf8_lossy(&out.stdout))[0]["NetworkManager"];
    Some(Ok(serde_yaml_ng::from_value(made.clone()).expect("names and texts")))
}

#[test]
fn nmstate_makes_the_mtus_of_the_plan() {
    // The last two names are no strings in YAML unless they are quoted.
    let wanted = [("eth1", 9000), ("on", 4200), ("1e3", 1500)];
    let steps = wanted.iter().map(|(name, mtu)| {
        let path = format!("/sys/class/net/{name}/mtu");
        let proof = Proof::Value { path: path.clone(), value: mtu.to_string() };
        step(name, Disruption::Service, vec![value(&path, "1400", &mtu.to_string())], vec![proof])
    });
    let state = export::nmstate(&bare(steps.collect())).text;
    let Some(made) = profiles(&state) else { return };
    let made = made.unwrap_or_else(|e| panic!("{e}\n{state}"));
    assert_eq!(made.len(), wanted.len(), "{made:?}");
    for (name, mtu) in wanted {
        let named = format!("interface-name={name}\n");
        let (_, profile) = made.iter().find(|(_, text)| text.contains(&named)).unwrap_or_else(|| panic!("no {name}"));
        let ethernet = profile.split("[ethernet]\n").nth(1).and_then(|rest| rest.split("\n\n").next());
        assert!(ethernet.is_some_and(|e| e.lines().any(|l| l == format!("mtu={mtu}"))), "{profile}");
    }
    let golden = profiles(&export::nmstate(&plan()).text).expect("it ran before");
    assert_eq!(golden.expect("NMState reads it").len(), 1);
    assert!(profiles(&state.replace("mtu:", "mtuu:")).expect("it ran before").is_err(), "it refuses unknown fields");
}

#[test]
fn nmstate_makes_the_addresses_of_the_plan() {
    let give = |cidr: &str| run(&["ip", "address", "replace", cidr, "dev", "eth1"]);
    let path = "/sys/class/net/eth1/mtu";
    let proof = Proof::Value { path: path.into(), value: "9000".into() };
    let acts = vec![value(path, "1500", "9000"), give("10.7.0.1/24"), give("10.8.0.1/31")];
    let state = export::nmstate(&bare(vec![step("network", Disruption::Service, acts, vec![proof])])).text;
    assert!(state.contains("# NMState puts these IPv4 addresses in the place of all"), "{state}");
    let Some(made) = profiles(&state) else { return };
    let made = made.unwrap_or_else(|e| panic!("{e}\n{state}"));
    let [(_, profile)] = made.as_slice() else { panic!("{made:?}") };
    for line in ["interface-name=eth1", "mtu=9000", "method=manual", "address0=10.7.0.1/24", "address1=10.8.0.1/31"] {
        assert!(profile.lines().any(|l| l == line), "{line}: {profile}");
    }
    let wrong = state.replace("prefix-length:", "prefix:");
    assert!(profiles(&wrong).expect("it ran before").is_err(), "it refuses unknown fields");
}

/// `nmcli --offline` writes a profile anew without the daemon.
fn nmcli(settings: &[String], keyfile: &str) -> Option<(bool, String)> {
    let own = tools().join("network-manager/usr/bin/nmcli");
    let program = if own.is_file() { own.to_string_lossy().into_owned() } else { "nmcli".to_owned() };
    let mut args = vec!["--offline", "connection", "modify"];
    args.extend(settings.iter().map(String::as_str));
    tool(&program, &args, keyfile)
}

const UUID: &str = "11111111-2222-3333-4444-555555555555";

/// What a plan has `nmcli` set in the profile of an interface.
fn settings(profile: &str) -> Vec<String> {
    use linerate_remedy::change::{Setting, changes};
    use linerate_rules::Action;
    let mut s = linerate_snapshot::Snapshot::new("t");
    let home = "sys/devices/pci0000:00/0000:00:03.0/net/eth1";
    s.add_file(&format!("{home}/mtu"), b"1500\n");
    s.add_file(&format!("{home}/ifindex"), b"3\n");
    s.add_link("sys/class/net/eth1", format!("../../../{home}").as_bytes());
    let device = format!("[device]\nmanaged=true\nconnection-uuid={UUID}\n");
    s.add_cut_file("run/NetworkManager/devices/3", device.as_bytes());
    s.add_cut_file("etc/NetworkManager/system-connections/eth1.nmconnection", profile.as_bytes());
    s.add_file("run/NetworkManager/NetworkManager.pid", b"");
    let node = linerate_node::Node::decode(&s);
    let platform = platform::Platform::detect(&s, &node);
    let given = address::Given { interface: "eth1".into(), address: [10, 7, 0, 1].into(), prefix: 24 };
    let options = plan::Options { addresses: vec![given], ..plan::Options::default() };
    let actions = [Action::Mtu { interface: "eth1".into(), mtu: 4092 }, Action::Address { interface: "eth1".into() }];
    let on = Setting { snapshot: &s, node: &node, platform: &platform, options: &options, set: &[], reset: false };
    let made = changes(&actions, &on);
    let [Ok(r)] = made.as_slice() else { panic!("{made:?}") };
    let Some(Act::Run(RunAct { argv, .. })) = r.acts.last() else { panic!("{r:?}") };
    assert_eq!(argv[..5], ["nmcli", "connection", "modify", "uuid", UUID]);
    argv[5..].to_vec()
}

#[test]
fn nmcli_takes_the_settings_of_a_plan() {
    for (kind, method, after) in [
        ("ethernet", "auto", "auto"),
        ("ethernet", "disabled", "manual"),
        ("ethernet", "link-local", "manual"),
        ("infiniband", "manual", "manual"),
    ] {
        let section = if kind == "infiniband" {
            "[infiniband]\ntransport-mode=datagram\n"
        } else {
            "[ethernet]\nwake-on-lan=64\n"
        };
        let more = if method == "manual" { "address1=10.1.0.1/24\n" } else { "" };
        let profile = format!(
            "[connection]\nid=e\nuuid={UUID}\ntype={kind}\ninterface-name=eth1\n\n{section}\n[ipv4]\nmethod={method}\n{more}"
        );
        let words = settings(&profile);
        let Some((good, made)) = nmcli(&words, &profile) else { return };
        assert!(good, "{words:?}: {made}");
        let number = if method == "manual" { "address2" } else { "address1" };
        for line in ["mtu=4092".to_owned(), format!("{number}=10.7.0.1/24"), format!("method={after}")] {
            assert!(made.lines().any(|l| l == line), "{kind} {method}: {line}: {made}");
        }
        assert!(made.contains(&section.lines().last().expect("one").to_owned()), "what else it holds stays: {made}");
        let wrong: Vec<String> = words.iter().map(|w| w.replace(".mtu", ".mtuu")).collect();
        assert!(!nmcli(&wrong, &profile).expect("it ran before").0, "it refuses what is no property");
    }
}

/// `cloud-init schema`, from the unpacked package: installed, cloud-init would configure this machine at its next boot.
fn cloud_init(text: &str) -> Option<Output> {
    let dir = tempfile::tempdir().expect("a directory");
    let config = written(dir.path(), "user-data", text);
    let own = tools().join("cloud-init/usr/lib/python3/dist-packages");
    // Debian's Python: its packages are what cloud-init needs.
    let mut command = match own.is_dir() {
        true => Command::new("/usr/bin/python3"),
        false => Command::new("cloud-init"),
    };
    if own.is_dir() {
        command.env("PYTHONPATH", own).args(["-m", "cloudinit.cmd.main"]);
    }
    said("cloud-init", command.args(["schema", "--config-file"]).arg(config))
}

#[test]
fn cloud_init_takes_the_user_data() {
    let text = export::cloud_init(&plan()).text;
    let Some(out) = cloud_init(&text) else { return };
    assert!(out.status.success(), "{}\n{text}", words(&out));
    assert!(words(&out).contains("Valid cloud-config") && !words(&out).contains("eprecat"), "{}", words(&out));
    let octal = text.replace("permissions: \"0644\"", "permissions: 0644");
    assert!(!cloud_init(&octal).expect("it ran before").status.success(), "permissions are a string");
}

/// `ansible-playbook` on this machine under the name of the plan's node, without a word of the user's configuration.
fn playbook(dir: &Path, text: &str, args: &[&str]) -> Option<Output> {
    let play = written(dir, "play.yaml", text);
    let config = written(dir, "ansible.cfg", "");
    let mut command = Command::new("ansible-playbook");
    command.args(["-i", "node7,", "-c", "local"]).args(args).arg(play).current_dir(dir);
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("ANSIBLE_")) {
        command.env_remove(name);
    }
    // It takes no other encoding, and writes into the home directory.
    command
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", dir)
        .env("ANSIBLE_CONFIG", config)
        .env("ANSIBLE_NOCOLOR", "1")
        .env("ANSIBLE_PIPELINING", "1");
    said("ansible-playbook", &mut command)
}

#[test]
fn ansible_reads_the_playbook() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = export::ansible(&plan()).text;
    let Some(out) = playbook(dir.path(), &text, &["--syntax-check"]) else { return };
    assert!(out.status.success(), "{}\n{text}", words(&out));
    let wrong = text.replace("ansible.builtin.copy", "ansible.builtin.copi");
    let out = playbook(dir.path(), &wrong, &["--syntax-check"]).expect("it ran before");
    assert!(!out.status.success(), "there is no such module");
}

/// A number of the last line: `changed=2`.
fn count(out: &Output, what: &str) -> u32 {
    let text = words(out);
    assert!(out.status.success(), "{text}");
    let number = text.rsplit_once(&format!("{what}=")).and_then(|(_, n)| n.split_whitespace().next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no {what}: {text}"))
}

/// Names and contents of a directory's files.
fn files(dir: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = std::fs::read_dir(dir)
        .expect("there")
        .map(|e| e.expect("readable"))
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read_to_string(e.path()).expect("text")))
        .collect();
    found.sort();
    found
}

/// All its paths are in one directory: it can be played for good.
#[test]
fn ansible_does_what_the_plan_says() {
    let dir = tempfile::tempdir().expect("a directory");
    let node = dir.path().join("node");
    std::fs::create_dir(&node).expect("writable");
    let at = |name: &str| format!("{}/{name}", node.display());
    let hostile = "# $HOME ~ \"'`\\ é: - {x} [1] !unsafe #jinja2:\r\n  \tend without a line end ";
    written(&node, "value", "1500\n");
    written(&node, "choice", "always [madvise] never\n");
    written(&node, "gone", "");
    let gone = Act::File(FileAct { path: at("gone"), before: FileState::Absent, after: None, mode: 0o644 });
    let acts = vec![
        file(&at("a b'\"$(x)"), hostile, 0o600),
        file(&at("lines"), "{\"a\": 1}\n\n[unit]\n", 0o644),
        value(&at("value"), "1500", "9000"),
        value(&at("choice"), "never", "madvise"),
        run(&["cp", "--", &at("lines"), &at("co;py \"$1\"")]),
        gone,
        // What Ansible would change on the way is left out.
        run(&["touch", "--", &at("$HOME"), "~/x"]),
        run(&["touch", "--", &at("${HOME}")]),
        file(&at("{{ 1 }}"), "", 0o644),
        file(&at("$PATH"), "", 0o644),
        value(&at("value"), "9000", "~root"),
    ];
    let made = export::ansible(&bare(vec![step("x", Disruption::None, acts, Vec::new())]));
    assert_eq!(made.left_out.len(), 5, "{:?}", made.left_out);
    let args = ["-e", "ansible_become=false", "-e", "ansible_python_interpreter=/usr/bin/python3"];
    let before = files(&node);
    let Some(checked) = playbook(dir.path(), &made.text, &[&args[..], &["--check", "--diff"]].concat()) else { return };
    assert_eq!((count(&checked, "changed"), count(&checked, "skipped")), (3, 3), "{}", words(&checked));
    assert_eq!(files(&node), before, "a check changes nothing");

    let played = playbook(dir.path(), &made.text, &args).expect("it ran before");
    assert_eq!(count(&played, "changed"), 5, "{}", words(&played));
    let wanted = [
        ("a b'\"$(x)", hostile),
        ("choice", "always [madvise] never\n"),
        ("co;py \"$1\"", "{\"a\": 1}\n\n[unit]\n"),
        ("lines", "{\"a\": 1}\n\n[unit]\n"),
        ("value", "9000\n"),
    ];
    assert_eq!(files(&node), wanted.map(|(n, t)| (n.to_owned(), t.to_owned())));
    let mode = std::fs::metadata(at("a b'\"$(x)")).map(|m| std::os::unix::fs::PermissionsExt::mode(&m.permissions()));
    assert_eq!(mode.expect("there") & 0o7777, 0o600);
    let again = playbook(dir.path(), &made.text, &args).expect("it ran before");
    assert_eq!(count(&again, "changed"), 1, "only a program runs again: {}", words(&again));
}
