import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, type HereResult, startSandboxHere, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const KEY = 'sandbox-management-key';

/** Stores the sandbox's management key in the profile `default` of an empty config directory. */
async function loggedIn(): Promise<{ svc: (...argv: string[]) => Promise<HereResult>; config: () => string }> {
  const directory = temporaryDirectory();
  const { baseUrl } = await startSandboxHere();
  const env = { SVC_CONFIG_DIR: directory, SVC_CACHE_DIR: join(directory, 'cache'), PATH: process.env['PATH'] ?? '' };
  const login = ['login', '--base-url', baseUrl.href, '--management-key-stdin'];
  succeeded(await svcHere(login, { env, input: `${KEY}\n` }));
  return {
    svc: (...argv) => svcHere(argv, { env }),
    config: () => readFileSync(join(directory, 'config.json'), 'utf8'),
  };
}

const STORE = ['login', '--management-key-command'] as const;

describe('svc login --management-key-command', () => {
  it.each([
    ['that does not exist', 'no-such-command-7q show svc', 3, 'ended with exit code 127'],
    ['that prints nothing', 'true', 3, 'printed nothing'],
    ['that prints a key of another service', 'echo no-such-key-000', 4, 'It was not stored'],
    ['that prints a private key', 'echo sandbox-private-key', 4, 'private key'],
  ])('svc login keeps the stored key before a command %s', async (_, command, code, text) => {
    const { svc, config } = await loggedIn();
    const before = config();
    ended(await svc(...STORE, command), code, text);
    expect(config()).toBe(before);
  });

  it('svc login stores a command that was not run with --no-check', async () => {
    const { svc, config } = await loggedIn();
    ended(await svc(...STORE, 'no-such-command-7q', '--no-check'), 0, 'stored the management key command');
    expect(config()).not.toContain('"value"');
    expect(config()).toContain('"command": "no-such-command-7q"');
  });
});
