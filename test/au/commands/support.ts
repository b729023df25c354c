import type { ChildProcessByStdio } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { RunRecord } from '../../../src/au/run/record.ts';
import type { RunningSandbox, SandboxOptions } from '../../../src/emulator/options.ts';
import { startSandbox } from '../../../src/emulator/server.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type Finished, Home } from '../../support/svc.ts';
import { uploadsTaken } from '../support.ts';

/** The tool with a home of its own, a sandbox of its own, and a request file in the home; all go with the test. */
export interface Desk {
  readonly home: Home;
  readonly sandbox: RunningSandbox;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command line, split at its spaces. */
  readonly svc: (line: string, env?: Readonly<Record<string, string>>) => Promise<Finished>;
  /** Starts a command line and leaves it running. */
  readonly start: (line: string) => ChildProcessByStdio<Writable, Readable, Readable>;
  /** How many files the store took. */
  readonly uploads: () => number;
  readonly runIds: () => string[];
  /** The record of a run by its id, or by its directory below the home. */
  readonly record: (run: string) => RunRecord;
  /** Changes a record on the disk. */
  readonly change: (run: string, edit: (record: RunRecord & Record<string, unknown>) => void) => void;
}

/** Where runs are recorded below a home. */
const RUNS = '.local/state/svc/runs';

export async function openDesk(options: Omit<SandboxOptions, 'directory'> = {}): Promise<Desk> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-desk-'));
  const sandbox = await startSandbox({ directory, logCount: 0, processingMs: 0, ...options });
  const home = new Home();
  onTestFinished(async () => {
    await sandbox.close();
    home.remove();
    rmSync(directory, { recursive: true, force: true });
  });
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  const env = { SVC_BASE_URL: sandbox.url, SVC_PRIVATE_API_KEY: 'sandbox-private-key', SVC_PACING: 'off' };
  const recordFile = (run: string): string =>
    home.file(join(run.startsWith('run-') ? join(RUNS, run) : run, 'run.json'));
  const record = (run: string): RunRecord => JSON.parse(readFileSync(recordFile(run), 'utf8')) as RunRecord;
  return {
    home,
    sandbox,
    env,
    svc: (line, more = {}) => home.svc(line.split(' '), { env: { ...env, ...more } }),
    start: (line) => home.start(line.split(' '), { env }),
    uploads: () => uploadsTaken(directory).length,
    runIds: () => readdirSync(home.file(RUNS)).filter((name) => name.startsWith('run-')),
    record,
    change: (run, edit) => {
      const changed = record(run) as RunRecord & Record<string, unknown>;
      edit(changed);
      writeFileSync(recordFile(run), JSON.stringify(changed));
    },
  };
}

/** A desk whose profile is known to belong to a production tenant. */
export async function productionDesk(): Promise<Desk> {
  const desk = await openDesk();
  const { home, sandbox } = desk;
  const argv = ['login', '--base-url', sandbox.url, '--private-key-stdin'];
  await home.svc(argv, { input: 'sandbox-private-key\n' });
  const facts = { base_url: sandbox.url, id: '1', name: 'Acme', type: 'production' };
  mkdirSync(home.file('.cache/svc'), { recursive: true });
  writeFileSync(home.file('.cache/svc/tenants.json'), JSON.stringify({ default: facts }));
  return { ...desk, env: { SVC_PACING: 'off' } };
}
