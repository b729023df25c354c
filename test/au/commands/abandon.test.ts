import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';

async function refusal(word: string): Promise<unknown> {
  return errorIn(await svcHere(['--sandbox', 'au', 'abandon', word]))['message'];
}

it('svc au abandon names the word that is no run, unless it may be a secret', async () => {
  expect(await refusal('nope')).toBe('no run is named "nope"; a job by itself cannot be abandoned');
  expect(await refusal('key_7Qz4Xw91')).not.toContain('7Qz4');
});
