-- name: log_retrieval
-- One row of the log. It comes as one JSON object, so that every row is the same prepared statement.
INSERT INTO tutoring_retrieval (
    id, api_key, learner, session, topic_id, request, response, space, dials_version,
    matched_entries, rendered_entries, rendered_edges, walked_edges, created_at
)
SELECT * FROM jsonb_to_record(%(logged)s::jsonb) AS logged (
    id uuid, api_key bigint, learner text, session uuid, topic_id bigint, request jsonb, response jsonb,
    space text, dials_version bigint, matched_entries uuid[], rendered_entries uuid[],
    rendered_edges bigint[], walked_edges bigint[], created_at timestamptz
)
