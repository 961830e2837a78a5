//! Sentences about many devices, each said once.

/// Devices that a sentence names, at most.
const NAMED: usize = 8;

/// Sentences in the order in which they first came, with the devices that they are about.
#[derive(Debug, Default)]
pub(super) struct Notes {
    list: Vec<(String, Vec<String>)>,
}

impl Notes {
    /// A sentence of its own.
    pub(super) fn say(&mut self, what: impl Into<String>) {
        self.add(what.into(), None);
    }

    /// A sentence about a device.
    pub(super) fn of(&mut self, what: &str, device: impl std::fmt::Display) {
        self.add(what.to_owned(), Some(device.to_string()));
    }

    fn add(&mut self, what: String, device: Option<String>) {
        match self.list.iter_mut().find(|(w, _)| *w == what) {
            Some((_, devices)) => devices.extend(device.filter(|d| !devices.contains(d))),
            None => self.list.push((what, device.into_iter().collect())),
        }
    }

    /// The sentences, with their devices in front.
    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |(what, devices): (String, Vec<String>)| {
            if devices.is_empty() {
                return what;
            }
            let named = devices.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            match devices.len().saturating_sub(NAMED) {
                0 => format!("{named}: {what}"),
                more => format!("{named} and {more} more: {what}"),
            }
        };
        self.list.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_for_many_devices() {
        let mut n = Notes::default();
        (0..10).for_each(|i| n.of("its link is not known", format!("d{i}")));
        n.of("its link is not known", "d3");
        n.say("alone");
        n.say("alone");
        let said = n.sentences();
        assert_eq!(said, ["d0, d1, d2, d3, d4, d5, d6, d7 and 2 more: its link is not known", "alone"]);
    }
}
