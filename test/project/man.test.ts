import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { TREE } from '../../src/tree.ts';
import { allCommands } from '../support/tree.ts';
import { manPage } from './man-page.ts';

const file = fileURLToPath(new URL('../../man/svc.1', import.meta.url));

function has(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

describe('the man page', () => {
  // `npm run completions` updates the man page.
  it('the man page is what the tree says now', async () => {
    await expect(await manPage(TREE)).toMatchFileSnapshot(file);
  });

  it('the man page tells every command and is found by npm', async () => {
    const text = readFileSync(file, 'utf8');
    for (const { words } of await allCommands())
      expect(text).toContain(`\n.SS svc ${words.replaceAll('-', String.raw`\-`)}\n`);
    // npm installs a man page only if it is in a list.
    expect(manifest.man).toEqual(['./man/svc.1']);
    expect(manifest.files).toContain('man');
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it.skipIf(!has('groff'))('the man page is formatted without a warning', () => {
    for (const width of ['80n', '40n']) {
      const options = ['-man', '-Tutf8', '-P-cbou', '-ww', `-rLL=${width}`];
      const { status, stdout, stderr } = spawnSync('groff', [...options, file], { encoding: 'utf8' });
      // A word that is longer than the line cannot be broken.
      const warnings = stderr
        .split('\n')
        .filter((line) => line !== '' && !/can't break line|cannot (break|adjust)/.test(line));
      expect({ status, warnings }).toEqual({ status: 0, warnings: [] });
      expect(stdout).toContain('EXAMPLES');
    }
  });

  it.skipIf(!has('mandoc'))('the man page is accepted by mandoc', () => {
    const { error, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', file], { encoding: 'utf8' });
    // The page has no date, so that it only changes when the tree does.
    const warnings = stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'));
    expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
  });
});
