"""What is printed once Lode is ready."""

import json
import shlex
from pathlib import Path

from apps.core.first_admin import FirstAdmin
from apps.core.supervisor.network import Address
from apps.core.supervisor.preparation import Access

_QUESTION = {
    "message": "why does reusing a nonce break it?",
    "topic": "cryptography",
    "learner": "demo-ada",
}


def welcome(address: Address, access: Access, logs: Path, seconds: float) -> list[str]:
    """The address, the login, a first request, and how to stop."""
    lines = [
        "",
        f"Lode is ready after {seconds:.1f} s:  {address.url}/admin/",
        f"  login     {_login(access.admin)}",
    ]
    if access.key is not None:
        lines += ["  a tutor's first question:", "", first_request(address, access.key), ""]
    if not address.is_private:
        lines.append(
            f"  Everyone who reaches this machine on port {address.port} reaches Lode, without encryption."
        )
    return [*lines, f"  logs      {logs}", "  Ctrl-C stops it."]


def first_request(address: Address, key: str) -> str:
    """A line for a shell that asks as a tutor client would."""
    body = shlex.quote(json.dumps(_QUESTION))
    headers = f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'"
    return f"curl -s {address.url}/api/v1/retrieve {headers} -d {body}"


def _login(admin: FirstAdmin) -> str:
    if admin.made:
        return f"{admin.name}, password {admin.password} (kept in {admin.file})"
    if admin.file.exists():
        return f"{admin.name}, the password made at the first start is in {admin.file}"
    return f"{admin.name}, whose password `manage.py changepassword {admin.name}` sets anew"
