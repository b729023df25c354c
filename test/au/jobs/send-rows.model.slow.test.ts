import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { checkRequestFile } from '../../../src/au/request/check-request-file.ts';
import { sentOf } from '../../../src/au/run/part.ts';
import { pollJobs } from '../../../src/au/run/poll-parts.ts';
import { parseRecord } from '../../../src/au/run/parse-record.ts';
import { hasUnknown, needsFile, plannedParts, recordText, type RunRecord } from '../../../src/au/run/record.ts';
import { retryFailed } from '../../../src/au/send/upload-parts.ts';
import { isSvcError, SvcError } from '../../../src/base/errors.ts';
import { type FilePart, fileSource, type UploadSource } from '../../../src/client/transfer/source.ts';
import type { UploadOptions } from '../../../src/client/transfer/upload.ts';
import { Chance } from '../../support/chance.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeService, type Trouble, TROUBLES } from '../fake-service.ts';
import { MemoryLedger } from '../ledger/memory-ledger.ts';
import type { RecordOnDisk } from '../recorded-run.ts';

const HISTORIES = process.env['SOAK'] ? 50_000 : 2_000;
const HOUR = 3_600_000;

/** A process: its command and its circumstances. */
interface Life {
  readonly command: 'submit' | 'resume';
  /** The number of steps until it is killed. One step is before and one after each request and each save. */
  readonly steps: number;
  /** The tenant of its key. The tenant `new` has no jobs. */
  readonly key: 'ours' | 'theirs' | 'new';
  /** Whether the service denies the jobs whose files it acknowledged. */
  readonly denies: boolean;
  /** The state of the record when the process starts. */
  readonly record: 'whole' | 'empty' | 'null' | 'cut' | 'newer' | 'older' | Restored;
}

/** A record restored from the copy of an earlier save, counted in twentieths of all saves. */
interface Restored {
  readonly restored: number;
}

interface History {
  readonly rows: number;
  readonly rowsInPart: number;
  readonly lives: readonly Life[];
  /** The troubles, each with the number of its request. */
  readonly troubles: readonly (readonly [request: number, trouble: Trouble])[];
  readonly failing: number;
  /** Whether the tenant of the run has another job, which proves the tenant of a key. */
  readonly hasOtherJob: boolean;
  /** The seed of the jitter in pauses. */
  readonly seed: number;
}

class Killed extends Error {}

// Disk and store are in memory, so thousands of histories take seconds. The simulator runs whole commands.
const outside = vi.hoisted(() => ({ put: (_options: unknown): unknown => undefined, file: new Uint8Array() }));
vi.mock('../../../src/client/transfer/upload.ts', () => ({ uploadFile: (options: unknown) => outside.put(options) }));
vi.mock('../../../src/client/transfer/source.ts', () => ({
  fileSource(_path: string, { prefix = new Uint8Array(), start = 0, end, sha256 }: FilePart = {}): UploadSource {
    const bytes = Buffer.concat([prefix, outside.file.subarray(start, end)]);
    return {
      size: bytes.length,
      sha256,
      async *open() {
        yield bytes;
      },
    };
  },
}));

/** A history: a request file, a record, and the processes that work on them one after another. */
class World {
  readonly clock = new FakeClock();
  readonly service = new FakeService(this.clock);
  readonly #ledger = new MemoryLedger(this.clock);
  /** The record on disk. */
  disk: string;
  /** The text of the record after each save. */
  readonly #copies: string[] = [];

  readonly #chance: Chance;

  private constructor(record: RunRecord, seed: number) {
    this.disk = recordText(record);
    this.#chance = new Chance(seed);
  }

