"""Defaulting and validation of core's kinds, and rules that other providers share."""

from capi_core.webhooks import cluster, machine, machinedeployment, machineset

WEBHOOKS = (cluster.WEBHOOK, machine.WEBHOOK, machineset.WEBHOOK, machinedeployment.WEBHOOK)
