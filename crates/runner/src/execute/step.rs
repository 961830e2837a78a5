//! One run: the server, its readiness, the client, their limits, their ends.

use super::feed::{Feed, MAX};
use super::files;
use super::meter::{self, Meter};
use super::port::{self, Asker};
use super::{Run, ready};
use crate::event::Event;
use crate::outcome::{Failure, RawOutput, Why};
use crate::plan::{Planned, Side, Step};
use crate::request::Variant;
use crate::tools::{Call, Listens, Shape};
use linerate_transport::{Command, End, Heard, Process, Stream, Transport};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Ports that are tried.
const PORTS: usize = 4;
/// How long is waited for something to be said.
const LOOK: Duration = Duration::from_millis(50);
/// Between two tellings of the progress.
const TELL: Duration = Duration::from_millis(300);
/// A client whose server died, and a server whose client ended, have this long to end by themselves.
const LINGER: Duration = Duration::from_secs(5);

type Tell<'a> = &'a mut dyn FnMut(Event<'_>);

/// What a run is made of, and what there is of its result.
struct Work<'a> {
    run: &'a Run<'a>,
    step: Step,
    planned: &'a Planned,
    variant: &'a Variant,
    began: Instant,
    until: Instant,
    output: RawOutput,
    server: Option<Feed>,
    client: Option<Feed>,
    meter: Option<(Process, Meter)>,
}

/// Runs it.
pub(super) fn execute(run: &Run<'_>, step: Step, at: usize, tell: Tell<'_>) -> Result<RawOutput, Box<Failure>> {
    let variant = run.plan.variants.get(step.variant).cloned().unwrap_or_default();
    let name = |host: usize| run.plan.hosts.get(host).cloned().unwrap_or_default();
    let Some(planned) = run.plan.tests.get(step.test) else {
        let output = empty("?", linerate_bench::Kind::Series);
        let why = Why::NotStarted("the plan has no such test".to_owned());
        return Err(Box::new(Failure { why, last_lines: Vec::new(), output }));
    };
    let began = Instant::now();
    let mut work = Work {
        run,
        step,
        planned,
        variant: &variant,
        began,
        until: (began + Duration::from_secs(planned.limit)).min(run.until()),
        output: RawOutput {
            host: name(planned.client.host),
            server: planned.server.as_ref().map(|s| name(s.host)),
            repetition: step.repetition,
            order: u32::try_from(at + 1).unwrap_or(u32::MAX),
            variant: variant.name.clone(),
            warmup: step.warmup,
            numa: planned.client.binding.node(),
            ..empty(planned.test.name, planned.test.kind)
        },
        server: None,
        client: None,
        meter: None,
    };
    let result = work.all(tell);
    // Both sides are gone before the next run, or the answer.
    let feeds = || work.server.iter().chain(&work.client);
    let last_lines: Vec<String> =
        if result.is_err() { feeds().flat_map(Feed::last_lines).collect() } else { Vec::new() };
    let Work { mut output, server, client, meter, .. } = work;
    output.ended = now();
    if let Some(feed) = client {
        output.bytes = feed.out;
        output.stderr = feed.err;
    }
    drop((server, meter));
    match result {
        Ok(()) => Ok(output),
        Err(why) => Err(Box::new(Failure { why, last_lines, output })),
    }
}

