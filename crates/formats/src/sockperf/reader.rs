//! Line by line: what belongs to which run.

use super::run::{Mode, Observations, Params, Run, Server};
use super::{MAX_PERCENTILES, MAX_RUNS, MAX_SERVERS, values};
use crate::launcher;
use crate::refusal::{End, Said, keep};
use crate::text::{self, At, leading_number};
use std::borrow::Cow;

/// Lines beyond this length are none of sockperf's.
const MAX_LINE: usize = 4096;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    done: Vec<Run>,
    run: Run,
    is_begun: bool,
    /// A command line above the run.
    told: Option<(At<Mode>, Params)>,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let text = text::decode(bytes);
    let mut reader = Reader::default();
    for (number, line) in text::lines(&text) {
        reader.line(number, line);
    }
    reader.finish()
}

impl Reader {
    /// A reader at the start of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line, without its end and its colours. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        if line.len() > MAX_LINE || line.is_empty() {
            return;
        }
        let line = launcher::strip(line.trim_end());
        // Pasted into issues, lines and values are in bold.
        let line: Cow<'_, str> = if line.contains("**") { line.replace("**", "").into() } else { line.into() };
        let is_own = line.contains("sockperf");
        if !is_own && !self.is_begun {
            return;
        }
        let content = line.split_once("sockperf: ").map_or(&*line, |(_, rest)| rest).trim();
        self.content(number, &line, content, is_own);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.done
    }

    fn content(&mut self, number: u32, line: &str, content: &str, is_own: bool) {
        if let Some(mode) = values::mode(line).filter(|_| !line.contains("sockperf: ") && !line.contains("Cmd Line")) {
            let mut params = Params::default();
            values::params(line, &mut params);
            self.told = Some((At::new(mode, number), params));
        } else if let Some(rest) = content.strip_prefix("== version #") {
            self.end_run();
            let version = rest.trim_matches(['=', ' ']);
            let told = self.told.take();
            let run = self.touch(number);
            run.version = (!version.is_empty()).then(|| At::new(version.chars().take(64).collect(), number));
            if let Some((mode, params)) = told {
                (run.mode, run.params) = (Some(mode), params);
            }
        } else if is_own && !content.is_empty() {
            self.own(number, line, content);
        } else if let Some(endpoint) = values::endpoint(number, content) {
            if self.run.end == End::Finished {
                self.end_run();
            }
            let run = self.touch(number);
            keep(&mut run.endpoints, endpoint, MAX_SERVERS, &mut run.not_kept);
        }
    }

    fn own(&mut self, number: u32, line: &str, content: &str) {
        if self.run.end == End::Finished
            && (content.starts_with("Warmup stage") || content.starts_with("Starting test"))
        {
            self.end_run();
        }
        if line.contains("[SERVER] listen on") {
            self.touch(number).is_server = true;
        } else if content.starts_with("[Total Run]") {
            // A paste may begin here, and the next one, too.
            if self.run.total.is_some() {
                self.end_run();
            }
            self.read(number, values::counts(content), |run, v| values::set(&mut run.total, v, number));
        } else if let Some((_, server)) = content.split_once("Printing statistics for Server No: ") {
            let server = Server { number: leading_number(server).unwrap_or_default(), ..Server::default() };
            let run = self.touch(number);
            keep(&mut run.servers, server, MAX_SERVERS, &mut run.not_kept);
        } else if content.starts_with("[Valid Duration]") {
            self.read(number, values::counts(content), |run, v| {
                if let Some(s) = server(run, |s| s.valid.is_none()) {
                    s.valid = Some(At::new(v, number));
                }
            });
        } else if let Some(latency) = values::latency(content) {
            self.read(number, Some(latency), |run, v| {
                if let Some(s) = server(run, |s| s.latency.is_none()) {
                    s.latency = Some(At::new(v, number));
                }
                run.ended(End::Finished);
            });
        } else if content.contains("dropped messages =") {
            self.read(number, values::lost(content).map(Ok), |run, v| {
                if let Some(s) = server(run, |s| s.lost.is_none()) {
                    s.lost = Some(At::new(v, number));
                }
            });
        } else if let Some((_, count)) = content.split_once("Total ").filter(|(_, c)| c.contains(" observations")) {
            self.read(number, leading_number(count).map(Ok), |run, count| {
                let seen = Observations { count, min: None, max: None, percentiles: Vec::new() };
                if let Some(s) = server(run, |s| s.observations.is_none()) {
                    s.observations = Some(At::new(seen, number));
                }
            });
        } else if content.starts_with("---> ") {
            self.read(number, values::percentile(content), |run, (which, time)| {
                percentile(run, number, which, At::new(time, number))
            });
        } else {
            self.rest(number, content);
        }
    }

    fn rest(&mut self, number: u32, content: &str) {
        let mut throughput = self.run.throughput.map(|t| t.value).unwrap_or_default();
        if let Some(read) = values::throughput(content, &mut throughput) {
            let run = self.touch(number);
            let first = run.throughput.map_or(number, |t| t.line);
            run.throughput = Some(At::new(throughput, first));
            run.mode.get_or_insert(At::new(Mode::Throughput, number));
            match read {
                Ok(()) if throughput.bandwidth.is_some() => run.ended(End::Finished),
                Ok(()) => {}
                Err(why) => run.refused.push(number, why),
            }
        } else if content.starts_with("NOTE: test was performed") || content.starts_with("test was performed using") {
            values::params(content, &mut self.touch(number).params);
        } else if content.starts_with("Test end (interrupted by") {
            // The timer and signal 2 of the program itself are the regular end.
            if content.contains("by user") {
                self.touch(number).end = End::Interrupted;
            }
        } else if is_failure(content) {
            self.touch(number).fail(Said::new(number, content));
        } else if content.starts_with("Info:") || content.contains("WARNING") || content.starts_with("Warning:") {
            self.touch(number).note(Said::new(number, content));
        } else if self.is_begun && !content.starts_with("Summary: ") {
            self.touch(number);
        }
    }

    fn read<T>(&mut self, number: u32, read: Option<Result<T, String>>, set: impl FnOnce(&mut Run, T)) {
        match read {
            Some(Ok(value)) => set(self.touch(number), value),
            Some(Err(why)) => self.touch(number).refused.push(number, why),
            None => self.touch(number).refused.push(number, "the line is cut"),
        }
    }

    fn touch(&mut self, number: u32) -> &mut Run {
        self.is_begun = true;
        let (first, last) = &mut self.run.lines;
        if *first == 0 {
            *first = number;
        }
        *last = (*last).max(number);
        &mut self.run
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let is_begun = std::mem::take(&mut self.is_begun);
        if is_begun && self.done.len() < MAX_RUNS {
            self.done.push(run);
        }
    }
}

