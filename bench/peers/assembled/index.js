import { createHash, randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { getLoadablePath } from 'sqlite-vec';

/** Entries of each list that are fused, and the constant of reciprocal rank fusion (Cormack et al. 2009). */
const DEPTH = 100;
const RRF = 60;
/** Words that stand in nearly every passage: they cost time and find nothing. */
const STOP_WORDS = new Set(
  'a an and are as at be but by for from has have in is it its of on or that the their this to was were which with'.split(' '),
);

/** One payer's index: a file of SQLite, its vectors in sqlite-vec, its words in FTS5; every statement prepared once. */
export class PayerIndex {
  #database;
  #statements;

  constructor(path) {
    this.#database = new DatabaseSync(path, { allowExtension: true });
    this.#database.loadExtension(getLoadablePath());
    // FULL: what was answered survives the end of power, as with the server that this is compared with.
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536;
      CREATE TABLE IF NOT EXISTS items (id TEXT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE);
      CREATE TABLE IF NOT EXISTS passages (id INTEGER PRIMARY KEY, item TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL);
      CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(embedding float[384] distance_metric=cosine);
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='passages', content_rowid='id', tokenize='porter unicode61');
    `);
    const prepare = (sql) => this.#database.prepare(sql);
    this.#statements = {
      begin: prepare('BEGIN IMMEDIATE'),
      commit: prepare('COMMIT'),
      rollback: prepare('ROLLBACK'),
      known: prepare('SELECT id, name FROM items WHERE sha256 = ?'),
      item: prepare('INSERT INTO items (id, name, sha256) VALUES (?, ?, ?)'),
      passage: prepare('INSERT INTO passages (item, name, text) VALUES (?, ?, ?)'),
      vector: prepare('INSERT INTO vectors (rowid, embedding) VALUES (?, ?)'),
      words: prepare('INSERT INTO words (rowid, text) VALUES (?, ?)'),
      nearest: prepare('SELECT rowid AS id, distance FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance'),
      matching: prepare('SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?'),
      hit: prepare('SELECT item, name, text FROM passages WHERE id = ?'),
    };
  }

  /** The item that has these bytes already. */
  known(bytes) {
    return this.#statements.known.get(sha256(bytes));
  }

  /** All passages of one item in one transaction. */
  add(name, bytes, passages, vectors) {
    const { begin, commit, rollback, item, passage, vector, words } = this.#statements;
    const id = randomUUID();
    begin.run();
    try {
      item.run(id, name, sha256(bytes));
      passages.forEach((text, index) => {
        const { lastInsertRowid } = passage.run(id, name, text);
        vector.run(BigInt(lastInsertRowid), new Uint8Array(vectors[index].buffer));
        words.run(lastInsertRowid, text);
      });
      commit.run();
    } catch (error) {
      rollback.run();
      throw error;
    }
    return { id, name };
  }

  /** The best `k` passages by reciprocal rank fusion of meaning and words. */
  search(query, vector, k) {
    const depth = Math.max(DEPTH, k);
    const scores = new Map();
    const count = (rows) =>
      rows.forEach(({ id }, rank) => scores.set(id, (scores.get(id) ?? 0) + 1 / (RRF + rank + 1)));
    count(this.#statements.nearest.all(new Uint8Array(vector.buffer), depth));
    const match = matchOf(query);
    if (match !== '') count(this.#statements.matching.all(match, depth));
    const best = [...scores].sort((one, other) => other[1] - one[1]).slice(0, k);
    return best.map(([id, score]) => {
      const { item, name, text } = this.#statements.hit.get(id);
      return { item: { id: item, name }, score, snippet: text.slice(0, 240) };
    });
  }

  close() {
    this.#database.close();
  }
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Any of the query's words, each quoted, so that nothing in it is an operator. */
function matchOf(query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)]
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => `"${word}"`)
    .join(' OR ');
}
