use super::*;

#[test]
fn heads_are_machines() {
    for head in [
        "[0] ",
        "E0511 07:42:36.355509 10240 rdma_context.cpp:198] ",
        "2026-09-17T14:25:57Z amdgpu 0000:04:00.0: ",
        "Error (gpu_burn-drv.cpp:304): ",
        "ERROR ",
        "libfabric::x():893<warn> ".trim_start_matches("libfabric::x():"),
        "node1 app[12]: ",
        "at 0x7f00aa: ",
    ] {
        assert_ne!(Head::of(head), Head::Nothing, "{head}");
    }
    for head in ["", "The node: ", "[Bug]: ", "[x] ", "[1/2] ib: ", "NVSHMEM: ", "[link](http://x) "] {
        assert_eq!(Head::of(head), Head::Nothing, "{head}");
    }
}

#[test]
fn blocks_open_and_close() {
    let mut fence = Fence::default();
    assert!(fence.turns("```") && fence.is_open() == Some(Block::Output));
    assert!(!fence.turns("text") && fence.turns("```") && fence.is_open().is_none());
    assert!(fence.turns("  ```python") && fence.is_open() == Some(Block::Code) && fence.turns("```"));
    assert!(!fence.turns("```a b c```"));
}
