// The directory of a cycle, and its record: the exports that were read, and the files that the refresh wrote.

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
import { RESULT_STEPS } from '../../cli/config/result-steps.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { tenantText } from '../../cli/app/tenant-mark.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { REFRESH_REQUEST } from '../ledger/cycle-names.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { readEarlierRecord } from './earlier-record.ts';
import { withOption } from './refresh-input.ts';
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
  /** The exports whose rows are in the request, the newest last. Exports with the same columns have the same `form`. */
  exports: z.array(
    z.looseObject({ name: z.string(), sha256: z.string(), options: z.array(z.string()), form: z.optional(z.string()) }),
  ),
  /** The SHA-256 of each file as last written, then as about to be written. Without a hash, any content may be replaced. */
  files: z.record(z.string(), z.array(z.string())),
  /** The number of rows of the newest export that are not in the request, by reason. */
  dropped: z.optional(z.record(z.string(), z.int())),
  /** The SHA-256 of the request whose rows were claimed last. */
  claimed: z.optional(z.string()),
  /** The number of tokens on the list of exclusions, and when they were counted. */
  excluded: z.optional(z.looseObject({ tokens: z.int(), at: z.string() })),
  /** The SHA-256 of the results whose closed accounts were added to the list of exclusions, and the chosen actions. */
  listed: z.optional(
    z.looseObject({ results: z.array(z.string()), actions: z.record(z.string(), z.enum(RESULT_STEPS)) }),
  ),
  /** Set once all files have the results of the request. */
  finished: z.optional(z.literal(true)),
  /** The database for which `update.sql` is written. */
  sql: z.optional(z.enum(SQL_DIALECTS)),
  /** The request files of an earlier build, until they are joined into one. */
  requests: z.optional(z.array(z.looseObject({ request: z.string(), keep: z.string() }))),
});

const tenantSchema = z.looseObject({ version: z.literal(1), tenant: z.string() });

/** The record of a cycle, as `refresh.json` has it. */
export type RefreshRecord = z.infer<typeof recordSchema>;

/** Returns the record of a new cycle. Its members keep their order, so that the file changes only with their values. */
function newRecord(cycle: string): RefreshRecord {
  const later = { dropped: undefined, claimed: undefined, excluded: undefined, listed: undefined };
  return { version: VERSION, cycle, exports: [], files: {}, ...later, finished: undefined, sql: undefined };
}

/** Parses a record; undefined if it is damaged. @throws SvcError `config` for a record of a newer version */
function readRecord(content: unknown, file: string): RefreshRecord | undefined {
  refuseNewer(content, VERSION, file);
  const { data } = recordSchema.safeParse(content);
  const members = data ?? readEarlierRecord(content);
  return members && { ...newRecord(members.cycle), ...members, version: VERSION };
}

/**
 * The directory of one cycle, below the directory of all cycles. Its record has the hash of each file that the refresh wrote, so
 * that a file that somebody changed is not replaced. All names are as the operator may type them.
 */
