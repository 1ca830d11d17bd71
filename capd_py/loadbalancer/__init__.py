"""The HAProxy container in front of a cluster's API servers."""
