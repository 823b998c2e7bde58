-- name: one_space_serves
-- At most one embedding space serves.
SELECT state, count(*) FROM embeddings_embeddingspace WHERE state = 'serving' GROUP BY state HAVING count(*) > 1

-- name: serving_space_is_indexed
-- No vector index of the space that serves is left half built.
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid, embeddings_embeddingspace s
WHERE s.state = 'serving' AND NOT i.indisvalid AND c.relname ~ ('_hnsw_(.*_)?' || s.id || '$')
