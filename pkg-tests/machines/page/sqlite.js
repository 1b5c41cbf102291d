// A database with an open transaction, a savepoint, a statement half read, and a function of JavaScript.
import { freeze as freezeDatabase, start as startDatabase, thaw as thawDatabase } from "./guide/sqlite.js";

const N_ROWS = 40_000;

const rows = (from, to) => `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})
  INSERT INTO numbers SELECT i, printf('%x-%x-%0300x', i * 2654435761, square(i), i * i * 40503) FROM n`;

export async function start() {
  const file = new Uint8Array(await (await fetch("numbers.sqlite")).arrayBuffer());
  const machine = await startDatabase(file);
  const { db } = machine;
  db.run(rows(0, N_ROWS));
  return { ...machine, statements: [db.prepare("SELECT id, text, square(id) AS square FROM numbers WHERE id < 40000 ORDER BY text")] };
}

/** Reads `n` rows of the statement and returns the sum of the characters and squares in them. */
function read({ statements: [statement] }, n) {
  let sum = 0;
  for (let i = 0; i < n && statement.step(); i++) {
    const { text, square } = statement.getAsObject();
    sum = (31 * sum + square + text.length + text.charCodeAt(3)) % 1_000_000_007;
  }
  return sum;
}

export const work = [
  (machine) => {
    machine.db.run("BEGIN");
    machine.db.run(rows(N_ROWS, N_ROWS + 500));
    machine.db.run("SAVEPOINT half");
    read(machine, 10_000);
  },
  (machine) => {
    machine.db.run(rows(N_ROWS + 500, N_ROWS + 1000));
    read(machine, 10_000);
  },
  (machine) => {
    const { db } = machine;
    const rest = read(machine, Infinity);
    const before = db.exec("SELECT count(*) FROM numbers")[0].values[0][0];
    db.run("ROLLBACK TO half");
    db.run("UPDATE numbers SET text = text || square(id) WHERE id % 7 = 0");
    db.run("COMMIT");
    const after = db.exec("SELECT count(*), sum(length(text)), max(text) FROM numbers")[0].values[0];
    const check = db.exec("PRAGMA integrity_check")[0].values[0][0];
    machine.statements[0].free();
    machine.result = { rest, before, after, check };
  },
];

export const freeze = freezeDatabase;
export const thaw = thawDatabase;
