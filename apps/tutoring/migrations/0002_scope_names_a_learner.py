"""A student scope names a learner that exists. It stands here because learners stand above entries."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tutoring", "0001_initial"), ("entries", "0002_references")]

    operations = [
        migrations.RunSQL(
            """
            CREATE INDEX entry_by_learner ON entries_entry (learner_key) WHERE learner_key IS NOT NULL
            """,
            """DROP INDEX entry_by_learner""",
        ),
        migrations.RunSQL(
            """
            ALTER TABLE entries_entry ADD CONSTRAINT entry_scope_names_a_learner
            FOREIGN KEY (learner_key) REFERENCES tutoring_learner (external_id) DEFERRABLE INITIALLY DEFERRED
            """,
            """ALTER TABLE entries_entry DROP CONSTRAINT entry_scope_names_a_learner""",
        ),
    ]
