-- The principal that caused the event, as JSON. Records of version 1 have none: three of their kinds have it in the payload.
ALTER TABLE events ADD COLUMN author TEXT;

-- The owner of a session is known by id, not by name.
ALTER TABLE sessions RENAME COLUMN owner TO owner_id;
CREATE INDEX sessions_by_owner ON sessions (owner_id, updated);
