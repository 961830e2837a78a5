//! What a run of the matrix found, in a line and as a page of docs/.

use super::fault::{Fault, Then};

/// A case, and what was wrong with its end.
pub(super) struct Case {
    pub(super) boundary: usize,
    pub(super) fault: Fault,
    pub(super) then: Then,
    pub(super) wrong: Option<String>,
}

/// All cases of a run.
pub(super) struct Found {
    pub(super) boundaries: usize,
    pub(super) acts: usize,
    pub(super) cases: Vec<Case>,
    pub(super) seconds: u64,
}

const KINDS: [(Fault, &str, &str); 5] = [
    (Fault::Killed, "kills", "`kill -9` of linerate on the node"),
    (Fault::PowerCut, "power cuts", "the machine stops at once, by its own reset or by the end of QEMU"),
    (Fault::Full, "full disks", "from then on, the disk is full"),
    (
        Fault::ReadOnly,
        "read-only filesystems",
        "from then on, the filesystem is read-only, as the kernel makes it when a disk fails",
    ),
    (Fault::Cut, "connections cut", "the SSH connection is cut, and the answer is lost"),
];

impl Found {
    /// Descriptions of the cases that ended wrongly.
    pub(super) fn wrong(&self) -> Vec<String> {
        let told = |c: &Case| {
            let why = c.wrong.as_ref()?;
            Some(format!("boundary {}, {:?}, {:?}: {why}", c.boundary, c.fault, c.then))
        };
        self.cases.iter().filter_map(told).collect()
    }

    fn of(&self, fault: Fault) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |c| c.fault == fault)
    }

    /// One line.
    pub(super) fn line(&self) -> String {
        let each: Vec<String> = KINDS.iter().map(|(f, name, _)| format!("{} {name}", self.of(*f).count())).collect();
        format!(
            "{} faults injected at {} boundaries of {} acts: {}; {} wrong; {} s",
            self.cases.len(),
            self.boundaries,
            self.acts,
            each.join(", "),
            self.wrong().len(),
            self.seconds
        )
    }

    /// docs/faults.md.
    pub(super) fn page(&self) -> String {
        let row = |(fault, _, what): &(Fault, &str, &str)| {
            let of = |then: Then| self.of(*fault).filter(|c| c.then == then).count();
            let wrong = self.of(*fault).filter(|c| c.wrong.is_some()).count();
            format!("| {what} | {} | {} | {wrong} |", of(Then::Resume), of(Then::Undo))
        };
        let rows: Vec<String> = KINDS.iter().map(row).collect();
        let wrong: String = self.wrong().iter().map(|w| format!("\n- {}", w.replace('\n', " "))).collect();
        let wrong = if wrong.is_empty() { String::new() } else { format!("\nWrong:\n{wrong}\n") };
        format!(
            "# The fault matrix\n\n\
             Written by `cargo xtask lab disk --full apply-faults`; every figure below is from one run of it.\n\n\
             A plan of {} acts is made on a Debian guest: files new, changed and removed, programs that write others, a module, a value of the\n\
             kernel, an entry of GRUB that is booted once. The part of `linerate` that runs on the node counts {} boundaries on the way, from reading\n\
             the plan to the last synced line of its journal. It is stopped at each of them, and something breaks. Then the plan is resumed\n\
             and its end state checked, or it is undone. Both end with a rollback, after which every file below `/etc` and `/boot` must\n\
             have the same content, permissions and owner as at the start.\n\n\
             | what breaks | resumed, then undone | undone at once | wrong |\n|---|---|---|---|\n{}\n{wrong}\n\
             {} faults in {} s. Power cuts are made at every eighth boundary, the others at each.\n",
            self.acts,
            self.boundaries,
            rows.join("\n"),
            self.cases.len(),
            self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wrong_is_told() {
        let case = |boundary, then, wrong: Option<&str>| Case {
            boundary,
            fault: Fault::Full,
            then,
            wrong: wrong.map(str::to_owned),
        };
        let cases = vec![case(1, Then::Resume, None), case(2, Then::Undo, Some("a file\nis not as it was"))];
        let found = Found { boundaries: 2, acts: 1, cases, seconds: 9 };
        assert!(
            found.line().contains("2 faults injected at 2 boundaries of 1 acts: 0 kills")
                && found.line().ends_with("1 wrong; 9 s")
        );
        let page = found.page();
        assert!(page.contains("the disk is full | 1 | 1 | 1 |"), "{page}");
        assert!(page.contains("- boundary 2, Full, Undo: a file is not as it was\n"), "{page}");
    }
}
