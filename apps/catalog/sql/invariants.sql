-- name: concept_has_its_canonical_name
-- Every concept has exactly one canonical name, and it is its slug and title.
SELECT c.id, c.slug, n.slug AS name_slug
FROM catalog_concept c
LEFT JOIN catalog_conceptname n ON n.concept_id = c.id AND n.is_canonical
WHERE n.id IS NULL OR n.slug <> c.slug OR n.name <> c.title

-- name: concept_vector_agrees_with_its_space
-- A vector of a name is as long as its space says, has length 1, and no distance to itself.
SELECT v.id, v.concept_name_id FROM catalog_conceptvector v
JOIN embeddings_embeddingspace s ON s.id = v.space_id
WHERE v.dimensions <> s.dimensions OR vector_dims(v.embedding) <> s.dimensions
      OR vector_norm(v.embedding) NOT BETWEEN 0.99 AND 1.01 OR abs(v.embedding <=> v.embedding) > 0.000001
