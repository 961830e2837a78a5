#!/bin/sh
# Makes the disk of the lab's disk guests in the current folder: disk.raw, and host.pub, its host key. Nothing is mounted.
# Arguments: suite, mirror, packages (with commas), public key. As root. Three parts, one after the other: this one, one for the boot loader,
# which leaves in esp/ what the ESP is to hold and its MiB in $esp, and disk.sh. The first boot (image.rs) does what takes a running system.
set -eu
suite=$1 mirror=$2 packages=$3 key=$4
rm -rf root esp root.img esp.img disk.new disk.raw

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
mkdir -p root/root/.ssh esp/EFI/BOOT
chmod 700 root/root/.ssh
cp "$key" root/root/.ssh/authorized_keys
chmod 600 root/root/.ssh/authorized_keys
# No name server is asked about who connects, and slow emulated CPUs have time.
printf 'UseDNS no\nLoginGraceTime 600\n' >root/etc/ssh/sshd_config.d/lab.conf
# Managers of the network are there for the scenarios that start them; and a login starts no session of systemd's.
for unit in NetworkManager NetworkManager-dispatcher NetworkManager-wait-online systemd-networkd systemd-networkd-wait-online; do
    chroot root systemctl -q disable "$unit.service" >>debootstrap.log 2>&1 || :
done
sed -i '/pam_systemd/d' root/etc/pam.d/common-session
# Nothing writes to the disk at odd times, and no emulated CPU waits for consoles that nobody sees.
for unit in apt-daily.timer apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service dpkg-db-backup.timer \
    logrotate.timer getty-static.service getty@tty1.service; do
    ln -sf /dev/null "root/etc/systemd/system/$unit"
done

# Only what finds this disk: an emulated CPU takes a minute to unpack the modules of all disks.
echo 'MODULES=list' >root/etc/initramfs-tools/conf.d/lab
printf '%s\n' virtio_pci virtio_blk ext4 crc32c_generic >>root/etc/initramfs-tools/modules
chroot root update-initramfs -u >>debootstrap.log 2>&1

