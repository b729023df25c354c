import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { removeOrphanedTemporaries, writeFileAtomicSync } from '../../base/files/draft.ts';
import { withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { hashFile } from '../../client/transfer/source.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { SQL_DIALECTS, type SqlDialect } from './update-sql.ts';

/** A request of a cycle, and how far it is. Another export within the cycle begins another one. */
export interface Refreshed {
  /** The name of the export as typed. */
  export: string;
  /** The SHA-256 of the export in hexadecimal. */
  export_sha256: string;
  /** The options that say how the export was read, as words. */
  options: string[];
  /** What exports that are read with the same options have in common. */
  form?: string | undefined;
  /** The SHA-256 of the request file in hexadecimal. */
  request_sha256: string;
  /** The SHA-256 of the request file that it replaces, which a kill may leave in its place. */
  replaces?: string | undefined;
  /** The number of rows in the request file. */
  rows: number;
  /** The number of rows of the export that are not in the request file, by the reason. */
  dropped?: Readonly<Record<string, number>> | undefined;
  /** Set if the operator left the list of exclusions out. */
  exclusions?: 'none' | undefined;
  /** The number of tokens on the list of exclusions when this request last read or extended it. */
  excluded_tokens?: number | undefined;
  /** When they were counted, as an RFC 3339 time. */
  excluded_at?: string | undefined;
  /** Set once rows of it may have been sent. */
  submitted?: true | undefined;
  /** The SHA-256 of its results, once the files of the cycle have them. */
  report_of?: string | undefined;
}

/** The files of a request, as the operator may type them. */
export interface RefreshFiles {
  readonly request: string;
  readonly keep: string;
  readonly rejects: string;
}

/** What was made of the results of a cycle: which results, what else decided it, and the number of its rows. */
export interface Made {
  readonly results_sha256: string;
  /** The SHA-256 of the requests and the actions by result code. */
  readonly inputs_sha256: string;
  readonly rows: number;
}

/** The steps after the results of a cycle, and what each was made of. */
interface Steps {
  reported?: Made | undefined;
  excluded?: Made | undefined;
  next?: Made | undefined;
  /** The files with what to do, and the database for which `update.sql` is among them. */
  todo?: (Made & { readonly sql: SqlDialect }) | undefined;
  /** Set while files of the cycle are written. */
  writing?: true | undefined;
  /** The database for which `update.sql` is written. */
  sql?: SqlDialect | undefined;
}

/** The name of the record of a cycle, in the directory of the cycle. */
const RECORD = 'refresh.json';

/** The name of the list of exclusions, in the directory of all cycles. */
export const EXCLUSIONS = 'exclusions.csv';

const LOCK = '.refresh.lock';

const UNLOCKING =
  'Delete no other file: with the same ledger, the command then goes on and pays for no row twice. Meanwhile svc au status shows what is open.';

const VERSION = 2;

const madeSchema = z.looseObject({ results_sha256: z.string(), inputs_sha256: z.string(), rows: z.int() });

const refreshSchema = z.looseObject({
  version: z.literal(VERSION),
  cycle: z.string(),
  files: z.record(z.string(), z.array(z.string())),
  own: z.array(z.string()),
  reported: z.optional(madeSchema),
  excluded: z.optional(madeSchema),
  next: z.optional(madeSchema),
  todo: z.optional(z.extend(madeSchema, { sql: z.enum(SQL_DIALECTS) })),
  writing: z.optional(z.literal(true)),
  sql: z.optional(z.enum(SQL_DIALECTS)),
  requests: z.array(
    z.looseObject({
      export: z.string(),
      export_sha256: z.string(),
      options: z.array(z.string()),
      form: z.optional(z.string()),
      request_sha256: z.string(),
      replaces: z.optional(z.string()),
      rows: z.int(),
      dropped: z.optional(z.record(z.string(), z.int())),
      exclusions: z.optional(z.literal('none')),
      excluded_tokens: z.optional(z.int()),
      excluded_at: z.optional(z.string()),
      submitted: z.optional(z.literal(true)),
      /** What builds before the first release had instead. */
      run: z.optional(z.string()),
      report_of: z.optional(z.string()),
    }),
  ),
});

type RecordOnDisk = z.infer<typeof refreshSchema>;

/** The number of tokens on the list of exclusions, and when they were counted. */
export type NotedExclusions = Pick<Refreshed, 'excluded_tokens' | 'excluded_at'>;

/**
 * The directory of one cycle, below the directory of all cycles. It has a record of its requests, which is written
 * before each step, so that the same command goes on after a crash.
 */
export class RefreshDirectory {
  /** The list of exclusions, which all cycles share, as the operator may type it. */
  readonly exclusions: string;
  readonly cycle: string;
  /** The directory of all cycles, as the operator may type it. */
  readonly parent: string;
  /** The directory and its record, as the operator may type them. */
  readonly path: string;
  readonly record: string;
  /** The files of the whole cycle, and the directory of those with what to do, as the operator may type them. */
  readonly results: string;
  readonly report: string;
  readonly next: string;
  readonly todo: string;
  /** How far the steps after the results are. `save` records changes. */
  readonly steps: Steps = {};
  readonly #context: Context;
  #requests: Refreshed[] = [];
  #written: Record<string, readonly string[]> = {};
  #own: string[] = [];

  constructor(context: Context, parent: string, cycle: string) {
    this.#context = context;
    this.cycle = cycle;
    this.parent = parent;
    this.exclusions = path.join(parent, EXCLUSIONS);
    this.path = path.join(parent, cycle);
    this.record = path.join(this.path, RECORD);
    this.results = path.join(this.path, 'results.csv');
    this.report = path.join(this.path, 'report.html');
    this.next = path.join(this.path, 'next.csv');
    this.todo = path.join(this.path, 'todo');
  }

  /** All requests of the cycle, oldest first. */
  get requests(): readonly Refreshed[] {
    return this.#requests;
  }

  /**
   * Returns the hashes in hexadecimal of a file that is written anew as a whole: as the refresh wrote it, and behind that as
   * it is about to write it.
   */
  written(file: string): readonly string[] {
    return this.#written[path.relative(this.path, file)] ?? [];
  }

  noteWritten(file: string, hashes: readonly string[]): void {
    this.#written[path.relative(this.path, file)] = hashes;
  }

  /** The database for which `update.sql` was written last, in this cycle or else in another one, and the cycle. */
  get earlierSql(): { readonly cycle: string; readonly sql: SqlDialect } | undefined {
    const own = { cycle: this.cycle, sql: this.steps.sql };
    return [own, ...this.#others()].flatMap(({ cycle, sql }) => (sql === undefined ? [] : [{ cycle, sql }]))[0];
  }

  /** The requests of all cycles, each with its cycle: those of this one first, and of each cycle the newest first. */
  requestsOfCycles(): readonly { readonly cycle: string; readonly request: Refreshed }[] {
    const all = [{ cycle: this.cycle, requests: this.#requests }, ...this.#others()];
    return all.flatMap(({ cycle, requests }) => requests.toReversed().map((request) => ({ cycle, request })));
  }

  /** Returns the readable records of the other cycles, the one that was written last first. */
  #others(): readonly RecordOnDisk[] {
    const newest = this.#records().toSorted((a, b) => b.stat.mtimeMs - a.stat.mtimeMs);
    return newest.map(({ data }) => data).filter(({ cycle }) => cycle !== this.cycle);
  }

  /** Returns the readable records of all cycles, with what the system knows of their files. */
  #records(): { readonly data: RecordOnDisk; readonly stat: fs.Stats }[] {
    const parent = path.dirname(this.resolve(this.path));
    const entries = fs.existsSync(parent) ? fs.readdirSync(parent, { withFileTypes: true }) : [];
    return entries.flatMap((entry) => {
      const file = path.join(parent, entry.name, RECORD);
      const stat = entry.isDirectory() ? fs.statSync(file, { throwIfNoEntry: false }) : undefined;
      if (stat?.isFile() !== true) return [];
      const { data } = refreshSchema.safeParse(parsedJson(readRegularFileSync(file)));
      return data === undefined ? [] : [{ data, stat }];
    });
  }

  /** The number of tokens on the list of exclusions when a refresh of any cycle last read or extended it. */
  get notedExclusions(): number | undefined {
    const noted = this.#records().flatMap(({ data: { requests } }) =>
      requests.flatMap(({ excluded_tokens: tokens, excluded_at: at }) =>
        tokens === undefined ? [] : [{ tokens, at: Date.parse(at ?? '') || 0 }],
      ),
    );
    // Of counts at the same time the largest one decides: a needless stop costs less than billed rows of closed accounts.
    return noted.toSorted((a, b) => a.at - b.at || a.tokens - b.tokens).at(-1)?.tokens;
  }

  /**
   * Reads the record, and runs `work` while no other process works in this directory. A directory in which nothing was
   * written is removed again.
   * @throws SvcError `pending` if another process works in it, `config` for a damaged record
   */
  async hold(work: () => Promise<void>): Promise<void> {
    const directory = this.resolve(this.path);
    const made = [directory, path.dirname(directory)].filter((each) => !fs.existsSync(each));
    makeDirectory(directory);
    try {
      await withLock(
        path.join(directory, LOCK),
        this.#context.system,
        async () => {
          removeOrphanedTemporaries(path.join(directory, RECORD));
          this.read();
          await work();
        },
        // It does not end at a restart: of two writers, one would lose the requests that the other records.
        { waitMs: 0, what: `the refresh of cycle ${this.cycle} in ${this.path}`, advice: UNLOCKING },
      );
    } finally {
      for (const each of made) removeEmpty(each);
    }
  }

  /** Reads the record. @throws SvcError `config` if it is damaged */
  read(): void {
    const file = this.record;
    if (!fs.existsSync(this.resolve(file))) return;
    const content = parsedJson(readRegularFileSync(this.resolve(file)));
    refuseNewer(content, VERSION, file);
    const parsed = refreshSchema.safeParse(content);
    if (!parsed.success || parsed.data.cycle !== this.cycle)
      throw new SvcError('config', `${file} is not the record of a refresh of cycle ${this.cycle}`, {
        hint: 'Nothing was changed. Restore the file from a copy, or name another directory with --out-dir.',
        facts: { file },
      });
    this.#take(parsed.data);
  }

  #take({ requests, files, own, reported, excluded, next, todo, writing, sql }: RecordOnDisk): void {
    Object.assign(this.steps, { reported, excluded, next, todo, writing, sql });
    this.#own = own;
    this.#requests = requests.map(({ run, ...request }) =>
      run === undefined ? request : { ...request, submitted: true },
    );
    this.#written = files;
  }

  /** Writes the record and flushes it. */
  save(): void {
    const { reported, excluded, next, todo, writing, sql } = this.steps;
    const record = {
      version: VERSION,
      cycle: this.cycle,
      requests: this.#requests,
      files: this.#written,
      own: this.#own,
      reported,
      excluded,
      next,
      todo,
      writing,
      sql,
    };
    writeFileAtomicSync(this.resolve(this.record), `${JSON.stringify(record, null, 2)}\n`);
  }

  /** Records a request at its place: the place after all others, or that of one that was never submitted. */
  put(place: number, request: Refreshed): void {
    this.#requests[place] = request;
    this.#ownKept(place);
    this.save();
  }

  /** Returns the names of a request's files. The first request of a cycle has no number in its names. */
  filesOf(place: number): RefreshFiles {
    const request = this.#numbered(place, 'request');
    return { request, keep: keepFileOf(request), rejects: this.#numbered(place, 'rejected') };
  }

  #numbered(place: number, stem: string): string {
    return path.join(this.path, `${stem}${place === 0 ? '' : `-${place + 1}`}.csv`);
  }

  /** Checks that a request that is yet to be prepared replaces no file. @throws SvcError `config` */
  requireFree(place: number, hasNext: boolean): void {
    const { request, keep } = this.filesOf(place);
    const ofNext = hasNext ? [this.next, keepFileOf(this.next)] : [];
    const ofCycle = place > 0 ? [] : [this.results, this.report, ...ofNext];
    for (const file of [request, keep, ...ofCycle]) if (this.has(file)) throw this.foreign(file);
  }

  /**
   * Records that a file belongs to the refresh, which may then write and replace it.
   * @throws SvcError `config` if the file exists and the refresh did not write it
   */
  claim(file: string): void {
    if (this.isOwn(file)) return;
    if (this.has(file)) throw this.foreign(file);
    this.#own.push(path.basename(file));
    this.save();
  }

  /** Tells whether a file is recorded as one of the refresh. */
  isOwn(file: string): boolean {
    return this.#own.includes(path.basename(file));
  }

  /** Records that the kept columns of a request belong to the refresh. */
  #ownKept(place: number): void {
    const { keep } = this.filesOf(place);
    const isKept = this.#requests[place]?.options.includes('--keep') === true;
    if (isKept && !this.isOwn(keep)) this.#own.push(path.basename(keep));
  }

  /** Removes the record and the only request, which the operator decided not to submit. */
  forget(): void {
    const { request, keep } = this.filesOf(0);
    for (const file of [this.record, request, keep]) fs.rmSync(this.resolve(file), { force: true });
  }

  has(file: string): boolean {
    return fs.lstatSync(this.resolve(file), { throwIfNoEntry: false }) !== undefined;
  }

  hash(file: string): Promise<string> {
    return hashFile(this.resolve(file));
  }

  resolve(file: string): string {
    return resolvePath(this.#context, file);
  }

  /** Returns the error for a file that the refresh did not write. */
  foreign(file: string): SvcError {
    return new SvcError('config', `${file} exists, and this refresh did not write it`, {
      hint: 'Nothing was changed. Move the file away, or name another directory with --out-dir.',
      facts: { file },
    });
  }
}

function removeEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch {
    // It contains files.
  }
}
