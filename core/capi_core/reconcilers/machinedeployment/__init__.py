"""MachineDeployment: rolls Machines from one template to the next through MachineSets."""
