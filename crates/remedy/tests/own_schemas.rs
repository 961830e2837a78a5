//! Exports, read by the types of their formats: CoreOS' own for Ignition; MachineConfig and Talos, whose types no registry carries for Rust,
//! Python or JavaScript, by what their references name. `tests/golden/README.md` has the sources.
#![allow(clippy::expect_used, clippy::panic)]

use crate::common;

use common::{documents, plan};
use ignition_config::v3_2::{Config, Dropin, Unit};
use linerate_remedy::export::{self, TalosBoot};
use linerate_remedy::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The object, as the API describes it: <https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/machine_apis/machineconfig-machineconfiguration-openshift-io-v1>.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct MachineConfig {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: MachineConfigSpec,
}

/// What is written of Kubernetes' `ObjectMeta`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[allow(dead_code, reason = "all fields that there are, not only those that are written")]
struct MachineConfigSpec {
    #[serde(rename = "baseOSExtensionsContainerImage")]
    base_os_extensions_container_image: Option<String>,
    config: serde_yaml_ng::Value,
    extensions: Option<Vec<String>>,
    fips: Option<bool>,
    kernel_arguments: Option<Vec<String>>,
    kernel_type: Option<String>,
    #[serde(rename = "osImageURL")]
    os_image_url: Option<String>,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_yaml_ng::Error> {
    serde_yaml_ng::from_value(documents(text).swap_remove(0))
}

fn machineconfig() -> String {
    export::machineconfig(&plan(), "worker", &["worker".into()]).expect("the pool is there").text
}

/// The configuration, and the fields that Ignition would not read.
fn ignition(text: &str) -> (Config, usize) {
    let made: MachineConfig = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let json = serde_json::to_string(&made.spec.config).expect("JSON can hold it");
    match ignition_config::Config::parse_str(&json) {
        Ok((ignition_config::Config::V3_2(config), unread)) => (config, unread.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_machineconfig_is_what_the_api_describes() {
    let text = machineconfig();
    let made: MachineConfig = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(
        (made.api_version.as_str(), made.kind.as_str()),
        ("machineconfiguration.openshift.io/v1", "MachineConfig")
    );
    // A pool takes those that its machineConfigSelector chooses: by this label.
    let role = ("machineconfiguration.openshift.io/role".to_owned(), "worker".to_owned());
    assert_eq!(made.metadata.labels, BTreeMap::from([role]));
    assert_eq!(made.metadata.name, "90-worker-linerate");
    assert_eq!(made.spec.kernel_arguments.as_deref(), Some(&["iommu=pt".to_owned()][..]));
    for (field, wrong) in [("kernelArguments", "kernelArgs"), ("labels", "label"), ("config:", "ignition:")] {
        assert!(read::<MachineConfig>(&text.replace(field, wrong)).is_err(), "{wrong}");
    }
}

/// RFC 4648 §4, by another way than that of the export.
fn decoded(letters: &str) -> String {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = letters.trim_end_matches('=').chars().map(|c| LETTERS.find(c).expect("a letter of base64"));
    let bits: String = values.map(|v| format!("{v:06b}")).collect();
    let bytes = bits.as_bytes().chunks_exact(8).map(|b| std::str::from_utf8(b).expect("digits"));
    String::from_utf8(bytes.map(|b| u8::from_str_radix(b, 2).expect("bits")).collect()).expect("text")
}

/// Content and mode that the plan gives a file.
fn planned(plan: &Plan, wanted: &str) -> (String, u32) {
    let acts = plan.steps.iter().flat_map(|s| &s.change);
    let mut found = acts.filter_map(|a| match a {
        Act::File(FileAct { path, after: Some(Content(text)), mode, .. }) if path == wanted => {
            Some((text.clone(), *mode))
        }
        _ => None,
    });
    found.next().unwrap_or_else(|| panic!("the plan has no {wanted}"))
}

#[test]
fn ignition_reads_the_files_and_units_of_the_plan() {
    let plan = plan();
    let (config, unread) = ignition(&machineconfig());
    assert_eq!(unread, 0, "fields that Ignition does not have");
    let mut paths = Vec::new();
    for file in config.storage.expect("there").files.expect("there") {
        let (content, mode) = planned(&plan, &file.path);
        let contents = file.contents.expect("there");
        let source = contents.source.expect("there");
        let letters = source.strip_prefix("data:text/plain;charset=utf-8;base64,").expect("a data URL");
        assert_eq!((decoded(letters), file.mode), (content, Some(i64::from(mode))), "{}", file.path);
        assert_eq!((file.overwrite, contents.compression), (Some(true), None), "{}", file.path);
        paths.push(file.path);
    }
    let wanted = [
        "modules-load.d/linerate",
        "modprobe.d/linerate",
        "tmpfiles.d/linerate",
        "sysctl.d/90-linerate",
        "security/limits.d/90-linerate",
    ];
    assert_eq!(paths, wanted.map(|p| format!("/etc/{p}.conf")));

    let content = |path: &str| Some(planned(&plan, &format!("/etc/systemd/system/{path}")).0);
    let mut dropin = Dropin::new("90-linerate.conf".into());
    dropin.contents = content("containerd.service.d/90-linerate.conf");
    let mut theirs = Unit::new("containerd.service".into());
    theirs.dropins = Some(vec![dropin]);
    // The unit that clears ACS names ports of this node: a pool's document leaves it out.
    assert_eq!(config.systemd.and_then(|s| s.units), Some(vec![theirs]));

    assert!(ignition(&machineconfig().replace("overwrite:", "replace:")).1 > 0, "unknown fields are told");
}

/// What is written of Talos' v1alpha1 document: <https://www.talos.dev/v1.11/reference/configuration/v1alpha1/config/>.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Talos {
    machine: Machine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    install: Option<KernelArgs>,
    kernel: Kernel,
    network: Network,
    sysctls: BTreeMap<String, String>,
    sysfs: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    modules: Vec<KernelModuleConfig>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct KernelModuleConfig {
    name: String,
    #[serde(default)]
    parameters: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    interfaces: Vec<Device>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct Device {
    interface: String,
    mtu: u32,
    addresses: Vec<String>,
}

/// `machine.install`, and the schematic's `customization`.
#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct KernelArgs {
    extra_kernel_args: Vec<String>,
}

/// A schematic of the Image Factory: <https://www.talos.dev/v1.11/learn-more/image-factory/>.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schematic {
    customization: KernelArgs,
}

#[test]
fn talos_patches_have_the_fields_of_the_reference() {
    let args = || KernelArgs { extra_kernel_args: vec!["iommu=pt".into()] };
    let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    for (boot, schematic, install) in
        [(TalosBoot::Uki, true, false), (TalosBoot::Grub, false, true), (TalosBoot::Unknown, true, true)]
    {
        let text = export::talos(&plan(), boot).text;
        let mut made = documents(&text);
        assert_eq!(made.len(), 1 + usize::from(schematic), "{boot:?}");
        let patch = made.pop().expect("there");
        let Talos { machine } = serde_yaml_ng::from_value(patch).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(machine.install, install.then(args), "{boot:?}");
        let module = |name: &str, parameters: &[&str]| KernelModuleConfig {
            name: name.into(),
            parameters: parameters.iter().map(|p| (*p).to_owned()).collect(),
        };
        assert_eq!(machine.kernel.modules, [module("nvidia_peermem", &[]), module("ib_core", &["netns_mode=0"])]);
        assert_eq!(
            machine.network.interfaces,
            [Device { interface: "eth1".into(), mtu: 9000, addresses: vec!["10.7.0.1/24".into()] }]
        );
        assert_eq!(machine.sysctls, one("kernel.numa_balancing", "0"));
        assert_eq!(machine.sysfs, one("devices.system.cpu.cpu0.cpufreq.scaling_governor", "performance"));
        for first in made {
            let first: Schematic = serde_yaml_ng::from_value(first).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(first.customization, args());
        }
    }
    let wrong = export::talos(&plan(), TalosBoot::Grub).text;
    for (field, other) in [("mtu:", "MTU:"), ("sysctls:", "sysctl:"), (": \"0\"", ": 0")] {
        assert!(read::<Talos>(&wrong.replace(field, other)).is_err(), "{other}");
    }
}
