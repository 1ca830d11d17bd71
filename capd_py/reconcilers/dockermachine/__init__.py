"""A DockerMachine is a container: made, made ready, bootstrapped, and found again as a Node."""
