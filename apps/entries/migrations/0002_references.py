"""What Django cannot write: a foreign key over two columns, one from a generated column, and its renaming."""

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
        migrations.RunSQL(
            """
            CREATE FUNCTION entries_follow_concept() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                UPDATE entries_entry SET concept_slug = NEW.slug, updated_at = NEW.updated_at
                WHERE concept_slug = OLD.slug AND visibility_scope IN ('public', 'visual');
                RETURN NULL;
            END $$;
            CREATE TRIGGER entries_follow_concept AFTER UPDATE OF slug ON catalog_concept
            FOR EACH ROW WHEN (OLD.slug IS DISTINCT FROM NEW.slug) EXECUTE FUNCTION entries_follow_concept();
            """,
            "DROP TRIGGER entries_follow_concept ON catalog_concept; DROP FUNCTION entries_follow_concept",
        ),
    ]
