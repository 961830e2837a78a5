//! What is shipped, as a CycloneDX bill of materials (version 1.6, JSON).

use serde_json::json;

/// A crate of the program.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) licence: Option<&'a str>,
    /// SHA-256 of its archive; absent for what is in this repository.
    pub(super) checksum: Option<&'a str>,
    /// Names and versions of what it uses, normally or to be built.
    pub(super) uses: Vec<(&'a str, &'a str)>,
}

/// The document; the same parts give the same text.
pub(super) fn write(parts: &[Part<'_>]) -> String {
    let purl = |name: &str, version: &str| format!("pkg:cargo/{name}@{version}");
    let component = |p: &Part<'_>| {
        let mut c = json!({
            "type": if p.name == super::COMMAND { "application" } else { "library" },
            "bom-ref": purl(p.name, p.version),
            "name": p.name,
            "version": p.version,
            "purl": purl(p.name, p.version),
        });
        if let Some(licence) = p.licence {
            // Some old crates write `/` for OR, which SPDX does not know.
            c["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(sum) = p.checksum {
            c["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        c
    };
    let own = parts.iter().find(|p| p.name == super::COMMAND).map(component);
    let others: Vec<_> = parts.iter().filter(|p| p.name != super::COMMAND).map(component).collect();
    let uses = |p: &Part<'_>| {
        let on: Vec<String> = p.uses.iter().map(|(n, v)| purl(n, v)).collect();
        json!({ "ref": purl(p.name, p.version), "dependsOn": on })
    };
    let all = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": own },
        "components": others,
        "dependencies": parts.iter().map(uses).collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&all).unwrap_or_default();
    text.push('\n');
    text
}
