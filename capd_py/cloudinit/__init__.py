"""Bootstrap data acted out in a container, which has no cloud-init of its own."""
