//! Definitions of domains. libvirt itself is asked by `.ci/run --libvirt`.

use super::{Node, codes, stage, step};
use crate::protocol::Stage;
use linerate_remedy::{Act, DomainAct};

pub(super) const PATH: &str = "etc/libvirt/qemu/vm1.xml";
/// With a password that no plan holds.
pub(super) const DEFINED: &str = r#"<domain type="kvm">
  <name>vm1</name>
  <memory unit="KiB">1048576</memory>
  <vcpu>2</vcpu>
  <devices>
    <controller type="pci" index="0" model="pcie-root"/>
    <graphics type="vnc" passwd="open sesame"/>
  </devices>
</domain>
"#;
/// Writes a definition as libvirt does: anew, with other quotes. A file `virsh-fails` or `virsh-lies` beside it has it do so.
pub(super) const VIRSH: &str = "#!/bin/sh
root=${0%/usr/*}
[ \"$1 $2 $3 $4\" = '--connect qemu:///system define --validate' ] || exit 9
[ ! -e \"$root/virsh-fails\" ] || { echo 'error: XML document failed to validate against schema' >&2; exit 1; }
[ -e \"$root/virsh-lies\" ] || sed \"s/'/\\\"/g\" \"$5\" >\"$root/etc/libvirt/qemu/vm1.xml\"
echo 'Domain vm1 defined from it'
";

fn edited() -> String {
    let port = "    <controller type='pci' index='1' model='pcie-root-port'/>\n    <graphics";
    DEFINED.replace("    <graphics", port)
}

pub(super) fn act() -> Act {
    let shown = DEFINED.replace("open sesame", "[redacted]");
    Act::Domain(DomainAct::between("vm1", &shown, &edited().replace("open sesame", "[redacted]")))
}

fn as_libvirt_writes(text: &str) -> String {
    text.replace('\'', "\"")
}

#[test]
fn a_definition_is_made_and_put_back_with_its_password() {
    let node = Node::new();
    let plan = node.plan_of(vec![step("domain", vec![act()])]);
    let json = serde_json::to_string(&plan).unwrap();
    assert!(!json.contains("sesame"));
    assert_eq!(stage(&node.apply(&plan)), Some(Stage::Finished));
    assert_eq!(node.read(PATH), Some(as_libvirt_writes(&edited())));
    assert_eq!(stage(&node.rollback(&plan)), Some(Stage::Finished));
    assert_eq!(node.read(PATH).as_deref(), Some(DEFINED));
}

#[test]
fn what_libvirt_refuses_or_writes_elsewhere_leaves_the_definition() {
    for (flag, said) in [("virsh-fails", "failed to validate"), ("virsh-lies", "another daemon")] {
        let node = Node::new();
        node.write(flag, "");
        let plan = node.plan_of(vec![step("domain", vec![act()])]);
        let answer = node.apply(&plan);
        assert_eq!(codes(&answer), ["failed"], "{flag}");
        assert!(answer.refused[0].what.contains(said), "{}", answer.refused[0].what);
        assert_eq!(node.read(PATH).as_deref(), Some(DEFINED), "{flag}");
        assert!(node.read(&format!("var/lib/linerate/{}/kept/define-vm1.xml", plan.hash)).is_none());
    }
}

#[test]
fn another_definition_than_the_plans_is_refused_and_kept() {
    let node = Node::new();
    let plan = node.plan_of(vec![step("domain", vec![act()])]);
    let other = DEFINED.replace("<vcpu>2", "<vcpu>4");
    node.write(PATH, &other);
    assert_eq!(codes(&node.apply(&plan)), ["stale"]);
    assert_eq!(node.read(PATH), Some(other));
    // A password is nobody's business.
    node.write(PATH, &DEFINED.replace("open sesame", "another"));
    assert_eq!(stage(&node.apply(&plan)), Some(Stage::Finished));
    assert!(node.read(PATH).unwrap().contains("passwd=\"another\""));
    // What somebody changed since is left.
    node.write(PATH, "<domain type='kvm'><name>vm1</name></domain>");
    assert!(!node.rollback(&plan).refused.is_empty());
    assert_eq!(node.read(PATH).as_deref(), Some("<domain type='kvm'><name>vm1</name></domain>"));
}
