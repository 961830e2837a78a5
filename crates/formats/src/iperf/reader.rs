//! Line by line: what belongs to which run.

use super::line::{self, Tagged, Who};
use super::row::{self, Columns};
use super::run::{Connection, Direction, Endpoint, Protocol, Role, Row, Run, Scope, Stream, Tool};
use super::{csv, json, settle};
use crate::error::Why;
use crate::launcher;
use crate::record::Recorder;
use crate::refusal::{End, Said};
use crate::text::{self, At, words};
use crate::units::Bytes;

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    columns: Option<Columns>,
    /// The header of the summary was seen.
    in_summary: bool,
    /// The next row of this stream is what the server reported (iperf 2).
    reported: Option<Stream>,
    /// The interrupt was printed before the run: standard error is quicker than standard output.
    is_interrupted_ahead: bool,
    /// What follows is the server's output that the client fetched.
    is_servers_view: bool,
    /// The test of the lines between commas.
    test: Option<csv::Test>,
}

/// Reads a whole text: tables, JSON documents and their events, one after the other.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let text = text::decode(bytes);
    let mut reader = Reader::default();
    let mut events = json::Events::default();
    crate::json_docs::pieces(&text, json::is_ours, |piece| json::piece(piece, &mut reader, &mut events));
    json::end_events(&mut reader, &mut events);
    reader.finish()
}

impl Reader {
    /// Takes the next line of a table. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) {
        let Some(line) = launcher::short(line) else { return };
        if let Some(found) = csv::line(number, line) {
            return self.csv(number, found);
        }
        match line::tagged(line) {
            Some(tagged) => self.tagged(number, &tagged),
            None => self.other(number, line.trim_start()),
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.record.finish()
    }

    /// A run that was read otherwise.
    pub(super) fn push(&mut self, run: Run) {
        self.end_run();
        self.record.push(run);
    }

    fn tagged(&mut self, number: u32, tagged: &Tagged<'_>) {
        let Who::Stream(stream) = tagged.who else { return self.header(number, tagged.rest) };
        if let Some(connection) = connection(number, stream, tagged.rest) {
            self.connection(number, connection, tagged.rest);
        } else if tagged.rest.contains("Server Report:") {
            self.reported = Some(stream);
        } else if let Some(row) = row::row(number, tagged, self.columns) {
            match row {
                Ok(row) => self.row(number, row),
                Err(why) => self.record.refuse(number, why),
            }
        } else if tagged.rest.contains("WARNING:") || tagged.rest.contains("not available)") {
            if self.record.is_begun() {
                self.record.touch(number).note(Said::new(number, tagged.rest));
            }
        } else if let Some(mss) = tagged.rest.trim_start().strip_prefix("MSS size ") {
            self.record.touch(number).params.mss = text::leading_number(mss).map(Bytes);
        }
    }

    /// A line of `-y C`.
    fn csv(&mut self, number: u32, found: Result<csv::Line, Why>) {
        if self.test.is_none() {
            // A server of two-way tests says first that it calls back.
            if self.record.run.rows.is_empty() && self.record.run.failures.is_empty() {
                self.record.forget();
            }
            self.end_run();
        }
        match found {
            Ok(line) => {
                if self.test.as_ref().is_some_and(|t| !t.takes(&line)) {
                    self.end_run();
                }
                self.record.touch(number);
                self.test.get_or_insert_default().push(line, &mut self.record.run);
            }
            Err(why) => {
                let run = self.record.touch(number);
                run.tool = Some(Tool::Iperf2);
                run.refused.push(number, why);
                self.test.get_or_insert_default();
            }
        }
    }

    fn header(&mut self, number: u32, rest: &str) {
        let Some(columns) = row::columns(rest) else { return };
        let has_rows = !self.record.run.rows.is_empty();
        self.in_summary = has_rows && self.record.run.tool != Some(Tool::Iperf2);
        self.columns = Some(columns);
        let run = self.record.touch(number);
        run.protocol = run.protocol.or(row::protocol(rest));
    }

