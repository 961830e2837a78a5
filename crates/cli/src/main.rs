//! The `linerate` command. Arguments, progress and exit codes; no conclusions are drawn here.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod args;
mod bench_args;
mod budget;
mod chosen;
mod claims;
mod cmd;
mod collect_args;
mod defaults;
mod diff_args;
mod drift_args;
mod help;
mod ids;
mod index_args;
mod interrupt;
mod live;
mod many;
mod nodes_args;
mod not_a_value;
mod on_args;
mod output;
mod overwritten;
mod plan_args;
mod policy_args;
mod progress;
mod readings;
mod redact_args;
mod scratch;
mod show_args;
mod sightings;
mod sources;
mod targets;
mod terms_args;
mod this_machine;
mod vm_args;
mod vm_format;
mod vm_nccl_args;
mod watch_args;

use args::{Cli, Command, Named};
use clap::{CommandFactory, FromArgMatches};
use output::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Decoding a node is thousands of small allocations; of a fleet's time, the C library's allocator takes a tenth more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Usage or internal error: nothing was concluded.
const EXIT_ERROR: u8 = 3;
/// The reader of standard output left before all was written, as shells have it for SIGPIPE.
const EXIT_READER_GONE: u8 = 141;

/// On SIGINT and SIGTERM: ends the commands of a capture, removes a half-written archive, and exits. A read that hangs in the
/// kernel is not waited for.
fn end_on_signals() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without it, the default holds: the process ends at once.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            // What works on hosts ends itself there; who cannot wait for that asks a second time.
            if interrupt::interrupted(signal) {
                continue;
            }
            linerate_snapshot::capture::abandon();
            progress::clear();
            scratch::abandon();
            std::process::exit(interrupt::code_of(signal));
        }
    };
    // Where no thread can be started, the signals do nothing, and the limits of the capture end it.
    let _ = std::thread::Builder::new().name("linerate-signals".into()).spawn(wait);
}

/// What was typed; clap's error where that is not a command line, or asks for help.
fn parsed(args: &[OsString]) -> Result<Result<Cli, clap::Error>, Failure> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let defaults = defaults::of(args);
    let whole = || match &defaults {
        Some(defaults) => defaults.set(<Cli>::command()),
        None => Ok(<Cli>::command()),
    };
    // Defaults are those of any command.
    let mut command = if defaults.is_some() { whole()? } else { Cli::<Named>::command() };
    let matches = match command.try_get_matches_from_mut(args) {
        // Laying it out takes as long as all the rest of a start.
        Err(e) if matches!(e.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand) => {
            command = help::laid_out(whole()?, help::Length::of(args));
            command.try_get_matches_from_mut(args)
        }
        matches => matches,
    };
    if let Ok(matches) = &matches {
        overwritten::refuse(&command, matches)?;
    }
    Ok(matches.and_then(|m| Cli::from_arg_matches(&m).map_err(|e| e.format(&mut command))))
}

fn main() -> ExitCode {
    let cli = match parsed(&help::usual(std::env::args_os().collect())) {
        Ok(Ok(cli)) => cli,
        Err(e) => {
            output::complain(&e);
            return ExitCode::from(EXIT_ERROR);
        }
        Ok(Err(e)) => {
            let failed = e.use_stderr();
            // A closed pipe is no reason to complain.
            let lost = e.print().is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
            return if failed || lost { ExitCode::from(EXIT_ERROR) } else { ExitCode::SUCCESS };
        }
    };
    budget::set(cli.max_input, cli.host_of);
    // A hand ends its act and its journal first.
    if !matches!(cli.command, Command::Hand) {
        end_on_signals();
    }
    let result = match cli.command {
        Command::Diff(a) => cmd::diff::run(&a),
        Command::Drift(a) => cmd::drift::run(&a),
        Command::Nodes(a) => cmd::nodes::run(&a),
        Command::Collect(a) => cmd::collect::run(&a),
        Command::Audit(a) => cmd::audit::run(&a),
        Command::Where(a) => cmd::located::run(&a),
        Command::Fleet(a) => match a.command {
            index_args::FleetCommand::Index(a) => cmd::index::run(&a),
        },
        Command::Topo(a) => cmd::topo::run(&a),
        Command::Vm(a) => cmd::vm::run(&a),
        Command::Watch(a) => cmd::watch::run(&a),
        Command::Env(a) => cmd::env::run(&a),
        Command::Doctor(a) => cmd::doctor::run(&a),
        Command::Bench(a) => cmd::bench::run(&a),
        Command::Policy(a) => cmd::policy::run(&a),
        Command::Plan(a) => cmd::remedy::plan::run(&a),
        Command::Apply(a) => cmd::remedy::apply::run(&a),
        Command::Verify(a) => cmd::remedy::verify::run(&a),
        Command::Rollback(a) => cmd::remedy::rollback::run(&a),
        Command::Hand => cmd::remedy::hand::run(),
        Command::Redact(a) => cmd::redact::run(&a),
        Command::Explain(a) => cmd::explain::run(&a),
        Command::Rules(a) => cmd::rules::run(&a),
        Command::Completions { shell } => cmd::shell::completions(shell),
        Command::Man { dir: Some(dir), markdown: true } => cmd::pages::write(&dir),
        Command::Man { dir, .. } => cmd::shell::man(dir.as_deref()),
    };
    for file in budget::hosts().unused() {
        output::remark(&format!("--host-of {}: no text of this name was read", file.display()));
    }
    if result.is_ok() && this_machine::input_is_unread() {
        output::remark("this machine was read, and standard input was not; `-` as an argument reads it");
    }
    match result {
        Ok(code) => ExitCode::from(code),
        // Data reached nobody: it must not look as if it had.
        Err(e) if e.is_reader_gone() => ExitCode::from(EXIT_READER_GONE),
        Err(e) => {
            output::complain(&e);
            ExitCode::from(interrupt::code().unwrap_or(EXIT_ERROR))
        }
    }
}
