"""cloud-init user data: every form that is understood, and what is refused with its path."""

import base64
import gzip

import pytest

from capd_py.cloudinit.document import Command, Document, InvalidUserData, WriteFile, parse

FACTS = {"local_hostname": "quick-cp", "instance_id": "quick-cp"}


def document(text: str) -> Document:
    """The text under the marker, parsed."""
    return parse(f"#cloud-config\n{text}", FACTS)


def one_file(fields: str) -> WriteFile:
    """The file of a write_files with these fields."""
    return document(f"write_files:\n- path: /etc/a\n{fields}").files[0]


def encoded(content: bytes) -> str:
    """Base64 as YAML text."""
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("", "text\n"),
        ("text/plain", "text\n"),
        ("b64", encoded(b"text\n")),
        ("base64", encoded(b"text\n")),
        ("BASE64", encoded(b"text\n")),
        ("gz+b64", encoded(gzip.compress(b"text\n"))),
        ("gzip+base64", encoded(gzip.compress(b"text\n"))),
        ("gz+base64", encoded(gzip.compress(b"text\n"))),
        ("gzip+b64", encoded(gzip.compress(b"text\n"))),
    ],
)
def test_content_is_decoded(encoding: str, content: str) -> None:
    fields = f"  encoding: '{encoding}'\n  content: {content!r}\n".replace("'text\\n'", '"text\\n"')
    assert one_file(fields).content == b"text\n"


@pytest.mark.parametrize("encoding", ["gz", "gzip"])
def test_compressed_bytes_may_stand_in_yaml_as_binary(encoding: str) -> None:
    content = encoded(gzip.compress(b"text"))
    assert one_file(f"  encoding: {encoding}\n  content: !!binary {content}\n").content == b"text"


def test_base64_over_several_lines_is_decoded() -> None:
    lines = "\n".join(f"    {line}" for line in (encoded(b"x" * 90)[:76], encoded(b"x" * 90)[76:]))
    assert one_file(f"  encoding: b64\n  content: |\n{lines}\n").content == b"x" * 90


@pytest.mark.parametrize(
    ("value", "mode"),
    [("'0600'", 0o600), ("0600", 0o600), ("'755'", 0o755), ("''", 0o644), ("", 0o644),
     ("'04755'", 0o4755)],
)
def test_permissions(value: str, mode: int) -> None:
    assert one_file(f"  permissions: {value}\n").mode == mode


def test_owner_and_append() -> None:
    assert one_file("  owner: etcd:etcd\n  append: true\n  content: x\n") == WriteFile(
        "/etc/a", b"x", owner="etcd:etcd", append=True
    )
    assert one_file("  content: x\n") == WriteFile("/etc/a", b"x")
    assert one_file("  content:\n").content == b""


def test_commands_in_both_forms_and_boot_commands() -> None:
    found = document(
        "bootcmd:\n- echo early\nruncmd:\n- kubeadm init && touch x\n- [ls, -l, 5]\n-\n"
    )
    assert found.boot_commands == [Command(line="echo early")]
    assert found.commands == [
        Command(line="kubeadm init && touch x"), Command(words=("ls", "-l", "5"))
    ]
    assert [command.title for command in found.commands] == ["kubeadm init && touch x", "ls -l 5"]


def test_modules_that_need_a_real_machine_are_listed_in_order() -> None:
    assert document("users: []\nntp: {}\nruncmd: []\nmounts:\n").unsupported == [
        "users", "ntp", "mounts"
    ]


def test_only_marked_documents_are_templates_and_only_facts_are_filled_in() -> None:
    text = "runcmd:\n- echo {{ ds.meta_data.local_hostname }} {{v1.instance_id}} {{ other }}"
    plain = document(f'{text.replace("- ", "- |-" + chr(10) + "  ", 1)}')
    assert "{{ ds.meta_data.local_hostname }}" in plain.commands[0].line
    marked = parse(
        "## template: jinja\n#cloud-config\nruncmd:\n- |-\n  echo "
        "{{ ds.meta_data.local_hostname }} {{v1.instance_id}} {{ other }} "
        "{{ ds.meta_data.unknown }} {% raw %}",
        FACTS,
    )
    assert marked.commands[0].line == (
        "echo quick-cp quick-cp {{ other }} {{ ds.meta_data.unknown }} {% raw %}"
    )


@pytest.mark.parametrize("text", ["", "{}", "# nothing"])
def test_nothing_to_do_is_no_mistake(text: str) -> None:
    found = document(text)
    assert (found.files, found.commands, found.unsupported) == ([], [], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "not a YAML mapping"),
        ("runcmd: [", "not YAML"),
        ("write_files: {}", "write_files: must be a list"),
        ("write_files: [a]", "write_files[0].path: is missing"),
        ("write_files: [{content: x}]", "write_files[0].path: is missing"),
        ("write_files: [{path: 5}]", "write_files[0].path: is missing"),
        ("write_files: [{path: /a}, {path: etc/a}]", "write_files[1].path: must be absolute"),
        ("write_files: [{path: /etc/../a}]", "write_files[0].path: must be absolute"),
        ("write_files: [{path: /etc/}]", "write_files[0].path: must name a file"),
        ("write_files: [{path: /a, encoding: rot13}]", "write_files[0].encoding: rot13"),
        ("write_files: [{path: /a, encoding: b64, content: '*'}]", "write_files[0].content"),
        ("write_files: [{path: /a, encoding: b64, content: ü}]", "write_files[0].content"),
        ("write_files: [{path: /a, encoding: gz, content: x}]", "write_files[0].content"),
        ("write_files: [{path: /a, encoding: gz+b64, content: eA==}]", "write_files[0].content"),
        ("write_files: [{path: /a, permissions: rw}]", "write_files[0].permissions: rw"),
        ("write_files: [{path: /a, permissions: '0999'}]", "write_files[0].permissions"),
        ("write_files: [{path: /a, permissions: '77777'}]", "write_files[0].permissions"),
        ("write_files: [{path: /a, permissions: 99999}]", "write_files[0].permissions"),
        ("write_files: [{path: /a, permissions: -1}]", "write_files[0].permissions"),
        ("runcmd: {}", "runcmd: must be a list"),
        ("runcmd: [ok, {a: b}]", "runcmd[1]: must be"),
        ("runcmd: [[]]", "runcmd[0]: must be"),
        ("runcmd: [[[a]]]", "runcmd[0]: must be"),
        ("bootcmd: [5]", "bootcmd[0]: must be"),
    ],
)
def test_malformed_data_is_refused_with_its_path(text: str, message: str) -> None:
    with pytest.raises(InvalidUserData) as error:
        document(text)
    assert message in str(error.value)


def test_the_marker_is_required() -> None:
    with pytest.raises(InvalidUserData, match="#cloud-config"):
        parse("runcmd: [ls]", FACTS)


def test_an_error_tells_the_place_and_not_the_text() -> None:
    with pytest.raises(InvalidUserData) as error:
        document("runcmd:\n- 'password: secret")
    assert "line 3" in str(error.value)
    assert "secret" not in str(error.value)


def test_a_truncated_archive_is_refused() -> None:
    content = encoded(gzip.compress(b"text" * 1000)[:-12])
    with pytest.raises(InvalidUserData, match=r"write_files\[0\]\.content"):
        one_file(f"  encoding: gz+b64\n  content: {content}\n")
