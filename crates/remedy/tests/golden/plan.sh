#!/bin/sh
# Script of a plan. Read it before you run it as root.
# Made by linerate 0.1.0 of its plan 00112233445566778899aabbccddeeff for node7 (Debian 12, GRUB).
#
# Not in it:
#   -: reseat the NIC: by hand
#   bios: set the BIOS attribute ProcVtd to "Enable" (now "Disable"): it is set by Redfish, with the credentials of the BMC
#   kernel-args: start the kernel once with iommu=pt panic=30: a trial boot needs somebody who watches it: here the change is made at once, and nothing falls back
#   labels: take the label iommu-passthrough-u12-u25 off the Kubernetes node node7 (now iommu-passthrough-u12-u25=true): it is made where the Kubernetes API is reached, before anything is changed: kubectl label node node7 iommu-passthrough-u12-u25- --overwrite
#   labels: put the label gpu.example.com/iommu=pt on the Kubernetes node node7 (it has none): it is made where the Kubernetes API is reached, when the node is proven: kubectl label node node7 'gpu.example.com/iommu=pt' --overwrite
set -eu
umask 022

refuse() {
    printf 'refused: %s\n' "$*" >&2
    exit 1
}

need_program() {
    command -v "$1" >/dev/null 2>&1 || refuse "the program $1 (package $2) is not installed"
}

need_no_argument() {
    case " $(cat /proc/cmdline) " in *" $1 "*) refuse "the running kernel has the argument $1" ;; esac
}

need_no_lockdown() {
    [ ! -r /sys/kernel/security/lockdown ] || case "$(cat /sys/kernel/security/lockdown)" in
    *'[none]'*) ;;
    *) refuse 'the kernel is locked down: configuration space cannot be written' ;;
    esac
}

# digest FILE: SHA-256 of the file, or "absent".
digest() {
    if [ -L "$1" ]; then
        echo link
    elif [ -e "$1" ]; then
        sha256sum <"$1" | cut -d ' ' -f 1
    else
        echo absent
    fi
}

# need_file FILE DIGEST...: the file has one of the digests.
need_file() {
    path=$1
    now=$(digest "$1")
    shift
    for wanted; do
        [ "$now" != "$wanted" ] || return 0
    done
    refuse "$path is not as it was when the plan was made"
}

# keep FILE: a copy of what was there, made once.
keep() {
    if [ -e "$1" ] && [ ! -e "$KEPT$1" ]; then
        mkdir -p -- "$KEPT${1%/*}"
        cp -p -- "$1" "$KEPT$1"
    fi
}

# put_file FILE MODE: what is read becomes the file.
put_file() {
    keep "$1"
    mkdir -p -- "${1%/*}"
    (umask 077 && cat >"$1.linerate-new")
    chmod "$2" "$1.linerate-new"
    mv -f -- "$1.linerate-new" "$1"
}

# put_value FILE BEFORE AFTER: where the kernel shows a choice, [ ] marks it.
put_value() {
    now=$(cat -- "$1")
    case "$now" in
    "$3" | *"[$3]"*) return 0 ;;
    "$2") printf '%s\n' "$3" >"$1" ;;
    *) refuse "$1 is neither $2 nor $3" ;;
    esac
}

KEPT=/var/lib/linerate/kept-001122334455
[ "$(id -u)" = 0 ] || refuse 'only root can do this'

# What must hold, before anything is changed.
need_no_lockdown
need_program update-grub grub2-common
need_no_argument 'iommu=pt'
need_file /etc/default/grub.d/90-linerate.cfg absent 0d977da2c6598f19f2bf37ffb876b2619e363be9cb32312badeeeef45e782def
need_file /etc/modprobe.d/linerate.conf absent 490621b27dbc3157f4ab731cb6a2789a623dd3ddf2391f1c0f176053b06ea177
need_file /etc/modules-load.d/linerate.conf absent cae2adbb5df06209c88cbdab4f03aabaded658bafb1bbc31f1dfac69945f2cbc
need_file /etc/netplan/90-linerate.yaml absent 4dca134abc22c2bf2543107182347055ebc094fef6e998b4573e731cef8fbef5
need_file /etc/security/limits.d/90-linerate.conf absent 5d6bbabd8749d562f87c3ee7e823d9d8be5fa541ce4d8110596e14a4223b9d82
need_file /etc/sysctl.d/90-linerate.conf absent 66d7e74406cbac7c56f897578bab98e3a71f00d822574e4af2e1653f76f4b2f3
need_file /etc/systemd/system/containerd.service.d/90-linerate.conf absent 7e42b2fde283c47ad0367f8bdbef4990cc2ea0dfdb1a1e78392233fc1d02afbb
need_file /etc/systemd/system/linerate-acs.service absent f23b900c4b5bd78a637a69ab8bf5a361eda2375414fe508912c2e1976394244c
need_file /etc/tmpfiles.d/linerate.conf absent db706a5e7eec388072f2150100a6b1fbbac9db0ec884b3f43b0d5f18cdce591b

