"""Every address of the product."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

api: list[URLPattern | URLResolver] = [
    path("", include("apps.catalog.urls")),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/v1/", include(api)),
]
