//! From the service's root to a system's BIOS.

use super::error::short;
use super::{Attributes, Error, Origin, Registry, Request, Response, Transport};
use serde_json::Value;

/// The service's root.
const ROOT: &str = "/redfish/v1/";
/// Members of a collection that are looked at.
const MOST: usize = 256;
/// Attributes of one BIOS.
const MOST_ATTRIBUTES: usize = 8192;

/// A Redfish service.
#[derive(Debug, Clone)]
pub struct Client<T> {
    origin: Origin,
    transport: T,
}

/// A computer.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Its path.
    pub path: String,
    /// `Id`.
    pub id: String,
    /// `UUID`, in lower case.
    pub uuid: Option<String>,
    /// `UUID`, `SerialNumber`, `Name`, `HostName`: what it can be known by.
    pub names: Vec<String>,
    /// `PowerState`.
    pub power: Option<String>,
    /// Path of its BIOS.
    pub bios: Option<String>,
    /// Path that takes `ComputerSystem.Reset`.
    pub reset: Option<String>,
    /// Kinds of reset that it says it takes; empty: it does not say.
    pub resets: Vec<String>,
}

/// A system's BIOS settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Bios {
    /// Path.
    pub path: String,
    /// Attributes in force.
    pub attributes: Attributes,
    /// Path of the settings that wait; `None`: this BIOS can only be read.
    pub settings: Option<String>,
    /// When the service can apply them (`OnReset`, `Immediate`, …); empty: it does not say.
    pub apply_times: Vec<String>,
    /// `AttributeRegistry`: the name of the description of the attributes.
    pub registry: Option<String>,
}

impl<T: Transport> Client<T> {
    /// A client of one service.
    #[must_use]
    pub fn new(origin: Origin, transport: T) -> Client<T> {
        Client { origin, transport }
    }

    /// All systems of the service.
    ///
    /// # Errors
    /// The service cannot be read.
    pub fn systems(&self) -> Result<Vec<System>, Error> {
        let root = self.get(ROOT)?;
        let Some(collection) = self.link(ROOT, root.get("Systems"))? else {
            return Err(missing(ROOT, "no Systems here: is this a BMC of a server?"));
        };
        self.members(&collection)?.iter().map(|path| self.system_at(path)).collect()
    }

