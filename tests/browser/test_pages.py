"""The pages as a person meets them: with a keyboard, in both sizes, in light and dark."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Dialog, Page, expect

from apps.audit.models import AuditEvent
from apps.edges.models import Edge
from apps.entries.models import Entry
from tests.factories import make_concept, make_entry, make_topic
from tests.world import DRAWING, make_many, make_user, make_world

pytestmark = pytest.mark.django_db(transaction=True)

LogIn = Callable[[User], None]
Picture = Callable[[str], None]


def ready(page: Page) -> None:
    """Wait until the page's scripts have woken: before, its shortcuts go nowhere."""
    page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")


def tab_to(page: Page, name: str, *, at_most: int = 80) -> None:
    """Press Tab until something of that name has the focus: what a person without a mouse does."""
    ready(page)
    for _ in range(at_most):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => {
                const element = document.activeElement;
                const label = element.labels && element.labels.length ? element.labels[0].textContent : "";
                return [element.getAttribute("aria-label"), label, element.value, element.textContent]
                    .map((text) => (text || "").trim().replace(/\\s+/g, " "));
            }"""
        )
        if any(text == name or text.endswith(f" {name}") for text in focused):
            return
    raise AssertionError(f"no Tab leads to {name!r}")


def test_an_author_finds_and_edits_an_entry_by_keyboard(
    page: Page, log_in: LogIn, author: User, picture: Picture
) -> None:
    entry = make_entry(title="Nonce reuse", topic=make_topic(title="Cryptography"))
    make_many(20)
    log_in(author)
    picture("overview")
    tab_to(page, "Entries")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Select entry to change | Lode")
    ready(page)
    page.keyboard.press("/")
    expect(page.locator("#searchbar")).to_be_focused()
    page.keyboard.type("nonce")
    page.keyboard.press("Enter")
    expect(page.locator("#result_list tbody")).to_have_count(1)
    picture("entries-found")
    tab_to(page, "Nonce reuse concept-1 · Cryptography".replace("concept-1", entry.concept_slug))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Nonce reuse")
    picture("entry-written")
    tab_to(page, "Title*")
    page.keyboard.press("Control+A")
    page.keyboard.type("A nonce is used once")
    page.keyboard.press("Enter")
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert Entry.objects.get(pk=entry.pk).title == "A nonce is used once"
    assert AuditEvent.objects.order_by("-id")[0].actor == "user:anna"


def test_an_edge_is_drawn_by_keyboard_and_a_cycle_is_explained(
    page: Page, log_in: LogIn, author: User, picture: Picture
) -> None:
    keys, modes = make_entry(title="Keys"), make_entry(title="Modes")
    log_in(author)
    page.goto(f"{reverse('admin:edges_edge_add')}?source={modes.pk}")

    def choose(field: str, words: str) -> None:
        page.locator(f"#select2-id_{field}-container").locator("..").focus()
        page.keyboard.press("Enter")
        page.keyboard.type(words)
        expect(page.locator(".select2-results__option--highlighted")).to_contain_text(words)
        page.keyboard.press("Enter")

    choose("target", "Keys")
    picture("edge-new")
    page.get_by_label("Rationale").press("Control+Enter")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_text("was added successfully")).to_be_visible()
    assert Edge.objects.get().target == keys
    page.goto(f"{reverse('admin:edges_edge_add')}?source={keys.pk}")
    choose("target", "Modes")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_text("would close a cycle")).to_be_visible()
    expect(page.locator("#select2-id_target-container")).to_contain_text("Modes")
    picture("edge-cycle")


def test_a_conflict_keeps_what_was_typed(page: Page, log_in: LogIn, author: User, picture: Picture) -> None:
    entry = make_entry(title="Nonce reuse", instruction="Two\nlines.")
    log_in(author)
    page.goto(reverse("admin:entries_entry_change", args=[entry.pk]))
    page.get_by_label("Instruction").fill("My own\nwords.")
    Entry.objects.filter(pk=entry.pk).update(instruction="The other's\nwords.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Nothing of yours is lost")).to_be_visible()
    expect(page.get_by_label("Instruction")).to_have_value("My own\nwords.")
    expect(page.get_by_text("Stored now: The other's words.")).to_be_visible()
    picture("conflict")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert Entry.objects.get(pk=entry.pk).instruction == "My own\nwords."


def test_a_new_entry_shows_the_fields_of_its_scope(
    page: Page, log_in: LogIn, author: User, picture: Picture
) -> None:
    make_concept(title="Nonce reuse", slug="nonce-reuse")
    log_in(author)
    page.goto(reverse("admin:entries_entry_add"))
    expect(page.get_by_label("Name")).to_be_hidden()
    picture("entry-new")
    page.get_by_label("Scope").select_option("tutor")
    expect(page.get_by_label("Name")).to_be_visible()
    expect(page.get_by_label("Drawing")).to_be_hidden()
    page.get_by_label("Name").fill("ask-why")
    page.get_by_label("Title").fill("Ask why")
    page.get_by_label("Instruction").fill("Ask the student why.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    move = Entry.objects.get()
    assert move.concept_slug == "ask-why"
    drawing = make_entry(visibility_scope="visual", visual=DRAWING)
    page.goto(reverse("admin:entries_entry_change", args=[move.pk]))
    expect(page.get_by_label("Name")).to_have_value("ask-why")
    page.goto(reverse("admin:entries_entry_change", args=[drawing.pk]))
    expect(page.get_by_label("Drawing")).to_have_value(DRAWING)
    expect(page.locator("#id_concept + .select2")).to_be_visible()
    picture("drawing-written")


def test_a_key_is_made_and_shown_once(page: Page, log_in: LogIn, picture: Picture) -> None:
    log_in(make_user("olga", "operator"))
    page.goto(reverse("admin:clients_apikey_add"))
    page.get_by_label("Name").fill("Tutor A")
    page.get_by_label("retrieve: ask what is worth knowing now").check()
    picture("key-new")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#key")).to_contain_text("lode_")
    picture("key-made")
    page.get_by_role("link", name="I have copied it").click()
    expect(page.locator("#key")).to_have_count(0)


def test_archiving_asks_first(page: Page, log_in: LogIn, author: User, picture: Picture) -> None:
    entry = make_entry(title="Nonce reuse")
    log_in(author)
    page.goto(reverse("admin:entries_entry_change", args=[entry.pk]))
    tab_to(page, "Archive")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Archive “Nonce reuse”?").first).to_be_visible()
    picture("archive")
    tab_to(page, "Archive")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is archived.")).to_be_visible()
    picture("archived")
    assert Entry.objects.get(pk=entry.pk).archived_at is not None


def test_filters_and_menus_open_by_keyboard(page: Page, log_in: LogIn, picture: Picture) -> None:
    make_world()
    log_in(make_user("root", is_superuser=True))
    page.goto(reverse("admin:entries_entry_changelist"))
    tab_to(page, "filter_list")
    page.keyboard.press("Enter")
    expect(page.locator("#changelist-filter :focus")).to_be_visible()
    picture("filters")
    page.keyboard.press("Escape")
    expect(page.locator("#changelist-filter")).to_be_hidden()
    page.set_viewport_size({"width": 800, "height": 1000})
    tab_to(page, "Menu")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Concepts")).to_be_visible()
    picture("menu")


@pytest.mark.parametrize("dress", ["light", "dark"])
def test_every_page_is_dressed(page: Page, log_in: LogIn, picture: Picture, dress: str) -> None:
    world = make_world()
    make_many(12)
    page.emulate_media(color_scheme="dark" if dress == "dark" else "light")
    log_in(make_user("root", is_superuser=True))
    pages = {
        "overview": reverse("admin:index"),
        "entries": reverse("admin:entries_entry_changelist"),
        "entry": reverse("admin:entries_entry_change", args=[world.entry.pk]),
        "pattern": reverse("admin:entries_entry_change", args=[world.pattern.pk]),
        "drawing": reverse("admin:entries_entry_change", args=[world.drawing.pk]),
        "edges": reverse("admin:edges_edge_changelist"),
        "edge": reverse("admin:edges_edge_change", args=[world.edge.pk]),
        "session": reverse("admin:tutoring_tutoringsession_change", args=[world.session.pk]),
        "retrieval": reverse("admin:tutoring_retrieval_change", args=[world.retrieval.pk]),
        "dials": reverse("admin:dials_dial_changelist"),
        "topic-new": reverse("admin:catalog_topic_add"),
        "concept": reverse("admin:catalog_concept_change", args=[world.concept.pk]),
        "audit": reverse("admin:audit_auditevent_changelist"),
        "keys": reverse("admin:clients_apikey_changelist"),
    }
    for name in pages if dress == "light" else ("overview", "entry", "retrieval"):
        page.goto(pages[name])
        dressed = page.evaluate("getComputedStyle(document.querySelector('#nav-sidebar')).width")
        assert dressed == "288px", name
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
            f"{name} is too wide"
        )
        picture(f"{dress}-{name}")


def test_nothing_that_is_stored_runs(page: Page, log_in: LogIn) -> None:
    run = "alert(1)"
    said = f"<script>{run}</script>\"><img src=x onerror={run}>'-{run}-'`${{{run}}}`</textarea><svg onload={run}>"
    world = make_world(said)
    ran: list[str] = []

    def hear(dialog: Dialog) -> None:
        ran.append(page.url)
        dialog.dismiss()

    page.on("dialog", hear)
    log_in(make_user("root", is_superuser=True))
    for address in (
        reverse("admin:index"),
        reverse("admin:entries_entry_changelist"),
        reverse("admin:entries_entry_change", args=[world.entry.pk]),
        reverse("admin:entries_entry_change", args=[world.drawing.pk]),
        reverse("admin:entries_entry_archive", args=[world.entry.pk]),
        f"{reverse('admin:edges_edge_add')}?source={world.entry.pk}",
        reverse("admin:edges_edge_delete", args=[world.edge.pk]),
        reverse("admin:tutoring_tutoringsession_change", args=[world.session.pk]),
        reverse("admin:tutoring_retrieval_change", args=[world.retrieval.pk]),
        f"{reverse('admin:dials_dial_changelist')}?q={quote(said)}",
    ):
        page.goto(address)
        ready(page)
    page.goto(f"{reverse('admin:edges_edge_add')}?source={world.entry.pk}")
    page.locator("#select2-id_target-container").click()
    expect(page.locator(".select2-results__option--highlighted")).to_contain_text("onerror")
    assert ran == []