/// The server that the lines are of: the last one, unless it has such a line already.
fn server(run: &mut Run, is_free: impl Fn(&Server) -> bool) -> Option<&mut Server> {
    if run.servers.last().is_none_or(|s| !is_free(s)) && run.servers.len() < MAX_SERVERS {
        let number = u32::try_from(run.servers.len()).unwrap_or(u32::MAX);
        run.servers.push(Server { number, ..Server::default() });
    }
    run.servers.last_mut()
}

fn percentile(run: &mut Run, number: u32, which: f64, time: At<crate::units::Microseconds>) {
    let Some(server) = server(run, |_| true) else { return };
    let seen = server.observations.get_or_insert_with(|| {
        At::new(Observations { count: 0, min: None, max: None, percentiles: Vec::new() }, number)
    });
    if which >= 100.0 {
        seen.value.max = Some(time);
    } else if which <= 0.0 {
        seen.value.min = Some(time);
    } else if seen.value.percentiles.len() < MAX_PERCENTILES {
        seen.value.percentiles.push((which, time));
    }
}

fn is_failure(content: &str) -> bool {
    content.trim_start_matches(['#', ' ']).starts_with("ERROR")
        || content.starts_with("No messages were ")
        || content.starts_with("No valid observations found")
        || content.contains("Is the server down?")
}
