//! Programs: found in the system's directories, started without a shell, with an environment of their own.

use super::{Done, Hands, Wrong};
use linerate_out::child::{self, Need};
use linerate_out::{lines, shell};
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Bytes of a program's output that are kept: its end.
const TAIL: usize = 64 << 10;
/// By which variable what a killed hand left running is found.
const MARK: &str = "LINERATE_APPLY";
/// The most that a plan may ask for.
const LONGEST: u32 = 3600;

/// Runs a program to its end; its output, cleaned.
pub(crate) fn run(hands: &Hands<'_>, argv: &[String], limit: u32) -> Done<String> {
    let (code, output) = run_any(hands, argv, limit)?;
    match code {
        Some(0) => Ok(output),
        Some(code) => Err(Wrong::failed(format!("{} ended with {code}{}", shell::shown(argv), last_words(&output)))),
        None => Err(Wrong::failed(format!("{} was ended by a signal{}", shell::shown(argv), last_words(&output)))),
    }
}

fn last_words(output: &str) -> String {
    let output = linerate_snapshot::without_secrets(output);
    let lines: Vec<&str> = output.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" / ");
    if last.is_empty() { String::new() } else { format!(": {}", last.chars().take(600).collect::<String>()) }
}

fn run_any(hands: &Hands<'_>, argv: &[String], limit: u32) -> Done<(Option<i32>, String)> {
    let root = hands.root;
    let Some((name, arguments)) = argv.split_first() else { return Err(Wrong::failed("a program without a name")) };
    let program = root.program(name)?;
    let mut child = child::command(root.host_path(&program), Need::Nothing)
        .args(arguments)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/root")
        .env(MARK, hands.mark)
        .current_dir(root.host_path("/"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|why| Wrong::failed(format!("cannot start {program}: {why}")))?;
    let (tell, heard) = channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|p| Box::new(p) as _), child.stderr.take().map(|p| Box::new(p) as _)];
    for mut pipe in pipes.into_iter().flatten() {
        let tell = tell.clone();
        std::thread::spawn(move || whole_lines(&mut pipe, |lines| tell.send(lines).is_ok()));
    }
    drop(tell);
    let limit = Duration::from_secs(limit.clamp(1, LONGEST).into());
    let mut tail = VecDeque::new();
    let code = wait(&mut child, limit, &heard, &mut tail).map_err(|why| match why {
        None => {
            Wrong::failed(format!("{} did not finish within {} s and was killed", shell::shown(argv), limit.as_secs()))
        }
        Some(why) => Wrong::failed(format!("cannot wait for {program}: {why}")),
    })?;
    let mut output = Vec::from(tail);
    // Half a line may be half a secret.
    if output.len() == TAIL {
        let half = output.iter().position(|b| *b == b'\n').map_or(output.len(), |end| end + 1);
        output.drain(..half);
    }
    Ok((code, lines(&String::from_utf8_lossy(&output)).into_owned()))
}

/// Hands on what a pipe says, in whole lines: beside the other pipe's, half a line would lose the word that shows that a secret follows. Of a line that is
/// longer than what is kept nothing is. Ends where `tell` answers false.
fn whole_lines(pipe: &mut impl Read, tell: impl Fn(Vec<u8>) -> bool) {
    let (mut piece, mut held, mut is_passed_over) = ([0_u8; 8192], Vec::new(), false);
    loop {
        let n = match pipe.read(&mut piece) {
            Ok(n @ 1..) => n,
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
        };
        let mut next = piece.get(..n).unwrap_or_default();
        if is_passed_over {
            let Some(end) = next.iter().position(|b| *b == b'\n') else { continue };
            next = next.get(end + 1..).unwrap_or_default();
            is_passed_over = false;
        }
        held.extend_from_slice(next);
        let whole = held.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        let rest = held.split_off(whole);
        let lines = std::mem::replace(&mut held, rest);
        if !lines.is_empty() && !tell(lines) {
            return;
        }
        if held.len() > TAIL {
            (held, is_passed_over) = (Vec::new(), true);
        }
    }
    if !held.is_empty() {
        held.push(b'\n');
        tell(held);
    }
}

/// Waits for the end; `Err(None)`: it took too long, and its process group was killed.
fn wait(
    child: &mut Child,
    limit: Duration,
    heard: &Receiver<Vec<u8>>,
    tail: &mut VecDeque<u8>,
) -> Result<Option<i32>, Option<std::io::Error>> {
    let begun = Instant::now();
    let mut ended: Option<(Option<i32>, Instant)> = None;
    loop {
        match heard.recv_timeout(Duration::from_millis(10)) {
            Ok(piece) => {
                tail.extend(piece);
                tail.drain(..tail.len().saturating_sub(TAIL));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                if let Some((code, _)) = ended {
                    return Ok(code);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        if ended.is_none() {
            ended = child.try_wait().map_err(Some)?.map(|status| (status.code(), Instant::now()));
        }
        match ended {
            // What it started in the background may keep its pipes: that is not waited for.
            Some((code, at)) if at.elapsed() > Duration::from_secs(1) => return Ok(code),
            None if begun.elapsed() > limit => {
                kill_group(child);
                return Err(None);
            }
            _ => {}
        }
    }
}

fn kill_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    let begun = Instant::now();
    while group.is_some_and(|g| rustix::process::test_kill_process_group(g).is_ok())
        && begun.elapsed() < Duration::from_secs(2)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills what a killed hand left running, so that its program does not run beside the one that is run again. How many there were.
pub(crate) fn end_left(mark: &str) -> usize {
    let wanted = format!("{MARK}={mark}");
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    let mut ended = 0;
    for pid in pids {
        let Ok(environ) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        if !environ.split(|b| *b == 0).any(|variable| variable == wanted.as_bytes()) {
            continue;
        }
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            ended += 1;
        }
        let gone = || !std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
        let begun = Instant::now();
        while !gone() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pipe_says_comes_in_whole_lines() {
        struct Pieces(Vec<Vec<u8>>);
        impl Read for Pieces {
            fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
                let Some(next) = (!self.0.is_empty()).then(|| self.0.remove(0)) else { return Ok(0) };
                to[..next.len()].copy_from_slice(&next);
                Ok(next.len())
            }
        }
        let said = |pieces: &[&[u8]]| {
            let all = std::cell::RefCell::new(Vec::new());
            let mut pipe = Pieces(pieces.iter().map(|p| p.to_vec()).collect());
            whole_lines(&mut pipe, |lines| {
                all.borrow_mut().push(String::from_utf8(lines).unwrap());
                true
            });
            all.into_inner()
        };
        assert_eq!(said(&[b"--password a", b"bc\nx\ny", b"z"]), ["--password abc\nx\n", "yz\n"]);
        let long = vec![b'x'; 8192];
        let mut pieces: Vec<&[u8]> = vec![&long; 10];
        pieces.extend([&b"secret\nthe end\n"[..], b"more"]);
        assert_eq!(said(&pieces), ["the end\n", "more\n"]);
    }
}
