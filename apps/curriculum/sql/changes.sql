-- name: counts
-- How many rows of each kind are made, changed, and there in all.
SELECT 'topics', count(*) FILTER (WHERE topic_id IS NULL), count(*) FILTER (WHERE changed), count(*)
FROM import_topic
UNION ALL SELECT 'concepts', count(*) FILTER (WHERE concept_id IS NULL), count(*) FILTER (WHERE changed), count(*)
FROM import_concept
UNION ALL SELECT 'entries', count(*) FILTER (WHERE entry_id IS NULL), count(*) FILTER (WHERE changed), count(*)
FROM import_entry
UNION ALL SELECT 'edges', count(*) FILTER (WHERE edge_id IS NULL), count(*) FILTER (WHERE changed), count(*)
FROM import_edge

-- name: topics
-- Topics that are made (no field) or changed, a row a field; values as JSON.
SELECT i.n, i.file, i.row, i.slug, change.field, change.before, change.after
FROM import_topic i
LEFT JOIN catalog_topic t ON t.id = i.topic_id
LEFT JOIN LATERAL (VALUES
    ('title', to_jsonb(t.title), to_jsonb(i.title)),
    ('description', to_jsonb(t.description), to_jsonb(i.description)),
    ('archived', to_jsonb(t.archived_at IS NOT NULL), to_jsonb(i.archived))
) change (field, before, after) ON i.changed AND change.before IS DISTINCT FROM change.after
WHERE i.topic_id IS NULL OR i.changed ORDER BY i.n

-- name: concepts
-- Concepts that are made (no field) or changed, a row a field; values as JSON.
SELECT i.n, i.file, i.row, i.slug, change.field, change.before, change.after
FROM import_concept i
LEFT JOIN catalog_concept c ON c.id = i.concept_id
LEFT JOIN LATERAL (VALUES
    ('title', to_jsonb(c.title), to_jsonb(i.title)),
    ('definition', to_jsonb(c.definition), to_jsonb(i.definition)),
    ('status', to_jsonb(c.status), to_jsonb(i.status)),
    ('archived', to_jsonb(c.archived_at IS NOT NULL), to_jsonb(i.archived)),
    ('aliases', CASE WHEN i.states_aliases THEN (
        SELECT coalesce(jsonb_agg(name ORDER BY slug), '[]') FROM catalog_conceptname
        WHERE concept_id = c.id AND NOT is_canonical) END,
     CASE WHEN i.states_aliases THEN (
        SELECT coalesce(jsonb_agg(name ORDER BY slug), '[]') FROM import_name WHERE n = i.n AND is_alias) END)
) change (field, before, after) ON i.changed AND change.before IS DISTINCT FROM change.after
WHERE i.concept_id IS NULL OR i.changed ORDER BY i.n

-- name: entries
-- Entries that are made (no field) or changed, a row a field; values as JSON.
SELECT i.n, i.file, i.row,
       concat_ws(' ', i.scope, nullif(concat_ws('/', i.topic, nullif(i.concept_slug, '_unanchored_')), ''),
                 CASE WHEN i.concept_slug = '_unanchored_' THEN i.title END),
       change.field, change.before, change.after
FROM import_entry i
LEFT JOIN entries_entry e ON e.id = i.entry_id
LEFT JOIN catalog_topic t ON t.id = e.topic_id
LEFT JOIN LATERAL (VALUES
    ('topic', to_jsonb(t.slug), to_jsonb(i.topic)),
    ('concept', to_jsonb(nullif(e.concept_slug, '_unanchored_')),
                to_jsonb(nullif(i.concept_slug, '_unanchored_'))),
    ('title', to_jsonb(e.title), to_jsonb(i.title)),
    ('instruction', to_jsonb(e.instruction), to_jsonb(i.instruction)),
    ('detail', to_jsonb(e.detail), to_jsonb(i.detail)),
    ('visual', to_jsonb(e.visual), to_jsonb(i.visual)),
    ('confidence', to_jsonb(e.confidence), to_jsonb(i.confidence)),
    ('maturity', to_jsonb(e.maturity), to_jsonb(i.maturity)),
    ('importance', to_jsonb(e.importance), to_jsonb(i.importance))
) change (field, before, after) ON i.changed AND change.before IS DISTINCT FROM change.after
WHERE i.entry_id IS NULL OR i.changed ORDER BY i.n

-- name: edges
-- Edges that are made (no field) or changed, a row a field; values as JSON.
SELECT i.n, i.file, i.row,
       concat_ws(' ', i.type, coalesce(nullif(concat_ws('/', s.topic, s.name), ''), s.id::text), '->',
                 coalesce(nullif(concat_ws('/', t.topic, t.name), ''), t.id::text)),
       change.field, change.before, change.after
FROM import_edge i
JOIN import_end s ON s.n = i.n AND s.side = 'source'
JOIN import_end t ON t.n = i.n AND t.side = 'target'
LEFT JOIN edges_edge e ON e.id = i.edge_id
LEFT JOIN LATERAL (VALUES
    ('provenance', to_jsonb(e.source_type), to_jsonb(i.provenance)),
    ('confidence', to_jsonb(e.confidence), to_jsonb(i.confidence)),
    ('condition', to_jsonb(e.condition), to_jsonb(i.condition)),
    ('rationale', to_jsonb(e.rationale), to_jsonb(i.rationale))
) change (field, before, after) ON i.changed AND change.before IS DISTINCT FROM change.after
WHERE i.edge_id IS NULL OR i.changed ORDER BY i.n
