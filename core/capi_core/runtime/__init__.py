"""The machinery under every controller.

Events come in through kopf (``intake``) into a ``store``; an ``auditor`` repairs what a relist
loses; a ``queue`` deduplicates; a ``controller`` calls ``reconcile(key) -> Result``; everything is
written through one thin ``client``. Nothing here knows a Cluster API kind.
"""
