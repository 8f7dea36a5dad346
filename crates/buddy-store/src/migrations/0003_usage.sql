-- Finds what was spent since a time without reading whole logs.
CREATE INDEX events_usage ON events (time) WHERE kind = 'usage';
