from django.apps import AppConfig


class ClientsConfig(AppConfig):
    name = "apps.clients"
    verbose_name = "System"
