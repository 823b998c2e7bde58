-- name: topic_not_bound
-- A topic that the key is not bound to.
SELECT n FROM import_topic WHERE slug <> ALL (%(bound)s)

-- name: entry_not_bound
-- A topic that a shared row has already as its provenance is no reason to refuse the row.
SELECT i.n FROM import_entry i
LEFT JOIN entries_entry e ON e.id = i.entry_id AND e.visibility_scope <> 'public'
LEFT JOIN catalog_topic t ON t.id = e.topic_id
WHERE i.topic <> ALL (%(bound)s) AND i.topic IS DISTINCT FROM t.slug

-- name: id_not_bound
-- An id that is of a public entry under a topic that the key is not bound to.
SELECT i.n FROM import_entry i
JOIN entries_entry e ON e.id = i.id AND e.visibility_scope = 'public'
JOIN catalog_topic t ON t.id = e.topic_id
WHERE t.slug <> ALL (%(bound)s)

-- name: source_not_bound
-- An edge that begins, by name, under a topic that the key is not bound to.
SELECT n FROM import_end WHERE side = 'source' AND scope = 'public' AND topic <> ALL (%(bound)s)

-- name: target_not_bound
-- An edge that ends, by name, under a topic that the key is not bound to.
SELECT n FROM import_end WHERE side = 'target' AND scope = 'public' AND topic <> ALL (%(bound)s)

-- name: source_id_not_bound
-- An edge that begins, by id, under a topic that the key is not bound to.
SELECT i.n, i.id::text FROM import_end i
JOIN entries_entry e ON e.id = i.id AND e.visibility_scope = 'public'
JOIN catalog_topic t ON t.id = e.topic_id
WHERE i.side = 'source' AND t.slug <> ALL (%(bound)s)

-- name: target_id_not_bound
-- An edge that ends, by id, under a topic that the key is not bound to.
SELECT i.n, i.id::text FROM import_end i
JOIN entries_entry e ON e.id = i.id AND e.visibility_scope = 'public'
JOIN catalog_topic t ON t.id = e.topic_id
WHERE i.side = 'target' AND t.slug <> ALL (%(bound)s)

-- name: topic_twice
-- A slug that stands twice in the files; the later row is the problem.
SELECT n, first_file, first_row FROM (
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_topic WHERE slug IS NOT NULL WINDOW same AS (PARTITION BY slug ORDER BY n)
) numbered WHERE nth > 1

-- name: topic_without_title
-- A new topic without a title; one that was refused already is not told again.
SELECT n FROM import_topic WHERE topic_id IS NULL AND title IS NULL AND NOT 'title' = ANY (bad)

-- name: concept_twice
-- A slug that stands twice in the files; the later row is the problem.
SELECT n, first_file, first_row FROM (
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_concept WHERE slug IS NOT NULL WINDOW same AS (PARTITION BY slug ORDER BY n)
) numbered WHERE nth > 1

-- name: concept_without_title
-- A new concept without a title; one that was refused already is not told again.
SELECT n FROM import_concept WHERE concept_id IS NULL AND title IS NULL AND NOT 'title' = ANY (bad)

-- name: name_claimed_twice
-- Two concepts of the files claim one name. A concept that stands twice is told once, by concept_twice.
SELECT n, field, name, first_slug AS owner FROM (
    SELECT claim.n, concept.slug AS own, CASE WHEN claim.is_alias THEN 'aliases' ELSE 'slug' END AS field,
           coalesce(claim.name, claim.slug) AS name, first_value(concept.slug) OVER same AS first_slug
    FROM import_name claim JOIN import_concept concept USING (n)
    WINDOW same AS (PARTITION BY claim.slug ORDER BY claim.is_alias, claim.n)
) claims WHERE first_slug <> own

-- name: name_taken
-- A stored concept keeps the name: it is its slug, or an alias that the files do not take from it.
SELECT claim.n, CASE WHEN claim.is_alias THEN 'aliases' ELSE 'slug' END AS field,
       coalesce(claim.name, claim.slug) AS name, owner.slug AS owner
FROM import_name claim
JOIN import_concept concept USING (n)
JOIN catalog_conceptname stored ON stored.slug = claim.slug
JOIN catalog_concept owner ON owner.id = stored.concept_id
WHERE owner.slug <> concept.slug
  AND (stored.is_canonical
       OR NOT EXISTS (SELECT FROM import_concept i WHERE i.slug = owner.slug AND i.states_aliases))

-- name: unknown_topic
-- An entry's topic that neither the files nor the database know.
SELECT n, topic FROM import_entry i
WHERE topic IS NOT NULL
  AND NOT EXISTS (SELECT FROM import_topic t WHERE t.slug = i.topic)
  AND NOT EXISTS (SELECT FROM catalog_topic t WHERE t.slug = i.topic)

