from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class EmbeddingsConfig(AppConfig):
    name = "apps.embeddings"
    verbose_name = "Retrieval"

    def ready(self) -> None:
        """Let every app that has texts to embed say so, in its module ``texts``."""
        autodiscover_modules("texts")
