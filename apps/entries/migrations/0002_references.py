"""Foreign keys that Django cannot write: over two columns, and from a generated column."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("entries", "0001_initial"), ("embeddings", "0001_initial"), ("catalog", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE entries_entryvector ADD CONSTRAINT entries_entryvector_space_length
            FOREIGN KEY (space_id, dimensions) REFERENCES embeddings_embeddingspace (id, dimensions)
            """,
            """ALTER TABLE entries_entryvector DROP CONSTRAINT entries_entryvector_space_length""",
        ),
        migrations.RunSQL(
            """
            ALTER TABLE entries_entry ADD CONSTRAINT entry_names_a_concept
            FOREIGN KEY (anchor_slug) REFERENCES catalog_concept (slug) DEFERRABLE INITIALLY DEFERRED
            """,
            """ALTER TABLE entries_entry DROP CONSTRAINT entry_names_a_concept""",
        ),
    ]
