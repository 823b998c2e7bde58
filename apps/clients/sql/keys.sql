-- name: usable_key
-- The key of that hash, unless it is revoked or expired; leans on the unique index of key_hash.
SELECT id, name, scopes, sources, topics, learner_prefix, rate_per_minute
FROM clients_apikey
WHERE key_hash = %(key_hash)s
  AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > now())
