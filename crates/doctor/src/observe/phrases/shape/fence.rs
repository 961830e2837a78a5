//! Blocks between Markdown's fences.

use super::has;
use crate::observe::phrases::words::CODE_BLOCKS;

/// Blocks between Markdown's fences.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    open: bool,
    code: bool,
}

impl Fence {
    /// Whether the line is a fence.
    pub(crate) fn turns(&mut self, line: &str) -> bool {
        let text = line.trim_start_matches([' ', '>', '\t']);
        let Some(rest) = text.strip_prefix("```").or_else(|| text.strip_prefix("~~~")) else { return false };
        let name = rest.trim().to_ascii_lowercase();
        if name.contains(' ') || name.contains('`') {
            return false;
        }
        self.code = !self.open && has(CODE_BLOCKS, &name);
        self.open = !self.open;
        true
    }

    /// In a block of code or output: of code nothing counts.
    pub(crate) fn is_open(&self) -> Option<Block> {
        self.open.then_some(if self.code { Block::Code } else { Block::Output })
    }
}

/// What a fenced block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Code,
    Output,
}
