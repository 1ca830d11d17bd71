# Prints a tar of the programs with which kube-proxy and the pod network change the kernel's tables,
# and of what they need to run: a tenth of a whole distribution.
programs="/usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack /usr/sbin/ipset /usr/bin/ip /usr/bin/kmod /usr/bin/dash"
out=$(mktemp -d)
mkdir -p "$out"/{tmp,run,etc,usr/bin,usr/sbin,usr/lib,usr/lib64}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$out/$name"; done
add() { mkdir -p "$out$(dirname "$1")"; cp --dereference "$1" "$out$1"; }
add_libraries() {
  ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
    library=$(realpath --no-symlinks "$(dirname "$library" | xargs realpath)/$(basename "$library")")
    [ -e "$out$library" ] || add "$library"
  done || true
}
for program in $programs; do
  [ -e "$program" ] || continue
  add "$program"
  add_libraries "$program"
done
plugins=$(dirname "$(find /usr/lib -name libxt_conntrack.so)")
mkdir -p "$out$plugins"
cp -a "$plugins"/. "$out$plugins"
# Some of them need what no program does, and then every rule of kube-proxy fails with them.
for plugin in "$plugins"/*.so; do add_libraries "$plugin"; done
# The loader is named by an absolute path inside each program.
loader=$(ldd /usr/bin/dash | grep -o '/lib[^ ]*ld-[^ ]*')
[ -e "$out/usr$loader" ] || { mkdir -p "$(dirname "$out/usr$loader")"; cp --dereference "$loader" "$out/usr$loader"; }
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  ln -s xtables-nft-multi "$out/usr/sbin/$name"
done
ln -s ../bin/kmod "$out/usr/sbin/modprobe"
ln -s ../bin/ip "$out/usr/sbin/ip"
ln -s dash "$out/usr/bin/sh"
cp /etc/protocols /etc/services "$out/etc/" 2>/dev/null || true
cp /etc/ethertypes "$out/etc/" 2>/dev/null || true
tar -C "$out" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c .
rm -rf "$out"
