-- The list of sessions: derived from the log and rebuilt from it whenever in doubt.
CREATE TABLE sessions (
    number  INTEGER PRIMARY KEY REFERENCES logs (number),
    owner   TEXT NOT NULL,
    cwd     TEXT NOT NULL,
    updated INTEGER NOT NULL,
    summary TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_use ON sessions (updated);
