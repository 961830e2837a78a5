//! Which lines of its file the lines of a text are: texts are cut out of files, and evidence names the file's own line.

/// Runs of lines that follow each other in the file, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The first line of each run, in the text and in the file, from 1; both ascend. What is before the first is the same in both.
    runs: Vec<(u32, u32)>,
    /// Lines that were added.
    len: u32,
}

impl Lines {
    /// Those of a text that so many lines of its file stand above.
    #[must_use]
    pub fn below(above: u64) -> Self {
        let mut out = Lines::default();
        if above > 0 {
            out.add(above.saturating_add(1));
        }
        out
    }

    /// The text has one more line, which is this one of the file.
    pub(crate) fn add(&mut self, in_file: u64) {
        self.len = self.len.saturating_add(1);
        let in_file = u32::try_from(in_file).unwrap_or(u32::MAX);
        if self.in_file(self.len) != in_file {
            self.runs.push((self.len, in_file));
        }
    }

    /// The line of the file that a line of the text is.
    #[must_use]
    pub fn in_file(&self, line: u32) -> u32 {
        let after = self.runs.partition_point(|(own, _)| *own <= line);
        let run = after.checked_sub(1).and_then(|i| self.runs.get(i));
        run.map_or(line, |(own, file)| file.saturating_add(line.saturating_sub(*own)))
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_of_runs() {
        assert_eq!((Lines::default().in_file(7), Lines::below(0).in_file(7), Lines::below(40).in_file(2)), (7, 7, 42));
        let mut some = Lines::default();
        [3, 4, 10, 11, 12, 20].into_iter().for_each(|l| some.add(l));
        assert_eq!((1..=7).map(|l| some.in_file(l)).collect::<Vec<_>>(), [3, 4, 10, 11, 12, 20, 21]);
        assert_eq!(some.runs.len(), 3);
    }
}
