import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { sandboxThreeDsCards } from '../../src/emulator/vault/cards.ts';
import { type Finished, Home, LAUNCHER } from '../support/svc.ts';
import { TerminalSession } from '../support/terminal.ts';
import { startSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';

const directory = temporaryDirectory();
let sandbox: RunningSandbox;
let home: Home;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, processingMs: 0 });
  env = {
    SVC_BASE_URL: sandbox.url,
    SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
    SVC_SPARE_KEY: 'canary',
    SVC_SPARE_KEY_FILE: '/canary',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary',
    OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'authorization=canary',
    AWS_SECRET_ACCESS_KEY: 'of-the-operator',
    HTTPS_PROXY: 'http://user:password@proxy.invalid',
    LC_ALL: 'C',
  };
});
afterAll(() => sandbox.close());
beforeEach(() => (home = new Home()));

function svc(...argv: readonly string[]): Promise<Finished> {
  return home.svc(argv, { env });
}

/** Waits until the child has written the output of `env` to a file, and returns it. */
async function environmentOfChild(): Promise<string> {
  const file = home.file('environment');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toContain('PATH=');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text;
}

const WRITE = 'env > environment.part && mv environment.part environment';
const KEYS = /canary|sandbox-(?:management|private)-key/;

describe("the operator's own commands", () => {
  it("R63: the operator's own commands get no key as key commands, and keep the rest", async () => {
    const command = `${WRITE}; echo sandbox-management-key`;
    await svc('login', '--base-url', sandbox.url, '--management-key-command', command);
    const { SVC_MANAGEMENT_API_KEY: _key, SVC_BASE_URL: _url, ...without } = env;
    expect(await home.svc(['logs', '--limit', '1'], { env: without })).toMatchObject({ code: 0 });
    expectOperatorsOwn(await environmentOfChild());
  });

  it("R63: the operator's own commands get the keys of the sandbox from sandbox exec, and no other", async () => {
    const keys = { SVC_PRIVATE_API_KEY: 'canary', SVC_API_KEY: 'canary', SVC_PROFILE: 'canary' };
    const argv = ['sandbox', 'exec', '--', 'sh', '-c', WRITE];
    expect(await home.svc(argv, { env: { ...env, ...keys } })).toMatchObject({ code: 0 });
    const text = await environmentOfChild();
    expect(text).not.toContain('canary');
    expect(text).toContain('SVC_PRIVATE_API_KEY=sandbox-private-key');
    expect(text).toContain('AWS_SECRET_ACCESS_KEY=');
  });
});

describe('what shows something', () => {
  it('R63: a viewer gets an allowlist: the pager', async () => {
    const pager = `${WRITE}; cat`;
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'logs', '--limit', '3'], {
      cwd: home.path,
      env: { ...home.environment(env), SVC_PAGER: pager },
    });
    expect(await session.exited).toEqual({ exitCode: 0 });
    const text = await environmentOfChild();
    expectViewers(text);
    expect(text).toContain('LESS=FRX');
    expect(text).toMatch(/^TERM=/m);
  });

  it('R63: a viewer gets an allowlist: the browser', async () => {
    writeFileSync(home.file('xdg-open'), `#!/bin/sh\ncd '${home.path}' && ${WRITE}\n`, { mode: 0o755 });
    const card = sandboxThreeDsCards().find(({ scenario }) => /challenge/i.test(scenario));
    const created = await svc('3ds', 'create', '--token', card?.token ?? '', '--type', 'customer');
    const { id } = JSON.parse(created.stdout) as { id: string };
    const template = await svc('3ds', 'template', 'payment-transaction');
    writeFileSync(home.file('body.json'), template.stdout);
    const argv = ['3ds', 'authenticate', id, '--file', 'body.json', '--open'];
    const path = `${home.path}:${process.env['PATH']}`;
    const opening = await home.svc(argv, { env: { ...env, PATH: path } });
    expect(opening).toMatchObject({ code: 0 });
    expectViewers(await environmentOfChild());
  });
});

function expectOperatorsOwn(text: string): void {
  expect(text).not.toMatch(KEYS);
  expect(text).toContain('AWS_SECRET_ACCESS_KEY=of-the-operator');
  expect(text).toContain('HTTPS_PROXY=');
}

function expectViewers(text: string): void {
  expect(text).not.toMatch(KEYS);
  expect(text).not.toMatch(/^(?:SVC|AWS|OTEL)_|PROXY/m);
  expect(text).toContain('LC_ALL=C\n');
  expect(text).toMatch(/^HOME=/m);
}
