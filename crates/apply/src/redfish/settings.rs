//! Writing settings that wait for the next start, and reading all that can be seen of it.

use super::client::{answer, attributes, text};
use super::error::short;
use super::standing::same;
use super::wire::words;
use super::{Attributes, Bios, Client, Error, Method, Registry, Request, Response, Transport};
use serde_json::{Value, json};
use std::time::Duration;

/// What a service did with a wish, by its own words and by what is read.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// The wanted attributes as they wait for the next start; `None`: the service does not show what waits.
    pub pending: Option<Attributes>,
    /// The wanted attributes as they are in force.
    pub active: Attributes,
    /// The task that the service made of it.
    pub task: Option<Task>,
}

/// A task of the service.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// Path.
    pub path: String,
    /// `TaskState`, as last seen: `Completed`, `Pending`, `Scheduled`, …
    pub state: String,
}

/// How long a task is watched. One that waits for the reboot will not end before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Looks at the task.
    pub looks: u32,
    /// Time between them.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { looks: 10, pause: Duration::from_secs(2) }
    }
}

impl<T: Transport> Client<T> {
    /// Attributes as they wait for the next start, where the service shows them.
    pub(crate) fn pending(&self, bios: &Bios) -> Option<Attributes> {
        let path = bios.settings.as_deref()?;
        attributes(path, &self.get(path).ok()?).ok()
    }

    /// Writes attributes to the settings that wait for the next start, and reads what came of it. Attributes that are not there, are
    /// read-only, or do not take the value are refused before anything is sent; what is in force already is not sent again.
    ///
    /// # Errors
    /// Nothing was written ([`Error::Refused`], [`Error::Changed`], an answer of 4xx), or it is not known what the service did.
    pub fn set(
        &self,
        bios: &Bios,
        registry: Option<&Registry>,
        wanted: &Attributes,
        patience: Patience,
    ) -> Result<Outcome, Error> {
        check(bios, wanted)?;
        registry.map_or(Ok(()), |r| r.check(wanted))?;
        let Some(settings) = bios.settings.as_deref() else {
            let what = "no @Redfish.Settings here: this BIOS can only be read; set it by hand in the setup".to_owned();
            return Err(Error::Missing { path: bios.path.clone(), what });
        };
        let request = Request::get(settings);
        let response = self.send(&request)?;
        let waits = response.json(&request)?;
        if held(bios, &waits, wanted) {
            return self.read(bios, wanted);
        }
        let if_match = etag(&response, &waits);
        let mut body = json!({ "Attributes": wanted });
        if let Some(when) = bios.apply_times.iter().find(|t| *t == "OnReset") {
            body["@Redfish.SettingsApplyTime"] =
                json!({ "@odata.type": "#Settings.v1_1_0.PreferredApplyTime", "ApplyTime": when });
        }
        let request = Request { method: Method::Patch, path: settings.to_owned(), body: Some(body), if_match };
        let response = self.send(&request)?;
        if response.status == 412 {
            return Err(Error::Changed { path: settings.to_owned() });
        }
        response.good(&request)?;
        let task = match response.status {
            202 => self.watch(settings, &response, patience).map_err(Error::after_sending)?,
            _ => None,
        };
        let mut seen = self.read(bios, wanted).map_err(Error::after_sending)?;
        seen.task = task;
        Ok(seen)
    }

    /// How the wanted attributes stand now. Asked again after the reboot: the active ones decide.
    ///
    /// # Errors
    /// The attributes in force cannot be read.
    pub fn read(&self, bios: &Bios, wanted: &Attributes) -> Result<Outcome, Error> {
        let chosen = |all: Attributes| all.into_iter().filter(|(k, _)| wanted.contains_key(k)).collect();
        let active = chosen(attributes(&bios.path, &self.get(&bios.path)?)?);
        // What waits is a help, not the proof: some services do not show it.
        let pending = bios.settings.as_deref().and_then(|p| attributes(p, &self.get(p).ok()?).ok()).map(chosen);
        Ok(Outcome { pending, active, task: None })
    }

    fn watch(&self, place: &str, response: &Response, patience: Patience) -> Result<Option<Task>, Error> {
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let path = match (response.header("location"), text(&body, "@odata.id")) {
            (Some(link), _) => self.path(place, link)?,
            (None, Some(link)) => self.path(place, &link)?,
            // Accepted, and nothing to ask about it.
            (None, None) => return Ok(None),
        };
        let mut state = "Unknown".to_owned();
        for look in 0..patience.looks.max(1) {
            if look > 0 {
                std::thread::sleep(patience.pause);
            }
            let request = Request::get(&path);
            let response = self.send(&request)?;
            // The monitor goes away, or answers as the request would have, when the task is done.
            if matches!(response.status, 204 | 404 | 410) {
                return Ok(Some(Task { path, state: "Completed".to_owned() }));
            }
            let value = response.json(&request)?;
            state = match text(&value, "TaskState") {
                Some(state) => short(&state),
                None if response.status == 202 => "Running".to_owned(),
                None => "Completed".to_owned(),
            };
            match state.as_str() {
                "Exception" | "Killed" | "Cancelled" | "Interrupted" => {
                    let why = words(&response.body).map_or("no message".to_owned(), |w| short(&w));
                    return Err(Error::Task { path, state, why });
                }
                // These wait for the reboot.
                "Completed" | "Pending" | "Scheduled" | "Suspended" => break,
                _ => {}
            }
        }
        Ok(Some(Task { path, state }))
    }
}

/// Attributes must be there, with a value of the same kind.
fn check(bios: &Bios, wanted: &Attributes) -> Result<(), Error> {
    if wanted.is_empty() {
        return Err(answer(&bios.path, "nothing is wanted"));
    }
    for (name, value) in wanted {
        let refused = |why: String| Err(Error::Refused { attribute: name.clone(), why });
        if value.is_null() || value.is_array() || value.is_object() {
            return refused(format!("{} is not a value of an attribute", short(&value.to_string())));
        }
        match bios.attributes.get(name) {
            None => return refused("this BIOS has no such attribute".to_owned()),
            Some(now) if now.is_null() || std::mem::discriminant(now) == std::mem::discriminant(value) => {}
            Some(now) => {
                let why = format!(
                    "{} has another type than {}, which is in force",
                    short(&value.to_string()),
                    short(&now.to_string())
                );
                return refused(why);
            }
        }
    }
    Ok(())
}

/// All is in force, and it is shown that nothing else waits: there is nothing to write.
fn held(bios: &Bios, waits: &Value, wanted: &Attributes) -> bool {
    wanted.iter().all(|(name, value)| {
        let shown = waits.get("Attributes").and_then(|a| a.get(name)).is_some_and(|v| same(v, value));
        shown && bios.attributes.get(name).is_some_and(|v| same(v, value))
    })
}

/// What names this version of a resource, where it can be sent back.
fn etag(response: &Response, value: &Value) -> Option<String> {
    let found = response.header("etag").map(str::to_owned).or_else(|| text(value, "@odata.etag"))?;
    let plain = |b: u8| b.is_ascii_graphic() || b == b' ';
    (!found.is_empty() && found.len() <= 256 && found.bytes().all(plain)).then_some(found)
}