    fn connection(&mut self, number: u32, connection: Connection, rest: &str) {
        let tool = if rest.contains(" connected with ") { Tool::Iperf2 } else { Tool::Iperf3 };
        let is_next = match tool {
            Tool::Iperf3 => self.record.run.totals().next().is_some() || self.in_summary,
            // A server of iperf 2 numbers on and shows nothing else between tests.
            Tool::Iperf2 => !self.record.run.rows.is_empty(),
        };
        if is_next {
            let (role, window) = (self.record.run.role, self.record.run.params.window);
            self.end_run();
            self.record.run.role = role.filter(|r| *r == Role::Server);
            self.record.run.params.window = window.filter(|_| self.record.run.role.is_some());
        }
        let run = self.record.touch(number);
        run.tool = run.tool.or(Some(tool));
        if rest.contains("(full-duplex)") || rest.contains("(reverse)") && run.role == Some(Role::Server) {
            run.direction = Some(Direction::Both);
        } else if rest.contains("(reverse)") {
            run.direction = Some(Direction::Reverse);
        }
        run.push_connection(connection);
    }

    fn row(&mut self, number: u32, mut row: Row) {
        if !row.rate.0.is_finite() {
            let same = |r: &&mut Row| r.stream == row.stream && r.way == row.way;
            if let Some(last) = self.record.run.rows.iter_mut().rev().take(64).find(same) {
                last.more.out_of_order = row.more.out_of_order;
            }
            return;
        }
        if row.scope == Scope::Interval && self.in_summary && !row.omitted {
            row.scope = Scope::Total;
        }
        if self.reported == Some(row.stream) {
            self.reported = None;
            row.scope = Scope::Receiver;
        }
        let run = self.record.touch(number);
        if row.more.jitter.is_some() {
            run.protocol = run.protocol.or(Some(Protocol::Udp));
        }
        run.push_row(row);
    }

    fn other(&mut self, number: u32, line: &str) {
        if let Some(rest) = line.strip_prefix("Connecting to host ").or_else(|| after(line, ": Connecting to host ")) {
            self.is_servers_view = false;
            self.begin(number, Tool::Iperf3, Role::Client);
            self.record.run.peer = endpoint(rest, ", port ").map(|e| At::new(e, number));
        } else if let Some(rest) = line.strip_prefix("Client connecting to ") {
            // Streams may be shown before, and a server that answers is no new test.
            let has_rows = !self.record.run.rows.is_empty()
                || self.record.run.peer.is_some()
                || self.record.run.tool == Some(Tool::Iperf3);
            if self.record.run.role == Some(Role::Server) && !has_rows {
                self.record.touch(number).direction = Some(Direction::Both);
                return;
            }
            if has_rows {
                self.end_run();
            }
            let run = self.record.touch(number);
            (run.tool, run.role) = (Some(Tool::Iperf2), Some(Role::Client));
            run.protocol = if rest.contains("UDP port") { Some(Protocol::Udp) } else { Some(Protocol::Tcp) };
            let port = rest.find(" port ").and_then(|at| text::leading_number(rest.get(at + 6..)?));
            let host = rest.split(',').next().unwrap_or_default();
            run.peer = port.map(|port| At::new(Endpoint { host: host.into(), port }, number));
        } else if let Some(rest) = line.strip_prefix("Server listening on ") {
            self.end_run();
            let is_2 = rest.starts_with("TCP port") || rest.starts_with("UDP port");
            // A server that waits is no run yet.
            self.record.run.tool = Some(if is_2 { Tool::Iperf2 } else { Tool::Iperf3 });
            self.record.run.role = Some(Role::Server);
            if is_2 {
                self.record.run.protocol = Some(if rest.starts_with("UDP") { Protocol::Udp } else { Protocol::Tcp });
            }
        } else if let Some(rest) = line.strip_prefix("Accepted connection from ") {
            self.begin(number, Tool::Iperf3, Role::Server);
            self.record.run.peer = endpoint(rest, ", port ").map(|e| At::new(e, number));
        } else if line.starts_with("Server output:") && self.record.is_begun() {
            self.end_run();
            self.is_servers_view = true;
        } else if line == "iperf Done." || line.ends_with(" iperf Done.") || line.ends_with(":  iperf Done.") {
            self.is_done(number);
        } else if let Some(at) = line.find("iperf3: ").filter(|at| *at < 120) {
            self.said(number, line.get(at + 8..).unwrap_or_default());
        } else if let Some(version) = line.strip_prefix("iperf 3.") {
            if version.len() < 20 && version.starts_with(|c: char| c.is_ascii_digit()) {
                self.end_run();
                let version = line.split_whitespace().nth(1).unwrap_or_default();
                let run = self.record.touch(number);
                (run.tool, run.version) = (Some(Tool::Iperf3), Some(At::new(version.into(), number)));
            }
        } else if self.record.is_begun() || self.record.run.tool == Some(Tool::Iperf2) {
            self.inside(number, line);
        }
    }

