-- name: turns_count_without_gaps
-- The turns of a session are numbered from 1 without a gap.
SELECT session_id, count(*), max(number) FROM tutoring_turn GROUP BY session_id HAVING count(*) <> max(number)

-- name: turn_used_a_retrieval_of_its_own
-- A turn's retrieval is of its own session, or of none and of the same learner.
SELECT t.id FROM tutoring_turn t
JOIN tutoring_retrieval r ON r.id = t.retrieval_id
JOIN tutoring_tutoringsession s ON s.id = t.session_id
JOIN tutoring_learner l ON l.id = s.learner_id
WHERE r.session IS DISTINCT FROM t.session_id AND NOT (r.session IS NULL AND r.learner = l.external_id)

-- name: rendered_entries_were_matched
-- What a retrieval rendered is among what it matched.
SELECT id FROM tutoring_retrieval WHERE NOT rendered_entries <@ matched_entries

-- name: rendered_edges_were_walked
-- An edge whose line stood in a prompt is among those that the walk returned.
SELECT id FROM tutoring_retrieval WHERE NOT rendered_edges <@ walked_edges
