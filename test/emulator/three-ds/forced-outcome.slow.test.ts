import { expect, it } from 'vitest';
import { WHITELIST_SOURCES, WHITELIST_STATUSES } from '../../../src/schema/three-ds/values.ts';
import { authenticated, setOutcomes, threeDsSandbox } from './three-ds-harness.ts';

it('every whitelist status of every source can be produced beside the outcome of the card', async () => {
  const on = await threeDsSandbox();
  for (const status of WHITELIST_STATUSES)
    for (const source of WHITELIST_SOURCES) {
      await setOutcomes(on, `whitelist=${status},source=${source},mandated=Y,eci=06`);
      expect(await authenticated(on)).toMatchObject({
        authentication_status: 'successful',
        whitelist_status: status,
        whitelist_status_source: source,
        acs_challenge_mandated: 'Y',
        eci: '06',
      });
    }
});
