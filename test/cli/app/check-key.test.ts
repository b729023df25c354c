import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorIn } from '../../support/run-here.ts';
import { allCommands } from '../../support/tree.ts';
import { World } from '../../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

const asking = (await allCommands())
  .filter(({ command }) => command.permissions !== undefined)
  .map(({ words }) => words);

describe('without keys', () => {
  it.each([
    ...asking.map((name) => ({ name, url: 'https://api.example' })),
    ...asking.slice(0, 3).map((name) => ({ name, url: '' })),
  ])('svc $name points to --sandbox and to svc login, with base URL "$url"', async ({ name, url }) => {
    const env = { SVC_BASE_URL: url, SVC_MANAGEMENT_API_KEY: '', SVC_PRIVATE_API_KEY: '' };
    const run = await world.run(name, [], { env });
    expect(run.code, run.stderr).toBe(3);
    expect(run.stdout).toBe('');
    expect(errorIn(run)).toMatchObject({ hint: expect.stringContaining('--sandbox'), next: 'svc login' });
  });
});
