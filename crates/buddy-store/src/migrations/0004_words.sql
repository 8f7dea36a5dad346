-- Which words were said where: derived from the log and rebuilt from it whenever in doubt. A row's number is the place of
-- its event. The texts themselves stay in the log.
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = "unicode61 remove_diacritics 2");
