//! Domains that somebody may have written.

use std::fmt::Write;

/// Choices, one after the other.
pub struct Picks<'a>(pub &'a [u16], pub usize);

impl Picks<'_> {
    pub fn of(&mut self, n: usize) -> usize {
        self.1 += 1;
        self.0[(self.1 - 1) % self.0.len()] as usize % n
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.of(of.len())]
    }
}

/// A legal q35 domain; `device` is a function of the host, `node` a node of it, for cells of its own.
pub fn domain(p: &mut Picks<'_>, device: &str, node: u32) -> String {
    let unit = p.one(&["  ", "    ", "\t", " ", ""]);
    let (mut o, mut level) = (String::new(), 1);
    let mut line = |level: usize, text: &str| {
        let indent = unit.repeat(level);
        writeln!(o, "{indent}{text}").unwrap();
    };
    line(0, p.one(&["<?xml version='1.0' encoding='UTF-8'?>", "<!-- <domain type='old'> -->", ""]));
    line(
        0,
        p.one(&[
            "<domain type='kvm'>",
            "<domain\n  type='kvm'\n>",
            "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>",
            "<domain type='kvm' xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0' xmlns:a='urn:a'>",
        ]),
    );
    line(level, p.one(&["<name>a &amp; b</name>", "<name>ü</name><!-- > -->"]));
    line(
        level,
        p.one(&[
            "",
            "<description><![CDATA[</devices> <devices/> ]]></description>",
            "<metadata><x:a xmlns:x='urn:x' b='>'/></metadata>",
        ]),
    );
    line(
        level,
        p.one(&["", "<memory unit='GiB'>32</memory>", "<memory>33554433</memory>", "<memory unit='GiB'>64</memory>"]),
    );
    line(
        level,
        p.one(&[
            "",
            "<memoryBacking/>",
            "<memoryBacking><locked/></memoryBacking>",
            "<memoryBacking><hugepages/></memoryBacking>",
            "<memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages></memoryBacking>",
        ]),
    );
    line(level, p.one(&["", "<vcpu>8</vcpu>", "<vcpu placement='static'>6</vcpu>"]));
    line(
        level,
        p.one(&[
            "",
            "<cputune><shares>2048</shares></cputune>",
            "<cputune>\n<vcpupin vcpu='0' cpuset='0-1'/></cputune>",
        ]),
    );
    let has_cell = p.of(3) == 0;
    line(
        level,
        &match (has_cell, p.of(3)) {
            (true, _) => format!("<numatune><memnode cellid='0' mode='strict' nodeset='{node}'/></numatune>"),
            (_, 0) => "<numatune><memory mode='restrictive' nodeset='0'/></numatune>".to_owned(),
            (_, 1) => "<numatune/>".to_owned(),
            _ => String::new(),
        },
    );
    line(
        level,
        p.one(&[
            "<os firmware='efi'><type arch='x86_64' machine='q35'>hvm</type></os>",
            "<os><type arch=\"x86_64\" machine=\"pc-q35-8.2\">hvm</type><loader type='pflash'>/x</loader></os>",
            "<os><type machine='q35'>hvm</type></os>",
        ]),
    );
    line(level, p.one(&["", "<features/>", "<features><acpi/></features>", "<features>\n\n<pae/> </features>"]));
    line(
        level,
        match has_cell {
            true => "<cpu mode='host-passthrough'><numa><cell id='0' cpus='0-5' memory='32' unit='GiB'/></numa></cpu>",
            false => p.one(&[
                "",
                "<cpu mode='host-passthrough'/>",
                "<cpu mode=\"host-model\" ><topology sockets='1' cores='8' threads='1'/></cpu>",
            ]),
        },
    );
    if p.of(8) == 0 {
        line(level, p.one(&["<devices/>", "<devices ></devices>", "<devices><emulator>/bin/q</emulator></devices>"]));
    } else {
        line(level, p.one(&["<devices>", "<devices>  <!-- mine -->"]));
        level += 1;
        let root = p.one(&[
            "",
            "<controller type='pci' index='0' model='pcie-root'/>",
            "<controller type=\"pci\" index=\"0\" model=\"pcie-root\"><pcihole64 unit='GiB'>1</pcihole64></controller>",
            "<controller model='pcie-root' type='pci'></controller>",
        ]);
        line(level, root);
        for index in 1..=p.of(5) {
            line(
                level,
                &match if root.is_empty() { p.of(2) } else { p.of(3) } {
                    0 => format!(
                        "<controller type='pci' index='{index}' model='pcie-root-port'><address type='pci' bus='0' slot='{}'/></controller>",
                        index + 1
                    ),
                    1 => format!("<controller type='pci' index='{index}' model='pcie-root-port'/>"),
                    _ => "<controller type='pci' model='pcie-root-port'/>".to_owned(),
                },
            );
        }
        for _ in 0..p.of(4) {
            line(
                level,
                p.one(&[
                    "<disk type='file' device='disk'><target dev='vda' bus='virtio'/></disk>",
                    "<!-- 0000:3b:00.0 -->",
                    "",
                    "<interface type='network'>\n<source network='default'/>\n</interface>",
                    "<video><model type='vga'/></video>",
                    "<rng model='virtio'/>",
                ]),
            );
        }
        if p.of(4) == 0 {
            line(
                level,
                "<controller type='pci' index='20' model='pcie-expander-bus'><target busNr='0x60'/><address type='pci' bus='0' slot='0x1e'/></controller>",
            );
        }
        let address =
            p.one(&["", "<address type='pci' domain='0' bus='0' slot='0x10' function='0'/>", "<rom bar='off'/>\n"]);
        line(
            level,
            &match p.of(3) {
                0 => format!(
                    "<hostdev mode=\"subsystem\" type='pci' managed='yes'><source>{device}</source>{address}<alias name='ua-gpu-0'/></hostdev>"
                ),
                _ => String::new(),
            },
        );
        level -= 1;
        line(level, p.one(&["</devices>", "</devices><!-- end -->", "</devices >"]));
    }
    line(level, p.one(&["", "<clock offset='utc'/>"]));
    line(0, p.one(&["</domain>", "</domain >\n<!-- after -->"]));
    // A declaration is the first thing in a text.
    let text = o.trim_start().to_owned();
    match p.of(3) {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace(">\n\n", ">\n"),
        _ => text,
    }
}