    fn begin(&mut self, number: u32, tool: Tool, role: Role) {
        let is_more =
            !self.record.run.rows.is_empty() || self.record.run.peer.is_some() || !self.record.run.failures.is_empty();
        if is_more {
            self.end_run();
        }
        let run = self.record.touch(number);
        (run.tool, run.role) = (Some(tool), Some(role));
        if std::mem::take(&mut self.is_interrupted_ahead) {
            self.record.run.end = End::Interrupted;
        }
    }

    fn is_done(&mut self, number: u32) {
        let is_view = std::mem::take(&mut self.is_servers_view);
        if self.record.is_begun() && self.record.run.end == End::Cut {
            self.record.touch(number).end = End::Finished;
        }
        self.record.run.is_servers_view = is_view;
        self.record.run.tool = self.record.run.tool.or(Some(Tool::Iperf3));
        self.end_run();
        // The client's own part comes before the server's output.
        for run in self.record.done().iter_mut().rev().take(if is_view { 2 } else { 0 }).filter(|r| r.end == End::Cut) {
            run.end = End::Finished;
        }
    }

    fn said(&mut self, number: u32, what: &str) {
        let is_interrupt =
            what.starts_with("interrupt") || what.contains("has terminated") || what.contains("unexpectedly closed");
        if is_interrupt && !self.record.is_begun() {
            self.is_interrupted_ahead = true;
            return;
        }
        let lower = what.to_ascii_lowercase();
        if is_interrupt {
            let run = self.record.touch(number);
            run.end = End::Interrupted;
            run.note(Said::new(number, what));
        } else if lower.contains("error") || lower.contains("unable") || lower.contains("failed") {
            // A second failure without anything between is another attempt.
            let run = self.record.touch(number);
            run.tool = run.tool.or(Some(Tool::Iperf3));
            run.end = End::Failed;
            run.fail(Said::new(number, what));
            if self.record.run.rows.is_empty() && self.record.run.peer.is_none() {
                self.end_run();
            }
        } else if self.record.is_begun() {
            self.record.touch(number).note(Said::new(number, what));
        }
    }

    fn inside(&mut self, number: u32, line: &str) {
        if super::settle::inside(&mut self.record.run, number, line) {
            self.record.touch(number);
        }
    }

    fn end_run(&mut self) {
        (self.columns, self.in_summary, self.reported) = (None, false, None);
        let test = self.test.take();
        let Some(mut run) = self.record.end() else { return };
        run.is_servers_view |= self.is_servers_view;
        settle::text(&mut run);
        if let Some(test) = test {
            test.end(&mut run);
        }
        self.record.push(run);
    }
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest).or_else(|| {
        // A time stamp before the line.
        line.split_once(mark.trim_start_matches(": ")).filter(|(before, _)| before.len() < 80).map(|(_, rest)| rest)
    })
}

/// `127.0.0.1, port 5201`.
fn endpoint(text: &str, mark: &str) -> Option<Endpoint> {
    let (host, port) = text.split_once(mark)?;
    Some(Endpoint { host: host.trim().chars().take(256).collect(), port: text::leading_number(port)? })
}

/// `local 127.0.0.1 port 43276 connected to 127.0.0.1 port 5299`.
fn connection(line: u32, stream: Stream, rest: &str) -> Option<Connection> {
    let rest = rest.trim_start().strip_prefix("local ")?;
    let (local, remote) = rest.split_once(" connected to ").or_else(|| rest.split_once(" connected with "))?;
    let (local, remote) = (endpoint(local, " port ")?, endpoint(remote, " port ")?);
    // iperf 2 shows connections that did not come about so.
    let is_none = local.port == 0 && words(&local.host).next() == Some("0.0.0.0");
    (!is_none).then_some(Connection { line, stream, local, remote })
}
