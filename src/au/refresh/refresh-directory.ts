import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { removeOrphanedTemporaries, writeFileAtomicSync, writeWhole } from '../../base/files/draft.ts';
import { withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { tenantText } from '../../cli/app/tenant-mark.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { readEarlierRecord } from './earlier-record.ts';
import { inDirectory } from './refresh-input.ts';
import { SQL_DIALECTS } from './update-sql.ts';

/** The name of the record of a cycle, in the directory of the cycle. */
const RECORD = 'refresh.json';

/** The name of the list of exclusions, in the directory of all cycles. */
export const EXCLUSIONS = 'exclusions.csv';

/** The file, beside the list of exclusions, that names the tenant of all cycles in a directory. */
export const TENANT = 'tenant.json';

const LOCK = '.refresh.lock';

const OTHER_TENANT =
  'Nothing was submitted. Use the profile of that tenant (--profile). For this tenant, use another directory: if it has an exclusions.csv, copy that file there first, because closed accounts are submitted without it.';

const UNLOCKING =
  'Delete no other file: with the same ledger, the command then goes on and pays for no row twice. Meanwhile svc au status shows what is open.';

const VERSION = 3;

const recordSchema = z.looseObject({
  version: z.literal(VERSION),
  cycle: z.string(),
  /** The exports whose rows are in the request, the newest last. `form` is what exports of the same columns have in common. */
  exports: z.array(
    z.looseObject({ name: z.string(), sha256: z.string(), options: z.array(z.string()), form: z.optional(z.string()) }),
  ),
  /** The SHA-256 of each file as the refresh wrote it, and behind that as it is about to write it; none if any content may go. */
  files: z.record(z.string(), z.array(z.string())),
  /** The number of rows of the newest export that are not in the request, by the reason. */
  dropped: z.optional(z.record(z.string(), z.int())),
  /** The SHA-256 of the request whose rows were claimed last. */
  claimed: z.optional(z.string()),
  /** The number of tokens on the list of exclusions, and when they were counted. */
  excluded: z.optional(z.looseObject({ tokens: z.int(), at: z.string() })),
  /** What was made of the results, and of which: the rows that the next cycle leaves out, and those of the next request. */
  made: z.optional(z.looseObject({ of: z.string(), left_out: z.optional(z.int()), next_rows: z.optional(z.int()) })),
  /** Set once all files have the results of the request. */
  finished: z.optional(z.literal(true)),
  /** The database for which `update.sql` is written. */
  sql: z.optional(z.enum(SQL_DIALECTS)),
  /** The files of the requests of an earlier build, until they are one. */
  requests: z.optional(z.array(z.looseObject({ request: z.string(), keep: z.string() }))),
});

const tenantSchema = z.looseObject({ version: z.literal(1), tenant: z.string() });

/** What a cycle's directory records: the exports that were read, and the files that the refresh wrote. */
export type RefreshRecord = z.infer<typeof recordSchema>;

/** Returns the record of a cycle that has not begun. Its members keep their order, so that a file changes only with them. */
function newRecord(cycle: string): RefreshRecord {
  const later = { dropped: undefined, claimed: undefined, excluded: undefined, made: undefined };
  return { version: VERSION, cycle, exports: [], files: {}, ...later, finished: undefined, sql: undefined };
}

/** Returns a record from the content of its file; undefined if it is damaged. @throws SvcError `config` for a newer one */
function readRecord(content: unknown, file: string): RefreshRecord | undefined {
  refuseNewer(content, VERSION, file);
  const { data } = recordSchema.safeParse(content);
  const known = data ?? readEarlierRecord(content);
  return known && { ...newRecord(known.cycle), ...known, version: VERSION };
}

/**
 * The directory of one cycle, below the directory of all cycles. Its record has the exports that were read and the hashes of
 * the files that the refresh wrote, so that it replaces no other file. All names are as the operator may type them.
 */
export class RefreshDirectory {
  readonly cycle: string;
  /** The directory of all cycles, and the list of exclusions that they share. */
  readonly parent: string;
  readonly exclusions: string;
  readonly path: string;
  readonly request: string;
  readonly keep: string;
  readonly results: string;
  readonly report: string;
  readonly next: string;
  readonly todo: string;
  readonly recordFile: string;
  /** `save` writes changes. */
  record: RefreshRecord;
  readonly #context: Context;
  #saved = '';

  constructor(context: Context, parent: string, cycle: string) {
    this.#context = context;
    this.cycle = cycle;
    this.parent = parent;
    this.exclusions = path.join(parent, EXCLUSIONS);
    this.path = path.join(parent, cycle);
    this.recordFile = path.join(this.path, RECORD);
    this.request = path.join(this.path, 'request.csv');
    this.keep = keepFileOf(this.request);
    this.results = path.join(this.path, 'results.csv');
    this.report = path.join(this.path, 'report.html');
    this.next = path.join(this.path, 'next.csv');
    this.todo = path.join(this.path, 'todo');
    this.record = newRecord(cycle);
  }

  /** Whether rows of the cycle's request may have been sent. */
  get isBegun(): boolean {
    return this.record.exports.length > 0;
  }

  /** The file for refused rows of the export that is read next. */
  get rejects(): string {
    const { length } = this.record.exports;
    return path.join(this.path, `rejected${length === 0 ? '' : `-${length + 1}`}.csv`);
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
        // It does not end at a restart: of two writers, one would lose what the other records.
        { waitMs: 0, what: `the refresh of cycle ${this.cycle} in ${this.path}`, advice: UNLOCKING },
      );
    } finally {
      for (const each of made) removeEmpty(each);
    }
  }

  /** Reads the record. @throws SvcError `config` if it is damaged */
  read(): void {
    const file = this.recordFile;
    if (!fs.existsSync(this.resolve(file))) return;
    const text = readRegularFileSync(this.resolve(file));
    const record = readRecord(parsedJson(text), file);
    if (record?.cycle !== this.cycle)
      throw new SvcError('config', `${file} is not the record of a refresh of cycle ${this.cycle}`, {
        hint: 'Nothing was changed. Restore the file from a copy, or name another directory with --out-dir.',
        facts: { file },
      });
    this.record = record;
    this.#saved = text;
  }

  /** Writes the record and flushes it, unless it is as it was. */
  save(): void {
    const text = `${JSON.stringify(this.record, null, 2)}\n`;
    if (text === this.#saved) return;
    writeFileAtomicSync(this.resolve(this.recordFile), text);
    this.#saved = text;
  }

  /** The tenant whose cycles the directory of all cycles has; undefined before their first submission. @throws SvcError `config` */
  get tenant(): string | undefined {
    const resolved = this.resolve(this.#tenantFile);
    const stat = fs.statSync(resolved, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const value = stat.isFile() ? parsedJson(readRegularFileSync(resolved)) : undefined;
    refuseNewer(value, 1, this.#tenantFile);
    const { data } = tenantSchema.safeParse(value);
    if (data !== undefined) return data.tenant;
    throw new SvcError('config', `${this.#tenantFile} does not name a tenant`, {
      hint: 'Nothing was submitted. Restore the file from a copy, or name another directory with --out-dir.',
      facts: { file: this.#tenantFile },
    });
  }

  get #tenantFile(): string {
    return path.join(this.parent, TENANT);
  }

  /** Notes whose cycles the directory has, unless that is known. */
  noteTenant(tenant: string | undefined): void {
    if (tenant === undefined || this.tenant !== undefined) return;
    const text = `${JSON.stringify({ version: 1, tenant }, null, 2)}\n`;
    writeFileAtomicSync(this.resolve(this.#tenantFile), text);
  }

  /**
   * Checks that the cycles of the directory are those of the key's tenant. Another tenant's list of exclusions would leave out
   * the wrong cards, and be extended by them.
   * @throws SvcError `config`
   */
  requireTenant(tenant: string, again: readonly string[]): void {
    const of = this.tenant;
    if (of === undefined || of === tenant) return;
    const elsewhere = inDirectory(again, `${this.parent}-${tenant.slice(0, 8)}`);
    const here = tenantText(this.#context, tenant);
    const isSandbox = serviceOf(this.#context) === 'sandbox';
    throw new SvcError('config', `${this.parent} has the cycles of tenant ${of}, and this key belongs to ${here}`, {
      ...(isSandbox
        ? {
            hint: 'Nothing was submitted. A reset gives the sandbox a new tenant: use another directory.',
            next: elsewhere,
          }
        : { hint: OTHER_TENANT, next: ['profile', 'list'], alternatives: [elsewhere] }),
      facts: { file: this.#tenantFile, tenant: of },
    });
  }

  /** Returns the readable records of the cycles in the directory of all cycles: this one first, then the newest first. */
  recordsOfCycles(): readonly RefreshRecord[] {
    const others = cyclesIn(this.#context, this.parent).filter(({ cycle }) => cycle !== this.cycle);
    const newest = others.toSorted((a, b) => b.recordedAt - a.recordedAt);
    return [this.record, ...newest.map(({ record }) => record)];
  }

  /** When the record was written last, in epoch milliseconds. */
  get recordedAt(): number {
    return fs.statSync(this.resolve(this.recordFile)).mtimeMs;
  }

  /**
   * Gives private files their names, and removes those for which there is none. A file that somebody else wrote or changed
   * stays; the names of such files are returned. The record has the hashes before and after, so that a crash makes no foreign
   * file; the caller saves it afterwards.
   */
  async put(files: readonly (readonly [name: string, made: string | undefined])[]): Promise<string[]> {
    const changed: string[] = [];
    const ready: { readonly name: string; readonly made: string | undefined; readonly sha256: string | undefined }[] =
      [];
    for (const [name, made] of files) {
      const sha256 = made === undefined ? undefined : await hashFile(made);
      const here = await this.hash(name);
      if (here === sha256 && (here === undefined || this.written(name)?.length === 1)) continue;
      if (here === undefined || here === sha256 || this.isOwn(name, here)) ready.push({ name, made, sha256 });
      else changed.push(name);
    }
    if (ready.length === 0) return changed;
    for (const { name, sha256 } of ready)
      this.#note(name, [...(this.written(name) ?? []), ...(sha256 ? [sha256] : [])]);
    this.save();
    for (const { name, made, sha256 } of ready) {
      await this.#replace(name, made);
      this.#note(name, sha256 === undefined ? undefined : [sha256]);
    }
    return changed;
  }

  async #replace(name: string, made: string | undefined): Promise<void> {
    const target = this.resolve(name);
    if (made === undefined) return fs.rmSync(target, { force: true });
    makeDirectory(path.dirname(target));
    removeOrphanedTemporaries(target);
    await writeWhole(target, true, async (draft) => {
      for await (const piece of (await fileSource(made)).open()) await draft.write(piece);
    });
  }

  #note(name: string, hashes: string[] | undefined): void {
    const { [this.#key(name)]: _, ...others } = this.record.files;
    this.record.files = hashes === undefined ? others : { ...others, [this.#key(name)]: hashes };
  }

  /** Notes the hash of a file that another function is about to write. */
  noteWriting(name: string, sha256: string): void {
    const here = this.written(name)?.at(-1);
    this.#note(name, here === undefined ? [sha256] : [here, sha256]);
    this.save();
  }

  /** Notes that a file may be replaced, whatever it contains. */
  noteReplaceable(name: string): void {
    this.#note(name, []);
  }

  /** Returns the hashes of a file as the refresh wrote it; undefined if it is none of its files. */
  written(name: string): readonly string[] | undefined {
    return this.record.files[this.#key(name)];
  }

  #key(name: string): string {
    return path.relative(this.path, name).replaceAll('\\', '/');
  }

  /** Tells whether a file with this hash is as the refresh wrote it, or may be replaced anyway. */
  isOwn(name: string, sha256: string): boolean {
    const written = this.written(name);
    return written !== undefined && (written.length === 0 || written.includes(sha256));
  }

  /** Checks that some files do not exist, or are those of the refresh. @throws SvcError `config` */
  requireOwn(names: readonly string[]): void {
    for (const name of names)
      if (this.has(name) && this.written(name) === undefined)
        throw new SvcError('config', `${name} exists, and this refresh did not write it`, {
          hint: 'Nothing was changed. Move the file away, or name another directory with --out-dir.',
          facts: { file: name },
        });
  }

  has(name: string): boolean {
    return fs.lstatSync(this.resolve(name), { throwIfNoEntry: false }) !== undefined;
  }

  /** Returns the SHA-256 of a file; undefined if there is none. */
  async hash(name: string): Promise<string | undefined> {
    return this.has(name) ? hashFile(this.resolve(name)) : undefined;
  }

  resolve(name: string): string {
    return resolvePath(this.#context, name);
  }
}

/** Returns the cycles below a directory by name that have begun. Other directories, and records that cannot be read, are left out. */
function cyclesIn(context: Context, parent: string): RefreshDirectory[] {
  const directory = resolvePath(context, parent);
  const entries = fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.toSorted().flatMap((cycle) => {
    const found = new RefreshDirectory(context, parent, cycle);
    try {
      found.read();
      return found.isBegun ? [found] : [];
    } catch (error) {
      if (error instanceof SvcError) return [];
      throw error;
    }
  });
}

/** Returns the names of the cycles below a directory whose files do not have all results yet. */
export function openCyclesIn(context: Context, parent: string): string[] {
  return cyclesIn(context, parent).flatMap(({ record, cycle }) => (record.finished ? [] : [cycle]));
}

/** Returns the cycles below a directory that are not open and were last recorded before a time, in epoch milliseconds. */
export function oldCyclesIn(context: Context, parent: string, before: number): RefreshDirectory[] {
  return cyclesIn(context, parent).filter(({ record, recordedAt }) => recordedAt < before && record.finished === true);
}

function removeEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch {
    // It contains files.
  }
}
