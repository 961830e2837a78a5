//! Line by line: what belongs to which run.

use super::run::{Mode, Observations, Params, Run, Server};
use super::values;
use crate::bounds::{Limit, leave_out};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, has_room, keep};
use crate::refusal::{End, Said};
use crate::text::{self, At, leading_number};
use std::borrow::Cow;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    /// A command line above the run.
    told: Option<(At<Mode>, Params)>,
}

/// Reads a whole text.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    text::read(bytes, Reader::line).0.finish()
}

impl Reader {
    /// Takes the next line, without its end and its colours. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line).filter(|l| !l.is_empty()) else { return };
        // Pasted into issues, lines and values are in bold.
        let line: Cow<'_, str> = if line.contains("**") { line.replace("**", "").into() } else { line.into() };
        let is_own = line.contains("sockperf");
        if !is_own && !self.record.is_begun() {
            return;
        }
        let content = line.split_once("sockperf: ").map_or(&*line, |(_, rest)| rest).trim();
        self.content(number, &line, content, is_own);
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.record.close();
        self.record.finish()
    }

    fn content(&mut self, number: u32, line: &str, content: &str, is_own: bool) {
        if let Some(mode) = values::mode(line).filter(|_| !line.contains("sockperf: ") && !line.contains("Cmd Line")) {
            let mut params = Params::default();
            values::params(line, &mut params);
            self.told = Some((At::new(mode, number), params));
        } else if let Some(rest) = content.strip_prefix("== version #") {
            self.record.close();
            let version = rest.trim_matches(['=', ' ']);
            let told = self.told.take();
            let run = self.record.touch(number);
            run.version = (!version.is_empty()).then(|| At::new(version.chars().take(64).collect(), number));
            if let Some((mode, params)) = told {
                (run.mode, run.params) = (Some(mode), params);
            }
        } else if is_own && !content.is_empty() {
            self.own(number, line, content);
        } else if let Some(endpoint) = values::endpoint(number, content) {
            if self.record.run.end == End::Finished {
                self.record.close();
            }
            let run = self.record.touch(number);
            keep(&mut run.endpoints, endpoint, Limit::SOCKPERF_SERVERS, number, &mut run.left_out);
        }
    }

    fn own(&mut self, number: u32, line: &str, content: &str) {
        if self.record.run.end == End::Finished
            && (content.starts_with("Warmup stage") || content.starts_with("Starting test"))
        {
            self.record.close();
        }
        if line.contains("[SERVER] listen on") {
            self.record.touch(number).is_server = true;
        } else if content.starts_with("[Total Run]") {
            // A paste may begin here, and the next one, too.
            if self.record.run.total.is_some() {
                self.record.close();
            }
            self.read(number, values::counts(content), |run, v| run.total = Some(At::new(v, number)));
        } else if let Some((_, server)) = content.split_once("Printing statistics for Server No: ") {
            let server = Server { number: leading_number(server).unwrap_or_default(), ..Server::default() };
            let run = self.record.touch(number);
            keep(&mut run.servers, server, Limit::SOCKPERF_SERVERS, number, &mut run.left_out);
        } else if content.starts_with("[Valid Duration]") {
            self.of_server(number, values::counts(content), |s| &mut s.valid);
        } else if let Some(latency) = values::latency(content) {
            if latency.is_ok() {
                self.record.touch(number).ended(End::Finished);
            }
            self.of_server(number, Some(latency), |s| &mut s.latency);
        } else if content.contains("dropped messages =") {
            self.of_server(number, values::lost(content).map(Ok), |s| &mut s.lost);
        } else if let Some((_, count)) = content.split_once("Total ").filter(|(_, c)| c.contains(" observations")) {
            let seen = leading_number(count).map(|count| Ok(Observations { count, ..Observations::default() }));
            self.of_server(number, seen, |s| &mut s.observations);
        } else if content.starts_with("---> ") {
            self.read(number, values::percentile(content), |run, (which, time)| {
                percentile(run, number, which, At::new(time, number))
            });
        } else {
            self.rest(number, content);
        }
    }

    fn rest(&mut self, number: u32, content: &str) {
        let mut throughput = self.record.run.throughput.map(|t| t.value).unwrap_or_default();
        if let Some(read) = values::throughput(content, &mut throughput) {
            let run = self.record.touch(number);
            let first = run.throughput.map_or(number, |t| t.line);
            run.throughput = Some(At::new(throughput, first));
            run.mode.get_or_insert(At::new(Mode::Throughput, number));
            match read {
                Ok(()) if throughput.bandwidth.is_some() => run.ended(End::Finished),
                Ok(()) => {}
                Err(why) => run.refused.push(number, why),
            }
        } else if content.starts_with("NOTE: test was performed") || content.starts_with("test was performed using") {
            values::params(content, &mut self.record.touch(number).params);
        } else if content.starts_with("Test end (interrupted by") {
            // The timer and signal 2 of the program itself are the regular end.
            if content.contains("by user") {
                self.record.touch(number).end = End::Interrupted;
            }
        } else if is_failure(content) {
            self.record.touch(number).fail(Said::new(number, content));
        } else if content.starts_with("Info:") || content.contains("WARNING") || content.starts_with("Warning:") {
            self.record.touch(number).note(Said::new(number, content));
        } else if self.record.is_begun() && !content.starts_with("Summary: ") {
            self.record.touch(number);
        }
    }

    /// What is read of a server.
    fn of_server<T>(&mut self, number: u32, read: Option<Result<T, Why>>, slot: fn(&mut Server) -> &mut Option<At<T>>) {
        self.read(number, read, |run, v| {
            if let Some(s) = server(run, number, |s| slot(s).is_none()) {
                *slot(s) = Some(At::new(v, number));
            }
        });
    }

    fn read<T>(&mut self, number: u32, read: Option<Result<T, Why>>, set: impl FnOnce(&mut Run, T)) {
        match read {
            Some(Ok(value)) => set(self.record.touch(number), value),
            Some(Err(why)) => self.record.refuse(number, why),
            None => self.record.refuse(number, Why::Missing("the line is cut")),
        }
    }
}

/// The server that the lines are of: the last one, unless it has such a line already.
fn server(run: &mut Run, line: u32, is_free: impl Fn(&mut Server) -> bool) -> Option<&mut Server> {
    if run.servers.last_mut().is_none_or(|s| !is_free(s)) {
        if !has_room(run.servers.len(), Limit::SOCKPERF_SERVERS) {
            leave_out(&mut run.left_out, Limit::SOCKPERF_SERVERS, line);
            return None;
        }
        let number = u32::try_from(run.servers.len()).unwrap_or(u32::MAX);
        run.servers.push(Server { number, ..Server::default() });
    }
    run.servers.last_mut()
}

fn percentile(run: &mut Run, number: u32, which: f64, time: At<crate::units::Microseconds>) {
    let Some(server) = server(run, number, |_| true) else { return };
    let seen = server.observations.get_or_insert_with(|| At::new(Observations::default(), number));
    if which >= 100.0 {
        seen.value.max = Some(time);
    } else if which <= 0.0 {
        seen.value.min = Some(time);
    } else if has_room(seen.value.percentiles.len(), Limit::SOCKPERF_PERCENTILES) {
        seen.value.percentiles.push((which, time));
    } else {
        leave_out(&mut run.left_out, Limit::SOCKPERF_PERCENTILES, number);
    }
}

fn is_failure(content: &str) -> bool {
    content.trim_start_matches(['#', ' ']).starts_with("ERROR")
        || content.starts_with("No messages were ")
        || content.starts_with("No valid observations found")
        || content.contains("Is the server down?")
}
