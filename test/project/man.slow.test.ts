import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../', import.meta.url));
const built = join(project, 'dist/man');
const pages = new Map(readdirSync(built).map((name) => [name, readFileSync(join(built, name), 'utf8')]));

function has(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

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