fn empty(test: &'static str, kind: linerate_bench::Kind) -> RawOutput {
    RawOutput { test, kind, began: now(), ended: now(), ..RawOutput::default() }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

impl<'a> Work<'a> {
    fn transport(&self, host: usize) -> Result<&'a dyn Transport, Why> {
        let host =
            self.run.hosts.get(host).ok_or_else(|| Why::NotStarted("the plan names an unknown host".to_owned()))?;
        Ok(&*host.transport)
    }

    fn command(&self, argv: &[String]) -> Command {
        // The guard's own limit lies above ours, which says why.
        let left = self.until.saturating_duration_since(Instant::now()) + Duration::from_secs(15);
        Command::new(argv.iter().cloned()).env(&self.variant.env).limit(left)
    }

    fn start(&self, side: &Side, command: &Command, server: bool) -> Result<Feed, Why> {
        let transport = self.transport(side.host)?;
        let process = transport.start(command)?;
        Ok(Feed::new(process, transport.host(), server))
    }

    /// What ends a run from outside.
    fn pressed(&self) -> Result<(), Why> {
        if self.run.cancel.is_cancelled() {
            return Err(Why::Cancelled);
        }
        if Instant::now() >= self.until {
            let limits = self.run.plan.limits;
            let over = self.run.until() <= self.until;
            return Err(if over { Why::OverTime(limits.seconds) } else { Why::TimedOut(self.planned.limit) });
        }
        if let (Some(max), Some((_, meter)), false) = (self.run.plan.limits.bytes, &self.meter, self.planned.cost.exact)
        {
            let moved = self.run.moved + meter.moved().unwrap_or(0);
            if moved > max {
                return Err(Why::OverTraffic(moved, max));
            }
        }
        Ok(())
    }

    fn all(&mut self, tell: Tell<'_>) -> Result<(), Why> {
        self.pressed()?;
        if self.planned.test.shape == Shape::Directory {
            return self.in_directory(tell);
        }
        let Some(server) = self.planned.server.clone() else {
            let argv = self.planned.client_argv(&self.planned.client.call, self.variant);
            return self.measure(&argv, None, tell);
        };
        let Shape::Pair { listens, ends, .. } = self.planned.test.shape else {
            let argv = self.planned.client_argv(&self.planned.client.call, self.variant);
            self.start_meter(tell)?;
            return self.measure(&argv, None, tell);
        };
        let mut tried = Vec::new();
        loop {
            let port = self.port(&server, &tried)?;
            tried.push(port);
            let result = self.serve(&server, listens, port, tell).and_then(|()| {
                let call = Call { port, ..self.planned.client.call.clone() };
                let argv = self.planned.client_argv(&call, self.variant);
                if self.meter.is_none() {
                    self.start_meter(tell)?;
                }
                self.measure(&argv, Some(ends), tell)
            });
            match result {
                Err(Why::ServerDied(_) | Why::Exit(_)) if self.server.as_ref().is_some_and(port_was_taken) => {
                    tell(Event::PortTaken { host: self.run.plan.hosts.get(server.host).map_or("", |h| h), port });
                    if tried.len() >= PORTS {
                        return Err(Why::PortTaken(tried));
                    }
                    (self.server, self.client) = (None, None);
                }
                other => return other,
            }
        }
    }

    fn port(&self, server: &Side, tried: &[u16]) -> Result<u16, Why> {
        if let (Some(port), true) = (self.run.plan.port, tried.is_empty()) {
            return Ok(port);
        }
        let probe = self.run.hosts.get(server.host).map(|h| &h.probe);
        let has = |tool| probe.is_some_and(|p| p.has(tool));
        let asker = if has("python3") {
            Asker::Python
        } else if has("perl") {
            Asker::Perl
        } else {
            Asker::Nobody
        };
        let host = self.transport(server.host)?;
        let port = port::free(host, asker, tried, self.run.cancel)?;
        port.ok_or_else(|| Why::NotStarted(format!("{} has no free port", host.host())))
    }

    /// Starts the server and waits until it listens.
    fn serve(&mut self, side: &Side, listens: Listens, port: u16, tell: Tell<'_>) -> Result<(), Why> {
        let argv = self.planned.server_argv(side, &Call { port, ..side.call.clone() }, self.variant);
        let mut feed = self.start(side, &self.command(&argv), true)?;
        self.output.server_argv = Some(argv);
        let limit = Instant::now() + ready::LIMIT;
        let mut asking: Option<Process> = None;
        let result = loop {
            feed.listen(Duration::from_millis(10), tell);
            if let Some(why) = feed.lost() {
                break Err(Why::Lost(why));
            }
            if let Some(status) = feed.status() {
                break Err(Why::ServerDied(status));
            }
            if let Err(why) = self.pressed() {
                break Err(why);
            }
            match (&mut asking, feed.pid()) {
                (None, Some(pid)) => {
                    match self
                        .transport(side.host)
                        .and_then(|t| t.start(&ready::wait(listens, port, pid)).map_err(Why::from))
                    {
                        Ok(process) => asking = Some(process),
                        Err(why) => break Err(why),
                    }
                }
                (Some(process), _) => {
                    if let Heard::Ended(e) = process.next(Duration::from_millis(20)) {
                        match e.end {
                            End::Status(0) => break Ok(()),
                            End::Status(_) => break Err(Why::ServerNotReady(ready::LIMIT.as_secs())),
                            End::Lost => break Err(Why::Lost(e.why.unwrap_or_default())),
                        }
                    }
                }
                (None, None) => {}
            }
            if Instant::now() >= limit {
                break Err(Why::ServerNotReady(ready::LIMIT.as_secs()));
            }
        };
        self.server = Some(feed);
        result
    }

    /// Counts what passes the client's interfaces from now on. A host that shows no counters is not counted.
    fn start_meter(&mut self, tell: Tell<'_>) -> Result<(), Why> {
        let transport = self.transport(self.planned.client.host)?;
        let process = transport.start(&meter::command(self.planned.limit + 30))?;
        self.meter = Some((process, Meter::through(self.planned.client.through.as_deref())));
        let until = Instant::now() + LINGER;
        while Instant::now() < until && self.meter.as_ref().is_some_and(|(_, m)| !m.has_begun()) {
            self.read_meter(LOOK);
            self.pressed()?;
        }
        tell(self.progress());
        Ok(())
    }

    fn read_meter(&mut self, wait: Duration) {
        let Some((process, meter)) = &mut self.meter else { return };
        let mut wait = wait;
        while let Heard::Line(stream, line) = process.next(wait) {
            if stream == Stream::Out {
                meter.line(&String::from_utf8_lossy(&line));
            }
            wait = Duration::ZERO;
        }
    }

    fn progress(&self) -> Event<'static> {
        let moved = self.meter.as_ref().and_then(|(_, m)| m.moved());
        self.run.progress(self.step, self.began.elapsed(), moved)
    }

    /// Runs the client to its end. `ends`: there is a server, and whether it ends by itself.
    fn measure(&mut self, argv: &[String], ends: Option<bool>, tell: Tell<'_>) -> Result<(), Why> {
        let command = self.command(argv);
        self.measure_command(&command, argv, ends, tell)
    }

    fn measure_command(
        &mut self,
        command: &Command,
        argv: &[String],
        ends: Option<bool>,
        tell: Tell<'_>,
    ) -> Result<(), Why> {
        self.output.argv = argv.to_vec();
        self.output.began = now();
        self.client = Some(self.start(&self.planned.client, command, false)?);
        let result = self.until_it_ends(tell);
        self.count();
        let result = match (result, ends) {
            (Ok(()), Some(true)) => self.server_ends(tell),
            (result, _) => result,
        };
        // It is gone before anything else begins; what it said at its end is not waited for.
        if let Some(server) = &mut self.server {
            server.listen(Duration::ZERO, tell);
            server.kill();
        }
        result
    }

    fn until_it_ends(&mut self, tell: Tell<'_>) -> Result<(), Why> {
        let mut told = Instant::now();
        let mut server_died: Option<(Instant, i32)> = None;
        loop {
            if let Some(client) = &mut self.client {
                client.listen(LOOK, tell);
            }
            if let Some(server) = &mut self.server {
                server.listen(Duration::ZERO, tell);
            }
            self.read_meter(Duration::ZERO);
            let lost = self.client.iter().chain(&self.server).find_map(Feed::lost);
            if let Some(why) = lost {
                return Err(Why::Lost(why));
            }
            if self.client.iter().chain(&self.server).any(|f| f.too_much) {
                return Err(Why::TooMuchOutput(MAX));
            }
            let ended = self.client.as_ref().and_then(Feed::status);
            let died = self.server.as_ref().and_then(Feed::status).filter(|s| *s != 0);
            if let Some(status) = ended {
                self.output.exit = status;
                let why = match (self.client_failed(status), server_died) {
                    (None, _) => return Ok(()),
                    (Some(_), Some((_, died))) => Why::ServerDied(died),
                    (Some(why), None) => self.server_lost(tell).unwrap_or(why),
                };
                return Err(why);
            }
            match (server_died, died) {
                (None, Some(status)) => server_died = Some((Instant::now(), status)),
                (Some((since, status)), _) if since.elapsed() > LINGER => return Err(Why::ServerDied(status)),
                _ => {}
            }
            self.pressed()?;
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(self.progress());
            }
        }
    }

    /// Why an ended client gives no result. Its status is not enough: iperf3 with `-J` ends with 0 after a failure that only its
    /// output tells.
    fn client_failed(&self, status: i32) -> Option<Why> {
        let out = self.client.as_ref().map_or(&[][..], |c| &c.out);
        if status != 0 {
            return Some(Why::Exit(status));
        }
        if out.iter().all(u8::is_ascii_whitespace) {
            return Some(Why::NoOutput);
        }
        let runs = linerate_bench::import::import("", out).runs;
        let fault = |r: &linerate_bench::Run| r.faults.iter().find(|f| f.whole_run).map(|f| f.what.clone());
        let faults: Option<Vec<String>> = runs.iter().map(fault).collect();
        faults?.into_iter().next().map(Why::Said)
    }

    /// Whether a client failed because its server's host was lost: the client's end may be heard before that of the connection.
    fn server_lost(&mut self, tell: Tell<'_>) -> Option<Why> {
        self.until_server_ends(tell);
        self.server.as_ref().and_then(Feed::lost).map(Why::Lost)
    }

    /// Waits a little for the server to end by itself.
    fn until_server_ends(&mut self, tell: Tell<'_>) {
        let until = Instant::now() + LINGER;
        let Some(server) = &mut self.server else { return };
        while server.ended.is_none() && Instant::now() < until && !self.run.cancel.is_cancelled() {
            server.listen(LOOK, tell);
        }
    }

    /// A server that ends after one client has its own opinion of how that went.
    fn server_ends(&mut self, tell: Tell<'_>) -> Result<(), Why> {
        self.until_server_ends(tell);
        match self.server.as_ref().and_then(Feed::status) {
            // One that lingers is ended.
            None | Some(0) => Ok(()),
            Some(status) => Err(Why::ServerDied(status)),
        }
    }

    /// The last reading of the counters: the one that comes each second may be that old.
    fn count(&mut self) {
        self.read_meter(Duration::ZERO);
        let Some((_, mut meter)) = self.meter.take() else { return };
        let last = self
            .transport(self.planned.client.host)
            .and_then(|t| t.run(&meter::command(1), self.run.cancel).map_err(Why::from));
        if let Ok(ran) = last {
            ran.text().lines().for_each(|l| meter.line(l));
        }
        self.output.moved = meter.moved();
    }

    fn in_directory(&mut self, tell: Tell<'_>) -> Result<(), Why> {
        let side = &self.planned.client;
        let host = self.transport(side.host)?;
        let named = self.planned.directory.as_deref().unwrap_or_default();
        let place = files::look(host, named, side.call.size, self.run.cancel)?;
        if !place.direct {
            let note = format!("{} ({}) takes no O_DIRECT: the page cache takes part", place.path, place.fs);
            self.output.notes.push(note);
        }
        let call = Call { direct: place.direct, ..side.call.clone() };
        let argv = self.planned.client_argv(&call, self.variant);
        let limit = self.command(&argv).limit;
        let command = files::wrap(&place.path, &argv).env(&self.variant.env).limit(limit);
        self.measure_command(&command, &argv, None, tell)
    }
}

/// The words of C libraries, which every tool prints.
fn port_was_taken(server: &Feed) -> bool {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase().contains("address already in use");
    server.status().is_some_and(|s| s != 0) && (said(&server.out) || said(&server.err))
}
