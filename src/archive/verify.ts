import { checkChain, type Seen } from './check-chain.ts';
import { checkSegment, type Listed } from './check-segment.ts';
import { Coverage } from './coverage.ts';
import type { Finding } from './finding.ts';
import { noArchive } from './no-archive.ts';
import { type BeginRecord, parseRecord, recordPath } from './record.ts';
import { sideBySide } from './side-by-side.ts';
import type { ArchiveStore } from './store.ts';

/** How to verify. */
export interface VerifyOptions {
  /** Hash of a record that the chain must hold, as an earlier run printed it. */
  readonly expect?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes of how many are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** What an archive holds, as far as it can be read. */
export interface Verified {
  readonly begin: BeginRecord | undefined;
  /** SHA-256 of the newest record; it stands for all that was written. */
  readonly sha256: string | undefined;
  readonly records: number;
  readonly segments: number;
  readonly entries: number;
  readonly bytes: number;
  readonly coverage: Coverage;
}

const SIDE_BY_SIDE = 2;
const SEGMENTS = 'tenant=';

/** Looks at every byte of an archive: gives all that was changed, removed, reordered, cut or added. */
export class Verification {
  readonly #store: ArchiveStore;
  readonly #options: VerifyOptions;
  readonly #coverage = new Coverage();
  /** Files that no record has listed so far, with their bytes. */
  readonly #unlisted = new Map<string, number>();
  readonly #total = { records: 0, segments: 0, entries: 0, bytes: 0 };
  #begin: BeginRecord | undefined;
  #newest: Seen | undefined;
  #met: boolean;
  /** Findings of the chain, told between those of segments. */
  #pending: Finding[] = [];

  constructor(store: ArchiveStore, options: VerifyOptions = {}) {
    this.#store = store;
    this.#options = options;
    this.#met = options.expect === undefined;
  }

  /** What was found in all; complete once the findings have been read. */
  result(): Verified {
    const { records, segments, entries, bytes } = this.#total;
    return {
      begin: this.#begin,
      sha256: this.#newest?.sha256,
      records,
      segments,
      entries,
      bytes,
      coverage: this.#coverage,
    };
  }

  /** All that is wrong, some at a time. @throws SvcError `not_found` where there is no archive at all, `local` */
  async *findings(): AsyncGenerator<readonly Finding[]> {
    let total = 0;
    for await (const { path, bytes } of this.#store.list(SEGMENTS)) {
      this.#unlisted.set(path, bytes);
      total += bytes;
    }
    let done = 0;
    const options = {
      signal: this.#options.signal,
      onBytes: (bytes: number) => this.#options.onProgress?.((done += bytes), total),
    };
    const checks = sideBySide(this.#listed(), SIDE_BY_SIDE, (listed) =>
      checkSegment(this.#store, listed, options),
    );
    for await (const found of checks) yield [...this.#take(), ...found];
    const left = [...this.#take(), ...(await this.#leftOver())];
    if (this.#newest === undefined && left.length === 0) throw await noArchive(this.#store);
    yield left;
    if (!this.#met) yield [this.#rewritten()];
  }

  /** The segments of all records; what is wrong with the records waits to be taken. */
  async *#listed(): AsyncGenerator<Listed> {
    const chain = checkChain(this.#store);
    for (let step = await chain.next(); ; step = await chain.next()) {
      if (step.done === true) {
        this.#newest = step.value;
        return;
      }
      if ('finding' in step.value) {
        this.#pending.push(step.value.finding);
        continue;
      }
      const { record, sha256 } = step.value.link;
      this.#total.records += 1;
      this.#met ||= sha256 === this.#options.expect;
      this.#coverage.add(record);
      if (record.kind === 'begin') this.#begin = record;
      if (record.kind !== 'segments') continue;
      for (const segment of record.segments) {
        this.#total.segments += 1;
        this.#total.entries += segment.entries;
        this.#total.bytes += segment.bytes;
        if (
          this.#begin &&
          !segment.path.startsWith(`${SEGMENTS}${encodeURIComponent(this.#begin.tenant_id)}/`)
        )
          this.#pending.push({ problem: 'unfit', path: segment.path, message: 'it is of another tenant' });
        yield { segment, sequence: record.sequence, bytes: await this.#bytesOf(segment.path) };
      }
    }
  }

  // A file that was not there at first may have been written since.
  async #bytesOf(path: string): Promise<number | undefined> {
    let bytes = this.#unlisted.get(path);
    this.#unlisted.delete(path);
    if (bytes === undefined) for await (const file of this.#store.list(path)) bytes = file.bytes;
    return bytes;
  }

  #take(): Finding[] {
    const taken = this.#pending;
    this.#pending = [];
    return taken;
  }

  /** Files that no record lists, now that a run under way may have committed its record. */
  async #leftOver(): Promise<Finding[]> {
    const newest = this.#newest?.sequence ?? -1;
    for (let sequence = newest + 1; this.#unlisted.size > 0; sequence += 1) {
      const text = await this.#store.readText(recordPath(sequence));
      if (text === undefined) break;
      const { record } = parseRecord(text, recordPath(sequence));
      if (record.kind === 'segments') for (const { path } of record.segments) this.#unlisted.delete(path);
    }
    return [...this.#unlisted.keys()].map((path) => {
      const sequence = Number(/\/part-(\d+)-/.exec(path)?.[1] ?? Number.NaN);
      const words = "no record lists it: a run left it that was ended; 'svc logs archive' takes it away";
      return { problem: 'unlisted', path, message: sequence > newest ? words : 'no record lists it' };
    });
  }

  #rewritten(): Finding {
    return {
      problem: 'rewritten',
      path: this.#store.name,
      message: `no record has the hash ${this.#options.expect ?? ''}: the archive is another one, or was written anew`,
    };
  }
}
