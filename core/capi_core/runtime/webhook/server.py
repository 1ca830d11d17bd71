"""Serves admission reviews and registers the webhooks with the API server.

The webhook configurations are applied by the managers themselves, with the CA of the certificate
that the server shows, so no other component is needed.
"""

import asyncio
import base64
import inspect
import ssl
import tempfile
from typing import TYPE_CHECKING, Any

import jsonpatch
import orjson
import structlog
from aiohttp import web
from pydantic import ValidationError

from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError
from capi_core.runtime.patch import merge_diff, merge_patch
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook
from capi_core.runtime.webhook.certs import ServingPair, ensure_pair

if TYPE_CHECKING:
    from capi_core.runtime.manager import Options

log = structlog.get_logger()
_GROUP = "admissionregistration.k8s.io"
_MUTATING = Resource(
    _GROUP, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
)
_VALIDATING = Resource(
    _GROUP, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
_CHECK_SECONDS = 3600.0


class WebhookServer:
    """The webhooks of all providers in this process, on one port.

    Reached through the Service ``webhook-service`` of the manager's namespace, or at
    ``options.webhook_host`` when the process runs outside the cluster.
    """

    def __init__(self, client: Client, options: "Options") -> None:
        self._client = client
        self._options = options
        self._webhooks: list[Webhook] = []
        self._runner: web.AppRunner | None = None
        self._context: ssl.SSLContext | None = None
        self._ca = b""

    def add(self, *webhooks: Webhook) -> None:
        """Serve these as well."""
        self._webhooks += webhooks

    async def start(self) -> None:
        """Listen and register; nothing happens when the port is 0 or there are no webhooks."""
        if not self._webhooks or not self._options.webhook_port:
            return
        self._load(await self._pair())
        app = web.Application(client_max_size=8 * 1024 * 1024)
        for webhook in self._webhooks:
            if webhook.default:
                app.router.add_post(webhook.path("mutate"), _handler(webhook, self._mutate))
            if webhook.validate:
                app.router.add_post(webhook.path("validate"), _handler(webhook, self._validate))
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        port = self._options.webhook_port
        await web.TCPSite(self._runner, None, port, ssl_context=self._context).start()
        await self._register()

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner:
            await self._runner.cleanup()

    async def keep_certificates(self) -> None:
        """Renew the certificate before it ends."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            if self._context is None:
                continue
            try:
                pair = await self._pair()
                if pair.ca != self._ca:
                    self._load(pair)
                    await self._register()
            except CapiError as error:
                log.warning("webhook certificate not renewed", error=str(error))

    def _names(self) -> list[str]:
        service = f"webhook-service.{self._options.own_namespace}.svc"
        return [self._options.webhook_host or service, service, f"{service}.cluster.local"]

    async def _pair(self) -> ServingPair:
        return await ensure_pair(
            self._client, self._options.own_namespace, "webhook-server-cert", self._names()
        )

    def _load(self, pair: ServingPair) -> None:
        # The context is kept and loaded anew, so that a renewal needs no restart.
        self._context = self._context or ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(pair.certificate + pair.key)
            file.flush()
            self._context.load_cert_chain(file.name)
        self._ca = pair.ca

    async def _register(self) -> None:
        name = self._options.own_namespace
        for resource, verb in ((_MUTATING, "mutate"), (_VALIDATING, "validate")):
            hooks = [
                self._registration(webhook, verb)
                for webhook in self._webhooks
                if (webhook.default if verb == "mutate" else webhook.validate)
            ]
            suffix = "mutating" if verb == "mutate" else "validating"
            body: JsonObject = {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": f"{name}-{suffix}-webhook-configuration"},
                "webhooks": hooks,
            }
            await self._client.apply(body, resource, manager="capd-py-webhooks")

    def _registration(self, webhook: Webhook, verb: Any) -> JsonObject:
        resource = webhook.kind.resource
        path = webhook.path(verb)
        config: JsonObject = {"caBundle": base64.b64encode(self._ca).decode()}
        if self._options.webhook_host:
            address = f"{self._options.webhook_host}:{self._options.webhook_port}"
            config["url"] = f"https://{address}{path}"
        else:
            config["service"] = {
                "name": "webhook-service",
                "namespace": self._options.own_namespace,
                "path": path,
                "port": 443,
            }
        prefix = "default" if verb == "mutate" else "validation"
        kind = resource.kind.lower() + (f"-{webhook.subresource}" if webhook.subresource else "")
        plural = resource.plural + (f"/{webhook.subresource}" if webhook.subresource else "")
        return {
            "name": f"{prefix}.{kind}.{resource.group}",
            "clientConfig": config,
            "rules": [
                {
                    "apiGroups": [resource.group],
                    "apiVersions": [resource.version],
                    "resources": [plural],
                    "operations": ["CREATE", "UPDATE"]
                    if verb == "mutate"
                    else list(webhook.operations),
                    "scope": "*",
                }
            ],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 10,
        }

    async def _mutate(self, webhook: Webhook, request: Request) -> JsonObject:
        obj = webhook.kind.parse(request.obj)
        before = obj.dump()
        assert webhook.default is not None
        webhook.default(obj, request)
        changes = jsonpatch.make_patch(before, obj.dump()).patch
        if not changes:
            return {"allowed": True}
        # The patch has to fit the object as sent, which may hold empty fields that dump omits.
        patch = jsonpatch.make_patch(request.obj, _overlay(request.obj, before, obj.dump()))
        return {
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(orjson.dumps(patch.patch)).decode(),
        }

    async def _validate(self, webhook: Webhook, request: Request) -> JsonObject:
        subject = request.old if request.operation == "DELETE" else request.obj
        obj: Any = subject if webhook.subresource else webhook.kind.parse(subject or {})
        old: Any = None
        if request.old is not None:
            old = request.old if webhook.subresource else webhook.kind.parse(request.old)
        assert webhook.validate is not None
        found = webhook.validate(obj, old, request)
        errors = await found if inspect.isawaitable(found) else found
        response: JsonObject = {"allowed": not errors}
        if request.warnings:
            response["warnings"] = request.warnings
        if errors:
            response["status"] = _refusal(webhook, request, errors)
        return response


def _overlay(sent: JsonObject, before: JsonObject, after: JsonObject) -> JsonObject:
    return merge_patch(sent, merge_diff(before, after))


def _refusal(webhook: Webhook, request: Request, errors: list[FieldError]) -> JsonObject:
    resource = webhook.kind.resource
    meta = (request.obj or request.old or {}).get("metadata", {})
    texts = [str(error) for error in errors]
    detail = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    name = meta.get("name") or meta.get("generateName", "")
    return {
        "status": "Failure",
        "code": 422,
        "reason": "Invalid",
        "message": f'{resource.group_kind} "{name}" is invalid: {detail}',
        "details": {
            "name": name,
            "group": resource.group,
            "kind": resource.kind,
            "causes": [{"field": e.path, "message": str(e)} for e in errors],
        },
    }


def _handler(webhook: Webhook, act: Any) -> Any:
    async def handle(http: web.Request) -> web.Response:
        review = orjson.loads(await http.read())
        sent = review["request"]
        request = Request(
            operation=sent["operation"],
            obj=sent.get("object") or {},
            old=sent.get("oldObject") or None,
            dry_run=bool(sent.get("dryRun")),
            subresource=sent.get("subResource") or "",
        )
        try:
            response = await act(webhook, request)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()
            )
            response = {"allowed": False, "status": {"code": 422, "message": problems}}
        except Exception as error:
            log.exception("webhook failed", path=http.path)
            response = {"allowed": False, "status": {"code": 500, "message": str(error)}}
        body = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {**response, "uid": sent["uid"]},
        }
        return web.Response(body=orjson.dumps(body), content_type="application/json")

    return handle
