import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/security/redact.ts';
import { markdownOf } from '../../../src/cli/app/summary.ts';

const asItIs = (text: string): string => text;

function summaryOf(text: string, redact = asItIs): string {
  return markdownOf(
    {
      title: text,
      facts: [['name', text]],
      head: ['a', 'b'],
      rows: [[text, 'x']],
      commands: [`svc au resume ${text} --wait`],
    },
    redact,
  );
}

it.each([
  ['a pipe', 'a|b', 'a&#124;b'],
  ['HTML', '<img src=x onerror=alert(1)>', '&#60;img src=x onerror=alert(1)&#62;'],
  ['an entity', '&lt;b&gt;', '&#38;lt;b&#38;gt;'],
  ['a link', '[here](https://evil.example)', '&#91;here&#93;(https&#58;//evil.example)'],
  ['an address', 'www.evil.example', 'www&#46;evil.example'],
  ['backticks and stars', '```` **bold**', '&#96;&#96;&#96;&#96; &#42;&#42;bold&#42;&#42;'],
  ['underscores', '_a_ UPD_PAN', '&#95;a&#95; UPD_PAN'],
  ['a mention', '@team #12', '&#64;team &#35;12'],
  ['a new line', 'a\n\n# b', String.raw`a&#92;n&#92;n&#35; b`],
  ['text that reorders itself', 'a\u202eb', String.raw`a&#92;u202eb`],
])('a summary in Markdown shows %s as text', (_, text, shown) => {
  const markdown = summaryOf(text);
  expect(markdown).toContain(`- **name**: ${shown}\n`);
  expect(markdown).toContain(`| ${shown} | x |\n`);
  expect(markdown).toContain(`### ${shown}\n`);
});

it('a summary in Markdown keeps its lines and cells, and the block of commands, whatever the text is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[`|\\<>~\n [\]()]*$/)), (text) => {
      const lines = summaryOf(text).split('\n');
      expect(lines).toHaveLength(summaryOf('x').split('\n').length);
      expect(lines.filter((line) => line.startsWith('```'))).toHaveLength(2);
      const table = lines.filter((line) => line.startsWith('|'));
      expect(table.map((line) => line.split('|').length)).toEqual([4, 4, 4]);
      // The text keeps no character that has a meaning in Markdown.
      expect(lines.slice(0, lines.indexOf('```sh')).join('\n')).not.toMatch(/[<>[\]`~@]/);
    }),
  );
});

it('R06: a summary in Markdown has no key and no card number, in cells and commands', () => {
  const redactor = createRedactor();
  redactor.addSecret('key_canary_0123');
  const markdown = summaryOf('key_canary_0123 4111111111111111', redactor.redact);
  expect(markdown).not.toMatch(/canary|4111111111111111/);
});

it('a summary in Markdown shows the first rows of a long table, and says how many are missing', () => {
  const rows = Array.from({ length: 1_000 }, (_, at) => [`row ${at}`]);
  const markdown = markdownOf({ title: 'x', facts: [], head: ['a'], rows }, asItIs);
  expect(markdown).toContain('row 199 ');
  expect(markdown).toContain('800 more rows are not shown.');
  expect(markdown).not.toContain('row 200 ');
});
