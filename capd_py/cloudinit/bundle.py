"""Packs a document into one archive for the container, with the program that acts it out there.

The bootstrap runs in the container on its own, so it goes on when the manager is restarted: whoever
asks next is told the same result. It runs once; what was cut off by a restart of the container is
undone with ``kubeadm reset`` and begun again. Its output stays in the container for a look.
"""

import io
import shlex
import tarfile
from dataclasses import dataclass

from capd_py.cloudinit.document import Command, Document, WriteFile

STATE = "/var/lib/capd/bootstrap"

# Whoever starts it second finds the lock taken, or the result there.
_RUN = """\
cd "$(dirname "$0")"
exec 9> lock
flock --nonblock 9 || exit 0
if [ -e result ]; then exit 0; fi
if [ -e started ]; then
  echo "a restart of the container cut the bootstrap off: undoing it" >> stderr
  kubeadm reset --force >> stdout 2>> stderr 9>&-
fi
touch started
timeout --kill-after=5 "$1" bash steps >> stdout 2>> stderr 9>&-
{ echo $?; cat current; } > result.new
mv result.new result
"""

_STEPS = """\
for step in [0-9]*; do
  echo "$step" > current
  /bin/sh "./$step" < /dev/null
  code=$?
  if [ $code -ne 0 ]; then exit $code; fi
done
"""

# The archive arrives on stdin; the answer is the result, and the ends of the outputs.
_START = """\
state=$2
if [ ! -e $state ]; then
  mkdir -p "$(dirname $state)" && new=$(mktemp -d $state.XXXXXX) || exit 125
  tar -xf - -C $new && touch $new/stdout $new/stderr && [ -e $new/run ] || exit 125
  # Whoever is first wins; the archive of a manager that has been replaced may arrive late.
  mv -T $new $state 2> /dev/null || rm -rf $new
fi
setsid bash $state/run "$1" < /dev/null > /dev/null 2>&1 &
until [ -e $state/result ]; do sleep 0.05; done
cat $state/result
tail -n 10 $state/stdout
tail -n 5 $state/stderr >&2
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a bootstrap ended.

    Attributes:
        step: the title of the step that failed, empty on success.
    """

    code: int
    step: str
    output: str
    errors: str

    @property
    def timed_out(self) -> bool:
        """Whether its time was up."""
        return self.code in (124, 137)


def start_command(timeout: float) -> list[str]:
    """What to run in the container, with `pack`'s archive on stdin."""
    return ["bash", "-c", _START, "capd-bootstrap", f"{timeout:g}", STATE]


def pack(document: Document) -> bytes:
    """The archive: the steps in order, and the files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        _add(archive, "steps", _STEPS.encode())
        _add(archive, "files.tar", _file_archive(document.files))
        for name, text in _step_texts(document).items():
            _add(archive, name, text.encode())
        # The last, so that it is missing in an archive that was cut off.
        _add(archive, "run", _RUN.encode())
    return buffer.getvalue()


def _step_texts(document: Document) -> dict[str, str]:
    texts = [
        *(_command_text(command) for command in document.boot_commands),
        _files_text(document.files),
        *(_command_text(command) for command in document.commands),
    ]
    return {f"{number:04}": text for number, text in enumerate(texts)}


def step_titles(document: Document) -> dict[str, str]:
    """What each step is called in a condition."""
    titles = [
        *(command.title for command in document.boot_commands),
        "write_files",
        *(command.title for command in document.commands),
    ]
    return {f"{number:04}": title for number, title in enumerate(titles)}


def read_outcome(document: Document, output: str, errors: str) -> Outcome:
    """Understand what the command of `start_command` printed."""
    code, step, tail = (*output.split("\n", 2), "", "", "")[:3]
    number = int(code) if code.strip().lstrip("-").isdigit() else 125
    title = step_titles(document).get(step.strip(), step) if number else ""
    return Outcome(number, title, tail.strip(), errors.strip())


def _command_text(command: Command) -> str:
    return f"{command.line}\n" if command.line else f"exec {shlex.join(command.words)}\n"


def _files_text(files: list[WriteFile]) -> str:
    lines = ["set -e", "tar -xpf files.tar -C / --overwrite"]
    for number, file in enumerate(files):
        path = shlex.quote(file.path)
        if file.append:
            addition = f"/{_appended(number)}"
            lines.append(f"mkdir -p $(dirname {path}) && cat {addition} >> {path}")
            lines.append(f"rm {addition}")
        if file.owner != "root:root":
            lines.append(f"chown {shlex.quote(file.owner)} {path}")
        if file.append:
            lines.append(f"chmod {file.mode:04o} {path}")
    return "\n".join(lines) + "\n"


def _appended(number: int) -> str:
    return f"{STATE.lstrip('/')}/append-{number}"


def _file_archive(files: list[WriteFile]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number, file in enumerate(files):
            name = _appended(number) if file.append else file.path.lstrip("/")
            _add(archive, name, file.content, 0o600 if file.append else file.mode)
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o600) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.uname, entry.gname = len(content), mode, "root", "root"
    archive.addfile(entry, io.BytesIO(content))
