import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { COMMAND_LINES } from '../support/command-lines.ts';
import { Screen } from '../support/screen.ts';
import { allCommands } from '../support/tree.ts';
import { World, type WorldOptions } from '../support/world.ts';

/**
 * The paths of the reads on which the result of a command depends; one that ends with a slash stands for all below it. A
 * command can do without any other read.
 */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'logs list': ['/logs'],
  'logs tail': ['/logs'],
  'logs archive': ['/tenants/self', '/logs'],
  'logs search': ['/tenants/self', '/logs'],
  'logs history': ['/tenants/self', '/logs'],
  'logs stats': ['/logs'],
  'au download': ['/account-updater/jobs/'],
  'au abandon': ['/account-updater/jobs/'],
  // Each of these reads is a line of the output.
  whoami: ['/logs/entity-types', '/tenants/self', '/tenants/self/reports/usage', '/account-updater/jobs'],
  doctor: ['/logs/entity-types', '/tenants/self', '/tenants/self/reports/usage', '/account-updater/jobs'],
};
const NO_SESSION = '/3ds/sessions/00000000-0000-4000-8000-000000000000';

/** The paths of the other reads. */
const EXTRA: Readonly<Record<string, readonly string[]>> = {
  'logs list': ['/applications'],
  'logs tail': ['/applications'],
  'logs search': ['/applications'],
  'logs history': ['/applications'],
  'logs stats': ['/applications'],
  whoami: ['/sandbox/key'],
};

/** Lines that read more of the service than those of `COMMAND_LINES`. */
const LINES: Readonly<Record<string, string>> = {
  ...COMMAND_LINES,
  'logs tail': 'logs tail -n 20 --max 20',
  'logs history': 'logs history {session}',
  // Entries about reads of the log are added while the test runs.
  'logs search': 'logs search audit --live --entity-type card',
};

const READS = (await allCommands())
  .filter(({ words, command }) => command.changes === undefined && (command.permissions ?? exempt(words)))
  .map(({ words }) => words);

/** What a service does to a request. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  'fails with 500': (response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'),
  'fails with 429': (response) => response.writeHead(429, { 'retry-after': '60' }).end(),
  'gets no response': () => undefined,
};

let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('reads that a command can do without', () => {
  it.each(READS)('R86: svc %s has the same result whatever happens to them', async (words) => {
    const usual = await run(words);
    const extra = new Set(usual.paths.slice(1).filter((path) => !isNeeded(words, path)));
    expect([...extra]).toEqual(EXTRA[words] ?? []);
    for (const path of extra)
      for (const [name, fault] of Object.entries(FAULTS)) {
        const { code, rows, notices, paths } = await run(words, path, fault);
        expect({ name, code, rows, notices }).toEqual({
          name,
          code: usual.code,
          rows: usual.rows,
          notices: usual.notices,
        });
        expect(paths.filter((each) => each === path)).toEqual(usual.paths.filter((each) => each === path));
      }
  });
});

/** Runs a command at a terminal. `fault` happens to the requests for `path`. */
async function run(words: string, path?: string, fault?: (response: ServerResponse) => unknown) {
  const before = world.requests.length;
  const stdout = new Screen();
  const intercept: WorldOptions['intercept'] = (request, response) => {
    const isStruck = fault !== undefined && pathOf(request.url) === path;
    if (isStruck) fault(response);
    return isStruck;
  };
  const argv = (LINES[words] ?? '').split(' ').map((word) => world.fill(word));
  const env = { SVC_PAGER: '', NO_COLOR: '1' };
  const { code, stderr } = await world.run(words, [], { argv, env, stdout, intercept, clock: systemClock });
  const paths = world.requests.slice(before).map((each) => pathOf(each.path));
  // What a key may do is named below it, indented, only where that could be read.
  const rows = stdout.text.split('\n').filter((line) => !line.startsWith(' ')).length;
  return { code, rows, notices: stderr.split('\n').length, paths };
}

function pathOf(address = ''): string {
  return address.replace(/\?.*/, '');
}

function isNeeded(words: string, path: string): boolean {
  const needed = (one: string): boolean => (one.endsWith('/') ? path.startsWith(one) : path === one);
  return path === NO_SESSION || (NEEDED[words] ?? []).some(needed);
}

/** Whether a command reads the service without declaring a permission, because it tries all of them. */
function exempt(words: string): boolean {
  return ['whoami', 'doctor', 'logs search'].includes(words);
}
