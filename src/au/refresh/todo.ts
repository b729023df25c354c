// Writes the `todo` files of a cycle: a file for each action on its rows, and a script for the new tokens.

import path from 'node:path';
import { Draft } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRowFormat } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/number.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import type { FileResults } from '../jobs/file-jobs.ts';
import { openSpool } from '../request/spool.ts';
import { type Actions, groupOf, readResults, type ResultRow, type RowGroup } from '../result-codes.ts';
import { openKept } from '../results/kept-columns.ts';
import { requireNewToken } from '../results/new-token.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { type SqlDialect, updateScript } from './update-sql.ts';
import { readRequest, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { repeatedResults, TokenRows } from '../results/rows-of-request.ts';

/** The columns of `replace.csv`, after the kept ones. Programs read this file, so it exists even without rows. */
const REPLACE_COLUMNS = ['token', 'new_token', 'new_expiration_year', 'new_expiration_month', 'result_code'] as const;

/** The groups of the other files, each of which exists only while it has rows. */
const OTHERS = ['contact', 'consider', 'exclude', 'fix', 'support'] as const satisfies readonly RowGroup[];

type TodoGroup = 'replace' | (typeof OTHERS)[number];

type TodoFile = TodoGroup | 'update';

/** The files that were written, with their numbers of rows. */
export interface Todo {
  /** The file with new tokens, as the operator may type it. */
  readonly replace: string;
  /** The script that updates the new tokens in a database. */
  readonly update: string;
  readonly newTokens: number;
  /** The other files with rows, by urgency. */
  readonly others: readonly { readonly group: TodoGroup; readonly rows: number }[];
  /** Each name with its private file; without one, the file is to be removed. */
  readonly files: readonly (readonly [name: string, source: string | undefined])[];
}

/** Writes a private file for each action, and a script for the new tokens. */
export async function writeTodo(
  context: Context,
  directory: RefreshDirectory,
  results: FileResults,
  { actions, sql }: { readonly actions: Actions; readonly sql: SqlDialect },
): Promise<Todo> {
  const kept = await openKept(context, directory.has(directory.keep) ? directory.keep : undefined);
  const placeOf = kept && (await placeOfResult(results));
  const files = new TodoFiles(context, directory, kept?.names ?? [], updateScript(sql));
  let withoutKept = 0;
  try {
    for await (const rows of readResults((await fileSource(results.file)).open()))
      for (const row of rows) {
        requireNewToken(row, context.isRehearsal);
        const group = groupOf(row.result_code, row.new_token !== '', actions);
        const place = placeOf?.(row.token);
        if (group === 'keep') continue;
        await files.add(group, row, kept?.cellsAt(row.token, place) ?? []);
        if (group === 'replace' && kept && place === undefined) withoutKept += 1;
      }
    const written = await files.finish();
    const [replace, update] = [files.nameOf('replace'), files.nameOf('update')];
    if (withoutKept > 0) context.notices.warn(withoutKeptText(withoutKept, replace));
    const others = OTHERS.map((group) => ({ group, rows: files.rowsOf(group) })).filter(({ rows }) => rows > 0);
    return { replace, update, newTokens: files.rowsOf('replace'), others, files: written };
  } finally {
    await files.discard();
  }
}

/** The todo files. They are private until all are complete. */
class TodoFiles {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #keptNames: readonly string[];
  readonly #script: ReturnType<typeof updateScript>;
  readonly #files = new Map<TodoFile, { readonly draft: Draft; readonly path: string; rows: number }>();

  constructor(
    context: Context,
    directory: RefreshDirectory,
    keptNames: readonly string[],
    script: ReturnType<typeof updateScript>,
  ) {
    this.#context = context;
    this.#directory = directory;
    this.#keptNames = keptNames;
    this.#script = script;
  }

  async add(group: TodoGroup, row: ResultRow, kept: readonly string[]): Promise<void> {
    const file = await this.#open(group);
    file.rows += 1;
    await file.draft.write(this.#lineOf(group, [...kept, ...columnsOf(group).map((name) => row[name])]));
    if (group === 'replace') await (await this.#open('update')).draft.write(this.#script.line(row));
  }

  async finish(): Promise<Todo['files']> {
    await this.#open('replace');
    await (await this.#open('update')).draft.write(this.#script.foot);
    for (const { draft } of this.#files.values()) await draft.finish(true);
    const all = ['replace', 'update', ...OTHERS] as const;
    return all.map((name) => [this.nameOf(name), this.#files.get(name)?.path]);
  }

  nameOf(file: TodoFile): string {
    return path.join(this.#directory.todo, file === 'update' ? 'update.sql' : `${file}.csv`);
  }

  rowsOf(group: TodoGroup): number {
    return this.#files.get(group)?.rows ?? 0;
  }

  async discard(): Promise<void> {
    for (const { draft } of this.#files.values()) await draft.discard();
  }

  async #open(name: TodoFile) {
    const opened = this.#files.get(name);
    if (opened !== undefined) return opened;
    const spool = await openSpool(this.#context);
    const file = { draft: await Draft.begin(spool), path: spool, rows: 0 };
    this.#files.set(name, file);
    const head = name === 'update' ? this.#script.head : this.#lineOf(name, [...this.#keptNames, ...columnsOf(name)]);
    await file.draft.write(head);
    return file;
  }

  #lineOf(group: TodoGroup, cells: readonly string[]): string {
    return csvRowFormat([...this.#keptNames, ...columnsOf(group)], this.#context.globals.excelSafe)(cells);
  }
}

/** Warns of new tokens without kept columns. */
function withoutKeptText(count: number, replace: string): string {
  const [have, their, tokens] = count === 1 ? ['has', 'its', 'token'] : ['have', 'their', 'tokens'];
  return `${countText(count, 'new token')} ${have} no kept columns in ${replace}: ${their} old ${tokens} ${have} rows of several merchants, and the results do not show which row got it`;
}

function columnsOf(group: TodoGroup): readonly (typeof RESULT_COLUMNS)[number][] {
  return group === 'replace' ? REPLACE_COLUMNS : RESULT_COLUMNS;
}

/**
 * Returns a function that is called for each result in order, and returns its place among the request's rows of the token, from
 * 0; undefined if it is not known. A token with rows for several merchants is in several jobs, so the job of a result tells its
 * row.
 */
async function placeOfResult(results: FileResults): Promise<(token: string) => number | undefined> {
  const rows = await TokenRows.of(results.fileJobs.file.source);
  const places = await placesByJob(results, rows);
  // A job of an earlier build may have a token for several merchants, and this request may lack one of them.
  const isEarlier = results.jobs.some(({ claim }) => claim.keys !== 2);
  const repeated = isEarlier ? await repeatedResults(await fileSource(results.file)) : new Set<string>();
  const taken = new Map<string, number>();
  return (token) => {
    const key = tokenKey(token);
    if (rows.countRows(token) === 1) return repeated.has(key) ? undefined : 0;
    const count = taken.get(key) ?? 0;
    taken.set(key, count + 1);
    return places.get(key)?.[count];
  };
}

/**
 * Returns, for each token with several rows, the places of its rows with a result, in the order of the results. A token is left
 * out if one job has several of its rows or results.
 */
async function placesByJob({ fileJobs, jobs }: FileResults, tokens: TokenRows): Promise<ReadonlyMap<string, number[]>> {
  const isSeveral = (token: string): boolean => tokens.countRows(token) > 1;
  const places = new Map<string, number>();
  const placeOf = tokens.occurrenceCounter();
  for await (const rows of readRequest(fileJobs.file.source.open()))
    for (const row of rows) if (isSeveral(row.token)) places.set(rowKeyOf(row), placeOf(row.token));
  const answered = new Map<string, number[]>();
  if (places.size === 0) return answered;
  const unknown = new Set<string>();
  for (const { rows: own, file } of jobs) {
    const sent = new Map<string, number[]>();
    for await (const rows of readRequest(own.source.open()))
      for (const row of rows) {
        const place = places.get(rowKeyOf(row));
        if (place !== undefined) sent.set(tokenKey(row.token), [...(sent.get(tokenKey(row.token)) ?? []), place]);
      }
    const counts = new Map<string, number>();
    for await (const rows of readResults((await fileSource(file)).open()))
      for (const key of rows.filter(({ token }) => isSeveral(token)).map(({ token }) => tokenKey(token)))
        counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const [key, count] of counts) {
      const [place, ...others] = sent.get(key) ?? [];
      // A job of another file may have results of rows that this request lacks.
      if (place === undefined) continue;
      if (count > 1 || others.length > 0) unknown.add(key);
      answered.set(
        key,
        [...(answered.get(key) ?? []), place].toSorted((a, b) => a - b),
      );
    }
  }
  for (const key of unknown) answered.delete(key);
  return answered;
}
