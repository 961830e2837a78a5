# systemd-boot, entries of the Boot Loader Specification on the ESP, kernel-install; and all that unified kernel images take.
release=$(basename "$(ls root/boot/vmlinuz-* | tail -n 1)")
release=${release#vmlinuz-}
echo 'LABEL=LAB-ESP /boot/efi vfat umask=0077 0 1' >>root/etc/fstab
echo 'root=LABEL=lab-root ro console=ttyS0 net.ifnames=0 no_timer_check' >root/etc/kernel/cmdline
printf 'layout=bls\nBOOT_ROOT=/boot/efi\n' >root/etc/kernel/install.conf
mkdir -p root/boot/efi esp/loader/entries esp/lab
chroot root systemd-machine-id-setup >>debootstrap.log 2>&1
cp root/usr/lib/systemd/boot/efi/systemd-bootx64.efi esp/EFI/BOOT/BOOTX64.EFI
# Until kernel-install has run.
cp "root/boot/vmlinuz-$release" esp/lab/linux
cp "root/boot/initrd.img-$release" esp/lab/initrd
cat >esp/loader/entries/lab.conf <<ENTRY
title The first boot
linux /lab/linux
initrd /lab/initrd
options $(cat root/etc/kernel/cmdline)
ENTRY
esp=320
