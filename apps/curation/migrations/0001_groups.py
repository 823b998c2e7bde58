from django.db import migrations

from apps.curation.groups import ensure_groups


def make_groups(apps, schema_editor):
    ensure_groups(apps)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
