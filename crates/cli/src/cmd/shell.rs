//! Completions and man pages, made from the argument types.

use crate::args::Cli;
use crate::output::{Failure, Sink};
use clap::CommandFactory;
use std::io::Write;
use std::path::Path;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut sink = Sink::open(None)?;
    // It panics where it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "linerate", &mut text);
    sink.write_all(&text)?;
    sink.finish()?;
    Ok(0)
}

pub(crate) fn man(dir: Option<&Path>) -> Result<u8, Failure> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| Failure::writing(dir, &e))?;
            clap_mangen::generate_to(Cli::command(), dir).map_err(|e| Failure::writing(dir, &e))?;
        }
        None => {
            let mut sink = Sink::open(None)?;
            clap_mangen::Man::new(Cli::command()).render(&mut sink)?;
            sink.finish()?;
        }
    }
    Ok(0)
}
