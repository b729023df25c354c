import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { succeeded } from '../../support/run-here.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { dying } from '../../support/killer.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const LINE = 'au refresh export.csv --cycle 2026-12 --fail-on err=60%';

/** The lines of an export with a column to keep. */
const EXPORT = exampleRequestFile()
  .trimEnd()
  .split('\n')
  .map((row, index) => `${row},${index === 0 ? 'Customer' : `C-${index}`}`);

/** A refresh sends fewer requests than this. */
const MAX_REQUESTS = 12;

/** The names that a refresh gives to its files. */
const NAMES = '/refresh/(?!.*[.](lock|tmp))';

/** A refresh gives fewer names to files than this. */
const MAX_NAMES = 40;

/** Every how many names a refresh is killed. */
const STEP = IS_SOAK ? 1 : 12;

/** The names that a ledger gives to its sets of rows and its entries. Outside of a soak, a refresh is killed at every second one. */
const LEDGER_NAMES = '/cycles/(?!.*[.](lock|tmp))';

/** Runs a command line as a process that is killed before it names a file for the given time. Returns whether it was killed. */
async function killedAt({ home, env }: QuickDesk, at: number, line: string, of = NAMES): Promise<boolean> {
  const death = dying(home, { name: at, death: 'before', of });
  const { signal } = await home.svc(line.split(' '), { env: { ...env, ...death } });
  return signal === 'SIGKILL';
}

it('svc au refresh that is killed while it adds an export goes on by the same command, with the kept columns of each row', async () => {
  const line = `${LINE} --keep Customer --add`;
  let at = 1;
  for (; at <= MAX_NAMES; at += STEP) {
    const desk = await openQuickDesk({ pickupMs: 0 });
    writeFileSync(desk.home.file('export.csv'), EXPORT.slice(0, 5).join('\n'));
    succeeded(await desk.svc(line));
    writeFileSync(desk.home.file('export.csv'), EXPORT.join('\n'));
    const isKilled = await killedAt(desk, at, line);
    succeeded(await desk.svc(line));
    const rowsOf = (name: string): string[] =>
      readFileSync(desk.home.file(`refresh/2026-12/${name}`), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(1);
    const tokens = rowsOf('request.csv').map((row) => row.split(',')[0]);
    expect(tokens, `killed at name ${at}`).toHaveLength(EXPORT.length - 1);
    expect(rowsOf('request.keep.csv').map((row) => row.split(',')[1])).toEqual(tokens);
    expect(rowsOf('todo/replace.csv').every((row) => row.startsWith('C-'))).toBe(true);
    expect(desk.uploads()).toBe(2);
    if (!isKilled) break;
  }
  expect(at).toBeGreaterThan(10);
});

it('svc au refresh that is killed before it gives any file its name goes on alone until all files of the cycle are written', async () => {
  const options = ['--next', '--keep', 'Customer'].join(' ');
  let at = 1;
  for (; at <= MAX_NAMES; at += STEP) {
    const desk = await openQuickDesk({ pickupMs: 0 });
    writeFileSync(desk.home.file('export.csv'), EXPORT.join('\n'));
    const isKilled = await killedAt(desk, at, `${LINE} ${options}`);
    if (!isKilled) break;
    const what = `killed at name ${at}`;
    // Before the upload there is no open cycle, and the whole command begins it.
    const again = desk.uploads() === 0 ? LINE : 'au refresh --fail-on err=60%';
    expect([0, 2], what).toContain((await desk.svc(`${again} ${options}`)).code);
    const read = (name: string): string => readFileSync(desk.home.file(`refresh/${name}`), 'utf8');
    const record = JSON.parse(read('2026-12/refresh.json')) as Record<string, unknown>;
    expect(record['finished'], what).toBe(true);
    expect(read('exclusions.csv').trimEnd().split('\n'), what).toHaveLength(8);
    expect(read('2026-12/next.csv'), what).toMatch(/^token,/);
    expect(read('2026-12/report.html'), what).toContain('cycle 2026-12');
    expect(read('2026-12/todo/replace.csv').trimEnd().split('\n'), what).toHaveLength(14);
    expect(read('2026-12/todo/support.csv').trimEnd().split('\n'), what).toHaveLength(2);
    expect(desk.uploads(), what).toBe(1);
  }
  expect(at).toBeGreaterThan(15);
  expect(at).toBeLessThan(MAX_NAMES);
});

it.each([
  ['that begins a cycle', EXPORT.length, LINE],
  ['that adds rows to one', 5, `${LINE} --add`],
])(
  'R74: svc au refresh %s and is killed before it gives a name in the ledger goes on by the same command',
  async (_, first, line) => {
    let at = 1;
    for (; at <= MAX_NAMES; at += IS_SOAK ? 1 : 2) {
      const desk = await openQuickDesk({ pickupMs: 0 });
      writeFileSync(desk.home.file('export.csv'), EXPORT.slice(0, first).join('\n'));
      if (first < EXPORT.length) succeeded(await desk.svc(LINE));
      writeFileSync(desk.home.file('export.csv'), EXPORT.join('\n'));
      const before = desk.uploads();
      const isKilled = await killedAt(desk, at, line, LEDGER_NAMES);
      succeeded(await desk.svc(line));
      expect(desk.uploads(), `killed at name ${at}`).toBe(before + 1);
      if (!isKilled) break;
    }
    expect(at).toBeGreaterThan(3);
  },
);

it('R74: svc au refresh that is killed at any request goes on by the same command, and uploads nothing twice', async () => {
  const ends = new Set<number | null>();
  for (let killedAt = 1; killedAt <= MAX_REQUESTS; killedAt += 1) {
    const gate = new EventEmitter();
    let arrived = 0;
    const intercept: Interceptor = (_incoming, _outgoing, proceed) => {
      arrived += 1;
      if (arrived === killedAt) gate.emit('arrived');
      else proceed();
    };
    const desk = await openQuickDesk({ pickupMs: 0, intercept });
    writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
    const first = desk.home.start(`${LINE} --next`.split(' '), { env: desk.env });
    const ended = once(first, 'exit');
    const isKilled = await Promise.race([once(gate, 'arrived').then(() => true), ended.then(() => false)]);
    if (!isKilled) break;
    first.kill('SIGKILL');
    await ended;
    const second = await desk.svc(`${LINE} --next --no-wait`);
    // If the whole file was sent before the kill, only time can show that the service did not get it.
    expect([0, 9], `killed at request ${killedAt}: ${second.stderr}`).toContain(second.code);
    ends.add(second.code);
    expect(desk.uploads(), `killed at request ${killedAt}`).toBeLessThanOrEqual(1);
    if (second.code !== 0) continue;
    expect(readdirSync(desk.home.file('refresh/2026-12'))).toEqual(expect.arrayContaining(['report.html', 'next.csv']));
    expect(readFileSync(desk.home.file('refresh/2026-12/next.csv'), 'utf8')).toMatch(/^token,/);
  }
  expect(ends).toContain(0);
});
