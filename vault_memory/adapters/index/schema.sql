CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES('chunks', 0);
-- Tells this index from one that is made anew in its place: ids begin again there.
INSERT INTO meta VALUES('made', lower(hex(randomblob(16))));
-- What was deleted has always been overwritten: not so in an index of an earlier version.
INSERT INTO meta VALUES('zeroed', 1);
-- Until all files have been looked at: the index may stand in the place of one that was deleted.
INSERT INTO meta VALUES('new', 1);
CREATE TABLE files(
  file_id INTEGER PRIMARY KEY, source TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, title TEXT NOT NULL, day TEXT NOT NULL,
  tags TEXT NOT NULL, links TEXT NOT NULL, content_hash BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, problem TEXT NOT NULL,
  resume TEXT NOT NULL);
-- What each file is called, folded (`naming.key`), and how (`ranking.BY_NAME`, …).
CREATE TABLE names(
  name TEXT NOT NULL, file_id INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, how INTEGER NOT NULL,
  PRIMARY KEY(name, file_id)) WITHOUT ROWID;
CREATE INDEX names_file ON names(file_id);
-- A typed memory (kind `memory`). Times are seconds since 1970. It is past from `until` on, which is when it expires, 0
-- for one that is superseded or archived, and NULL for a lasting one. `successor` is the id of the one that took its
-- place: it is past only while a note has that id.
CREATE TABLE memories(
  file_id INTEGER PRIMARY KEY REFERENCES files ON DELETE CASCADE, memory_id TEXT NOT NULL, type TEXT NOT NULL,
  skill_id TEXT NOT NULL, importance REAL NOT NULL, created REAL NOT NULL, expires REAL, until REAL,
  used INTEGER NOT NULL, sketch TEXT NOT NULL, topics TEXT NOT NULL, successor TEXT);
INSERT INTO meta VALUES('memories', 0);
CREATE INDEX memories_id ON memories(memory_id);
CREATE INDEX memories_until ON memories(until);
CREATE INDEX memories_successor ON memories(successor) WHERE successor IS NOT NULL;
CREATE INDEX memories_least ON memories(importance, used, created) WHERE until IS NULL OR until > 0;
CREATE INDEX memories_latest ON memories(created) WHERE until IS NULL OR until > 0;
-- The numbers of each memory's sketch, by which similar ones are found, and those of what it is about.
CREATE TABLE sketches(number INTEGER NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY(number, file_id)) WITHOUT ROWID;
CREATE TRIGGER memory_comes AFTER INSERT ON memories BEGIN
  UPDATE meta SET value = value + 1 WHERE key = 'memories';
  INSERT OR IGNORE INTO sketches SELECT value, new.file_id FROM json_each(new.sketch);
  INSERT OR IGNORE INTO sketches SELECT value, new.file_id FROM json_each(new.topics);
  UPDATE memories SET until = 0 WHERE successor = new.memory_id;
  UPDATE memories SET until = 0
    WHERE file_id = new.file_id AND EXISTS(SELECT 1 FROM memories AS m WHERE m.memory_id = new.successor);
END;
CREATE TRIGGER memory_hides AFTER UPDATE OF until ON memories WHEN new.until = 0 BEGIN
  DELETE FROM sketches WHERE file_id = new.file_id AND number IN (SELECT value FROM json_each(new.sketch));
  DELETE FROM sketches WHERE file_id = new.file_id AND number IN (SELECT value FROM json_each(new.topics));
END;
CREATE TRIGGER memory_answers AFTER UPDATE OF until ON memories WHEN new.until IS NOT 0 BEGIN
  INSERT OR IGNORE INTO sketches SELECT value, new.file_id FROM json_each(new.sketch);
  INSERT OR IGNORE INTO sketches SELECT value, new.file_id FROM json_each(new.topics);
END;
CREATE TRIGGER memory_goes AFTER DELETE ON memories BEGIN
  UPDATE memories SET until = expires
    WHERE successor = old.memory_id AND NOT EXISTS(SELECT 1 FROM memories AS m WHERE m.memory_id = old.memory_id);
  UPDATE meta SET value = value - 1 WHERE key = 'memories';
  DELETE FROM sketches WHERE file_id = old.file_id AND number IN (SELECT value FROM json_each(old.sketch));
  DELETE FROM sketches WHERE file_id = old.file_id AND number IN (SELECT value FROM json_each(old.topics));
END;
-- An id is never used again: matrices in memory, and whoever holds an id, may lag behind.
CREATE TABLE chunks(
  chunk_id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  position INTEGER NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL, heading TEXT NOT NULL,
  text TEXT NOT NULL, units BLOB NOT NULL, head TEXT NOT NULL, sections TEXT NOT NULL, stems TEXT NOT NULL,
  identity BLOB NOT NULL);
CREATE INDEX chunks_file ON chunks(file_id, position);
CREATE INDEX chunks_identity ON chunks(identity);
-- Every chunk up to embedded_to has its vector: what is still to come is found without looking at all.
-- What the model knows of Latin and Han text was measured with the chunks that `judged` is the hash of.
CREATE TABLE spaces(
  space_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL, embedded_to INTEGER NOT NULL,
  judged BLOB NOT NULL DEFAULT x'', latin REAL, han REAL);
CREATE TABLE probes(
  space_id INTEGER NOT NULL, identity BLOB NOT NULL, embedding BLOB NOT NULL, PRIMARY KEY(space_id, identity))
  WITHOUT ROWID;
CREATE TABLE vectors(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, space_id INTEGER NOT NULL, chunk_id INTEGER NOT NULL,
  embedding BLOB NOT NULL, UNIQUE(chunk_id, space_id));
CREATE VIRTUAL TABLE words USING fts5(own, head, content='', contentless_delete=1, detail=full, tokenize='ascii');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
CREATE TRIGGER chunk_comes AFTER INSERT ON chunks BEGIN
  UPDATE meta SET value = value + 1 WHERE key = 'chunks';
END;
CREATE TRIGGER chunk_goes AFTER DELETE ON chunks BEGIN
  UPDATE meta SET value = value - 1 WHERE key = 'chunks';
  DELETE FROM words WHERE rowid = old.chunk_id;
  DELETE FROM vectors WHERE chunk_id = old.chunk_id;
END;
