//! What the operator notes of one plan on one node.

use super::file::Dir;
use super::{StoreError, Stored};
use linerate_remedy::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The form of records.
const SCHEMA: &str = "linerate.run/1";
/// Longest record.
const MOST: u64 = 16 << 20;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    schema: String,
    node: String,
    plan: String,
    steps: Vec<String>,
    who: String,
    /// Nanoseconds since 1970.
    since: u64,
    /// What was there before acts that are made beside the node, as this operator's side saw it: by `STEP/NUMBER`.
    before: BTreeMap<String, String>,
    /// How it ended, where that was seen from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<End>,
}

/// How a plan ended on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Every step was shown to be effective. It can be undone.
    Proven,
    /// It was undone: nothing of it is left to undo.
    Undone,
}

/// The end of a plan on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) how: How,
    /// Nanoseconds since 1970.
    pub(super) when: u64,
}

/// One plan on one node.
#[derive(Debug)]
pub struct Record {
    form: Mutex<Form>,
    /// Where it is written; `None`: it is kept in memory alone.
    file: Option<(Dir, String)>,
}

/// A record as it was before the plan was begun again.
#[derive(Debug)]
pub(crate) struct Earlier(Option<Vec<u8>>);

/// Nanoseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

impl Record {
    /// A record that nobody finds again: for who holds the plan's file and has nothing noted, and for tests.
    #[must_use]
    pub fn in_memory(node: &str, plan: &Plan, steps: &[String]) -> Record {
        Record { form: Mutex::new(form(node, plan, steps, "")), file: None }
    }

    pub(super) fn read(dir: &Dir, name: &str) -> Stored<Option<Record>> {
        let Some(bytes) = dir.read(name, MOST)? else { return Ok(None) };
        let damaged = |why: String| StoreError::Damaged { path: dir.path(name), why };
        let form: Form = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if form.schema != SCHEMA {
            return Err(damaged(format!("it is a {:?}", form.schema)));
        }
        if !name.starts_with(&form.plan) {
            return Err(damaged(format!("it is of plan {}", form.plan)));
        }
        Ok(Some(Record { form: Mutex::new(form), file: Some((dir.again()?, name.to_owned())) }))
    }

    /// A record that is not yet written: [`Record::begin`] does. It knows what an earlier one of the same plan on the same node knew.
    pub(super) fn prepared(
        dir: &Dir,
        name: &str,
        node: &str,
        plan: &Plan,
        steps: &[String],
        who: &str,
    ) -> Stored<Record> {
        let mut new = form(node, plan, steps, who);
        if let Some(earlier) = Record::read(dir, name)? {
            let earlier = earlier.form();
            new.before.clone_from(&earlier.before);
            if steps.is_empty() {
                new.steps.clone_from(&earlier.steps);
            }
        }
        Ok(Record { form: Mutex::new(new), file: Some((dir.again()?, name.to_owned())) })
    }

    /// Writes it, with these steps, before the plan is begun on the node: from now on it is the one that was begun there last. Called while this
    /// session holds the node. What was there instead is returned, for [`Record::withdraw`].
    pub(crate) fn begin(&self, steps: &[String]) -> Stored<Earlier> {
        let earlier = match &self.file {
            Some((dir, name)) => dir.read(name, MOST)?,
            None => None,
        };
        {
            let mut form = self.form();
            form.since = now();
            form.ended = None;
            steps.clone_into(&mut form.steps);
        }
        self.write()?;
        Ok(Earlier(earlier))
    }

    /// The plan was not begun: as before.
    pub(crate) fn withdraw(&self, earlier: Earlier) -> Stored<()> {
        match (&self.file, earlier.0) {
            (Some((dir, name)), Some(bytes)) => dir.write(name, &bytes),
            (Some((dir, name)), None) => dir.remove(name),
            (None, _) => Ok(()),
        }
    }

    /// The plan ended on this node: from now on the record may grow old.
    pub(crate) fn end(&self, how: How) -> Stored<()> {
        self.form().ended = Some(End { how, when: now() });
        self.write()
    }

    /// How the plan ended, as far as that was seen from here.
    pub(super) fn ended(&self) -> Option<End> {
        self.form().ended
    }

    fn form(&self) -> MutexGuard<'_, Form> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> Stored<()> {
        let Some((dir, name)) = &self.file else { return Ok(()) };
        let bytes = serde_json::to_vec(&*self.form())
            .map_err(|e| StoreError::Io { path: dir.path(name), why: e.to_string() })?;
        dir.write(name, &bytes)
    }

    /// Node, as the operator named it.
    #[must_use]
    pub fn node(&self) -> String {
        self.form().node.clone()
    }

    /// The plan's digest.
    #[must_use]
    pub fn plan(&self) -> String {
        self.form().plan.clone()
    }

    /// Steps that it was begun with; empty: all.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        self.form().steps.clone()
    }

    /// When, in nanoseconds since 1970.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.form().since
    }

    /// What was there before an act that is made beside the node.
    pub(crate) fn before(&self, step: &str, number: usize) -> Option<String> {
        self.form().before.get(&format!("{step}/{number}")).cloned()
    }

    /// Notes what is there before an act that is made beside the node. `again`: it was announced before, and what was noted then stays.
    pub(crate) fn note(&self, step: &str, number: usize, before: &str, again: bool) -> Stored<()> {
        {
            let mut form = self.form();
            let noted = form.before.entry(format!("{step}/{number}")).or_insert_with(|| before.to_owned());
            if !again {
                before.clone_into(noted);
            }
        }
        self.write()
    }
}

fn form(node: &str, plan: &Plan, steps: &[String], who: &str) -> Form {
    Form {
        schema: SCHEMA.to_owned(),
        node: node.to_owned(),
        plan: plan.hash.clone(),
        steps: steps.to_vec(),
        who: who.to_owned(),
        since: now(),
        before: BTreeMap::new(),
        ended: None,
    }
}
