import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The table is made anew: nothing has written to it, and its old columns meant another thing."""

    dependencies = [("clients", "0001_initial")]

    operations = [
        migrations.DeleteModel(name="IdempotencyRecord"),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=200)),
                (
                    "request_hash",
                    models.CharField(help_text="SHA-256 over method, address and body.", max_length=64),
                ),
                ("status", models.PositiveSmallIntegerField()),
                ("response", models.TextField()),
                ("headers", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField()),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="clients.apikey"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="idempotency_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("api_key", "key"), name="idempotency_key_once")
                ],
            },
        ),
    ]
