from django.apps import AppConfig


class EdgesConfig(AppConfig):
    name = "apps.edges"
    verbose_name = "Curriculum"

    def ready(self) -> None:
        from apps.edges.actions import refuse_returned_cycle  # noqa: PLC0415 - models are loaded only now
        from apps.entries import returning  # noqa: PLC0415

        returning.register(refuse_returned_cycle)
