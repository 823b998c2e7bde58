-- name: walk
-- A walk from one entry, level by level (rules.md 6): what was seen is a set, so cycles end and every entry
-- is left once. One row for each level, the start's first; no row where the start is not the caller's to see.
--
-- ``taken`` are the level's edges in the order of the walk, within the limits of each entry and type;
-- ``fresh`` are the entries that they lead to for the first time, as many as still fit. Leans on edge_walk.
WITH RECURSIVE ask AS MATERIALIZED (
    SELECT given.*, start.learner_key AS learner
    FROM jsonb_to_record(%(ask)s::jsonb) AS given (
        start uuid, depth int, types text[], walk_min_confidence numeric, walk_candidates boolean,
        walk_per_type int, walk_limit int, max_nodes int, key_topics text[], learner_prefix text
    )
    JOIN entries_entry start ON start.id = given.start
    LEFT JOIN catalog_topic topic ON topic.id = start.topic_id
    WHERE start.archived_at IS NULL AND start.superseded_at IS NULL
          AND (start.learner_key IS NULL OR starts_with(start.learner_key, given.learner_prefix))
          AND (start.visibility_scope <> 'public' OR given.key_topics IS NULL OR topic.slug = ANY (given.key_topics))
), level (depth, fresh, seen, taken, cut) AS (
    SELECT 0, ARRAY[start], ARRAY[start], ARRAY[]::bigint[], false FROM ask
    UNION ALL
    SELECT level.depth + 1, step.fresh, level.seen || step.fresh, step.taken, step.cut
    FROM level CROSS JOIN ask CROSS JOIN LATERAL (
        WITH taken AS MATERIALIZED (
            SELECT edge.id, edge.target_id, edge.place,
                   row_number() OVER (PARTITION BY edge.source_id ORDER BY edge.kind, edge.confidence DESC, edge.id)
                       AS rank
            FROM (
                SELECT best.*, walker.place, kind.place AS kind
                FROM unnest(level.fresh) WITH ORDINALITY AS walker (id, place)
                CROSS JOIN unnest(ask.types) WITH ORDINALITY AS kind (edge_type, place)
                CROSS JOIN LATERAL (
                    SELECT edge.id, edge.source_id, edge.target_id, edge.confidence
                    FROM edges_edge edge JOIN entries_entry target ON target.id = edge.target_id
                    WHERE edge.source_id = walker.id AND edge.edge_type = kind.edge_type
                          AND edge.confidence >= ask.walk_min_confidence AND {visible}
                    ORDER BY edge.confidence DESC, edge.id LIMIT (SELECT walk_per_type FROM ask)
                ) best
            ) edge
        ), reached AS MATERIALIZED (
            SELECT target_id, row_number() OVER (ORDER BY min(ARRAY[place, rank])) AS place
            FROM taken WHERE rank <= ask.walk_limit AND NOT target_id = ANY (level.seen)
            GROUP BY target_id
        ), room AS (
            SELECT ask.max_nodes - cardinality(level.seen) AS nodes
        )
        SELECT array(SELECT target_id FROM reached CROSS JOIN room WHERE place <= nodes ORDER BY place) AS fresh,
               array(SELECT id FROM taken LEFT JOIN reached USING (target_id) CROSS JOIN room
                     WHERE rank <= ask.walk_limit AND (reached.place IS NULL OR reached.place <= nodes)
                     ORDER BY taken.place, rank) AS taken,
               EXISTS (SELECT FROM reached CROSS JOIN room WHERE place > nodes) AS cut
    ) step
    WHERE level.depth < ask.depth AND cardinality(level.fresh) > 0
)
SELECT level.depth, level.cut,
    (SELECT json_agg(json_build_array(e.id, e.title, e.concept_slug, topic.slug, e.visibility_scope, e.instruction,
                                      e.maturity, e.confidence::text, e.stale_at IS NOT NULL) ORDER BY node.place)
     FROM unnest(level.fresh) WITH ORDINALITY AS node (id, place)
     CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.id = node.id OFFSET 0) e
     LEFT JOIN catalog_topic topic ON topic.id = e.topic_id),
    (SELECT json_agg(json_build_array({walked}) ORDER BY each.place)
     FROM unnest(level.taken) WITH ORDINALITY AS each (id, place)
     CROSS JOIN LATERAL (SELECT * FROM edges_edge edge WHERE edge.id = each.id OFFSET 0) edge
     CROSS JOIN LATERAL (SELECT * FROM entries_entry target WHERE target.id = edge.target_id OFFSET 0) target)
FROM level ORDER BY level.depth

-- name: graph
-- A topic's rows and the edges between them, for drawing, as two JSON arrays; no row for an unknown topic.
-- Leans on entry_by_topic_concept and edge_walk.
WITH topic AS (
    SELECT id, slug, title FROM catalog_topic WHERE slug = %(topic)s AND archived_at IS NULL
), node AS MATERIALIZED (
    SELECT e.* FROM topic JOIN entries_entry e ON e.topic_id = topic.id
    WHERE e.visibility_scope = 'public' AND e.archived_at IS NULL AND e.superseded_at IS NULL
)
SELECT topic.title,
    coalesce((SELECT json_agg(json_build_object(
        'entry', id, 'title', title, 'concept', concept_slug, 'maturity', maturity, 'confidence', confidence,
        'provenance', source_type, 'stale', stale_at IS NOT NULL) ORDER BY concept_slug, id) FROM node), '[]'),
    coalesce((SELECT json_agg(json_build_object(
        'edge', edge.id, 'type', edge.edge_type, 'source', edge.source_id, 'target', edge.target_id,
        'condition', edge.condition, 'rationale', edge.rationale, 'confidence', edge.confidence,
        'provenance', edge.source_type, 'hit_count', edge.hit_count) ORDER BY edge.id)
     FROM node JOIN edges_edge edge ON edge.source_id = node.id JOIN node target ON target.id = edge.target_id
     WHERE edge.edge_type = ANY (%(types)s::text[]) AND edge.source_type = ANY (%(provenance)s::text[])), '[]')
FROM topic
