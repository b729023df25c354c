import { expect, it } from 'vitest';
import { undocumented } from './documented-traffic.ts';

const entry = { at: '', method: 'GET', headerNames: [], headers: {}, received: 0, sent: 0, aborted: false };

it('a status that the OpenAPI document does not list is found, unless a fault made it', () => {
  const entries = [
    { ...entry, path: '/logs?size=1', status: 200 },
    { ...entry, path: '/logs?size=1', status: 418 },
    { ...entry, path: '/logs', status: 418, fault: true } as const,
    { ...entry, path: '/logs', status: 418, aborted: true },
    { ...entry, path: '/no/such/path', status: 404 },
    { ...entry, method: 'HEAD', path: '/account-updater/jobs/5f0c', status: 404 },
    { ...entry, method: 'POST', path: '/3ds/sessions/5f0c/authenticate', status: 424 },
  ];
  expect(undocumented(entries)).toEqual(['GET /logs 418']);
});
