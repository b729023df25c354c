import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FaultServer } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { type HereResult, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { until } from '../../support/until.ts';

const home = new Home();

/** Runs a command line at a sandbox. */
async function svc(...argv: string[]): Promise<HereResult> {
  return svcHere(argv, await startSandboxHere());
}

it('--jq writes texts bare and anything else as JSON on one line', async () => {
  const { code, stdout } = await svc('tenant', 'show', '--jq', '.type, .settings');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^test\n\{"fingerprint_tokens":"true",.*\}\n$/);
});

it('--jq sees each entry of a list by itself, and with -o json the list as one array', async () => {
  const list = ['logs', '--limit', '150'];
  const each = await svc(...list, '--jq', '.operation');
  expect(each.stdout.trimEnd().split('\n')).toHaveLength(150);
  const whole = await svc(...list, '-o', 'json', '--jq', 'length, (map(.operation) | unique)');
  expect(whole.stdout).toMatch(/^150\n\["create",.*\]\n$/);
});

it('--jq sees what --fields chose, and no address', async () => {
  const created = await svc('au', 'create', '--jq', '.upload_url, keys');
  expect(created.stdout).toMatch(/^\(hidden\)\n\[.*"upload_url".*\]\n$/);
  const chosen = await svc('logs', '-n', '1', '--fields', 'operation', '--jq', 'keys');
  expect(chosen.stdout).toBe('["operation"]\n');
});

it.each([
  ['api', 'GET', '/logs', '--query', 'size=2', '--jq', '.data[].operation'],
  ['api', 'GET', '/logs', '--paginate', '--query', 'size=50', '--jq', '.operation'],
  ['3ds', 'template', 'add-card', '--jq', '.authentication_type'],
  ['explain', '01', '--jq', '.kind'],
  ['commands', '--jq', '.command'],
  ['logs', 'tail', '--since', '1d', '--max', '3', '--jq', '.operation'],
])('--jq works with svc %s %s', async (...argv) => {
  const { code, stdout } = await svc(...argv);
  expect({ code, empty: stdout === '' }).toEqual({ code: 0, empty: false });
  expect(stdout).not.toMatch(/^"/m);
});

it('--jq that is wrong ends with 2 before any request of the service', async () => {
  const server = await FaultServer.start([json({})]);
  try {
    for (const argv of [
      ['au', 'create', '--jq', '.id)'],
      ['api', 'POST', '/3ds/sessions', '--jq', 'nonsense'],
      ['logs', '-o', 'csv', '--jq', '.id'],
      ['tenant', 'delete', '--yes', '--jq', '.'],
    ])
      expect((await svcHere(argv, { baseUrl: server.url })).code).toBe(2);
    expect(server.ledger).toEqual([]);
  } finally {
    await server.close();
  }
});

it('--jq that fails on an entry continues, says why, and ends with 1', async () => {
  const { code, stdout, stderr } = await svc('logs', '--limit', '120', '--jq', '.operation, (.message | .nothing)');
  expect(code).toBe(1);
  expect(stdout.trimEnd().split('\n')).toHaveLength(120);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.filter((line) => line.startsWith('warning: --jq: Cannot index string'))).toHaveLength(5);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ code: 'expression', exit_code: 1, failed: 120, seen: 120 });
});

it('R52: --jq prints nothing of a list that broke off, where it was to see it whole', async () => {
  const env = { SVC_SANDBOX_FAULTS: '500@GET /logs:#2-99' };
  const list = ['--sandbox', 'logs', '--all', '--page-size', '100'];
  const whole = await svcHere([...list, '-o', 'json', '--jq', 'length'], { env });
  expect(whole).toMatchObject({ code: 8, stdout: '' });
});

it('R49: --jq sends a terminal no escape that was in the data', async () => {
  const args = ['tenant', 'show', '--jq', String.raw`"a\u001b[31mb\u202e\nc", {x: "\u202e"}`];
  const session = new TerminalSession(process.execPath, [LAUNCHER, '--sandbox', ...args], { env: home.environment() });
  expect((await session.exited).exitCode).toBe(0);
  for (const escape of ['\u001b[31m', '\u202e']) expect(session.raw).not.toContain(escape);
  expect(session.screen()).toContain(String.raw`a\x1b[31mb\u202e`);
});

it('R19: --jq that never ends stops at once with Ctrl-C', async () => {
  const child = home.start(['--sandbox', 'logs', '--limit', '1', '--jq', '"begun" | debug | last(repeat(.))']);
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => void child.on('exit', resolve));
  // Its start takes a third of this processor time, and the filter the rest.
  await until(() => processorSeconds(child.pid) > 1.5);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
});

/** Returns the processor time that a process has used. */
function processorSeconds(pid: number | undefined): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).map(Number);
  return (user + system) / 100;
}
