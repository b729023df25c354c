import * as fc from 'fast-check';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { abandon } from '../../../src/au/commands/abandon.ts';
import { resume } from '../../../src/au/commands/resume.ts';
import { submit } from '../../../src/au/commands/submit.ts';
import type { JobFiles } from '../../../src/au/job/job-files.ts';
import type { RowClaims } from '../../../src/au/jobs/row-claims.ts';
import type { CommandLedger } from '../../../src/au/ledger/command-ledger.ts';
import { isSvcError, SvcError } from '../../../src/base/errors.ts';
import type { Context } from '../../../src/cli/app/command.ts';
import type { ObjectStore } from '../../../src/client/store/store.ts';
import type { DownloadOptions } from '../../../src/client/transfer/download.ts';
import type { UploadOptions } from '../../../src/client/transfer/upload.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { FakeClock } from '../../support/clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { FakeService, type Trouble, TROUBLES } from '../fake-service.ts';
import { HEADER } from '../rows.ts';

const HISTORIES = IS_SOAK ? 30_000 : 45;
const HOUR = 3_600_000;
const CYCLE = '2026-12';
const ENDLESS = Number.MAX_SAFE_INTEGER;

/** The rows that the files of a history have some of. Two tokens have rows for two merchants. */
const ROWS = ['token-0,,,', 'token-1,,,', 'token-2,,,', 'token-3,,,', 'token-0,,,M1', 'token-1,,,M1'];

/** A process: its command and its circumstances. */
interface Life {
  readonly command: 'submit' | 'submit --wait' | 'resume' | 'abandon';
  /** The number of the file that it submits. */
  readonly file: number;
  /** The number of steps until it is killed. A step is before and after each request and each write of a file or an entry. */
  readonly steps: number;
  /** The tenant of its key. The tenant `new` has no jobs. */
  readonly key: 'ours' | 'theirs' | 'new';
  /**
   * Whether the service denies jobs, in reads and lists alike: those whose files the store confirmed to this machine, and while the
   * operator abandons a job all of the history.
   */
  readonly denies: boolean;
  /** The job that the operator abandons. */
  readonly job?: string;
  /** The files of jobs when the process starts: as they are, removed, or as they were at an earlier write. */
  readonly jobFiles: 'kept' | 'removed' | Restored;
  /** The ledger when the process starts, if it was restored from a copy. */
  readonly ledger?: Restored | undefined;
}

/** Restored from the copy of an earlier write, counted in twentieths of all writes. */
interface Restored {
  readonly restored: number;
}

interface History {
  /** The rows of each file, by their numbers. */
  readonly files: readonly (readonly number[])[];
  readonly rowsInJob: number;
  readonly lives: readonly Life[];
  /** The troubles, each with the number of its request. */
  readonly troubles: readonly (readonly [request: number, trouble: Trouble])[];
  readonly failing: number;
  /** Whether the tenant has another job, which proves the tenant of a key. */
  readonly hasOtherJob: boolean;
}

class Killed extends Error {}

type Step = () => void;

const LATE_CLAIM = 'rows are claimed after their upload';
const FILES_DECIDE = 'files of jobs say what is paid for';
const ABSENT_IS_GONE = 'a job that is not found an hour after its end frees its rows';
const STORE_IS_DOUBTED = 'the word of the store that it has a file does not count';

