import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { Place } from './support.ts';

const place = new Place();
const directory = mkdtempSync(join(tmpdir(), 'svc-3ds-sandbox-'));
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, port: 0 });
});
afterAll(async () => {
  await sandbox.close();
  place.remove();
  rmSync(directory, { recursive: true, force: true });
});

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

describe('3DS against the sandbox', () => {
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
});
