//! Files that name other files: `ssh`'s configuration and ClusterShell's.

use super::clustershell::{self, Conf};
use super::found::{Kind, Place, Text, Wrong};
use super::load::{InventoryError, Loader, Settings};
use super::ssh_config;
use linerate_formats::bounds::{INVENTORY_DEPTH, INVENTORY_FILE, INVENTORY_FILES};
use linerate_formats::wildcard::glob;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

impl Loader<'_> {
    pub(super) fn ssh_file(&self) -> Option<PathBuf> {
        self.settings.home.as_ref().map(|h| h.join(".ssh/config"))
    }

    pub(super) fn ssh(&mut self, path: &Path) -> Result<(), InventoryError> {
        let text = read(path)?;
        self.looked(Kind::SshConfig, path.display());
        let mut seen = BTreeSet::from([path.to_owned()]);
        self.ssh_text(&text, path, &mut seen, 0);
        Ok(())
    }

    fn ssh_text(&mut self, text: &str, path: &Path, seen: &mut BTreeSet<PathBuf>, depth: usize) {
        let what = path.display().to_string();
        let ssh_config::Read { found, includes } = ssh_config::read(text, &what);
        self.found.and(found);
        let base = self.settings.home.as_ref().map(|h| h.join(".ssh")).unwrap_or_default();
        for pattern in includes {
            for file in self.matching(&self.path(&pattern, &base), Kind::SshConfig, &what) {
                if !seen.insert(file.clone()) {
                    continue;
                }
                if let Some(text) = self.included(&file, Kind::SshConfig, &what, depth + 1) {
                    self.ssh_text(&text, &file, seen, depth + 1);
                }
            }
        }
    }

    /// A file that another one names.
    fn included(&mut self, path: &Path, kind: Kind, by: &str, depth: usize) -> Option<String> {
        self.files += 1;
        let limit = |limit, value| Wrong::Limit { limit, value };
        let wrong = if self.files > INVENTORY_FILES {
            limit("INVENTORY_FILES", INVENTORY_FILES)
        } else if depth > INVENTORY_DEPTH {
            limit("INVENTORY_DEPTH", INVENTORY_DEPTH)
        } else if !path.is_file() {
            return None;
        } else {
            match read(path) {
                Ok(text) => return Some(text),
                Err(e) => Wrong::File { what: path.display().to_string(), why: e.to_string() },
            }
        };
        self.found.wrong(self.at(kind, by), wrong);
        None
    }

    /// Files that fit a pattern, in order of their names.
    fn matching(&mut self, pattern: &Path, kind: Kind, by: &str) -> Vec<PathBuf> {
        let mut all = vec![PathBuf::new()];
        for part in pattern.components() {
            let part = part.as_os_str();
            let bytes = part.as_encoded_bytes();
            if !bytes.iter().any(|b| b"*?[".contains(b)) {
                all.iter_mut().for_each(|p| p.push(part));
                continue;
            }
            let mut next = Vec::new();
            for dir in &all {
                let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
                let names = entries.map(|e| e.file_name()).filter(|n| {
                    let name = n.as_encoded_bytes();
                    glob(bytes, name) && (bytes.starts_with(b".") || !name.starts_with(b"."))
                });
                next.extend(names.map(|n| dir.join(n)).take(INVENTORY_FILES + 1));
            }
            next.sort();
            if next.len() > INVENTORY_FILES {
                next.truncate(INVENTORY_FILES);
                let wrong = Wrong::Limit { limit: "INVENTORY_FILES", value: INVENTORY_FILES };
                self.found.wrong(self.at(kind, by), wrong);
            }
            all = next;
        }
        all
    }

    pub(super) fn clustershell_usual(&mut self) -> Result<(), InventoryError> {
        let Settings { home, config, clustershell, etc, .. } = self.settings;
        let dirs = [
            Some(etc.join("clustershell")),
            home.as_ref().map(|h| h.join(".local/etc/clustershell")),
            config.as_ref().map(|c| c.join("clustershell")),
            clustershell.clone(),
        ];
        // The last one is the one that counts.
        match dirs.into_iter().rev().flatten().map(|d| d.join("groups.conf")).find(|p| p.is_file()) {
            Some(path) => self.clustershell(&path),
            None => Ok(()),
        }
    }

    /// One of ClusterShell's files, and those that it names.
    pub(super) fn clustershell(&mut self, path: &Path) -> Result<(), InventoryError> {
        let (text, what) = (read(path)?, path.display().to_string());
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        self.looked(Kind::ClusterShell, &what);
        match path.extension().and_then(|e| e.to_str()) {
            Some("yaml" | "yml") => self.found.and(clustershell::yaml(&text, &what)),
            Some("conf") => self.clustershell_conf(&text, path),
            _ => self.found.and(clustershell::flat(&text, &stem, &what)),
        }
        Ok(())
    }

    fn clustershell_conf(&mut self, text: &str, path: &Path) {
        let Conf { default, autodir, confdir, upcalls } = clustershell::conf(text);
        let (kind, what) = (Kind::ClusterShell, path.display().to_string());
        let dir = path.parent().unwrap_or(Path::new(".")).to_owned();
        let place = |d: &String| PathBuf::from(d.replace("$CFGDIR", &dir.to_string_lossy()));
        let mut done = BTreeSet::new();
        let mut wanted: Vec<(String, Place)> =
            upcalls.into_iter().map(|(s, n)| (s, Text { kind, what: &what }.at(n))).collect();
        for conf in confdir.iter().map(place) {
            for file in self.matching(&conf.join("*.conf"), kind, &what) {
                let Some(text) = self.included(&file, kind, &what, 1) else { continue };
                let name = file.display().to_string();
                wanted.extend(
                    clustershell::conf(&text).upcalls.into_iter().map(|(s, n)| (s, Text { kind, what: &name }.at(n))),
                );
            }
        }
        for auto in autodir.iter().map(place).collect::<BTreeSet<_>>() {
            for (pattern, is_yaml) in [("*.yaml", true), ("*.cfg", false)] {
                for file in self.matching(&auto.join(pattern), kind, &what) {
                    let Some(text) = self.included(&file, kind, &what, 1) else { continue };
                    let name = file.display().to_string();
                    let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
                    let found = if is_yaml {
                        clustershell::yaml(&text, &name)
                    } else {
                        clustershell::flat(&text, &stem, &name)
                    };
                    done.extend(found.groups.iter().map(|g| g.source.clone()));
                    self.found.and(found);
                }
            }
        }
        for (source, place) in wanted.into_iter().filter(|(s, _)| !done.contains(s)) {
            self.found.wrong(place, Wrong::Upcall(source));
        }
        self.found.default_groups = self.found.default_groups.take().or(default);
    }
}

/// A file of a site as text, within the limit for such files.
///
/// # Errors
/// It cannot be read, or is larger.
pub fn read(path: &Path) -> Result<String, InventoryError> {
    let failed = |source| InventoryError::File { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(INVENTORY_FILE as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > INVENTORY_FILE {
        return Err(InventoryError::Large(path.to_owned()));
    }
    let text = linerate_formats::text::normalise(&bytes);
    Ok(String::from_utf8_lossy(&text).into_owned())
}
