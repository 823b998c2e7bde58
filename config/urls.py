"""Every address of the product."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerView

from apps.core.api.documents import SchemaView

api: list[URLPattern | URLResolver] = [
    path("", include("apps.dials.urls")),
    path("", include("apps.catalog.urls")),
    path("", include("apps.entries.urls")),
    path("", include("apps.edges.urls")),
    path("", include("apps.curriculum.urls")),
    path("", include("apps.retrieval.urls")),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", include(api)),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
]
