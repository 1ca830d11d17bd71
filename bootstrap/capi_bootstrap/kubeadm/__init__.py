"""kubeadm's configuration documents, in the API version that a Kubernetes version reads."""
