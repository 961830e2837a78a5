use super::*;
use proptest::prelude::*;

fn one(text: &str) -> Script {
    parse(text.as_bytes()).items.pop().unwrap()
}

/// Options as words, with their lines.
fn words(options: &Options, of: option::Of) -> Vec<(String, u32)> {
    let each = |g: &Given| {
        let mut out = String::new();
        g.write(of, &mut out);
        (out, g.line)
    };
    options.0.iter().map(each).collect()
}

fn asked(text: &str) -> Vec<String> {
    words(&one(text).asked, option::Of::Sbatch).into_iter().map(|(w, _)| w).collect()
}

const SCRIPT: &str = "\
#!/bin/bash
#SBATCH --job-name=secret-name -A account
#SBATCH -N 2 --ntasks-per-node 8   # --nodes=9
#SBATCH --gres=gpu:h100:8,nvme:1
#SBATCH -c14 --mem=0 --exclusive
##SBATCH --nodes=7

# remark
#SBATCH --nodes=4
export X='#SBATCH'
#SBATCH --nodes=5
ulimit -Sl unlimited
srun --container-image=x/y --gpus-per-task=1 \\
  --gpu-bind=map_gpu:0,1,2,3 -l \\
  python train.py --nodes=9
for n in 1 2; do
  ulimit -l 65536; srun $ARGS --mpi pmix --cpu-bind=verbose,cores bash -c \"source x; torchrun --nproc-per-node=8 a.py\" &
done
mpirun -np 16 -npernode 8 -x NCCL_DEBUG ./all_reduce_perf -n 3
torchrun --standalone --nproc_per_node gpu a.py
";

#[test]
fn a_script() {
    let s = one(SCRIPT);
    let all: Vec<(String, u32)> = words(&s.asked, option::Of::Sbatch);
    let want = [
        ("--ntasks-per-node=8", 3),
        ("--gpus-per-node=8", 4),
        ("--cpus-per-task=14", 5),
        ("--mem=0", 5),
        ("--exclusive", 5),
        ("--nodes=4", 9),
    ];
    assert_eq!(all, want.map(|(w, n)| (w.to_owned(), n)));
    assert_eq!((s.line, s.parts), (2, None));
    let memlock: Vec<_> = s.memlock.iter().map(|m| (m.value.limit, m.value.is_inner, m.line)).collect();
    assert_eq!(memlock, [(Some(Limit::Unlimited), false, 12), (Some(Limit::Value(64 << 20)), true, 17)]);
    let steps: Vec<_> = s.steps.iter().map(|s| (s.line, s.launcher, s.open, s.torchrun.map(|t| t.value))).collect();
    let want = [
        (13, Launcher::Srun, None, None),
        (17, Launcher::Srun, Some(17), Some(Processes::Number(8))),
        (19, Launcher::Mpirun, None, None),
        (20, Launcher::Torchrun, None, Some(Processes::PerGpu)),
    ];
    assert_eq!(steps, want);
    let of = |at: usize, of| words(&s.steps[at].options, of);
    let want = [("--gpus-per-task=1".to_owned(), 13), ("--gpu-bind=map".to_owned(), 14)];
    assert_eq!(of(0, option::Of::Srun), want);
    assert_eq!(of(1, option::Of::Srun), [("--cpu-bind=cores".to_owned(), 17)]);
    let want = [("--np 16".to_owned(), 19), ("--npernode 8".to_owned(), 19)];
    assert_eq!(of(2, option::Of::Mpirun), want);
}

