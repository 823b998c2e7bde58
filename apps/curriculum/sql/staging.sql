-- name: create
-- Tables of this transaction alone that hold what the files say, row by row, and what was found for it.
-- `n` counts the records of a kind over all files; `file` and `row` say where it stands; `bad` names
-- fields that were refused already, so that nothing is reported twice.
CREATE TEMPORARY TABLE import_topic (
    n integer PRIMARY KEY, file smallint, row integer, bad text[] NOT NULL,
    slug text, title text, description text, archived boolean,
    topic_id bigint, changed boolean NOT NULL DEFAULT false
);
CREATE TEMPORARY TABLE import_concept (
    n integer PRIMARY KEY, file smallint, row integer, bad text[] NOT NULL,
    slug text, title text, definition text, status text, archived boolean, states_aliases boolean NOT NULL,
    concept_id bigint, changed boolean NOT NULL DEFAULT false
);
-- Every name that the files claim for a concept: its slug, and the aliases that they state.
CREATE TEMPORARY TABLE import_name (n integer NOT NULL, slug text NOT NULL, name text, is_alias boolean NOT NULL);
-- `stated` is the confidence of the file, `confidence` what the entry will have; `new_id` is its id where
-- it is made now.
CREATE TEMPORARY TABLE import_entry (
    n integer PRIMARY KEY, file smallint, row integer, bad text[] NOT NULL,
    id uuid, new_id uuid NOT NULL, topic text, name text, scope text, title text, instruction text,
    detail text, visual text, stated numeric(7,6), maturity text, importance numeric(4,3),
    concept_slug text, text_hash text, entry_id uuid, confidence numeric(7,6),
    edited boolean NOT NULL DEFAULT false, changed boolean NOT NULL DEFAULT false
);
CREATE TEMPORARY TABLE import_edge (
    n integer PRIMARY KEY, file smallint, row integer, bad text[] NOT NULL,
    type text, provenance text, stated numeric(7,6), condition text, rationale text,
    source uuid, target uuid, edge_id bigint, confidence numeric(7,6), changed boolean NOT NULL DEFAULT false
);
CREATE TEMPORARY TABLE import_end (
    n integer NOT NULL, side text NOT NULL, id uuid, scope text, topic text, name text,
    concept_slug text, entry uuid
);
-- Every name that a concept has once the import is done.
CREATE TEMPORARY VIEW import_known_name AS
    SELECT staged.slug, concept.slug AS concept_slug
    FROM import_name staged JOIN import_concept concept USING (n)
    UNION ALL
    SELECT stored.slug, concept.slug
    FROM catalog_conceptname stored JOIN catalog_concept concept ON concept.id = stored.concept_id
    WHERE NOT EXISTS (SELECT FROM import_name staged WHERE staged.slug = stored.slug)
      AND (stored.is_canonical OR NOT EXISTS (
          SELECT FROM import_concept i WHERE i.slug = concept.slug AND i.states_aliases))

-- name: analyze
-- What was just copied or matched has no statistics yet, and a plan made without them is a bad one.
ANALYZE import_topic, import_concept, import_name, import_entry, import_edge, import_end

-- name: drop
-- Take the staging tables away before the transaction ends.
DROP VIEW import_known_name;
DROP TABLE import_topic, import_concept, import_name, import_entry, import_edge, import_end
