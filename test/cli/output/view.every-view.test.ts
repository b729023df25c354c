import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { tableRenderer } from '../../../src/cli/output/table.ts';
import type { Column, View } from '../../../src/cli/output/view.ts';
import { listText } from './views.ts';

const source = fileURLToPath(new URL('../../../src/', import.meta.url));
const views = await allViews();

const TEXTS = [
  '日本語のとても長い説明文です、そしてまだ続きます',
  'e\u0301e\u0301 नमस्ते दुनिया 👩🏽‍🚀👨‍👩‍👧 한국어 텍스트',
  'plain words that go on for longer than any column has room for, and then some',
  '',
];
const ID = 'a5f1b1c2-0000-4000-8000-000000000001';
const TIME = '2026-11-21T11:44:56Z';

describe('R50 every table', () => {
  it.each(views)(
    'every table of $name fits 40, 80 and 200 columns with wide and combining characters',
    async ({ view }) => {
      for (const width of [40, 80, 200]) {
        const rows = TEXTS.map((text, at) => row(view, text, at));
        const text = await listText(tableRenderer({ view, width }), rows);
        const tooWide = text.split('\n').filter((line) => stringWidth(line) > width && !line.includes(ID));
        expect(tooWide, `${width} columns`).toEqual([]);
        // An identifier is shown whole or not at all.
        expect(text.replaceAll(ID, '')).not.toMatch(/a5f1b1c2|000000000001/);
      }
    },
  );

  it('every table of a single object puts what does not fit below its name', async () => {
    for (const { name, view } of views) {
      for (const width of [40, 80]) {
        const text = await tableRenderer({ view, width }).record(row(view, TEXTS[0] ?? '', 0));
        const tooWide = text.split('\n').filter((line) => stringWidth(line) > width && !line.includes(ID));
        expect(
          tooWide.filter((line) => line.includes(' ')),
          name,
        ).toEqual([]);
      }
    }
  });

  it('every table has an identifier, a status or a name that never drops', () => {
    for (const { name, view } of views)
      expect(
        view.columns.some(({ priority }) => priority === undefined),
        name,
      ).toBe(true);
  });

  it('every table has no column that is not a field', () => {
    for (const { name, view } of views) {
      const unknown = view.columns.filter(({ path }) => !isField(view, path)).map(({ path }) => path);
      expect(unknown, name).toEqual([]);
    }
  });
});

function isField({ fields }: View, path: string): boolean {
  return fields.some(
    (field) =>
      field === path ||
      field === '*' ||
      field.startsWith(`${path}.`) ||
      (field.endsWith('.*') && path.startsWith(field.slice(0, -1))),
  );
}

async function allViews(): Promise<{ name: string; view: View }[]> {
  const found: { name: string; view: View }[] = [];
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const path = join(source, file);
    if (!file.endsWith('.ts') || !/^export const \w*[vV]iew\b/m.test(readFileSync(path, 'utf8'))) continue;
    const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    for (const [name, view] of Object.entries(module))
      if (isView(view) && view.columns.length > 0) found.push({ name, view });
  }
  return found;
}

function isView(value: unknown): value is View {
  return typeof value === 'object' && value !== null && 'columns' in value && 'fields' in value;
}

function row({ columns, fields }: View, text: string, at: number): Record<string, unknown> {
  // A column may show other members of its row too. Those without a column are empty lists here.
  const others = fields.filter((field) => /^\w+$/.test(field) && columns.every(({ path }) => path !== field));
  const made: Record<string, unknown> = Object.fromEntries(others.map((field) => [field, []]));
  for (const column of columns) {
    const path = column.path.split('.');
    const last = path.pop() ?? '';
    let holder = made;
    for (const part of path) holder = (holder[part] ??= {}) as Record<string, unknown>;
    holder[last] = valueFor(column, text, at);
  }
  return made;
}

function valueFor({ kind }: Column, text: string, at: number): unknown {
  if (kind === 'id') return at === 3 ? 'short' : ID;
  if (kind === 'time') return TIME;
  if (kind === 'number') return 1234 * at;
  return kind === 'status' ? 'completed' : text;
}
