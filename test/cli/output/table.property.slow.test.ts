import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { tableRenderer } from '../../../src/cli/output/table.ts';
import type { RenderOptions } from '../../../src/cli/output/view.ts';
import { entryView, listText } from './views.ts';

type Row = Record<string, unknown>;

const ID = 'a5f1b1c2-0000-4000-8000-000000000001';
const WIDE = '日本語のとても長い説明文です 👩🏽‍🚀 e\u0301e\u0301e\u0301 नमस्ते and some plain words at the end';
const ROW: Row = { id: ID, created_at: '2026-11-21T11:44:56Z', operation: 'delete', message: WIDE, count: 1234 };

function table(options: Partial<RenderOptions<Row>> = {}): ReturnType<typeof tableRenderer<Row>> {
  return tableRenderer<Row>({ view: entryView, ...options });
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

describe('a table on a terminal', () => {
  it('R50: a table on a terminal fits any text at any width that holds the identifiers', async () => {
    const message = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc
        .array(fc.constantFrom('日', 'é', 'e\u0301', '👍🏽', '🇩🇪', 'x', ' ', 'ｱﾞ'), { maxLength: 60 })
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 38, max: 200 }),
        fc.array(message, { minLength: 1, maxLength: 6 }),
        async (width, messages) => {
          const rows = messages.map((text, at) => ({ ...ROW, message: text, count: 10 ** at }));
          const half = Math.ceil(rows.length / 2);
          const text = await listText(table({ width }), rows.slice(0, half), rows.slice(half));
          for (const line of linesOf(text)) expect(stringWidth(line), line).toBeLessThanOrEqual(width);
          expect(text.split(ID)).toHaveLength(rows.length + 1);
        },
      ),
    );
  });

  it('R50: a list of any script looks on a terminal as in a pipe where every column fits, before and after its 1000th row', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({
      ...ROW,
      operation: ['delete', '読む', '🫠 new', 'हटाएँ'][at % 4],
      message: `entry ${at}`,
      count: at * 1000,
    }));
    const pages = [rows, rows, rows, rows];
    expect(await listText(table({ width: 200 }), ...pages)).toBe(await listText(table(), ...pages));
  });
});
