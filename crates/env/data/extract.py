#!/usr/bin/env python3
"""Writes registry.tsv: every NCCL_ variable that NCCL's releases read, with first and last release and defaults.

    extract.py PATH-OF-A-GIT-CLONE-OF-NVIDIA/nccl > registry.tsv

Read from the sources of each tag: NCCL_PARAM and DEFINE_NCCL_PARAM, getenv and its relatives with a literal, and literals
that are a whole name (levels are read through ncclGetLevel, which takes names). Columns: name, kind, file of the newest
release that has it, spans. A span is FIRST-LAST=DEFAULT; `?` is a default that the code computes or a text that is unset,
`undef` one that the communicator's configuration decides.
"""
import re
import subprocess
import sys

CLONE = sys.argv[1]
OLDEST = (2, 3, 5)
# Literals that are no variables.
NOT = {"NCCL_", "NCCL_GIN_CONNECTION_RAIL", "NCCL_COMM_PROPERTIES_INITIALIZER", "NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER"}
NAMED = {
    "NCCL_CONFIG_UNDEF_INT": "undef", "cudaLaunchMemSyncDomainRemote": "1", "SHM_RECV_SIDE": "2", "SHM_SEND_SIDE": "1",
    "NCCL_MAX_DEV_WORK_P2P_PER_BATCH": "8", "NCCL_GIN_MAX_CONTEXTS": "4", "PATH_PHB": "2", "false": "0", "true": "1",
    "INT64_MAX": "9223372036854775807", "nullptr": "?",
}


def git(*args):
    return subprocess.check_output(["git", "-C", CLONE, *args]).decode("utf8", "replace")


def key(tag):
    return tuple(map(int, re.match(r"v(\d+)\.(\d+)\.(\d+)-(\d)$", tag).groups()))


def release(tag):
    return tag[1:].rsplit("-", 1)[0]


def arguments(text, at):
    """The arguments of a macro whose opening parenthesis is before `at`."""
    depth, out, found, quoted = 1, "", [], False
    while at < len(text):
        c = text[at]
        if quoted:
            out += c
            if c == "\\":
                at += 1
                out += text[at]
            quoted = c != '"'
        elif c == '"':
            quoted, out = True, out + c
        elif c in "({[":
            depth, out = depth + 1, out + c
        elif c in ")}]":
            depth -= 1
            if depth == 0:
                return found + [out.strip()]
            out += c
        elif c == "," and depth == 1:
            found.append(out.strip())
            out = ""
        else:
            out += c
        at += 1
    return found


def number(expression, names):
    e = names.get(expression, expression)
    if e in ("?", "undef"):
        return e
    e = re.sub(r"(?<=\d)[uUlL]+", "", e)
    return str(eval(e)) if re.fullmatch(r"[\d\s()*<+-]+", e) else "?"


def scan(text):
    """(name, default or None) of each read."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'(?m)//(?![^"\n]*"[^"\n]*$).*$', "", text)
    for m in re.finditer(r"\bNCCL_PARAM\s*\(", text):
        a = arguments(text, m.end())
        if len(a) == 3 and a[1].startswith('"'):
            yield "NCCL_" + a[1].strip('"'), a[2]
    for m in re.finditer(r"\bDEFINE_NCCL_PARAM\s*\(", text):
        a = arguments(text, m.end())
        if len(a) > 3 and a[2].startswith("NCCL_"):
            yield a[2], a[3]
    for m in re.finditer(r'"(NCCL_[A-Z0-9_]+)"', text):
        yield m.group(1), None


def main():
    tags = [t for t in git("tag").split() if re.match(r"v2\.\d+\.\d+-\d$", t)]
    tags = sorted((t for t in tags if key(t)[:3] >= OLDEST), key=key)
    releases, blobs, seen = [], {}, {}
    for tag in tags:
        r = release(tag)
        if r not in releases:
            releases.append(r)
        names = dict(NAMED)
        for line in git("ls-tree", "-r", tag, "src").splitlines():
            meta, path = line.split("\t")
            blob = meta.split()[2]
            if not re.search(r"\.(cc|h|hpp|cu|c|cuh|cpp)$", path):
                continue
            if blob not in blobs:
                text = git("cat-file", "blob", blob)
                macros = re.findall(r"(?m)^#define (MAXCHANNELS|NCCL_WORK_FIFO_BYTES_DEFAULT|DEFAULT_MIN_NRINGS|DEFAULT_BUFFER_SIZE_BYTES) ([^/\n]*)", text)
                blobs[blob] = (list(scan(text)), macros)
            names.update((n, v.strip()) for n, v in blobs[blob][1])
            for name, default in blobs[blob][0]:
                if name not in NOT:
                    seen.setdefault(name, {}).setdefault(r, []).append((path, default, names))
    print("# Made by extract.py from NCCL's own sources.")
    print("# releases", *releases)
    at = {r: i for i, r in enumerate(releases)}
    for name in sorted(seen):
        spans, path, integer, values = [], "", False, set()
        for r in sorted(seen[name], key=at.get):
            reads = seen[name][r]
            defaults = {number(d, n) for _, d, n in reads if d is not None}
            integer = bool(defaults)
            default = sorted(defaults)[0] if len(defaults) == 1 else "?"
            values.add(default)
            path = sorted({(d is None, p) for p, d, _ in reads})[0][1]
            if spans and spans[-1][2] == default and at[spans[-1][1]] == at[r] - 1:
                spans[-1][1] = r
            else:
                spans.append([r, r, default])
        switch = re.search(r"(ENABLE|DISABLE|IGNORE)", name) and values <= {"0", "1", "?", "undef"}
        kind = "bool" if integer and switch else "int" if integer else "text"
        print(name, kind, path, " ".join(f"{a}-{b}={d}" for a, b, d in spans), sep="\t")


main()