-- name: unknown_concept
-- A concept, where it must be one, that neither the files nor the database know.
SELECT n, name FROM import_entry
WHERE concept_slug IS NULL AND name IS NOT NULL AND scope IN ('public', 'visual') AND NOT 'concept' = ANY (bad)

-- name: id_twice
-- An id that two rows of the files claim; the later row is the problem.
SELECT n, first_file, first_row FROM (
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_entry WHERE id IS NOT NULL WINDOW same AS (PARTITION BY id ORDER BY n)
) numbered WHERE nth > 1

-- name: id_of_another
-- The id is of a stored entry that this row is not, or that is no part of a curriculum.
SELECT i.n FROM import_entry i JOIN entries_entry e ON e.id = i.id
WHERE i.entry_id IS DISTINCT FROM e.id

-- name: id_without_its_concept
-- A row without a concept whose id is that of an entry with one.
SELECT i.n, e.concept_slug AS concept FROM import_entry i JOIN entries_entry e ON e.id = i.entry_id
WHERE i.concept_slug = '_unanchored_' AND e.concept_slug <> '_unanchored_' AND NOT 'concept' = ANY (i.bad)

-- name: moved_scope
-- A row whose id is that of an entry of another scope: an entry keeps its scope.
SELECT i.n, e.visibility_scope AS scope FROM import_entry i JOIN entries_entry e ON e.id = i.entry_id
WHERE e.visibility_scope <> i.scope

-- name: moved_topic
-- A public entry keeps its topic; elsewhere the topic only says where a row came from.
SELECT i.n, t.slug AS topic FROM import_entry i
JOIN entries_entry e ON e.id = i.entry_id JOIN catalog_topic t ON t.id = e.topic_id
WHERE i.scope = 'public' AND e.visibility_scope = 'public' AND t.slug <> i.topic

-- name: entry_without_topic
-- A public entry without a topic (rules.md 2).
SELECT n FROM import_entry WHERE scope = 'public' AND topic IS NULL AND NOT 'topic' = ANY (bad)

-- name: entry_without_title
-- A new entry without a title; one that was refused already is not told again.
SELECT n FROM import_entry WHERE title IS NULL AND NOT 'title' = ANY (bad)

-- name: entry_without_instruction
-- A new entry without an instruction; one that was refused already is not told again.
SELECT n FROM import_entry WHERE instruction IS NULL AND NOT 'instruction' = ANY (bad)

-- name: visual_without_drawing
-- An entry of scope visual without its drawing.
SELECT n FROM import_entry WHERE scope = 'visual' AND visual IS NULL AND NOT 'visual' = ANY (bad)

-- name: archived_entry
-- A write that meets an archived entry changes nothing (rules.md 2).
SELECT i.n, e.id::text AS entry FROM import_entry i JOIN entries_entry e ON e.id = i.entry_id
WHERE e.archived_at IS NOT NULL AND i.changed

-- name: entry_twice
-- Two rows are one entry: by their identity once all is filled in, or because both found the same one.
SELECT n, first_file, first_row FROM (
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_entry
    WHERE scope IS NOT NULL AND concept_slug IS NOT NULL AND NOT bad && '{title,instruction,detail,topic}'
    WINDOW same AS (PARTITION BY scope, concept_slug,
        CASE WHEN scope = 'public' OR concept_slug = '_unanchored_' THEN topic END,
        CASE WHEN concept_slug = '_unanchored_' THEN text_hash END ORDER BY n)
    UNION ALL
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_entry WHERE entry_id IS NOT NULL WINDOW same AS (PARTITION BY entry_id ORDER BY n)
) numbered WHERE nth > 1
GROUP BY n, first_file, first_row

-- name: identity_taken
-- A row that takes a new name or text would become the same as a stored entry that the files leave alone.
SELECT i.n, e.id::text AS entry
FROM import_entry i
JOIN entries_entry old ON old.id = i.entry_id
LEFT JOIN catalog_topic t ON t.slug = i.topic
JOIN entries_entry e ON e.visibility_scope = i.scope AND e.concept_slug = i.concept_slug
    AND (i.scope <> 'public' AND i.concept_slug <> '_unanchored_' OR e.topic_id IS NOT DISTINCT FROM t.id)
    AND (i.concept_slug <> '_unanchored_' OR e.text_hash = i.text_hash)
WHERE i.edited AND e.id <> i.entry_id AND e.superseded_at IS NULL AND e.fact_key IS NULL
  AND NOT EXISTS (SELECT FROM import_entry held WHERE held.entry_id = e.id)

