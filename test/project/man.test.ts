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
