"""The kubeadm control plane provider: Machines that run a cluster's API servers and etcd."""
