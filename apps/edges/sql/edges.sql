-- name: prerequisites_ahead
-- The prerequisite edges that lead on from one entry, however far: those at or above the walk floor
-- whose ends are rows (rules.md 10). UNION keeps a set of seen nodes: it ends on cycles and stays fast.
-- Leans on edge_walk.
WITH RECURSIVE ahead (id) AS (
    SELECT %(start)s::uuid
    UNION
    SELECT edge.target_id
    FROM ahead
    JOIN edges_edge edge ON edge.source_id = ahead.id
    JOIN entries_entry target ON target.id = edge.target_id
    WHERE edge.edge_type = 'prerequisite' AND edge.confidence >= %(floor)s
          AND target.archived_at IS NULL AND target.superseded_at IS NULL
)
SELECT edge.source_id, edge.target_id
FROM ahead
JOIN edges_edge edge ON edge.source_id = ahead.id
JOIN entries_entry target ON target.id = edge.target_id
WHERE edge.edge_type = 'prerequisite' AND edge.confidence >= %(floor)s
      AND target.archived_at IS NULL AND target.superseded_at IS NULL
ORDER BY edge.id
