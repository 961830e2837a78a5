//! `inject [NODES] [ODD] [CHANGES]`: a fleet of so many equal 8-GPU nodes, so many of which get so many changes each of a bit or a digit of a
//! file. What `drift` says of all is compared with what `diff` says of each.

#![allow(clippy::print_stdout)] // what it is for

#[path = "../tests/common/inject.rs"]
mod inject;

fn main() -> std::process::ExitCode {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<u32>().unwrap_or(0));
    let mut next = |usual| numbers.next().filter(|n| *n > 0).unwrap_or(usual);
    let (nodes, odd, each) = (next(1_000), next(130), next(4));
    let done = inject::inject(nodes, odd.min(nodes), each as usize);
    for line in done.wrong.iter().take(40) {
        println!("{line}");
    }
    println!("not altered: {}", done.untouched.join(" "));
    println!("{} changes of {} facts in {nodes} nodes: {} wrong", done.changes, done.facts, done.wrong.len());
    std::process::ExitCode::from(u8::from(!done.wrong.is_empty()))
}
