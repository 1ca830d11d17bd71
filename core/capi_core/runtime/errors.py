"""The errors that reconcilers and the client raise."""


class CapiError(Exception):
    """The root of all errors of this project; the message says what failed on which object."""


class Terminal(CapiError):
    """Counted and logged, but not retried: only a change of the object can help."""


class NotReady(CapiError):
    """Something awaited is not there yet; look again after ``requeue_after`` seconds."""

    def __init__(self, message: str, *, requeue_after: float) -> None:
        super().__init__(message)
        self.requeue_after = requeue_after


class ApiError(CapiError):
    """The API server refused a request; ``code`` is the HTTP status, ``reason`` the server's."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class NotFound(ApiError):
    """404: the object, or the kind, does not exist."""


class AlreadyExists(ApiError):
    """409 with reason AlreadyExists."""


class Conflict(ApiError):
    """409: the object changed since it was read."""


class Invalid(ApiError):
    """422 or 400: the server refuses the object as it is."""


class Gone(ApiError):
    """410: the resourceVersion to watch from is too old."""


class Unauthorized(ApiError):
    """401: the credentials are not, or no longer, accepted."""


class Unreachable(CapiError):
    """The API server could not be reached in time."""


def api_error(code: int, reason: str, message: str) -> ApiError:
    """The error class that fits an HTTP status and a Status reason."""
    kinds: dict[int, type[ApiError]] = {
        400: Invalid,
        401: Unauthorized,
        404: NotFound,
        409: AlreadyExists if reason == "AlreadyExists" else Conflict,
        410: Gone,
        422: Invalid,
    }
    return kinds.get(code, ApiError)(code, reason, message)
