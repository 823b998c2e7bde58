"""Forms of the admin, filled in and sent as a browser does."""

from typing import Any

from django.test import Client


def filled(client: Client, address: str, **typed: Any) -> dict[str, str]:
    """What a browser sends of the form at ``address`` once somebody has ``typed`` over its fields.

    Line ends go as CRLF, and beside each field of a stored row goes the value that the page showed.
    """
    form = client.get(address).context["adminform"].form
    sent = {}
    for name, field in form.fields.items():
        value = field.prepare_value(form.get_initial_for_field(field, name))
        shown = "" if value is None else str(value).replace("\r\n", "\n").replace("\n", "\r\n")
        sent[name] = shown
        if field.show_hidden_initial:
            sent[form[name].html_initial_name] = shown
    return {**sent, **{name: str(value).replace("\n", "\r\n") for name, value in typed.items()}}


def errors(response: Any) -> dict[str, list[str]]:
    """What a page says is wrong, by field."""
    return dict(response.context["adminform"].form.errors)
