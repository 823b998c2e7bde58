-- name: rule_columns
-- What every pass is asked with beside its own: the floors and boosts of each maturity (rules.md 4 and 5).
floor_proven numeric, floor_pattern numeric, floor_candidate numeric,
boost_proven numeric, boost_pattern numeric, boost_candidate numeric

-- name: rule
-- Which maturities may compete, from which confidence, and how far ahead; any other is locked out.
-- ``boost`` multiplies similarities, which are binary; ``exact_boost`` multiplies confidences, which are not.
rule AS MATERIALIZED (
    SELECT each.*, each.exact_boost::float8 AS boost FROM ask CROSS JOIN LATERAL (VALUES
        ('proven', ask.floor_proven, ask.boost_proven),
        ('pattern', ask.floor_pattern, ask.boost_pattern),
        ('candidate', ask.floor_candidate, ask.boost_candidate)
    ) AS each (maturity, floor, exact_boost)
)

-- name: similarity
-- The similarity of the entry ``e`` to the query: the largest over its current chunks, null without one.
-- An aggregate, with space and hash in its FILTER: so the planner can only look the few vectors up by
-- entry_vector_once. With them in the WHERE, it took other indexes for a space that it had not counted yet,
-- and after a switch to it 1,700 ms where this takes 4.
SELECT max(1 - (vector.embedding <=> ask.query)) FILTER (
    WHERE vector.space_id = {space} AND vector.text_hash = e.text_hash) AS similarity
FROM entries_entryvector vector
WHERE vector.entry_id = e.id

-- name: scope_pass
-- The semantic pass over one large shared scope, as ``{scope}_pass (id, boost, similarity)``.
--
-- Few rows pass the filter: they are scanned. Many: one scan of the scope's vector index takes the
-- {near} nearest chunks whose entries pass, and those entries are measured and ranked exactly. Boosts
-- could have lifted a row from farther down; where the similarity of the farthest that was taken, times
-- the greatest boost, would not reach the last place, none has, and the answer holds. Else, and where the
-- index came back short, every passing row is scanned after all. Whatever is not needed is not run.
--
-- The order of the vector index and its LIMIT stand on one level, and the filter behind OFFSET 0: so the
-- planner sees that the first rows of the index are enough, and cannot guess how few pass the filter.
-- Leans on entry_by_scope (index-only for the count) and on entryvector_hnsw_{scope}_{space}.
{scope}_passing AS MATERIALIZED (
    SELECT count(*) AS rows FROM (
        SELECT FROM ask CROSS JOIN rule CROSS JOIN LATERAL (
            SELECT FROM entries_entry e
            WHERE e.visibility_scope = '{scope}' AND e.maturity = rule.maturity
                  AND e.confidence >= rule.floor AND e.superseded_at IS NULL
            OFFSET 0
        ) passing
        WHERE ask.{scope}_k > 0 AND ask.query IS NOT NULL
        LIMIT (SELECT exact_scan_max_rows + 1 FROM ask)
    ) bounded
), {scope}_near AS MATERIALIZED (
    SELECT e.id, e.text_hash, e.boost
    FROM entries_entryvector vector CROSS JOIN LATERAL (
        SELECT e.id, e.text_hash,
               CASE e.maturity WHEN 'proven' THEN (SELECT boost_proven::float8 FROM ask)
                               WHEN 'pattern' THEN (SELECT boost_pattern::float8 FROM ask)
                               WHEN 'candidate' THEN (SELECT boost_candidate::float8 FROM ask) END AS boost
        FROM entries_entry e
        WHERE e.id = vector.entry_id AND e.text_hash = vector.text_hash AND e.superseded_at IS NULL
              AND e.confidence >= CASE e.maturity WHEN 'proven' THEN (SELECT floor_proven FROM ask)
                                                  WHEN 'pattern' THEN (SELECT floor_pattern FROM ask)
                                                  WHEN 'candidate' THEN (SELECT floor_candidate FROM ask) END
        OFFSET 0
    ) e
    WHERE vector.space_id = {space} AND vector.visibility_scope = '{scope}'
          AND (SELECT passing.rows > ask.exact_scan_max_rows FROM {scope}_passing passing CROSS JOIN ask)
    ORDER BY vector.embedding::halfvec({dimensions}) <=> (SELECT query::halfvec({dimensions}) FROM ask)
    LIMIT {near}
), {scope}_measured AS MATERIALIZED (
    SELECT e.id, e.boost, measured.similarity
    FROM ask CROSS JOIN (SELECT DISTINCT id, text_hash, boost FROM {scope}_near) e
    CROSS JOIN LATERAL ({similarity}) measured
), {scope}_approximate AS MATERIALIZED (
    SELECT id, boost, similarity FROM {scope}_measured
    ORDER BY similarity * boost DESC, id LIMIT (SELECT {scope}_k FROM ask)
), {scope}_sure AS MATERIALIZED (
    SELECT coalesce((SELECT count(*) FROM {scope}_near) = {near} AND best.rows = ask.{scope}_k
           AND farthest.similarity
               * CASE WHEN farthest.similarity > 0 THEN boosts.greatest ELSE boosts.least END
               < best.last, false) AS holds
    FROM ask
    CROSS JOIN (SELECT max(boost) AS greatest, min(boost) AS least FROM rule) boosts
    CROSS JOIN (SELECT min(similarity) AS similarity FROM {scope}_measured) farthest
    CROSS JOIN (SELECT count(*) AS rows, min(similarity * boost) AS last FROM {scope}_approximate) best
), {scope}_exact AS (
    SELECT e.id, rule.boost, measured.similarity
    FROM ask CROSS JOIN rule CROSS JOIN LATERAL (
        SELECT e.id, e.text_hash FROM entries_entry e
        WHERE e.visibility_scope = '{scope}' AND e.maturity = rule.maturity
              AND e.confidence >= rule.floor AND e.superseded_at IS NULL
        OFFSET 0
    ) e CROSS JOIN LATERAL ({similarity}) measured
    WHERE ask.{scope}_k > 0 AND ask.query IS NOT NULL AND NOT (SELECT holds FROM {scope}_sure)
          AND measured.similarity IS NOT NULL
    ORDER BY measured.similarity * rule.boost DESC, e.id LIMIT (SELECT {scope}_k FROM ask)
), {scope}_pass AS (
    SELECT id, boost, similarity FROM {scope}_approximate WHERE (SELECT holds FROM {scope}_sure)
    UNION ALL
    SELECT id, boost, similarity FROM {scope}_exact
)

