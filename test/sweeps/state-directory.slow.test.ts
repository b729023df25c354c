import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_LINES, exitCodeOf, LASTING } from '../support/command-lines.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

const RELATIVE = { SVC_STATE_DIR: 'relative' };
const TO_SET = 'SVC_STATE_DIR="$PWD/relative"';
/** Commands that end by themselves, but not svc doctor, which reports the variable among its findings. */
const commands = (await allCommands()).filter(({ words }) => !LASTING.has(words) && words !== 'doctor');
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('a relative SVC_STATE_DIR', () => {
  it.each(commands)('svc $words refuses a relative SVC_STATE_DIR, unless it needs no state', async ({ words }) => {
    await world.copy(async (run, directory) => {
      const before = world.requests.length;
      const { code, stderr } = await run(words, ['-o', 'json'], { env: RELATIVE });
      expect(existsSync(join(directory, 'relative'))).toBe(false);
      const sent = world.requests.slice(before).filter(({ path }) => path !== '/hooks');
      const isRefused = stderr.includes('SVC_STATE_DIR is a relative path');
      const saysWhatToSet = isRefused && String(errorIn({ stderr })['hint']).includes(TO_SET);
      expect({ code, sent, saysWhatToSet }, stderr).toEqual({
        code: isRefused ? 3 : exitCodeOf(COMMAND_LINES[words]),
        sent: [],
        saysWhatToSet: isRefused,
      });
    });
  });

  it('svc doctor reports a relative SVC_STATE_DIR and how to set it', async () => {
    const { code, stdout } = await world.run('doctor', ['-o', 'json'], { env: RELATIVE });
    const findings = JSON.parse(stdout) as readonly { check: string }[];
    expect(code).toBe(3);
    expect(findings.find(({ check }) => check === 'state directory')).toMatchObject({
      result: 'failed',
      found: expect.stringContaining('SVC_STATE_DIR is a relative path'),
      fix: expect.stringContaining('absolute path'),
    });
  });

  it.each([
    ['--version'],
    ['--help'],
    ['au', 'submit', '--help'],
    ['help', 'output'],
    ['help', 'au'],
    ['__complete', 'fish', 'au', 'status', ''],
  ])('svc %s %s %s works with a relative SVC_STATE_DIR', async (...argv) => {
    expect(await svcHere(argv, { env: RELATIVE })).toMatchObject({ code: 0, stderr: '' });
  });
});
