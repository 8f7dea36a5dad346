-- The log: the truth, only ever appended to.

-- A session's place in the log. Numbers keep the keys of events short and an event's row in one leaf.
CREATE TABLE logs (
    number  INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
    -- The log's number times 2^32, plus the event's number in it: a session's events lie side by side, in order.
    place   INTEGER PRIMARY KEY,
    -- The version of the record's form.
    version INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    data    TEXT NOT NULL,
    private TEXT,
    -- CRC-32 of everything above.
    crc     INTEGER NOT NULL
) STRICT;