-- name: concept_named
-- The unarchived concept that ``said.slug`` names, as its slug or an alias.
SELECT concept.slug FROM catalog_conceptname name JOIN catalog_concept concept ON concept.id = name.concept_id
WHERE name.slug = said.slug AND concept.archived_at IS NULL

-- name: visible
-- Whether the walk may go to the entry ``target``: a row, of a topic that the caller sees, a tutor move, or
-- this learner's own, and no candidate where candidates are left out (rules.md 6).
target.archived_at IS NULL AND target.superseded_at IS NULL
AND (ask.walk_candidates OR target.maturity <> 'candidate')
AND (target.visibility_scope = 'tutor' OR target.learner_key = ask.learner
     OR target.visibility_scope = 'public' AND (ask.key_topics IS NULL OR EXISTS (
         SELECT FROM catalog_topic topic WHERE topic.id = target.topic_id AND topic.slug = ANY (ask.key_topics))))

-- name: columns
-- What rules.ranking reads of an entry, in the order of its Candidate; ``best`` has the similarity.
e.id, e.visibility_scope, (SELECT slug FROM catalog_topic topic WHERE topic.id = e.topic_id), e.concept_slug,
e.title, left(e.instruction, ask.clip), e.maturity, e.confidence, best.similarity, e.last_matched_at,
e.stale_at IS NOT NULL

-- name: walked
-- An ``edge`` and its ``target`` as rules.edges reads them, in the order of queries.walked_edge.
edge.id, edge.edge_type, edge.source_id, edge.target_id, target.title, target.instruction, target.maturity,
edge.condition, edge.confidence::text, edge.source_type
