import type { ChildProcessByStdio } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { JobFiles } from '../../../src/au/job/job-files.ts';
import type { Interceptor, SandboxOptions } from '../../../src/emulator/options.ts';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { REQUEST_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { FakeClock } from '../../support/clock.ts';
import { passTime } from '../../support/passing-time.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { type Finished, Home, isAlive } from '../../support/svc.ts';
import { uploadsTaken } from '../support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** The tool with a new home, a new sandbox and a request file. All are removed when the test ends. */
export interface Desk extends Workplace {
  /** Runs a command line, split at its spaces, as a process. */
  readonly svc: (
    line: string,
    env?: Readonly<Record<string, string>>,
    input?: string | Uint8Array,
  ) => Promise<Finished & { readonly uploads: number }>;
  /** Starts a command line and leaves it running. */
  readonly start: (line: string) => ChildProcessByStdio<Writable, Readable, Readable>;
}

/** A desk that runs commands in the process of the test, one after the other, and whose pauses take no time. */
export interface QuickDesk extends Workplace {
  readonly clock: FakeClock;
  /** Runs the words of a command line; a text is split at its spaces. */
  readonly svc: (
    line: string | readonly string[],
    env?: Readonly<Record<string, string>>,
    input?: string | Uint8Array,
  ) => Promise<HereResult>;
  /** Runs a command line on a machine with a state directory of its own, which shares the ledger with the others. */
  readonly on: (machine: string, line: string | readonly string[]) => Promise<HereResult>;
  /** Returns the variables that name the state directory of a machine and the ledger that it shares. */
  readonly envOf: (machine: string) => { readonly SVC_STATE_DIR: string; readonly SVC_LEDGER: string };
}

/** The home, the sandbox and the environment of a test's commands. */
export interface Workplace {
  readonly home: Home;
  readonly sandbox: RunningSandbox;
  readonly env: Readonly<Record<string, string>>;
  /** Returns the number of files that the store received. */
  readonly uploads: () => number;
  /** Returns the files that the store received, of one job each. */
  readonly received: () => string[];
  /** Returns the names of the folders of the jobs whose files this machine keeps. */
  readonly jobs: () => string[];
  /** Returns what this machine keeps of a job. */
  readonly files: (job: string) => JobFiles;
}

/** The directory of the files of all jobs below a home. */
const JOBS = '.local/state/svc/jobs';

/** Opens a desk that runs commands as processes, in real time, for tests of signals, pipes and other programs. */
export async function openDesk(options: Omit<SandboxOptions, 'directory'> = {}): Promise<Desk> {
  // A job takes no time, so that no process waits for a second poll.
  const workplace = await openWorkplace({ pickupMs: 0, ...options });
  const { home, env } = workplace;
  return {
    ...workplace,
    svc: async (line, more = {}, input = '') => {
      const ended = await home.svc(line.split(' '), { env: { ...env, ...more }, input });
      return { ...ended, uploads: workplace.uploads() };
    },
    start: (line) => home.start(line.split(' '), { env }),
  };
}

/** Opens a desk whose tool and sandbox share a clock, unless the options contain another. It starts now or at `start`. */
export async function openQuickDesk({
  start = Date.now(),
  ...options
}: Omit<SandboxOptions, 'directory'> & { readonly start?: number } = {}): Promise<QuickDesk> {
  const clock = new FakeClock({ start, auto: false });
  const { intercept = (_incoming, _outgoing, proceed) => proceed() } = options;
  let exchanges = 0;
  const counted: Interceptor = (incoming, outgoing, proceed) => {
    exchanges += 1;
    outgoing.on('close', () => (exchanges += 1));
    return intercept(incoming, outgoing, proceed);
  };
  const workplace = await openWorkplace({ clock, ...options, intercept: counted });
  const { home, env } = workplace;
  const svc: QuickDesk['svc'] = async (line, more = {}, input = '') => {
    const words = typeof line === 'string' ? line.split(' ') : line;
    // The tool resolves relative paths against the working directory of its process.
    const before = process.cwd();
    process.chdir(home.path);
    try {
      const here = { clock, home: home.path, env: home.environment({ ...env, ...more }), input, isAlive };
      const ended = await passTime(clock, svcHere(words, here), () => exchanges);
      return { ...ended, uploads: workplace.uploads() };
    } finally {
      process.chdir(before);
    }
  };
  const envOf: QuickDesk['envOf'] = (machine) => {
    mkdirSync(home.file('ledger'), { recursive: true });
    return { SVC_STATE_DIR: home.file(machine), SVC_LEDGER: home.file('ledger') };
  };
  return { ...workplace, clock, svc, on: (machine, line) => svc(line, envOf(machine)), envOf };
}

/** Writes a request file below the home, with a header and these rows. */
export function writeRows({ home }: Workplace, name: string, ...rows: readonly string[]): void {
  writeFileSync(home.file(name), [REQUEST_COLUMNS.join(','), ...rows, ''].join('\n'));
}

/** Finds a file anywhere below a directory. */
function fileIn(directory: string, name: string): string {
  const found = readdirSync(directory, { recursive: true }).map(String);
  return join(directory, found.find((file) => basename(file) === name) ?? name);
}

async function openWorkplace(options: Omit<SandboxOptions, 'directory'>): Promise<Workplace> {
  const directory = temporaryDirectory();
  const jobIds = process.env['JOB_IDS'] === 'plain' ? 'plain' : undefined;
  const sandbox = await startSandbox({ directory, logCount: 0, processingMs: 0, jobIds, ...options });
  const home = new Home();
  onTestFinished(() => sandbox.close());
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  const env = { SVC_BASE_URL: sandbox.url, SVC_PRIVATE_API_KEY: 'sandbox-private-key', SVC_PACING: 'off' };
  return {
    home,
    sandbox,
    env,
    uploads: () => uploadsTaken(directory).length,
    received: () => uploadsTaken(directory).map((job) => readFileSync(fileIn(directory, `request-${job}.csv`), 'utf8')),
    jobs: () => (existsSync(home.file(JOBS)) ? readdirSync(home.file(JOBS)) : []),
    files: (job) => new JobFiles(home.file(JOBS), job),
  };
}

/** Opens a desk whose profile is known to belong to a production tenant. */
export async function productionDesk(): Promise<Desk> {
  const desk = await openDesk();
  const { home, sandbox } = desk;
  const argv = ['login', '--base-url', sandbox.url, '--management-key-stdin', '--private-key-stdin'];
  await home.svc(argv, { input: 'sandbox-management-key\nsandbox-private-key\n' });
  const file = home.file('.cache/svc/known-keys.json');
  const facts = readFileSync(file, 'utf8').replace(/"name":"[^"]*","type":"test"/, '"name":"Acme","type":"production"');
  writeFileSync(file, facts);
  return { ...desk, env: { SVC_PACING: 'off' } };
}
