//! Completions and man pages, made from the argument types.

use super::pages::visible;
use crate::args::Cli;
use crate::output::{Failure, Sink};
use clap::CommandFactory;
use clap_mangen::Man;
use linerate_out::file::{self, Access};
use std::io::Write;
use std::path::Path;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut sink = Sink::open(None)?;
    // It panics where it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut shown(&<Cli>::command()), "linerate", &mut text);
    sink.write_all(&text)?;
    sink.finish()?;
    Ok(0)
}

/// The command line without what is hidden: `hand` is for apply.
fn shown(all: &clap::Command) -> clap::Command {
    let below = visible(all).cloned();
    let whole = clap::Command::new("linerate").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    whole.args(all.get_arguments().cloned()).subcommands(below)
}

pub(crate) fn man(dir: Option<&Path>) -> Result<u8, Failure> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| Failure::writing(dir, &e))?;
            let mut command = <Cli>::command().disable_help_subcommand(true);
            command.build();
            pages(&command, dir)?;
        }
        None => {
            let mut sink = Sink::open(None)?;
            Man::new(<Cli>::command()).render(&mut sink)?;
            sink.finish()?;
        }
    }
    Ok(0)
}

/// A page for a command, and for each command below it.
fn pages(command: &clap::Command, dir: &Path) -> Result<(), Failure> {
    for below in visible(command) {
        pages(below, dir)?;
    }
    let (page, mut text) = (Man::new(command.clone()), Vec::new());
    let path = dir.join(page.get_filename());
    let written = page.render(&mut text).and_then(|()| file::write(&path, Access::Umask, &text));
    written.map_err(|e| Failure::writing(&path, &e))
}
