-- name: setting
-- What a retrieval speaks of: the space that serves, and the session and topic that it names. One row.
SELECT coalesce(space.id, 0), coalesce(space.provider, ''), coalesce(space.model, ''), coalesce(space.dimensions, 1),
       coalesce((SELECT reltuples FROM pg_class
                 WHERE oid = to_regclass('entryvector_hnsw_tutor_' || space.id)), 0),
       coalesce((SELECT reltuples FROM pg_class
                 WHERE oid = to_regclass('entryvector_hnsw_public_' || space.id)), 0),
       session.id, session.level, session.topic, session.learner,
       topic.id, topic.slug, topic.title
FROM (SELECT %(topic)s::text AS topic, %(session)s::uuid AS session) named
LEFT JOIN embeddings_embeddingspace space ON space.state = 'serving'
LEFT JOIN LATERAL (
    SELECT session.id, session.level, topic.slug AS topic, learner.external_id AS learner
    FROM tutoring_tutoringsession session
    JOIN catalog_topic topic ON topic.id = session.topic_id
    JOIN tutoring_learner learner ON learner.id = session.learner_id
    WHERE session.id = named.session
) session ON true
LEFT JOIN catalog_topic topic ON topic.slug = coalesce(named.topic, session.topic) AND topic.archived_at IS NULL

