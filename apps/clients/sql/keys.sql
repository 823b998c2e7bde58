-- name: usable_key
-- The key of that hash, unless it is revoked or expired; leans on the unique index of key_hash.
SELECT id, name, scopes, sources, topics, learner_prefix, rate_per_minute
FROM clients_apikey
WHERE key_hash = %(key_hash)s
  AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > now())

-- name: note_last_uses
-- Carry last uses to their keys, never backwards; leans on the primary key.
UPDATE clients_apikey AS key
SET last_used_at = used.at
FROM unnest(%(ids)s::bigint[], %(times)s::timestamptz[]) AS used (id, at)
WHERE key.id = used.id
  AND (key.last_used_at IS NULL OR key.last_used_at < used.at)
