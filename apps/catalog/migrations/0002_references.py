"""A vector is as long as its space says: Django has no foreign key over two columns."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial"), ("embeddings", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE catalog_conceptvector ADD CONSTRAINT catalog_conceptvector_space_length
            FOREIGN KEY (space_id, dimensions) REFERENCES embeddings_embeddingspace (id, dimensions)
            """,
            """ALTER TABLE catalog_conceptvector DROP CONSTRAINT catalog_conceptvector_space_length""",
        ),
    ]
