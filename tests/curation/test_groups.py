"""Who may do what (apps.curation.groups)."""

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from apps.curation.groups import GRANTS, ensure_groups
from tests.world import make_user, make_world

pytestmark = pytest.mark.django_db


def test_groups_are_made_once_and_keep_what_was_added() -> None:
    Group.objects.all().delete()
    for _ in range(2):
        ensure_groups(apps)
    assert {group.name for group in Group.objects.all()} == {"viewer", "curriculum author", "operator"}
    viewer = Group.objects.get(name="viewer")
    viewer.permissions.add(*Group.objects.get(name="operator").permissions.all())
    ensure_groups(apps)
    assert viewer.permissions.filter(codename="view_apikey").exists()


def test_the_migration_makes_them_with_their_permissions() -> None:
    Group.objects.all().delete()
    import_module("apps.curation.migrations.0001_groups").make_groups(apps, None)
    for name, grants in GRANTS.items():
        held = Group.objects.get(name=name).permissions.values_list("codename", "content_type__app_label")
        assert {(codename, app) for codename, app in held} == {
            (f"{verb}_{model.split('.')[1]}", model.split(".")[0]) for verb, model in grants
        }


def test_every_model_of_a_grant_exists() -> None:
    for grants in GRANTS.values():
        for _, model in grants:
            assert apps.get_model(model)


@pytest.mark.parametrize(
    ("group", "seen", "hidden"),
    [
        ("viewer", ["catalog_topic", "tutoring_learner", "dials_dial"], ["clients_apikey", "auth_user"]),
        ("curriculum author", ["entries_entry", "audit_auditevent"], ["clients_apikey", "auth_group"]),
        ("operator", ["clients_apikey", "dials_dial"], ["auth_user"]),
    ],
)
def test_a_group_sees_its_pages_and_no_other(
    client: Client, group: str, seen: list[str], hidden: list[str]
) -> None:
    make_world()
    client.force_login(make_user("anna", group))
    for label in seen:
        assert client.get(reverse(f"admin:{label}_changelist")).status_code == 200, label
    for label in hidden:
        assert client.get(reverse(f"admin:{label}_changelist")).status_code == 403, label


def test_who_is_no_staff_is_asked_to_log_in(client: Client) -> None:
    user = make_user("anna", "viewer")
    user.is_staff = False
    user.save()
    client.force_login(user)
    assert client.get(reverse("admin:index")).status_code == 302