    /// The system that is meant: by its id, UUID, serial number or name; without a word the only one.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn system(&self, wanted: Option<&str>) -> Result<System, Error> {
        let mut all = self.systems()?;
        let known: Vec<String> = all.iter().map(|s| s.id.clone()).collect();
        if let Some(word) = wanted {
            all.retain(|s| s.id == word || s.names.iter().any(|n| n.eq_ignore_ascii_case(word)));
        }
        if all.len() > 1 || all.is_empty() {
            let what = format!("{} systems match; name one of: {}", all.len(), short(&known.join(", ")));
            return Err(missing(ROOT, &what));
        }
        all.pop().ok_or_else(|| missing(ROOT, "no system"))
    }

    fn system_at(&self, path: &str) -> Result<System, Error> {
        let value = self.get(path)?;
        let action = value.pointer("/Actions/#ComputerSystem.Reset");
        let target = action.and_then(|a| a.get("target")).and_then(Value::as_str);
        Ok(System {
            path: path.to_owned(),
            id: text(&value, "Id").ok_or_else(|| answer(path, "a system without an Id"))?,
            uuid: text(&value, "UUID").map(|u| u.to_ascii_lowercase()),
            names: ["UUID", "SerialNumber", "Name", "HostName"].iter().filter_map(|k| text(&value, k)).collect(),
            power: text(&value, "PowerState"),
            bios: self.link(path, value.get("Bios"))?,
            reset: target.map(|t| self.origin.path(path, t)).transpose()?,
            resets: action.map(|a| strings(a.get("ResetType@Redfish.AllowableValues"))).unwrap_or_default(),
        })
    }

    /// The BIOS settings in force.
    ///
    /// # Errors
    /// The system has none, or they cannot be read.
    pub fn bios(&self, system: &System) -> Result<Bios, Error> {
        let Some(path) = system.bios.as_deref() else {
            return Err(missing(
                &system.path,
                "no Bios here: this service does not offer its settings; set them by hand in the setup",
            ));
        };
        let value = self.get(path)?;
        let waiting = value.get("@Redfish.Settings");
        Ok(Bios {
            path: path.to_owned(),
            attributes: attributes(path, &value)?,
            settings: self.link(path, waiting.and_then(|s| s.get("SettingsObject")))?,
            apply_times: waiting.map(|s| strings(s.get("SupportedApplyTimes"))).unwrap_or_default(),
            registry: text(&value, "AttributeRegistry"),
        })
    }

    /// The description of the attributes, where the service has it.
    ///
    /// # Errors
    /// It links elsewhere, or is no description.
    pub fn registry(&self, bios: &Bios) -> Result<Option<Registry>, Error> {
        let Some(name) = bios.registry.as_deref() else { return Ok(None) };
        let root = self.get(ROOT)?;
        let Some(collection) = self.link(ROOT, root.get("Registries"))? else { return Ok(None) };
        let last = |p: &str| p.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let mut files = self.members(&collection)?;
        // Its own name first; services also file it under another name, so the document's own name decides.
        files.retain(|f| last(f) == name || last(f).to_ascii_lowercase().contains("bios"));
        files.sort_by_key(|f| last(f) != name);
        for file in files.iter().take(8) {
            let value = self.get(file)?;
            let places = value.get("Location").and_then(Value::as_array).into_iter().flatten();
            let english = |l: &&Value| text(l, "Language").is_none_or(|w| w.starts_with("en") || w == "default");
            let Some(uri) = places.take(32).find(english).and_then(|l| text(l, "Uri")) else { continue };
            let uri = self.origin.path(file, &uri)?;
            let document = self.get(&uri)?;
            if last(file) == name || text(&document, "Id").as_deref() == Some(name) {
                return Registry::parse(&uri, &document).map(Some);
            }
        }
        Ok(None)
    }

    pub(super) fn get(&self, path: &str) -> Result<Value, Error> {
        let request = Request::get(path);
        self.send(&request)?.json(&request)
    }

    pub(super) fn send(&self, request: &Request) -> Result<Response, Error> {
        self.transport.send(request)
    }

    /// The path that `{"@odata.id": …}` names.
    pub(super) fn link(&self, place: &str, value: Option<&Value>) -> Result<Option<String>, Error> {
        match value.and_then(|v| v.get("@odata.id")) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(link)) => self.origin.path(place, link).map(Some),
            Some(_) => Err(answer(place, "an @odata.id that is not text")),
        }
    }

    /// The path that a header or a member names.
    pub(super) fn path(&self, place: &str, link: &str) -> Result<String, Error> {
        self.origin.path(place, link)
    }

    fn members(&self, collection: &str) -> Result<Vec<String>, Error> {
        let mut all = Vec::new();
        let mut page = Some(collection.to_owned());
        // A collection may come in pages; one that goes round is cut off.
        for _ in 0..16 {
            let Some(path) = page.take() else { break };
            let value = self.get(&path)?;
            let listed = value.get("Members").and_then(Value::as_array);
            for member in listed.ok_or_else(|| answer(&path, "a collection without Members"))?.iter().take(MOST) {
                all.extend(self.link(&path, Some(member))?);
            }
            page = text(&value, "Members@odata.nextLink").map(|next| self.origin.path(&path, &next)).transpose()?;
            if all.len() >= MOST {
                break;
            }
        }
        all.truncate(MOST);
        Ok(all)
    }
}

/// The `Attributes` of a resource.
pub(super) fn attributes(path: &str, value: &Value) -> Result<Attributes, Error> {
    let Some(all) = value.get("Attributes").and_then(Value::as_object) else {
        return Err(answer(path, "no Attributes here"));
    };
    if all.len() > MOST_ATTRIBUTES {
        return Err(answer(path, "more attributes than any BIOS has"));
    }
    // What is neither a word, a number nor a truth is no attribute's value.
    let plain = all.iter().filter(|(_, v)| !v.is_object() && !v.is_array());
    Ok(plain.map(|(k, v)| (k.clone(), v.clone())).collect())
}

pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let listed = value.and_then(Value::as_array).into_iter().flatten();
    listed.take(64).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn missing(path: &str, what: &str) -> Error {
    Error::Missing { path: path.to_owned(), what: what.to_owned() }
}

pub(super) fn answer(path: &str, what: &str) -> Error {
    Error::Answer { path: path.to_owned(), what: what.to_owned() }
}
