import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { finished, Home, LAUNCHER } from '../support/svc.ts';

let home: Home;
beforeEach(() => (home = new Home()));

/** Starts the tool through a link of this name, as npm installs it. */
async function started(name: string, ...argv: string[]): Promise<string> {
  const link = join(home.path, name);
  symlinkSync(LAUNCHER, link);
  const env = home.environment({ SVC_STATE_DIR: home.file('state') });
  const child = spawn(process.execPath, [link, ...argv], { cwd: home.path, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end();
  const { stdout, stderr } = await finished(child);
  return stdout + stderr;
}

it('a tail of the sandbox ends with the command that resumes it in the sandbox, filters and form included', async () => {
  const env = { SVC_STATE_DIR: home.file('state') };
  const asked = ['--operation', 'read', '--grep', "it's|.", '-o', 'csv', '--fields', 'message'];
  const argv = ['--sandbox', 'logs', 'tail', '--since', '1h', '--max', '1', ...asked];
  const { code, stderr } = await home.svc(argv, { env });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /resume with\n {2}svc --sandbox logs tail --checkpoint \S+\.json --operation read --grep 'it'\\''s\|\.' --output csv --fields message\n/,
  );
});

it('names the step after a new session of the sandbox as it can be typed', async () => {
  const env = { SVC_STATE_DIR: home.file('state') };
  const cards = await home.svc(['sandbox', 'cards', '--3ds', '--jq', '.token // empty'], { env });
  const token = cards.stdout.split('\n')[0] ?? '';
  const argv = ['--sandbox', '3ds', 'create', '--token', token, '--type', 'customer'];
  const { stdout, stderr } = await home.svc(argv, { env });
  const { id } = JSON.parse(stdout) as { id: string };
  expect(stderr).toContain(`then authenticate:\n  svc --sandbox 3ds authenticate ${id} --file <body>\n`);
});

describe('printed commands begin with the name that was typed', () => {
  it('the next command of an error, in the line and as words, when svc was started as svc-cli', async () => {
    const error = JSON.parse(await started('svc-cli', 'tenant', 'show', '-o', 'json')) as Record<string, unknown>;
    expect(error['next']).toBe('svc-cli login');
    expect(error['next_words']).toEqual(['svc-cli', 'login']);
  });

  it('usage and examples of the help when svc was started as svc-cli', async () => {
    const text = await started('svc-cli', 'help', 'tenant', 'diff');
    expect(text).toContain('Usage: svc-cli tenant diff <file|->');
    expect(text).not.toMatch(/\bsvc tenant/);
  });

  it.each(['svc', 'other', 'my-svc-cli'])('the name svc when it was started as %s', async (name) => {
    expect(await started(name, '--help')).toContain('svc <command> --help');
  });
});
