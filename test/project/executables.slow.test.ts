import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { makeCertificate, tlsServer } from '../support/certificate.ts';
import { COMMAND_LINES, exitCodeOf, LASTING } from '../support/command-lines.ts';
import { serve } from '../support/fault-server.ts';
import { json } from '../support/fault-steps.ts';
import { doMainJob } from '../support/main-job.ts';
import { finished } from '../support/svc.ts';
import { TerminalSession } from '../support/terminal.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const scratch = temporaryDirectory();
const [release, again] = [join(scratch, 'release'), join(scratch, 'again')];
const name = `svc-${manifest.version}-${process.platform}-${process.arch}`;
const executable = join(release, name, 'svc');

/** Commands that end by themselves. */
const ending = (await allCommands()).filter(({ words }) => !LASTING.has(words));

const canBuild = Number(process.versions.node.split('.')[0]) >= 26;
const LIBRARIES = ['libc6', 'libatomic1', 'libgcc-s1', 'libstdc++6'];
const canPackage = canBuild && has('dpkg-deb', '--version') && has('dpkg-query', '--status', ...LIBRARIES);
const BASH_COMPLETION = '/usr/share/bash-completion/bash_completion';

describe.runIf(canBuild)('the standalone executable (needs Node 26)', () => {
  let world: World;

  beforeAll(async () => {
    buildInto(release);
    world = await World.prepare();
  });
  afterAll(() => world.close());

  it('the standalone executable lies beside its checksum, its bill of materials and every licence', () => {
    const sums = ['cdx.json', 'tar.gz'].map((kind) => `${sumOf(join(release, `${name}.${kind}`))}  ${name}.${kind}\n`);
    expect(readFileSync(join(release, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''));
    expect(readdirSync(join(release, name)).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'NODE-LICENSE.txt',
      'THIRD-PARTY-NOTICES.txt',
      'completions',
      'man',
      'sbom.cdx.json',
      'svc',
    ]);
    // The symbols of Node alone are about 40 MB.
    expect(statSync(executable).size).toBeLessThan(has('strip', '--version') ? 140_000_000 : 180_000_000);
  });

  it('the standalone executable does the main job with nothing beside it', () => {
    expect(doMainJob(executable, join(scratch, 'alone'))).toBeGreaterThan(30);
  });

  it('the standalone executable answers like the tool', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
    expect(run('logs', '--no-such-option').status).toBe(2);
    expect(run('3ds', 'template', 'payment-transaction').stdout).toContain('"purchase_info"');
  });

  it('the standalone executable runs no code that NODE_OPTIONS names', () => {
    const other = join(scratch, 'other.cjs');
    writeFileSync(other, 'console.error(process.argv); process.exit(99);');
    for (const words of [`--require ${other}`, `--import ${other}`, '--inspect-brk=0', '--no-such-option'])
      expect(runWith({ NODE_OPTIONS: words }, '--version')).toEqual({ status: 0, output: `${manifest.version}\n` });
  });

  it('the standalone executable trusts the authorities that NODE_EXTRA_CA_CERTS names, and no others', async () => {
    const certificate = makeCertificate('localhost');
    const authority = join(scratch, 'authority.pem');
    writeFileSync(authority, certificate.cert);
    const tenant = json({ id: '00000000-0000-4000-8000-000000000001', name: 'Acme', type: 'test' });
    const server = await serve(() => tenant, tlsServer(certificate));
    const env = { SVC_BASE_URL: `https://localhost:${server.port}`, SVC_MANAGEMENT_API_KEY: 'a-key' };
    const distrusting = await runBeside(['tenant', 'show'], env);
    expect(distrusting).toEqual({ status: 8, stderr: expect.stringContaining('certificate') });
    const trusting = await runBeside(['tenant', 'show'], { ...env, NODE_EXTRA_CA_CERTS: authority });
    expect(trusting).toEqual({ status: 0, stderr: '' });
  });

  it.each(ending)('the standalone executable can do svc $words', async ({ words }) => {
    const { code, stderr } = await world.shell(words, [], '', [executable]);
    expect({ code, stderr }).toEqual({ code: exitCodeOf(COMMAND_LINES[words]), stderr });
  });

  it('the standalone executable comes out the same when it is built again', () => {
    buildInto(again);
    expect(sumOf(join(again, name, 'svc'))).toBe(sumOf(executable));
    expect(readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(readFileSync(join(release, 'SHA256SUMS'), 'utf8'));
  });
});

