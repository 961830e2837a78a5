//! Sources of names, read from files of a site and from programs' answers; beside ClusterShell's and genders' own programs where they are.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

use linerate_gather::inventory::{
    Found, Inventory, InventoryError, Kind, Remark, Request, Settings, TargetError, Wrong, load, readers,
};
use linerate_transport::{HostSpec, Pods, Way};
use std::path::Path;
use std::process::{Command, Stdio};

/// A home, and an /etc.
struct Site(tempfile::TempDir);

impl Site {
    fn new(files: &[(&str, &str)]) -> Site {
        let site = Site(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = site.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        site
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn try_load(&self, sources: &[&str]) -> Result<Inventory, InventoryError> {
        let settings = Settings {
            directory: self.path().to_owned(),
            home: Some(self.path().join("home")),
            config: Some(self.path().join("home/.config")),
            clustershell: None,
            etc: self.path().join("etc"),
            ..Settings::default()
        };
        let sources = sources.iter().map(|s| (*s).to_owned()).collect();
        load(&Request { sources, ..Request::default() }, &settings)
    }

    fn load(&self, sources: &[&str]) -> Inventory {
        self.try_load(sources).unwrap()
    }
}

fn names(inventory: &Inventory) -> String {
    inventory.hosts().map(|h| h.target.name.as_str()).collect::<linerate_fleet::NodeSet>().to_string()
}

fn way(inventory: &Inventory, name: &str) -> String {
    let target = &inventory.host(name).unwrap().target;
    let options: String = target.ssh_options.iter().map(|o| format!(" {o}")).collect();
    format!("{}{}{options}", target.spec, if target.sudo { " sudo" } else { "" })
}

fn group(inventory: &Inventory, name: &str) -> String {
    inventory.set(name).map_or_else(|e| format!("{:?}", e.why), |s| s.to_string())
}

fn of(found: &Found) -> Vec<(String, String)> {
    found.groups.iter().map(|g| (g.name.clone(), g.sets.join(","))).collect()
}

const CONFIG: &str = r#"
nodes = "gpu[001-008],login1"
reference = "gpu001"
sources = ["ssh", "genders:names/genders"]

[way]
user = "ops"
ssh_options = ["ConnectTimeout=5"]

[groups]
rack1 = "gpu[001-004]"
odd = ["gpu001", "gpu003", "@rack2"]

[groups.rack2]
nodes = "gpu[005-008]"
port = 2222
sudo = true
ssh_options = ["ProxyJump=jump2"]

[groups.here]
nodes = "login1"
transport = "local"

[hosts.gpu007]
address = "10.0.0.7"
user = "root"
"#;

#[test]
fn a_file_of_the_directory_says_names_groups_and_ways() {
    let site = Site::new(&[
        ("linerate.toml", CONFIG),
        ("home/.config/linerate/linerate.toml", "nodes = \"other\""),
        ("home/.ssh/config", "Host jump2 *.lab\n  HostName 10.1.0.1\n"),
        ("names/genders", "gpu[001-002] mgmt\n"),
    ]);
    let inventory = site.load(&[]);
    assert_eq!(names(&inventory), "gpu[001-008],jump2,login1");
    assert_eq!(inventory.reference.as_deref(), Some("gpu001"));
    for (name, want) in [
        ("gpu001", "ops@gpu001 ConnectTimeout=5"),
        ("gpu005", "ops@gpu005:2222 sudo ProxyJump=jump2"),
        ("gpu007", "root@10.0.0.7:2222 sudo ProxyJump=jump2"),
        ("login1", "local ConnectTimeout=5"),
        ("jump2", "ops@jump2 ConnectTimeout=5"),
    ] {
        assert_eq!(way(&inventory, name), want);
    }
    for (set, want) in [
        ("@rack1", "gpu[001-004]"),
        ("@odd!@rack1", "gpu[005-008]"),
        ("@genders:mgmt", "gpu[001-002]"),
        ("@mgmt", "gpu[001-002]"),
        ("@*!gpu*", "jump2,login1"),
        ("@none", "Group"),
    ] {
        assert_eq!(group(&inventory, set), want, "{set}");
    }
    let groups: Vec<&str> = inventory.host("gpu001").unwrap().groups.iter().map(|g| &**g).collect();
    assert_eq!(groups, ["odd", "rack1", "genders:mgmt"]);
    assert_eq!(inventory.remarks, []);
    // A host of no source gets the way of all.
    let stranger = inventory.targets("new[1-2],root@new3:22").unwrap();
    let specs: Vec<String> = stranger.iter().map(|t| t.spec.to_string()).collect();
    assert_eq!(specs, ["ops@new1", "ops@new2", "root@new3:22"]);
    assert_eq!(inventory.targets("gpu001!gpu001"), Err(TargetError::Empty("gpu001!gpu001".to_owned())));
    assert!(matches!(inventory.targets("a;b"), Err(TargetError::Host(_))));
    let v6 = inventory.targets("[fe80::1]:2222,local").unwrap();
    assert_eq!(v6[1].spec, HostSpec { way: Way::Local, address: None });
}

/// Each group has its way; what no source names goes the way of all.
#[test]
fn schedulers_are_ways() {
    let config = r#"
[way]
transport = "srun"
srun_options = ["--partition=gpu"]

[groups]
cpu = { nodes = "c[1-2]", srun_options = ["--jobid=7"] }
login = { nodes = "login1", transport = "ssh", user = "ops" }

[groups.pods]
nodes = "w[1-2]"
transport = "kubectl"
kubectl = { selector = "app=shell", root = "/host" }

[hosts.w2]
address = "worker-2.example.com"
"#;
    let site = Site::new(&[("linerate.toml", config)]);
    let inventory = site.load(&[]);
    assert_eq!(inventory.remarks, []);
    let way = |name: &str| inventory.targets(name).unwrap().remove(0).spec.way;
    let srun = |node: &str, option: &str| Way::Srun { node: node.to_owned(), options: vec![option.to_owned()] };
    assert_eq!(way("c1"), srun("c1", "--jobid=7"));
    assert_eq!(way("gpu9"), srun("gpu9", "--partition=gpu"));
    let pods = Pods {
        namespace: "default".into(),
        selector: "app=shell".into(),
        root: Some("/host".into()),
        ..Pods::default()
    };
    assert_eq!(way("w1"), Way::Kubectl { node: "w1".into(), pods: pods.clone() });
    assert_eq!(way("w2"), Way::Kubectl { node: "worker-2.example.com".into(), pods });
    assert!(matches!(way("login1"), Way::Ssh { destination, .. } if destination == "ops@login1"));
    // What is a way by itself stays one.
    assert!(matches!(way("root@x"), Way::Ssh { .. }));
    assert_eq!(way("local"), Way::Local);
    // A group without what it needs is said, and its nodes are no hosts.
    let site = Site::new(&[("linerate.toml", "[groups]\na = { nodes = \"x\", transport = \"kubectl\" }\n")]);
    assert!(matches!(site.load(&[]).remarks[..], [Remark::Host { .. }]));
}

#[test]
fn a_wrong_file_is_refused_with_its_name() {
    for text in ["nodes = 3", "node = \"a\"", "[groups.a]\nnodes = \"b\"\nuzer = \"x\"", "nodes = \"a[\"", "nodes ="] {
        let site = Site::new(&[("linerate.toml", text)]);
        let got = site.try_load(&[]);
        assert!(
            matches!(&got, Err(InventoryError::Config { path, .. }) if path.ends_with("linerate.toml")),
            "{text}: {got:?}"
        );
    }
    let site = Site::new(&[("list.json", "{\"items\": 3}")]);
    assert!(matches!(site.try_load(&["list.json"]), Err(InventoryError::Json { .. })));
    assert!(matches!(site.try_load(&["nothing"]), Err(InventoryError::File { .. })));
}

#[test]
fn without_a_file_the_usual_places_are_read() {
    let include = "Host inner1\n  HostName 10.0.0.1\nInclude conf.d/*.conf\n";
    let site = Site::new(&[
        (
            "home/.ssh/config",
            "Include ~/.ssh/more conf.d/*.conf\nHost=a1 \"b 2\" !c *.x # gpu1\n Hostname a1.lab\nMatch all\n",
        ),
        ("home/.ssh/more", include),
        ("home/.ssh/conf.d/10.conf", "Include ../more\nHOST d1\n"),
        ("home/.ssh/conf.d/.hidden.conf", "Host e1\n"),
        (
            "etc/clustershell/groups.conf",
            "[Main]\ndefault: local\nautodir: $CFGDIR/groups.d\n[local]\nmap: sed x\n[up,down]\nmap: y\n",
        ),
        ("etc/clustershell/groups.d/local.cfg", "# x\ngpu: gpu1 gpu2\nall: @gpu,a9\n"),
        ("etc/clustershell/groups.d/racks.yaml", "racks:\n  r1: 'gpu[1-2]'\n"),
        ("etc/genders", "gpu[1-2] ib,rack=%n,kind=h100\n"),
    ]);
    let inventory = site.load(&[]);
    assert_eq!(names(&inventory), "a[1,9],d1,gpu[1-2],inner1");
    assert_eq!(group(&inventory, "@gpu"), "gpu[1-2]");
    assert_eq!(group(&inventory, "@local:*"), "a9,gpu[1-2]");
    assert_eq!(group(&inventory, "@racks:r1&@genders:kind=h100"), "gpu[1-2]");
    let upcalls: Vec<_> = inventory
        .remarks
        .iter()
        .filter_map(|r| match r {
            Remark::Source { wrong: Wrong::Upcall(source), .. } => Some(source.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(upcalls, ["up", "down"]);
    assert_eq!(inventory.remarks.len(), 2, "{:?}", inventory.remarks);
    let kinds: Vec<Kind> = inventory.sources.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [Kind::SshConfig, Kind::ClusterShell, Kind::Genders]);
}

#[test]
fn an_ssh_configuration_that_includes_itself_ends() {
    let site = Site::new(&[("home/.ssh/config", "Include config\nInclude ~/.ssh/*\nHost a\n")]);
    assert_eq!(names(&site.load(&["ssh"])), "a");
}

#[test]
fn disagreements_are_told() {
    let site = Site::new(&[
        ("a.txt", "10.0.0.1 gpu1\n10.0.0.2 gpu2\n127.0.0.1 localhost\nff02::1 ip6-allnodes\n"),
        ("b.txt", "10.0.0.9 gpu1 alias\n10.0.0.2 node2\nx[1-2] slots=8\n"),
        ("home/.ssh/config", "Host gpu1.lab gpu2\n  HostName gw.lab\n"),
        (
            "linerate.toml",
            "reference = \"gpu7\"\n[groups.a]\nnodes = \"gpu1\"\nport = 1\n[groups.b]\nnodes = \"gpu1\"\nport = 2\n[groups]\nc = \"d[\"\n",
        ),
    ]);
    let inventory = site.load(&["linerate.toml", "a.txt", "b.txt", "ssh"]);
    assert_eq!(names(&inventory), "gpu[1-2],gpu1.lab,node2,x[1-2]");
    let mut seen: Vec<String> = inventory
        .remarks
        .iter()
        .map(|r| match r {
            Remark::Addresses { name, first, second, .. } => format!("{name} {first} {second}"),
            Remark::Names { names, address } => format!("{names} {address}"),
            Remark::Domain { short, long } => format!("{short} {long}"),
            Remark::Ways { name, groups } => format!("{name} {groups}"),
            Remark::Group { group, why, .. } => format!("{group} {:?}", why.why),
            Remark::Reference(name) => name.clone(),
            other => other.to_string(),
        })
        .collect();
    seen.sort();
    let want = ["c Bracket", "gpu1 10.0.0.1 10.0.0.9", "gpu1 a, b", "gpu1 gpu1.lab", "gpu2,node2 10.0.0.2", "gpu7"];
    assert_eq!(seen, want);
}

/// Of a real `sinfo` 22.05, shortened.
const SINFO: &str = "\
cpu01|all|idle|127.0.0.2|(null)|(null)|none
gpu001|gpu|idle|127.0.0.1|gpu:h100:8(S:0-1),nic:8|h100,ib|none
gpu001|all|idle|127.0.0.1|gpu:h100:8(S:0,1),nic:8|h100,ib|none
gpu002|gpu|drained|127.0.0.1|gpu:8|h100,ib|u25|odd, NIC
gpu002|all|drained|127.0.0.1|gpu:8|h100,ib|u25|odd, NIC
gpu003|gpu|down*|127.0.0.1|(null)|h100,ib|x
broken line
";

#[test]
fn slurm_says_partitions_states_features() {
    let found = readers::sinfo(SINFO);
    assert_eq!(
        found.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
        ["cpu01", "gpu001", "gpu002", "gpu003"]
    );
    let want = [
        ("feature/h100", "gpu001,gpu002,gpu003"),
        ("feature/ib", "gpu001,gpu002,gpu003"),
        ("gres/gpu", "gpu001,gpu002"),
        ("gres/nic", "gpu001"),
        ("partition/all", "cpu01,gpu001,gpu002"),
        ("partition/gpu", "gpu001,gpu002,gpu003"),
        ("state/down", "gpu003"),
        ("state/drained", "gpu002"),
        ("state/idle", "cpu01,gpu001"),
        ("state/not-responding", "gpu003"),
    ];
    assert_eq!(of(&found), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(matches!(found.wrong.as_slice(), [(place, Wrong::Form(_))] if place.line == 7));
}

#[test]
fn kubernetes_says_labels() {
    let json = r#"{"apiVersion":"v1","kind":"List","items":[
      {"metadata":{"name":"gpu001","labels":{"kubernetes.io/hostname":"gpu001","topology.kubernetes.io/zone":"a","node-role.kubernetes.io/worker":""}},
       "spec":{"unschedulable":true},
       "status":{"addresses":[{"type":"Hostname","address":"gpu001"},{"type":"InternalIP","address":"10.0.0.1"}],"images":[{"names":["x"]}]}},
      {"metadata":{"name":"gpu002"}}, {"metadata":{"name":"bad name"}}]}"#;
    let site = Site::new(&[("nodes.json", json)]);
    let inventory = site.load(&["nodes.json"]);
    assert_eq!(names(&inventory), "gpu[001-002]");
    for set in
        ["@kubernetes:topology.kubernetes.io/zone=a", "@kubernetes:node-role.kubernetes.io/worker", "@unschedulable"]
    {
        assert_eq!(group(&inventory, set), "gpu001", "{set}");
    }
    assert_eq!(group(&inventory, "@kubernetes:kubernetes.io/hostname=gpu001"), "Group");
    assert_eq!(inventory.remarks.len(), 1);
    // A cluster without nodes is no error; pods are no nodes.
    assert_eq!(names(&Site::new(&[("nodes.json", r#"{"kind":"List","items":[]}"#)]).load(&["nodes.json"])), "");
    let pods = Site::new(&[("pods.json", r#"{"kind":"PodList","items":[{"kind":"Pod","metadata":{"name":"a"}}]}"#)]);
    assert!(matches!(pods.try_load(&["pods.json"]), Err(InventoryError::Json { .. })));
}

#[test]
fn yaml_of_other_forms_is_refused_line_by_line() {
    let text = "a:\n  g: 'x[1,2]' # c\n  h:\n    - \"y#1\"\n    - z1\n  i: [a1, \"b[1-2]\", 'c']\n  j: plain[1-2]\n\
                b:\n    k: {a: b}\n    l: &x y\n    'm n': o\n  wrong: x\nc: d\n? e\n---\n\"d\":\n  \"n\": x\n";
    let found = readers::yaml(text, "f");
    let groups: Vec<String> =
        found.groups.iter().map(|g| format!("{}:{}={}", g.source, g.name, g.sets.join(","))).collect();
    assert_eq!(groups, ["a:g=x[1,2]", "a:h=y#1,z1", "a:i=a1,b[1-2],c", "a:j=plain[1-2]", "d:n=x"]);
    assert_eq!(found.wrong.iter().map(|(p, _)| p.line).collect::<Vec<_>>(), [9, 10, 11, 12, 13, 14]);
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        println!("SKIPPED: no {program}: install Debian's clustershell and genders, `cargo xtask test` does");
    }
    found
}

fn said(program: &str, args: &[&str], dir: &Path) -> String {
    let out = Command::new(program).args(args).env("CLUSTERSHELL_CFGDIR", dir).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

/// Two sources that name each other's groups, as in the example that comes with ClusterShell.
#[test]
fn groups_are_those_that_clustershell_sees() {
    if !has("nodeset") {
        return;
    }
    let yaml = "roles:\n    adm: 'n0'\n    io: '@racks:rack2,n2'\n    compute: '@racks:rack[3-4]'\n    all: '@io,@compute'\n\
                racks:\n    rack1: 'n[0,2]'\n    rack2: 'n[4-5]'\n    rack3: 'n[32-159]'\n    rack4: 'n[156-159]'\n\
                \x20   old: '@rack[1,3]'\n    rack5:\n        - 'n[200-205]'  # a comment\n        - 'n245'\n        - 'n300,n[401-406]'\n\
                cpu:\n    ivy: 'n[32-63]'\n    hsw: '@roles:compute!@ivy'\n";
    let site = Site::new(&[
        ("groups.conf", "[Main]\ndefault: roles\nautodir: $CFGDIR/groups.d\n"),
        ("groups.d/site.yaml", yaml),
    ]);
    let inventory = site.load(&["clustershell:groups.conf"]);
    assert_eq!(inventory.remarks, []);
    for set in [
        "@io",
        "@roles:io",
        "@compute",
        "@roles:*",
        "@racks:*",
        "@cpu:*",
        "@racks:old",
        "@racks:rack5",
        "@cpu:hsw",
        "@racks:rack[1-2]",
        "@io!n4",
        "@cpu:ivy&@racks:rack3",
        "@cpu:ivy^@cpu:hsw",
    ] {
        assert_eq!(group(&inventory, set), said("nodeset", &["-f", set], site.path()), "{set}");
    }
    // Its wildcards and `@*` know the default source alone; here all that is known counts.
    assert_eq!(group(&inventory, "n24*"), "n245");
}

#[test]
fn attributes_are_those_that_nodeattr_sees() {
    if !has("nodeattr") {
        return;
    }
    let text = "# site\ngpu[1-8] ib,kind=h100\ngpu[1-4] rack=r1\ngpu[5-8] rack=r2 # far\nlogin1 mgmt\n";
    let site = Site::new(&[("genders", text)]);
    let file = site.path().join("genders").display().to_string();
    let inventory = site.load(&["genders:genders"]);
    for attribute in ["ib", "kind", "kind=h100", "rack", "rack=r1", "rack=r2", "mgmt"] {
        let theirs = said("nodeattr", &["-f", &file, "-c", attribute], site.path());
        let theirs: linerate_fleet::NodeSet = theirs.split(',').collect();
        assert_eq!(group(&inventory, &format!("@genders:{attribute}")), theirs.to_string(), "{attribute}");
    }
}

/// The real one, where this machine is in a cluster; otherwise it says that it is not here.
#[test]
fn a_program_that_is_not_here_is_named() {
    let site = Site::new(&[]);
    match site.try_load(&["slurm"]) {
        Ok(inventory) => assert!(inventory.hosts().next().is_some()),
        Err(e) => assert!(
            matches!(e, InventoryError::Missing("sinfo") | InventoryError::Failed { program: "sinfo", .. }),
            "{e}"
        ),
    }
}

/// Texts of each form with bytes changed by chance: whatever comes, it is read or refused.
#[test]
fn changed_texts_are_read_or_refused() {
    let seeds = [
        CONFIG,
        SINFO,
        "Host a *.b \"c d\"\n  HostName = 10.0.0.1\nInclude x/*.conf\n",
        "[Main]\ndefault: local\nautodir: /a $CFGDIR/b\n[local,x]\nmap: y\n",
        "a:\n  g: 'x[1,2]' # c\n  h:\n    - \"y1\"\n  i: [a1, \"b[1-2]\", 'c']\n",
        "gpu[1-8] ib,kind=h100,rack=%n\n10.0.0.1 gpu1 alias\nall: @gpu a[1-2]\n",
        r#"{"items":[{"metadata":{"name":"a","labels":{"b/c":"d"}},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}]}"#,
    ];
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        usize::try_from(chance >> 11).unwrap() % n.max(1)
    };
    for round in 0..6_000 {
        let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..=below(4) {
            let at = below(bytes.len());
            if bytes.len() < 2 {
                break;
            }
            match below(4) {
                0 => bytes[at] = b"[]{}:#\"'@,!&^*? \n\t\\\xff0-"[below(20)],
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.extend_from_within(at..(at + below(20)).min(bytes.len())),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        for found in [
            readers::genders(&text, "f"),
            readers::hosts(&text, "f"),
            readers::sinfo(&text),
            readers::flat(&text, "s", "f"),
            readers::yaml(&text, "f"),
            readers::ssh_config(&text, "f").found,
        ] {
            assert!(found.nodes.iter().all(|n| !n.name.contains([' ', '\n', ',', '['])), "{text:?}");
        }
        let _ =
            (readers::conf(&text), readers::kubernetes(&bytes, "f"), linerate_gather::inventory::Config::read(&text));
    }
}

/// Small files that come to very much: each ends, and says what it left out.
#[test]
fn small_files_that_come_to_much_are_bounded() {
    let long = format!("n{}", "x".repeat(100_000));
    let attributes: Vec<String> = (0..50_000).map(|i| format!("a{i}")).collect();
    let files = [
        ("hosts.txt", "n[1-262000]\n".repeat(5_000)),
        ("groups.cfg", (0..20_000).map(|i| format!("g{i}: n[1-200000]\n")).collect()),
        ("deep.cfg", (0..20_000).map(|i| format!("g{i}: @g{},@g{}\n", i + 1, i + 1)).collect()),
        ("site/genders", format!("{long} {}\n", attributes.join(","))),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let site = Site::new(&files);
    for (file, _) in files {
        let began = std::time::Instant::now();
        let inventory = site.load(&[file]);
        assert!(!inventory.remarks.is_empty(), "{file}");
        println!("{file}: {:?}", began.elapsed());
    }
}
