# GRUB, as Debian has it. no_timer_check: the early test of an emulated timer panics on a loaded machine.
cat >root/etc/default/grub <<'GRUB'
GRUB_DEFAULT=saved
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX_DEFAULT=""
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0 no_timer_check"
GRUB_TERMINAL=console
GRUB
# What grub-install would do, without a mounted ESP: modules and an environment block on the root, a core image that leads there.
mkdir -p root/boot/grub
cp -r root/usr/lib/grub/x86_64-efi root/boot/grub/
chroot root grub-editenv /boot/grub/grubenv create
release=$(basename "$(ls root/boot/vmlinuz-* | tail -n 1)")
release=${release#vmlinuz-}
# Until update-grub has run.
cat >root/boot/grub/grub.cfg <<GRUB
linux /boot/vmlinuz-$release root=LABEL=lab-root ro console=ttyS0 net.ifnames=0 no_timer_check
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
cp root/boot/grub/core.efi esp/EFI/BOOT/BOOTX64.EFI
esp=64