#[test]
fn forms_of_options() {
    for (text, want) in [
        ("--gpus-per-node=a100:4", "--gpus-per-node=4"),
        ("--gres gpu", "--gpus-per-node=1"),
        ("--gres=gpu:a100_1g.5gb:2", "--gpus-per-node=1g.10gb:2"),
        ("--gres=gpu:2 --gpus-per-node=4", "--gpus-per-node=4"),
        ("--gres=nvme:1", ""),
        ("-G8", "--gpus=8"),
        ("--gpus v100:3,a100:1", "--gpus=4"),
        ("--tres-per-task=cpu=4,gres/gpu:h100=2", "--gpus-per-task=2"),
        ("--tres-per-task=gres:gpu:1", "--gpus-per-task=1"),
        ("--nodes=2-4", "--nodes=[redacted]"),
        ("--nodes=2-2", "--nodes=2"),
        ("--nodes=$N", "--nodes=[redacted]"),
        ("--gpu-bind=verbose,per_task:2", "--gpu-bind=per_task:2"),
        ("--gpu-bind=mask_gpu:0xf*8", "--gpu-bind=mask"),
        ("--gpu-bind=single", "--gpu-bind=single:1"),
        ("--tres-bind=gres/nic:closest+gres/gpu:none", "--gpu-bind=none"),
        ("--exclusive=user", "--exclusive=user"),
        ("--propagate", "--propagate=ALL"),
        ("--propagate=STACK,memlock", "--propagate=MEMLOCK,STACK"),
        ("--propagate=x", "--propagate=[redacted]"),
        ("--mem=100G", "--mem=102400"),
        ("--hint=nomultithread", "--hint=nomultithread"),
        ("--cpu-bind=mask_cpu:0x1,0x2", "--cpu-bind=mask_cpu"),
        ("--comment \"-N 3\" -N \"2\"", "--nodes=2"),
        ("--nodes", "--nodes=[redacted]"),
    ] {
        let got = asked(&format!("#SBATCH {text}\n"));
        assert_eq!(got.join(" "), want, "{text}");
    }
}

#[test]
fn what_is_no_directive_or_no_command() {
    assert!(parse(b"srun -n 8 x\n").items.is_empty());
    let s = one("#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 2\n");
    assert_eq!((s.parts, s.asked.get(Opt::Ntasks).and_then(Given::number)), (Some(2), Some(1)));
    // A document within the script, shifts of bits, commands within words.
    for text in [
        "cat <<'EOF' > x\nsrun -n 1 x\nulimit -l 1\nEOF\n",
        "cat << EOF\nsrun\nEOF\n",
        "ip=$(srun --nodes=1 hostname)\n",
        "echo \"srun x\"\n",
        "# srun x\n",
        "ulimit -l\nulimit -n 4\n",
        "python x.py --script torchrun.py\n",
    ] {
        let s = one(&format!("#SBATCH -n 1\n{text}"));
        assert_eq!((s.steps.len(), s.memlock.len()), (0, 0), "{text}");
    }
    for text in
        ["echo $((1 << n))\nsrun x\n", "cat <<EOF\na\nEOF\nsrun x\n", "if true; then srun x; fi\n", "A=1 srun x\n"]
    {
        assert_eq!(one(&format!("#SBATCH -n 1\n{text}")).steps.len(), 1, "{text}");
    }
}

#[test]
fn directives_that_are_not_read() {
    let late = one("#!/bin/bash\nset -e\n#SBATCH -n 1\n#SBATCH -N 1\ncat <<EOF\n#SBATCH\nEOF\n");
    assert_eq!((late.line, late.command, late.ignored), (0, Some(2), vec![3, 4]));
    assert!(parse(b"Here is my script:\n#SBATCH -n 1\n").items.is_empty(), "prose is no file");
    let two = parse(b"#!/bin/sh\n#SBATCH -n 1\nsrun a\n#!/bin/sh\n#SBATCH -n 2\nsrun b\n").items;
    assert_eq!(
        two.iter().map(|s| (s.line, s.steps.len(), s.ignored.len())).collect::<Vec<_>>(),
        [(2, 1, 0), (5, 1, 0)]
    );
}

#[test]
fn what_is_beyond_a_limit_is_counted_after_redaction_too() {
    let many = format!("#SBATCH -n 1\n{}", "srun x\n".repeat(JOB_STEPS + 2));
    let scripts = "#!/bin/sh\n#SBATCH -n 1\n".repeat(JOB_SCRIPTS + 3);
    for (text, scripts, steps, more) in [(many, 1, JOB_STEPS, 2), (scripts, JOB_SCRIPTS, 0, 3)] {
        let kept = parse(text.as_bytes());
        assert_eq!((kept.items.len(), kept.items[0].steps.len(), kept.left_out[0].count), (scripts, steps, more));
        assert_eq!(parse(&shown(text.as_bytes())), kept);
    }
}

