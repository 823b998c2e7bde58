from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        """Make the path converters known before any address is read."""
        from apps.core.api import converters  # noqa: PLC0415 - Django is not ready when this file is read

        converters.register()
