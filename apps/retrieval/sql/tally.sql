-- name: tally
-- Count one batch of the log into its entries and edges, and say of each retrieval that it was counted; all in
-- one statement. Rows that another run counts are left to it. Entries and edges are locked in the order of
-- their ids, as elsewhere, so that no two writers wait for each other. Leans on retrieval_untallied.
WITH taken AS MATERIALIZED (
    SELECT id, created_at, matched_entries, rendered_edges, walked_edges
    FROM tutoring_retrieval WHERE tallied_at IS NULL
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), matched AS MATERIALIZED (
    SELECT entry.id, count(*) AS times, max(taken.created_at) AS last
    FROM taken CROSS JOIN LATERAL unnest(taken.matched_entries) AS entry (id) GROUP BY entry.id
), travelled AS MATERIALIZED (
    SELECT edge.id, count(*) FILTER (WHERE edge.rendered) AS rendered, count(*) FILTER (WHERE NOT edge.rendered) AS walked,
           max(taken.created_at) FILTER (WHERE edge.rendered) AS last_rendered,
           max(taken.created_at) FILTER (WHERE NOT edge.rendered) AS last_walked
    FROM taken CROSS JOIN LATERAL (
        SELECT unnest(taken.rendered_edges) AS id, true AS rendered
        UNION ALL SELECT unnest(taken.walked_edges), false
    ) edge GROUP BY edge.id
), held_entry AS MATERIALIZED (
    SELECT e.id FROM entries_entry e WHERE e.id IN (SELECT id FROM matched) ORDER BY e.id FOR NO KEY UPDATE
), held_edge AS MATERIALIZED (
    SELECT e.id FROM edges_edge e WHERE e.id IN (SELECT id FROM travelled) ORDER BY e.id FOR NO KEY UPDATE
), counted_entry AS (
    UPDATE entries_entry e
    SET match_count = e.match_count + matched.times, last_matched_at = greatest(e.last_matched_at, matched.last)
    FROM held_entry JOIN matched USING (id) WHERE e.id = held_entry.id
), counted_edge AS (
    UPDATE edges_edge e
    SET rendered_count = e.rendered_count + travelled.rendered,
        last_rendered_at = greatest(e.last_rendered_at, travelled.last_rendered),
        walked_count = e.walked_count + travelled.walked,
        last_walked_at = greatest(e.last_walked_at, travelled.last_walked)
    FROM held_edge JOIN travelled USING (id) WHERE e.id = held_edge.id
)
UPDATE tutoring_retrieval r SET tallied_at = %(now)s FROM taken WHERE r.id = taken.id
