# The ESP and the root on one disk.
truncate -s "${esp}M" esp.img
mkfs.vfat -n LAB-ESP esp.img >/dev/null
mcopy -s -i esp.img esp/* ::
mke2fs -q -t ext4 -L lab-root -d root root.img 4096M
truncate -s "$((4096 + esp + 40))M" disk.new
sfdisk -q disk.new <<TABLE
label: gpt
start=2048, size=$((esp * 2048)), type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B
start=$(((esp + 1) * 2048)), size=8388608, type=L
TABLE
dd if=esp.img of=disk.new bs=1M seek=1 conv=notrunc,sparse status=none
dd if=root.img of=disk.new bs=1M seek=$((esp + 1)) conv=notrunc,sparse status=none
cp root/etc/ssh/ssh_host_ed25519_key.pub host.pub
rm -rf root esp root.img esp.img
# Last, because its presence means that all of it is there.
mv disk.new disk.raw