export class RefreshDirectory {
  readonly cycle: string;
  /** The directory of all cycles. */
  readonly parent: string;
  readonly exclusions: string;
  readonly path: string;
  readonly request: string;
  readonly keep: string;
  readonly results: string;
  readonly report: string;
  readonly next: string;
  /** The rows with an error that an export corrected after they were sent. */
  readonly corrected: string;
  readonly todo: string;
  readonly recordFile: string;
  /** The record. `save` writes changes to its file. */
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
    this.request = path.join(this.path, REFRESH_REQUEST);
    this.keep = keepFileOf(this.request);
    this.results = path.join(this.path, 'results.csv');
    this.report = path.join(this.path, 'report.html');
    this.next = path.join(this.path, 'next.csv');
    this.corrected = path.join(this.path, 'corrected.csv');
    this.todo = path.join(this.path, 'todo');
    this.record = newRecord(cycle);
  }

  /** Whether rows of the cycle's request may have been sent. */
  get isBegun(): boolean {
    return this.record.exports.length > 0;
  }

  /** The file for refused rows of the next export. */
  get rejects(): string {
    const { length } = this.record.exports;
    return path.join(this.path, `rejected${length === 0 ? '' : `-${length + 1}`}.csv`);
  }

  /**
   * Locks the directory, reads the record and runs `work`. A new directory that stays empty is removed again.
   * @throws SvcError `pending` if another process has the lock, `config` for a damaged record
   */
  async hold(work: () => Promise<void>): Promise<void> {
    const directory = this.resolve(this.path);
    const newDirectories = [directory, path.dirname(directory)].filter((each) => !fs.existsSync(each));
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
        // Restarting the machine does not end the lock: of two writers, one would lose what the other records.
        { waitMs: 0, what: `the refresh of cycle ${this.cycle} in ${this.path}`, advice: UNLOCKING },
      );
    } finally {
      for (const each of newDirectories) removeEmpty(each);
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

  /** Writes and flushes the record if it changed. */
  save(): void {
    const text = `${JSON.stringify(this.record, null, 2)}\n`;
    if (text === this.#saved) return;
    writeFileAtomicSync(this.resolve(this.recordFile), text);
    this.#saved = text;
  }

  /** The tenant of all cycles in the parent directory; undefined before the first submission. @throws SvcError `config` */
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

  /** Records the tenant of all cycles in the parent directory, once. */
  noteTenant(tenant: string | undefined): void {
    if (tenant === undefined || this.tenant !== undefined) return;
    const text = `${JSON.stringify({ version: 1, tenant }, null, 2)}\n`;
    writeFileAtomicSync(this.resolve(this.#tenantFile), text);
  }

  /**
   * Checks that the parent directory belongs to the key's tenant. The list of exclusions of another tenant would leave out the
   * wrong cards, and would get this tenant's cards.
   * @throws SvcError `config`
   */
  requireTenant(tenant: string, again: readonly string[]): void {
    const ownTenant = this.tenant;
    if (ownTenant === undefined || ownTenant === tenant) return;
    const own = `${path.basename(this.resolve(this.parent))}-${tenant.slice(0, 8)}`;
    const elsewhere = withOption(again, '--out-dir', path.join(this.parent, '..', own));
    const here = tenantText(this.#context, tenant);
    const isSandbox = serviceOf(this.#context) === 'sandbox';
    throw new SvcError(
      'config',
      `${this.parent} has the cycles of tenant ${ownTenant}, and this key belongs to ${here}`,
      {
        ...(isSandbox
          ? {
              hint: 'Nothing was submitted. A reset gives the sandbox a new tenant: use another directory.',
              next: elsewhere,
            }
          : { hint: OTHER_TENANT, next: ['profile', 'list'], alternatives: [elsewhere] }),
        facts: { file: this.#tenantFile, tenant: ownTenant },
      },
    );
  }

  /** Returns the readable records of all cycles: this cycle first, then the others from the newest on. */
  recordsOfCycles(): readonly RefreshRecord[] {
    const others = cyclesIn(this.#context, this.parent).filter(({ cycle }) => cycle !== this.cycle);
    const newest = others.toSorted((a, b) => b.recordedAt - a.recordedAt);
    return [this.record, ...newest.map(({ record }) => record)];
  }

  /** The time of the last write of the record, in epoch milliseconds. */
  get recordedAt(): number {
    return fs.statSync(this.resolve(this.recordFile)).mtimeMs;
  }

  /**
   * Copies private files to their names in the directory, and removes files for which there is no private file. Leaves files
   * that somebody else wrote or changed, and returns their names. Before writing, the record gets the new hashes, so that after
   * a crash the refresh still knows its own files. The caller saves the record afterwards.
   */
  async put(files: readonly (readonly [name: string, source: string | undefined])[]): Promise<string[]> {
    const changed: string[] = [];
    const ready: { readonly name: string; readonly source: string | undefined; readonly sha256: string | undefined }[] =
      [];
    for (const [name, source] of files) {
      const sha256 = source === undefined ? undefined : await hashFile(source);
      const here = await this.hash(name);
      if (here === sha256 && (here === undefined || this.written(name)?.length === 1)) continue;
      if (here === undefined || here === sha256 || this.isOwn(name, here)) ready.push({ name, source, sha256 });
      else changed.push(name);
    }
    if (ready.length === 0) return changed;
    for (const { name, sha256 } of ready)
      this.#note(name, [...(this.written(name) ?? []), ...(sha256 ? [sha256] : [])]);
    this.save();
    for (const { name, source, sha256 } of ready) {
      await this.#replace(name, source);
      this.#note(name, sha256 === undefined ? undefined : [sha256]);
    }
    return changed;
  }

  async #replace(name: string, source: string | undefined): Promise<void> {
    const target = this.resolve(name);
    if (source === undefined) return fs.rmSync(target, { force: true });
    makeDirectory(path.dirname(target));
    removeOrphanedTemporaries(target);
    await writeWhole(target, true, async (draft) => {
      for await (const piece of (await fileSource(source)).open()) await draft.write(piece);
    });
  }

  #note(name: string, hashes: string[] | undefined): void {
    const { [this.#key(name)]: _, ...others } = this.record.files;
    this.record.files = hashes === undefined ? others : { ...others, [this.#key(name)]: hashes };
  }

  /** Records that a file may be replaced even if somebody changed it. */
  noteReplaceable(name: string): void {
    this.#note(name, []);
  }

  /** Returns the recorded hashes of a file; undefined for a file that the refresh did not write. */
  written(name: string): readonly string[] | undefined {
    return this.record.files[this.#key(name)];
  }

  #key(name: string): string {
    return path.relative(this.path, name).replaceAll('\\', '/');
  }

  /** Tells whether a file with this hash may be replaced. */
  isOwn(name: string, sha256: string): boolean {
    const written = this.written(name);
    return written !== undefined && (written.length === 0 || written.includes(sha256));
  }

  /** Tells whether a file is there as the refresh wrote it. */
  async isUnchanged(name: string): Promise<boolean> {
    const here = await this.hash(name);
    return here !== undefined && this.isOwn(name, here);
  }

  /** Checks that each file is missing or was written by the refresh. @throws SvcError `config` */
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

  /** Returns the SHA-256 of a file; undefined if it does not exist. */
  async hash(name: string): Promise<string | undefined> {
    return this.has(name) ? hashFile(this.resolve(name)) : undefined;
  }

  resolve(name: string): string {
    return resolvePath(this.#context, name);
  }
}

/** Returns the begun cycles below a directory, by name. Directories without a readable record are left out. */
function cyclesIn(context: Context, parent: string): RefreshDirectory[] {
  const parentPath = resolvePath(context, parent);
  const names = fs.existsSync(parentPath) ? fs.readdirSync(parentPath) : [];
  return names.toSorted().flatMap((cycle) => {
    const directory = new RefreshDirectory(context, parent, cycle);
    try {
      directory.read();
      return directory.isBegun ? [directory] : [];
    } catch (error) {
      if (error instanceof SvcError) return [];
      throw error;
    }
  });
}

/** Returns the names of the unfinished cycles below a directory. */
export function openCyclesIn(context: Context, parent: string): string[] {
  return cyclesIn(context, parent).flatMap(({ record, cycle }) => (record.finished ? [] : [cycle]));
}

/** Returns the finished cycles below a directory whose records are older than a time, in epoch milliseconds. */
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
