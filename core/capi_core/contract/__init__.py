"""What all providers share: the contract by which they meet through the Kubernetes API.

Owner references, pausing, external references read through contract labels, cloned templates,
certificate and kubeconfig Secrets, and access to workload clusters.
"""
