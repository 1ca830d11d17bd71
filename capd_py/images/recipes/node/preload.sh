# Puts the archive at $1 into containerd's store, unpacked by nobody yet, and checks that all names in "$@" are there.
archive=$1
shift
mkdir -p /run/containerd
containerd > /tmp/containerd.log 2>&1 &
containerd=$!
for _ in $(seq 100); do
  if ctr version > /dev/null 2>&1; then break; fi
  sleep 0.1
done
ctr --namespace k8s.io images import --no-unpack "$archive" > /dev/null || { cat /tmp/containerd.log >&2; exit 1; }
present=$(ctr --namespace k8s.io images list --quiet)
for image in "$@"; do
  grep -qxF "$image" <<< "$present" || { echo "not imported: $image" >&2; exit 1; }
done
kill "$containerd"
wait "$containerd" || true
rm -rf "$archive" /run/containerd /tmp/containerd.log
