import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkRequestFile } from '../../../src/au/request/check-request-file.ts';
import { countResults, invalidateResults } from '../../../src/au/results/download.ts';
import { writeResults } from '../../../src/au/results/merge.ts';
import { isReadable } from '../../../src/au/run/job.ts';
import { statusOf } from '../../../src/au/run/record.ts';
import { RunDirectory } from '../../../src/au/run/run-directory.ts';
import { beginRun } from '../../../src/au/send/begin-run.ts';
import { uploadToJob } from '../../../src/au/send/upload.ts';
import { retryFailed } from '../../../src/au/send/upload-parts.ts';
import { waitForRun } from '../../../src/au/wait/wait.ts';
import { isSvcError, SvcError } from '../../../src/base/errors.ts';
import { Client } from '../../../src/client/api/client.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { ACCEPT_SECOND_PUT } from '../../../src/emulator/faults/fault.ts';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { MemoryLedger } from '../ledger/memory-ledger.ts';
import { answerLost, refuseWith, uploadsTaken } from '../support.ts';

const RUNS = process.env['SOAK'] ? 1_000 : 20;
const HOUR = 3_600_000;

type Trouble = 'lost' | 'reset' | '500' | '503' | 'expired' | 'hours pass';

/** A history of crashes and faults. One step is before and one after each request and each save. */
interface History {
  readonly rows: number;
  readonly rowsInPart: number;
  /** The number of steps before each crash. */
  readonly crashes: readonly number[];
  /** The troubles, each with the number of its request. */
  readonly troubles: readonly (readonly [request: number, trouble: Trouble])[];
  /** The number of jobs that fail; the first jobs with a file do. */
  readonly failing: number;
}

class Crash extends Error {}

const directory = mkdtempSync(join(tmpdir(), 'svc-model-'));
const clock = new FakeClock({ start: Date.now() });
let sandbox: RunningSandbox;
let world: World;
let isSeeding = true;

