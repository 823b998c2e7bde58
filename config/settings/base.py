"""Settings shared by every environment: everything comes from the environment, with a default that runs.

With no environment set, PostgreSQL and Valkey are the embedded ones under ``LODE_VAR`` (see
``apps.core.embedded``); ``DATABASE_URL`` and ``REDIS_URL`` name other servers.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static

from apps.core.embedded import locations

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent.parent
LODE_VAR = Path(env.str("LODE_VAR", default=str(BASE_DIR / "var"))).resolve()
LODE_DATA_DIR = Path(env.str("LODE_DATA_DIR", default=str(BASE_DIR.parent / "shared" / "data")))

DEBUG = False
ALLOWED_HOSTS: list[str] = env.list("LODE_ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("LODE_CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "pgtrigger",
    "django_htmx",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "apps.core",
    "apps.audit",
    "apps.dials",
    "apps.embeddings",
    "apps.clients",
    "apps.catalog",
    "apps.entries",
    "apps.edges",
    "apps.tutoring",
    "apps.curriculum",
    "apps.retrieval",
    "apps.curation",
]

MIDDLEWARE = [
    "apps.core.health.ProbeMiddleware",
    "apps.core.api.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


def database(var: Path) -> dict[str, Any]:
    """The named server or the embedded one of ``var``, on persistent connections without per-call planning.

    One generic plan and no JIT: with `auto`, PostgreSQL planned the retrieval anew at every call
    (3 to 5 ms of a 2 ms statement). Connecting anew costs 40 ms, so connections stay open.
    """
    named = "DATABASE_URL" in env.ENVIRON
    if named and env.str("DATABASE_URL").partition("://")[0] not in env.DB_SCHEMES:
        raise ImproperlyConfigured(
            "DATABASE_URL names no database: give postgres://USER:PASSWORD@HOST:5432/NAME, or leave it unset"
        )
    found: dict[str, Any] = dict(env.db_url("DATABASE_URL")) if named else locations.database_settings(var)
    found["HOST"] = unquote(found["HOST"])  # a socket's folder stands percent-encoded in a URL
    found["CONN_MAX_AGE"] = None
    found["CONN_HEALTH_CHECKS"] = True
    # What comes of a vector index is ranked again: its order may be loose, which finds more of what is near.
    settings = "-c plan_cache_mode=force_generic_plan -c jit=off -c hnsw.iterative_scan=relaxed_order"
    found.setdefault("OPTIONS", {}).setdefault("options", settings)
    # Django's own cursors never prepare; those of apps.core.database ask for it, and this lets them.
    found["OPTIONS"].setdefault("prepare_threshold", 5)
    found["OPTIONS"].setdefault("connect_timeout", 5)
    return found


def cache_url(var: Path) -> str:
    """The Redis that caches: REDIS_URL, else the embedded Valkey of ``var``."""
    named = str(env.str("REDIS_URL", default=f"unix://{locations.broker_socket(var)}?db=0"))
    if not named.startswith(("redis://", "rediss://", "unix://")):
        raise ImproperlyConfigured("REDIS_URL names no Redis: give redis://HOST:6379/0, or leave it unset")
    return named


def broker_url(var: Path) -> str:
    """The same Redis as Celery names it: a socket of its own scheme, with the database apart."""
    scheme, _, rest = cache_url(var).partition("://")
    return (
        f"redis+socket://{rest.replace('?db=', '?virtual_host=')}"
        if scheme == "unix"
        else f"{scheme}://{rest}"
    )


DATABASES = {"default": database(LODE_VAR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = broker_url(LODE_VAR)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": cache_url(LODE_VAR),
        # Whatever is cached can be done without: a Redis that hangs must not hold a request.
        "OPTIONS": {"socket_timeout": 0.25, "socket_connect_timeout": 0.25},
    }
}

# A task is acknowledged when it is done, and a lost child gives it back: nothing is lost with a worker.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 1500
CELERY_TASK_SOFT_TIME_LIMIT = 1400
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    # Whatever lacks a vector: after a lost message, or a provider that was down.
    "embed-pending": {
        "task": "embeddings.embed_pending",
        "schedule": 60.0,
        "options": {"expire_seconds": 60},
    },
    # Counts that are derived from the log stand at most five minutes behind it.
    "tally": {"task": "retrieval.tally", "schedule": 60.0, "options": {"expire_seconds": 60}},
    "probe-recall": {
        "task": "retrieval.probe_recall",
        "schedule": 3600.0,
        "options": {"expire_seconds": 3600},
    },
    "note-last-uses": {"task": "clients.note_last_uses", "schedule": 60.0},
    "forget-answers": {"task": "clients.forget_answers", "schedule": 3600.0},
}
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("LODE_STATIC_ROOT", default=str(BASE_DIR / "staticfiles")))
STATICFILES_DIRS = [BASE_DIR / "static"]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_SCHEMA_CLASS": "apps.core.api.schema.ApiSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.api.parsers.StrictJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.clients.authentication.KeyAuthentication"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.clients.throttles.KeyThrottle"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.core.api.access.HasScope"],
    "EXCEPTION_HANDLER": "apps.core.api.problems.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Lode",
    "DESCRIPTION": "A curated memory for AI tutors.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {
        "name": {"type": "string", "maxLength": 100},
        "number": {"type": "integer", "format": "int64", "minimum": 1},
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "MaturityEnum": "apps.entries.models.Maturity",
        "EdgeTypeEnum": "apps.edges.models.EdgeType",
    },
}

FORMAT_MODULE_PATH = ["config.formats"]

# The admin's colour: one hue, from light to dark.
_TEAL = {
    "50": "oklch(97% .02 185)",
    "100": "oklch(94% .04 185)",
    "200": "oklch(89% .07 185)",
    "300": "oklch(83% .1 185)",
    "400": "oklch(76% .12 185)",
    "500": "oklch(66% .12 185)",
    "600": "oklch(53% .1 185)",
    "700": "oklch(46% .085 185)",
    "800": "oklch(40% .07 185)",
    "900": "oklch(34% .06 185)",
    "950": "oklch(26% .045 185)",
}
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Lode",
    "SITE_HEADER": "Lode",
    "SITE_SUBHEADER": "A curated memory for AI tutors",
    "SITE_SYMBOL": "hub",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("lode/icon.svg")}
    ],
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "COLORS": {"primary": _TEAL},
    "STYLES": [lambda request: static("lode/admin.css")],
    "DASHBOARD_CALLBACK": "apps.curation.views.dashboard",
    "SCRIPTS": [lambda request: static("lode/keyboard.js")],
    "SIDEBAR": {"navigation": "apps.curation.navigation.sidebar"},
}

# What /readyz asks for, and what /metrics measures when it is asked: functions by name.
LODE_CHECKS = {
    "database": "apps.core.health.database",
    "broker": "apps.core.health.broker",
    "migrations": "apps.core.health.migrations",
    "space": "apps.embeddings.health.serving_space",
}
LODE_GAUGES = {"lode_embeddings_pending": "apps.embeddings.health.pending"}
# Web processes count in files here; prometheus_client reads the place from the environment alone.
os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(LODE_VAR / "metrics"))

# How long the answer of a write is kept for a retry under the same Idempotency-Key.
LODE_IDEMPOTENCY_HOURS: int = env.int("LODE_IDEMPOTENCY_HOURS", default=24)

# Which model makes the vectors; see apps.embeddings.registry.
LODE_EMBEDDING_PROVIDER: str = env.str("LODE_EMBEDDING_PROVIDER", default="local")
LODE_LOCAL_MODEL_DIR: str = env.str("LODE_LOCAL_MODEL_DIR", default="")
OPENAI_API_KEY: str = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL: str = env.str("OPENAI_BASE_URL", default="")
LODE_OPENAI_MODEL: str = env.str("LODE_OPENAI_MODEL", default="text-embedding-3-small")
LODE_OPENAI_DIMENSIONS: int = env.int("LODE_OPENAI_DIMENSIONS", default=1536)
# Another name under which a server may answer for that model; any other name is refused.
LODE_OPENAI_ANSWERS_AS: str = env.str("LODE_OPENAI_ANSWERS_AS", default="")
LODE_OPENAI_MAX_INPUT_TOKENS: int = env.int("LODE_OPENAI_MAX_INPUT_TOKENS", default=8191)
# Seconds for one try: of a worker, which tries three times, and of a query that a person waits for.
LODE_OPENAI_TIMEOUT_SECONDS: float = env.float("LODE_OPENAI_TIMEOUT_SECONDS", default=20.0)
LODE_OPENAI_URGENT_TIMEOUT_SECONDS: float = env.float("LODE_OPENAI_URGENT_TIMEOUT_SECONDS", default=5.0)

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "apps.core.api.requests.RequestIdFilter"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request_id"]}
    },
    # The HTTP client of the openai provider would write a line for every request.
    "loggers": {"httpx2": {"level": "WARNING"}},
    "root": {"handlers": ["console"], "level": env.str("LODE_LOG_LEVEL", default="INFO")},
}
