import fs from 'node:fs';
import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { Draft } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow, excelSafeRows } from '../../cli/output/csv.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { type Actions, groupOf, readResults, type ResultRow, type RowGroup } from '../result-codes.ts';
import { type KeptColumns, openKept } from '../results/kept-columns.ts';
import { ResultRows } from '../results/result-rows.ts';
import type { RefreshDirectory, RefreshFiles } from './refresh-directory.ts';

/** The columns of the file with new tokens, after the kept ones. Programs read it, also when it has no rows. */
const REPLACE_COLUMNS = ['token', 'new_token', 'new_expiration_year', 'new_expiration_month', 'result_code'] as const;

/** The files of what to do with rows, besides that of new tokens. Each exists while it has rows. */
const OTHERS = ['contact', 'consider', 'exclude', 'fix', 'support'] as const satisfies readonly RowGroup[];

type TodoGroup = 'replace' | (typeof OTHERS)[number];

/** What is to be done after the results of a cycle. */
export interface Todo {
  /** The file with new tokens, as the operator may type it. */
  readonly replace: string;
  readonly newTokens: number;
  /** Files that somebody changed, so that they were not replaced. */
  readonly changed: readonly string[];
}

/** The results of one request of a cycle. */
interface Source {
  readonly results: string;
  /** The request, if it is there. */
  readonly request: string | undefined;
  readonly kept: KeptColumns | undefined;
}

/**
 * Writes what is to be done with the rows of a cycle, a file for each kind, from the results of all its requests that were
 * reported. Files that somebody changed stay as they are.
 * @throws SvcError `config`, and writes nothing, while results of a request are not where the refresh wrote them, because a
 *   file without their rows would look whole
 */
export async function writeTodo(context: Context, directory: RefreshDirectory, actions: Actions): Promise<Todo> {
  const sources = await sourcesOf(context, directory);
  let leftOut = 0;
  const files = new TodoFiles(context, directory, [...new Set(sources.flatMap(({ kept }) => kept?.names ?? []))]);
  try {
    const newest = sources.length > 1 ? await newestSources(sources) : undefined;
    for (const [index, source] of sources.entries()) {
      const { kept } = source;
      const placeOf = await placesOf(source);
      for await (const rows of readResults((await fileSource(source.results)).open()))
        for (const row of rows) {
          const place = placeOf(row.token);
          const cells = new Map(kept?.cellsAt(row.token, place).map((cell, at) => [kept.names[at] ?? '', cell]));
          // Where a token has results in two requests, the later ones count.
          if (newest !== undefined && newest.get(tokenKey(row.token)) !== index + 1) continue;
          const group = row.new_token === '' ? groupOf(row.result_code, false, actions) : 'replace';
          if (group === 'replace' && place === undefined) leftOut += 1;
          else if (isWritten(group)) await files.add(group, row, cells);
        }
    }
    const todo = await files.finish();
    if (leftOut > 0) context.notices.warn(unknownRows(leftOut, todo.replace));
    return todo;
  } finally {
    await files.discard();
  }
}

async function sourcesOf(context: Context, directory: RefreshDirectory): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (const [place, { run, report_of: of }] of directory.requests.entries()) {
    if (of === undefined) continue;
    const { request, results, keep }: RefreshFiles = directory.filesOf(place);
    if (!directory.has(results) || (await directory.hash(results)) !== of) {
      throw new SvcError('config', `${results} is not as the refresh wrote it, so ${directory.todo} lacks its rows`, {
        hint: 'The files there were left as they are. Move a changed file away, get the results again, and run the same command:',
        next: ['au', 'download', run ?? '<run>', '--out', results],
        facts: { file: results },
      });
    }
    found.push({
      results: directory.resolve(results),
      request: directory.has(request) ? directory.resolve(request) : undefined,
      kept: await openKept(context, directory.has(keep) ? keep : undefined),
    });
  }
  return found;
}

/** Finds the row of the request to which each result belongs. Without the request, tokens are taken to have one row each. */
async function placesOf({ request, results }: Source): Promise<(token: string) => number | undefined> {
  if (request === undefined) return () => 0;
  const rows = await ResultRows.match(await fileSource(request), await fileSource(results));
  return rows.placing();
}

