//! Lines that NCCL did not print.

use super::kernel::Device;
use super::keys::{Bound, Logged, Recovered};
use super::names::Name;
use super::programs::perftest::Said;
use super::record::trouble;
use super::words::{self, Readers};
use super::{Observer, frameworks, kernel, programs, titles};
use crate::observe::groups::Seen;
use crate::observe::trouble::{FrameworkTrouble, KernelTrouble, ToolTrouble};
use crate::place::{FileId, Place};
use linerate_formats::dmesg::NAMED_FOR;
use linerate_formats::nccl_log::{Failure, stamp};
use linerate_formats::xid::Detail;
use linerate_formats::{printed, torch_log};

/// Devices, and GPUs with a recovery action, at most.
const MAX_BOUND: usize = 4096;

impl Observer {
    /// A line that NCCL did not print.
    pub(super) fn other(&mut self, place: Place, line: &str) {
        if line.is_empty() {
            return;
        }
        self.whose.line(line);
        let (before, searched) = (self.file(place.file).other, self.searched);
        self.program(place, line);
        // What no program said is a person's, or of no interest.
        if self.file(place.file).other == before {
            if let Some(voice) = self.voices.get_mut(place.file.0 as usize) {
                voice.line(place.line, line);
            }
            let sets = line.contains("NCCL_");
            if sets {
                self.launch(place, line);
            }
            let dressed = self.look_again(place, line);
            self.look_for_phrases(place, line);
            if (sets || dressed) && self.searched == searched {
                self.searched += line.len() as u64;
            }
        }
    }

    /// A line of another program than NCCL.
    fn program(&mut self, place: Place, line: &str) {
        let number = u32::try_from(place.line).unwrap_or(u32::MAX);
        self.tables.nccl_tests.line(number, line.as_bytes());
        self.tables.perftest.line(number, line.as_bytes());
        self.tables.steps.line(number, line.as_bytes());
        let names = &mut self.names;
        let seen = |stamp| Seen { place, text: line, stamp, process: None, rank: None, host: None };
        self.tool_lines.header(line);
        self.gpu_buffers |= programs::is_gpu_buffer(line);
        if let Some(torch) = self.torch.line(number, line.as_bytes()) {
            self.sequences.read(&torch);
            if let Some(key) = frameworks::trouble(&torch, names) {
                self.frameworks.add(key, &seen(stamp::find(line)));
            }
            // NCCL's own words in an exception.
            if let torch_log::Event::LastError { text } = &torch.event {
                self.quoted(place, text);
            } else if let Some(words) = frameworks::last_error(line) {
                self.quoted(place, words);
            }
            self.file(place.file).other += 1;
            return;
        }
        if let Some(status) = self.entries.line(line) {
            self.tools.add(ToolTrouble::Entry(status), &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        if self.matrices.line(line) {
            self.tools.add(ToolTrouble::P2pSlower, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        let Some(readers) = words::readers(line) else { return };
        self.searched += line.len() as u64;
        if readers.has(Readers::NCCL) && self.quoted(place, line) {
            return;
        }
        if readers.has(Readers::OTHERS) && printed::own(line).text.starts_with("RCCL version : ") {
            self.rccl = true;
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::KERNEL)
            && let Some(device) = kernel::device(line)
        {
            match device {
                Device::Named(gpu) => self.named_gpu = Some((place, gpu)),
                Device::Bound(of) => {
                    let device = Bound { of, host: self.host_of(line) };
                    if self.bound.len() < MAX_BOUND && !self.bound.contains(&device) {
                        self.bound.push(device);
                    }
                }
            }
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::KERNEL)
            && let Some(trouble) = kernel::read(line)
        {
            let host = self.host_of(line);
            let near = |at: &Place| at.file == place.file && place.line.saturating_sub(at.line) <= u64::from(NAMED_FOR);
            let named = self.named_gpu.filter(|(at, _)| near(at));
            let trouble = named.map_or(trouble, |(_, gpu)| kernel::of_gpu(trouble, gpu));
            let key = Logged { trouble, host };
            self.recovery(place.file, key);
            self.kernel.add(key, &Seen { host, ..seen(stamp::find(line)) });
            self.file(place.file).other += 1;
            return;
        }
        let names = &mut self.names;
        if place.line <= titles::LINES
            && let Some((text, failure)) = titles::quoted(line)
        {
            let key = trouble(&failure, names);
            self.failures.add(key, &Seen { place, text, stamp: None, process: None, rank: None, host: None });
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::PROGRAMS)
            && let Some(said) = self.perftest_lines.line(place.line, line)
        {
            match said {
                Said::Tool(key) => self.tools.add(key, &seen(None)),
                Said::Failed(failure) => self.failures.add(trouble(&failure, names), &seen(None)),
                Said::Follows => None,
            };
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::PROGRAMS)
            && let Some(failure) = programs::failure(line)
        {
            let key = trouble(&failure, names);
            self.failures.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::ENDED)
            && let Some(key) = frameworks::ended(line).or_else(|| frameworks::nccl_tests(line))
        {
            if matches!(key, FrameworkTrouble::Ended | FrameworkTrouble::Killed) {
                self.says.ended();
            }
            self.frameworks.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        let of_program = || readers.has(Readers::PROGRAMS).then(|| programs::tool(line)).flatten();
        let of_tool = || readers.has(Readers::TOOLS).then(|| self.tool_lines.read(line, names)).flatten();
        if let Some(key) = of_program().or_else(of_tool) {
            self.tools.add(key, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        if readers.has(Readers::SAYS)
            && let Some((which, headed)) = self.says.read(line)
        {
            self.tools.add(ToolTrouble::Says { which, headed }, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        // CUDA's words in a program's own error.
        if readers.has(Readers::CUDA)
            && let Some((code, error)) = frameworks::cuda(line)
        {
            let key = trouble(&Failure::Cuda { code, error }, names);
            self.failures.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
        }
    }

    /// The host that a line of the kernel's log, or what is above it, names.
    fn host_of(&mut self, line: &str) -> Option<Name> {
        let host = kernel::host(line).or_else(|| self.whose.host().map(str::to_owned));
        host.map(|host| self.names.id(&host))
    }

    fn recovery(&mut self, file: FileId, Logged { trouble, host }: Logged) {
        let KernelTrouble::Xid { gpu, detail: Detail::Recovery(action), .. } = trouble else { return };
        let room = self.recoveries.len() < MAX_BOUND;
        match self.recoveries.iter_mut().find(|r| (r.file, r.host, r.gpu) == (file, host, gpu)) {
            Some(last) => last.action = action,
            None if room => self.recoveries.push(Recovered { file, host, gpu, action }),
            None => {}
        }
    }
}
