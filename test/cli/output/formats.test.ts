import { parse as parseCsv } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml, parseDocument } from 'yaml';
import { createRedactor } from '../../../src/base/security/redact.ts';
import { createRenderer } from '../../../src/cli/app/print.ts';
import { jsonHasCardNumber } from '../../../src/cli/output/formats.ts';
import type { Renderer, RenderOptions } from '../../../src/cli/output/view.ts';
import { entryView, listText } from './views.ts';
import { anyCharacter } from '../../support/any-character.ts';

type Row = Record<string, unknown>;

const NASTY = 'a\u001b[31m\u009b\u202e\u200b\u2028\u{e0041}é日本\r\n"x", =1+1';
const ROWS: readonly Row[] = [
  { id: '1', created_at: '2026-11-21T11:44:56.1234567+02:00', entity: { id: 'e', type: 'card' }, message: NASTY },
  { id: '2', message: null, count: 5, settings: { on: 'true', odd: ['yes'] }, brand_new: { field: 1 } },
];
const ESCAPABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

async function make(
  format: Parameters<typeof createRenderer>[0],
  options: Partial<RenderOptions<Row>> = {},
): Promise<Renderer<Row>> {
  return createRenderer<Row>(format, { view: entryView, ...options });
}

const jsonish = fc.dictionary(
  fc.string({ unit: anyCharacter }).filter((key) => key !== '__proto__'),
  fc.jsonValue(),
  { maxKeys: 5 },
);

describe('json', () => {
  it('R52: JSON output streams one array, an item a line', async () => {
    const text = await listText(await make('json'), [], ROWS.slice(0, 1), [], ROWS.slice(1));
    expect(JSON.parse(text)).toEqual(ROWS);
    const plain = [
      { id: '1', list: [1, { a: 'x' }] },
      { id: '2', none: {} },
    ];
    expect(await listText(await make('json'), plain)).toBe(
      '[\n  {"id":"1","list":[1,{"a":"x"}]},\n  {"id":"2","none":{}}\n]\n',
    );
  });

  it('JSON output prints an empty list as []', async () => {
    expect(await listText(await make('json'))).toBe('[]\n');
    expect(await listText(await make('json'), [])).toBe('[]\n');
  });

  it('JSON output prints one object indented by two', async () => {
    expect(await (await make('json')).record({ id: '1' })).toBe('{\n  "id": "1"\n}\n');
  });
});

describe('jsonl', () => {
  it('R52: JSONL output prints an object a line and nothing for an empty list', async () => {
    const text = await listText(await make('jsonl'), ROWS);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(ROWS);
    expect(await listText(await make('jsonl'))).toBe('');
    expect(await (await make('jsonl')).record({ id: '1' })).toBe('{"id":"1"}\n');
  });
});

describe('csv', () => {
  it('R52: CSV output prints a header and rows that a reader gives back byte for byte', async () => {
    const text = await listText(await make('csv'), ROWS);
    const [header, first, second] = parseCsv(text) as [string[], string[], string[]];
    expect(header).toEqual([
      'id',
      'created_at',
      'operation',
      'entity.id',
      'entity.type',
      'message',
      'count',
      'upload_url',
    ]);
    expect(first).toEqual(['1', '2026-11-21T11:44:56.1234567+02:00', '', 'e', 'card', NASTY, '', '']);
    expect(second[5]).toBe('');
  });

  it('CSV output writes nested values as JSON, and a lone empty cell so that it stays a row', async () => {
    expect(await listText(await make('csv', { fields: 'settings' }), ROWS.slice(1))).toBe(
      'settings\n"{""on"":""true"",""odd"":[""yes""]}"\n',
    );
    expect(await listText(await make('csv', { fields: 'message' }), [{}])).toBe('message\n""\n');
  });

  it('CSV output prints the header alone for an empty list', async () => {
    expect(await listText(await make('csv', { fields: 'id,count' }))).toBe('id,count\n');
  });

  it('R49: CSV output is cleaned on a terminal', async () => {
    expect(await listText(await make('csv', { width: 80 }), ROWS)).not.toMatch(ESCAPABLE);
  });
});

