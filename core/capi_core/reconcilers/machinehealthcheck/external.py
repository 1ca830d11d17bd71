"""Remediation by somebody else: a request for each unhealthy Machine, made from a template.

The template's reference has a version, so the kinds need no contract label: the API server says
where they are served.
"""

from capi_core.api.healthcheck import RemediationTemplateRef
from capi_core.api.machine import Machine
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict
from capi_core.contract.discovery import Discovery, KindNotServed
from capi_core.contract.templates import clone_template
from capi_core.runtime.client import Client
from capi_core.runtime.controller import describe
from capi_core.runtime.errors import AlreadyExists, CapiError

REMEDIATED = "ExternallyRemediated"
Requests = dict[str, JsonObject]


class NotRequested(CapiError):
    """A remediation could not be asked for; ``verdict`` is of ExternallyRemediated."""

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message)
        self.verdict = verdict


class ExternalRemediation:
    """Asks the remediator that watches a kind of requests."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._discovery = Discovery(client)

    async def requests(self, check: MachineHealthCheck) -> Requests:
        """All requests of the kind in the namespace, by name; that is the Machine's."""
        ref = check.spec.remediation.template_ref
        try:
            resource = await self._discovery.resource(ref.api_version, request_kind(ref))
        except KindNotServed:
            return {}
        found, _ = await self._client.list(resource, check.namespace)
        return {obj["metadata"]["name"]: obj for obj in found}

    async def ask(self, check: MachineHealthCheck, machine: Machine) -> Verdict:
        """Make the request that has the Machine's name and goes with it.

        Raises:
            NotRequested: the template is not there, or the request was refused.
        """
        ref = check.spec.remediation.template_ref
        try:
            template = await self._template(ref, check.namespace)
            resource = await self._discovery.resource(ref.api_version, request_kind(ref))
            body = clone_template(
                template, name=machine.name, cluster=machine.spec.cluster_name, owner=machine
            )
            await self._client.create(body, resource)
        except AlreadyExists:
            pass
        except NotRequested:
            raise
        except CapiError as error:
            raise NotRequested(
                f"remediation of Machine {machine.name} cannot be requested: {describe(error)}",
                Verdict(
                    "False",
                    "RemediationRequestCreationFailed",
                    "Please check controller logs for errors",
                ),
            ) from error
        return Verdict("False", "WaitingForRemediation")

    async def _template(self, ref: RemediationTemplateRef, namespace: str) -> JsonObject:
        try:
            resource = await self._discovery.resource(ref.api_version, ref.kind)
            return await self._client.get(resource, namespace, ref.name)
        except CapiError as error:
            message = f"Error retrieving remediation template {ref.kind} {namespace}/{ref.name}"
            raise NotRequested(
                f"{message}: {describe(error)}",
                Verdict("False", "RemediationTemplateNotFound", message),
            ) from error

    async def withdraw(self, check: MachineHealthCheck, request: JsonObject) -> None:
        """Delete the request of a Machine that is healthy again."""
        meta = request["metadata"]
        if meta.get("deletionTimestamp"):
            return
        ref = check.spec.remediation.template_ref
        resource = await self._discovery.resource(ref.api_version, request_kind(ref))
        await self._client.delete(resource, check.namespace, meta["name"], uid=meta["uid"])


def request_kind(ref: RemediationTemplateRef) -> str:
    """The kind of the requests that a template makes."""
    return ref.kind.removesuffix("Template")
