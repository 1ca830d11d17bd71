# Turns a root file system with the node's files copied in into a node. Runs in it, once, at build time.
version=$1

for name in kubeadm kubelet kubectl; do ln -sf /usr/local/bin/kubernetes "/usr/bin/$name"; done
mkdir -p /opt/cni/bin /etc/cni/net.d /etc/kubernetes/manifests /var/lib/kubelet /etc/containerd/certs.d /kind/state
rm -f /etc/cni/net.d/*
# Other pod networks add their plugins here: one directory, and the distribution's linked into it.
for plugin in /usr/lib/cni/*; do ln -sf "$plugin" "/opt/cni/bin/$(basename "$plugin")"; done
echo "$version" > /kind/version

# What belongs to a machine with hardware, users and disks of its own.
systemctl mask \
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
  fstrim.timer getty.target getty-static.service console-getty.service systemd-logind.service \
  systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
  systemd-remount-fs.service systemd-firstboot.service systemd-machine-id-commit.service \
  systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-random-seed.service \
  systemd-modules-load.service systemd-pstore.service systemd-networkd.service systemd-resolved.service \
  sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
  dev-hugepages.mount dev-mqueue.mount proc-sys-fs-binfmt_misc.automount \
  modprobe@.service nftables.service 2> /dev/null
systemctl set-default multi-user.target 2> /dev/null
systemctl enable containerd.service kubelet.service unpack-images.service 2> /dev/null
update-alternatives --set iptables /usr/sbin/iptables-nft > /dev/null
update-alternatives --set ip6tables /usr/sbin/ip6tables-nft > /dev/null
