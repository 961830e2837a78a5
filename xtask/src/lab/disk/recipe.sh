#!/bin/sh
# Makes the disk of the lab's disk guests in the current folder: disk.raw, and host.pub, its host key. Nothing is mounted.
# Arguments: suite, mirror, packages (with commas), public key. As root. The first boot (image.rs) runs update-grub.
set -eu
suite=$1 mirror=$2 packages=$3 key=$4
rm -rf root root.img esp.img disk.new disk.raw

# A machine that goes down while this runs starts over anyway: nothing has to be synced.
export DPKG_FORCE=unsafe-io
debootstrap --variant=minbase --include="$packages" "$suite" root "$mirror" >debootstrap.log 2>&1 || {
    tail -n 5 debootstrap.log >&2
    exit 1
}
# Package files are not needed any more, and the guest has no network to fetch others from.
rm -rf root/var/cache/apt/archives/*.deb root/var/lib/apt/lists/*

echo 'LABEL=lab-root / ext4 rw,discard 0 1' >root/etc/fstab
echo lab >root/etc/hostname
printf '127.0.0.1 localhost\n127.0.1.1 lab\n' >root/etc/hosts
# eth0 is the way in; a cable (eth1) is left to the scenario. No network manager: on an emulated CPU each takes a minute to start.
cat >root/etc/systemd/system/lab-network.service <<'UNIT'
[Unit]
Description=The way into this guest
BindsTo=sys-subsystem-net-devices-eth0.device
After=sys-subsystem-net-devices-eth0.device
Before=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/ip addr add 10.0.2.15/24 dev eth0
ExecStart=/sbin/ip link set eth0 up
UNIT
mkdir -p root/etc/systemd/system/multi-user.target.wants root/etc/systemd/system.conf.d
ln -sf ../lab-network.service root/etc/systemd/system/multi-user.target.wants/
printf '[Manager]\nDefaultTimeoutStartSec=15min\nDefaultDeviceTimeoutSec=15min\n' >root/etc/systemd/system.conf.d/lab.conf
mkdir -p root/root/.ssh root/boot/grub
chmod 700 root/root/.ssh
cp "$key" root/root/.ssh/authorized_keys
chmod 600 root/root/.ssh/authorized_keys
# No name server is asked about who connects, and slow emulated CPUs have time.
printf 'UseDNS no\nLoginGraceTime 600\n' >root/etc/ssh/sshd_config.d/lab.conf
# Nothing writes to the disk at odd times, and no emulated CPU waits for consoles that nobody sees.
for unit in apt-daily.timer apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service dpkg-db-backup.timer \
    logrotate.timer getty-static.service getty@tty1.service; do
    ln -sf /dev/null "root/etc/systemd/system/$unit"
done

# Only what finds this disk: an emulated CPU takes a minute to unpack the modules of all disks.
echo 'MODULES=list' >root/etc/initramfs-tools/conf.d/lab
printf '%s\n' virtio_pci virtio_blk ext4 crc32c_generic >>root/etc/initramfs-tools/modules
chroot root update-initramfs -u >>debootstrap.log 2>&1

cat >root/etc/default/grub <<'GRUB'
GRUB_DEFAULT=saved
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX_DEFAULT=""
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0"
GRUB_TERMINAL=console
GRUB
# What grub-install would do, without a mounted ESP: modules and an environment block on the root, a core image that leads there.
cp -r root/usr/lib/grub/x86_64-efi root/boot/grub/
chroot root grub-editenv /boot/grub/grubenv create
release=$(basename "$(ls root/boot/vmlinuz-* | tail -n 1)")
release=${release#vmlinuz-}
# Until update-grub has run.
cat >root/boot/grub/grub.cfg <<GRUB
linux /boot/vmlinuz-$release root=LABEL=lab-root ro console=ttyS0 net.ifnames=0
initrd /boot/initrd.img-$release
boot
GRUB
cat >root/boot/grub/core.cfg <<'GRUB'
search --no-floppy --label lab-root --set=root
set prefix=($root)/boot/grub
configfile $prefix/grub.cfg
GRUB
chroot root grub-mkimage -O x86_64-efi -o /boot/grub/core.efi -c /boot/grub/core.cfg -p /boot/grub \
    part_gpt ext2 fat normal configfile linux loadenv search search_label search_fs_uuid search_fs_file test echo ls gzio \
    reboot halt minicmd

truncate -s 64M esp.img
mkfs.vfat esp.img >/dev/null
mmd -i esp.img ::EFI ::EFI/BOOT
mcopy -i esp.img root/boot/grub/core.efi ::EFI/BOOT/BOOTX64.EFI
mke2fs -q -t ext4 -L lab-root -d root root.img 4096M
truncate -s 4200M disk.new
sfdisk -q disk.new <<'TABLE'
label: gpt
start=2048, size=131072, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B
start=133120, size=8388608, type=L
TABLE
dd if=esp.img of=disk.new bs=1M seek=1 conv=notrunc,sparse status=none
dd if=root.img of=disk.new bs=1M seek=65 conv=notrunc,sparse status=none
cp root/etc/ssh/ssh_host_ed25519_key.pub host.pub
rm -rf root root.img esp.img
# Last, because its presence means that all of it is there.
mv disk.new disk.raw
