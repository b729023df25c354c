import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { finished, Home, LAUNCHER } from '../support/svc.ts';

const home = new Home();
writeFileSync(home.file('export.csv'), exampleRequestFile());

const HELP = [['--help'], ['logs', '--help'], ['--version']].map((words) => words.join(' '));

function shell(line: string): ReturnType<typeof finished> {
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd: home.path,
    env: home.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end();
  return finished(child);
}

const svc = (argv: readonly string[]): string => `'${process.execPath}' '${LAUNCHER}' ${argv.join(' ')}`;

describe('what is written', () => {
  it.each(HELP)('R51: %s fails when its output cannot be written', async (line) => {
    expect(await shell(`${svc(line.split(' '))} > /dev/full`)).toMatchObject({ code: 1 });
    expect(await shell(`${svc(line.split(' '))} >/dev/null`)).toMatchObject({ code: 0 });
  });

  it('R51: a tail does not advance its checkpoint when its output cannot be written', async () => {
    const tail = svc(['--sandbox', 'logs', 'tail', '--since', '1h', '--max', '3', '--checkpoint', 'tail.json']);
    expect(await shell(`${tail} > /dev/full`)).toMatchObject({ code: 1 });
    expect(JSON.parse(readFileSync(home.file('tail.json'), 'utf8'))).toMatchObject({ passed: [] });
  });

  it.each(['--version', '--sandbox tenant show', '--sandbox logs archive closed'])(
    'R51: %s discards what it prints where its output is closed',
    async (line) => {
      const { code, stderr } = await shell(`${svc(line.split(' '))} >&-`);
      expect(code).toBe(0);
      expect(stderr).not.toContain('error');
    },
  );

  it.each([
    '--sandbox tenant export',
    '--sandbox au create',
    'completion bash',
    '3ds template top-up',
    '3ds test --print',
    'au prepare export.csv',
    'au prepare export.csv --out -',
  ])('R51: %s only prints, and fails before it does anything where its output is closed', async (line) => {
    const { code, stderr } = await shell(`${svc(line.split(' '))} >&-`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('standard output is closed') });
    expect(await shell(`${svc(line.split(' '))} >/dev/null`)).toMatchObject({ code: 0 });
  });

  it('R51: a reader that goes away ends the command quietly and stops its requests', async () => {
    const { code, stdout, stderr } = await shell(
      `${svc(['--sandbox', '--debug', 'logs', '--all', '--page-size', '10'])} 2> trace | head -1; exit \${PIPESTATUS[0]}`,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveProperty('created_at');
    const { stdout: requests } = await shell("grep -c '^> GET' trace; grep -ciE 'error|EPIPE' trace");
    const [count, errors] = requests.split('\n').map(Number);
    expect(count).toBeLessThan(60);
    expect(errors).toBe(0);
  });

  it('R51: a slow reader gets every byte', async () => {
    const { code, stdout } = await shell(`${svc(['--sandbox', 'logs', '--all'])} 2>/dev/null | (sleep 0.5; wc -l)`);
    expect(code).toBe(0);
    expect(Number(stdout)).toBeGreaterThan(2_000);
  });

  it('output shows upload addresses only when asked to', async () => {
    const hidden = await home.svc(['--sandbox', 'au', 'create', '--debug', '-o', 'json']);
    expect(JSON.parse(hidden.stdout)).toMatchObject({ upload_url: '(hidden)', status: 'pending' });
    expect(hidden.stdout + hidden.stderr).not.toMatch(/signature/i);
    const shown = await home.svc(['--sandbox', 'au', 'create', '--show-urls', '-o', 'json']);
    expect((JSON.parse(shown.stdout) as { upload_url: string }).upload_url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/.*signature/i,
    );
  });
});
