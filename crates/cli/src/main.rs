//! The `linerate` command. Arguments, progress and exit codes; no conclusions are drawn here.

mod args;
mod cmd;
mod output;
mod progress;
mod sources;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

/// Usage or internal error: nothing was concluded.
const EXIT_ERROR: u8 = 3;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let failed = e.use_stderr();
            // A closed pipe is no reason to complain.
            let _ = e.print();
            return if failed { ExitCode::from(EXIT_ERROR) } else { ExitCode::SUCCESS };
        }
    };
    let result = match cli.command {
        Command::Collect(a) => cmd::collect::run(&a),
        Command::Audit(a) => cmd::audit::run(&a),
        Command::Explain(a) => cmd::explain::run(&a),
        Command::Rules(a) => cmd::rules::run(&a),
        Command::Completions { shell } => cmd::shell::completions(shell),
        Command::Man { dir } => cmd::shell::man(dir.as_deref()),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            output::complain(&e);
            ExitCode::from(EXIT_ERROR)
        }
    }
}
