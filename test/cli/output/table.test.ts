import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { tableRenderer } from '../../../src/cli/output/table.ts';
import type { Palette, RenderOptions, View } from '../../../src/cli/output/view.ts';
import { entryView, listText } from './views.ts';

type Row = Record<string, unknown>;

const ID = 'a5f1b1c2-0000-4000-8000-000000000001';
const WIDE = '日本語のとても長い説明文です 👩🏽‍🚀 e\u0301e\u0301e\u0301 नमस्ते and some plain words at the end';
const ROW: Row = { id: ID, created_at: '2026-11-21T11:44:56Z', operation: 'delete', message: WIDE, count: 1234 };

const loud: Palette = {
  good: (text) => `<good ${text}>`,
  warn: (text) => `<warn ${text}>`,
  bad: (text) => `<bad ${text}>`,
  alarm: (text) => `<alarm ${text}>`,
  quiet: (text) => `<quiet ${text}>`,
  strong: (text) => `<strong ${text}>`,
  accent: (text) => `<accent ${text}>`,
};

function table(options: Partial<RenderOptions<Row>> = {}): ReturnType<typeof tableRenderer<Row>> {
  return tableRenderer<Row>({ view: entryView, ...options });
}

function redact(text: string): string {
  return text.replaceAll('key_secret_1234567890', '(hidden)');
}

function oneHourLater(): number {
  return Date.parse('2026-11-21T12:44:56Z');
}

