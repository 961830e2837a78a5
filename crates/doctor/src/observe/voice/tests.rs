use super::*;

const LINE: &str = "<LINE>";

/// Whether the marked line is quoted.
fn quoted(text: &str) -> bool {
    let mut voice = Voice::default();
    let mut at = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if line == LINE { at = number } else { voice.line(number, line) }
    }
    voice.quotes(at)
}

#[test]
fn authors_quote() {
    for text in [
        "The GPU is no longer reachable.\nTypical kernel-log signature\n<LINE>",
        "When memory runs out you will find something like the following in the log.\n```\n<LINE>\n```",
        "Now the limit may be exceeded. This PR disables the transport.\nBefore:\n```\n<LINE>\n```\nAfter:\n```\nx\n```",
        "fix(xid): detect logs of lost GPUs as errors\nSome drivers emit it in lines\n```\n<LINE>\n```",
        "# What it means\nThe device is gone.\n<LINE>\n# How to diagnose it",
        "## Objective\nAdd a rule that matches the pattern of this warning.\n<LINE>",
        "Check the cables of the card first.\nReseat the card if that does not help.\nThis error usually indicates bad power.\n<LINE>",
        "NVLink errors\n\nError\n<LINE>\n\nCause\n    A link failed.\n\nSolution\n    Reset the GPU.",
        "Q: What does this error mean?\n<LINE>\nA: The limit is too low in the container.",
        "Release notes 1.4.2\nMessages of this kind no longer appear:\n<LINE>",
        "<!-- Paste the log here. Example:\n<LINE>\n-->",
        "Fällt eine Karte aus, steht im Journal zum Beispiel:\n<LINE>",
        "diff --git a/t.txt b/t.txt\n--- a/t.txt\n+++ b/t.txt\n@@ -1,2 +1,3 @@\n<LINE>",
        "test('classifies', () => {\n<LINE>\n`)\nexpect(out.kind).toBe('lost')",
        "Feature request: an alert for lost GPUs. It should match this line:\n<LINE>",
        "The module must be loaded first. Otherwise:\n\n$ sudo modprobe nvidia-peermem\n<LINE>",
        "closes #123\n\nRetry on transient errors.\n<LINE>",
        "# dmesg excerpt used by the parser's unit tests\n<LINE>",
        "The agent raises an alert for lines of this kind:\n<LINE>",
        "当GPU掉卡时,内核日志中会出现如下信息:\n<LINE>\n此时需要重启服务器,并检查电源和插槽。",
        "- **Symptoms:** jobs hang at once\n- **Root cause:** the link is lost\n<LINE>",
    ] {
        assert!(quoted(text), "{text}");
    }
}

#[test]
fn reporters_do_not() {
    for text in [
        "<LINE>",
        "```\n<LINE>\n```",
        "Here is my dmesg:\n<LINE>",
        "Hello, training hangs after an hour. It looks like a lost GPU.\n\n<LINE>\n\nCan you tell me what this means?",
        "We have 8 nodes. One of them often dies, usually at night.\n<LINE>",
        "### Describe the bug\nThe error message below appears, and it looks like a driver bug.\n<LINE>",
        "I get errors such as:\n<LINE>",
        "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n<LINE>",
        "Bug report\n\nOverview\nThe worker dies.\n\nActual results\n<LINE>\n\nAdditional info\nUsually after 3 hours.",
        "The job crashed again tonight.\n<LINE>\nThe riser was replaced already. Usually it happens under full load.",
        "Hallo zusammen, mein Server stürzt ab. Im Journal steht:\n<LINE>\nHat jemand eine Idee?",
        "Training fails. The error message:\n<LINE>\nFor example with four GPUs.",
        "报错如下,请问怎么解决\n<LINE>",
    ] {
        assert!(!quoted(text), "{text}");
    }
    let log = "step=4711 loss=0.12 lr=1e-4 [00:12<00:13]\n".repeat(300);
    assert!(!quoted(&format!("for example you may see such lines\n{log}<LINE>")));
}
