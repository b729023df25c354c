import { describe, expect, it } from 'vitest';
import type { FaultServer } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { KEY } from '../../support/run-here.ts';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { methods, TENANT, tenantServer, type TenantScript } from './support.ts';

const PRODUCTION = { ...TENANT, type: 'production', name: 'Acme' };

describe('svc tenant delete, at a terminal', () => {
  const home = new Home();

  async function ask(argv: readonly string[], script: TenantScript): Promise<[TerminalSession, FaultServer]> {
    const server = await tenantServer(script);
    const env = home.environment({ SVC_BASE_URL: server.url.href, SVC_API_KEY: KEY });
    return [
      new TerminalSession(process.execPath, [LAUNCHER, 'tenant', 'delete', ...argv], { env, columns: 100 }),
      server,
    ];
  }

  it('R56: svc tenant delete at a terminal deletes after its name was typed', async () => {
    const [session, server] = await ask([], {});
    expect(await session.waitFor('type its name (Acme QA):')).toContain(` TEST  Acme QA (${TENANT.id})`);
    expect(methods(server)).toBe('GET');
    session.type('Acme QA\r');
    expect(await session.exited).toMatchObject({ exitCode: 0 });
    expect(methods(server)).toBe('GET DELETE');
    expect(session.screen()).toContain('deleted the TEST tenant "Acme QA"');
  });

  it.each([
    ['another name', 'acme qa\r', 2],
    ['nothing', '\r', 2],
    ['yes', 'y\r', 2],
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 2],
  ])('R56: svc tenant delete at a terminal deletes nothing after %s', async (_, keys, exitCode) => {
    const [session, server] = await ask(['--yes'], {});
    await session.waitFor('type its name');
    session.type(keys);
    expect(await session.exited).toMatchObject({ exitCode });
    expect(methods(server)).toBe('GET');
  });

  it('R56: svc tenant delete at a terminal does not even ask about a production tenant without --production', async () => {
    const [session, server] = await ask([], { reads: [PRODUCTION] });
    expect(await session.exited).toMatchObject({ exitCode: 2 });
    await session.waitFor('--production');
    expect(session.screen()).not.toContain('type its name');
    expect(methods(server)).toBe('GET');
  });

  it('R49 and R56: svc tenant delete at a terminal shows a hostile name cleaned, and takes what it shows', async () => {
    const [session, server] = await ask(['--production'], { reads: [{ ...PRODUCTION, name: 'A\u001b[2Jb\u202ec' }] });
    await session.waitFor('type its name');
    session.type(String.raw`A\x1b[2Jb\u202ec` + '\r');
    expect(await session.exited).toMatchObject({ exitCode: 0 });
    expect(session.raw).not.toContain('\u001b[2J');
    expect(session.raw).not.toContain('\u202e');
    expect(session.screen()).toContain(' PRODUCTION ');
    expect(methods(server)).toBe('GET DELETE');
  });

  it('R56: svc tenant delete at a terminal never takes Enter for the name of a tenant without one', async () => {
    const [session, server] = await ask([], { reads: [{ ...TENANT, name: ' ' }] });
    expect(await session.exited).toMatchObject({ exitCode: 2 });
    await session.waitFor('--confirm');
    expect(methods(server)).toBe('GET');
  });
});

describe('svc tenant update, at a terminal', () => {
  const home = new Home();

  it.each([
    ['y\r', 'GET GET PUT', 'updated the tenant B', 0],
    ['\r', 'GET', 'nothing was changed', 2],
  ])(
    'R56: svc tenant update at a terminal asks first, naming a production tenant, and takes %j',
    async (keys, sent, words, exitCode) => {
      const server = await tenantServer({ reads: [PRODUCTION], put: (body) => json({ ...PRODUCTION, ...body }) });
      const env = home.environment({ SVC_BASE_URL: server.url.href, SVC_API_KEY: KEY });
      const session = new TerminalSession(process.execPath, [LAUNCHER, 'tenant', 'update', '--name', 'B'], { env });
      await session.waitFor('Update the PRODUCTION tenant "Acme"? [y/N]');
      expect(session.raw).toContain('\u001b[31m  - "Acme"');
      session.type(keys);
      expect(await session.exited).toMatchObject({ exitCode });
      await session.waitFor(words);
      expect(methods(server)).toBe(sent);
    },
  );
});
