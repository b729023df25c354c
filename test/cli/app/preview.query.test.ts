import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';

const DRY_RUN = ['api', 'POST', '/account-updater/jobs', '--dry-run'];
const baseUrl = new URL('http://127.0.0.1:9');

it('R78 --jq is applied to the request of a dry run, and --fields is refused', async () => {
  const queried = await svcHere([...DRY_RUN, '--jq', '.method'], { baseUrl });
  expect([queried.code, queried.stdout.trim()]).toEqual([0, 'POST']);
  const chosen = await svcHere([...DRY_RUN, '--fields', 'id'], { baseUrl });
  expect([chosen.code, chosen.stdout, errorIn(chosen)['code']]).toEqual([2, '', 'usage']);
});
