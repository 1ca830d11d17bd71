"""Cluster: ties infrastructure, control plane and workers together and reports on them."""
