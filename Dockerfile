# The image of web, worker and beat alike; compose.yaml says which is which.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DJANGO_SETTINGS_MODULE=config.settings.production
WORKDIR /app

COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock

COPY . ./
# Collecting files asks no server, and the key signs nothing that outlives this line.
RUN LODE_SECRET_KEY=only-for-this-step LODE_ALLOWED_HOSTS=localhost python manage.py collectstatic --noinput \
    && useradd --system --no-create-home --shell /usr/sbin/nologin lode
USER lode

EXPOSE 8000
CMD ["gunicorn", "config.wsgi:application", "--bind", "0.0.0.0:8000", "--preload", "--workers", "2", \
     "--worker-class", "apps.core.worker.ProblemWorker", "--threads", "8", "--timeout", "60", "--no-control-socket"]
