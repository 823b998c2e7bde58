-- name: every_event_has_an_image
-- An audit event whose content was not erased has its image: header and image come from one statement.
SELECT e.id, e.verb, e.target_kind, e.target_id
FROM audit_auditevent e
LEFT JOIN audit_auditimage i ON i.event_id = e.id
WHERE i.id IS NULL AND e.target_kind NOT IN ('entry', 'edge', 'learner', 'session')

-- name: every_image_shows_a_change
-- No image without a before and an after, and none where both are the same.
SELECT id, event_id FROM audit_auditimage
WHERE (before IS NULL AND after IS NULL) OR before IS NOT DISTINCT FROM after
