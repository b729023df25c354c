import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { JobFiles } from '../../../src/au/job/job-files.ts';
import type { Clock } from '../../../src/base/system.ts';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { type Fault, uploadsTaken } from '../support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const PROFILES = { version: 1, profiles: { default: {}, other: {} } };

/** A machine with a request file, tenants to submit it to, and a clock that a test can advance. */
export interface Machine {
  readonly clock: FakeClock;
  readonly ours: RunningSandbox;
  /** Runs a command line with the key of our tenant, or of the tenant at the address in `env`. `time` is a wrong clock. */
  svc(line: string | readonly string[], env?: Readonly<Record<string, string>>, time?: Clock): Promise<HereResult>;
  /** Returns the number of files that the stores of all tenants received. */
  uploads(): number;
  path(name: string): string;
  /** Returns the names of the folders of the jobs whose files this machine keeps. */
  jobs(): string[];
  /** Returns what this machine keeps of a job. */
  files(job: string): JobFiles;
  tenant(seed: number): Promise<RunningSandbox>;
  /** A fault in the requests to our tenant. */
  fault: Fault | undefined;
}

/** Opens a machine. The service leaves a job pending for `pickupMs` after its upload. */
export async function openMachine({ pickupMs = 0 } = {}): Promise<Machine> {
  const directory = temporaryDirectory();
  const clock = new FakeClock({ start: Date.UTC(2026, 10, 2, 4) });
  const places: string[] = [];
  const intercept = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void): void =>
    machine.fault ? machine.fault(incoming, outgoing, proceed) : proceed();
  const start = async (seed: number): Promise<RunningSandbox> => {
    const place = join(directory, `tenant-${seed}`);
    places.push(place);
    const options = { directory: place, clock, seed, logCount: 0, processingMs: pickupMs, pickupMs };
    const sandbox = await startSandbox(seed === 1 ? { ...options, intercept } : options);
    onTestFinished(() => sandbox.close());
    return sandbox;
  };
  const path = (name: string): string => join(directory, name);
  // The tool runs inside the test process, so relative file names are made absolute.
  const wordAt = (word: string): string =>
    /^(\w+\.csv|kept|first|second)$/.test(word) ? path(join('work', word)) : word;
  mkdirSync(path('work'));
  mkdirSync(path('config'), { mode: 0o700 });
  writeFileSync(path('config/config.json'), JSON.stringify(PROFILES), { mode: 0o600 });
  writeFileSync(path('work/tokens.csv'), exampleRequestFile());
  const ours = await start(1);
  const machine: Machine = {
    clock,
    ours,
    fault: undefined,
    path,
    tenant: start,
    async svc(line, env = {}, time = clock) {
      const ended = await svcHere((typeof line === 'string' ? line.split(' ') : line).map(wordAt), {
        clock: time,
        env: {
          SVC_BASE_URL: ours.url,
          SVC_PRIVATE_API_KEY: 'sandbox-private-key',
          SVC_PACING: 'off',
          SVC_STATE_DIR: path('state'),
          SVC_CONFIG_DIR: path('config'),
          ...env,
        },
      });
      return { ...ended, uploads: machine.uploads() };
    },
    uploads: () => places.reduce((sum, place) => sum + uploadsTaken(place).length, 0),
    jobs: () => (existsSync(path('state/jobs')) ? readdirSync(path('state/jobs')) : []),
    files: (job) => new JobFiles(path('state/jobs'), job),
  };
  return machine;
}

/** Opens a machine on which the file was submitted once. Returns it with its only job. */
export async function submittedOnce(options = ''): Promise<{ machine: Machine; job: string }> {
  const machine = await openMachine();
  succeeded(await machine.svc(`au submit tokens.csv ${options}`.trim()));
  return { machine, job: machine.jobs()[0] ?? '' };
}
