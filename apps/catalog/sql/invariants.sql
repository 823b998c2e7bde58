-- name: concept_has_its_canonical_name
-- Every concept has exactly one canonical name, and it is its slug and title.
SELECT c.id, c.slug, n.slug AS name_slug
FROM catalog_concept c
LEFT JOIN catalog_conceptname n ON n.concept_id = c.id AND n.is_canonical
WHERE n.id IS NULL OR n.slug <> c.slug OR n.name <> c.title
