import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { finished, Home, LAUNCHER } from '../support/svc.ts';

const home = new Home();

/** Runs svc with 6 GB of virtual memory: less than WebAssembly of Node 20 and 22 reserves, enough for a worker of Node 26. */
function svcWithin(line: string, env: Record<string, string> = {}) {
  const limited = `ulimit -v 6000000; exec "${process.execPath}" "${LAUNCHER}" ${line}`;
  return finished(spawn('bash', ['-c', limited], { cwd: home.path, env: home.environment(env) }));
}

const NEEDS_MORE = Number(process.versions.node.split('.')[0]) < 24;

it.runIf(NEEDS_MORE)('a limit of virtual memory is named, and no service is blamed for it', async () => {
  for (const line of ['--sandbox logs', '--sandbox tenant show', "sandbox cards -o json --jq '.token'"]) {
    const { code, stderr } = await svcWithin(line);
    expect([line, code, JSON.parse(stderr.trim().split('\n').at(-1) ?? '')]).toEqual([
      line,
      1,
      expect.objectContaining({ code: 'local', retryable: false, hint: expect.stringContaining('ulimit -v') }),
    ]);
  }
  const doctor = await svcWithin('--sandbox doctor -o table');
  expect(doctor.stdout).toContain('WebAssembly got no memory');
  expect(doctor.stdout + doctor.stderr).not.toMatch(/: the service/);
});

it('svc works within a limit of virtual memory when the trap handler is off', async () => {
  const { code, stderr } = await svcWithin("--sandbox tenant show --jq '.id'", {
    NODE_OPTIONS: '--disable-wasm-trap-handler',
  });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
});
