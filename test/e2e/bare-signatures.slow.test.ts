import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { type FaultServer, serve } from '../support/fault-server.ts';
import { answer, json } from '../support/fault-steps.ts';
import { svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

// The signature is short and plain, so that only its place in an address shows what it is.
const SIGNATURE = 'Zq8x/7Lm2.kQ';
const ENCODED = encodeURIComponent(SIGNATURE);
const CREDENTIAL = 'a-vault~key';
const JOB = '0c3a7d1e-5b1f-4d0a-9a57-3f1f5d0e2b6a';
const TENANT = '6d8e1c3a-0f52-4b7e-9a41-2c5f8e7d6b10';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
  writeFileSync(join(directory, 'tokens.csv'), exampleRequestFile());
});

/** Starts a service and its store in one server. The store refuses every request with this status and message. */
async function serviceWhoseStoreSays(status: number, message: string): Promise<URL> {
  const server: FaultServer = await serve(({ method, path }) => {
    const address = `${server.url.href}store?signature=${ENCODED}&credential=${CREDENTIAL}`;
    const times = { created_at: new Date().toISOString(), expires_at: '2099-01-01T00:00:00Z' };
    const pending = { id: JOB, tenant_id: TENANT, status: 'pending', upload_url: address, ...times };
    if (path.startsWith('/store'))
      return answer(status, `<Error><Code>Odd</Code><Message>${message}</Message></Error>`);
    if (method === 'POST') return json(pending, 201);
    if (path.startsWith('/account-updater/jobs?')) return json({ data: [pending], pagination: {} });
    return path.includes('done') ? json({ id: 'done', status: 'completed', download_url: address }) : json(pending);
  });
  return server.url;
}

const COMMANDS = [`au upload ${JOB} FILE`, 'au download done --out FILE.results', 'au submit FILE'];

it.each([403, 404, 500])(
  'R06 and R07: a store that repeats the bare signature has it shown nowhere, and kept nowhere, with status %i',
  async (status) => {
    const words = `denied: ${SIGNATURE} or ${ENCODED} by ${CREDENTIAL}`;
    const baseUrl = await serviceWhoseStoreSays(status, words);
    for (const command of COMMANDS) {
      // Each begins with an empty ledger, so that each sends the rows.
      const env = { XDG_STATE_HOME: join(directory, command.split(' ')[1] ?? '') };
      const argv = [...command.replace('FILE', join(directory, 'tokens.csv')).split(' '), '--debug'];
      const { code, stdout, stderr } = await svcHere(argv, { baseUrl, env, cwd: directory });
      expect(code, stderr).toBeGreaterThan(0);
      expect(stderr, command).toContain('store');
      for (const secret of [SIGNATURE, ENCODED, CREDENTIAL])
        for (const text of [stdout, stderr, ...filesOf(directory)]) expect(text, command).not.toContain(secret);
    }
  },
);

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name, 'utf8'));
}