-- name: unknown_end
-- An edge's end that is no entry of the files or the database, with what is known of it.
SELECT i.n, i.side, i.id::text, i.scope, i.topic, i.name, i.concept_slug,
       i.topic IS NULL OR EXISTS (SELECT FROM import_topic t WHERE t.slug = i.topic)
                       OR EXISTS (SELECT FROM catalog_topic t WHERE t.slug = i.topic) AS topic_known
FROM import_end i JOIN import_edge edge USING (n)
WHERE i.entry IS NULL AND NOT i.side = ANY (edge.bad)

-- name: edge_to_itself
-- An edge whose ends are one entry.
SELECT n FROM import_edge WHERE source = target

-- name: edge_twice
-- Two rows of the files that are one edge; the later row is the problem.
SELECT n, first_file, first_row FROM (
    SELECT n, row_number() OVER same AS nth, first_value(file) OVER same AS first_file,
           first_value(row) OVER same AS first_row
    FROM import_edge WHERE source IS NOT NULL AND target IS NOT NULL AND type IS NOT NULL
    WINDOW same AS (PARTITION BY source, target, type ORDER BY n)
) numbered WHERE nth > 1

-- name: added_prerequisites
-- Prerequisites that are walked after the import and were not before (rules.md 10). What is archived is
-- asked with NOT IN, which is one look into a hash; the lists hold no null.
SELECT i.source, i.target, i.file, i.row
FROM import_edge i
LEFT JOIN edges_edge e ON e.id = i.edge_id
LEFT JOIN entries_entry source ON source.id = i.source
LEFT JOIN entries_entry target ON target.id = i.target
WHERE i.type = 'prerequisite' AND i.confidence >= %(floor)s AND i.source <> i.target
  AND (e.id IS NULL OR e.confidence < %(floor)s)
  AND source.archived_at IS NULL AND target.archived_at IS NULL
  AND i.source NOT IN (SELECT coalesce(entry_id, new_id) FROM import_entry WHERE maturity = 'archived')
  AND i.target NOT IN (SELECT coalesce(entry_id, new_id) FROM import_entry WHERE maturity = 'archived')
ORDER BY i.n

-- name: kept_prerequisites
-- Stored prerequisites that lead on from the added ones, however far, and are walked after the import too.
-- UNION keeps a set of seen nodes: it ends on cycles. Leans on edge_walk.
WITH RECURSIVE ahead (id) AS (
    SELECT target FROM import_edge WHERE type = 'prerequisite'
    UNION
    SELECT edge.target_id
    FROM ahead JOIN edges_edge edge ON edge.source_id = ahead.id
    JOIN entries_entry target ON target.id = edge.target_id
    WHERE edge.edge_type = 'prerequisite' AND edge.confidence >= %(floor)s
      AND target.archived_at IS NULL AND target.superseded_at IS NULL
)
SELECT edge.source_id, edge.target_id
FROM ahead JOIN edges_edge edge ON edge.source_id = ahead.id
JOIN entries_entry target ON target.id = edge.target_id
WHERE edge.edge_type = 'prerequisite' AND edge.confidence >= %(floor)s
  AND target.archived_at IS NULL AND target.superseded_at IS NULL
  AND NOT EXISTS (SELECT FROM import_edge i WHERE i.edge_id = edge.id AND i.confidence < %(floor)s)
  AND edge.source_id NOT IN (
      SELECT entry_id FROM import_entry WHERE maturity = 'archived' AND entry_id IS NOT NULL)
  AND edge.target_id NOT IN (
      SELECT entry_id FROM import_entry WHERE maturity = 'archived' AND entry_id IS NOT NULL)
ORDER BY edge.id

-- name: labels
-- How entries are called in a message.
SELECT id, coalesce(nullif(concat_ws('/', topic, nullif(concept_slug, '_unanchored_')), topic), title) AS label
FROM (
    SELECT coalesce(entry_id, new_id) AS id, topic, concept_slug, title FROM import_entry
    UNION ALL
    SELECT e.id, t.slug, e.concept_slug, e.title
    FROM entries_entry e LEFT JOIN catalog_topic t ON t.id = e.topic_id
    WHERE NOT EXISTS (SELECT FROM import_entry i WHERE i.entry_id = e.id) AND e.id = ANY (%(ids)s)
) known WHERE id = ANY (%(ids)s)

-- name: topic_slugs
-- Every topic that there will be: what an unknown one is compared with.
SELECT slug FROM import_topic WHERE slug IS NOT NULL UNION SELECT slug FROM catalog_topic

-- name: concept_names
-- Every name that a concept will have: what an unknown one is compared with.
SELECT DISTINCT slug FROM import_known_name
