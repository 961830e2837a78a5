//! What ran: releases, ranks, networks, settings.

use super::Terminal;
use crate::doctor::words::{self, LIST, few, names};
use crate::style::Tone;
use linerate_doctor::answer::{Job, Setting};
use std::io;

/// Jobs shown before the rest becomes a number.
const JOBS: usize = 4;
/// Settings and benchmarks shown before the rest becomes a number.
const LINES: usize = 24;

impl Terminal<'_, '_> {
    pub(super) fn what_ran(&mut self) -> io::Result<()> {
        let jobs = &self.answer.jobs;
        self.page.heading_of(jobs, "WHAT RAN")?;
        let shown = self.page.shown(JOBS);
        for (i, job) in jobs.iter().take(shown).enumerate() {
            if i > 0 {
                self.page.blank()?;
            }
            self.job(job)?;
        }
        self.page.more(0, jobs.len(), shown, " jobs")
    }

    fn job(&mut self, job: &Job) -> io::Result<()> {
        let max = self.page.shown(LIST);
        self.page.text(0, Tone::Bold, &words::job_line(job))?;
        if !job.hosts.is_empty() {
            let hosts = format!("{} ({})", names(&job.hosts, max), job.hosts.len());
            self.page.field(2, "hosts", &hosts)?;
        }
        if !job.networks.is_empty() {
            // More than one network in a job is seldom meant.
            let tone = if job.networks.len() > 1 { Tone::Warn } else { Tone::Plain };
            let list: Vec<String> = job
                .networks
                .iter()
                .map(|(net, n)| format!("{net} ({})", words::counted(*n as usize, "process", "processes")))
                .collect();
            self.page.item(2, &label("network"), Tone::Dim, tone, &few(&list))?;
        }
        if !job.plugins.is_empty() {
            self.page.field(2, "plugins", &few(&job.plugins))?;
        }
        let mut first = true;
        for list in &job.nics {
            let (text, differs) = words::nics(list, words::usual(&job.nics, list), max);
            let head = label(if first { "NICs" } else { "" });
            first = false;
            match differs {
                None => self.page.item(2, &head, Tone::Dim, Tone::Plain, &text)?,
                Some(how) => {
                    self.page.item(2, &head, Tone::Dim, Tone::Warn, &format!("! {text}: differs, {how}"))?;
                }
            }
        }
        self.page.fields(2, "paths", words::paths(&job.paths, max))?;
        self.page.fields(2, "search", job.searches.iter().map(words::search))?;
        if let Some((low, high)) = job.channels {
            let (tone, text) =
                if low == high { (Tone::Plain, low.to_string()) } else { (Tone::Warn, format!("{low} to {high}")) };
            self.page.item(2, &label("channels"), Tone::Dim, tone, &text)?;
        }
        if !job.algorithms.is_empty() {
            self.page.field(2, "chosen", &words::counts(&job.algorithms))?;
        }
        self.settings(&job.environment)?;
        self.matrix(&job.matrix)?;
        let shown = self.page.shown(LINES);
        self.page.fields(2, "measured", job.benchmarks.iter().take(shown))?;
        self.more(job.benchmarks.len(), shown)
    }

    fn settings(&mut self, all: &[Setting]) -> io::Result<()> {
        let shown = self.page.shown(LINES);
        for (i, s) in all.iter().take(shown).enumerate() {
            let only = s.only.as_deref().map(|o| format!(" ({o})")).unwrap_or_default();
            let does = s.does.as_deref().map(|d| format!(": {d}")).unwrap_or_default();
            let text = format!("{}={}{only}{does}", s.name, s.value);
            self.page.item(2, &label(if i == 0 { "set" } else { "" }), Tone::Dim, Tone::Plain, &text)?;
            if let Some(v) = &s.verdict {
                self.page.item(13, "!", Tone::Warn, Tone::Warn, v)?;
            }
            if self.page.style.verbose && !s.at.is_empty() {
                self.page.text(13, Tone::Dim, &s.at)?;
            }
        }
        self.more(all.len(), shown)
    }

    fn more(&mut self, all: usize, shown: usize) -> io::Result<()> {
        if all > shown {
            self.page.field(2, "", &format!("and {} more (--verbose)", all - shown))?;
        }
        Ok(())
    }
}

fn label(text: &str) -> String {
    format!("{text:<8}")
}
