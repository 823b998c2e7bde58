"""What the test suite runs on: real embedded servers in a folder of their own, and nothing of ``var/``'s."""

import os
import tempfile
from pathlib import Path

from config.settings import base
from config.settings.layers import settings_of

globals().update(settings_of(base))

SECRET_KEY = "only-for-tests"  # noqa: S105 - signs nothing that leaves a test
LODE_VAR = base.LODE_VAR / "test"
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(LODE_VAR / "metrics")
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
DATABASES = {"default": base.database(LODE_VAR)}
# Django empties tables between transactional tests with TRUNCATE, which the audit otherwise refuses.
DATABASES["default"]["OPTIONS"]["options"] += " -c lode.flush=allowed"
CACHES = {"default": {**base.CACHES["default"], "LOCATION": base.cache_url(LODE_VAR)}}
CELERY_BROKER_URL = base.broker_url(LODE_VAR)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT = Path(tempfile.gettempdir()) / "lode-static-of-tests"
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns where there is none, and warnings are errors
