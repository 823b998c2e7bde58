-- name: lock
-- In the order in which authors' writes come by them. Reading goes on.
LOCK TABLE catalog_topic, catalog_concept, catalog_conceptname, entries_entry, edges_edge
IN SHARE ROW EXCLUSIVE MODE

-- name: hold
-- The rows that will be changed or referred to. Whoever holds one of them now waits for these tables: waiting
-- for them in turn would be a deadlock, so it is refused at once.
SELECT FROM catalog_topic WHERE id IN (SELECT topic_id FROM import_topic WHERE changed)
FOR NO KEY UPDATE NOWAIT;
SELECT FROM catalog_topic WHERE slug IN (SELECT topic FROM import_entry WHERE entry_id IS NULL OR changed)
FOR KEY SHARE NOWAIT;
SELECT FROM catalog_concept WHERE id IN (SELECT concept_id FROM import_concept WHERE changed)
FOR UPDATE NOWAIT;
SELECT FROM catalog_concept
WHERE slug IN (SELECT concept_slug FROM import_entry WHERE entry_id IS NULL OR changed)
FOR KEY SHARE NOWAIT;
SELECT FROM entries_entry WHERE id IN (SELECT entry_id FROM import_entry WHERE changed)
FOR NO KEY UPDATE NOWAIT;
SELECT FROM entries_entry
WHERE id IN (SELECT unnest(ARRAY[source, target]) FROM import_edge WHERE edge_id IS NULL)
FOR KEY SHARE NOWAIT;
SELECT FROM edges_edge WHERE id IN (SELECT edge_id FROM import_edge WHERE changed)
FOR NO KEY UPDATE NOWAIT

-- name: check_at_once
-- Foreign keys are checked at the end of each statement. While checks are left to the commit, each call of
-- a row-level trigger takes longer the more of them are pending: 30,000 edges took 46 s so, and 5 s at once.
SET CONSTRAINTS ALL IMMEDIATE

-- name: check_at_commit
-- Foreign keys wait for the commit again, as everywhere else: what follows may need them in another order.
SET CONSTRAINTS ALL DEFERRED

-- name: topics
-- New topics, and what the files change of stored ones.
INSERT INTO catalog_topic (slug, title, description, created_at, updated_at, archived_at, version)
SELECT slug, title, description, %(now)s, %(now)s, CASE WHEN archived THEN %(now)s::timestamptz END, 1
FROM import_topic WHERE topic_id IS NULL ORDER BY n;
UPDATE catalog_topic t SET
    title = i.title, description = i.description, updated_at = %(now)s,
    archived_at = CASE WHEN i.archived THEN coalesce(t.archived_at, %(now)s) END
FROM import_topic i WHERE t.id = i.topic_id AND i.changed

-- name: concepts
-- Names that concepts give up go first, so that others can take them in the same import.
DELETE FROM catalog_conceptname name
USING import_concept i
WHERE name.concept_id = i.concept_id AND NOT name.is_canonical AND i.changed AND i.states_aliases
  AND NOT EXISTS (SELECT FROM import_name kept WHERE kept.n = i.n AND kept.is_alias AND kept.slug = name.slug);
INSERT INTO catalog_concept (slug, title, definition, status, created_at, updated_at, archived_at, version)
SELECT slug, title, definition, status, %(now)s, %(now)s, CASE WHEN archived THEN %(now)s::timestamptz END, 1
FROM import_concept WHERE concept_id IS NULL ORDER BY n;
UPDATE catalog_concept c SET
    title = i.title, definition = i.definition, status = i.status, updated_at = %(now)s,
    archived_at = CASE WHEN i.archived THEN coalesce(c.archived_at, %(now)s) END
FROM import_concept i WHERE c.id = i.concept_id AND i.changed;
UPDATE catalog_conceptname stored SET name = alias.name
FROM import_concept i JOIN import_name alias ON alias.n = i.n AND alias.is_alias
WHERE stored.concept_id = i.concept_id AND stored.slug = alias.slug AND stored.name <> alias.name;
INSERT INTO catalog_conceptname (concept_id, slug, name, is_canonical)
SELECT c.id, alias.slug, alias.name, false
FROM import_concept i
JOIN import_name alias ON alias.n = i.n AND alias.is_alias
JOIN catalog_concept c ON c.slug = i.slug
WHERE NOT EXISTS (SELECT FROM catalog_conceptname kept WHERE kept.concept_id = c.id AND kept.slug = alias.slug)
ORDER BY i.n, alias.slug

