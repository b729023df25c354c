import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { Draft } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow, excelSafeRows } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { type Actions, groupOf, isExpired, readResults, type ResultRow, type RowGroup } from '../result-codes.ts';
import { type KeptColumns, openKept } from '../results/kept-columns.ts';
import { requireNewToken } from '../results/new-token.ts';
import type { CycleResults } from './cycle-results.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { rowOfResult, type RowPlace } from './row-of-result.ts';
import { type SqlDialect, updateScript } from './update-sql.ts';

/** The columns of the file with new tokens, after the kept ones. Programs read it, also when it has no rows. */
const REPLACE_COLUMNS = ['token', 'new_token', 'new_expiration_year', 'new_expiration_month', 'result_code'] as const;

/** The files of what to do with rows, besides that of new tokens. Each exists while it has rows. */
const OTHERS = ['contact', 'consider', 'exclude', 'fix', 'support'] as const satisfies readonly RowGroup[];

/** The script that brings the new tokens into a database. */
const UPDATE = 'update';

type TodoGroup = 'replace' | (typeof OTHERS)[number];

const GROUPS = ['replace', UPDATE, ...OTHERS] as const;

/** What is to be done after the results of a cycle. */
export interface Todo {
  /** The file with new tokens, as the operator may type it. */
  readonly replace: string;
  /** The script that brings them into a database. */
  readonly update: string;
  readonly newTokens: number;
  /** The number of them whose expiration is already past. */
  readonly expired: number;
  /** The other files that have rows, in the order of what to do first. */
  readonly others: readonly { readonly group: TodoGroup; readonly rows: number }[];
  /** Files that somebody changed, so that they were not replaced. */
  readonly changed: readonly string[];
}

/**
 * Writes what is to be done with the rows of a cycle, a file for each kind, from the results of all its requests. Files that
 * somebody changed stay as they are. With `isWritten`, the files are of these results, and are only written where one is gone.
 */
export async function writeTodo(
  context: Context,
  directory: RefreshDirectory,
  results: CycleResults,
  { actions, sql, isWritten }: { readonly actions: Actions; readonly sql: SqlDialect; readonly isWritten: boolean },
): Promise<Todo> {
  const isDone =
    isWritten && filesOf(directory).every((file) => directory.written(file).length === 0 || directory.has(file));
  const kept = await CycleKept.open(context, directory, isDone ? [] : [...results.of.keys()]);
  const rowOf = kept.names.length === 0 ? undefined : await rowOfResult(context, directory, results);
  const files = new TodoFiles(context, directory, kept.names, updateScript(sql));
  let withoutKept = 0;
  try {
    for await (const rows of readResults((await fileSource(results.path)).open()))
      for (const row of rows) {
        requireNewToken(row, context.isRehearsal);
        const group = groupOf(row.result_code, row.new_token !== '', actions);
        const place = rowOf?.(row.token);
        if (!isTodo(group)) continue;
        files.count(group, row);
        if (isDone) continue;
        if (group === 'replace' && rowOf !== undefined && place === undefined) withoutKept += 1;
        await files.add(group, row, kept.cellsAt(row.token, place));
      }
    const todo = await (isDone ? files.leave() : files.finish());
    if (withoutKept > 0) context.notices.warn(unknownRows(withoutKept, todo.replace));
    return todo;
  } finally {
    await files.discard();
  }
}

function unknownRows(count: number, replace: string): string {
  const [have, their, tokens] = count === 1 ? ['has', 'its', 'token'] : ['have', 'their', 'tokens'];
  return `${countText(count, 'new token')} ${have} no kept columns in ${replace}: ${their} old ${tokens} ${have} rows of several merchants, and the results do not show which row got it`;
}

/** The kept columns of a request, by its place in the cycle. */
interface KeptOfRequest {
  readonly kept: KeptColumns;
  readonly request: number;
}

interface KeptFile extends KeptOfRequest {
  /** The place of each of all names among those of this file. */
  readonly places: readonly number[];
}

/** The kept columns of all requests of a cycle. */
class CycleKept {
  readonly names: readonly string[];
  /** The files of kept columns, newest first, each with the places of its columns among all names. */
  readonly #files: readonly KeptFile[];

  private constructor(files: readonly KeptOfRequest[]) {
    this.names = [...new Set(files.flatMap(({ kept }) => kept.names))];
    this.#files = files
      .toReversed()
      .map(({ kept, request }) => ({ kept, request, places: this.names.map((name) => kept.names.indexOf(name)) }));
  }

  static async open(context: Context, directory: RefreshDirectory, places: readonly number[]): Promise<CycleKept> {
    const files: KeptOfRequest[] = [];
    for (const request of places.toSorted((a, b) => a - b)) {
      const { keep } = directory.filesOf(request);
      const kept = await openKept(context, directory.has(keep) ? keep : undefined);
      if (kept) files.push({ kept, request });
    }
    return new CycleKept(files);
  }

  /** Returns the cells of a row. They are empty if it is not known, and where no request kept columns of it. */
  cellsAt(token: string, row: RowPlace | undefined): readonly string[] {
    const having = row === undefined ? [] : this.#files.filter(({ kept }) => kept.has(token));
    const own = having.find(({ request }) => request === row?.request);
    if (own) return this.#placed(own, own.kept.cellsAt(token, row?.place));
    // Another request may have kept columns of the same row.
    const [newest] = row?.isOnly === true ? having : [];
    return this.#placed(newest, newest?.kept.cellsOf(token));
  }

