import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/security/redact.ts';
import type { Environment } from '../../../src/base/system.ts';
import { confirmCost, reportTenant, tenantMark } from '../../../src/cli/app/tenant-mark.ts';
import { rememberTenant } from '../../../src/cli/config/known-keys.ts';
import type { Settings } from '../../../src/cli/config/settings.ts';
import { Messages } from '../../../src/cli/output/messages.ts';
import { createPalette } from '../../../src/cli/output/terminal.ts';
import { plainPalette } from '../../../src/cli/output/view.ts';
import { outputOver, Sink } from '../output/streams.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const home = temporaryDirectory();
const host = { platform: 'linux', home, cwd: home } as const;
const URL_TEXT = 'https://service.example';
const cached = { system: { ...host, env: { SVC_CACHE_DIR: home } }, out: createRedactor() };
const keys = { private: { value: 'key_of_the_profile', base_url: URL_TEXT } };
rememberTenant(cached, { profile: 'prod', baseUrl: URL_TEXT, keys }, { id: '1', name: 'Acme', type: 'production' });
rememberTenant(cached, { profile: 'test', baseUrl: URL_TEXT, keys }, { id: '2', name: 'Acme QA', type: 'test' });

/** Returns the system and the settings of a command line with this profile and address. */
function place(profile: string, url: string, env: Environment, key = 'key_of_the_profile') {
  const origin = { kind: 'flag', name: '--base-url' } as const;
  const stored: Settings['stored'] = { keys: { private: { value: key, base_url: url } } };
  const settings = {
    sandbox: false,
    stored,
    baseUrl: { value: new URL(url), origin },
    profile: { value: profile, origin },
  };
  return { system: { ...host, env: { SVC_CACHE_DIR: home, ...env } }, settings };
}

async function marked(...where: Parameters<typeof place>): Promise<string> {
  const sink = new Sink();
  const notices = new Messages(outputOver(sink), 'normal');
  const noticePalette = await createPalette('always', {}, { isTerminal: true });
  reportTenant({ ...place(...where), notices, noticePalette, noticeColumns: () => Infinity });
  await notices.flushed();
  return sink.text;
}

async function asked(where: Parameters<typeof place>, isUnexpected = false): Promise<readonly string[]> {
  const questions: string[] = [];
  const prompts = () => ({ confirmIfPossible: async (question: string) => void questions.push(question) });
  const context = { ...place(...where), prompts, reportTenant: async () => undefined };
  await confirmCost(context, 'submit 6 rows', { unchanged: 'nothing was submitted', isUnexpected });
  return questions;
}

describe('the mark of the tenant', () => {
  it('the mark of the tenant says loudly that a change is made at a production tenant, and nothing at a test tenant', async () => {
    const mark = await marked('prod', URL_TEXT, {});
    expect(mark.startsWith('\u001b[1m\u001b[7m\u001b[31m')).toBe(true);
    expect(stripVTControlCharacters(mark)).toBe(' PRODUCTION  Acme (1)\n');
    expect(await marked('test', URL_TEXT, {})).toBe('');
  });

  it('the mark of the tenant is a bare word where there is no color to give it a background', () => {
    expect(tenantMark('production', plainPalette)).toBe('PRODUCTION');
  });

  it('the mark of the tenant shows a tenant that is not known as unknown, with the profile and the base URL', async () => {
    const unknown = await marked('prod', 'https://other.example', {});
    expect(unknown).toContain(' UNKNOWN TENANT ');
    expect(unknown).toContain('profile prod, https://other.example\n');
  });

  it('the mark of the tenant does not take the tenant of a profile for that of a key from the environment', async () => {
    expect(await marked('test', URL_TEXT, { SVC_PRIVATE_API_KEY: 'key_of_another' })).toContain(' UNKNOWN TENANT ');
    expect(await marked('test', URL_TEXT, { SVC_API_KEY_FILE: 'key.txt' })).toContain(' UNKNOWN TENANT ');
  });

  it('the mark of the tenant says nothing where the only key is the one that every sandbox takes', async () => {
    expect(await marked('local', 'http://127.0.0.1:4010', {}, 'sandbox-private-key')).toBe('');
    expect(await marked('local', 'http://127.0.0.1:4010', { SVC_PRIVATE_API_KEY: 'sandbox-private-key' })).toBe('');
    expect(await marked('local', 'http://127.0.0.1:4010', {})).toContain(' UNKNOWN TENANT ');
  });
});

describe('the question before something is paid for', () => {
  it('the question before something is paid for names the tenant, and is not asked at a test tenant', async () => {
    expect(await asked(['prod', URL_TEXT, {}])).toEqual([
      'PRODUCTION tenant "Acme": submit 6 rows? This may be billed.',
    ]);
    expect(await asked(['test', URL_TEXT, {}])).toEqual([]);
  });

  it('the question before something is paid for is asked where the tenant is not known', async () => {
    expect(await asked(['new', URL_TEXT, {}])).toEqual(['UNKNOWN TENANT: submit 6 rows? This may be billed.']);
  });

  it('the question before something is paid for is asked where a profile has another key than that of the test tenant', async () => {
    expect(await asked(['test', URL_TEXT, {}, 'key_of_production'])).toEqual([
      'UNKNOWN TENANT: submit 6 rows? This may be billed.',
    ]);
    expect(await marked('test', URL_TEXT, {}, 'key_of_production')).toContain(' UNKNOWN TENANT ');
  });

  it('the question before something unexpected is done is asked at a test tenant and at a sandbox too, without a word of a bill', async () => {
    expect(await asked(['test', URL_TEXT, {}], true)).toEqual([
      expect.stringMatching(/^TEST tenant ".*": submit 6 rows\?$/),
    ]);
    const sandbox = { SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
    expect(await asked(['local', 'http://127.0.0.1:4010', sandbox], true)).toEqual(['sandbox: submit 6 rows?']);
    expect(await asked(['prod', URL_TEXT, {}], true)).toEqual(await asked(['prod', URL_TEXT, {}]));
  });
});