beforeAll(async () => {
  sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    clock,
    // For a while after its upload, a job still looks as if it had no file.
    pickupMs: 1_500,
    logCount: 0,
    intercept(incoming, outgoing, proceed) {
      // The store accepts a second upload, so that the test can detect it.
      incoming.headers[ACCEPT_SECOND_PUT] = 'yes';
      if (isSeeding) proceed();
      else world.meet(incoming, outgoing, proceed);
    },
  });
  await seedJob();
});
afterAll(async () => {
  await sandbox.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Creates a job that the list always shows, so that the list proves the tenant of the key. */
async function seedJob(): Promise<void> {
  const client = new Client({ baseUrl: sandbox.url, privateKey: 'sandbox-private-key', clock });
  const file = join(directory, 'seed.csv');
  writeFileSync(file, exampleRequestFile());
  await uploadToJob(client, await client.accountUpdater.create(), await fileSource(file));
  await client.close();
  isSeeding = false;
}

/** A history: a request file, a run directory, and the processes that work on the run one after another. */
class World {
  readonly #crashes: number[];
  readonly #troubles: Map<number, Trouble>;
  readonly #before = uploadsTaken(join(directory, 'sandbox')).length;
  readonly #failed: string[] = [];
  readonly #history: History;
  #steps = 0;
  #requests = 0;
  #open = 0;
  #life = new AbortController();
  readonly file: string;
  readonly out: string;
  readonly #runs: string;
  /** The ledger survives all crashes, as its directory does. */
  readonly #ledger = new MemoryLedger(clock);

  constructor(history: History, number: number) {
    this.#history = history;
    this.#crashes = [...history.crashes];
    this.#troubles = new Map(history.troubles);
    const place = join(directory, String(number));
    [this.file, this.out, this.#runs] = [`${place}.csv`, `${place}.results.csv`, `${place}.runs`];
    const [header = '', ...rows] = exampleRequestFile().trimEnd().split('\n');
    writeFileSync(this.file, [header, ...rows.slice(0, history.rows), ''].join('\n'));
  }

  /** Tells whether the process dies at this step. */
  #dies(): boolean {
    if (this.#life.signal.aborted) return true;
    this.#steps += 1;
    const [next] = this.#crashes;
    if (next === undefined || this.#steps < next) return false;
    this.#crashes.shift();
    this.#life.abort(new Crash());
    return true;
  }

  meet(incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void): void {
    this.#open += 1;
    outgoing.once('close', () => (this.#open -= 1));
    this.#requests += 1;
    if (this.#dies()) return void incoming.socket.destroy();
    outgoing.once('finish', () => this.#dies());
    const trouble = this.#troubles.get(this.#requests);
    const isStore = incoming.url?.startsWith('/store/') === true;
    if (trouble === 'lost') answerLost(incoming, outgoing, proceed);
    else if (trouble === 'reset') incoming.socket.destroy();
    else if (trouble === '500' || trouble === '503') refuseWith(Number(trouble))(incoming, outgoing, proceed);
    else if (trouble === 'expired' && isStore) refuseWith(403)(incoming, outgoing, proceed);
    else if (trouble === 'hours pass') void clock.advance(2 * HOUR).then(proceed);
    else proceed();
  }

  /** Runs one process to its end or death. */
  async live(): Promise<void> {
    this.#life = new AbortController();
    this.#steps = 0;
    const client = new Client({
      baseUrl: sandbox.url,
      privateKey: 'sandbox-private-key',
      clock,
      signal: this.#life.signal,
      pacing: false,
    });
    this.#letFail(client);
    try {
      await this.#submit(client);
    } finally {
      await client.close();
    }
  }

  async #submit(client: Client): Promise<void> {
    const check = await checkRequestFile((await fileSource(this.file)).open(), {
      limits: { rows: this.#history.rowsInPart, bytes: 30_000_000 },
    });
    const asked = {
      profile: 'default',
      baseUrl: sandbox.url,
      name: 'tokens.csv',
      path: this.file,
      check,
      submitted: check,
      copy: `${this.file}.copy`,
      cycle: undefined,
      tenant: sandbox.tenants[0]!.id,
      division: undefined,
      now: clock.now(),
    };
    copyFileSync(this.file, asked.copy);
    const run = (await this.run()) ?? beginRun(this.#runs, asked);
    this.#watchSaves(run);
    const host = { pid: process.pid, isAlive: () => true, clock, signal: this.#life.signal };
    await run.hold(host, async () => {
      await retryFailed(client, run);
      await this.#ledger.upload(client, run, this.file);
      await invalidateResults(run);
      await waitForRun(client, run);
      await writeResults(run, { out: this.out, force: false });
    });
  }

  /** Returns the run as it is on disk. */
  async run(): Promise<RunDirectory | undefined> {
    const [name] = existsSync(this.#runs) ? readdirSync(this.#runs) : [];
    return name === undefined ? undefined : RunDirectory.open(join(this.#runs, name));
  }

  #watchSaves(run: RunDirectory): void {
    const save = run.save.bind(run);
    run.save = () => {
      if (this.#dies()) throw new Crash();
      save();
      if (this.#dies()) throw new Crash();
    };
  }

  /** Makes the first jobs that get a file look failed. */
  #letFail({ accountUpdater }: Client): void {
    const seen = (job: AccountUpdaterJob): AccountUpdaterJob => {
      const canFail = job.status !== 'pending' && this.#failed.length < this.#history.failing;
      if (canFail && !this.#failed.includes(job.id)) this.#failed.push(job.id);
      return this.#failed.includes(job.id) ? { ...job, status: 'failed', errors: ['made up'] } : job;
    };
    const read = accountUpdater.read.bind(accountUpdater);
    const list = accountUpdater.list.bind(accountUpdater);
    vi.spyOn(accountUpdater, 'read').mockImplementation(async (id) => seen(await read(id)));
    vi.spyOn(accountUpdater, 'list').mockImplementation((options) => {
      const pages = list(options);
      const turned = async function* (): ReturnType<typeof pages.pages> {
        for await (const page of pages.pages())
          yield { ...page, items: page.items.map((job) => (isReadable(job) ? seen(job) : job)) };
      };
      return Object.assign(Object.create(pages) as typeof pages, { pages: turned });
    });
  }

  /** Waits until no request of a dead process is in flight. */
  async settled(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 3));
    while (this.#open > 0);
  }

  /** Returns how often the store received a file for the job. */
  uploads(job: string): number {
    return this.allUploads.filter((each) => each === job).length;
  }

  /** The jobs that failed after they got a file. */
  get failed(): readonly string[] {
    return this.#failed;
  }

  get allUploads(): string[] {
    return uploadsTaken(join(directory, 'sandbox')).slice(this.#before);
  }
}

/** Runs the command again and again until the run is done, as an operator would. */
async function untilDone(): Promise<void> {
  for (let life = 0; life < 60; life += 1) {
    try {
      return await world.live();
    } catch (error) {
      if (!(error instanceof Crash) && !(error instanceof SvcError)) throw error;
      // Once the job would have expired without a file, the service shows whether it got one.
      if (isSvcError(error, 'outcome_unknown')) await clock.advance(2 * HOUR);
    }
    await world.settled();
  }
  throw new Error('the run never came to its end');
}

async function checkOutcome(): Promise<RunDirectory> {
  const run = await world.run();
  if (!run) throw new Error('there is no run');
  const { parts } = run.record;
  expect(statusOf(run.record)).toBe('completed');
  expect(parts.map(({ job = '' }) => world.uploads(job))).toEqual(parts.map(() => 1));
  const earlier = parts.flatMap(({ earlier_jobs: jobs = [] }) => jobs);
  for (const { job } of earlier) expect(world.uploads(job)).toBe(world.failed.includes(job) ? 1 : 0);
  const paidInVain = earlier.filter(({ job }) => world.failed.includes(job)).length;
  expect(world.allUploads).toHaveLength(parts.length + paidInVain);
  return run;
}

async function checkResults(run: RunDirectory, rows: number): Promise<void> {
  const kept = run.record.parts.map((part) => readFileSync(run.resultsFile(part), 'utf8'));
  const [header = ''] = (kept[0] ?? '').split('\n');
  const expected = `${header}\n${kept.map((text) => text.slice(header.length + 1)).join('')}`;
  expect(readFileSync(world.out, 'utf8')).toBe(expected);
  const { updated, warned, errors, unknown, unchanged } = await countResults(world.out, rows);
  expect(updated + warned + errors + unknown + unchanged).toBe(rows);
}

const TROUBLES: readonly Trouble[] = ['lost', 'reset', '500', '503', 'expired', 'hours pass'];
const histories: fc.Arbitrary<History> = fc.record({
  rows: fc.integer({ min: 1, max: 9 }),
  rowsInPart: fc.integer({ min: 1, max: 9 }),
  crashes: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
  troubles: fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(...TROUBLES)), { maxLength: 8 }),
  failing: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 2 })),
});

describe('a run through crashes and faults', () => {
  it('R36: a run through crashes and faults gives each part to one job once, and loses no result, whatever happens between two steps', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        // All histories share a key, and none has records of the jobs of earlier ones. An hour sets them apart.
        await clock.advance(HOUR);
        world = new World(history, (number += 1));
        await untilDone();
        await checkResults(await checkOutcome(), history.rows);
      }),
      { numRuns: RUNS },
    );
    expect(number).toBe(RUNS);
  }, 1_200_000);
});
