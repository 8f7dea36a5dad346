-- Keys that clients gave their commands, with the outcomes. Kept for a bounded time, and no part of the log.
CREATE TABLE command_keys (
    who     TEXT NOT NULL,
    session TEXT NOT NULL,
    key     TEXT NOT NULL,
    -- SHA-256 of the command.
    digest  TEXT NOT NULL,
    -- Absent while the command is under way.
    outcome TEXT,
    time    INTEGER NOT NULL,
    PRIMARY KEY (who, session, key)
) STRICT;

CREATE INDEX command_keys_by_time ON command_keys (time);
CREATE INDEX command_keys_by_session ON command_keys (session, time);
