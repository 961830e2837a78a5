//! Random hosts, and choices of their devices.

use proptest::prelude::*;

/// A host and words of `--devices`.
pub fn host() -> impl Strategy<Value = (String, String)> {
    let group = (0..2u32, 1..=4u32, 0..=2u32, 0..3u32);
    let groups = prop::collection::vec(group, 1..=6);
    (groups, prop::sample::select(vec![1u32, 2, 4]), 1..=2u32, any::<u64>(), prop::sample::select(vec!["all", "gpu:0+nics", "gpu:0-1+nics", "nic:0,gpu:0"]))
        .prop_map(|(groups, nps, sockets, seed, words)| {
            let mut text = format!(
                "title = \"random\"\n[node]\ncpu = \"amd-genoa\"\nsockets = {sockets}\ncores_per_socket = 32\nnuma_per_socket = {nps}\nmemory_gib = 512\niommu = \"identity\"\nseed = {}\n\
                 [layout]\ngpu = \"h100-pcie\"\nnic = \"connectx-7-400g-ib\"\nnvswitches = 0\nnvme = 0\nclutter = false\ngroup = [\n",
                seed % 1000
            );
            let mut used = [0u32; 2];
            for (socket, gpus, nics, shape) in groups {
                let socket = socket % sockets;
                let root = &mut used[socket as usize];
                if *root == 4 {
                    continue;
                }
                let shape = ["switchless = true", "tiers = 1", "tiers = 2"][shape as usize];
                text += &format!("  {{ socket = {socket}, root = {root}, gpus = {gpus}, nics = {nics}, {shape} }},\n");
                *root += 1;
            }
            (text + "]\n[nvidia]\ndriver = \"570.133.20\"\nopen = true\n", words.to_owned())
        })
}
