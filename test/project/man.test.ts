import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { manPages } from '../../build/man-pages.ts';
import manifest from '../../package.json' with { type: 'json' };
import { allCommands } from '../support/tree.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const built = join(project, 'dist/man');
const pages = new Map(readdirSync(built).map((name) => [name, readFileSync(join(built, name), 'utf8')]));

function has(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

it('the man pages that the build wrote are those of the tree, one for each command', async () => {
  expect(Object.fromEntries(pages), 'run `npm run build`').toEqual(Object.fromEntries(await manPages()));
  const expected = (await allCommands()).map(({ words }) => `svc-${words.replaceAll(' ', '-')}.1`);
  expect([...pages.keys()]).toEqual(expect.arrayContaining(expected));
  for (const text of pages.values()) expect(text).toMatch(/^[\n\x20-\x7e]*$/);
});

// npm links only the man pages that package.json lists one by one. `npm run completions` updates the list.
it('the man pages are listed for npm', async () => {
  const names = [...(await manPages()).keys()].toSorted();
  const listed = { ...manifest, man: names.map((name) => `./dist/man/${name}`) };
  await expect(`${JSON.stringify(listed, null, 2)}\n`).toMatchFileSnapshot(join(project, 'package.json'));
  expect(manifest.files).toContain('dist');
});

it('svc(1) is short, and the page of a command explains every exit code', () => {
  expect(pages.get('svc.1')?.split('\n').length).toBeLessThan(120);
  expect(pages.get('svc-au-submit.1')).toMatch(/^\.SH EXIT STATUS$/m);
  expect(pages.get('svc-au-submit.1')).toContain('\\fB130\\fR\ninterrupted');
});

it.skipIf(!has('groff'))('the man pages are formatted without a warning', () => {
  for (const width of ['80n', '40n']) {
    const options = ['-man', '-Tutf8', '-P-cbou', '-ww', `-rLL=${width}`];
    const input = [...pages.values()].join('');
    const { status, stdout, stderr } = spawnSync('groff', options, { encoding: 'utf8', input });
    // A word that is longer than the line cannot be broken.
    const warnings = stderr
      .split('\n')
      .filter((line) => line !== '' && !/can't break line|cannot (break|adjust)/.test(line));
    expect({ status, warnings }).toEqual({ status: 0, warnings: [] });
    expect(stdout).toContain('EXAMPLES');
  }
});

it.skipIf(!has('mandoc'))('the man pages are accepted by mandoc', () => {
  for (const [name, input] of pages) {
    const { error, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning'], { encoding: 'utf8', input });
    // The pages have no date, so that they only change when the tree does.
    const warnings = stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'));
    expect({ error, warnings }, name).toEqual({ error: undefined, warnings: [] });
  }
});
