//! Measures as `linerate bench run` does, and prints what the tools printed: `measure WHAT HOSTS [SECONDS [REPETITIONS]]`.
//! Tests start it as a process of its own, which can be interrupted.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use linerate_runner::{Event, Request, What, prepare};
use linerate_transport::{Cancel, Collect, HostSpec};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, on, more @ ..] = args.as_slice() else {
        return Err("usage: measure WHAT HOSTS [SECONDS [REPETITIONS]]".into());
    };
    let number = |at: usize, default| more.get(at).map_or(Ok(default), |n| n.parse().map_err(|_| format!("{n}?")));
    let mut request = Request::new(What::of_name(what)?);
    request.seconds = number(0, request.seconds)?;
    request.repetitions = number(1, request.repetitions)?;
    request.directory = std::env::var("MEASURE_DIRECTORY").ok();
    request.size = 64 << 20;
    request.variants[0].args = std::env::var("MEASURE_ARGS").into_iter().flat_map(|a| words(&a)).collect();
    let ssh: Vec<String> = std::env::var("MEASURE_SSH").into_iter().flat_map(|o| words(&o)).collect();
    let hosts = HostSpec::list(on)?;
    let cancel = Cancel::new();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, cancel.flag())?;
    }
    let how = Collect::default();
    let snapshots = std::env::var_os("MEASURE_SNAPSHOTS").map(|_| &how);
    let prepared = prepare(&hosts, &request, &ssh, snapshots, &cancel, &mut |_| {})?;
    print!("{}", prepared.plan);
    let measured = prepared.measure(&cancel, &mut |event| match event {
        Event::Started { step, number, of, plan } => {
            let test = plan.tests.get(step.test).map_or("?", |t| t.test.name);
            println!("started {number}/{of} {test} warmup={}", step.warmup);
        }
        Event::Progress { elapsed, left, done, of, moved } => {
            println!("progress {elapsed:.1?} left {left:.1?} {done}/{of} {moved:?}")
        }
        Event::Finished(o) => println!("finished {} bytes, moved {:?}, {:?}", o.bytes.len(), o.moved, o.argv.join(" ")),
        Event::Failed(f) => println!("failed {f}"),
        Event::Line { host, server, line, .. } if std::env::var_os("MEASURE_LINES").is_some() => {
            print!("{host} {server}: {}", String::from_utf8_lossy(line));
        }
        _ => {}
    });
    println!("ended: {} outputs, {} failures, {:?}", measured.outputs.len(), measured.failures.len(), measured.stopped);
    Ok(measured.failures.is_empty())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
