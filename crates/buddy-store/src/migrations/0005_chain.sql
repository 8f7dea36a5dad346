-- The record's link: SHA-256 of the link before it and of everything that is stored of the record.
ALTER TABLE events ADD COLUMN link BLOB;
