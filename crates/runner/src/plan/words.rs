//! A plan in words: what is printed before anything starts.

use super::Plan;
use crate::tools::Shape;
use std::fmt;

/// `12 s`, `3 min 20 s`, `1 h 5 min`.
#[must_use]
pub(crate) fn time(seconds: f64) -> String {
    let s = seconds.max(0.0).round() as u64;
    match s {
        0..90 => format!("{s} s"),
        90..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// `1.5 GB`, in powers of ten.
#[must_use]
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 100.0 { 0 } else { 1 };
    format!("{value:.digits$} {}", UNITS.get(unit).copied().unwrap_or_default())
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |at: usize| self.hosts.get(at).map_or("?", String::as_str);
        for (at, p) in self.tests.iter().enumerate() {
            let of = |warmup| self.steps.iter().filter(|s| s.test == at && s.warmup == warmup).count();
            let who = match &p.server {
                Some(server) => format!("{} → {}", name(p.client.host), name(server.host)),
                None => name(p.client.host).to_owned(),
            };
            writeln!(
                f,
                "{:<18} {who}: {} ({} measured, {} to warm up)",
                p.test.name,
                p.test.shows,
                of(false),
                of(true)
            )?;
            let variant = self.variants.first().cloned().unwrap_or_default();
            let line = |argv: Vec<String>, served: bool| {
                // A port is chosen when it is needed.
                let port = |w: String| if w == "0" && served { "PORT".to_owned() } else { w };
                linerate_out::shell::shown(&argv.into_iter().map(port).collect::<Vec<_>>())
            };
            let pair = matches!(p.test.shape, Shape::Pair { .. });
            if let (Some(server), true) = (&p.server, pair) {
                writeln!(f, "  server: {}", line(p.server_argv(server, &server.call, &variant), pair))?;
            }
            writeln!(f, "  client: {}", line(p.client_argv(&p.client.call, &variant), pair))?;
        }
        if self.variants.len() > 1 {
            let names: Vec<&str> = self.variants.iter().map(|v| v.name.as_str()).collect();
            writeln!(f, "compared, alternating: {}", names.join(", "))?;
        }
        for note in &self.notes {
            // Hosts name their devices.
            writeln!(f, "note: {}", linerate_out::terminal(note))?;
        }
        let moved = match self.cost.bytes {
            Some(b) => format!("up to {}", bytes(b)),
            None => "an amount that depends on the network's speed, which no snapshot shows,".to_owned(),
        };
        let allowed = match self.limits.bytes {
            Some(b) => format!(" or {}", bytes(b)),
            None => String::new(),
        };
        writeln!(
            f,
            "budget: {} runs, about {}, {moved} moved; ended after {}{allowed}",
            self.steps.len(),
            time(self.cost.seconds),
            time(self.limits.seconds as f64)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        let of = |b: &[u64]| b.iter().map(|b| bytes(*b)).collect::<Vec<_>>();
        assert_eq!(of(&[0, 999, 1500, 84_000_000_000, u64::MAX]), ["0 B", "999 B", "1.5 kB", "84.0 GB", "18.4 EB"]);
        let of = |s: &[f64]| s.iter().map(|s| time(*s)).collect::<Vec<_>>();
        assert_eq!(of(&[-1.0, 89.4, 90.0, 200.0, 3900.0]), ["0 s", "89 s", "1 min 30 s", "3 min 20 s", "1 h 5 min"]);
    }
}
