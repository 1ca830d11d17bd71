"""The kubeadm bootstrap provider: turns a KubeadmConfig into a Secret with cloud-init data."""
