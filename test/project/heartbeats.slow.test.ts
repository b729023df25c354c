import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readBlocks } from '../support/readme-blocks.ts';
import { openShellHome } from '../support/shell-home.ts';
import { temporaryDirectory } from '../support/directory.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const [blocks = [], ofMonth = []] = ['on-call.md', 'account-updater-in-ci.md'].map((name) =>
  readBlocks(readFileSync(join(docs, name), 'utf8')),
);

/** The unit files of both pages, by their names. */
const units = new Map(
  [...blocks, ...ofMonth].filter(({ language }) => language === 'ini').map(({ marks, text }) => [marks[0] ?? '', text]),
);

interface CronJob {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly schedule: string;
    readonly jobTemplate: {
      readonly spec: {
        readonly template: {
          readonly spec: {
            readonly restartPolicy: string;
            readonly containers: readonly { readonly command: readonly string[]; readonly args: readonly string[] }[];
          };
        };
      };
    };
  };
}

const cronJobs = new Map(
  parseAllDocuments(blocks.find(({ marks }) => marks[0] === 'kubernetes')?.text ?? '').map((document) => {
    const job = document.toJS() as CronJob;
    return [job.metadata.name, job] as const;
  }),
);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

/** Returns the words of a unit's command, with the state directory of systemd at `state`. */
function commandOf(unit: string, state: string): string {
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(units.get(unit) ?? '') ?? [];
  return command.replace('/usr/bin/svc-cli', 'svc').replaceAll('%S/svc', state).replaceAll('%%', '%');
}

/** Returns the command of a CronJob as a command line for another shell. */
function scriptOf(name: string): string {
  const job = cronJobs.get(name);
  expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'CronJob' });
  const { restartPolicy, containers } = job?.spec.jobTemplate.spec.template.spec ?? {};
  expect(restartPolicy).toBe('Never');
  expect(containers?.[0]?.command).toEqual(['sh', '-c']);
  const script = containers?.[0]?.args[0] ?? '';
  return `sh -c '${script.replaceAll("'", String.raw`'\''`)}'`;
}

/** A shell in which `svc` uses the sandbox and `curl` notes what it would send. */
function openShell() {
  const home = openShellHome();
  const curl = join(home.directory, '.home/bin/curl');
  writeFileSync(curl, `#!/bin/sh\nprintf '%s\\n' "$@" > '${join(home.directory, 'paged')}'\n`);
  chmodSync(curl, 0o755);
  const paged = join(home.directory, 'paged');
  return {
    run: async (script: string) => {
      const variables = { SVC_PROFILE: 'sandbox', ARCHIVE: 'audit', PAGE_URL: 'https://page.example/here' };
      return (await home.run(script, variables)).status;
    },
    paged: () => (existsSync(paged) ? readFileSync(paged, 'utf8') : undefined),
  };
}

