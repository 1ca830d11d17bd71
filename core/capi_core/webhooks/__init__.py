"""Defaulting and validation of core's kinds, and rules that other providers share."""

from capi_core.webhooks import (
    cluster,
    clusterresourceset,
    machine,
    machinedeployment,
    machinedrainrule,
    machinehealthcheck,
    machineset,
)

WEBHOOKS = (
    cluster.WEBHOOK,
    machine.WEBHOOK,
    machineset.WEBHOOK,
    machinedeployment.WEBHOOK,
    machinedrainrule.WEBHOOK,
    machinehealthcheck.WEBHOOK,
    *clusterresourceset.WEBHOOKS,
)
