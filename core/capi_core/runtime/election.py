"""Leader election by a coordination.k8s.io Lease: of several replicas one works.

The watches of a standby run, so that it takes over warm. A holder that cannot renew gives up
before others may take the Lease; a graceful stop hands it over at once.
"""

import asyncio
import time
from datetime import UTC, datetime

import structlog

from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.client import Client
from capi_core.runtime.errors import AlreadyExists, CapiError, Conflict
from capi_core.runtime.metrics import LEADER

LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
log = structlog.get_logger()
_DURATION, _RENEW_DEADLINE, _PERIOD, _TRY_PERIOD = 8.0, 5.0, 2.0, 0.5


class LostLease(CapiError):
    """The Lease could not be renewed in time; the process must stop."""


class Lease:
    """One named Lease, sought and held as ``identity``."""

    def __init__(self, client: Client, *, namespace: str, name: str, identity: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._seen: tuple[str, float] = ("", 0.0)
        self._held: JsonObject | None = None

    async def acquire(self) -> None:
        """Wait until the Lease is ours."""
        LEADER.labels(self._name).set(0)
        while not await self._try():
            await asyncio.sleep(_TRY_PERIOD)
        LEADER.labels(self._name).set(1)
        log.info("acquired the lease", lease=self._name, identity=self._identity)

    async def hold(self) -> None:
        """Renew until cancelled.

        Raises:
            LostLease: others may take it now.
        """
        renewed = time.monotonic()
        while True:
            await asyncio.sleep(_PERIOD)
            if await self._try():
                renewed = time.monotonic()
            elif time.monotonic() - renewed > _RENEW_DEADLINE:
                LEADER.labels(self._name).set(0)
                raise LostLease(f"the lease {self._name} could not be renewed")

    async def release(self) -> None:
        """Let a standby take over at once."""
        if self._held:
            patch = {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}
            try:
                await self._client.patch(LEASES, self._namespace, self._name, patch)
            except CapiError as error:
                log.debug("lease not released", error=str(error))
            self._held = None

    async def _try(self) -> bool:
        try:
            lease = self._held or await self._client.find(LEASES, self._namespace, self._name)
            if lease is None:
                self._held = await self._client.create(self._desired(None), LEASES)
                return True
            if not self._free(lease):
                return False
            patch = self._desired(lease)
            self._held = await self._client.patch(LEASES, self._namespace, self._name, patch)
            return True
        except (AlreadyExists, Conflict):
            self._held = None
            return False
        except CapiError as error:
            log.warning("lease not reachable", error=str(error))
            return False

    def _free(self, lease: JsonObject) -> bool:
        spec = lease.get("spec") or {}
        if spec.get("holderIdentity") in ("", None, self._identity):
            return True
        # Our own clock since the last change seen: clocks of two machines are not compared.
        version = lease["metadata"]["resourceVersion"]
        if self._seen[0] != version:
            self._seen = (version, time.monotonic())
        return time.monotonic() - self._seen[1] > spec.get("leaseDurationSeconds", _DURATION)

    def _desired(self, lease: JsonObject | None) -> JsonObject:
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        old = (lease or {}).get("spec") or {}
        taken = old.get("holderIdentity") != self._identity
        meta: JsonObject = {"name": self._name, "namespace": self._namespace}
        if lease:
            meta["resourceVersion"] = lease["metadata"]["resourceVersion"]
        return {
            "apiVersion": LEASES.api_version,
            "kind": "Lease",
            "metadata": meta,
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": int(_DURATION),
                "renewTime": stamp,
                "acquireTime": stamp if taken else old.get("acquireTime", stamp),
                "leaseTransitions": old.get("leaseTransitions", 0) + (1 if taken and lease else 0),
            },
        }