  #placed(file: KeptFile | undefined, cells: readonly string[] = []): readonly string[] {
    return this.names.map((_, at) => cells[file?.places[at] ?? -1] ?? '');
  }
}

function isTodo(group: RowGroup): group is TodoGroup {
  return group !== 'keep';
}

/** The drafts of the files, and their way into place. */
class TodoFiles {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #keptNames: readonly string[];
  readonly #drafts = new Map<TodoGroup | typeof UPDATE, Draft>();
  readonly #script: ReturnType<typeof updateScript>;
  readonly #rows = new Map<TodoGroup, number>();
  #expired = 0;

  constructor(
    context: Context,
    directory: RefreshDirectory,
    keptNames: readonly string[],
    script: ReturnType<typeof updateScript>,
  ) {
    this.#script = script;
    this.#context = context;
    this.#directory = directory;
    this.#keptNames = keptNames;
  }

  /** Counts a row of a file. */
  count(group: TodoGroup, row: ResultRow): void {
    this.#rows.set(group, this.#rowsOf(group) + 1);
    if (group === 'replace' && isExpired(row, this.#context.clock.now())) this.#expired += 1;
  }

  async add(group: TodoGroup, row: ResultRow, kept: readonly string[]): Promise<void> {
    if (group === 'replace') await (await this.#draftOf(UPDATE)).write(this.#script.line(row));
    const draft = await this.#draftOf(group);
    await draft.write(this.#lineOf(group, [...kept, ...columnsOf(group).map((name) => row[name])]));
  }

  /** Puts the files into place. The record names their hashes before and after, so that a crash makes none a foreign one. */
  async finish(): Promise<Todo> {
    await this.#draftOf('replace');
    await (await this.#draftOf(UPDATE)).write(this.#script.foot);
    const directory = this.#directory;
    const changed: string[] = [];
    const ready: { readonly file: string; readonly draft: Draft | undefined; readonly sha256: string | undefined }[] =
      [];
    for (const group of GROUPS) {
      const draft = this.#drafts.get(group);
      const sha256 = (await draft?.seal())?.sha256;
      const file = path.join(directory.todo, fileOf(group));
      const here = directory.has(file) ? await directory.hash(file) : undefined;
      const written = directory.written(file);
      if (here === sha256) continue;
      if (here === undefined || written.includes(here)) ready.push({ file, draft, sha256 });
      else changed.push(file);
    }
    for (const { file, sha256 } of ready)
      directory.noteWritten(file, [...directory.written(file), ...(sha256 ? [sha256] : [])]);
    if (ready.length > 0) directory.save();
    for (const { file, draft } of ready) {
      if (draft) await draft.finish(true);
      else fs.rmSync(directory.resolve(file), { force: true });
    }
    for (const { file, sha256 } of ready) directory.noteWritten(file, sha256 ? [sha256] : []);
    if (ready.length > 0) directory.save();
    return this.#made(changed);
  }

  /** Leaves the files as they are. */
  async leave(): Promise<Todo> {
    const changed: string[] = [];
    for (const file of filesOf(this.#directory))
      if (this.#directory.has(file) && !this.#directory.written(file).includes(await this.#directory.hash(file)))
        changed.push(file);
    return this.#made(changed);
  }

  #made(changed: readonly string[]): Todo {
    const [replace = '', update = ''] = filesOf(this.#directory);
    const others = OTHERS.map((group) => ({ group, rows: this.#rowsOf(group) })).filter(({ rows }) => rows > 0);
    return { update, replace, newTokens: this.#rowsOf('replace'), expired: this.#expired, others, changed };
  }

  #rowsOf(group: TodoGroup): number {
    return this.#rows.get(group) ?? 0;
  }

  async discard(): Promise<void> {
    for (const draft of this.#drafts.values()) await draft.discard();
  }

  async #draftOf(group: TodoGroup | typeof UPDATE): Promise<Draft> {
    const known = this.#drafts.get(group);
    if (known !== undefined) return known;
    const target = this.#directory.resolve(path.join(this.#directory.todo, fileOf(group)));
    makeDirectory(path.dirname(target));
    const draft = await Draft.begin(target);
    this.#drafts.set(group, draft);
    const head = group === UPDATE ? this.#script.head : this.#lineOf(group, [...this.#keptNames, ...columnsOf(group)]);
    await draft.write(head);
    return draft;
  }

  #lineOf(group: TodoGroup, cells: readonly string[]): string {
    if (!this.#context.globals.excelSafe) return csvRow(cells);
    return excelSafeRows([...this.#keptNames, ...columnsOf(group)], [cells]);
  }
}

/** Returns the files of what to do, as the operator may type them: first those of new tokens. */
function filesOf(directory: RefreshDirectory): readonly string[] {
  return GROUPS.map((group) => path.join(directory.todo, fileOf(group)));
}

function fileOf(group: TodoGroup | typeof UPDATE): string {
  return group === UPDATE ? 'update.sql' : `${group}.csv`;
}

function columnsOf(group: TodoGroup): readonly (typeof RESULT_COLUMNS)[number][] {
  return group === 'replace' ? REPLACE_COLUMNS : RESULT_COLUMNS;
}
