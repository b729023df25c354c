import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { Draft } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow, excelSafeRows } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { tokenKey } from '../request/row-key.ts';
import { type Actions, groupOf, isExpired, readResults, type ResultRow, type RowGroup } from '../result-codes.ts';
import { type KeptColumns, openKept } from '../results/kept-columns.ts';
import { requireNewToken } from '../results/new-token.ts';
import { repeatedResults } from '../results/result-rows.ts';
import { findRequests } from './cycle-request.ts';
import type { CycleResults, CycleSource } from './cycle-results.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { type ResultPlaces, resultPlaces, type RowPlace } from './result-places.ts';
import { withSeveralMerchants } from './shared-results.ts';
import { type SqlDialect, updateScript } from './update-sql.ts';

/** The columns of the file with new tokens, after the kept ones. Programs read it, also when it has no rows. */
const REPLACE_COLUMNS = ['token', 'new_token', 'new_expiration_year', 'new_expiration_month', 'result_code'] as const;

/** The files of what to do with rows, besides that of new tokens. Each exists while it has rows. */
const OTHERS = ['contact', 'consider', 'exclude', 'fix', 'support'] as const satisfies readonly RowGroup[];

/** The script that brings the new tokens into a database. */
const UPDATE = 'update';

type TodoGroup = 'replace' | (typeof OTHERS)[number];

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
 * somebody changed stay as they are.
 */
export async function writeTodo(
  context: Context,
  directory: RefreshDirectory,
  results: CycleResults,
  { actions, sql }: { readonly actions: Actions; readonly sql: SqlDialect },
): Promise<Todo> {
  const { sources, shared, of } = results;
  const kept = await CycleKept.open(context, directory, [...of.keys()]);
  const files = new TodoFiles(context, directory, kept.names, updateScript(sql));
  let withoutKept = 0;
  let hasMore = false;
  try {
    for (const [index, source] of sources.entries()) {
      const found = await placesOf(context, directory, source, kept);
      hasMore ||= found.hasMore;
      const counts = shared?.counting(index);
      for await (const rows of readResults((await fileSource(source.file)).open()))
        for (const row of rows) {
          const place = found.rowOf(row.token);
          requireNewToken(row, context.isRehearsal);
          if (counts?.(row) === false) continue;
          const group = groupOf(row.result_code, row.new_token !== '', actions);
          if (group === 'replace' && place === undefined && kept.names.length > 0) withoutKept += 1;
          if (isWritten(group)) await files.add(group, row, kept.cellsAt(row.token, place));
        }
    }
    noteOrder(directory, results, hasMore);
    const todo = await files.finish();
    if (withoutKept > 0) context.notices.warn(unknownRows(withoutKept, todo.replace));
    return todo;
  } finally {
    await files.discard();
  }
}

/**
 * Finds the row of its request to which each result belongs. Where a request is gone, a token is taken to have one row if
 * it has one result and no different rows of kept columns.
 */
async function placesOf(
  context: Context,
  directory: RefreshDirectory,
  source: CycleSource,
  kept: CycleKept,
): Promise<ResultPlaces> {
  const requests = await findRequests(context, directory, source.places);
  if (requests !== undefined) return resultPlaces(source, requests);
  const repeated = await repeatedResults(await fileSource(source.file));
  return {
    rowOf: (token) => (repeated.has(tokenKey(token)) ? undefined : kept.onlyRow(token, source.places)),
    hasMore: true,
  };
}

/** Records whether the results of the cycle have the order of its requests, in which their rows are found without any run. */
function noteOrder(directory: RefreshDirectory, { sources, sha256 }: CycleResults, hasMore: boolean): void {
  // Requests that are gone now were read when this was recorded.
  if (directory.steps.ordered === sha256) return;
  const isInRequestOrder = sources.every(({ isUnordered }) => isUnordered === undefined);
  const places = sources.flatMap((source) => source.places);
  const isInOrder = places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0));
  const ordered = isInOrder && isInRequestOrder && !hasMore ? sha256 : undefined;
  if (directory.steps.ordered === ordered) return;
  directory.steps.ordered = ordered;
  directory.save();
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
  /** Tokens whose rows in several requests may be different ones; undefined if any token may be such. */
  readonly #several: ReadonlySet<string> | undefined;

  private constructor(files: readonly KeptOfRequest[], several: ReadonlySet<string> | undefined) {
    this.#several = several;
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
    const requests = files.length > 0 && places.length > 1 ? await findRequests(context, directory, places) : [];
    return new CycleKept(files, requests && (await withSeveralMerchants(requests)));
  }

  /**
   * Returns the cells of a token's row. Where its request kept no columns, another one counts, unless it may have the token
   * for another merchant. The cells are empty if the row is not known.
   */
  cellsAt(token: string, row: RowPlace | undefined): readonly string[] {
    const having = this.#files.filter(({ kept }) => kept.has(token));
    const found =
      having.find(({ request }) => request === row?.request) ?? (this.#isOneRow(token) ? having[0] : undefined);
    return this.#cellsIn(found, token, row?.place);
  }

  /** Returns the row of a token whose kept columns are the same in all of its rows of these requests; otherwise undefined. */
  onlyRow(token: string, requests: readonly number[]): RowPlace | undefined {
    const having = this.#files.filter(({ kept, request }) => requests.includes(request) && kept.has(token));
    const cells = new Set(having.map((file) => this.#cellsIn(file, token, 0).join('\0')));
    if (cells.size > 1 || having.some(({ kept }) => kept.hasSeveral(token))) return undefined;
    return { request: having[0]?.request ?? requests[0] ?? 0, place: 0 };
  }

  #cellsIn(file: KeptFile | undefined, token: string, place: number | undefined): readonly string[] {
    const cells = file?.kept.cellsAt(token, place) ?? [];
    return this.names.map((_, at) => cells[file?.places[at] ?? -1] ?? '');
  }

  /** Tells whether all rows of a token in the requests are the same one. */
  #isOneRow(token: string): boolean {
    return this.#several?.has(tokenKey(token)) === false;
  }
}

function isWritten(group: RowGroup): group is TodoGroup {
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

  async add(group: TodoGroup, row: ResultRow, kept: readonly string[]): Promise<void> {
    this.#rows.set(group, this.#rowsOf(group) + 1);
    if (group === 'replace') {
      if (isExpired(row, this.#context.clock.now())) this.#expired += 1;
      await (await this.#draftOf(UPDATE)).write(this.#script.line(row));
    }
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
    for (const group of ['replace', UPDATE, ...OTHERS] as const) {
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
    const update = path.join(directory.todo, fileOf(UPDATE));
    const replace = path.join(directory.todo, 'replace.csv');
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

function fileOf(group: TodoGroup | typeof UPDATE): string {
  return group === UPDATE ? 'update.sql' : `${group}.csv`;
}

function columnsOf(group: TodoGroup): readonly (typeof RESULT_COLUMNS)[number][] {
  return group === 'replace' ? REPLACE_COLUMNS : RESULT_COLUMNS;
}
