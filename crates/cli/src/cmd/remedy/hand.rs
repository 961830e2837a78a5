//! `linerate hand`: what the driver asks on a node. One request, one answer.

use crate::output::Failure;
use linerate_apply::hand::{Root, serve_bytes};
use linerate_apply::loader::Loaders;
use std::io::Write;
use std::path::Path;

pub(crate) fn run() -> Result<u8, Failure> {
    let text = super::read_all(std::io::stdin().lock())?;
    let root = Root::open(Path::new("/"))?;
    let served = serve_bytes(&text, &root, &Loaders);
    let text = serde_json::to_vec(&served.answer)?;
    let mut out = std::io::stdout().lock();
    // Who asked may be gone; the journal knows what was done.
    let _ = out.write_all(&text).and_then(|()| out.flush());
    if let Some(after) = served.after {
        after.run(&root)?;
    }
    Ok(u8::from(!served.answer.refused.is_empty()))
}
