import { ConversationOptionsSchema } from '../../src-shared/contract/chat.ts';
import type { Project, ProjectFields } from '../../src-shared/contract/projects.ts';
import type { Database } from '../platform/database.ts';
import { notFound, rowId } from '../platform/ids.ts';
import { parseOr } from '../platform/parse-or.ts';

type RawProject = Omit<Project, 'id' | 'options'> & { id: number; options: string };

const QUERY = 'SELECT id, name, instructions, model_id AS modelId, options FROM project';

/** Projects: what their conversations have in common. Stored with the conversations. */
export class ProjectStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(): Project[] {
    const byName = (a: Project, b: Project): number => a.name.localeCompare(b.name);
    return this.#database.all<RawProject>(QUERY).map(toProject).sort(byName);
  }

  /** NOT_FOUND. */
  require(id: string): Project {
    const raw = this.#database.get<RawProject>(`${QUERY} WHERE id = ?`, rowId(id, 'project'));
    if (!raw) throw notFound('project');
    return toProject(raw);
  }

  create(fields: ProjectFields): Project {
    const sql = `INSERT INTO project (name, instructions, model_id, options)
      VALUES (@name, @instructions, @modelId, @options) RETURNING id`;
    const id = this.#database.value<number>(sql, valuesOf(fields));
    return this.require(String(id));
  }

  /** NOT_FOUND. */
  change({ id, ...fields }: Project): Project {
    this.require(id);
    const sql = `UPDATE project SET name = @name, instructions = @instructions, model_id = @modelId, options = @options
      WHERE id = @row`;
    this.#database.run(sql, { ...valuesOf(fields), row: Number(id) });
    return this.require(id);
  }

  /** Its conversations stay. NOT_FOUND. */
  delete(id: string): void {
    this.#database.run('DELETE FROM project WHERE id = ?', Number(this.require(id).id));
  }
}

function valuesOf({ name, instructions, modelId, options }: ProjectFields) {
  return { name, instructions, modelId, options: JSON.stringify(options) };
}

function toProject({ id, options, ...rest }: RawProject): Project {
  const known = parseOr(ConversationOptionsSchema, options, ConversationOptionsSchema.parse({}));
  return { ...rest, id: String(id), options: known };
}
