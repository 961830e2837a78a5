//! What the OSU micro-benchmarks print (`osu_bw`, `osu_latency`, `osu_allreduce`, …): a title, the names of columns, a row for each size.
//!
//! Units, by `osu_bw.c` and `osu_util_mpi.c`: `MB/s` are 10⁶ bytes per second, latencies microseconds, averaged over the iterations.
//! <https://mvapich.cse.ohio-state.edu/benchmarks/>

use crate::bounds::{LeftOut, Limit};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, keep, recorded};
use crate::refusal::Refusals;
use crate::text::{self, At};
use crate::tool::{Gives, Mark, Tool, seen};
use serde::Serialize;
use smol_str::SmolStr;

/// The OSU micro-benchmarks.
pub const TOOL: Tool = Tool {
    name: "osu",
    called: "OSU micro-benchmarks",
    run: "mpirun -np 2 osu_bw -d cuda D D",
    gives: Gives::NoFacts("a result of the OSU micro-benchmarks"),
    marks: &[Mark::aside(|line| title(line).is_some()).begins(&["# OSU "])],
    words: &["# OSU "],
    read: Some(|b| seen(parse(b))),
    samples: &["# OSU MPI-CUDA Bandwidth Test v7.5\n", "# OSU MPI Latency Test\n# Size          Latency (us)\n"],
    ..Tool::NONE
};

/// One run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// `MPI-CUDA Bandwidth Test`.
    pub title: Option<At<SmolStr>>,
    /// Release.
    pub version: Option<SmolStr>,
    /// `MPI_CHAR`.
    pub datatype: Option<SmolStr>,
    /// Columns after the size.
    pub columns: Vec<Column>,
    /// Rows, in the order of the text.
    pub rows: Vec<Row>,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Lines that look like a row and are not one.
    pub refused: Refusals,
    /// What is beyond limits.
    pub left_out: Vec<LeftOut>,
}
recorded!(Run, Limit::BENCH_RUNS);

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// 10⁶ bytes per second.
    Bandwidth,
    /// Messages per second.
    Messages,
    /// Microseconds; the mean of the ranks in a collective.
    Latency,
    /// Microseconds, of the fastest rank.
    LatencyMin,
    /// Microseconds, of the slowest rank.
    LatencyMax,
    /// `Pass` or `Fail`.
    Validation,
    /// Something else: iterations, the parts of a collective that does not block.
    Other,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Size of a message, bytes.
    pub size: u64,
    /// A value for each column; `None` where it is no number.
    pub values: Vec<Option<f64>>,
    /// The data were compared, and differ.
    pub is_wrong: bool,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    text::read(bytes, Reader::line).0.finish()
}

/// Reads lines as they come.
#[derive(Debug, Default)]
pub struct Reader(Recorder<Run>);

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line).map(str::trim_start) else { return };
        if let Some((name, version)) = title(line) {
            self.0.close();
            let run = self.0.touch(number);
            run.title = Some(At::new(name.into(), number));
            run.version = version.map(Into::into);
        } else if !self.0.is_begun() {
        } else if let Some(rest) = line.strip_prefix("# Datatype: ") {
            self.0.touch(number).datatype = Some(rest.trim_end_matches('.').chars().take(64).collect());
        } else if let Some(rest) = line.strip_prefix("# Size ") {
            self.0.touch(number).columns = columns(rest);
        } else if !self.0.run.columns.is_empty() {
            self.row(number, line);
        }
    }

    fn row(&mut self, number: u32, line: &str) {
        let mut words = line.split_whitespace();
        let Some(size) = words.next().and_then(|w| w.parse::<u64>().ok()) else { return };
        let words: Vec<&str> = words.take(self.0.run.columns.len() + 1).collect();
        if words.len() != self.0.run.columns.len() {
            let why = Why::Columns { has: words.len(), cells: "values", columns: self.0.run.columns.len() };
            return self.0.refuse(number, why);
        }
        let run = self.0.touch(number);
        let number_of = |w: &&str| w.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        let is_wrong = run.columns.iter().zip(&words).any(|(c, w)| *c == Column::Validation && *w == "Fail");
        let row = Row { line: number, size, values: words.iter().map(number_of).collect(), is_wrong };
        keep(&mut run.rows, row, Limit::BENCH_ROWS, number, &mut run.left_out);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.0.close();
        self.0.finish()
    }
}

/// `# OSU MPI-CUDA Bandwidth Test v7.5`: the name, and the release.
fn title(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.strip_prefix("# OSU ").filter(|r| r.len() < 200)?;
    match rest.rsplit_once(" v") {
        Some((name, version)) if name.ends_with(" Test") => Some((name, Some(version))),
        _ => rest.ends_with(" Test").then_some((rest, None)),
    }
}

/// Names with single spaces in them, between more than one.
fn columns(header: &str) -> Vec<Column> {
    const MOST: usize = 16;
    let names = header.split("  ").map(str::trim).filter(|n| !n.is_empty());
    let of = |name: &str| match name.replace(' ', "").as_str() {
        "Bandwidth(MB/s)" | "MB/s" => Column::Bandwidth,
        "Messages/s" => Column::Messages,
        "Latency(us)" | "AvgLatency(us)" => Column::Latency,
        "MinLatency(us)" => Column::LatencyMin,
        "MaxLatency(us)" => Column::LatencyMax,
        "Validation" => Column::Validation,
        _ => Column::Other,
    };
    names.map(of).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
$ srun -N2 osu_alltoall --validation -f
[1,0]<stdout>:# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.5
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation
    1                      22.26             20.00             25.00        1000              Pass
    2                      22.08             20.50             25.50        1000              Fail
    4                      22.1
# OSU MPI Bandwidth Test
# Size      Bandwidth (MB/s)
1048576             12345.67
";

    #[test]
    fn tables_are_read_by_their_columns() {
        use Column::{Bandwidth, Latency, LatencyMax, LatencyMin, Other, Validation};
        let runs = parse(TEXT.as_bytes());
        let [all, bw] = runs.as_slice() else { panic!("{runs:#?}") };
        assert_eq!((all.version.as_deref(), all.datatype.as_deref()), (Some("7.5"), Some("MPI_CHAR")));
        assert_eq!(all.columns, [Latency, LatencyMin, LatencyMax, Other, Validation]);
        assert_eq!((all.rows[1].size, all.rows[1].values[0], all.rows[1].is_wrong), (2, Some(22.08), true));
        assert_eq!((all.rows.len(), all.refused.kept[0].line, all.lines), (2, 7, (2, 7)));
        assert_eq!(bw.title.as_ref().map(|t| t.value.as_str()), Some("MPI Bandwidth Test"));
        assert_eq!((bw.columns.as_slice(), bw.rows[0].values[0]), ([Bandwidth].as_slice(), Some(12345.67)));
    }

    #[test]
    fn prose_and_other_tables_are_none() {
        for text in ["The # OSU MPI Bandwidth Test v7.5 prints\n1 2.0\n", "# Size  Bandwidth (MB/s)\n1 2.0\n", ""] {
            assert_eq!(parse(text.as_bytes()), []);
        }
    }
}
