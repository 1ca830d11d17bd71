"""MachineHealthCheck: finds unhealthy Machines and has them replaced."""
