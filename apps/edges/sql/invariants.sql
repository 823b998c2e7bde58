-- name: edge_ledger_gives_confidence
-- The last row of an edge's ledger says its confidence, and every edge has a ledger.
SELECT e.id, e.confidence, l.after
FROM edges_edge e
LEFT JOIN LATERAL (
    SELECT after FROM edges_edgeledger WHERE edge_id = e.id ORDER BY id DESC LIMIT 1
) l ON true
WHERE l.after IS DISTINCT FROM e.confidence

-- name: edge_ledger_is_a_chain
-- Each row of an edge's ledger begins where the row before it ended.
SELECT id, edge_id, before, previous FROM (
    SELECT id, edge_id, kind, before, lag(after) OVER (PARTITION BY edge_id ORDER BY id) AS previous
    FROM edges_edgeledger
) chained
WHERE before IS DISTINCT FROM previous

-- name: hit_count_is_its_sessions
-- The hit count of an edge is the number of distinct sessions that observed it (rules.md 10).
SELECT e.id, e.hit_count, count(DISTINCT o.session) AS sessions
FROM edges_edge e LEFT JOIN edges_edgeobservation o ON o.edge_id = e.id
GROUP BY e.id HAVING e.hit_count <> count(DISTINCT o.session)

-- name: no_edge_between_two_learners
-- An edge joins entries of one learner at most.
SELECT e.id FROM edges_edge e
JOIN entries_entry s ON s.id = e.source_id JOIN entries_entry t ON t.id = e.target_id
WHERE s.learner_key IS NOT NULL AND t.learner_key IS NOT NULL AND s.learner_key <> t.learner_key
