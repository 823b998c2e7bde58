from django.db import migrations

from apps.curation.groups import ensure_groups


def make_groups(apps, schema_editor):
    ensure_groups(apps)


class Migration(migrations.Migration):
    dependencies = [("curation", "0001_groups")]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