-- name: retrieve
-- The four passes of one retrieval and the walk (rules.md 4 to 6), in one statement for each space.
--
-- ``ask`` is one JSON object, so that every question is the same statement with the same types of
-- parameters. The passes of a topic and of a learner scan their few rows exactly. Which rows answer is
-- decided by rules.ranking; the statement only leaves out those that cannot: ``ahead`` counts the rows
-- that surely rank before a row, so that of dozens of candidates only a handful bring texts and edges.
-- Every table is entered by a lateral join with OFFSET 0, that is, through an index, whatever the planner
-- believes of its size: it keeps a plan for a connection's life, and tables grow by imports.
-- Leans on entry_by_topic_concept, entry_by_learner, entry_vector_once, edge_walk and those of scope_pass.
WITH ask AS MATERIALIZED (
    SELECT given.*, %(query)s::text::vector({dimensions}) AS query
    FROM jsonb_to_record(%(ask)s::jsonb) AS given (
        topic bigint, session uuid, learner text, expected text[], turn_window int,
        top_k int, fetch_k int, tutor_k int, student_k int, exact_scan_max_rows bigint,
        concept_bonus float8, named_first boolean, clip int,
        walk_k int, walk_per_type int, walk_min_confidence numeric, walk_candidates boolean,
        key_topics text[], {rule_columns}
    )
), {rule}, said AS MATERIALIZED (
    SELECT given.slug, given.place
    FROM ask CROSS JOIN LATERAL unnest(ask.expected) WITH ORDINALITY AS given (slug, place)
    UNION ALL
    SELECT turn.slug, turn.place
    FROM ask CROSS JOIN LATERAL (
        SELECT each.slug, recent.place
        FROM (
            SELECT concepts, taught_entry, -number AS place FROM tutoring_turn
            WHERE session_id = ask.session ORDER BY number DESC LIMIT (SELECT turn_window FROM ask)
        ) recent
        CROSS JOIN LATERAL (
            SELECT unnest(recent.concepts) AS slug
            UNION ALL
            SELECT concept_slug FROM entries_entry WHERE id = recent.taught_entry
        ) each
    ) turn
    WHERE ask.expected IS NULL
), meant AS MATERIALIZED (
    SELECT said.slug AS said, min(said.place) AS place, ({concept_named}) AS slug
    FROM said GROUP BY said.slug
), expected AS MATERIALIZED (
    SELECT array(SELECT slug FROM meant WHERE slug IS NOT NULL GROUP BY slug ORDER BY min(place), slug)
               AS concepts,
           array(SELECT meant.said FROM meant CROSS JOIN ask
                 WHERE slug IS NULL AND ask.expected IS NOT NULL ORDER BY place) AS ignored
), topic_row AS MATERIALIZED (
    SELECT e.id, e.concept_slug = ANY (expected.concepts) AS is_expected, e.confidence::float8 AS confidence,
           e.last_matched_at, rule.boost, rule.exact_boost * e.confidence AS weight, measured.similarity
    FROM ask CROSS JOIN expected
    CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.topic_id = ask.topic OFFSET 0) e
    JOIN rule ON rule.maturity = e.maturity AND e.confidence >= rule.floor
    CROSS JOIN LATERAL ({similarity}) measured
    WHERE e.visibility_scope = 'public' AND e.superseded_at IS NULL
), placed AS (
    SELECT *,
           CASE WHEN similarity IS NOT NULL THEN
               row_number() OVER (ORDER BY similarity * boost DESC NULLS LAST, id)
           END AS semantic_place,
           CASE WHEN is_expected THEN
               row_number() OVER (PARTITION BY is_expected
                                  ORDER BY weight DESC, last_matched_at DESC NULLS LAST, id)
           END AS concept_place
    FROM topic_row
), scored AS (
    SELECT found.*,
           ask.expected IS NOT NULL OR NOT is_expected OR coalesce(semantic_place <= ask.top_k, false) AS is_sure,
           CASE WHEN by_concept AND (ask.named_first OR NOT by_meaning) THEN 1 ELSE similarity END
               * confidence * boost * CASE WHEN is_expected THEN ask.concept_bonus ELSE 1 END AS score
    FROM ask CROSS JOIN LATERAL (
        SELECT *, coalesce(semantic_place <= ask.fetch_k, false) AS by_meaning,
               coalesce(concept_place <= ask.fetch_k, false) AS by_concept
        FROM placed
        WHERE semantic_place <= ask.fetch_k OR concept_place <= ask.fetch_k
    ) found
), ranked AS (
    -- Products are taken as in rules.ranking, to the same bits; a hair's breadth is left all the same.
    SELECT *, count(*) FILTER (WHERE is_sure) OVER (
        ORDER BY score DESC RANGE BETWEEN UNBOUNDED PRECEDING AND 1e-9 PRECEDING) AS ahead
    FROM scored
), {tutor_pass}, student_pass AS (
    SELECT e.id, rule.boost, measured.similarity
    FROM ask
    CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.learner_key = ask.learner OFFSET 0) e
    JOIN rule ON rule.maturity = e.maturity AND e.confidence >= rule.floor
    CROSS JOIN LATERAL ({similarity}) measured
    WHERE ask.student_k > 0 AND e.superseded_at IS NULL AND measured.similarity IS NOT NULL
    ORDER BY measured.similarity * rule.boost DESC, e.id LIMIT (SELECT student_k FROM ask)
), candidate AS MATERIALIZED (
    SELECT CASE WHEN by_meaning AND by_concept THEN '{{semantic,concept}}'::text[]
                WHEN by_meaning THEN '{{semantic}}' ELSE '{{concept}}' END AS found_in,
           id, similarity, ahead
    FROM ranked CROSS JOIN ask WHERE ahead < ask.top_k OR semantic_place <= ask.top_k
    UNION ALL
    SELECT '{{tutor}}', id, similarity, NULL FROM tutor_pass
    UNION ALL
    SELECT '{{student}}', id, similarity, NULL FROM student_pass
), walked AS MATERIALIZED (
    SELECT walker.id, json_agg(edge.walked) AS edges
    FROM ask JOIN candidate walker ON walker.ahead < ask.walk_k
    CROSS JOIN (VALUES ('prerequisite'), ('fallback'), ('leads_to'), ('related'), ('supersedes')) AS kind (edge_type)
    CROSS JOIN LATERAL (
        SELECT json_build_array({walked}) AS walked
        FROM edges_edge edge JOIN entries_entry target ON target.id = edge.target_id
        WHERE edge.source_id = walker.id AND edge.edge_type = kind.edge_type
              AND edge.confidence >= ask.walk_min_confidence AND {visible}
        ORDER BY edge.confidence DESC, edge.id LIMIT (SELECT walk_per_type FROM ask)
    ) edge
    GROUP BY walker.id
)
SELECT expected.concepts, expected.ignored, best.found_in, walked.edges, {columns}
FROM ask CROSS JOIN expected
LEFT JOIN candidate best ON true
LEFT JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.id = best.id OFFSET 0) e ON true
LEFT JOIN walked ON walked.id = best.id AND best.ahead IS NOT NULL