  static async begin(history: History, isAlone = false): Promise<World> {
    const { rows, rowsInPart, troubles, failing, hasOtherJob, seed } = history;
    const lines = Array.from({ length: rows }, (_, row) => `token-${row},,,\n`);
    outside.file = Buffer.from(`token,expiration_year,expiration_month,merchant_id\n${lines.join('')}`);
    const check = await checkRequestFile((await fileSource('')).open(), {
      limits: { rows: rowsInPart, bytes: 30_000_000 },
    });
    const { sha256, bytes, headerBytes } = check;
    const record: RunRecord = {
      version: 2,
      id: 'run-20260105-0a1b2c3d-4e5f',
      created_at: '2026-01-05T12:00:00.000Z',
      profile: 'default',
      base_url: 'http://127.0.0.1:9',
      input: { name: 'tokens.csv', path: '/tokens.csv', rows, bytes, sha256, header_bytes: headerBytes },
      parts: plannedParts(check),
      // Whether only this system uses the key. The jobs that existed before are named as jobs of other systems.
      no_unrecorded_jobs: isAlone,
      other_jobs: hasOtherJob ? ['job-1', 'job-2'] : ['job-1'],
    };
    const world = new World(record, seed);
    await world.#seed(hasOtherJob ? ['theirs', 'ours'] : ['theirs']);
    world.service.troubles = new Map(troubles);
    world.service.failing = failing;
    return world;
  }

  /** Creates a job in the lists of these tenants, which proves the tenant of a key. The other tenants have no jobs. */
  async #seed(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants) {
      this.service.tenant = tenant;
      const client = this.service.client(new AbortController().signal, () => undefined);
      const job = await client.accountUpdater.create();
      const url = new URL(job.upload_url ?? '');
      const source = await fileSource('', { end: 0 });
      await this.service.put({ url, source, transport: client.transport, clock: this.clock }, () => undefined);
    }
    this.service.seeded();
    await this.clock.advance(24 * HOUR);
  }

  /** Runs one process to its end or death. */
  async live({ command, steps, key, denies, record: state }: Life): Promise<void> {
    const text = typeof state === 'object' ? this.#copy(state) : recordIn(state, this.disk);
    const record = parseRecord(text, 'run.json');
    // The first job binds the run to its tenant. Until then, the key is ours.
    this.service.tenant = record.tenant_id === undefined ? 'ours' : key;
    this.service.denies = denies;
    const life = new AbortController();
    let left = steps;
    const step = (): void => {
      if ((left -= 1) <= 0) life.abort(new Killed());
      life.signal.throwIfAborted();
    };
    outside.put = (options) => this.service.put(options as UploadOptions, step);
    const client = this.service.client(life.signal, step);
    const save = (): void => {
      step();
      this.disk = recordText(record);
      this.#copies.push(this.disk);
      for (const part of record.parts)
        if (part.job !== undefined && sentOf(part) === 'stored') this.service.acknowledged.add(part.job);
      step();
    };
    const run = { record, path: '/run', name: record.id, submitWords: [], resumeWords: [], save };
    const upload = (): Promise<void> => this.#ledger.upload(client, run, '', { random: () => this.#chance.next() });
    try {
      if (command === 'submit') await retryFailed(client, run);
      if (needsFile(record) || hasUnknown(record)) await upload();
      for (let poll = 0; poll < (command === 'submit' ? 4 : 1); poll += 1) {
        await pollJobs({ client, record, save, random: () => this.#chance.next() });
        if (record.parts.every(({ state }) => state !== 'uploaded')) break;
        await this.clock.sleep(5 * 60_000);
      }
    } finally {
      await client.close();
    }
  }

  #copy({ restored }: Restored): string {
    return this.#copies[Math.floor((this.#copies.length * restored) / 20)] ?? this.disk;
  }

  get record(): RunRecord {
    return parseRecord(this.disk, 'run.json');
  }
}

/** Returns the record after damage, from a later version, or without members that earlier versions did not write. */
function recordIn(state: Exclude<Life['record'], Restored>, text: string): string {
  if (state === 'empty') return '';
  if (state === 'null') return 'null';
  if (state === 'cut') return text.slice(0, text.length / 2);
  const record = JSON.parse(text) as RecordOnDisk;
  if (state === 'newer') return JSON.stringify({ ...record, version: 3 });
  if (state === 'older')
    for (const part of record.parts) {
      if (part.state === 'unknown') continue;
      for (const name of ['sent', 'expires_at', 'missing_since'] as const) delete part[name];
    }
  return JSON.stringify(record);
}

/** Tells whether an error may end a process here without being a bug. */
function isExpected(error: unknown): boolean {
  return error instanceof Killed || (error instanceof SvcError && error.code !== 'bug');
}

