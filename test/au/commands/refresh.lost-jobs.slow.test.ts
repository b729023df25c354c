import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const REFRESH = 'au refresh export.csv --cycle 2026-12 --fail-on err=100%';
const BEGIN = `${REFRESH} --no-wait`;

/** A desk with an export, whose requests fail that match `fault`. */
interface Cycle extends Omit<QuickDesk, 'on'> {
  fault: RegExp | undefined;
  /** Runs a command line on a machine. */
  readonly on: (machine: string, line: string) => ReturnType<QuickDesk['svc']>;
}

async function openCycle(isShared: boolean): Promise<Cycle> {
  const faults: Pick<Cycle, 'fault'> = { fault: undefined };
  const desk = await openQuickDesk({
    tenants: ['production'],
    processingMs: 60_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (faults.fault?.test(`${incoming.method} ${incoming.url}`) === true) incoming.destroy();
      else proceed();
    },
  });
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  if (isShared) mkdirSync(desk.home.file('ledger'));
  const shared = isShared ? { SVC_LEDGER: desk.home.file('ledger') } : {};
  const on: Cycle['on'] = (machine, line) => desk.svc(line, { SVC_STATE_DIR: desk.home.file(machine), ...shared });
  // A job shows the tenant before the refresh creates its own job.
  succeeded(await on('office', 'au create'));
  return Object.assign(faults, desk, { on });
}

/** Brings a cycle to a moment. `backUp` copies the files of the jobs on the way. */
type Reach = (cycle: Cycle, backUp: () => void) => Promise<void>;

const whileSent: Reach = async (cycle, backUp) => {
  cycle.fault = /^PUT /;
  await cycle.on('office', BEGIN);
  cycle.fault = undefined;
  backUp();
};

const whileProcessed: Reach = async (cycle, backUp) => {
  ended(await cycle.on('office', BEGIN), 11);
  backUp();
  // The service has picked the file up.
  await cycle.clock.advance(30_000);
};

const MOMENTS: Readonly<Record<string, Reach>> = {
  'while its file was sent': whileSent,
  'while its job was processed': whileProcessed,
  'after its results were delivered': async (cycle, backUp) => {
    await whileProcessed(cycle, backUp);
    succeeded(await cycle.on('office', REFRESH));
  },
};

/** What became of the files of jobs, and the machine that goes on. */
const FATES: Readonly<Record<string, (cycle: Cycle) => string>> = {
  'were removed': ({ home }) => {
    rmSync(home.file('office/jobs'), { recursive: true });
    return 'office';
  },
  'were restored to an older day': ({ home }) => {
    rmSync(home.file('office/jobs'), { recursive: true });
    cpSync(home.file('backup'), home.file('office/jobs'), { recursive: true });
    return 'office';
  },
  'were copied to another machine that shares the ledger': ({ home }) => {
    cpSync(home.file('office/jobs'), home.file('laptop/jobs'), { recursive: true });
    return 'laptop';
  },
};

const COMMANDS = [
  REFRESH,
  'au refresh --cycle 2026-12 --fail-on err=100%',
  'au resume --wait',
  'au resume 2026-12 --wait --out got.csv',
  'au submit refresh/2026-12/request.csv --cycle 2026-12 --wait --out got.csv',
  'au download <job> --out got.csv',
];

const [, ...OTHER_FATES] = Object.keys(FATES);
// Files that are gone are tried with each command, the other fates with one after the other.
const CASES: (readonly [moment: string, fate: string, command: string])[] = [];
for (const [index, moment] of Object.keys(MOMENTS).entries()) {
  for (const command of COMMANDS) CASES.push([moment, 'were removed', command]);
  for (const [at, fate] of OTHER_FATES.entries())
    CASES.push([moment, fate, COMMANDS[(index + at) % COMMANDS.length] ?? REFRESH]);
}

it.each(CASES)(
  'R92: a refresh ends as if nothing was lost, and pays once, where the files of its jobs %s %s: svc %s',
  async (moment, fate, command) => {
    const cycle = await openCycle(fate.includes('shares'));
    const backUp = (): void => cpSync(cycle.home.file('office/jobs'), cycle.home.file('backup'), { recursive: true });
    await MOMENTS[moment]?.(cycle, backUp);
    const machine = FATES[fate]?.(cycle) ?? '';
    const replace = cycle.home.file('refresh/2026-12/todo/replace.csv');
    const before = existsSync(replace) ? readFileSync(replace, 'utf8') : undefined;
    const { id = '' } = JSON.parse((await cycle.on('office', 'au jobs --limit 1')).stdout.split('\n')[0] ?? '{}') as {
      readonly id?: string;
    };
    const first = await cycle.on(machine, command.replace('<job>', id));
    expect(first.stderr).not.toContain('may have been submitted already');
    // `au download` does not wait.
    const mayBePending = moment.includes('processed') && /^au (?:resume --wait|download)/.test(command);
    const isSent = moment.includes('processed') || moment.includes('delivered');
    const codes = mayBePending ? [0, 11] : isSent ? [0] : [first.code];
    expect(codes, first.stderr).toContain(first.code);
    // The job of a file that was not sent is proven gone by then.
    let ended = first;
    for (let night = 1; night <= 3 && (night === 1 || ended.code === 9); night += 1) {
      await cycle.clock.advance(2 * 3_600_000);
      ended = await cycle.on(machine, REFRESH);
    }
    expect(ended.code, ended.stderr).toBe(0);
    expect(cycle.uploads()).toBe(1);
    const [, ...rows] = readFileSync(cycle.home.file('refresh/2026-12/results.csv'), 'utf8').trimEnd().split('\n');
    succeeded(await cycle.on(machine, 'au resume 2026-12 --wait --out whole.csv'));
    expect(rows).toEqual(readFileSync(cycle.home.file('whole.csv'), 'utf8').trimEnd().split('\n').slice(1));
    const replaced = readFileSync(replace, 'utf8');
    expect(before ?? replaced).toBe(replaced);
    const files = 'refresh/2026-12/request.csv refresh/2026-12/results.csv';
    succeeded(await cycle.on(machine, `au next ${files} --out next.csv --fail-on err=100%`));
    const [request, results] = files.split(' ');
    succeeded(await cycle.on(machine, `au report ${results} --request ${request}`));
  },
);
