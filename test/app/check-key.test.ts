import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { rememberTenant, reportProduction } from '../../src/app/check-key.ts';
import { Messages } from '../../src/output/messages.ts';
import { createPalette } from '../../src/output/terminal.ts';
import { outputOver, Sink } from '../output/streams.ts';

const home = mkdtempSync(`${tmpdir()}/svc-tenants-`);
const system = { env: { SVC_CACHE_DIR: home }, platform: 'linux', home, cwd: home } as const;
afterAll(() => rmSync(home, { recursive: true, force: true }));

it('says loudly that a change is made at a production tenant, and nothing at a test tenant', async () => {
  const url = 'https://service.example';
  rememberTenant(system, 'prod', url, { id: '1', name: 'Acme', type: 'production' });
  rememberTenant(system, 'test', url, { id: '2', name: 'Acme QA', type: 'test' });
  expect(await said('prod', url)).toBe(
    '\u001b[1m\u001b[7m\u001b[31m PRODUCTION \u001b[39m\u001b[27m\u001b[22m \u001b[1mAcme\u001b[22m\n',
  );
  expect(await said('test', url)).toBe('');
  expect(await said('prod', 'https://other.example')).toBe('');
});

async function said(profile: string, url: string): Promise<string> {
  const sink = new Sink();
  const notices = new Messages(outputOver(sink), 'normal');
  const origin = { kind: 'flag', name: '--base-url' } as const;
  const settings = {
    sandbox: false,
    baseUrl: { value: new URL(url), origin },
    profile: { value: profile, origin },
  };
  const noticePalette = await createPalette('always', {}, { isTerminal: true });
  reportProduction({ settings, system, notices, noticePalette });
  await notices.settled();
  return sink.text;
}
