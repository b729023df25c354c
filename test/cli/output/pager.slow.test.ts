import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pagerFor } from '../../../src/cli/output/terminal.ts';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { Sink } from './streams.ts';
import { startSandbox } from '../../support/sandbox.ts';

const home = new Home();
const hasLess = spawnSync('less', ['--version']).status === 0;

/** Opens a terminal that runs svc with the pager in `env`. */
function session(argv: readonly string[], env: Readonly<Record<string, string>> = {}): TerminalSession {
  return new TerminalSession(process.execPath, [LAUNCHER, '--sandbox', ...argv], {
    env: home.environment(env),
    columns: 120,
  });
}

/** Writes an executable shell script, which marks its input so that a test sees that it ran, and returns its path. */
function marking(name: string, script: string): string {
  const file = home.file(name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const MARK = marking('mark', 'sed "s/^/paged: /"');

/** A pager that answers each Ctrl-C and reads Enter. A shell runs no trap for a Ctrl-C just before it waits for a line. */
const PATIENT = `
import { openSync, read } from 'node:fs';
process.on('SIGINT', () => console.log('still here'));
process.stdin.resume().once('end', () => {
  console.log('seen');
  read(openSync('/dev/tty', 'r'), () => console.log('left'));
});
`;

// A filter keeps reads of the logs from being folded into one line.
const LIST = ['logs', '--limit', '3', '--operation', 'read'];

describe('the pager', () => {
  it('the pager shows a list on a terminal, by SVC_PAGER before PAGER, and notices after it', async () => {
    const run = session(LIST, { SVC_PAGER: `${MARK} | cat`, PAGER: 'false' });
    expect((await run.exited).exitCode).toBe(0);
    const lines = run.screen().split('\n');
    expect(lines.filter((line) => line.startsWith('paged: '))).toHaveLength(4);
    expect(run.screen()).toMatch(/\npaged: [^]*\n3 matches in/);
  });

  it.each([
    ['--no-pager', [...LIST, '--no-pager'], {}],
    ['an empty SVC_PAGER', LIST, { SVC_PAGER: '' }],
    ['SVC_PAGER=cat', LIST, { SVC_PAGER: 'cat' }],
    ['CI', LIST, { CI: 'true' }],
    ['a coding agent', LIST, { AI_AGENT: 'some-agent' }],
    ['a dumb terminal', LIST, { TERM: 'dumb' }],
    ['--plain', [...LIST, '--plain'], {}],
    ['a pager that is not installed', LIST, { SVC_PAGER: 'no-such-pager-here -R' }],
    ['a tail', ['logs', 'tail', '--since', '1d', '--max', '3'], {}],
    ['a single object', ['tenant', 'show'], {}],
    ['JSON, which is no table', [...LIST, '-o', 'json'], {}],
    ['--jq', [...LIST, '--jq', '.operation'], {}],
    ['a response of svc api', ['api', 'GET', '/logs'], {}],
    ['a wait', ['au', 'submit', 'tokens.csv', '--wait'], {}],
    ['help', ['logs', '--help'], {}],
  ])('the pager stays away with %s', async (_, argv, env) => {
    writeFileSync(home.file('tokens.csv'), 'token,expiration_year,expiration_month,merchant_id\n');
    const run = session(argv, { SVC_PAGER: MARK, ...env });
    await run.exited;
    expect(run.screen()).not.toBe('');
    expect(run.screen()).not.toContain('paged: ');
  });

  it('the pager stays away from a pipe', async () => {
    const { stdout } = await home.svc(['--sandbox', ...LIST], { env: { SVC_PAGER: MARK } });
    expect(stdout).not.toContain('paged: ');
  });

  it('the pager that is left early ends the command quietly, and requests stop', async () => {
    const sandbox = await startSandbox({ directory: home.file('paged-sandbox'), port: 0 });
    try {
      const run = session(['logs', '--all', '--page-size', '20', '--base-url', sandbox.url], {
        SVC_PAGER: marking('early', 'head -n 3'),
      });
      expect((await run.exited).exitCode).toBe(0);
      expect(run.screen().split('\n')).toHaveLength(3);
      expect(sandbox.ledger().length).toBeLessThan(40);
    } finally {
      await sandbox.close();
    }
  });

  it('the pager keeps the exit code of a command that fails, and says why when it is over', async () => {
    const run = session(
      [...LIST, '--all', '--page-size', '20'].filter((word) => word !== '--limit' && word !== '3'),
      { SVC_PAGER: MARK, SVC_SANDBOX_FAULTS: '400@GET /logs:#2-99' },
    );
    expect((await run.exited).exitCode).toBe(6);
    expect(run.screen()).toMatch(/^paged: CREATED[^]*\nerror: /);
  });

  it('the pager keeps the screen when Ctrl-C is pressed, any number of times; reading stops', async () => {
    const pager = home.file('patient.mjs');
    writeFileSync(pager, PATIENT);
    const run = session(['logs', '--limit', '5000'], {
      SVC_PAGER: marking('patient', `exec '${process.execPath}' '${pager}'`),
    });
    await run.waitFor('seen');
    run.type('\u0003');
    await run.waitFor(/still here/);
    run.type('\u0003');
    await run.waitFor(/still here[^]*still here/);
    expect(run.screen()).not.toContain('left');
    run.type('\r');
    expect([0, 130]).toContain((await run.exited).exitCode);
    expect(run.screen()).toContain('left');
  });

  it.skipIf(!hasLess)(
    'the pager is less where nothing else is named: it waits for q, and leaves the text',
    async () => {
      const run = session(['logs', '--limit', '60', '--operation', 'read']);
      await run.waitFor(/^:$/m);
      expect(run.screen()).not.toContain('more results');
      run.type('q');
      expect((await run.exited).exitCode).toBe(0);
      expect(run.screen()).toMatch(/CREATED/);
    },
  );

  it.skipIf(!hasLess)('the pager is not noticed for a list that fits the screen', async () => {
    const run = session(LIST);
    expect((await run.exited).exitCode).toBe(0);
    expect(run.screen()).toMatch(/^CREATED[^]*\n3 matches in/);
  });
});

function host(env: Record<string, string>, isTTY = true): Parameters<typeof pagerFor>[0] {
  return { env: { PATH: '/usr/bin:/bin', ...env }, platform: 'linux', stdout: Object.assign(new Sink(), { isTTY }) };
}

describe('choosing a pager', () => {
  it('the choice of a pager takes SVC_PAGER, then PAGER, each with its options', () => {
    expect(pagerFor(host({ PAGER: 'sh -c x' }))).toBe('sh -c x');
    expect(pagerFor(host({ SVC_PAGER: 'sh', PAGER: 'nothing' }))).toBe('sh');
    expect(pagerFor(host({ PAGER: 'X=1 sh' }))).toBe('X=1 sh');
  });

  it('the choice of a pager takes none where there is nobody, or no such program', () => {
    expect(pagerFor(host({ PAGER: 'sh' }, false))).toBeUndefined();
    expect(pagerFor(host({ PAGER: '/no/such/program' }))).toBeUndefined();
  });
});
