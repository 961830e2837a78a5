//! Words by which the shape of a line is known.

/// Languages of a fenced block that is code.
pub(super) const CODE_BLOCKS: &str = "\
    c cpp c++ cuda cu go golang rust rs python py java js javascript ts typescript diff patch yaml yml toml dockerfile hcl promql \
    regex sql perl";
/// Commands with which a line of a shell begins.
pub(super) const COMMANDS: &str = "\
    sudo export grep egrep rg dmesg journalctl echo cat tail modprobe docker kubectl systemctl mpirun mpiexec srun sbatch python \
    python3 if elif for while case git helm curl awk sed ./configure make apt apt-get yum dnf pip bash sh ssh ulimit";
/// Keys of rules, tests and descriptions.
pub(super) const KEYS: &str = "\
    regex pattern patterns match expr description name summary title alert rule example examples query filter search test input \
    expected want reason_regex keyword keywords fix feat docs doc symptom symptoms cause meaning solution impact subject changelog \
    note todo";
/// What is in the bracket of a title.
pub(super) const TICKETS: &str = "\
    bug feature fix question doc rfc usage issue x help patch v2 perf ci test misc hardware installation performance roadmap wip \
    refactor chore";
/// Levels of loggers.
pub(super) const LEVELS: &str = "\
    ERROR WARN WARNING FATAL CRITICAL INFO DEBUG TRACE SEVERE ERR NOTICE E W F *ERROR* level=error level=warning level=fatal \
    level=info severity=error";
/// With their colon only: the words are everybody's.
pub(super) const SMALL_LEVELS: &str = "\
    error: warn: warning: fatal: err:";
/// With these a sentence begins.
pub(super) const ARTICLES: &str = "\
    the a an this these some all my our there";
/// Levels at which programs say that something is so, and no trouble.
pub(super) const CALM: &str = "\
    INFO DEBUG TRACE NOTICE level=info level=debug DIAG info debug";
/// People, who tell of a message.
pub(super) const PEOPLE: &str = "\
    i i'm i've we we've you your my our they he see sees seeing saw seen says said shows showing example e.g fixes fixed adds detects \
    handles whenever because although reported usually typically";
/// Other words before a message that somebody describes.
pub(super) const TELLING: &str = "\
    get gets getting got when if since but where which that these those say show shown like such fix fixing add added handle handling \
    detect detecting about regarding caused cause means often sometimes following observed hit hits hitting encountered encounter \
    report reports title should would could will may might avoid avoids prevent prevents ignore improve improved support supports \
    classify treat alert monitor document explain is was are were so and did returns prints printed logged logs";
/// Words of people behind a message.
pub(super) const AFTER: &str = "\
    i i'm i've we we've my our because means indicates usually typically often sometimes however fixed workaround happens occurs \
    appears anyone thanks why how but although then which whenever seems afterwards again messages errors when after would did was \
    were explained documented";
/// Pieces of sources, formats and patterns.
#[rustfmt::skip]
pub(super) const CODE: &[&str] = &[
    "%s", "%d", "%u", "%lu", "%x", "%zu", "%ld", "%p", "{}", "{0}", ".*", "\\d", "\\s", "\\w", "\\[",
    "\\.", "(?i)", "printf", "println", "print(", "raise ", "throw ", "return ", "assert", "if (",
    "if(", "for (", "=> ", "def ", "func ", "fn ", "const ", "static ", "#define", "strerror", "log.",
    "logger.", "LOG(", "LOG_", "_err(", "_warn(", "_error(", "_info(", "fmt.", "errors.", "strings.",
    "contains(", "regexp", "re.compile", "expect(", "$labels", "{{", "${", "grep ", "echo ", "f\"",
    "_msg(", "_debug(",
];
/// More of them, where no block has the line.
pub(super) const TOLD: &str = "is are says say said what";
