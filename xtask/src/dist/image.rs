//! The image: nothing but the program, for each machine (OCI image layout 1.0, as a tar that `skopeo copy oci-archive:…` and `podman load` take).

use super::stage::{self, put, read};
use super::{Machine, Release};
use crate::shell::{self, Result};
use linerate_remedy::sha256;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

pub(super) fn write(programs: &[&(&Machine, PathBuf)], release: &Release) -> Result<()> {
    let dir = stage::fresh(release, "oci")?;
    let mut manifests = Vec::new();
    for (machine, program) in programs {
        manifests.push(one(machine, program, &dir, release)?);
    }
    let name = json!({ "org.opencontainers.image.ref.name": release.version });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests });
    let mut all = blob(&dir, INDEX, index.to_string().as_bytes())?;
    all["annotations"] = name;
    let top = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [all] });
    put(&dir.join("index.json"), top.to_string().as_bytes())?;
    put(&dir.join("oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }).to_string().as_bytes())?;
    let tar = release.out.join(format!("linerate-{}-oci.tar", release.version));
    stage::tarred(&dir, &["blobs", "index.json", "oci-layout"], &tar, release)
}

/// The manifest of the image for a machine.
fn one(machine: &Machine, program: &Path, dir: &Path, release: &Release) -> Result<Value> {
    let [_, _, architecture] = machine.architectures;
    let root = stage::fresh(release, "image")?;
    stage::program(program, &root.join("linerate"))?;
    let tar = root.with_extension("tar");
    stage::tarred(&root, &["linerate"], &tar, release)?;
    let unpacked = sha256(&read(&tar)?);
    shell::status(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&tar))?;
    let layer = blob(dir, LAYER, &read(&tar.with_extension("tar.gz"))?)?;
    let config = json!({
        "architecture": architecture,
        "os": "linux",
        "config": {
            "Entrypoint": ["/linerate"],
            "Labels": { "org.opencontainers.image.version": release.version, "org.opencontainers.image.licenses": "Apache-2.0" },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{unpacked}")] },
    });
    let config = blob(dir, CONFIG, config.to_string().as_bytes())?;
    let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer] });
    let mut descriptor = blob(dir, MANIFEST, manifest.to_string().as_bytes())?;
    descriptor["platform"] = json!({ "architecture": architecture, "os": "linux" });
    Ok(descriptor)
}

/// Writes a blob by its digest, and describes it.
fn blob(dir: &Path, media: &str, bytes: &[u8]) -> Result<Value> {
    let digest = sha256(bytes);
    put(&dir.join("blobs/sha256").join(&digest), bytes)?;
    Ok(json!({ "mediaType": media, "digest": format!("sha256:{digest}"), "size": bytes.len() }))
}
