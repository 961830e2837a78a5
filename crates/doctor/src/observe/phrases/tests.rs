use super::*;

#[test]
fn each_phrase_is_found_in_any_case_and_place() {
    for p in phrases() {
        let words = p.words();
        for text in [words.clone(), words.to_ascii_uppercase(), format!("[7] agent: {words} (rank 3)")] {
            let found = best(&text);
            // Another may say more: never less.
            let weight = found.as_ref().and_then(|(which, _)| phrases().get(*which)).map(table::Phrase::weight);
            assert!(weight.is_some_and(|w| w >= p.weight()), "{text}: {found:?}");
        }
    }
}

#[test]
fn plain_logs_have_none() {
    for line in [
        "step 400 loss 2.31 lr 1e-4 tokens/s 12000",
        "mlx5_core 0000:81:00.0: firmware version: 28.39.1002",
        "node1:11:12 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE",
        "nvidia-nvlink: Nvlink Core is being initialized, major device number 511",
        "infiniband mlx5_0: Port: 1 Link ACTIVE",
        "Oct  1 00:00:00 n1 systemd[1]: Started NVIDIA fabric manager service.",
        "Fabric Manager version : 550.54.15",
        "amdgpu 0000:03:00.0: amdgpu: SRAM ECC is active.",
        "",
    ] {
        assert_eq!(best(line), None, "{line}");
    }
}
