import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { FakeClock } from '../../support/clock.ts';
import { passTime } from '../../support/passing-time.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { uploadsTaken } from '../support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Where the files were made. */
const PLACE = '/home/ops';
const SERVICE = 'http://127.0.0.1:4123';
/** An hour after the files were made. */
const LATER = Date.UTC(2026, 10, 29, 3, 30);

/** Two machines whose files a build made that salted keys with `ledger.json`, and the service that has their jobs. */
export interface EarlierLedger {
  readonly clock: FakeClock;
  readonly tenant: string;
  /** Runs a command on the machine that has a ledger alone. */
  laptop(line: string, env?: Readonly<Record<string, string>>): Promise<HereResult>;
  /** Runs a command on the machine that shares a ledger. */
  runner(line: string, env?: Readonly<Record<string, string>>): Promise<HereResult>;
  /** Runs a command on a machine that never used the ledger that machines share. */
  newcomer(line: string, env?: Readonly<Record<string, string>>): Promise<HereResult>;
  path(name: string): string;
  /** Returns the rows that the service received so far, each as often as it did. */
  rowsReceived(): string[];
  /** Writes a request file with these rows. */
  writeRows(name: string, rows: readonly string[]): void;
  /** Returns the rows of a request file that was submitted. */
  rowsOf(name: string): string[];
}

/** Writes the files that the earlier build made, and starts the service with the jobs that it sent. */
export async function openEarlierLedger(): Promise<EarlierLedger> {
  const directory = temporaryDirectory();
  const clock = new FakeClock({ start: LATER, auto: false });
  const files = JSON.parse(readFileSync(new URL('earlier-keys.json', import.meta.url), 'utf8')) as Record<
    string,
    string | { readonly hex: string }
  >;
  const path = (name: string): string => join(directory, name);
  const write = (name: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(path(name)), { recursive: true, mode: 0o700 });
    writeFileSync(path(name), content, { mode: 0o600 });
  };
  const all = Object.entries(files);
  for (const [name, content] of all)
    if (name.startsWith('sandbox/'))
      write(name, typeof content === 'string' ? content : Buffer.from(content.hex, 'hex'));
  let exchanges = 0;
  const sandbox = await startSandbox({
    directory: path('sandbox'),
    clock,
    seed: 1,
    logCount: 0,
    processingMs: 0,
    pickupMs: 0,
    intercept: (_incoming, outgoing, proceed) => {
      exchanges += 1;
      outgoing.on('close', () => (exchanges += 1));
      proceed();
    },
  });
  onTestFinished(() => sandbox.close());
  for (const [name, content] of all) {
    if (name.startsWith('sandbox/')) continue;
    if (typeof content === 'string') write(name, content.replaceAll(SERVICE, sandbox.url).replaceAll(PLACE, directory));
    else write(name, Buffer.from(content.hex, 'hex'));
  }
  const [, , tenant = ''] = all.map(([name]) => name.split('/')).find(([top]) => top === 'state') ?? [];
  // The copies of a ledger stand under the hash of its place.
  const seen = (place: string): string => path(`runner/ledger/${tenant}/seen/${sha256Of(place).slice(0, 16)}`);
  renameSync(seen(`${PLACE}/shared`), seen(path('shared')));
  write('config/config.json', JSON.stringify({ version: 1, profiles: { default: {} } }));
  const env = {
    SVC_BASE_URL: sandbox.url,
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
    SVC_PACING: 'off',
    SVC_CONFIG_DIR: path('config'),
    SVC_CACHE_DIR: path('cache'),
  };
  const run = async (line: string, more: Readonly<Record<string, string>>): Promise<HereResult> => {
    const words = line.split(' ').map((word) => (/^\w+\.csv$/.test(word) ? path(`work/${word}`) : word));
    return passTime(clock, svcHere(words, { clock, env: { ...env, ...more } }), () => exchanges);
  };
  const SVC_LEDGER = path('shared');
  return {
    clock,
    tenant,
    path,
    laptop: (line, more) => run(line, { SVC_STATE_DIR: path('state'), ...more }),
    runner: (line, more) => run(line, { SVC_STATE_DIR: path('runner'), SVC_LEDGER, ...more }),
    newcomer: (line, more) => run(line, { SVC_STATE_DIR: path('newcomer'), SVC_LEDGER, ...more }),
    rowsReceived: () =>
      uploadsTaken(path('sandbox')).flatMap((job) => rowsIn(path(`sandbox/files/request-${job}.csv`))),
    rowsOf: (name) => rowsIn(path(`work/${name}`)),
    writeRows: (name, rows) => write(`work/${name}`, [HEADER, ...rows, ''].join('\n')),
  };
}

const HEADER = 'token,expiration_year,expiration_month,merchant_id';

function rowsIn(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
}
