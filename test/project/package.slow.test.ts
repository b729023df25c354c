import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { beforeAll, describe, expect, it } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { isInstalled } from '../../src/base/files/names.ts';
import { doMainJob } from '../support/main-job.ts';
import { lastName, nodesOf, textOf } from '../support/syntax.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const scratch = temporaryDirectory();

/** The report of `npm pack --json` about a package. */
interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
}

/** The patterns of all files in an installed package. */
const PACKED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^bin\/(svc\.js|package\.json)$/,
  /^dist\/cli\/([\w.-]+\.cjs|THIRD-PARTY-NOTICES\.txt)$/,
  /^dist\/library\/[\w.-]+\.js$/,
  /^dist\/types\/[\w./-]+\.d\.ts$/,
  /^completions\//,
  /^dist\/man\/svc[\w-]*\.[17]$/,
  /^docs\/(?:help\/)?[\w-]+\.md$/,
  /^docs\/pictures\/[\w-]+\.svg$/,
];

describe('the package', () => {
  let packed: Packed;
  // The dependencies are packed here too, so that npm needs no network to install the package.
  let archives: string[];
  const offline = ['--offline', '--no-audit', '--no-fund', '--cache', join(scratch, 'cache')];

  beforeAll(() => {
    const packages = ['.', './node_modules/undici', './node_modules/zod'];
    const told = JSON.parse(
      must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch, ...packages]),
    ) as Packed[] | Record<string, Packed>;
    const all = Object.values(told);
    archives = all.map(({ filename }) => join(scratch, filename));
    packed = all.find((each) => each.name === manifest.name)!;
  });

  it('the package holds what is needed to run it, and nothing else', () => {
    const paths = packed.files.map((file) => file.path);
    expect(paths.filter((path) => !PACKED.some((allowed) => allowed.test(path)))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        'bin/svc.js',
        'dist/cli/svc.cjs',
        'dist/library/index.js',
        'dist/types/index.d.ts',
        'LICENSE',
        'CHANGELOG.md',
        'README.md',
      ]),
    );
    expect(packed.unpackedSize).toBeLessThan(5_000_000);
  });

  it('the package runs unpacked, with no other package beside it', () => {
    must('tar', ['-xzf', join(scratch, packed.filename), '-C', scratch]);
    const svc = join(scratch, 'package/bin/svc.js');
    expect(must(process.execPath, [svc, '--version'])).toBe(`${manifest.version}\n`);
    expect(must(svc, ['--version'])).toBe(`${manifest.version}\n`);
  });

  it('the package installs for everybody without a network and runs nothing, and does the main job', () => {
    const prefix = join(scratch, 'prefix');
    const install = spawnSync('npm', ['install', '--global', ...offline, '--prefix', prefix, ...archives], {
      encoding: 'utf8',
    });
    // The other packages, which are given by name here, may have scripts that npm warns about.
    expect({ status: install.status, warned: install.stderr.includes(manifest.name) }).toEqual({
      status: 0,
      warned: false,
    });
    const modules = join(prefix, 'lib/node_modules');
    expect(readdirSync(modules)).toEqual([manifest.name, 'undici', 'zod']);
    expectManPages(prefix);
    expect(doMainJob(join(prefix, 'bin/svc'), join(scratch, 'installed'))).toBeGreaterThan(30);
  });

  it('the package has its man pages where a clone is installed', () => {
    const prefix = join(scratch, 'linked');
    must('npm', ['install', '--global', ...offline, '--prefix', prefix, project]);
    expect(must(join(prefix, 'bin/svc'), ['--version'])).toBe(`${manifest.version}\n`);
    expectManPages(prefix);
  });

  it.skipIf(!isInstalled('man', process.env)).each(['prefix', 'linked'])(
    'the package has man pages that man shows, as installed into %s before (skipped where man is missing)',
    (prefix) => {
      const text = must('man', ['-M', join(scratch, prefix, 'share/man'), 'svc-au-submit']);
      expect(text).toMatch(/^NAME\n +svc-au-submit/m);
    },
  );

  it('the package runs by npx without being installed', () => {
    const packages = archives.map((path) => `--package=${path}`);
    expect(must('npx', [...offline, '--yes', ...packages, '--', 'svc', '--version'])).toBe(`${manifest.version}\n`);
  });

  it('the package is installed by the action only if its hash is the one that was pinned', () => {
    const file = join(scratch, packed.filename);
    const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
    const [added, variables, outputs] = ['added', 'variables', 'outputs'].map((name) => join(scratch, name)) as [
      string,
      string,
      string,
    ];
    const releases = join(scratch, 'releases');
    mkdirSync(join(releases, `v${manifest.version}`), { recursive: true });
    cpSync(file, join(releases, `v${manifest.version}`, packed.filename));
    const install = (hash: string, from = file, state = '.svc'): ReturnType<typeof spawnSync> =>
      spawnSync(join(project, '.github/actions/svc/install.sh'), {
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: scratch,
          RUNNER_TEMP: join(scratch, 'runner'),
          GITHUB_PATH: added,
          GITHUB_ENV: variables,
          GITHUB_OUTPUT: outputs,
          GITHUB_WORKSPACE: '/builds/space',
          GITHUB_WORKFLOW_REF: 'acme/cards/.github/workflows/cards.yml@refs/heads/main',
          SVC_VERSION: manifest.version,
          SVC_SHA256: hash,
          SVC_FILE: from,
          SVC_RELEASES: `file://${releases}`,
          SVC_STATE: state,
        },
      });
    expect(install(sum.replace(/./, (digit) => (digit === '0' ? '1' : '0')))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has another hash than expected: nothing was installed'),
    });
    expect(existsSync(added)).toBe(false);
    // The action installs from a file first, then from a release.
    for (const from of [file, '']) expect(install(sum, from)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(install(sum, file, '/data/svc')).toMatchObject({ status: 0 });
    const states = ['/builds/space/.svc', '/builds/space/.svc', '/data/svc'];
    expect(readFileSync(variables, 'utf8')).toBe(states.map((state) => `SVC_STATE_DIR=${state}\n`).join(''));
    const workflow = createHash('sha256').update('acme/cards/.github/workflows/cards.yml').digest('hex');
    expect(readFileSync(outputs, 'utf8')).toBe(`state-prefix=svc-${workflow}-\n`.repeat(3));
    const svc = join(readFileSync(added, 'utf8').trim().split('\n')[1]!, 'svc');
    expect(must(svc, ['--version'])).toBe(`${manifest.version}\n`);
  });

  it('the package says how to build it when it is not built', () => {
    must('cp', ['-r', join(project, 'bin'), join(scratch, 'bin')]);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(scratch, 'bin/svc.js'), '--version'], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^svc: not built yet; run `npm ci`.*\n$/);
  });

  it('the package asks for `npm ci`, in one line, where the build has nothing to work with', () => {
    must('cp', [join(project, 'build/build.mjs'), scratch]);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(scratch, 'build.mjs')], {
      cwd: scratch,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^svc: run 'npm ci' first.*\n$/);
  });

  it('the package has exports and types that other tools understand', async () => {
    const { messages } = await publint({ pkgDir: project, pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  it('the package gives its types to a program that imports it', () => {
    const program = join(scratch, 'consumer');
    mkdirSync(join(program, 'node_modules'), { recursive: true });
    for (const name of ['undici', 'zod', '@types'])
      symlinkSync(join(project, 'node_modules', name), join(program, 'node_modules', name));
    symlinkSync(project, join(program, 'node_modules', manifest.name));
    writeFileSync(join(program, 'package.json'), '{ "type": "module" }');
    const use = `import { SvcError, type Log } from '${manifest.name}';`;
    writeFileSync(join(program, 'right.ts'), `${use} export const of = (log: Log): string => log.operation ?? '';`);
    writeFileSync(join(program, 'wrong.ts'), `${use} export const code: string = new SvcError('local', '').exitCode;`);
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--types', 'node'];
    const { stdout } = spawnSync(process.execPath, [tsc, ...options, 'right.ts', 'wrong.ts'], {
      cwd: program,
      encoding: 'utf8',
    });
    expect(stdout.trim()).toMatch(/^wrong\.ts\(1,\d+\): error TS2322: .*'number'.* not assignable to type 'string'\.$/);
  });

  it.each([
    ['dist/cli', isNodes],
    ['dist/library', (name: string) => isNodes(name) || packageName(name) in manifest.dependencies],
  ])('the package loads from %s only what it may', (directory, isAllowed) => {
    const foreign = builtFiles(directory).flatMap(({ path, text }) =>
      loadsOf(path, text)
        .filter((name) => !name.startsWith('./') && !isAllowed(name))
        .map((name) => `${path} loads ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  it('the package carries the licence of every package inside it', () => {
    const notices = readFileSync(join(project, 'dist/cli/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const [, ...parts] = notices.split(/^(\S+ \d+\.\d+\.\d+ \(.+\))$/m);
    const terms = new Map(parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1] ?? '']] : [])));
    expect([...terms.keys()]).toContain(`undici ${manifest.dependencies.undici} (MIT)`);
    const bare = [...terms].filter(([, text]) => !/permission|redistribution/i.test(text ?? ''));
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('the package is searched for every way of loading', () => {
    const code = `import a from 'a'; export * from "b"; import('c'); __require(\`d\`); x('e'); 'require("f")'`;
    expect(loadsOf('x.js', code)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('what an install brings', () => {
  it('an installation comes from whatever registry the operator has set', () => {
    const named = Object.entries(lock.packages).filter(([, entry]) => 'resolved' in entry);
    expect(named.map(([path]) => path)).toEqual([]);
  });

  it('an installation runs no script of any package', () => {
    const scripted = Object.entries(lock.packages).filter(
      ([, entry]) => 'hasInstallScript' in entry && !isForOtherSystems(entry),
    );
    expect(scripted.map(([path]) => path)).toEqual([]);
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
  });
});

describe('the text of the project', () => {
  it('the text of the project names no directory of the machine it was written on, and no registry', () => {
    const directories = [project.replace(/\/$/, ''), `${homedir()}/`].filter((name) => name.length > 3);
    const patterns = [...directories.map((name) => name.replaceAll('.', '[.]')), 'registry[.][a-z]'];
    const search = ['grep', '-lE', ...patterns.flatMap((pattern) => ['-e', pattern])];
    const { status, stdout } = spawnSync('git', [...search, '--', '.', ':!package-lock.json'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it('the text of the project is not built into the program with directories of the machine', () => {
    const root = project.replace(/\/$/, '');
    const named = ['dist/cli', 'dist/library'].flatMap(builtFiles).filter(({ text }) => text.includes(root));
    expect(named.map(({ path }) => path)).toEqual([]);
  });
});

/** Checks that npm put the man pages where `man` looks for them. */
function expectManPages(prefix: string): void {
  for (const page of ['man1/svc.1', 'man1/svc-au-submit.1', 'man7/svc-output.7'])
    expect(existsSync(join(prefix, 'share/man', page)), page).toBe(true);
}

function must(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${command} ${args[0] ?? ''} ended with ${String(status)}: ${stderr}`);
  return stdout;
}

function builtFiles(directory: string): { path: string; text: string }[] {
  return readdirSync(join(project, directory))
    .filter((name) => /\.c?js$/.test(name))
    .map((name) => `${directory}/${name}`)
    .map((path) => ({ path, text: readFileSync(join(project, path), 'utf8') }));
}

/** Returns the names that a built file loads by `require`, `import` or `export … from`. */
function loadsOf(path: string, text: string): string[] {
  return nodesOf(path, text).flatMap((node) => {
    const isRequire = node['type'] === 'CallExpression' && lastName(node['callee'])?.endsWith('require') === true;
    const [argument] = isRequire && Array.isArray(node['arguments']) ? node['arguments'] : [];
    return textOf(argument ?? node['source']) ?? [];
  });
}

function isNodes(name: string): boolean {
  return name.startsWith('node:') || isBuiltin(name);
}

function packageName(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

function isForOtherSystems(entry: object): boolean {
  return 'os' in entry && Array.isArray(entry.os) && !entry.os.includes(process.platform);
}