// The ledger, the store and the service are in memory, and files are not flushed, so that hundreds of histories take a minute.
// The simulator runs whole processes.
const outside = vi.hoisted(() => ({
  rowsInJob: 1,
  step: (): void => undefined,
  wrote: (): void => undefined,
  objects: (): unknown => undefined,
  put: (_options: unknown): unknown => undefined,
  get: (_options: unknown): unknown => undefined,
  /** The mistake that is planted into the real code. */
  mistake: '',
  /** Claims that a planted mistake makes after their upload. */
  late: [] as (() => Promise<void>)[],
}));
vi.mock('../../../src/client/transfer/upload.ts', () => ({ uploadFile: (options: unknown) => outside.put(options) }));
vi.mock('../../../src/client/transfer/download.ts', async (original) => ({
  ...(await original<object>()),
  downloadFile: (options: unknown) => outside.get(options),
}));
vi.mock('../../../src/au/job/show-progress.ts', () => ({ showJobs: () => () => undefined }));
vi.mock('../../../src/au/ledger/proof-of-absence.ts', async (original) => {
  const actual = await original<{ proofOfAbsence: (...given: unknown[]) => Promise<unknown> }>();
  const proofOfAbsence = async (...given: unknown[]): Promise<unknown> =>
    outside.mistake === ABSENT_IS_GONE ? 'made up' : actual.proofOfAbsence(...given);
  return { ...actual, proofOfAbsence };
});
vi.mock('../../../src/au/jobs/row-claims.ts', async (original) => {
  const actual = await original<{ readonly RowClaims: typeof RowClaims }>();
  return {
    ...actual,
    RowClaims: class extends actual.RowClaims {
      readonly #of: CommandLedger;

      constructor(ledger: CommandLedger) {
        super(ledger);
        this.#of = ledger;
      }

      override async claim(...rows: Parameters<RowClaims['claim']>): Promise<boolean> {
        if (outside.mistake !== LATE_CLAIM) return super.claim(...rows);
        outside.late.push(async () => void (await super.claim(...rows)));
        return true;
      }

      override async compare(...[context, client, how]: Parameters<RowClaims['compare']>) {
        const has = (job: string): boolean => !this.#of.jobFiles(job).mayBeSent;
        const ended = outside.mistake === FILES_DECIDE ? ({ has } as ReadonlySet<string>) : undefined;
        return super.compare(context, client, ended ? { ...how, jobsWithoutFile: ended } : how);
      }
    },
  };
});
vi.mock('../../../src/cli/app/print.ts', () => ({
  recordPrinter: async () => async () => undefined,
  isDrawn: () => false,
}));
vi.mock('../../../src/au/ledger/place.ts', async (original) => ({
  ...(await original<object>()),
  openOwnLedgers: async () => outside.objects(),
}));
vi.mock('../../../src/au/request/request-file.ts', async (original) => ({
  ...(await original<object>()),
  REQUEST_LIMITS: {
    bytes: 30_000_000,
    get rows() {
      return outside.rowsInJob;
    },
  },
}));
vi.mock('../../../src/base/files/draft.ts', async (original) => {
  const drafts = {
    writeFileAtomicSync(file: string, data: string | Uint8Array): void {
      outside.step();
      writeFileSync(`${file}.draft`, data);
      renameSync(`${file}.draft`, file);
      outside.wrote();
      outside.step();
    },
    async writeWhole(file: string, _force: boolean, fill: (draft: object) => Promise<void>): Promise<void> {
      const pieces: Uint8Array[] = [];
      await fill({ write: async (piece: string | Uint8Array) => void pieces.push(Buffer.from(piece as string)) });
      drafts.writeFileAtomicSync(file, Buffer.concat(pieces));
    },
  };
  return { ...(await original<object>()), ...drafts };
});
vi.mock('../../../src/au/job/job-files.ts', async (original) => {
  const actual = await original<{ readonly JobFiles: typeof JobFiles }>();
  return {
    ...actual,
    JobFiles: class extends actual.JobFiles {
      // The lock of a killed process is taken over, so that it stops nobody.
      override async hold<T>(_host: unknown, work: () => Promise<T>): Promise<T> {
        this.make();
        return work();
      }

      override get sent() {
        const sent = super.sent;
        return outside.mistake === STORE_IS_DOUBTED && sent === 'stored' ? 'all' : sent;
      }

      override remove(): void {
        outside.step();
        super.remove();
        outside.wrote();
        outside.step();
      }
    },
  };
});

/** The ledger as one process sees it. */
class Store implements ObjectStore {
  readonly name = 'memory';
  readonly #objects: MemoryObjects;
  readonly #step: Step;
  readonly #created: Step;

  constructor(objects: MemoryObjects, step: Step, created: Step) {
    this.#objects = objects;
    this.#step = step;
    this.#created = created;
  }

  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    this.#step();
    const made = await this.#objects.create(name, bytes);
    this.#created();
    return made;
  }

  read(name: string, most: number): Promise<Uint8Array | undefined> {
    return this.#objects.read(name, most);
  }

  list(prefix: string): ReturnType<ObjectStore['list']> {
    return this.#objects.list(prefix);
  }
}

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

