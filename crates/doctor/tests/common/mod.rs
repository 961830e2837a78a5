//! Answers to texts, as tests ask for them.
#![allow(dead_code, unreachable_pub)] // each test takes what it needs

use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{Observer, Reader, conclude};
use std::path::Path;

/// The answer to texts, each a file of its own.
pub fn answer_to(texts: &[(&str, &[u8])]) -> Answer {
    let mut observer = Observer::default();
    for (name, bytes) in texts {
        let mut reader = Reader::new(&mut observer, name);
        reader.feed(&mut observer, bytes);
        reader.finish(&mut observer);
    }
    conclude(&observer, &[])
}

pub fn answer(text: &str) -> Answer {
    answer_to(&[("log", text.as_bytes())])
}

/// The answer to a directory's files but for its truth.
pub fn answer_to_dir(dir: &Path) -> Answer {
    let mut files: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.sort();
    files.retain(|f| f.file_name().is_some_and(|n| n != "truth.md"));
    let read: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|f| {
            (f.file_name().unwrap_or_default().to_string_lossy().into_owned(), std::fs::read(f).unwrap_or_default())
        })
        .collect();
    answer_to(&read.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>())
}

/// All causes, the first first.
pub fn ids(a: &Answer) -> Vec<&'static str> {
    a.causes.iter().map(|c| c.id).collect()
}

/// Causes that are asserted: more than possible.
pub fn asserted(a: &Answer) -> Vec<&'static str> {
    a.causes.iter().filter(|c| c.confidence > Confidence::Possible).map(|c| c.id).collect()
}
