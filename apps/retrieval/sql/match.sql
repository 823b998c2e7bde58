-- name: match
-- One semantic search (rules.md 4, and pass 1 of 5) over any scopes.
--
-- What names topics is scanned within them, and so are the scopes that hold few rows of many kinds;
-- ``tutor`` and ``public`` without a topic go by their vector indexes. A pass whose ``_k`` is 0, or whose
-- list is empty, costs nothing. Leans on entry_by_topic_concept, entry_by_scope and those of scope_pass.
WITH ask AS MATERIALIZED (
    SELECT given.*, %(query)s::text::vector({dimensions}) AS query
    FROM jsonb_to_record(%(ask)s::jsonb) AS given (
        k int, tutor_k int, public_k int, exact_scan_max_rows bigint, clip int,
        scopes text[], topics text[], topic_scopes text[], {rule_columns}
    )
), {rule}, {tutor_pass}, {public_pass}, found AS (
    SELECT id, boost, similarity FROM tutor_pass
    UNION ALL
    SELECT id, boost, similarity FROM public_pass
    UNION ALL
    SELECT e.id, rule.boost, measured.similarity
    FROM ask CROSS JOIN LATERAL unnest(ask.scopes) AS asked (scope) CROSS JOIN rule CROSS JOIN LATERAL (
        SELECT e.id, e.text_hash FROM entries_entry e
        WHERE e.visibility_scope = asked.scope AND e.maturity = rule.maturity
              AND e.confidence >= rule.floor AND e.superseded_at IS NULL
        OFFSET 0
    ) e CROSS JOIN LATERAL ({similarity}) measured
    UNION ALL
    SELECT e.id, e.boost, measured.similarity
    FROM ask CROSS JOIN LATERAL (
        SELECT e.id, e.text_hash, rule.boost
        FROM unnest(ask.topics) AS named (topic)
        JOIN catalog_topic topic ON topic.slug = named.topic
        CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.topic_id = topic.id OFFSET 0) e
        JOIN rule ON rule.maturity = e.maturity AND e.confidence >= rule.floor
        WHERE e.visibility_scope = ANY (ask.topic_scopes) AND e.superseded_at IS NULL
        OFFSET 0
    ) e CROSS JOIN LATERAL ({similarity}) measured
), best AS (
    SELECT id, similarity FROM found CROSS JOIN ask
    WHERE similarity IS NOT NULL
    ORDER BY similarity * boost DESC, id LIMIT (SELECT k FROM ask)
)
SELECT 'semantic', {columns}
FROM ask CROSS JOIN best CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.id = best.id OFFSET 0) e

-- name: match_concepts
-- The concept pass (rules.md 5, pass 2) over any scopes. In a tutor's or student's scope a slug is a name of
-- its own, so there the names count as they were given too. ``names`` are those that are no concept's, and no
-- row's that was found, be it cut off or not. Leans on entry_by_concept.
WITH ask AS MATERIALIZED (
    SELECT given.* FROM jsonb_to_record(%(ask)s::jsonb) AS given (
        k int, clip int, names text[], scopes text[], topics text[], key_topics text[], {rule_columns}
    )
), {rule}, meant AS MATERIALIZED (
    SELECT said.slug AS said, said.place, ({concept_named}) AS slug
    FROM ask CROSS JOIN LATERAL unnest(ask.names) WITH ORDINALITY AS said (slug, place)
), named (slug, is_concept) AS (
    SELECT slug, true FROM meant WHERE slug IS NOT NULL
    UNION
    SELECT said, false FROM meant WHERE said <> '_unanchored_'
), found AS MATERIALIZED (
    SELECT DISTINCT e.id, e.concept_slug, rule.exact_boost * e.confidence AS weight, e.last_matched_at
    FROM ask CROSS JOIN named
    CROSS JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.concept_slug = named.slug OFFSET 0) e
    JOIN rule ON rule.maturity = e.maturity AND e.confidence >= rule.floor
    LEFT JOIN catalog_topic topic ON topic.id = e.topic_id
    WHERE e.visibility_scope = ANY (ask.scopes) AND e.superseded_at IS NULL
          AND (named.is_concept OR e.visibility_scope NOT IN ('public', 'visual'))
          AND (ask.topics IS NULL OR topic.slug = ANY (ask.topics))
          AND (ask.key_topics IS NULL OR e.visibility_scope <> 'public' OR topic.slug = ANY (ask.key_topics))
), best AS (
    SELECT id FROM found
    ORDER BY weight DESC, last_matched_at DESC NULLS LAST, id LIMIT (SELECT k FROM ask)
), unknown AS (
    SELECT array(SELECT said FROM meant
                 WHERE slug IS NULL AND NOT EXISTS (SELECT FROM found WHERE concept_slug = said)
                 ORDER BY place) AS names
)
SELECT unknown.names, 'concept', {columns}
FROM ask CROSS JOIN unknown
LEFT JOIN (SELECT id, NULL::float8 AS similarity FROM best) best ON true
LEFT JOIN LATERAL (SELECT * FROM entries_entry e WHERE e.id = best.id OFFSET 0) e ON true