type Copy = ReadonlyMap<string, Uint8Array>;

/** A history: files of one cycle, and the processes that submit them one after another. */
class World {
  readonly clock = new FakeClock();
  readonly service = new FakeService(this.clock);
  readonly ledger = new MemoryObjects();
  readonly #files: readonly (readonly number[])[];
  readonly #home: string;
  readonly #restores: boolean;
  readonly lives: readonly Life[];
  /** The files of jobs after each write. */
  readonly #copies: Copy[] = [];
  /** The ledger after each entry. */
  readonly #ledgers: Copy[] = [];
  #out = 0;

  private constructor({ files, lives }: History) {
    this.#files = files;
    this.lives = lives;
    this.#restores = lives.some(({ ledger }) => ledger !== undefined);
    this.#home = mkdtempSync(join(tmpdir(), 'svc-model-'));
    homes.push(this.#home);
  }

  static async begin(history: History): Promise<World> {
    const { files, rowsInJob, troubles, failing, hasOtherJob } = history;
    const world = new World(history);
    outside.rowsInJob = rowsInJob;
    for (const [number, rows] of files.entries()) {
      const lines = rows.map((row) => `${dated(ROWS[row] ?? '', number)}\n`);
      writeFileSync(world.#path(`${number}.csv`), `${HEADER}\n${lines.join('')}`);
    }
    await world.#seed(hasOtherJob ? ['theirs', 'ours'] : ['theirs']);
    world.service.troubles = new Map(troubles);
    world.service.failing = failing;
    return world;
  }

  #path(name: string): string {
    return join(this.#home, name);
  }

  get #jobs(): string {
    return this.#path('state/jobs');
  }

  /** Creates a job in the lists of these tenants, which proves the tenant of a key. The other tenants have no jobs. */
  async #seed(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants) {
      this.service.tenant = tenant;
      const client = this.service.client(new AbortController().signal, () => undefined);
      const job = await client.accountUpdater.create();
      const found = this.service.jobs.find(({ id }) => id === job.id);
      if (found) found.stored = { text: '', at: this.clock.now() };
      await client.close();
    }
    this.service.seeded();
    await this.clock.advance(24 * HOUR);
  }

  /** Runs one process to its end or death. Throws its error. */
  async live({ command, file, steps, key, denies, job = '', jobFiles, ledger }: Life): Promise<void> {
    if (jobFiles === 'removed') this.#put(new Map());
    else if (jobFiles !== 'kept') this.#put(this.#copy(jobFiles));
    if (ledger !== undefined) await this.#restore(ledger);
    this.service.tenant = key;
    this.service.denied = new Set(!denies ? [] : command === 'abandon' ? this.service.created : this.#confirmed());
    const life = new AbortController();
    let left = steps;
    const step = (): void => {
      if ((left -= 1) <= 0) life.abort(new Killed());
      life.signal.throwIfAborted();
    };
    outside.step = step;
    outside.wrote = () => this.#noteWrite();
    const created = (): void => {
      step();
      this.#ledgers.push(new Map(this.ledger.objects));
    };
    outside.objects = () => new Store(this.ledger, step, created);
    outside.put = async (options) => {
      const result = await this.service.put(options as UploadOptions, step);
      for (const claim of outside.late.splice(0)) await claim();
      return result;
    };
    outside.get = (options) => this.service.get(options as DownloadOptions, step);
    const client = this.service.client(life.signal, step);
    const closing: (() => Promise<void> | void)[] = [];
    const context = this.#context(life.signal, () => client, closing);
    const typed = this.#path(`${file % this.#files.length}.csv`);
    // Whether a result file may be replaced is no matter of this model.
    const out = this.#path(`${(this.#out += 1)}.results.csv`);
    // Whoever restores a ledger says that no other system uses the key, and does not begin another ledger.
    const alone = this.#restores ? { onlyRecorded: true, newLedger: this.#ledgers.length === 0 } : {};
    const input = { file: typed, of: CYCLE, out, cycle: CYCLE, ...OPTIONS, ...alone };
    try {
      if (command === 'abandon') await abandon.run(context, { job });
      else if (command === 'resume') await resume.run(context, input);
      else if (command === 'submit') await submit.run(context, { ...input, out: undefined, wait: false });
      else {
        await submit.run(context, { ...input, wait: true });
        checkTokens(readFileSync(out, 'utf8'), this.#tokensOf(file));
      }
    } finally {
      for (const close of closing.toReversed()) await close();
      await client.close();
    }
  }

  /** What a command needs that runs outside a terminal. */
  #context(signal: AbortSignal, client: () => unknown, closing: (() => Promise<void> | void)[]): Context {
    const quiet = {
      note: ignore,
      warn: ignore,
      success: ignore,
      command: ignore,
      commands: ignore,
      shows: () => false,
    };
    const baseUrl = new URL('http://127.0.0.1:9');
    const { clock } = this;
    const env = { SVC_STATE_DIR: this.#path('state'), SVC_CACHE_DIR: this.#path('cache') };
    const system = { env, home: this.#home, platform: 'linux', cwd: this.#home, pid: process.pid, isAlive: () => true };
    const origin = { kind: 'default' };
    return {
      clock,
      signal,
      notices: quiet,
      progress: { waiting: () => ({ update: ignore, done: ignore }), watching: ignore },
      globals: {},
      trace: {},
      query: undefined,
      isRehearsal: false,
      system: { ...system, clock, signal, stdin: {}, account: () => ({ name: 'model' }) },
      settings: {
        profile: { value: 'default', origin },
        baseUrl: { value: baseUrl, origin },
        ledger: { value: undefined, origin },
        output: { value: 'json', origin },
        sandbox: false,
        requireBaseUrl: () => baseUrl,
      },
      out: { isTerminal: false, width: 80, write: async () => undefined, redact: (text: string) => text },
      prompts: () => ({ canAsk: false, confirm: async () => undefined, confirmIfPossible: async () => undefined }),
      reportTenant: async () => undefined,
      addSecret: ignore,
      client: async () => client(),
      key: async () => ({ value: this.service.tenant }),
      onClose: (close: () => Promise<void> | void) => void closing.push(close),
    } as unknown as Context;
  }

  /** The jobs whose files the store confirmed, as the files of jobs say. */
  #confirmed(): string[] {
    const jobs = existsSync(this.#jobs) ? readdirSync(this.#jobs) : [];
    const sent = (job: string): string => join(this.#jobs, job, 'sent');
    return jobs.filter((job) => existsSync(sent(job)) && readFileSync(sent(job), 'utf8').startsWith('stored'));
  }

  #noteWrite(): void {
    const copy = new Map<string, Uint8Array>();
    for (const job of existsSync(this.#jobs) ? readdirSync(this.#jobs) : [])
      for (const name of readdirSync(join(this.#jobs, job)))
        copy.set(join(job, name), readFileSync(join(this.#jobs, job, name)));
    this.#copies.push(copy);
  }

  #copy({ restored }: Restored): Copy {
    return this.#copies[Math.floor((this.#copies.length * restored) / 20)] ?? new Map();
  }

  /** Restores the ledger, which takes longer than the store takes to pass a file on. */
  async #restore({ restored }: Restored): Promise<void> {
    const copy = this.#ledgers[Math.floor((this.#ledgers.length * restored) / 20)];
    if (copy === undefined) return;
    this.ledger.objects.clear();
    for (const [name, bytes] of copy) this.ledger.objects.set(name, bytes);
    await this.clock.advance(60_000);
  }

  #put(copy: Copy): void {
    rmSync(this.#jobs, { recursive: true, force: true });
    for (const [name, bytes] of copy) {
      mkdirSync(join(this.#jobs, dirname(name)), { recursive: true });
      writeFileSync(join(this.#jobs, name), bytes);
    }
  }

  /** The tokens of a file. */
  #tokensOf(file: number): string[] {
    return this.#files[file % this.#files.length]?.map((row) => (ROWS[row] ?? '').split(',')[0] ?? '') ?? [];
  }

  /** The rows that the jobs of each tenant were paid for, without their dates. */
  get paid(): string[] {
    const { taken, failed, jobs } = this.service;
    return taken
      .filter(({ job }) => !failed.has(job))
      .flatMap(({ job, text }) => {
        const tenant = jobs.find(({ id }) => id === job)?.tenant;
        return text
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((line) => `${tenant} ${dated(line, 0)}`);
      });
  }

  /** The rows of all files. */
  get rows(): string[] {
    return [...new Set(this.#files.flat())].map((row) => `ours ${ROWS[row]}`);
  }

  get files(): number {
    return this.#files.length;
  }
}

/** Checks that the results of a file that was submitted with success have a line for each of its rows. */
function checkTokens(results: string, tokens: readonly string[]): void {
  const lines = results.trimEnd().split('\n').slice(1);
  expect(lines.map((line) => line.split(',')[0])).toEqual(tokens);
}

function checkPaidOnce({ paid }: World): void {
  expect(paid).toEqual([...new Set(paid)]);
}

const OPTIONS = {
  wait: false,
  force: false,
  dryRun: false,
  accept: [],
  payAgain: true,
  newLedger: true,
  onlyRecorded: false,
  failOn: undefined,
};

function ignore(): void {
  // Nobody reads what is said.
}

/** Returns a row as the file of this number has it: files differ in the dates of a row, which do not make it another one. */
function dated(row: string, file: number): string {
  const [token, , , merchant] = row.split(',');
  return [token, ...(file === 1 ? ['29', '11'] : ['', '']), merchant].join(',');
}

/** Tells whether an error may end a process here without being a bug. */
function isExpected(error: unknown): boolean {
  return error instanceof Killed || (error instanceof SvcError && error.code !== 'bug');
}

const OK: Life = { command: 'submit --wait', file: 0, steps: ENDLESS, key: 'ours', denies: false, jobFiles: 'kept' };

/** Runs a process, which may end with any error that an operator may get. Returns this error. */
async function livesThrough(world: World, life: Life): Promise<SvcError | undefined> {
  try {
    await world.live(life);
    return undefined;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return isSvcError(error) ? error : undefined;
  } finally {
    checkPaidOnce(world);
  }
}

/**
 * Ends the trouble, and submits each file until its results are there. An upload may remain in doubt after a fortnight, because the
 * service could have forgotten its job by then: the operator abandons it.
 */
async function untilDone(world: World): Promise<void> {
  world.service.troubles.clear();
  for (let file = 0; file < world.files; file += 1) {
    let error: SvcError | undefined;
    for (let round = 0; round < 12; round += 1) {
      error = await livesThrough(world, { ...OK, file });
      if (error === undefined) break;
      const [job] = (isSvcError(error, 'outcome_unknown') && (error.facts?.['jobs'] as string[] | undefined)) || [];
      if (job !== undefined) await livesThrough(world, { ...OK, command: 'abandon', job });
      await world.clock.advance(HOUR);
    }
    if (error) throw error;
  }
  expect(world.paid.filter((row) => row.startsWith('ours')).toSorted()).toEqual(world.rows.toSorted());
}

async function liveAll(history: History): Promise<void> {
  const world = await World.begin(history);
  for (const life of world.lives) await livesThrough(world, life);
  await untilDone(world);
}

const often = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const histories: fc.Arbitrary<History> = fc.record({
  files: fc.array(fc.shuffledSubarray([...ROWS.keys()], { minLength: 1 }), { minLength: 1, maxLength: 3 }),
  rowsInJob: fc.integer({ min: 1, max: 4 }),
  lives: fc.array(
    fc.record({
      command: fc.constantFrom<Life['command']>('submit', 'submit --wait', 'resume'),
      file: fc.nat(2),
      steps: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(ENDLESS)),
      key: often<Life['key']>('ours', 'theirs', 'new'),
      denies: often(false, true),
      jobFiles: fc.oneof(
        { weight: 3, arbitrary: fc.constant<Life['jobFiles']>('kept') },
        { weight: 1, arbitrary: fc.constant<Life['jobFiles']>('removed') },
        { weight: 1, arbitrary: fc.record({ restored: fc.integer({ min: 0, max: 19 }) }) },
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  troubles: fc.array(fc.tuple(fc.integer({ min: 3, max: 60 }), fc.constantFrom(...TROUBLES)), { maxLength: 12 }),
  failing: often(0, 1, 2),
  hasOtherJob: often(true, false),
});

it(`R58, R79 and R92: each row of files that share a cycle is paid for once and its result delivered through ${HISTORIES} histories of kills, false responses, other keys and lost files of jobs`, async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      number += 1;
      await liveAll(history);
    }),
    { numRuns: HISTORIES },
  );
  expect(number).toBe(HISTORIES);
});
it(`R92: each row is paid for once through ${HISTORIES / 3} histories in which the operator abandons every job while the service denies it`, async () => {
  const kills = fc.array(fc.oneof(fc.constant(ENDLESS), fc.integer({ min: 1, max: 20 })), {
    minLength: 1,
    maxLength: 5,
  });
  let freed = 0;
  await fc.assert(
    fc.asyncProperty(histories, kills, async (history, steps) => {
      const world = await World.begin(history);
      const before = Math.ceil(world.lives.length / 2);
      for (const life of world.lives.slice(0, before)) await livesThrough(world, life);
      world.service.troubles.clear();
      await world.clock.advance(14 * 24 * HOUR);
      for (const [at, job] of world.service.created.entries()) {
        const life = {
          ...OK,
          command: 'abandon' as const,
          job,
          denies: true,
          steps: steps[at % steps.length] ?? ENDLESS,
        };
        freed += (await livesThrough(world, life)) === undefined ? 1 : 0;
      }
      for (const life of world.lives.slice(before)) await livesThrough(world, { ...life, denies: false });
      await untilDone(world);
    }),
    { numRuns: HISTORIES / 3 },
  );
  expect(freed).toBeGreaterThan(0);
});

/** Returns a history before some of whose processes the ledger is restored. */
function restoring(history: History, ledgers: readonly (Restored | undefined)[]): History {
  // With an old copy and an outdated list together, nothing shows that there was an upload.
  const troubles = history.troubles.filter(([, trouble]) => !UNSHOWN.has(trouble));
  const lives = history.lives.map((life, at): Life => Object.assign({}, life, { denies: false, ledger: ledgers[at] }));
  return { ...history, troubles, lives };
}

const UNSHOWN: ReadonlySet<Trouble> = new Set(['replica', 'stale', 'a fortnight passes']);

const restores = fc.array(fc.option(fc.record({ restored: fc.integer({ min: 0, max: 19 }) }), { nil: undefined }), {
  minLength: 6,
  maxLength: 6,
});

it(`R74: no row is paid for twice through ${HISTORIES / 3} histories with ledgers restored from older copies`, async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(histories, restores, async (history, ledgers) => {
      number += 1;
      const world = await World.begin(restoring(history, ledgers));
      for (const life of world.lives) await livesThrough(world, life);
      world.service.troubles.clear();
      await livesThrough(world, OK);
    }),
    { numRuns: HISTORIES / 3 },
  );
  expect(number).toBe(HISTORIES / 3);
});

/** A history of one row and two submissions. The first has four requests, and the sixth reads its job. */
function twoSubmissions(troubles: History['troubles'], second: Partial<Life>): History {
  const lives = [
    { ...OK, command: 'submit' as const },
    { ...OK, ...second },
  ];
  return { files: [[0]], rowsInJob: 1, lives, troubles, failing: 0, hasOtherJob: true };
}

it.each([
  [LATE_CLAIM, twoSubmissions([[4, 'kept reset']], {})],
  [FILES_DECIDE, twoSubmissions([[6, '404']], { jobFiles: 'removed' })],
  [
    ABSENT_IS_GONE,
    twoSubmissions(
      [
        [5, 'hours pass'],
        [6, '404'],
      ],
      { jobFiles: 'removed' },
    ),
  ],
  [STORE_IS_DOUBTED, twoSubmissions([[5, 'hours pass']], { denies: true })],
])('the model finds the planted mistake that %s', async (mistake, history) => {
  await expect(liveAll(history)).resolves.toBeUndefined();
  outside.mistake = mistake;
  const lived = liveAll(history).finally(() => (outside.mistake = ''));
  await expect(lived).rejects.toThrow('to deeply equal');
});
