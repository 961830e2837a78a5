use super::*;
use proptest::prelude::*;

/// As Slurm 24.05 prints two nodes; the reason has several lines, one of which looks like a field, and people's own field follows.
const TEXT: &str = "\
NodeName=gpu7 Arch=x86_64 CoresPerSocket=56 
   CPUAlloc=26 CPUEfctv=222 CPUTot=224 CPULoad=19.22
   AvailableFeatures=h100,ib,iommu-pt
   ActiveFeatures=h100,ib
   Gres=gpu:h100:8(S:0-1),shard:h100:32(S:0,1)
   GresDrain=N/A
   GresUsed=gpu:h100:3(IDX:0-1,5),shard:h100:0(0/4,0/4)
   NodeAddr=gpu7 NodeHostName=gpu7 Port=17001 Version=24.05.2
   OS=Linux 6.8.0-60-generic #63-Ubuntu SMP Thu Jan 5 11:43:13 UTC 2026 
   RealMemory=2063000 AllocMem=147456 FreeMem=N/A Sockets=2 Boards=1
   CoreSpecCount=2 CPUSpecList=110-111,222-223 
   State=MIXED+DRAIN+NOT_RESPONDING ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=train,debug 
   BootTime=2026-11-02T08:37:48 SlurmdStartTime=2026-11-02T08:38:18
   LastBusyTime=2026-11-20T09:11:09 ResumeAfterTime=None
   CfgTRES=cpu=222,mem=2063000M,billing=222,gres/gpu=8
   AllocTRES=cpu=26,mem=144G,gres/gpu=3
   CurrentWatts=0 AveWatts=0
   
   Reason=Xid 79 on two GPUs [alice@2026-11-20T10:00:00]
          Gres=gpu:99
          NodeName=evil
   Comment=State=IDLE

NodeName=cpu1 CoresPerSocket=1 
   CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=N/A
   AvailableFeatures=(null)
   ActiveFeatures=(null)
   Gres=(null)
   NodeAddr=cpu1 NodeHostName=cpu1.example.org 
   RealMemory=1 AllocMem=0 FreeMem=N/A Sockets=8 Boards=1
   State=DOWN* ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A

";

fn words<T: AsRef<[String]>>(at: &Option<At<T>>) -> Vec<&str> {
    at.iter().flat_map(|a| a.value.as_ref()).map(String::as_str).collect()
}

fn gres(at: &Option<At<Vec<Gres>>>) -> Vec<(String, u64)> {
    at.iter().flat_map(|a| &a.value).map(|g| (g.key(), g.count)).collect()
}

#[test]
fn fields_of_a_text() {
    let all = read(TEXT.as_bytes()).items;
    let names: Vec<_> = all.iter().map(|n| (n.name.as_str(), n.line)).collect();
    // What people wrote as a reason is theirs: a blank line of the tool's own does not end a node.
    assert_eq!(names, [("gpu7", 1), ("cpu1", 25)]);
    let n = &all[0];
    assert_eq!(words(&n.active), ["h100", "ib"]);
    assert_eq!(words(&n.available), ["h100", "ib", "iommu-pt"]);
    assert_eq!(gres(&n.gres), [("gpu:h100".to_owned(), 8), ("shard:h100".to_owned(), 32)]);
    assert_eq!(gres(&n.used), [("gpu:h100".to_owned(), 3), ("shard:h100".to_owned(), 0)]);
    assert_eq!(words(&n.state), ["MIXED", "DRAIN", "NOT_RESPONDING"]);
    assert_eq!(n.reason.as_ref().map(|r| (r.value.as_str(), r.line)), Some(("Xid 79 on two GPUs", 20)));
    assert_eq!(n.reason_time.as_deref(), Some("2026-11-20T10:00:00"));
    let numbers = [&n.memory_mib, &n.cpus, &n.sockets, &n.boards].map(|n| n.as_ref().map(|n| n.value));
    assert_eq!(numbers, [Some(2_063_000), Some(224), Some(2), Some(1)]);
    assert_eq!(n.gres.as_ref().map(|g| g.line), Some(5));
    let n = &all[1];
    assert_eq!(words(&n.active), [""; 0]);
    assert_eq!(n.active.as_ref().map(|a| a.line), Some(28), "it has none, which is known");
    assert_eq!((gres(&n.gres).len(), words(&n.state)), (0, vec!["DOWN", "NOT_RESPONDING"]));
}

