import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { wholeId } from '../../../src/cli/app/whole-id.ts';

it('a short id of several ids is refused with all of them, and one that is an id itself stands for itself', async () => {
  const context = { notices: { note: () => undefined } } as unknown as Parameters<typeof wholeId>[0];
  const ids = ['0a1b2c3d-0000-4000-8000-000000000001', '0a1b2c3d-0000-4000-8000-000000000002'];
  const refused: unknown = await wholeId(context, '0a1b2c3d', async () => ids).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'usage', hint: `Nothing was done. Give one of these: ${ids.join(', ')}` });
  expect(await wholeId(context, '0a1b2c3d', async () => [...ids, '0a1b2c3d'])).toBe('0a1b2c3d');
  expect(await wholeId(context, '0A1B2C3D', async () => ids.slice(1))).toBe(ids[1]);
  expect(await wholeId(context, '0a1b2c3d', unreadable)).toBe('0a1b2c3d');
});

function unreadable(): Promise<never> {
  return Promise.reject(new SvcError('forbidden', 'no'));
}
