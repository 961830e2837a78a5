//! `linerate plan`, `apply`, `verify` and `rollback` as they are called. What they do to machines, the lab shows.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_remedy::{Disruption, Plan, Risk, Step};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn linerate(arguments: &[&str]) -> Output {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(arguments).env_clear().env("HOME", env!("CARGO_TARGET_TMPDIR")).env("PATH", "/usr/bin:/bin");
    c.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A small Debian machine with two NUMA nodes, whose kernel moves pages between them.
fn tree(name: &str, balancing: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    let file = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro\n");
    file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    file("proc/sys/kernel/hostname", "n1\n");
    file("proc/sys/kernel/random/boot_id", "5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f0001\n");
    file("proc/sys/kernel/numa_balancing", balancing);
    file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vme msr\n");
    file("sys/class/dmi/id/sys_vendor", "Supermicro\n");
    file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    file("etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"\n");
    file("boot/grub/grub.cfg", "# made by grub-mkconfig\n");
    file("usr/sbin/update-grub", "#!/bin/sh\n");
    file("usr/sbin/sysctl", "#!/bin/sh\n");
    for node in 0..2 {
        file(&format!("sys/devices/system/node/node{node}/cpulist"), &format!("{node}\n"));
        file(&format!("sys/devices/system/node/node{node}/distance"), "10 21\n");
    }
    file("sys/devices/system/node/online", "0-1\n");
    root
}

fn plan(tree: &Path, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["plan", tree.to_str().unwrap()].iter().chain(arguments).copied().collect();
    linerate(&all)
}

#[test]
fn a_plan_says_what_why_how_it_is_undone_and_proven() {
    let tree = tree("plan-n1", "1\n");
    let out = plan(&tree, &["--fix", "numa/balancing"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}{}", text(&out.stderr));
    for part in ["numa_balancing", "numa/balancing", "kernel.numa_balancing = 0", "no reboot"] {
        assert!(said.contains(part), "{part} in:\n{said}");
    }
    for (format, part) in [
        ("markdown", "numa/balancing"),
        ("shell", "#!/bin/sh"),
        ("ansible", "hosts:"),
        ("talos", "kernel.numa_balancing"),
        ("cloud-init", "#cloud-config"),
    ] {
        let out = plan(&tree, &["--fix", "numa/balancing", "--format", format]);
        assert!(text(&out.stdout).contains(part), "{format}: {}{}", text(&out.stdout), text(&out.stderr));
    }
    let out = plan(
        &tree,
        &["--fix", "numa/balancing", "--format", "machineconfig", "--pool", "gpu", "--pools", "master,worker"],
    );
    assert_eq!(out.status.code(), Some(3));
    assert!(text(&out.stderr).contains("gpu"), "{}", text(&out.stderr));
}

#[test]
fn a_form_that_does_not_fit_the_node_and_another_machine_are_refused_in_one_sentence() {
    let mine = tree("plan-n5", "1\n");
    let machineconfig =
        ["--fix", "numa/balancing", "--format", "machineconfig", "--pool", "worker", "--pools", "worker"];
    let out = plan(&mine, &machineconfig);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0));
    assert!(text(&out.stderr).contains("OpenShift") && text(&out.stderr).contains("GRUB"), "{}", text(&out.stderr));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("n5.plan");
    fs::write(&file, plan(&mine, &["--fix", "numa/balancing", "--format", "json"]).stdout).unwrap();
    let other = tree("plan-n6", "0\n");
    fs::write(other.join("etc/machine-id"), "fedcba9876543210fedcba9876543210\n").unwrap();
    fs::write(other.join("proc/sys/kernel/random/boot_id"), "5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f0002\n").unwrap();
    let out = linerate(&["verify", file.to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0), "{}", text(&out.stdout));
    assert!(text(&out.stderr).contains("machine id"), "{}", text(&out.stderr));
    assert!(text(&out.stderr).lines().count() <= 2, "{}", text(&out.stderr));
}

