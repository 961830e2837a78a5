//! RDMA over Converged Ethernet: what the kernel makes of an Ethernet interface.

/// RDMA MTUs of the InfiniBand architecture, largest first.
const MTUS: [u32; 5] = [4096, 2048, 1024, 512, 256];

/// The active RDMA MTU of a RoCE port, from the MTU of its interface, both in bytes: the largest that fits with 96 bytes of headers.
/// `None` where none fits.
///
/// Linux, include/rdma/ib_addr.h, `iboe_get_mtu`: GRH 40, UDP 8, BTH 12, XRC 4, atomic 28, ICRC 4.
#[must_use]
pub fn mtu(interface: u32) -> Option<u32> {
    MTUS.into_iter().find(|m| m + 96 <= interface)
}

#[cfg(test)]
mod tests {
    use super::mtu;

    #[test]
    fn the_largest_that_fits() {
        let of = |interfaces: &[u32]| interfaces.iter().map(|i| mtu(*i)).collect::<Vec<_>>();
        assert_eq!(of(&[u32::MAX, 9000, 4192, 4191, 1500]), [4096, 4096, 4096, 2048, 1024].map(Some));
        assert_eq!(of(&[352, 351, 300, 95, 0]), [Some(256), None, None, None, None]);
    }
}
