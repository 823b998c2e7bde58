-- name: entry_ledger_gives_confidence
-- The last row of an entry's ledger says its confidence, and every entry has a ledger.
SELECT e.id, e.confidence, l.after
FROM entries_entry e
LEFT JOIN LATERAL (
    SELECT after FROM entries_entryledger WHERE entry_id = e.id ORDER BY id DESC LIMIT 1
) l ON true
WHERE l.after IS DISTINCT FROM e.confidence

-- name: entry_ledger_is_a_chain
-- Each row of an entry's ledger begins where the row before it ended.
SELECT id, entry_id, before, previous FROM (
    SELECT id, entry_id, kind, before, lag(after) OVER (PARTITION BY entry_id ORDER BY id) AS previous
    FROM entries_entryledger
) chained
WHERE before IS DISTINCT FROM previous

-- name: one_current_value_per_key
-- A key has exactly one current value (rules.md 2, index 5).
SELECT visibility_scope, topic_id, fact_key, count(*)
FROM entries_entry
WHERE fact_key IS NOT NULL AND superseded_at IS NULL
GROUP BY visibility_scope, topic_id, fact_key HAVING count(*) > 1

-- name: anchored_entry_names_a_concept
-- In public and visual scope every slug but the unanchored one names a concept.
SELECT e.id, e.concept_slug FROM entries_entry e
LEFT JOIN catalog_concept c ON c.slug = e.concept_slug
WHERE e.visibility_scope IN ('public', 'visual') AND e.concept_slug <> '_unanchored_' AND c.id IS NULL

-- name: entry_text_hash_is_of_its_text
-- The hash is the SHA-256 of title, instruction and detail, joined by newlines (rules.md 3).
SELECT id FROM entries_entry
WHERE text_hash <> encode(sha256(convert_to(title || E'\n' || instruction || E'\n' || detail, 'UTF8')), 'hex')

-- name: superseded_chain_ends_in_its_key
-- What superseded a row has the same scope and key.
SELECT old.id, old.fact_key, new.fact_key AS new_key
FROM entries_entry old JOIN entries_entry new ON new.id = old.superseded_by_id
WHERE (old.visibility_scope, old.topic_id, old.fact_key)
      IS DISTINCT FROM (new.visibility_scope, new.topic_id, new.fact_key)

-- name: vector_agrees_with_its_entry
-- A vector stands in its entry's scope, and is as long as its space says.
SELECT v.id, v.entry_id FROM entries_entryvector v
JOIN entries_entry e ON e.id = v.entry_id
JOIN embeddings_embeddingspace s ON s.id = v.space_id
WHERE v.visibility_scope <> e.visibility_scope OR v.dimensions <> s.dimensions
      OR vector_dims(v.embedding) <> s.dimensions

-- name: vector_is_normal
-- Every vector has length 1 and no distance to itself.
SELECT id FROM entries_entryvector
WHERE vector_norm(embedding) NOT BETWEEN 0.99 AND 1.01 OR abs(embedding <=> embedding) > 0.000001
