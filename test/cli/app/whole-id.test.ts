import { expect, it } from 'vitest';
import { sandboxCards } from '../../../src/emulator/vault/cards.ts';
import { rowOf, startSandboxHere, svcHere } from '../../support/run-here.ts';

it('the first eight digits of an id name the session and the job that tables show so, and others stay unknown', async () => {
  const on = await startSandboxHere();
  const create = ['3ds', 'create', '--token', sandboxCards()[0]?.token ?? ''];
  const session = String(rowOf(await svcHere(create, on))['id']);
  const job = String(rowOf(await svcHere(['au', 'create'], on))['id']);
  for (const [words, id] of [
    [['3ds', 'show'], session],
    [['au', 'status'], job],
  ] as const) {
    const short = id.slice(0, 8);
    for (let times = 0; times < 2; times += 1) {
      const shown = await svcHere([...words, short], on);
      expect([rowOf(shown)['id'], shown.stderr]).toEqual([id, `${short} is ${id}\n`]);
    }
    expect((await svcHere([...words, short.slice(0, 7)], on)).code).toBe(5);
    expect((await svcHere([...words, '01234567'], on)).code).toBe(5);
  }
});