const OK: Life = { command: 'submit', steps: Infinity, key: 'ours', denies: false, record: 'whole' };

/**
 * Ends the trouble, and starts processes until the run is completed. An upload may remain in doubt after a fortnight,
 * because the service could have forgotten its job by then.
 */
async function untilDone(world: World): Promise<void> {
  const isLate = [...world.service.troubles.values()].includes('a fortnight passes');
  world.service.troubles.clear();
  for (let round = 0; round < 12; round += 1) {
    try {
      await world.live(OK);
      if (world.record.parts.every(({ state }) => state === 'completed')) return;
    } catch (error) {
      if (!isSvcError(error)) throw error;
    }
    if (isLate && world.record.parts.some(({ unprovable }) => unprovable)) return;
    await world.clock.advance(HOUR);
  }
  throw new Error('the run never came to its end');
}

function checkPaidOnce(world: World): void {
  const { taken, failed } = world.service;
  const paid = taken.filter(({ job }) => !failed.has(job)).map(({ text }) => text);
  expect(new Set(paid).size).toBe(paid.length);
}

const often = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const histories: fc.Arbitrary<History> = fc.record({
  rows: fc.integer({ min: 1, max: 4 }),
  rowsInPart: fc.integer({ min: 1, max: 4 }),
  lives: fc.array(
    fc.record({
      command: fc.constantFrom('submit' as const, 'resume' as const),
      steps: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(Infinity)),
      key: often<Life['key']>('ours', 'theirs', 'new'),
      denies: often(false, true),
      record: often<Life['record']>('whole', 'empty', 'null', 'cut', 'newer', 'older'),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  troubles: fc.array(fc.tuple(fc.integer({ min: 5, max: 60 }), fc.constantFrom(...TROUBLES)), { maxLength: 12 }),
  failing: often(0, 1, 2),
  hasOtherJob: often(true, false),
  seed: fc.nat(),
});

const restores = fc.array(
  fc.option(fc.record({ restored: fc.integer({ min: 0, max: 19 }) }), { nil: undefined, freq: 2 }),
  { maxLength: 6 },
);

/** A history of one row without trouble. */
const PLAIN: History = { rows: 1, rowsInPart: 1, lives: [], troubles: [], failing: 0, hasOtherJob: true, seed: 1 };

/** Returns the same trouble for every request. */
function always(trouble: Trouble): [request: number, trouble: Trouble][] {
  return Array.from({ length: 200 }, (_, index) => [index + 1, trouble]);
}

/** Returns the troubles of a first upload whose bytes end so, after which every read says 404. */
function lostAfter(upload: 'kept reset' | 'lost reset'): Map<number, Trouble> {
  // The first two requests create the job and list the jobs of the tenant.
  return new Map([[3, upload], ...always('404').slice(3)]);
}

/** Returns an upload in doubt, an hour after its address expired. Only `kept reset` left the file in the store. */
async function inDoubt(trouble: 'kept reset' | 'lost reset'): Promise<World> {
  const world = await World.begin({ ...PLAIN, hasOtherJob: false });
  world.service.troubles = lostAfter(trouble);
  await expect(world.live(OK)).rejects.toMatchObject({ code: 'outcome_unknown' });
  world.service.troubles = new Map();
  await world.clock.advance(2 * HOUR);
  return world;
}

describe('an upload in doubt in a tenant without other jobs, with a key that may not read the tenant', () => {
  it('R58: an upload in doubt in a tenant without other jobs, with a key that may not read the tenant comes to its end with resume alone: a new job proves whose the list is, and that it is up to date', async () => {
    const world = await inDoubt('lost reset');
    await world.live({ ...OK, command: 'resume' });
    expect(world.service.jobs.filter(({ tenant }) => tenant === 'ours')).toHaveLength(2);
    await world.clock.advance(HOUR);
    await world.live({ ...OK, command: 'resume' });
    expect(world.service.taken).toHaveLength(1);
    expect(world.record.parts).toMatchObject([{ state: 'completed', earlier_jobs: [{ ended: 'gone' }] }]);
  });

  it('R58: an upload in doubt in a tenant without other jobs, with a key that may not read the tenant is not uploaded again while reads say 404 and the list lags, hides it, or is of another key', async () => {
    for (const trouble of ['404', 'replica', 'stale'] as const) {
      const world = await inDoubt('kept reset');
      world.service.troubles = new Map(always(trouble));
      for (let round = 0; round < 6; round += 1) {
        const key = round % 2 === 0 ? 'new' : 'ours';
        await world.live({ ...OK, command: 'resume', key }).catch((error: unknown) => {
          if (!isExpected(error)) throw error;
        });
        await world.clock.advance(HOUR);
      }
      world.service.troubles = new Map();
      await world.live(OK);
      expect(world.service.taken).toHaveLength(1);
      expect(world.record.parts).toMatchObject([{ state: 'completed', job: world.service.taken[0]?.job }]);
    }
  });
});

describe('a run through kills, false responses, other keys and damaged records', () => {
  it('R58: a run through kills, false responses, other keys and damaged records uploads no part again after false 404s and, hours later, a replica that is hours behind', async () => {
    const world = await World.begin(PLAIN);
    world.service.troubles = lostAfter('kept reset');
    await expect(world.live(OK)).rejects.toMatchObject({ code: 'outcome_unknown' });
    await world.clock.advance(2 * HOUR);
    world.service.troubles = new Map(always('replica'));
    await world.live(OK);
    expect(world.service.taken).toHaveLength(1);
    expect(world.record.parts).toMatchObject([{ state: 'completed', job: world.service.taken[0]?.job }]);
  });

  it('R74: a run through kills, false responses, other keys and damaged records uploads no part again of a restored record whose job another key and then a false 404 made seem gone', async () => {
    const world = await World.begin(PLAIN, true);
    await world.live(OK);
    await world.clock.advance(60_000);
    // The fourth save said that the upload had begun. The key of a tenant without jobs does not see the job.
    await expect(world.live({ ...OK, key: 'new', record: { restored: 3 } })).rejects.toThrow('belongs to tenant ours');
    expect(world.record.parts).toMatchObject([{ state: 'planned', earlier_jobs: [{ ended: 'gone' }] }]);
    world.service.troubles = new Map([[world.service.requests + 1, '404']]);
    await world.live(OK);
    expect(world.service.taken).toHaveLength(1);
    expect(world.record.parts).toMatchObject([{ state: 'completed', job: world.service.taken[0]?.job }]);
  });

  it(`R74: a run through kills, false responses, other keys and damaged records has at most one upload of each part stored in ${HISTORIES / 5} histories with restored copies of its record`, async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(histories, restores, async (history, restored) => {
        number += 1;
        // With an old copy and an outdated replica together, nothing shows that there was an upload.
        const troubles = history.troubles.filter(([, trouble]) => trouble !== 'replica' && trouble !== 'stale');
        const world = await World.begin({ ...history, troubles }, true);
        for (const [index, life] of history.lives.entries()) {
          const state = restored[index] ?? life.record;
          // Restoring a copy takes longer than the store takes to pass a file on.
          if (restored[index]) await world.clock.advance(60_000);
          // If the service denied its jobs in every response, nothing would show an unrecorded job.
          await world.live({ ...life, record: state, denies: false }).catch((error: unknown) => {
            if (!isExpected(error)) throw error;
          });
          checkPaidOnce(world);
        }
        world.service.troubles.clear();
        await world.live(OK).catch((error: unknown) => {
          if (!isExpected(error)) throw error;
        });
        checkPaidOnce(world);
      }),
      { numRuns: HISTORIES / 5 },
    );
    expect(number).toBe(HISTORIES / 5);
  });

  it(`R58 and R36: a run through kills, false responses, other keys and damaged records has at most one upload of each part stored in ${HISTORIES} histories, and comes to its end`, async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        number += 1;
        const world = await World.begin(history, history.seed % 2 === 0);
        for (const life of history.lives) {
          await world.live(life).catch((error: unknown) => {
            if (!isExpected(error)) throw error;
          });
          checkPaidOnce(world);
        }
        await untilDone(world);
        checkPaidOnce(world);
        expect(world.service.jobs.filter(({ tenant }) => tenant === 'theirs')).toHaveLength(1);
      }),
      { numRuns: HISTORIES },
    );
    expect(number).toBe(HISTORIES);
  });
});
