-- name: one_space_serves
-- At most one embedding space serves.
SELECT state, count(*) FROM embeddings_embeddingspace WHERE state = 'serving' GROUP BY state HAVING count(*) > 1