describe('the recipe for heartbeats', () => {
  it('the heartbeat recipe has a timer for each job of systemd, and a page for each failure', () => {
    expect([...units.keys()].toSorted()).toEqual([
      'svc-archive.service',
      'svc-archive.timer',
      'svc-heartbeat.service',
      'svc-heartbeat.timer',
      'svc-page@.service',
      'svc-refresh.service',
      'svc-refresh.timer',
    ]);
    for (const name of ['svc-archive.service', 'svc-heartbeat.service', 'svc-refresh.service'])
      expect(units.get(name)).toContain('\nOnFailure=svc-page@%p.service\n');
  });

  it.skipIf(!hasSystemd)(
    'systemd-analyze verifies the unit files of the heartbeat recipe (skipped where systemd-analyze is missing)',
    () => {
      const directory = temporaryDirectory();
      // Only the commands must exist on the machine that verifies.
      for (const [name, text] of units)
        writeFileSync(
          join(directory, name),
          text.replaceAll(/^ExecStart=\/usr\/bin\/[\w-]+/gm, `ExecStart=${process.execPath}`),
        );
      const verify = () =>
        spawnSync(
          'systemd-analyze',
          ['verify', '--man=no', ...[...units.keys()].map((name) => join(directory, name))],
          { encoding: 'utf8' },
        );
      const { status, stderr } = verify();
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const broken = join(directory, 'svc-heartbeat.timer');
      writeFileSync(broken, readFileSync(broken, 'utf8').replace('*:47', 'every hour'));
      expect(verify().stderr).toContain('Failed to parse calendar specification');
    },
  );

  it('the jobs of the heartbeat recipe for systemd succeed with an archive, and the heartbeat fails without one', async () => {
    const { run } = openShell();
    expect(await run(commandOf('svc-heartbeat.service', '.'))).toBe(5);
    expect(await run(commandOf('svc-archive.service', '.'))).toBe(0);
    expect(await run(commandOf('svc-heartbeat.service', '.'))).toBe(0);
  });

  it('the job of the month for systemd succeeds, also while it waits', async () => {
    const { run } = openShell();
    const [, waiting] = /^SuccessExitStatus=(\d+)$/m.exec(units.get('svc-refresh.service') ?? '') ?? [];
    const line = commandOf('svc-refresh.service', '.');
    expect([0, Number(waiting)]).toContain(await run(`svc sandbox cards --request > export.csv; ${line}`));
  });

  it('the CronJob of the heartbeat recipe pages and fails when there is no fresh archive, and is quiet when there is one', async () => {
    const { run, paged } = openShell();
    expect(await run(scriptOf('svc-heartbeat'))).toBe(1);
    expect(paged()).toContain('the log archive audit stopped\nhttps://page.example/here\n');
    expect(await run(scriptOf('svc-archive'))).toBe(0);
    expect(await run(`rm paged; ${scriptOf('svc-heartbeat')}`)).toBe(0);
    expect(paged()).toBeUndefined();
  });

  it('the alert of the heartbeat recipe is about a heartbeat that never ran, and one that did not succeed', () => {
    const text = blocks.find(({ marks }) => marks[0] === 'prometheus')?.text ?? '';
    const { groups } = parse(text) as { groups: readonly { rules: readonly { expr: string }[] }[] };
    const expr = groups[0]?.rules[0]?.expr ?? '';
    expect(expr).toMatch(/^absent\(.+\) or time\(\) - .+ > 7200$/);
    for (const [, name] of expr.matchAll(/cronjob="([^"]+)"/g)) expect([...cronJobs.keys()]).toContain(name);
  });
});

describe('the textfile for Prometheus', () => {
  it('the textfile for Prometheus has the open cycles with their jobs and the time when they began, and none before and after them', async () => {
    const home = openShellHome();
    const block = blocks.find(({ text }) => text.includes('svc_au_open_jobs'))?.text ?? '';
    const metrics = async (before: string): Promise<string> => {
      expect(await home.run(`export SVC_PROFILE=sandbox\n${before}\n${block}`)).toMatchObject({ status: 0 });
      return readFileSync(join(home.directory, 'svc.prom'), 'utf8');
    };
    const types = ['# TYPE svc_au_open_jobs gauge', '# TYPE svc_au_cycle_began_timestamp_seconds gauge'];
    const none = `${types.join('\n')}\n`;
    expect(await metrics('')).toBe(none);
    const text = await metrics('svc sandbox cards --request > t.csv; svc au submit t.csv --cycle 2026-12 > result');
    expect(text).toMatch(
      /^# TYPE \w+ gauge\nsvc_au_open_jobs\{cycle="2026-12",status="(?:pending|processing|completed)"\} 1\n# TYPE \w+ gauge\nsvc_au_cycle_began_timestamp_seconds\{cycle="2026-12"\} \d{10}\n$/,
    );
    expect(await metrics('svc au submit t.csv --cycle 2026-12 --wait > result')).toBe(none);
  });
});
