import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { SandboxOptions } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

export const CYCLE = '--cycle 2026-12';
const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const WITH_MERCHANT = ROWS.map((row) => `${row}M1`);
/** The rows of three parts of three rows each, which are sent at the same time. The rows of another part come last. */
export const FIRST = WITH_MERCHANT.slice(0, 9);
export const ALL = WITH_MERCHANT.slice(0, 12);

/**
 * A desk on which all.csv stopped after some of its parts got a job and before any was claimed. Another job, sent from the
 * state directory `by`, got a row of one of them meanwhile, and a row of the last part. These two parts are divided one
 * after the other. The test file makes the parts small by a mock.
 */
export async function dividedDesk(
  all: readonly string[],
  by: string,
  { intercept = (_incoming, _outgoing, proceed) => proceed(), ...options }: Omit<SandboxOptions, 'directory'> = {},
) {
  let isDown = false;
  let hasCreated = false;
  const desk = await openQuickDesk({
    ...options,
    tenants: ['production'],
    merchants: ['M1'],
    intercept: (incoming, outgoing, proceed) => {
      const { method, url = '' } = incoming;
      hasCreated ||= isDown && method === 'POST';
      const isList = method === 'GET' && /\/account-updater\/jobs(?:\?|$)/.test(url);
      if (isDown && hasCreated && isList) outgoing.writeHead(500).end();
      else intercept(incoming, outgoing, proceed);
    },
  });
  const shared = sharedLedger(desk.home.file('ledger'));
  const svc = (line: string, state = 'state') => desk.svc(line, { ...shared, SVC_STATE_DIR: desk.home.file(state) });
  const run = (): string => {
    const runs = readdirSync(desk.home.file('state/runs')).filter((name) => name.startsWith('run-'));
    return runs.find((name) => desk.record(`state/runs/${name}`).input.name === 'all.csv') ?? '';
  };
  const parts = () => desk.record(`state/runs/${run()}`).parts;
  writeRows(desk, 'first.csv', WITH_MERCHANT[12] ?? '');
  rowOf(await svc(`au submit first.csv ${CYCLE} --wait`));
  writeRows(desk, 'all.csv', ...all);
  isDown = true;
  const { code, stderr } = await svc(`au submit all.csv ${CYCLE}`);
  expect(code, stderr).toBe(8);
  isDown = false;
  const at = parts().findIndex(({ job }) => job !== undefined);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(parts()).toHaveLength(4);
  expect(parts().at(-1)?.job).toBeUndefined();
  writeRows(desk, 'other.csv', all[9 + at] ?? '', all[3 * at] ?? '');
  rowOf(await svc(`au submit other.csv ${CYCLE}`, by));
  const lines = (name: string): string[] => readFileSync(desk.home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  const hasFile = (name: string): boolean => existsSync(desk.home.file(name));
  return { desk, svc, lines, run, parts, hasFile };
}