#[test]
fn a_plan_that_was_edited_or_is_another_nodes_changes_nothing() {
    let tree = tree("plan-n2", "1\n");
    let made = plan(&tree, &["--fix", "numa/balancing", "--format", "json"]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("n2.plan");
    fs::write(&file, &made.stdout).unwrap();
    let path = file.to_str().unwrap();
    let another = self::tree("another", "1\n");
    fs::write(another.join("etc/machine-id"), "f".repeat(32)).unwrap();
    let another = another.to_str().unwrap();
    let dry = linerate(&["apply", path, "--root", another]);
    assert_eq!(dry.status.code(), Some(3), "{}", text(&dry.stderr));
    for part in ["refuses the plan: the plan was made for node", "Nothing was changed"] {
        assert!(text(&dry.stdout).contains(part), "{part}: {}", text(&dry.stdout));
    }
    let real = linerate(&["apply", path, "--root", another, "--yes"]);
    assert_eq!(real.status.code(), Some(3), "{}{}", text(&real.stdout), text(&real.stderr));
    assert!(text(&real.stderr).contains("nothing was changed"), "{}", text(&real.stderr));
    fs::write(&file, text(&made.stdout).replace("kernel.numa_balancing = 0", "kernel.numa_balancing = 1")).unwrap();
    let edited = linerate(&["apply", path, "--root", another]);
    assert_eq!(edited.status.code(), Some(3));
    assert!(text(&edited.stderr).contains("was changed after it was made"), "{}", text(&edited.stderr));
    assert_eq!(linerate(&["apply", path, "--host", "-oProxyCommand=id"]).status.code(), Some(3));
}

#[test]
fn a_snapshot_from_after_is_judged_and_missing_data_never_passes() {
    let before = tree("plan-n3", "1\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("n3.plan");
    fs::write(&file, plan(&before, &["--fix", "numa/balancing", "--format", "json"]).stdout).unwrap();
    let path = file.to_str().unwrap();
    let verify = |after: &Path| {
        let out = linerate(&["verify", path, after.to_str().unwrap(), "--before", before.to_str().unwrap()]);
        (out.status.code(), text(&out.stdout) + &text(&out.stderr))
    };
    let (code, said) = verify(&before);
    assert!(code == Some(1) || code == Some(2), "{said}");
    let done = tree("plan-n3-after", "0\n");
    let (code, said) = verify(&done);
    assert_eq!(code, Some(0), "{said}");
    fs::remove_file(done.join("proc/sys/kernel/numa_balancing")).unwrap();
    let (code, said) = verify(&done);
    assert_ne!(code, Some(0), "{said}");
}

#[test]
fn going_on_asks_for_no_leave_for_steps_that_were_not_taken() {
    let tree = tree("plan-resume", "1\n");
    let out = plan(&tree, &["--fix", "numa/balancing", "--format", "json"]);
    let mut made = Plan::read(&out.stdout).unwrap();
    made.steps[0].disruption = Disruption::DrainReboot;
    let (id, taken) = ("danger".to_owned(), made.steps[0].id.clone());
    made.steps.push(Step { id, risk: Risk::Dangerous, change: Vec::new(), ..made.steps[0].clone() });
    let file = tree.join("two.plan");
    fs::write(&file, serde_json::to_vec(&made.sealed()).unwrap()).unwrap();
    let (root, file) = (tree.to_str().unwrap(), file.to_str().unwrap());
    let apply = |more: &[&str]| {
        let out = linerate(&[&["apply", "--root", root, "--keep", root], more].concat());
        (out.status.code(), text(&out.stdout) + &text(&out.stderr))
    };
    let (code, said) = apply(&[file]);
    assert!(code == Some(3) && said.contains("--allow danger"), "{said}");
    let (code, said) = apply(&[file, "--step", &taken, "--yes", "--no-reboot"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = apply(&["--resume"]);
    assert!(code == Some(0) && !said.contains("--allow"), "{said}");
}

#[test]
fn examples_name_rules_that_there_are() {
    let mut named = 0;
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(linerate(&["man", "--markdown", dir.path().to_str().unwrap()]).status.code(), Some(0));
    for command in ["plan", "apply", "audit", "verify"] {
        let help = std::fs::read_to_string(dir.path().join(command).with_extension("md")).unwrap();
        let words: Vec<&str> = help.split_whitespace().map(|w| w.trim_matches(['\'', '`'])).collect();
        let options = words.windows(2).filter(|w| {
            matches!(w[0], "--fix" | "--rule" | "--allow") && w[1].contains('/') && !w[1].starts_with("policy/")
        });
        for pattern in options.map(|w| w[1]) {
            named += 1;
            let there = linerate_rules::rules().iter().any(|r| linerate_snapshot::covers(pattern, r.id));
            assert!(there, "the page of {command} names {pattern}");
        }
    }
    assert!(named > 3, "{named}");
}

/// An operator with a home of its own, and a plan that the machine takes.
struct Operator {
    home: PathBuf,
    root: PathBuf,
}

impl Operator {
    fn new(name: &str, root: &Path) -> Operator {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("homes").join(name);
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        Operator { home, root: root.to_owned() }
    }

    /// Status, and all that was said in one line.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
        c.args(arguments).args(["--root", self.root.to_str().unwrap()]);
        let out = c.env_clear().env("HOME", &self.home).env("PATH", "/usr/bin:/bin").output().unwrap();
        let said = text(&out.stdout) + &text(&out.stderr);
        (out.status.code().unwrap(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn plan(&self, more: &[&str]) -> String {
        let file = self.home.join("n1.plan").display().to_string();
        let asked = [&["plan", "--fix", "numa/balancing", "--format", "json", "--output", &file], more].concat();
        let (code, said) = self.run(&asked);
        assert_eq!(code, 1, "{said}");
        file
    }

    fn balancing(&self) -> String {
        fs::read_to_string(self.root.join("proc/sys/kernel/numa_balancing")).unwrap().trim().to_owned()
    }
}

/// What a node stored is never what is undone or gone on with: only what was applied from here, or a file.
#[test]
fn a_plan_that_only_the_node_holds_is_neither_undone_nor_gone_on_with() {
    let root = tree("authority", "1\n");
    let (first, second) = (Operator::new("first", &root), Operator::new("second", &root));
    let file = first.plan(&[]);
    let (code, said) = first.run(&["apply", &file, "--yes"]);
    assert_eq!((code, first.balancing().as_str()), (0, "0"), "{said}");
    for asked in [&["rollback", "--yes"][..], &["rollback"], &["apply", "--resume", "--yes"], &["apply", "--resume"]] {
        let (code, said) = second.run(asked);
        assert!(code == 3 && said.contains("no plan of this node is stored on this machine"), "{asked:?}: {said}");
        assert_eq!(second.balancing(), "0", "{asked:?}");
    }
    let digest = Plan::read(&fs::read(&file).unwrap()).unwrap().hash;
    let (code, said) = second.run(&["rollback", &digest[..16], "--yes"]);
    assert!(code == 3 && said.contains("no plan that was applied from here"), "{said}");
    // Whoever applied it needs no file, and may name it by its digest.
    let (code, said) = first.run(&["rollback", &digest[..16]]);
    assert!(code == 0 && said.contains("would undo"), "{said}");
    fs::remove_file(&file).unwrap();
    let (code, said) = first.run(&["rollback", "--yes"]);
    assert_eq!((code, first.balancing().as_str()), (0, "1"), "{said}");
    // Another one's plan, which the node has used since, is not taken for one's own.
    let theirs = second.plan(&["--no-trial", "--role", "bare-metal"]);
    let (code, said) = second.run(&["apply", &theirs, "--yes"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = first.run(&["rollback", "--yes"]);
    assert!(code == 3 && said.contains("the node says that it is"), "{said}");
    assert_eq!(first.balancing(), "0");
    let (code, said) = first.run(&["rollback", &theirs, "--yes"]);
    assert_eq!((code, first.balancing().as_str()), (0, "1"), "with the file: {said}");
}

/// A host is known by its name. The same machine under another name is said to be that, with the command; nothing is done.
#[test]
fn the_same_machine_under_another_name_is_refused_with_the_command_that_is_meant() {
    let root = tree("names", "1\n");
    let (known, named) = (Operator::new("names", &root), root.join(".").display().to_string());
    let other = Operator { home: known.home.clone(), root: PathBuf::from(&named) };
    let file = known.plan(&[]);
    let (code, said) = known.run(&["apply", &file, "--yes"]);
    assert_eq!((code, known.balancing().as_str()), (0, "0"), "{said}");
    let digest = Plan::read(&fs::read(&file).unwrap()).unwrap().hash;
    let root = root.display();
    for (asked, command) in [
        (&["rollback", "--yes"][..], format!("`linerate rollback --root {root}`")),
        (&["apply", "--resume", "--yes"], format!("`linerate apply --resume --root {root}`")),
    ] {
        let (code, said) = other.run(asked);
        let all = [&command, &format!("applied as {root}"), &digest[..16].to_owned()].iter().all(|w| said.contains(*w));
        assert!(code == 3 && all, "{asked:?}: {said}");
        assert_eq!(known.balancing(), "0", "{asked:?}");
    }
    let (_, said) = other.run(&["rollback", &digest[..16]]);
    assert!(said.contains(&format!("applied from here as {root}")), "{said}");
    // Another machine under that name: nothing is suggested.
    fs::write(PathBuf::from(&named).join("etc/machine-id"), "f".repeat(32)).unwrap();
    let (code, said) = other.run(&["rollback", "--yes"]);
    assert!(code == 3 && said.contains("no plan of this node is stored on this machine"), "{said}");
}

#[test]
fn old_plans_leave_the_store_and_the_last_one_of_a_host_stays() {
    let root = tree("old", "1\n");
    let operator = Operator::new("old", &root);
    let first = operator.plan(&[]);
    for asked in [&["apply", &first, "--yes"][..], &["rollback", "--yes"]] {
        let (code, said) = operator.run(asked);
        assert_eq!(code, 0, "{asked:?}: {said}");
    }
    let store = operator.home.join(".local/state/linerate");
    let records = || {
        let all = fs::read_dir(store.join("plans")).unwrap().map(|e| e.unwrap().path());
        all.filter(|p| p.extension().is_some_and(|e| e == "run")).collect::<Vec<_>>()
    };
    let kept = || fs::read_dir(store.join("apply")).unwrap().count();
    let old = records()[0].clone();
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&old).unwrap()).unwrap();
    assert_eq!(record["ended"]["how"], "undone", "{record}");
    (record["ended"]["when"], record["since"]) = (1.into(), 1.into());
    fs::write(&old, record.to_string()).unwrap();
    let (code, said) = operator.run(&["apply", &first, "--yes"]);
    assert!(code == 0 && !said.contains("removed"), "the last of its host: {said}");
    operator.run(&["rollback", "--yes"]);
    fs::write(&old, record.to_string()).unwrap();
    let second = operator.plan(&["--no-trial", "--role", "bare-metal"]);
    let (code, said) = operator.run(&["apply", &second, "--yes"]);
    assert_eq!((code, records().len(), kept()), (0, 2, 2), "{said}");
    let (code, said) = operator.run(&["apply", &second, "--yes"]);
    assert!(code == 0 && said.contains("removed from the store"), "{said}");
    assert_eq!((records().len(), kept()), (1, 1));
    let (code, said) = operator.run(&["rollback", "--yes"]);
    assert_eq!((code, operator.balancing().as_str()), (0, "1"), "{said}");
}

#[test]
fn a_store_that_others_can_use_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let root = tree("store-modes", "1\n");
    let operator = Operator::new("modes", &root);
    let file = operator.plan(&[]);
    let plans = operator.home.join(".local/state/linerate/plans");
    fs::create_dir_all(&plans).unwrap();
    fs::set_permissions(&plans, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = operator.run(&["apply", &file, "--yes"]);
    assert!(code == 3 && said.contains("its permissions are 0755"), "{said}");
    assert_eq!(operator.balancing(), "1");
    fs::set_permissions(&plans, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(operator.run(&["apply", &file, "--yes"]).0, 0);
    let state = root.join("var/lib/linerate/apply");
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = operator.run(&["rollback", &file, "--yes"]);
    assert!(code == 3 && said.contains("is not trusted as the place of linerate's own state"), "{said}");
    assert_eq!(operator.balancing(), "0");
}

#[test]
fn a_signature_is_of_an_allowed_signer_for_plans_and_for_these_bytes() {
    let root = tree("signed", "1\n");
    let operator = Operator::new("signer", &root);
    let at = |name: &str| operator.home.join(name).display().to_string();
    let keygen = |arguments: &[&str]| {
        let out = Command::new("ssh-keygen").args(arguments).output();
        out.is_ok_and(|o| o.status.success())
    };
    if !keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", &at("key")])
        || !keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "you", "-f", &at("other")])
    {
        println!("SKIPPED: no ssh-keygen: install Debian's openssh-client");
        return;
    }
    let public = |name: &str| fs::read_to_string(at(&format!("{name}.pub"))).unwrap();
    fs::write(at("signers"), format!("me@example namespaces=\"linerate-plan\" {}", public("key"))).unwrap();
    let file = operator.plan(&["--sign", &at("key")]);
    let apply = |more: &[&str]| {
        operator.run(&[&["apply", &file, "--require-signature", "--allowed-signers", &at("signers")], more].concat())
    };
    let (code, said) = apply(&[]);
    assert!(code == 0 && said.contains("is signed by me@example"), "{said}");
    let good = fs::read(at("n1.plan.sig")).unwrap();
    // Another key, another use, another text, no signature.
    let bytes = fs::read(&file).unwrap();
    for (what, key, namespace, signs) in [
        ("another key", "other", "linerate-plan", &bytes[..]),
        ("another use", "key", "file", &bytes[..]),
        ("another text", "key", "linerate-plan", &b"hello\n"[..]),
    ] {
        fs::write(at("text"), signs).unwrap();
        let _ = fs::remove_file(at("text.sig"));
        assert!(keygen(&["-q", "-Y", "sign", "-f", &at(key), "-n", namespace, &at("text")]));
        fs::rename(at("text.sig"), at("n1.plan.sig")).unwrap();
        let (code, said) = apply(&["--yes"]);
        assert!(code == 3 && said.contains("signature is not accepted"), "{what}: {said}");
        assert_eq!(operator.balancing(), "1", "{what}");
    }
    fs::remove_file(at("n1.plan.sig")).unwrap();
    let (code, said) = apply(&["--yes"]);
    assert!(code == 3 && said.contains("has no signature"), "{said}");
    fs::write(at("n1.plan.sig"), &good).unwrap();
    let (code, said) = operator.run(&["apply", &file, "--yes", "--require-signature"]);
    assert!(code == 3 && said.contains("no file of allowed signers"), "{said}");
    let (code, said) = apply(&["--yes"]);
    assert_eq!((code, operator.balancing().as_str()), (0, "0"), "{said}");
    // What is gone on with is the copy, with the signature that it came with.
    fs::remove_file(&file).unwrap();
    let resume = ["apply", "--resume", "--require-signature", "--allowed-signers", &at("signers")];
    let (code, said) = operator.run(&resume);
    assert!(said.contains("is signed by me@example"), "{code}: {said}");
}

/// What a policy wishes is planned, simulated, and proven by the fact read again; a wish that no program brings about is left to people.
#[test]
fn a_policy_is_a_plans_source() {
    let root = tree("policy", "1\n");
    let root = root.to_str().unwrap();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("policy.toml");
    let wish = |balancing: u32| {
        format!(
            "schema = \"linerate.policy/1\"\n[class.any.on.node]\n\
             \"memory.numa_balancing\" = {{ equals = {balancing}, name = \"balancing\", reason = \"pages stay where they are\" }}\n\
             \"firmware.sys_vendor\" = \"Dell Inc.\"\n"
        )
    };
    fs::write(&file, wish(0)).unwrap();
    let policy = file.to_str().unwrap();
    let plan = |arguments: &[&str]| linerate(&[&["plan", "--root", root, "--policy", policy], arguments].concat());

    let json = plan(&["--format", "json"]);
    assert_eq!(json.status.code(), Some(1), "{}", text(&json.stderr));
    let made = Plan::read(&json.stdout).unwrap();
    let [step] = made.steps.as_slice() else { panic!("{:?}", made.steps) };
    assert_eq!(step.rules, ["policy/any.balancing"], "the rule that would ask for it, too, is not asked");
    assert!(step.why[0].contains("pages stay where they are"), "{:?}", step.why);
    let of_fact = |p: &linerate_remedy::Proof| matches!(p, linerate_remedy::Proof::Fact { expectation, fact, .. } if expectation == "policy/any.balancing" && fact == "memory.numa_balancing");
    assert!(step.proof.iter().any(of_fact), "{:?}", step.proof);
    let by_hand: Vec<&str> = made.by_hand.iter().flat_map(|b| &b.rules).map(String::as_str).collect();
    assert_eq!(by_hand, ["policy/any.node.firmware.sys_vendor"]);
    let changed = &made.simulation.as_ref().unwrap().changed;
    let now = changed.iter().find(|c| c.rule == "policy/any.balancing").unwrap();
    assert_eq!((now.before.status.as_str(), now.after.status.as_str()), ("fail", "pass"));

    // The node read again, before and after.
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("policy.plan");
    fs::write(&kept, &json.stdout).unwrap();
    let outcome = || {
        let plan = kept.to_str().unwrap();
        text(&linerate(&["verify", plan, root, "--format", "json"]).stdout)
    };
    let before = outcome();
    assert!(before.contains("\"ineffective\"") || before.contains("\"pending\""), "{before}");
    fs::write(Path::new(root).join("proc/sys/kernel/numa_balancing"), "0\n").unwrap();
    assert!(outcome().contains("\"effective\""), "{}", outcome());
    fs::write(Path::new(root).join("proc/sys/kernel/numa_balancing"), "1\n").unwrap();

    // Expectations are chosen by their ids; what is not in the policy is an error.
    assert_eq!(plan(&["--fix", "policy/*balancing"]).status.code(), Some(1));
    assert_eq!(plan(&["--fix", "policy/nothing"]).status.code(), Some(3));
    assert_eq!(linerate(&["plan", "--root", root, "--fix", "policy/*"]).status.code(), Some(3));

    // A wish that makes a rule's verdict worse is refused, and the rule is named.
    let strict = "schema = \"linerate.policy/1\"\n[class.any.on.\"rail 0 NIC\"]\n\
                  \"pci.express.relaxed_ordering\" = { equals = false, name = \"strict\" }\n";
    fs::write(&file, strict).unwrap();
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/healthy-8gpu.tar.zst");
    let worse = linerate(&["plan", good.to_str().unwrap(), "--policy", policy, "--format", "json"]);
    let made = Plan::read(&worse.stdout).unwrap();
    assert!(made.steps.is_empty(), "{:?}", made.steps);
    let refused = made.refused.iter().find(|r| r.rules == ["policy/any.strict"]).unwrap();
    assert!(refused.reason.contains("pcie/relaxed-ordering"), "{refused:?}");
}
