import { array, assert, asyncProperty, json } from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Query } from '../../../src/cli/output/jq.ts';

const never = new AbortController().signal;
const open: Query[] = [];

afterEach(async () => {
  for (const query of open.splice(0)) await query.close();
});

async function query(expression: string): Promise<Query> {
  const made = await Query.open(expression, never);
  open.push(made);
  return made;
}

describe('a query', () => {
  it('a query sees each entry by itself and keeps their order', async () => {
    const made = await query('.a, length');
    const { outputs, errors } = await made.run(['{"a":"x"}', '{"a":[1,"\\n"],"b":2}']);
    expect(outputs).toEqual(['"x"', '1', '[1,"\\n"]', '2']);
    expect(errors).toEqual([]);
  });

  it.each([
    ['no entry at all', '.', [], []],
    ['an entry that is left out', 'select(.a == 2)', ['{"a":1}', '{"a":2}'], ['{"a":2}']],
    ['functions of its own and a comment at its end', 'def f: .a + 1; f # sum', ['{"a":1}'], ['2']],
    ['regular expressions', '.a | test("^h.llo$")', ['{"a":"héllo"}'], ['true']],
    ['times', '.a | fromdate', ['{"a":"2026-01-01T00:00:00Z"}'], ['1767225600']],
    ['labels', 'label $out | 1, break $out, 2', ['{}'], ['1']],
    ['inputs, of which there are none', '[inputs]', ['1', '2'], ['[]', '[]']],
  ])('a query takes %s', async (_, expression, entries, outputs) => {
    const made = await query(expression);
    expect(await made.run(entries)).toEqual({ outputs, errors: [], notes: '' });
  });

  it('a query keeps what an entry gave before it failed, and continues with the next one', async () => {
    const made = await query('.a, (.b | ascii_upcase)');
    const { outputs, errors } = await made.run(['{"a":1,"b":2}', '{"a":3,"b":"x"}']);
    expect(outputs).toEqual(['1', '3', '"X"']);
    expect(errors).toEqual([expect.stringContaining('must be a string')]);
  });

  it('R61: a query reads an entry with half a character, and the entries beside it', async () => {
    const made = await query('.a');
    const texts = [
      String.raw`"bad \ud800"`,
      String.raw`"\udc00\ud83d\ude00 \uD83D"`,
      String.raw`"\\ud800 \\\ud800"`,
      String.raw`"\uD83D\uDE00"`,
    ];
    const { outputs, errors } = await made.run(['{"a":1}', ...texts.map((text) => `{"a":${text}}`), '{"a":2}']);
    expect(errors).toEqual([]);
    expect(outputs.map((text) => JSON.parse(text) as unknown)).toEqual([
      1,
      'bad \ufffd',
      '\ufffd😀 \ufffd',
      '\\ud800 \\\ufffd',
      '😀',
      2,
    ]);
  });

  it('R61: a query reports an entry that jq cannot read, and sees the others', async () => {
    const made = await query('.a');
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const { outputs, errors } = await made.run(['{"a":1}', `{"a":${deep}}`, '{"a":2}']);
    expect([outputs, errors]).toEqual([['1', '2'], [expect.stringMatching(/^jq cannot read the entry: \D+$/)]]);
    expect((await made.run([deep])).errors).toHaveLength(1);
    expect((await made.run(['{"a":3}'])).outputs).toEqual(['3']);
  });

  it.each(['input', 'halt', 'halt_error', 'halt_error(3)'])('a query lets no entry use %s', async (word) => {
    const made = await query(word);
    const { outputs, errors } = await made.run(['1', '2']);
    expect(outputs).toEqual([]);
    expect(errors).toEqual([expect.stringContaining('cannot be used'), expect.stringContaining('cannot be used')]);
  });

  it('a query reads no environment and no file', async () => {
    const made = await query('$ENV | keys | map(select(test("KEY|SVC|SECRET")))');
    expect((await made.run(['1'])).outputs).toEqual(['[]']);
    const refused = Query.open('import "/etc/passwd" as $x; .', never);
    await expect(refused).rejects.toThrow('not a jq expression');
  });

  it('a query tells apart what debug wrote', async () => {
    const made = await query('debug | .a');
    expect(await made.run(['{"a":1}'])).toEqual({ outputs: ['1'], errors: [], notes: '["DEBUG:",{"a":1}]' });
  });

  it('a query gives back any JSON as it was', async () => {
    const made = await query('.');
    const anyText = json({ noUnicodeString: false }).map((text) => JSON.stringify(JSON.parse(text)));
    await assert(
      asyncProperty(array(anyText, { maxLength: 20 }), async (entries) => {
        const { outputs, errors } = await made.run(entries);
        expect(errors).toEqual([]);
        expect(outputs.map((text) => normal(text))).toEqual(entries.map((text) => normal(text)));
      }),
      { numRuns: process.env['SOAK'] ? 2000 : 20 },
    );
  });

  it('a query ends with jq where jq itself gives up, and says so', async () => {
    const made = await query('def f: [f]; f');
    await expect(made.run(['1'])).rejects.toMatchObject({ code: 'expression', exitCode: 1 });
  });

  it('R19: a query that never ends is ended by a signal', async () => {
    const ending = new AbortController();
    const made = await Query.open('last(repeat(.))', ending.signal);
    const reason = new Error('interrupted');
    const running = made.run(['1']);
    setTimeout(() => ending.abort(reason), 50);
    await expect(running).rejects.toBe(reason);
    await expect(made.run(['1'])).rejects.toBe(reason);
  });
});

// jq may write digits beyond the fifteenth differently, and replaces a number above the largest double with it.
function normal(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(15)) : value,
  ) as unknown;
}
