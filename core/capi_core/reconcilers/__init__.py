"""The core controllers: Cluster, Machine, MachineSet, MachineDeployment.

They know no infrastructure and no bootstrap provider; what a reference names is read by the
contract of its CRD.
"""
