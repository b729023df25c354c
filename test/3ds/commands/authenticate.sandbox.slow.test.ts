import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { Place } from './support.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const place = new Place();
const directory = temporaryDirectory();
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, port: 0 });
});

afterAll(() => sandbox.close());

function privateKey(): string {
  return sandbox.keys.find(({ kind }) => kind === 'private')?.value ?? '';
}

/** Runs the tool against the sandbox. */
function svc(...argv: readonly string[]): ReturnType<Place['svc']> {
  const env = { SVC_BASE_URL: sandbox.url, SVC_PRIVATE_API_KEY: privateKey(), SVC_PACING: 'off' };
  return place.svc(argv, { env });
}

/** Creates a session and authenticates it with the template of an authentication type. */
async function authenticated(
  token: string,
  session: string,
  type: string,
  ...more: readonly string[]
): ReturnType<Place['svc']> {
  const created = await svc('3ds', 'create', '--token', token, '--type', session);
  expect(created.stderr).toMatch(/^  svc 3ds authenticate /m);
  const { id } = JSON.parse(created.stdout) as { id: string };
  const template = await svc('3ds', 'template', type, '--session-type', session);
  return svc('3ds', 'authenticate', id, '--file', place.file('body.json', template.stdout), ...more);
}

it('3DS against the sandbox shows people no authentication value, and programs all of them', async () => {
  const card = sandboxThreeDsCards().find(({ scenario }) => /frictionless/i.test(scenario));
  const run = await authenticated(card?.token ?? '', 'customer', 'payment-transaction');
  const response = JSON.parse(run.stdout) as { authentication_value?: string };
  expect(response.authentication_value).toMatch(/^[A-Za-z0-9+/]{27}=$/);
  expect(run.stdout).not.toContain('(hidden)');
  const again = await authenticated(card?.token ?? '', 'customer', 'payment-transaction', '-o', 'table');
  expect(again.stdout).toMatch(/authentication.value +\(hidden\)/);
  expect(again.stderr).toContain('are hidden; use -o json to see them');
});

describe('3DS against the sandbox', () => {
  it('R57: the sandbox takes the template of every combination', async () => {
    const [card] = sandboxThreeDsCards();
    const { SESSION_TYPES_BY_AUTHENTICATION_TYPE: types } = await import('../../../src/schema/three-ds/values.ts');
    for (const [type, sessions] of Object.entries(types))
      for (const session of sessions) {
        const { code, stderr } = await authenticated(card?.token ?? '', session, type);
        expect({ type, session, code, stderr }).toMatchObject({ type, session, code: 0 });
      }
  });
});

it('a script that follows the printed command after a hidden challenge authenticates once', async () => {
  const hiding = mkdtempSync(join(tmpdir(), 'svc-3ds-hiding-'));
  const service = await startSandbox({ directory: hiding, port: 0, hideOpenChallenges: true });
  const env = {
    SVC_BASE_URL: service.url,
    SVC_PRIVATE_API_KEY: service.keys.find(({ kind }) => kind === 'private')?.value ?? '',
    SVC_PACING: 'off',
  };
  const run = (...argv: readonly string[]): ReturnType<Place['svc']> =>
    place.svc(argv, { env, clock: new FakeClock() });
  const created = await run('3ds', 'create', '--card', 'Successful Challenge');
  const { id } = JSON.parse(created.stdout) as { id: string };
  place.file('body.json', (await run('3ds', 'template', 'payment-transaction')).stdout);
  const send = ['3ds', 'authenticate', id, '--file', 'body.json'];
  succeeded(await run(...send));
  ended(await run('3ds', 'challenge-result', id, '--wait'), 11, {
    error: { next: `svc 3ds challenge-result ${id} --wait` },
  });
  ended(await run(...send, '--yes'), 13, { error: { next: `svc 3ds challenge-result ${id} --wait` } });
  await service.close();
  rmSync(hiding, { recursive: true, force: true });
});