function toneOfStatus(status: unknown): 'good' | 'bad' | undefined {
  if (status === 'pending') return undefined;
  return status === 'completed' ? 'good' : 'bad';
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

it('a terminal keeps room for what a column asks for, so that later rows do not move the columns after it', async () => {
  const view: View<Row> = {
    ...entryView,
    columns: [
      { path: 'operation', kind: 'text', minWidth: 20 },
      { path: 'message', kind: 'text' },
    ],
  };
  const short = { ...ROW, operation: 'short', message: 'here' };
  const long = { ...ROW, operation: 'a much longer one', message: 'here' };
  const drawn = tableRenderer<Row>({ view, width: 80 });
  const pages = [await drawn.rows([short]), await drawn.rows([long])];
  expect(pages.map((page) => linesOf(page).at(-1)?.indexOf('here'))).toEqual([22, 22]);
});

describe('a table in a pipe', () => {
  it('a table in a pipe cuts nothing and lines the columns up', async () => {
    const text = await listText(table(), [ROW, { id: 'b', message: 'short' }]);
    const [header = '', first = '', second = ''] = linesOf(text);
    expect(first).toContain('at the end');
    expect(header.indexOf('TIME')).toBe(38);
    expect(second).toMatch(/^b {37}-/);
    expect(new Set([header, first, second].map((line) => stringWidth(line))).size).toBe(1);
  });

  it('a table in a pipe prints nothing at all for an empty list', async () => {
    expect(await listText(table(), [])).toBe('');
  });

  it('a table in a pipe prints the header once over many batches', async () => {
    const text = await listText(table(), [{ id: 'a' }], [], [{ id: 'a longer one' }], [{ id: 'c' }]);
    expect(text.match(/OPERATION/g)).toHaveLength(1);
    expect(linesOf(text)).toHaveLength(4);
  });

  it('a table in a pipe has no spaces at the end of a line', async () => {
    const text = await listText(table({ fields: 'id,message' }), [
      { id: 'x', message: 'long text' },
      { id: 'y', message: 'a   ' },
      {},
    ]);
    expect(text).toBe('ID  MESSAGE\nx   long text\ny   a\n-   -\n');
  });
});

describe('a status', () => {
  it('a status is marked where that is wanted and it is good or bad', async () => {
    const view = {
      name: 'job',
      fields: ['status'],
      columns: [{ path: 'status', kind: 'status', paint: toneOfStatus } as const],
    };
    const jobs = [{ status: 'completed' }, { status: 'failed' }, { status: 'pending' }, {}];
    const text = await listText(tableRenderer({ view, marks: true }), jobs);
    expect(linesOf(text)).toEqual(['STATUS', '✓ completed', '✗ failed', 'pending', '-']);
    expect(await listText(tableRenderer({ view }), jobs)).not.toMatch(/[✓✗]/);
  });
});

describe('a table on a terminal', () => {
  it('a table on a terminal drops columns of low priority', async () => {
    const renderer = table({ width: 60 });
    const text = await listText(renderer, [ROW]);
    expect(linesOf(text)[0]).toMatch(/^ID +OPERATION +MESSAGE$/);
  });

  it('a table on a terminal at last shows each row as an object, with everything in it', async () => {
    const renderer = table({ width: 40 });
    const text = await listText(renderer, [ROW], [ROW]);
    expect(text).toContain(`id  ${ID}\ntime       2026-11-21 11:44:56Z\n`);
    expect(text).toContain('\ncount      1,234\n\nid  ');
    const narrow = await listText(table({ width: 30 }), [ROW]);
    expect(narrow).toContain(`id\n  ${ID}\n`);
  });

  it('R06: a table on a terminal shows no part of a secret that is cut or wrapped', async () => {
    const row = { id: ID, message: 'the key was key_secret_1234567890' };
    for (let width = 38; width < 100; width += 1) {
      const text = await listText(table({ width, redact, fields: 'id,message' }), [row]);
      expect(text).not.toMatch(/key_/);
    }
  });

  it('a table on a terminal leaves a column out whose cells only repeat the others in its first rows', async () => {
    const columns = [
      { path: 'id', kind: 'id' },
      { path: 'message', kind: 'text', repeats: (row: Row) => row['message'] === row['id'] },
    ] as const;
    const view: View<Row> = { name: 'thing', fields: ['id', 'message'], columns };
    const renderer = tableRenderer<Row>({ view });
    expect(await renderer.rows([{ id: 'a', message: 'a' }])).toBe('ID\na\n');
    expect(await renderer.rows([{ id: 'b', message: 'news' }])).toBe('b\n');
    const mixed = await listText(tableRenderer<Row>({ view }), [
      { id: 'a', message: 'a' },
      { id: 'b', message: 'news' },
    ]);
    expect(mixed).toBe('ID  MESSAGE\na   -\nb   news\n');
  });

  it('a table on a terminal wraps all but identifiers where a row is shown as an object', async () => {
    const text = await listText(table({ width: 20, fields: 'id,operation' }), [{ id: ID, operation: 'o'.repeat(30) }]);
    expect(text).toBe(`id\n  ${ID}\noperation\n  ${'o'.repeat(18)}\n  ${'o'.repeat(12)}\n`);
    const words = await listText(table({ width: 20, fields: 'id,operation' }), [
      { id: ID, operation: 'twelve words of 東京都庁 and more' },
    ]);
    expect(words).toBe(`id\n  ${ID}\noperation\n  twelve words of\n  東京都庁 and more\n`);
  });

  it('a table on a terminal never drops what the user chose', async () => {
    const renderer = table({ width: 50, fields: 'id,created_at,count' });
    expect(await listText(renderer, [ROW])).toContain('count  1,234');
  });

  it('a table on a terminal shows rows as objects once an identifier does not fit', async () => {
    const renderer = table({ width: 40, fields: 'id,operation' });
    const text = await listText(
      renderer,
      [{ id: 'a', operation: 'read' }],
      [{ id: ID, operation: 'read' }],
      [{ id: 'b' }],
    );
    expect(text).toBe(`ID  OPERATION\na   read\n\nid  ${ID}\noperation  read\n\nid         b\noperation  -\n`);
  });
});

describe('cells', () => {
  it('R49: cells are cleaned and stay on one line', async () => {
    const text = await listText(table({ fields: 'id,message' }), [{ id: '\u001b[2Jx', message: 'a\nb\u202ec\u200b' }]);
    expect(text).toBe(String.raw`ID        MESSAGE
\x1b[2Jx  a\nb\u202ec\u200b
`);
  });

  it('R49: cells of a record are cleaned, names of unknown fields too', async () => {
    const text = await table().record({ id: 'x', 'new\u001b[31m': '\u202ey' });
    expect(text).toBe('id           x\nnew\\x1b[31m  \\u202ey\n');
  });

  it('cells show lists, nested values, booleans and numbers in a readable way', async () => {
    const view: View<Row> = { name: 'thing', fields: ['a', 'b', 'c', 'count'], columns: [] };
    const text = await tableRenderer<Row>({ view }).record({ a: ['x', 'y'], b: [{ z: 1 }], c: false, count: 12_000 });
    expect(text).toBe('a      x, y\nb      [{"z":1}]\nc      false\ncount  12,000\n');
  });

  it('cells show times as requested, relative ones by the clock given', async () => {
    expect(await listText(table({ fields: 'created_at', time: 'relative', now: oneHourLater }), [ROW])).toBe(
      'TIME\n1h ago\n',
    );
  });

  it('cells are painted by tone, outside the padding, and never by color alone', async () => {
    const text = await listText(table({ fields: 'operation,count,id', palette: loud }), [
      { operation: 'delete', count: 7, id: 'i' },
    ]);
    expect(text).toBe('<strong OPERATION>  <strong COUNT>  <strong ID>\n<bad delete>         7  <quiet i>\n');
  });
});
