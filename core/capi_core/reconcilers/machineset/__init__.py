"""MachineSet: keeps a number of like Machines."""
