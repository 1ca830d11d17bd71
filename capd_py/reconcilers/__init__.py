"""DockerClusters and DockerMachines made real in containers."""
