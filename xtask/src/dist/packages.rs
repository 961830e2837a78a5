//! .deb and .rpm, by the tools of those who install them.

use super::stage::{self, Texts};
use super::{Machine, Release};
use crate::shell::{self, Result};
use crate::tools;
use std::path::Path;
use std::process::Command;

const SUMMARY: &str = "Finds and fixes what slows down GPU/RDMA cluster nodes, and proves it";
const DESCRIPTION: &str = "Reads everything on the GPUDirect RDMA path of a node, judges it with rules that name their sources, plans and applies fixes, and proves them.";
/// What it calls where it is there, by Debian's and by RPM's names.
const RECOMMENDED: [&str; 2] = ["pciutils, openssh-client, zstd", "pciutils"];

/// `linerate_VERSION-1_ARCH.deb`. The members are packed by xz: Debian 10's dpkg reads no zstd.
pub(super) fn deb(machine: &Machine, program: &Path, texts: &Texts, release: &Release) -> Result<()> {
    let [architecture, ..] = machine.architectures;
    let root = stage::fresh(release, "deb")?;
    stage::system(&root, program, texts)?;
    let control = format!(
        "Package: linerate\nVersion: {}-1\nArchitecture: {architecture}\nMaintainer: linerate <linerate@localhost>\nSection: admin\nPriority: optional\n\
         Depends: libc6 (>= 2.17)\nRecommends: {}\nDescription: {SUMMARY}\n {DESCRIPTION}\n",
        release.version, RECOMMENDED[0]
    );
    stage::put(&root.join("DEBIAN/control"), control.as_bytes())?;
    let to = release.out.join(format!("linerate_{}-1_{architecture}.deb", release.version));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&to);
    shell::output(build.env("SOURCE_DATE_EPOCH", &release.epoch)).map(|_| ())
}

/// `linerate-VERSION-1.ARCH.rpm`.
pub(super) fn rpm(machine: &Machine, program: &Path, texts: &Texts, release: &Release) -> Result<()> {
    let [_, architecture, _] = machine.architectures;
    if !shell::has("rpmbuild") {
        tools::installed(&["rpm"])?;
    }
    let (root, top) = (stage::fresh(release, "rpm")?, stage::fresh(release, "rpmbuild")?);
    stage::system(&root, program, texts)?;
    let spec = top.join("linerate.spec");
    // What the C library's loader needs is said by its version, not found by a scan of a program for another machine.
    let text = format!(
        "Name: linerate\nVersion: {}\nRelease: 1\nSummary: {SUMMARY}\nLicense: Apache-2.0\nAutoReqProv: no\nRequires: glibc >= 2.17\nRecommends: {}\n\
         %define __os_install_post %{{nil}}\n%define _build_id_links none\n%description\n{DESCRIPTION}\n%install\ncp -a {}/. %{{buildroot}}/\n%files\n\
         /usr/bin/linerate\n/usr/share/man/man1/*\n/usr/share/doc/linerate\n{}\n",
        release.version,
        RECOMMENDED[1],
        root.display(),
        stage::SHELLS.map(|(_, path)| format!("/{path}")).join("\n"),
    );
    stage::put(&spec, text.as_bytes())?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--nodebuginfo", "--target", architecture]);
    for (name, value) in [
        ("_topdir", top.display().to_string()),
        ("_buildhost", "linerate".to_owned()),
        ("use_source_date_epoch_as_buildtime", "1".to_owned()),
        ("clamp_mtime_to_source_date_epoch", "1".to_owned()),
        ("_binary_payload", "w19.zstdio".to_owned()),
    ] {
        build.arg("--define").arg(format!("{name} {value}"));
    }
    shell::output(build.arg(&spec).env("SOURCE_DATE_EPOCH", &release.epoch))?;
    let name = format!("linerate-{}-1.{architecture}.rpm", release.version);
    stage::copied(&top.join("RPMS").join(architecture).join(&name), &release.out.join(&name))
}
