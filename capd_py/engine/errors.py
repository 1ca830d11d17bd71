"""Errors of the local engine and of image builds."""


class EngineError(Exception):
    """Something the machine lacks or refuses.

    Attributes:
        cure: What the user can do about it, a command where there is one.
    """

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(f"{message}\n  cure: {cure}" if cure else message)
        self.cure = cure