function unknownRows(count: number, replace: string): string {
  const [are, their, tokens] = count === 1 ? ['is', 'its', 'token'] : ['are', 'their', 'tokens'];
  return `${countText(count, 'new token')} ${are} not in ${replace}: ${their} old ${tokens} ${count === 1 ? 'has' : 'have'} rows of several merchants, and the results do not show which row got it`;
}

/** Returns the number of the last source, starting at 1, that has a token. */
async function newestSources(sources: readonly Source[]): Promise<Pick<TokenTable, 'get'>> {
  const newest = new TokenTable({ words: 3 });
  for (const [index, { results }] of sources.entries())
    for await (const rows of readResults((await fileSource(results)).open()))
      for (const { token } of rows) newest.set(tokenKey(token), index + 1);
  return newest;
}

function isWritten(group: RowGroup): group is TodoGroup {
  return group !== 'keep';
}

/** The drafts of the files, and their way into place. */
class TodoFiles {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #keptNames: readonly string[];
  readonly #drafts = new Map<TodoGroup, Draft>();
  #newTokens = 0;

  constructor(context: Context, directory: RefreshDirectory, keptNames: readonly string[]) {
    this.#context = context;
    this.#directory = directory;
    this.#keptNames = keptNames;
  }

  async add(group: TodoGroup, row: ResultRow, kept: ReadonlyMap<string, string>): Promise<void> {
    if (group === 'replace') this.#newTokens += 1;
    const draft = await this.#draftOf(group);
    const cells = this.#keptNames.map((name) => kept.get(name) ?? '');
    await draft.write(this.#lineOf(group, [...cells, ...columnsOf(group).map((name) => row[name])]));
  }

  /** Puts the files into place. The record names their hashes before and after, so that a crash makes none a foreign one. */
  async finish(): Promise<Todo> {
    await this.#draftOf('replace');
    const changed: string[] = [];
    const ready: { readonly name: string; readonly draft: Draft | undefined; readonly sha256: string | undefined }[] =
      [];
    for (const group of ['replace', ...OTHERS] as const) {
      const draft = this.#drafts.get(group);
      const sha256 = (await draft?.seal())?.sha256;
      const name = `${group}.csv`;
      const file = path.join(this.#directory.todo, name);
      const here = this.#directory.has(file) ? await this.#directory.hash(file) : undefined;
      const written = this.#directory.written[name] ?? [];
      if (here === sha256) continue;
      if (here === undefined || written.includes(here)) ready.push({ name, draft, sha256 });
      // Nothing is missing in a file that would be written as it was before somebody changed it.
      else if (sha256 === undefined || !written.includes(sha256)) changed.push(file);
    }
    for (const { name, sha256 } of ready)
      this.#directory.noteWritten(name, [...(this.#directory.written[name] ?? []), ...(sha256 ? [sha256] : [])]);
    if (ready.length > 0) this.#directory.save();
    for (const { name, draft } of ready) {
      if (draft) await draft.finish(true);
      else fs.rmSync(this.#directory.resolve(path.join(this.#directory.todo, name)), { force: true });
    }
    for (const { name, sha256 } of ready) this.#directory.noteWritten(name, sha256 ? [sha256] : []);
    if (ready.length > 0) this.#directory.save();
    return { replace: path.join(this.#directory.todo, 'replace.csv'), newTokens: this.#newTokens, changed };
  }

  async discard(): Promise<void> {
    for (const draft of this.#drafts.values()) await draft.discard();
  }

  async #draftOf(group: TodoGroup): Promise<Draft> {
    const known = this.#drafts.get(group);
    if (known !== undefined) return known;
    const target = this.#directory.resolve(path.join(this.#directory.todo, `${group}.csv`));
    makeDirectory(path.dirname(target));
    const draft = await Draft.begin(target);
    this.#drafts.set(group, draft);
    await draft.write(this.#lineOf(group, [...this.#keptNames, ...columnsOf(group)]));
    return draft;
  }

  #lineOf(group: TodoGroup, cells: readonly string[]): string {
    if (!this.#context.globals.excelSafe) return csvRow(cells);
    return excelSafeRows([...this.#keptNames, ...columnsOf(group)], [cells]);
  }
}

function columnsOf(group: TodoGroup): readonly (typeof RESULT_COLUMNS)[number][] {
  return group === 'replace' ? REPLACE_COLUMNS : RESULT_COLUMNS;
}
