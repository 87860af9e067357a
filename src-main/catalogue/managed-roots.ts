import SQLite from 'better-sqlite3';
import { Database } from '../platform/database.ts';

/** Tells a catalogue of any version, which nobody has open, that the folders of uploaded files lie elsewhere now. */
export function moveManagedRoots(path: string, moved: (root: string) => string): void {
  const database = new Database(new SQLite(path));
  try {
    const known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'root'";
    if (database.value(known) === undefined) return;
    const managed = "SELECT id, path FROM root WHERE kind = 'managed'";
    for (const root of database.all<{ id: number; path: string }>(managed))
      database.run('UPDATE OR IGNORE root SET path = ? WHERE id = ?', moved(root.path), root.id);
  } finally {
    database.close();
  }
}
