#!/bin/sh
# The first process of a host, in namespaces of its own (mounts, name, processes, IPC): makes the host's file system of a composed node, and
# becomes its sshd. When this process ends, so does all of the host; nothing of it is seen outside.
#
#   enter.sh DIR BIN
#
# DIR  of the host: tree/ (the composed node), etc/ (what the harness adds), root/ (where the file system is put together)
# BIN  programs that stand for hardware and for systemd
set -eu
dir=$1 bin=$2
tree=$dir/tree root=$dir/root
mount -t tmpfs -o mode=755 host "$root"
cd "$root"
mkdir -p usr proc sys dev etc run/sshd boot opt root home/ops tmp var/lib var/log var/tmp var/run .usr/upper .usr/work .old
chmod 1777 tmp var/tmp
chmod 700 root
chown 1000:1000 home/ops

# Programs are this machine's, and may be added to.
mount -t overlay -o "lowerdir=/usr,upperdir=$root/.usr/upper,workdir=$root/.usr/work" overlay usr
for name in bin sbin lib lib64; do
    ln -s "usr/$name" "$name"
done
# What a composed node says is installed is an empty file there.
(cd "$tree" && find . -mindepth 1 -maxdepth 1 ! -name sys ! -name proc ! -name cmd ! -name linerate ! -name usr) | while read -r name; do
    cp -a "$tree/$name" ./
done
if [ -d "$tree/usr/lib" ]; then cp -a "$tree/usr/lib/." usr/lib/; fi
if [ -d "$dir/outputs" ]; then cp -a "$dir/outputs" usr/lib/linerate-lab; fi
# What asks this machine's own hardware and kernel.
for name in nvidia-smi mlxconfig mstconfig ibv_devinfo rdma rdma_topo mlnx_qos ethtool virsh journalctl modinfo dmesg systemd-detect-virt systemctl; do
    rm -f "usr/bin/$name" "usr/sbin/$name"
done
cp "$bin"/* "$dir"/said/* usr/sbin/
# For shells that begin with another PATH than the system's.
export PATH=/usr/sbin:/usr/bin

for name in ld.so.cache ld.so.conf ld.so.conf.d alternatives login.defs; do
    [ ! -e "/etc/$name" ] || cp -a "/etc/$name" etc/
done
cp -a "$dir/etc/." etc/
chown -R 0:0 etc
chmod 440 etc/sudoers
chmod 600 etc/ssh/host

mkdir -p dev/pts dev/shm
for name in null zero full random urandom tty; do
    : >"dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
# Half of the memory, as a distribution sets it.
read -r _ kib _ <"$tree/proc/meminfo"
mount -t tmpfs -o "size=$((kib / 2))k,nosuid,nodev" tmpfs dev/shm

# The kernel's files: those of the node. What the host's own processes are is not composed.
mount --bind "$tree/sys" sys
mount -t proc proc proc
(cd "$tree/proc" && find . -type f ! -path './self/*' ! -path './driver/*' ! -path './mounts' ! -path './sys/kernel/hostname') | while read -r name; do
    [ ! -e "proc/$name" ] || mount --bind "$tree/proc/$name" "proc/$name"
done
echo 0::/init.scope >run/cgroup
mount --bind run/cgroup proc/1/cgroup
[ ! -d "$tree/proc/driver" ] || mount --bind "$tree/proc/driver" proc/driver

hostname "$(cat etc/hostname)"
# Where this machine allows it; all hosts are alike in it.
ulimit -l unlimited 2>/dev/null || :
# The programs of this script are gone with the old root.
pivot_root . .old
umount -l /.old
# What is done at a boot.
[ ! -d /etc/netplan ] || netplan generate
exec /usr/sbin/sshd -D -e -f /etc/ssh/sshd_config