-- name: entries
-- New entries and changed ones, each move of a confidence with its ledger row (rules.md 10).
INSERT INTO entries_entry (
    id, topic_id, concept_slug, visibility_scope, title, instruction, detail, visual, text_hash, maturity,
    confidence, importance, source_type, source, ladder_step, concept_match_quality, success_count,
    failure_count, match_count, observed_at, approved_at, archived_at, created_at, updated_at, version)
SELECT i.new_id, t.id, i.concept_slug, i.scope, i.title, i.instruction, i.detail, i.visual, '', i.maturity,
    i.confidence, i.importance, 'seed', 'system',
    CASE i.concept_slug WHEN '_unanchored_' THEN 'unanchored' ELSE 'exact' END,
    CASE i.concept_slug WHEN '_unanchored_' THEN %(quality_unanchored)s ELSE %(quality_exact)s END,
    0, 0, 0, %(now)s, %(now)s, CASE i.maturity WHEN 'archived' THEN %(now)s::timestamptz END, %(now)s, %(now)s, 1
FROM import_entry i LEFT JOIN catalog_topic t ON t.slug = i.topic
WHERE i.entry_id IS NULL ORDER BY i.n;
INSERT INTO entries_entryledger (entry_id, kind, outcome, after, at)
SELECT new_id, 'initial', '', confidence, %(now)s FROM import_entry WHERE entry_id IS NULL ORDER BY n;
INSERT INTO entries_entryledger (entry_id, kind, outcome, before, after, at)
SELECT e.id, 'set', '', e.confidence, i.confidence, %(now)s
FROM import_entry i JOIN entries_entry e ON e.id = i.entry_id
WHERE i.changed AND e.confidence <> i.confidence ORDER BY i.n;
UPDATE entries_entry e SET
    topic_id = t.id, concept_slug = i.concept_slug, title = i.title, instruction = i.instruction,
    detail = i.detail, visual = i.visual, maturity = i.maturity, confidence = i.confidence,
    importance = i.importance, updated_at = %(now)s,
    ladder_step = CASE WHEN e.concept_slug = i.concept_slug THEN e.ladder_step ELSE 'exact' END,
    concept_match_quality =
        CASE WHEN e.concept_slug = i.concept_slug THEN e.concept_match_quality ELSE %(quality_exact)s END,
    archived_at = CASE i.maturity WHEN 'archived' THEN coalesce(e.archived_at, %(now)s) END
FROM import_entry i LEFT JOIN catalog_topic t ON t.slug = i.topic
WHERE e.id = i.entry_id AND i.changed

-- name: edges
-- New edges and changed ones, each move of a confidence with its ledger row (rules.md 10).
INSERT INTO edges_edge (
    source_id, target_id, edge_type, source_type, confidence, condition, rationale, hit_count,
    rendered_count, walked_count, created_at, updated_at, version)
SELECT source, target, type, provenance, confidence, condition, rationale, 0, 0, 0, %(now)s, %(now)s, 1
FROM import_edge WHERE edge_id IS NULL ORDER BY n;
INSERT INTO edges_edgeledger (edge_id, kind, outcome, after, at)
SELECT e.id, 'initial', '', e.confidence, %(now)s
FROM import_edge i
JOIN edges_edge e ON e.source_id = i.source AND e.target_id = i.target AND e.edge_type = i.type
WHERE i.edge_id IS NULL ORDER BY i.n;
INSERT INTO edges_edgeledger (edge_id, kind, outcome, before, after, at)
SELECT e.id, 'set', '', e.confidence, i.confidence, %(now)s
FROM import_edge i JOIN edges_edge e ON e.id = i.edge_id
WHERE i.changed AND e.confidence <> i.confidence ORDER BY i.n;
UPDATE edges_edge e SET
    source_type = i.provenance, confidence = i.confidence, condition = i.condition, rationale = i.rationale,
    updated_at = %(now)s
FROM import_edge i WHERE e.id = i.edge_id AND i.changed
