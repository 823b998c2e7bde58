"""One counter over all dials: its greatest drawn value names the state of them all."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("dials", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """CREATE SEQUENCE dials_version_seq AS bigint""",
            """DROP SEQUENCE dials_version_seq""",
        ),
    ]
