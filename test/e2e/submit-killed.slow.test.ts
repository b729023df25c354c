import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { uploadsTaken } from '../au/support.ts';
import { finished, type Finished, Home } from '../support/svc.ts';
import { startSandbox } from '../support/sandbox.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { until } from '../support/until.ts';

const IS_SOAK = process.env['SOAK'] !== undefined;
const KILLS = IS_SOAK ? 100 : 6;
const LARGE_KILLS = IS_SOAK ? 20 : 1;
const RESUME_KILLS = IS_SOAK ? 50 : 2;
/** Ends a process that hangs, also on a machine that is busy with ten other things. */
const LONG = 600_000;
const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';

/** A tenant and a machine that submits to it. A killed submission could not resume if its key had jobs of others. */
class World {
  readonly home = new Home();
  readonly #directory = mkdtempSync(join(tmpdir(), 'svc-killed-'));
  #sandbox: RunningSandbox | undefined;

  static async open(): Promise<World> {
    const world = new World();
    world.#sandbox = await startSandbox({ directory: world.#directory, processingMs: 0, pickupMs: 0, logCount: 0 });
    return world;
  }

  /** Runs a submission or another command, and kills it after `ms` milliseconds. */
  async killedAfter(ms: number, argv: readonly string[] = SUBMIT): Promise<Finished> {
    const child = this.#start(argv);
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    const result = await finished(child);
    clearTimeout(timer);
    return result;
  }

  /** Runs a submission, and kills it as soon as its job has a claim. */
  async killedOnceClaimed(): Promise<void> {
    const child = this.#start(SUBMIT);
    const ended = finished(child);
    await until(() => isClaimed(this.home));
    child.kill('SIGKILL');
    await ended;
  }

  #start(argv: readonly string[]) {
    const env = { SVC_BASE_URL: this.#sandbox!.url, SVC_PRIVATE_API_KEY: 'sandbox-private-key', SVC_PACING: 'off' };
    return this.home.start(argv, { env });
  }

  /** Returns the job of each file that the store accepted. */
  uploads(): string[] {
    return uploadsTaken(this.#directory);
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const SUBMIT = ['au', 'submit', 'tokens.csv', '--wait', '-o', 'json'];

const RESUME = ['au', 'resume'];

function isClaimed(home: Home): boolean {
  const ledger = home.file('.local/state/svc/ledger');
  return (
    existsSync(ledger) && readdirSync(ledger, { recursive: true }).some((name) => /\/\d{8}\.json$/.test(String(name)))
  );
}

function writeRows(home: Home, rows: number, mark: string): void {
  const lines = Array.from({ length: rows }, (_, row) => `${mark}-${row},,,\n`);
  writeFileSync(home.file('tokens.csv'), HEADER + lines.join(''));
}

/** Kills a submission at these moments, lets it finish, and checks that every job got its file once. */
async function survives(rows: number, jobs: number, moments: readonly number[]): Promise<void> {
  const world = await World.open();
  const { home } = world;
  try {
    writeRows(home, rows, home.path.slice(-6));
    for (const moment of moments) await world.killedAfter(moment);
    const last = await world.killedAfter(LONG, [...SUBMIT, '--timeout', '5m']);
    if (last.code === 9) return checkDoubt(world, last, jobs);
    expect(last, last.stderr).toMatchObject({ code: 0 });
    checkOutcome(world, rows, jobs);
    const answer = JSON.parse(last.stdout) as { rows: number; results: Record<string, number> };
    const { updated = 0, warned = 0, errors = 0, unchanged = 0 } = answer.results;
    expect(updated + warned + errors + unchanged).toBe(rows);
  } finally {
    await world.close();
  }
}

/** Kills a submission, then rounds of `au resume` at these moments, and checks the file that further rounds finish. */
async function survivesRounds(rows: number, moments: readonly number[]): Promise<void> {
  const world = await World.open();
  const { home } = world;
  try {
    writeRows(home, rows, home.path.slice(-6));
    // A round of `au resume` can only continue a job that has a claim.
    await world.killedOnceClaimed();
    for (const moment of moments) await world.killedAfter(moment, RESUME);
    let last = await world.killedAfter(LONG, RESUME);
    for (let round = 0; (last.code === 11 || last.code === 9) && round < 20; round += 1)
      last = await world.killedAfter(LONG, RESUME);
    if (last.code === 9) return checkDoubt(world, last, 1);
    expect(last, last.stderr).toMatchObject({ code: 0 });
    checkOutcome(world, rows, 1);
  } finally {
    await world.close();
  }
}

/**
 * Checks a submission that was killed after it recorded that all of a file was sent, and before the last bytes went out.
 * After any other moment, the upload goes on.
 */
function checkDoubt(world: World, { stderr }: Finished, most: number): void {
  const uploads = world.uploads();
  expect(new Set(uploads).size).toBe(uploads.length);
  expect(uploads.length).toBeLessThan(most);
  // The doubt ends with the life of the upload address, so nothing that is billed again is proposed.
  expect(stderr).toContain('Nothing is sent again');
  expect(stderr).not.toContain('au abandon');
}

function checkOutcome(world: World, rows: number, jobs: number): void {
  const { home } = world;
  const uploads = world.uploads();
  expect([uploads.length, new Set(uploads).size]).toEqual([jobs, jobs]);
  const tokensIn = (name: string): string[] =>
    readFileSync(home.file(name), 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((line) => line.slice(0, line.indexOf(',')));
  // The sandbox does not know these tokens: each row has one result, in the order of the request.
  expect(tokensIn('tokens.results.csv')).toHaveLength(rows);
  expect(tokensIn('tokens.results.csv').join()).toBe(tokensIn('tokens.csv').join());
  // No unfinished file remains beside the results.
  expect(readdirSync(home.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
}

async function timeOf(rows: number): Promise<number> {
  const world = await World.open();
  writeRows(world.home, rows, 'whole');
  const began = performance.now();
  expect(await world.killedAfter(LONG)).toMatchObject({ code: 0 });
  const took = performance.now() - began;
  await world.close();
  return took;
}

it(`R36: a submission that is killed sends its one job once and brings one result, killed at ${KILLS} random moments`, async () => {
  const whole = (await timeOf(300)) * 1.8;
  // No kill comes in the first 100 ms, where the process starts and nothing can be lost.
  const moment = (): number => 100 + Math.random() * whole;
  const works = Array.from({ length: KILLS }, () => () => survives(300, 1, [moment(), moment()]));
  expect(await sideBySide(works)).toBe(KILLS);
});

it(`R36: a submission that is killed sends each of several jobs once, killed at ${LARGE_KILLS} random moments`, async () => {
  const whole = IS_SOAK ? await timeOf(300_001) : 4_000;
  const works = Array.from(
    { length: LARGE_KILLS },
    () => () => survives(300_001, 2, [150 + Math.random() * whole, 150 + Math.random() * whole]),
  );
  expect(await sideBySide(works, 1)).toBe(LARGE_KILLS);
});

it(`R36: a submission that is killed is brought to its one result by rounds of au resume, killed at ${RESUME_KILLS} random moments too`, async () => {
  const whole = await timeOf(300);
  const moment = (): number => 100 + Math.random() * whole;
  const works = Array.from({ length: RESUME_KILLS }, () => () => survivesRounds(300, [moment(), moment()]));
  expect(await sideBySide(works)).toBe(RESUME_KILLS);
});
