-- name: records
-- All that an export holds, record by record in the order of the file, of one snapshot: that is why it is one
-- statement. `topics` are slugs, and null means all. What a learner or a key wrote under a fact key is a
-- memory and no curriculum; a superseded entry is history. Places are compared byte by byte, so that no
-- locale of a server changes the order.
WITH entry AS MATERIALIZED (
    SELECT e.id, e.visibility_scope AS scope, t.slug AS topic, nullif(e.concept_slug, '_unanchored_') AS concept,
           ARRAY[e.visibility_scope, coalesce(t.slug, ''), e.concept_slug, e.id::text]::text[] AS place
    FROM entries_entry e LEFT JOIN catalog_topic t ON t.id = e.topic_id
    WHERE e.visibility_scope IN ('public', 'tutor', 'visual') AND e.superseded_at IS NULL AND e.fact_key IS NULL
      AND (%(topics)s::text[] IS NULL OR t.slug = ANY (%(topics)s))
),
named AS (
    SELECT id, place, CASE
        WHEN concept IS NULL THEN json_build_object('id', id)
        WHEN scope = 'public' THEN json_build_object('topic', topic, 'concept', concept)
        ELSE json_build_object('scope', scope, 'concept', concept) END AS name
    FROM entry
),
record (kind, place, body) AS (
    SELECT 'topics', ARRAY[slug]::text[], json_build_object(
        'slug', slug, 'title', title, 'description', description, 'archived', archived_at IS NOT NULL)
    FROM catalog_topic
    WHERE %(topics)s::text[] IS NULL OR slug = ANY (%(topics)s)
    UNION ALL
    SELECT 'concepts', ARRAY[c.slug]::text[], json_build_object(
        'slug', c.slug, 'title', c.title, 'definition', c.definition,
        'aliases', (
            SELECT coalesce(json_agg(json_build_array(slug, name) ORDER BY slug COLLATE "C"), '[]')
            FROM catalog_conceptname WHERE concept_id = c.id AND NOT is_canonical),
        'status', c.status, 'archived', c.archived_at IS NOT NULL)
    FROM catalog_concept c
    WHERE %(topics)s::text[] IS NULL
       OR EXISTS (SELECT FROM entry WHERE concept = c.slug AND scope IN ('public', 'visual'))
    UNION ALL
    SELECT 'entries', entry.place, json_build_object(
        'id', e.id, 'topic', entry.topic, 'concept', entry.concept, 'scope', entry.scope, 'title', e.title,
        'instruction', e.instruction, 'detail', e.detail, 'visual', e.visual,
        'confidence', trim_scale(e.confidence), 'maturity', e.maturity, 'importance', trim_scale(e.importance))
    FROM entry JOIN entries_entry e USING (id)
    UNION ALL
    SELECT 'edges', source.place || target.place || edge.edge_type::text, json_build_object(
        'source', source.name, 'target', target.name, 'type', edge.edge_type, 'provenance', edge.source_type,
        'confidence', trim_scale(edge.confidence), 'condition', edge.condition, 'rationale', edge.rationale)
    FROM edges_edge edge
    JOIN named source ON source.id = edge.source_id
    JOIN named target ON target.id = edge.target_id
)
SELECT kind, body::text FROM record
ORDER BY array_position(ARRAY['topics', 'concepts', 'entries', 'edges'], kind), place COLLATE "C"
