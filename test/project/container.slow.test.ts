import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
  readdirSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { isInstalled } from '../../src/base/files/names.ts';
import { readBlocks } from '../support/readme-blocks.ts';
import { openShellHome } from '../support/shell-home.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const containerfile = readFileSync(join(project, 'Containerfile'), 'utf8');
const PAGES = ['docs/containers.md', 'docs/account-updater-in-ci.md'];
const blocks = PAGES.flatMap((name) => readBlocks(readFileSync(join(project, name), 'utf8')));
const USER = 65_532;

/** The chroot needs root, and the programs and libraries of a Linux with glibc. */
const canChroot = process.platform === 'linux' && process.getuid?.() === 0 && isInstalled('ldd', process.env);

function textsOf(mark: string): string[] {
  return blocks.filter(({ marks }) => marks[0] === mark).map(({ text }) => text);
}

function must(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ended with ${String(status)}: ${stderr}`);
  return stdout;
}

describe.skipIf(!canChroot)('the image of Containerfile, tried in a chroot (skipped without root)', () => {
  const root = temporaryDirectory();

  /** Runs `svc` as the image does: its user, its variables, and a root directory that the user cannot write to. */
  function svc(line: string, as?: string): { status: number | null; stdout: string; stderr: string } {
    const variables = [...containerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, words = '']) => words.split(' '));
    const [, user = ''] = /^USER (\S+)$/m.exec(containerfile) ?? [];
    const start = ['env', '-i', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/bin', ...variables];
    const inRoot = ['chroot', `--userspec=${as ?? user}`, root, '/usr/local/bin/svc', ...line.split(' ')];
    const [command = '', ...args] = [...start, ...inRoot];
    return spawnSync(command, args, { encoding: 'utf8', timeout: 600_000 });
  }

  function copyIn(file: string, place = file): void {
    mkdirSync(dirname(join(root, place)), { recursive: true });
    copyFileSync(realpathSync(file), join(root, place));
  }

  beforeAll(() => {
    chmodSync(root, 0o755);
    must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', root]);
    copyIn(process.execPath, '/usr/local/bin/node');
    for (const program of [process.execPath, '/usr/bin/env']) {
      for (const [library] of must('ldd', [program]).matchAll(/\/\S+/g)) copyIn(library);
    }
    copyIn('/usr/bin/env');
    mkdirSync(join(root, 'opt/svc'), { recursive: true });
    // The same options as in the RUN line of the Containerfile.
    const tgz = join(root, `svc-cli-${manifest.version}.tgz`);
    must('tar', ['-xzf', tgz, '-C', join(root, 'opt/svc'), '--strip-components=1']);
    symlinkSync('/opt/svc/bin/svc.js', join(root, 'usr/local/bin/svc'));
    for (const volume of ['state', 'config']) {
      mkdirSync(join(root, volume));
      chmodSync(join(root, volume), 0o770);
      chownSync(join(root, volume), USER, 0);
    }
    const [, account = ''] = /^RUN echo '(.+)' >> \/etc\/passwd$/m.exec(containerfile) ?? [];
    mkdirSync(join(root, 'etc'));
    writeFileSync(join(root, 'etc/passwd'), `${account}\n`);
  });

  it('the image of Containerfile unpacks the package of this version as the test does', () => {
    expect(containerfile).toContain(`ARG VERSION=${manifest.version}\n`);
    expect(containerfile).toContain('tar -xzf /tmp/svc.tgz -C /opt/svc --strip-components=1\n');
    expect(containerfile).toContain('RUN ln -s /opt/svc/bin/svc.js /usr/local/bin/svc\n');
    expect(containerfile).toContain(
      'RUN mkdir -p /image/state /image/config && chmod 0770 /image/state /image/config\n',
    );
    expect(containerfile).toContain('COPY --from=package --chown=65532:0 /image/ /\n');
    expect(containerfile).toMatch(/^VOLUME \["\/state", "\/config"\]\nUSER 65532:65532$/m);
    expect(containerfile).toMatch(/^ARG NODE=\S+:\d+\.\d+\.\d+-\w+-slim$/m);
  });

  it('the image of Containerfile works as any user of group 0, as OpenShift runs it', () => {
    const anybody = '1000710000:0';
    const archived = svc('--sandbox logs archive /state/audit --since 1d', anybody);
    expect(archived, archived.stderr).toMatchObject({ status: 0 });
    const line = 'logs review /state/audit --sign-off';
    expect(svc(line, anybody)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/uid 1000710000@\S+\) has no name.*--by <name>/),
    });
    must('rm', ['-rf', ...readdirSync(join(root, 'state')).map((name) => join(root, 'state', name))]);
  });

  it('the user of the image of Containerfile has a name', () => {
    const { stderr } = svc('logs review /state/audit --sign-off');
    expect(stderr).toContain('/state/audit');
    expect(stderr).not.toContain('has no name');
  });

  it('the image of Containerfile submits a file, and says once what the volume is for', () => {
    expect(svc('--version')).toEqual(
      expect.objectContaining({ status: 0, stderr: '', stdout: `${manifest.version}\n` }),
    );
    const cards = svc('sandbox cards --request');
    expect(cards.status).toBe(0);
    const submit = (): ReturnType<typeof svc> => svc('--sandbox au submit /state/tokens.csv --yes');
    must('sh', ['-c', `printf '%s' "$1" > "$2"; chmod 644 "$2"`, 'sh', cards.stdout, join(root, 'state/tokens.csv')]);
    expect(submit()).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/state directory \/state was empty: .* mount a volume there/),
    });
    expect(submit().stderr).not.toContain('mount a volume');
    expect(existsSync(join(root, 'state/ledger'))).toBe(true);
  });
});

describe('recipes for containers', () => {
  it('the CronJobs of docs have commands that succeed with the sandbox', async () => {
    const all = textsOf('kubernetes').flatMap((text) => parseAllDocuments(text).map((each) => each.toJS() as Resource));
    expect(all.map(({ kind }) => kind)).toEqual(['PersistentVolumeClaim', 'CronJob', 'CronJob', 'CronJob']);
    const home = openShellHome();
    await home.run('svc sandbox cards --request > export.csv', { SVC_PROFILE: 'sandbox' });
    for (const job of all.filter(({ kind }) => kind === 'CronJob')) {
      const { spec } = job as { spec: { schedule: string; jobTemplate: { spec: { template: { spec: PodSpec } } } } };
      const [container] = spec.jobTemplate.spec.template.spec.containers;
      const [first = '', ...rest] = [...(container?.command ?? ['svc']), ...(container?.args ?? [])];
      const words = [first, ...rest.map((word) => `'${word}'`)];
      const { status, stderr } = await home.run(words.join(' '), { SVC_PROFILE: 'sandbox' });
      // The review has findings, which end it with 10, where more than the last minutes of yesterday are still in the log.
      const isExpected = status === 0 || (status === 10 && words.join(' ').includes('logs review'));
      // The service may keep logs for 24 hours only, of which a daily run would miss a part.
      expect(/logs archive/.test(words.join(' '))).toBe(/^\d+ \* \* \* \*$/.test(spec.schedule));
      expect({ words, isExpected, stderr: isExpected ? '' : stderr }).toEqual({ words, isExpected: true, stderr: '' });
    }
  });

  it('the job of GitLab in docs has a script that succeeds with the sandbox, and caches the files of the cycles', async () => {
    const { refresh } = parse(textsOf('gitlab')[0] ?? '') as {
      refresh: { script: string[]; cache: { paths: string[] } };
    };
    const home = openShellHome();
    const script = ['svc sandbox cards --request > export.csv', ...refresh.script, 'ls refresh-sandbox'].join('\n');
    const { status, stderr } = await home.run(script, {
      SVC_PROFILE: 'sandbox',
      SVC_STATE_DIR: join(home.directory, '.svc'),
    });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    expect(refresh.cache.paths).toEqual(['refresh']);
  });
});

type Resource = Readonly<Record<string, unknown>>;

interface PodSpec {
  readonly containers: readonly { readonly command?: readonly string[]; readonly args: readonly string[] }[];
}
