-- Rows in every table that a list of the admin shows; :count of each, named after it. Triggers rest
-- meanwhile (they would take most of the time), so what they keep is written here.
DROP TABLE IF EXISTS n;
CREATE TEMPORARY TABLE n ON COMMIT DROP AS
SELECT i, :count || '-' || i AS name, :at::timestamptz AS at, gen_random_uuid() AS entry,
       gen_random_uuid() AS session, gen_random_uuid() AS retrieval
FROM generate_series(1, :count) AS i;
ANALYZE n;

INSERT INTO catalog_topic (slug, title, description, created_at, updated_at, version)
SELECT 't' || name, 'Topic ' || name, '', at, at, 1 FROM n;

INSERT INTO catalog_concept (slug, title, definition, status, created_at, updated_at, version)
SELECT 'c' || name, 'Concept ' || name, '', 'approved', at, at, 1 FROM n;

INSERT INTO catalog_conceptname (concept_id, slug, name, is_canonical)
SELECT concept.id, slug, title, true FROM n JOIN catalog_concept concept ON concept.slug = 'c' || n.name;

INSERT INTO embeddings_embeddingspace (provider, model, dimensions, state, created_at)
SELECT 'hash', name, 2, 'building', at FROM n;

INSERT INTO catalog_conceptvector (concept_name_id, space_id, dimensions, chunk, text_hash, embedding, created_at)
SELECT names.id, space.id, 2, 0, '', '[1,0]', at
FROM n JOIN catalog_conceptname names ON names.slug = 'c' || n.name
JOIN embeddings_embeddingspace space ON space.model = n.name;

INSERT INTO entries_entry (
    id, topic_id, concept_slug, visibility_scope, title, instruction, detail, text_hash, maturity, confidence,
    source_type, source, ladder_step, concept_match_quality, success_count, failure_count, match_count,
    observed_at, created_at, updated_at, version)
SELECT entry, topic.id, 'c' || name, 'public', 'Entry ' || name, 'Instruction.', '', '', 'candidate', 0.8, 'seed',
       'system', 'exact', 1, 0, 0, 0, at, at, at, 1
FROM n JOIN catalog_topic topic ON topic.slug = 't' || n.name;

INSERT INTO entries_entryvector (
    entry_id, visibility_scope, space_id, dimensions, chunk, text_hash, embedding, created_at)
SELECT entry, 'public', space.id, 2, 0, '', '[1,0]', at
FROM n JOIN embeddings_embeddingspace space ON space.model = n.name;

INSERT INTO entries_entryobservation (entry_id, session, learner, actor, observed_on, observed_at, wording)
SELECT entry, session, '', 'system:test', at::date, at, 'Seen.' FROM n;

INSERT INTO entries_entryledger (entry_id, kind, outcome, after, at) SELECT entry, 'initial', '', 0.8, at FROM n;

INSERT INTO edges_edge (
    source_id, target_id, edge_type, source_type, confidence, condition, rationale, hit_count, rendered_count,
    walked_count, created_at, updated_at, version)
SELECT n.entry, next.entry, 'related', 'seed', 0.8, '', '', 0, 0, 0, n.at, n.at, 1
FROM n JOIN n next ON next.i = mod(n.i, :count) + 1;

INSERT INTO edges_edgeobservation (edge_id, session, observed_at)
SELECT edge.id, n.session, n.at FROM n JOIN edges_edge edge ON edge.source_id = n.entry;

INSERT INTO edges_edgeledger (edge_id, kind, outcome, after, at)
SELECT edge.id, 'initial', '', 0.8, n.at FROM n JOIN edges_edge edge ON edge.source_id = n.entry;

INSERT INTO tutoring_learner (external_id, created_at) SELECT 'l' || name, at FROM n;

INSERT INTO tutoring_tutoringsession (id, learner_id, topic_id, level, state, started_at)
SELECT session, learner.id, topic.id, 'unknown', 'open', at
FROM n JOIN tutoring_learner learner ON learner.external_id = 'l' || n.name
JOIN catalog_topic topic ON topic.slug = 't' || n.name;

INSERT INTO tutoring_retrieval (
    id, learner, session, topic_id, request, response, space, dials_version, matched_entries, rendered_entries,
    rendered_edges, walked_edges, created_at)
SELECT retrieval, 'l' || name, session, topic.id, '{"message": "?"}', '{}', 'hash/hash-128', 0, ARRAY[entry], '{}',
       '{}', '{}', at
FROM n JOIN catalog_topic topic ON topic.slug = 't' || n.name;

INSERT INTO tutoring_turn (
    session_id, number, student_message, tutor_message, retrieval_id, concepts, strength, struggles, observations,
    created_at)
SELECT session, 1, '?', '!', retrieval, '{}', 1, '[]', '[]', at FROM n;

INSERT INTO clients_apikey (
    name, prefix, key_hash, scopes, sources, topics, learner_prefix, rate_per_minute, created_at)
SELECT name, 'lode_', encode(sha256(name::bytea), 'hex'), '{retrieve}', '{}', '{}', '', 600, at FROM n;

INSERT INTO clients_idempotencyrecord (api_key_id, key, request_hash, status, response, headers, created_at)
SELECT key.id, n.name, '', 201, '{}', '{}', at FROM n JOIN clients_apikey key ON key.name = n.name;

INSERT INTO auth_user (
    username, password, first_name, last_name, email, is_active, is_staff, is_superuser, date_joined)
SELECT 'u' || name, '', '', '', '', true, false, false, at FROM n;

INSERT INTO auth_group (name) SELECT 'g' || name FROM n;

INSERT INTO django_celery_beat_intervalschedule (every, period) SELECT 1, 'days';

INSERT INTO django_celery_beat_periodictask (
    name, task, interval_id, args, kwargs, queue, exchange, routing_key, headers, one_off, enabled, description,
    total_run_count, date_changed)
SELECT 'p' || name, 'some.task', (SELECT max(id) FROM django_celery_beat_intervalschedule), '[]', '{}', NULL, NULL,
       NULL, '{}', false, true, '', 0, at
FROM n;

WITH event AS (
    INSERT INTO audit_auditevent (at, actor, verb, target_kind, target_id)
    SELECT at, 'system:test', 'entry.create', 'entry', entry::text FROM n RETURNING id
)
INSERT INTO audit_auditimage (event_id, subject, reason) SELECT id, '', '' FROM event;