# Step modules: make modules right
#   because: modules is wrong
#   risk low
put_file /etc/modules-load.d/linerate.conf 0644 <<'LINERATE'
# ours
nvidia_peermem
LINERATE
modprobe -- nvidia_peermem

# Step module-options: make module-options right
#   because: module-options is wrong
#   risk low
put_file /etc/modprobe.d/linerate.conf 0644 <<'LINERATE'
options ib_core netns_mode=0
LINERATE
update-initramfs -u -k 6.1.0

# Step network: make network right
#   because: network is wrong
#   risk low
put_value /sys/class/net/eth1/mtu 1500 9000
ip address replace 10.7.0.1/24 dev eth1
put_file /etc/netplan/90-linerate.yaml 0600 <<'LINERATE'
network:
  version: 2
  ethernets:
    "eth1":
      mtu: 9000
      addresses:
        - "10.7.0.1/24"
LINERATE
netplan apply

# Step values: make values right
#   because: values is wrong
#   risk low
put_value /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor powersave performance
put_value /proc/sys/kernel/numa_balancing 1 0
put_file /etc/tmpfiles.d/linerate.conf 0644 <<'LINERATE'
w- /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor - - - - performance
LINERATE
put_file /etc/sysctl.d/90-linerate.conf 0644 <<'LINERATE'
kernel.numa_balancing = 0
LINERATE

# Step limits: make limits right
#   because: limits is wrong
#   risk low
put_file /etc/security/limits.d/90-linerate.conf 0644 <<'LINERATE'
* soft memlock unlimited
* hard memlock unlimited
LINERATE
put_file /etc/systemd/system/containerd.service.d/90-linerate.conf 0644 <<'LINERATE'
[Service]
LimitMEMLOCK=infinity
LINERATE

# Step acs: make acs right
#   because: acs is wrong
#   risk low
systemctl daemon-reload
put_file /etc/systemd/system/linerate-acs.service 0644 <<'LINERATE'
[Unit]
Description=ACS control bits

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=setpci -s 0000:41:00.0 ECAP_ACS+6.w=0:1c
ExecStop=setpci -s 0000:41:00.0 ECAP_ACS+6.w=1c:1c

[Install]
WantedBy=multi-user.target
LINERATE
systemctl enable --now linerate-acs.service

# Step nicfw-0000-81-00-0: make nicfw-0000-81-00-0 right
#   because: nicfw-0000-81-00-0 is wrong
#   risk low
mstconfig -d 0000:81:00.0 -e query ATS_ENABLED
mstconfig -y -d 0000:81:00.0 set 'ATS_ENABLED=0'

# Step bios: make bios right
#   because: bios is wrong
#   risk low
# LEFT OUT: set the BIOS attribute ProcVtd to "Enable" (now "Disable"): it is set by Redfish, with the credentials of the BMC

# Step kernel-args: make kernel-args right
#   because: kernel-args is wrong
#   risk low
put_file /etc/default/grub.d/90-linerate.cfg 0644 <<'LINERATE'
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX iommu=pt"
LINERATE
keep /boot/grub/grub.cfg
update-grub

# Step labels: make labels right
#   because: labels is wrong
#   risk low
# LEFT OUT: take the label iommu-passthrough-u12-u25 off the Kubernetes node node7 (now iommu-passthrough-u12-u25=true): it is made where the Kubernetes API is reached, before anything is changed: kubectl label node node7 iommu-passthrough-u12-u25- --overwrite
# LEFT OUT: put the label gpu.example.com/iommu=pt on the Kubernetes node node7 (it has none): it is made where the Kubernetes API is reached, when the node is proven: kubectl label node node7 'gpu.example.com/iommu=pt' --overwrite

echo 'Drain the node and power it off and on, then see what is in force: linerate audit'