describe('yaml', () => {
  it('R52: YAML output streams a sequence that is read back equal by YAML 1.2 and 1.1', async () => {
    const text = await listText(await make('yaml'), ROWS.slice(0, 1), ROWS.slice(1));
    expect(parseYaml(text)).toEqual(ROWS);
    expect(parseDocument(text, { version: '1.1' }).toJS()).toEqual(ROWS);
    expect(text).not.toMatch(ESCAPABLE);
    expect(await listText(await make('yaml'))).toBe('[]\n');
  });

  it('R06: YAML output hides a secret as text that a parser reads as text', async () => {
    const { redact, addSecret } = createRedactor();
    addSecret('a-secret-key');
    const renderer = await make('yaml', { redact });
    const row = {
      key: 'a-secret-key',
      'a-secret-key': ['a-secret-key'],
      cookie: 'sid: 1',
      note: 'the key is a-secret-key',
      multi: 'cookie: sid=1\nline',
      card: 4111111111111111,
      count: 5,
    };
    expect(renderer.isRedacted).toBe(true);
    expect(parseYaml(await renderer.record(row))).toEqual({
      key: '[hidden]',
      '[hidden]': ['[hidden]'],
      cookie: '[hidden]',
      note: 'the key is [hidden]',
      multi: 'cookie: [hidden]\nline',
      card: '411111••••••1111',
      count: 5,
    });
  });

  it('R49: YAML output shows no dangerous character and loses none', async () => {
    const renderer = await make('yaml');
    await fc.assert(
      fc.asyncProperty(jsonish, async (row) => {
        const text = await renderer.record(row);
        expect(text).not.toMatch(ESCAPABLE);
        expect(JSON.stringify(parseYaml(text))).toBe(JSON.stringify(row));
      }),
    );
  });
});

describe('every format', () => {
  it('R49: every format keeps equal data without a dangerous character in JSON, for any value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(jsonish, { maxLength: 4 }), async (rows) => {
        // Card numbers are masked, which other tests cover.
        fc.pre(!jsonHasCardNumber(JSON.stringify(rows)));
        const text = await listText(await make('json'), rows);
        expect(text).not.toMatch(ESCAPABLE);
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(rows));
      }),
    );
  });

  it('R06: every format hides secret addresses unless they are requested', async () => {
    const row = { id: '1', upload_url: 'https://s.test/?sig=abc', parts: [{ upload_url: 'https://s.test/?sig=def' }] };
    for (const format of ['table', 'json', 'jsonl', 'csv', 'yaml'] as const) {
      const hidden = await make(format, { fields: 'id,upload_url' });
      for (const text of [
        await listText(hidden, [row]),
        await hidden.record(row),
        await (await make(format)).record(row),
      ]) {
        expect(text).toContain('(hidden)');
        expect(text).not.toContain('sig=');
      }
      expect(await (await make(format, { showUrls: true })).record(row)).toContain('sig=abc');
    }
    expect(row.upload_url).toContain('sig=abc');
  });

  it('every format shows chosen fields in the chosen order and keeps their shape', async () => {
    const fields = 'message, entity.type,id,entity.id,settings.on,id';
    const row = { id: 'i', message: 'm', entity: { id: 'e', type: 't', more: 1 }, settings: { on: 'x', off: 'y' } };
    expect(await (await make('jsonl', { fields })).record(row)).toBe(
      '{"message":"m","entity":{"type":"t","id":"e"},"id":"i","settings":{"on":"x"}}\n',
    );
    expect(await (await make('csv', { fields })).record(row)).toBe(
      'message,entity.type,id,entity.id,settings.on\nm,t,i,e,x\n',
    );
    expect(await (await make('yaml', { fields: 'entity' })).record(row)).toBe(
      'entity:\n  id: e\n  type: t\n  more: 1\n',
    );
    expect(await (await make('table', { fields })).record(row)).toBe(
      'message      m\nentity type  t\nid           i\nentity id    e\nsettings.on  x\n',
    );
  });

  it('every format leaves fields out that an object does not have', async () => {
    expect(await (await make('jsonl', { fields: 'id,entity.id' })).record({ id: '1' })).toBe('{"id":"1"}\n');
  });
});
