import { isSvcError } from '../../base/errors.ts';
import { damageOf, readLast } from './chain.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { dayIn, dayOf, isHidden, MANIFEST, MISSING, partNumber, recordPath } from './record.ts';
import { filesOf } from './side-files.ts';
import type { ArchiveStore } from './store.ts';

/** Recorded files that are missing from the archive, or not as they were written. */
export interface LostFiles {
  readonly missing: readonly string[];
  /** Paths with a file of another size, or with something that is not a regular file. */
  readonly changed: readonly string[];
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The days searched in a bucket. Listing more would cost every run one request for each thousand files. */
const DAYS_IN_BUCKET = 30;

/**
 * Compares the names and sizes of files with the records, without reading the files. In a bucket only the newest 30 days.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function findLost(store: ArchiveStore): Promise<LostFiles> {
  for (;;) {
    try {
      const manifest = await readManifest(store);
      const lost = await lostOf(store, manifest);
      // Another run may have dropped months or replaced a checkpoint meanwhile.
      const isSettled = lost.missing.length === 0 || (await readLast(store))?.sha256 === manifest.last.sha256;
      if (isSettled) return lost;
    } catch (error) {
      const path = isSvcError(error, 'checksum_mismatch') ? error.facts?.['path'] : undefined;
      if (typeof path !== 'string') throw error;
      return damageOf(error, path) === MISSING ? { missing: [path], changed: [] } : { missing: [], changed: [path] };
    }
  }
}

async function lostOf(store: ArchiveStore, { segments, last }: Manifest): Promise<LostFiles> {
  const end = Date.parse(last.record.position.read_to);
  const firstDay = store.isRemote ? dayOf(end - DAYS_IN_BUCKET * DAY_MS) : '';
  const wanted = segments.filter(({ path }) => dayIn(path) >= firstDay);
  const sizes = new Map<string, number | undefined>(wanted.map(({ path, bytes }) => [path, bytes]));
  const newest = last.record.sequence;
  const oldest = store.isRemote ? Math.min(newest, ...wanted.map(({ path }) => partNumber(path))) : 0;
  for (let sequence = oldest; sequence <= newest; sequence += 1) sizes.set(recordPath(sequence), undefined);
  for (const { path } of filesOf(last.record)) sizes.set(path, undefined);
  const changed: string[] = [];
  for await (const { path, bytes, irregular } of listed(store, [...sizes.keys()], firstDay)) {
    if (!sizes.has(path)) continue;
    const due = sizes.get(path) ?? bytes;
    if (due !== bytes || irregular !== undefined) changed.push(path);
    sizes.delete(path);
  }
  return { missing: [...sizes.keys()], changed };
}

async function* listed(store: ArchiveStore, paths: readonly string[], firstDay: string) {
  const folders = new Set(
    paths.filter((path) => !path.startsWith(MANIFEST)).map((path) => path.split('/', 1).join('')),
  );
  for (const folder of folders) yield* store.list(`${folder}/`, `${folder}/date=${firstDay}`);
  const firstRecord = paths.filter((path) => path.startsWith(MANIFEST)).toSorted()[0] ?? MANIFEST;
  for await (const file of store.list(MANIFEST, firstRecord.slice(0, -1))) if (!isHidden(file.path)) yield file;
}

/** Searches for lost files in follow mode: at most once an hour, reporting only changes. */
export class LostFilesWatch {
  readonly #store: ArchiveStore;
  readonly #onChange: ((lost: LostFiles) => void) | undefined;
  #checkedAt = -Infinity;
  #lost: LostFiles | undefined;

  constructor(store: ArchiveStore, onChange: ((lost: LostFiles) => void) | undefined) {
    this.#store = store;
    this.#onChange = onChange;
  }

  /** The result of the newest search; undefined before the first one. */
  get lost(): LostFiles | undefined {
    return this.#lost;
  }

  /** Searches if the last search is an hour ago. `now` is in epoch milliseconds. */
  async lookIfDue(now: number): Promise<void> {
    if (now - this.#checkedAt < HOUR_MS) return;
    this.#checkedAt = now;
    await this.look();
  }

  async look(): Promise<void> {
    const before = this.#lost ?? { missing: [], changed: [] };
    this.#lost = await findLost(this.#store);
    if (JSON.stringify(this.#lost) !== JSON.stringify(before)) this.#onChange?.(this.#lost);
  }
}