#[test]
fn one_line_for_each_node() {
    let text = "Node data as of 2026-11-20T10:00:00, record count 2\n\
NodeName=a Arch=x86_64 CoresPerSocket=1    CPUAlloc=0 CPUTot=8 CPULoad=0.99   AvailableFeatures=x   ActiveFeatures=x   Gres=gpu:8   NodeAddr=a NodeHostName=a Version=22.05.8  OS=Linux 6.1 #1 SMP State=odd  RealMemory=1 AllocMem=0 FreeMem=340 Sockets=8 Boards=1   State=IDLE+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A   Partitions=p   BootTime=None SlurmdStartTime=None   CfgTRES=cpu=8,mem=1M,billing=8   AllocTRES=   CurrentWatts=0 AveWatts=0      Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2026-11-20T10:00:00] Comment=Gres=none\n\
NodeName=b CoresPerSocket=1    CPUAlloc=0 CPUTot=8 Gres=(null)  State=IDLE~\n";
    let all = read(text.as_bytes()).items;
    assert_eq!(all.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(gres(&all[0].gres), [("gpu".to_owned(), 8)]);
    assert_eq!(words(&all[0].state), ["IDLE", "DRAIN"]);
    let reason = all[0].reason.as_ref().map(|r| r.value.as_str());
    assert_eq!(reason, Some("gres/gpu count reported lower than configured (7 < 8)"));
    assert_eq!(words(&all[1].state), ["IDLE", "POWERED_DOWN"]);
}

/// Fields that are not read stand between those that are: 22.05 prints sensors before the reason.
#[test]
fn fields_of_another_release() {
    let text = "NodeName=n1 Arch=x86_64 CoresPerSocket=1 \n   Gres=gpu:h100:8,craynetwork:4K\n   State=UNKNOWN+DRAIN+INVALID_REG ThreadsPerCore=1 MCS_label=N/A\n   \
                CapWatts=n/a\n   CurrentWatts=0 AveWatts=0\n   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n   \
                Reason=gres/gpu count reported lower than configured (0 < 8) [root@2026-11-20T10:00:00]\n\n";
    for text in [text.to_owned(), text.trim_end().replace('\n', " ")] {
        let all = read(text.as_bytes()).items;
        assert_eq!(words(&all[0].state), ["UNKNOWN", "DRAIN", "INVALID_REG"], "{text}");
        assert_eq!(gres(&all[0].gres), [("gpu:h100".to_owned(), 8), ("craynetwork".to_owned(), 4096)]);
        let reason = all[0].reason.as_ref().map(|r| r.value.as_str());
        assert_eq!(reason, Some("gres/gpu count reported lower than configured (0 < 8)"));
        assert_eq!(all[0].reason_time.as_deref(), Some("2026-11-20T10:00:00"));
    }
}

#[test]
fn forms_of_resources() {
    let known: &[(&str, &[(&str, u64)])] = &[
        ("gpu:h100:8(S:0-1)", &[("gpu:h100", 8)]),
        ("gpu:8(IDX:0-7)", &[("gpu", 8)]),
        ("gpu:h100:0(IDX:N/A)", &[("gpu:h100", 0)]),
        ("gpu:(null):4(IDX:0-3)", &[("gpu", 4)]),
        ("gpu:a100:2(S:0,2),gpu:v100:1(S:1),craynetwork:4", &[("gpu:a100", 2), ("gpu:v100", 1), ("craynetwork", 4)]),
        ("gpu:nvidia_h100_80gb_hbm3:8", &[("gpu:nvidia_h100_80gb_hbm3", 8)]),
        ("gpu:nvidia_a100_1g.10gb:7", &[("gpu:nvidia_a100_1g.10gb", 7)]),
        ("gpu:2080ti:4", &[("gpu:2080ti", 4)]),
        ("gpu:2080ti", &[("gpu:2080ti", 1)]),
        ("gpu", &[("gpu", 1)]),
        (
            "gpu_mem:80G,bandwidth:lustre:4K,tmp:no_consume:2M",
            &[("gpu_mem", 80 << 30), ("bandwidth:lustre", 4096), ("tmp", 2 << 20)],
        ),
        ("(null)", &[]),
        ("N/A", &[]),
        ("", &[]),
        ("gpu:h100:many,,:8,gpu:1:99999999999999999999", &[]),
    ];
    for (text, expected) in known {
        let found: Vec<_> = gres::parse(text).iter().map(|g| (g.key(), g.count)).collect();
        let expected: Vec<_> = expected.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn json_of_several_releases() {
    for text in [
        r#"{"nodes":[{"name":"a","features":"x,y","active_features":"x","gres":"gpu:8","state":"idle","state_flags":["DRAIN"],"real_memory":2063000,"sockets":2,"reason":"a\nb"}]}"#,
        r#"{"nodes":[{"name":"a","features":["x","y"],"active_features":["x"],"gres":"gpu:8(S:0-1)","state":["IDLE","DRAIN"],"real_memory":2063000,"sockets":2,"reason":"a b","reason_changed_at":{"set":true,"infinite":false,"number":1}}]}"#,
    ] {
        let all = read(text.as_bytes()).items;
        let n = &all[0];
        assert_eq!(
            (words(&n.available), words(&n.active), words(&n.state)),
            (vec!["x", "y"], vec!["x"], vec!["IDLE", "DRAIN"])
        );
        assert_eq!((gres(&n.gres), n.sockets.as_ref().map(|s| s.value)), (vec![("gpu".to_owned(), 8)], Some(2)));
        assert_eq!(n.reason.as_ref().map(|r| r.value.as_str()), Some("a b"));
    }
    assert!(read(b"{\"nodes\": 1}").items.is_empty() && read(b"{").items.is_empty());
}

/// A node without lines.
fn bare(mut n: Node) -> Node {
    n.line = 0;
    for at in [&mut n.available, &mut n.active, &mut n.state].into_iter().flatten() {
        at.line = 0;
    }
    [&mut n.gres, &mut n.used].into_iter().flatten().for_each(|a| a.line = 0);
    [&mut n.memory_mib, &mut n.cpus, &mut n.sockets, &mut n.boards].into_iter().flatten().for_each(|a| a.line = 0);
    n.reason.iter_mut().for_each(|r| r.line = 0);
    n
}

#[test]
fn what_is_written_is_read_again() {
    for node in read(TEXT.as_bytes()).items {
        let written = node.write();
        assert_eq!(read(written.as_bytes()).items.into_iter().map(bare).collect::<Vec<_>>(), [bare(node)]);
        assert!(!written.contains("alice"));
        assert_eq!(crate::sniff::sniff("stdout", written.as_bytes()), crate::Kind::SlurmNodes);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(NodeName=|Gres=|State=|Reason=|gpu:|[(),:=+*\\n 0-9a-zé]){0,40}") {
        let _ = read(text.as_bytes());
    }

    #[test]
    fn any_resources_are_read(text in "[a-z0-9:(),KM-]{0,60}") {
        let all = gres::parse(&text);
        prop_assert!(all.len() <= text.len());
    }
}
