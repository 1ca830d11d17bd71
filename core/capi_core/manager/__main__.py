"""``python -m capi_core.manager``: the entry point of the manager image."""

from capi_core.manager.main import main

main()
