use super::*;

fn file(path: &str, text: &str) -> Vec<Effect> {
    of_file(path, Some(text)).into_iter().filter(|e| !matches!(e, Effect::File { .. })).collect()
}

#[test]
fn files_say_what_they_do() {
    let value = |path: &str, value: &str| Effect::Value { path: path.to_owned(), value: value.to_owned() };
    let unit = "[Service]\nExecStart=setpci -s 0000:17:00.0 ECAP_ACS+6.w=0:2c\nExecStart=ip link set dev eth1 mtu 9000\n\
                ExecStop=setpci -s 0000:17:00.0 ECAP_ACS+6.w=c:2c\n";
    let register = Effect::Register {
        function: "0000:17:00.0".parse().expect("an address"),
        register: "ECAP_ACS+6.w".to_owned(),
        value: 0,
        mask: 0x2c,
    };
    assert_eq!(
        file("/etc/systemd/system/linerate-acs.service", unit),
        [register, value("/sys/class/net/eth1/mtu", "9000")]
    );
    assert_eq!(
        file("/etc/sysctl.d/90-linerate.conf", "# x\nkernel.numa_balancing = 0\nnet/ipv4/conf/eth0.1/arp_ignore = 1\n"),
        [value("/proc/sys/kernel/numa_balancing", "0"), value("/proc/sys/net/ipv4/conf/eth0.1/arp_ignore", "1")]
    );
    assert_eq!(file("/etc/modules-load.d/x.conf", "ib_umad\n"), [Effect::Module { name: "ib_umad".to_owned() }]);
    let unit = file(
        "/etc/systemd/system/x.service",
        "[Service]\nExecStart=-modprobe -- ib_umad\nExecStart=-ethtool -A eth2 rx off tx off\n",
    );
    let of_unit =
        [Effect::Module { name: "ib_umad".into() }, Effect::Program { line: "-ethtool -A eth2 rx off tx off".into() }];
    assert_eq!(unit, of_unit, "what a program does may be unknown, not that it is run");
    assert_eq!(file("/etc/security/limits.d/90.conf", "* soft memlock unlimited\n"), [Effect::MemlockUnlimited]);
    let option = Effect::ModuleOption {
        module: "ib_core".to_owned(),
        option: "netns_mode".to_owned(),
        value: Some("0".to_owned()),
    };
    assert_eq!(file("/etc/modprobe.d/linerate.conf", "options ib_core netns_mode=0\n"), [option]);
    let blocked = Effect::ModuleBlocked { name: "nouveau".to_owned() };
    assert_eq!(file("/etc/modprobe.d/linerate-block.conf", "# x\nblacklist nouveau\n"), [blocked]);
    assert_eq!(file("/etc/default/grub.d/x.cfg", "GRUB_CMDLINE_LINUX=\"iommu=pt\"\n"), []);
}

#[test]
fn programs_and_proofs() {
    let run = |argv: &[&str]| of_program(argv);
    assert_eq!(run(&["modprobe", "--", "ib_umad"]), Some(Effect::Module { name: "ib_umad".to_owned() }));
    let reset = Effect::NicReset { device: "0000:81:00.0".to_owned() };
    assert_eq!(run(&["mstfwreset", "-d", "0000:81:00.0", "-l", "3", "-y", "reset"]), Some(reset));
    assert_eq!(run(&["update-grub"]), None);
    let live = Proof::Value { path: "/sys/module/ib_umad/initstate".to_owned(), value: "live".to_owned() };
    assert_eq!(of_proof(&live), Some(Effect::Module { name: "ib_umad".to_owned() }));
}
