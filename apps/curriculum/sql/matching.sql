-- name: topics
-- A topic is its slug. Null leaves what is stored, and is empty on a new row.
UPDATE import_topic i SET
    topic_id = t.id,
    title = coalesce(i.title, t.title),
    description = coalesce(i.description, t.description, ''),
    archived = coalesce(i.archived, t.archived_at IS NOT NULL, false)
FROM import_topic same LEFT JOIN catalog_topic t ON t.slug = same.slug
WHERE same.n = i.n

-- name: concepts
-- A concept is its canonical slug.
UPDATE import_concept i SET
    concept_id = c.id,
    title = coalesce(i.title, c.title),
    definition = coalesce(i.definition, c.definition, ''),
    status = coalesce(i.status, c.status, 'approved'),
    archived = coalesce(i.archived, c.archived_at IS NOT NULL, false)
FROM import_concept same LEFT JOIN catalog_concept c ON c.slug = same.slug
WHERE same.n = i.n

-- name: entry_concepts
-- Where a slug must name a concept, an alias stands for it; an unknown name stays null and is reported.
UPDATE import_entry i SET concept_slug = CASE
    WHEN i.name IS NULL THEN '_unanchored_' WHEN i.scope = 'tutor' THEN i.name ELSE known.concept_slug END
FROM import_entry same LEFT JOIN import_known_name known ON known.slug = same.name
WHERE same.n = i.n AND NOT 'concept' = ANY (i.bad) AND i.scope IS NOT NULL

-- name: named_entries
-- Identities 1, 3 and 4 of rules.md 2; leans on identity_topic_fact, identity_visual, identity_tutor_move.
UPDATE import_entry i SET entry_id = e.id
FROM import_entry same
LEFT JOIN catalog_topic t ON t.slug = same.topic
JOIN entries_entry e ON e.visibility_scope = same.scope AND e.concept_slug = same.concept_slug
    AND (same.scope <> 'public' OR e.topic_id = t.id)
WHERE same.n = i.n AND i.name IS NOT NULL AND e.superseded_at IS NULL AND e.fact_key IS NULL

-- name: entries_by_id
-- What has no name yet is found by its id, also where the file gives it one now.
UPDATE import_entry i SET entry_id = e.id
FROM entries_entry e
WHERE i.entry_id IS NULL AND e.id = i.id AND e.superseded_at IS NULL AND e.fact_key IS NULL
  AND e.visibility_scope IN ('public', 'tutor', 'visual')

-- name: hash_texts
-- The hash that the entry will have (rules.md 2, identity 6), before and after what is left is filled in.
UPDATE import_entry SET text_hash = encode(sha256(convert_to(
    title || E'\n' || instruction || E'\n' || coalesce(detail, ''), 'UTF8')), 'hex')
WHERE concept_slug = '_unanchored_'

-- name: entries_by_text
-- An unanchored entry without a known id is the one of identical text; leans on identity_unnamed_text.
UPDATE import_entry i SET entry_id = e.id
FROM import_entry same
LEFT JOIN catalog_topic t ON t.slug = same.topic
JOIN entries_entry e ON e.visibility_scope = same.scope AND e.text_hash = same.text_hash
    AND e.topic_id IS NOT DISTINCT FROM t.id
WHERE same.n = i.n AND i.entry_id IS NULL AND i.concept_slug = '_unanchored_'
  AND e.concept_slug = '_unanchored_' AND e.superseded_at IS NULL AND e.fact_key IS NULL

-- name: fill_entries
-- Null leaves what is stored, and is the rule's initial value on a new row.
UPDATE import_entry i SET
    topic = coalesce(i.topic, t.slug),
    title = coalesce(i.title, e.title),
    instruction = coalesce(i.instruction, e.instruction),
    detail = coalesce(i.detail, e.detail, ''),
    visual = coalesce(i.visual, e.visual),
    maturity = coalesce(i.maturity, e.maturity, 'candidate'),
    importance = coalesce(i.importance, e.importance),
    confidence = coalesce(i.stated, e.confidence, %(initial)s)
FROM import_entry same
LEFT JOIN entries_entry e ON e.id = same.entry_id
LEFT JOIN catalog_topic t ON t.id = e.topic_id
WHERE same.n = i.n

-- name: mark_edited
-- Where an author changed more than the confidence.
UPDATE import_entry i SET edited = true
FROM entries_entry e LEFT JOIN catalog_topic t ON t.id = e.topic_id
WHERE e.id = i.entry_id
  AND (i.title, i.instruction, i.detail, i.visual, i.maturity, i.importance, i.concept_slug, i.topic)
      IS DISTINCT FROM
      (e.title, e.instruction, e.detail, e.visual, e.maturity, e.importance, e.concept_slug, t.slug)