#[test]
fn numbers_in_variables() {
    for (text, want) in [
        ("N=4\ntorchrun --nproc_per_node=$N a.py\n", Processes::Number(4)),
        ("export N=4 M=8\nsrun torchrun --nproc_per_node ${M} a.py\n", Processes::Number(8)),
        ("N=4\nN=$(nvidia-smi -L | wc -l)\ntorchrun --nproc_per_node=$N a.py\n", Processes::Unknown),
        ("N=4\nif x; then\n  N=8\nfi\ntorchrun --nproc_per_node=$N a.py\n", Processes::Unknown),
        ("srun torchrun --nproc_per_node=$SLURM_GPUS_PER_NODE a.py\n", Processes::GpusOnNode),
        ("srun torchrun --nproc_per_node=\"${SLURM_NTASKS_PER_NODE}\" a.py\n", Processes::TasksPerNode),
        ("srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 4 --rdzv_id $X a.py\n", Processes::Number(4)),
        ("srun torchrun --standalone $ARGS --nproc_per_node 4 a.py\n", Processes::Unknown),
        ("uv run torchrun --nproc_per_node=8 a.py\n", Processes::Number(8)),
        ("timeout --signal=TERM 600s srun --nodes=2 torchrun a.py --nproc_per_node=3\n", Processes::Number(1)),
        ("A=1 srun torchrun ${ARGS[@]} a.py\n", Processes::Unknown),
    ] {
        let s = one(&format!("#SBATCH -n 1\n{text}"));
        assert_eq!(s.steps[0].torchrun.map(|t| t.value), Some(want), "{text}");
    }
    let s = one("#SBATCH -n 1\nN=2\nsrun --nodes=$N x\n");
    assert_eq!(s.steps[0].options.get(Opt::Nodes).and_then(Given::number), Some(2));
}

#[test]
fn what_is_shown_holds_nothing_else() {
    let kept = String::from_utf8(shown(SCRIPT.as_bytes())).unwrap();
    assert_eq!(parse(kept.as_bytes()), parse(SCRIPT.as_bytes()), "{kept}");
    assert_eq!(kept.lines().count(), SCRIPT.lines().count());
    for word in ["secret", "account", "remark", "train", "x/y", "ARGS", "python", "NCCL"] {
        assert!(!kept.contains(word), "{word}: {kept}");
    }
    assert_eq!(shown(kept.as_bytes()), kept.as_bytes());
    assert_eq!(shown(b""), b"");
    assert_eq!(shown(b"a\nb\n"), b"\n\n", "no script");
}

const PIECES: [&str; 38] = [
    "#!/bin/sh\n",
    "N=4\n",
    "set -e\n",
    "$N ",
    "#SBATCH ",
    "#SBATCH",
    "\n",
    "\n",
    "\\\n",
    " ",
    " ",
    "srun ",
    "mpirun ",
    "torchrun ",
    "--nodes=2 ",
    "-N ",
    "-n",
    "8 ",
    "--gres=gpu:4 ",
    "--gpus-per-task=1 ",
    "--gpu-bind=none ",
    "--propagate ",
    "hetjob",
    "ulimit -l ",
    "unlimited",
    "64; ",
    "--nproc_per_node=",
    "$X ",
    "\"",
    "'",
    "#",
    "<<EOF",
    "EOF\n",
    "if x; then ",
    "bash -c ",
    "python -m torch.distributed.run ",
    "-- ",
    "=",
];

proptest! {
    #[test]
    fn what_is_shown_is_read_alike(all in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        let text = format!("#SBATCH -n 1\n{}", all.concat());
        let kept = shown(text.as_bytes());
        prop_assert_eq!(parse(&kept), parse(text.as_bytes()), "{:?} became {:?}", text, String::from_utf8_lossy(&kept));
        prop_assert_eq!(shown(&kept), kept);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = [b"#SBATCH ", bytes.as_slice()].concat();
        prop_assert_eq!(parse(&shown(&text)), parse(&text));
    }
}
