"""One machine, one command: what `make run` uses. The secret key is made once and kept under ``var/``."""

from apps.core.secrets import kept_secret
from config.settings import base
from config.settings.layers import settings_of

globals().update(settings_of(base))

SECRET_KEY = kept_secret(base.LODE_VAR / "secret_key")
DEBUG = base.env.bool("LODE_DEBUG", default=False)
ALLOWED_HOSTS = base.env.list("LODE_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

# Static files are served from where they lie, so that a start has nothing to collect.
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True

# The web process serves style sheets and scripts from where the packages keep them: nothing is collected.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT = None