-- name: edited_without_confidence
-- Edited entries whose confidence the file leaves, with the highest that their ledger shows.
SELECT i.n, i.confidence, i.maturity, max(l.after)
FROM import_entry i JOIN entries_entryledger l ON l.entry_id = i.entry_id
WHERE i.edited AND i.stated IS NULL
GROUP BY i.n, i.confidence, i.maturity

-- name: lift
-- The confidence to which an author's edit lifts one row (rules.md 8).
UPDATE import_entry SET confidence = %(confidence)s WHERE n = %(n)s

-- name: mark_changed
-- Which matched rows differ from what is stored; aliases count as a set.
UPDATE import_topic i SET changed = true
FROM catalog_topic t
WHERE t.id = i.topic_id AND (i.title, i.description, i.archived)
      IS DISTINCT FROM (t.title, t.description, t.archived_at IS NOT NULL);
UPDATE import_concept i SET changed = true
FROM catalog_concept c
WHERE c.id = i.concept_id AND ((i.title, i.definition, i.status, i.archived)
      IS DISTINCT FROM (c.title, c.definition, c.status, c.archived_at IS NOT NULL)
  OR i.states_aliases AND (
      SELECT array_agg(ARRAY[slug::text, name::text] ORDER BY slug) FROM import_name WHERE n = i.n AND is_alias
  ) IS DISTINCT FROM (
      SELECT array_agg(ARRAY[slug::text, name::text] ORDER BY slug)
      FROM catalog_conceptname WHERE concept_id = c.id AND NOT is_canonical));
UPDATE import_entry i SET changed = true
FROM entries_entry e
WHERE e.id = i.entry_id AND (i.edited OR i.confidence <> e.confidence)

-- name: end_concepts
-- The concept that each named end of an edge means; an alias stands for its concept.
UPDATE import_end i SET concept_slug = CASE WHEN i.scope = 'tutor' THEN i.name ELSE known.concept_slug END
FROM import_end same LEFT JOIN import_known_name known ON known.slug = same.name
WHERE same.n = i.n AND same.side = i.side AND i.name IS NOT NULL

-- name: ends_in_files
-- An end is an entry of the files, by the id they give it or by its scope, topic and concept.
UPDATE import_end i SET entry = coalesce(e.entry_id, e.new_id)
FROM import_entry e WHERE e.id = i.id;
UPDATE import_end i SET entry = coalesce(e.entry_id, e.new_id)
FROM import_entry e
WHERE i.name IS NOT NULL AND e.scope = i.scope AND e.concept_slug = i.concept_slug
  AND (i.scope <> 'public' OR e.topic = i.topic)

-- name: ends_in_database
-- Else it is a stored entry, where the files do not give that one another place.
UPDATE import_end i SET entry = e.id
FROM entries_entry e
WHERE i.entry IS NULL AND e.id = i.id AND e.superseded_at IS NULL AND e.fact_key IS NULL
  AND e.visibility_scope IN ('public', 'tutor', 'visual');
UPDATE import_end i SET entry = e.id
FROM import_end same
LEFT JOIN catalog_topic t ON t.slug = same.topic
JOIN entries_entry e ON e.visibility_scope = same.scope AND e.concept_slug = same.concept_slug
    AND (same.scope <> 'public' OR e.topic_id = t.id)
WHERE same.n = i.n AND same.side = i.side AND i.entry IS NULL AND i.name IS NOT NULL
  AND e.superseded_at IS NULL AND e.fact_key IS NULL
  AND NOT EXISTS (SELECT FROM import_entry moved WHERE moved.entry_id = e.id)

-- name: edges
-- An edge is its ends and its type; leans on edge_once.
UPDATE import_edge i SET source = s.entry, target = t.entry
FROM import_end s, import_end t
WHERE s.n = i.n AND s.side = 'source' AND t.n = i.n AND t.side = 'target';
UPDATE import_edge i SET
    edge_id = e.id,
    provenance = coalesce(i.provenance, e.source_type, 'seed'),
    condition = coalesce(i.condition, e.condition, ''),
    rationale = coalesce(i.rationale, e.rationale, ''),
    confidence = coalesce(i.stated, e.confidence, CASE coalesce(i.provenance, 'seed')
        WHEN 'seed' THEN %(seed)s::numeric WHEN 'enriched' THEN %(enriched)s ELSE %(learned)s END)
FROM import_edge same
LEFT JOIN edges_edge e ON e.source_id = same.source AND e.target_id = same.target AND e.edge_type = same.type
WHERE same.n = i.n;
UPDATE import_edge i SET changed = true
FROM edges_edge e
WHERE e.id = i.edge_id AND (i.provenance, i.condition, i.rationale, i.confidence)
      IS DISTINCT FROM (e.source_type, e.condition, e.rationale, e.confidence)