describe.skipIf(!canPackage)('the Debian package (needs Node 26 and dpkg)', () => {
  const root = join(scratch, 'root');
  const deb = join(release, `${manifest.name}_${manifest.version}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}.deb`);

  beforeAll(() => {
    if (!existsSync(executable)) buildInto(release);
    packDebian();
    for (const each of [
      'var/lib/dpkg/info',
      'var/lib/dpkg/updates',
      'var/lib/dpkg/alternatives',
      'var/log',
      'etc/alternatives',
    ])
      mkdirSync(join(root, each), { recursive: true });
    // The target system is empty except for the libraries that the package requires.
    const libraries = must('dpkg-query', ['--status', ...LIBRARIES]);
    writeFileSync(join(root, 'var/lib/dpkg/status'), libraries);
    // Without this option, dpkg of a small image may leave out manual pages.
    dpkg('--path-include=/usr/share/*', '--install', deb);
  });

  it('the Debian package does the main job', () => {
    expect(doMainJob(join(root, 'usr/bin/svc-cli'), join(scratch, 'installed'))).toBeGreaterThan(30);
  });

  it.skipIf(!has('man', '--version'))('the Debian package has pages that man finds', () => {
    for (const [name, file] of [
      ['svc', 'man1/svc.1.gz'],
      ['svc-au-submit', 'man1/svc-au-submit.1.gz'],
      ['svc-output', 'man7/svc-output.7.gz'],
    ] as const) {
      const found = must('man', ['-M', join(root, 'usr/share/man'), '-w', name]);
      expect(found.trim()).toBe(join(root, 'usr/share/man', file));
    }
    const shown = must('man', ['-M', join(root, 'usr/share/man'), 'svc-au-submit']);
    expect(shown).toMatch(/^NAME\n +svc-au-submit/m);
  });

  it('the Debian package completes in a fresh bash, and has its script where zsh and fish look', async () => {
    const share = join(root, 'usr/share');
    for (const [shell, place] of [
      ['bash', 'bash-completion/completions/svc'],
      ['zsh', 'zsh/vendor-completions/_svc'],
      ['fish', 'fish/vendor_completions.d/svc.fish'],
    ] as const)
      expect(readFileSync(join(share, place), 'utf8')).toContain(`Completion of svc for ${shell}`);

    // The link of the package leads to /etc/alternatives, which is outside of this root.
    const bin = join(scratch, 'bin');
    mkdirSync(bin);
    symlinkSync(join(root, 'usr/bin/svc-cli'), join(bin, 'svc'));
    const terminal = new TerminalSession('bash', ['--norc', '--noprofile', '-i'], {
      cwd: scratch,
      env: { HOME: scratch, PATH: `${bin}:/usr/bin:/bin`, XDG_DATA_DIRS: share },
    });
    onTestFinished(async () => {
      terminal.type('\u0015exit\r');
      await terminal.exited;
    });
    const source = existsSync(BASH_COMPLETION) ? BASH_COMPLETION : join(share, 'bash-completion/completions/svc');
    terminal.type(`source ${source}; echo rea''dy\r`);
    await terminal.waitFor(/^ready$/m);
    terminal.type('svc tena\t');
    await terminal.waitFor(/svc tenant/);
  });

  it('the Debian package comes out the same when it is built again', () => {
    const before = sumOf(deb);
    packDebian();
    expect(sumOf(deb)).toBe(before);
  });

  it('the Debian package leaves nothing when it is removed', () => {
    expect(existsSync(join(root, 'usr/bin/svc-cli'))).toBe(true);
    expect(readlinkSync(join(root, 'usr/bin/svc'))).toBe('/etc/alternatives/svc');
    dpkg('--remove', manifest.name);
    dpkg('--purge', manifest.name);
    expect(readdirSync(root)).toEqual(['etc', 'var']);
    expect(readdirSync(join(root, 'etc/alternatives'))).toEqual([]);
    expect(readdirSync(join(root, 'var/lib/dpkg/info')).filter((file) => file.startsWith(manifest.name))).toEqual([]);
  });

  function dpkg(...args: string[]): void {
    must('dpkg', [`--root=${root}`, '--force-not-root', '--force-script-chrootless', ...args]);
  }
});

function runWith(env: Record<string, string>, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(executable, args, {
    cwd: scratch,
    env: { HOME: scratch, ...env },
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Runs the executable without blocking this process, which can respond to its requests. */
async function runBeside(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(executable, args, { cwd: scratch, env: { HOME: scratch, ...env }, stdio: 'pipe' });
  const { code, stderr } = await finished(child);
  return { status: code, stderr };
}

function run(...args: string[]): { status: number | null; stdout: string } {
  return spawnSync(executable, args, { cwd: scratch, env: { HOME: scratch }, encoding: 'utf8' });
}

function buildInto(directory: string): void {
  must(process.execPath, ['build/release/executables.mjs', '--node', process.execPath, '--out', directory]);
}

/** Packs with little compression, since the best takes minutes. */
function packDebian(): void {
  must(process.execPath, ['build/release/deb.mjs', '--level', '0', '--out', release]);
}

function must(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} ended with ${String(status)}: ${stderr}`);
  return stdout;
}

function has(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}

function sumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
