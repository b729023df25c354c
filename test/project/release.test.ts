import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { isInstalled } from '../../src/base/files/names.ts';
import { temporaryDirectory } from '../support/directory.ts';

const scripts = fileURLToPath(new URL('../../build/release/', import.meta.url));

interface Origin {
  readonly repository?: string;
  readonly homepage?: string;
  readonly bugs?: string;
  readonly maintainer?: string;
  readonly missing: readonly string[];
}

async function originOf(manifest: object): Promise<Origin> {
  const { origin } = (await import(join(scripts, 'origin.mjs'))) as { origin: (manifest: object) => Origin };
  return origin(manifest);
}

it('npm run release takes homepage, bugs and maintainer from package.json, and names what is missing there', async () => {
  expect((await originOf({})).missing).toEqual([
    expect.stringContaining('`repository`'),
    expect.stringContaining('`author`'),
  ]);
  const repository = { type: 'git', url: 'git+https://git.example/acme/svc.git' };
  const expected = {
    repository: 'https://git.example/acme/svc',
    homepage: 'https://git.example/acme/svc#readme',
    bugs: 'https://git.example/acme/svc/issues',
    maintainer: 'Ann <ann@example.com>',
    missing: [],
  };
  expect(await originOf({ repository, author: 'Ann <ann@example.com>' })).toEqual(expected);
  expect(await originOf({ repository, author: { name: 'Ann', email: 'ann@example.com' } })).toEqual(expected);
  expect(await originOf({ repository, homepage: 'https://svc.example' })).toMatchObject({
    homepage: 'https://svc.example',
    missing: [expect.stringContaining('`author`')],
  });
});

it('npm run release describes each executable that was built for Homebrew and Scoop', async () => {
  const { writeChannels } = (await import(join(scripts, 'channels.mjs'))) as {
    writeChannels: (directory: string, at: { homepage: string; downloads: string }) => void;
  };
  const scratch = temporaryDirectory();
  const { version, license } = manifest;
  const built = ['darwin-arm64', 'linux-x64', 'win-x64'];
  const sums = built.map((platform, at) => `${String(at).repeat(64)}  svc-${version}-${platform}.tar.gz\n`);
  writeFileSync(join(scratch, 'SHA256SUMS'), sums.join(''));
  const downloads = 'https://git.example/acme/svc/releases/download/v1';
  writeChannels(scratch, { homepage: 'https://svc.example', downloads });
  const formula = readFileSync(join(scratch, 'svc-cli.rb'), 'utf8');
  expect(formula).toMatch(/^class SvcCli < Formula$/m);
  expect([...formula.matchAll(/^ +url "(.+)"\n +sha256 "(.+)"$/gm)].map(([, url, sum]) => [url, sum])).toEqual([
    [`${downloads}/svc-${version}-darwin-arm64.tar.gz`, '0'.repeat(64)],
    [`${downloads}/svc-${version}-linux-x64.tar.gz`, '1'.repeat(64)],
  ]);
  expect(formula.match(/\b(do|def|class)\b/g)).toHaveLength(formula.match(/^ *end$/gm)?.length ?? 0);
  const installed = [...formula.matchAll(/completions\/([\w.]+)/g)].map(([, name = '']) => name);
  expect(installed.filter((name) => !existsSync(join(scripts, '../../completions', name)))).toEqual([]);
  expect(JSON.parse(readFileSync(join(scratch, 'svc-cli.json'), 'utf8'))).toMatchObject({
    version,
    license,
    homepage: 'https://svc.example',
    bin: 'svc.exe',
    architecture: {
      '64bit': {
        url: `${downloads}/svc-${version}-win-x64.tar.gz`,
        hash: '2'.repeat(64),
        extract_dir: `svc-${version}-win-x64`,
      },
    },
  });
});

it.skipIf(process.platform !== 'linux' || !isInstalled('xz', process.env)).each(['gz', 'xz'])(
  'npm run release packs a directory as the same .tar.%s each time (skipped where xz is missing)',
  async (kind) => {
    const { packDirectory } = (await import(join(scripts, 'release.mjs'))) as {
      packDirectory: (archive: string, directory: string) => void;
    };
    // Without it, the time is that of the commit, which a copy of the project does not know.
    vi.stubEnv('SOURCE_DATE_EPOCH', '1700000000');
    onTestFinished(() => void vi.unstubAllEnvs());
    const scratch = temporaryDirectory();
    const directory = join(scratch, 'svc-0.1.0');
    mkdirSync(directory);
    writeFileSync(join(directory, 'svc'), 'program\n'.repeat(1000));
    const archives = [join(scratch, `a.tar.${kind}`), join(scratch, `b.tar.${kind}`)];
    for (const [index, archive] of archives.entries()) {
      utimesSync(join(directory, 'svc'), index, index);
      packDirectory(archive, directory);
    }
    const [first, second] = archives.map((archive) => readFileSync(archive));
    expect(first?.equals(second ?? Buffer.of())).toBe(true);
    expect(first?.subarray(0, 2).toString('hex')).toBe(kind === 'xz' ? 'fd37' : '1f8b');
    const listed = execFileSync('tar', ['-tf', archives[0] ?? ''], { encoding: 'utf8' });
    expect(listed).toBe('svc-0.1.0/\nsvc-0.1.0/svc\n');
  },
);

it('CHANGELOG.md describes each subject of a version once, and each change', () => {
  const versions = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
    .split(/^## /m)
    .slice(1);
  const repeated = versions.flatMap((version) => {
    const subjects = Array.from(version.matchAll(/^- \*\*(.+?)\*\*/gm), ([, subject]) => subject);
    // Merging two branches can leave an older text of a line beside the newer one.
    const beginnings = Array.from(version.matchAll(/^ {2}(.{50})/gm), ([, beginning]) => beginning);
    return [subjects, beginnings].flatMap((texts) => texts.filter((text, at) => texts.indexOf(text) !== at));
  });
  expect(repeated).toEqual([]);
});
