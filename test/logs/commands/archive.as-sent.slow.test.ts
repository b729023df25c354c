import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectText } from '../../support/json-text.ts';
import { svcHere } from '../../support/run-here.ts';
import { serveTexts } from './log-server.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const AT = '"created_at":"2026-01-02T00:0';
const DEEP = '['.repeat(3_000) + ']'.repeat(3_000);
const NORMAL = [
  `{"seq":9007199254740993,"amount":1.10,"big":1E400,"zero":-0,${AT}1:00Z"}`,
  `{"__proto__":{"a":1},"message":"\\/ \\u00e9",${AT}2:00Z"}`,
  `{"message":"card 4111111111111111","seq":4111111111111111,${AT}3:00Z"}`,
  `{"message":5,${AT}4:00Z"}`,
];
const RAW = [`{"a":1,"a":2,${AT}1:30Z"}`, `{"half":"\\ud800",${AT}2:30Z"}`, `{${AT}2:40Z","deep":${DEEP}}`];
const TIMELESS = ['{"message":"no time"}', '{"message":"null","created_at":null}'];
const RAW_TIMELESS = ['{"x":1,"x":1}', '"a text"'];
const ALL = [...NORMAL, ...RAW, ...TIMELESS, ...RAW_TIMELESS];

function place(): string {
  return path.join(temporaryDirectory(), 'audit');
}

/** Returns the lines of the segments whose path has this ending. */
function linesOf(archive: string, ending: string, encoding: BufferEncoding = 'utf8'): string[] {
  return readdirSync(archive, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .toSorted()
    .flatMap((file) =>
      gunzipSync(readFileSync(path.join(archive, file)))
        .toString(encoding)
        .split('\n')
        .slice(0, -1),
    );
}

/** Like `linesOf`, with one character for each byte. */
function bytesOf(archive: string, ending: string): string[] {
  return linesOf(archive, ending, 'latin1');
}

const SINCE = ['--since', '2026-01-02'];

describe('an archive', () => {
  it('R60, R61: an archive keeps entries as sent, in separate files those that some readers reject', async () => {
    const { url: baseUrl } = await serveTexts(ALL);
    const audit = place();
    const { code, stdout, stderr } = await svcHere(['logs', 'archive', audit, ...SINCE], { baseUrl });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ entries: 11, raw: 5, timeless: 4, card_numbers: 1 });
    expect(stderr).toContain('with what looks like a card number: 1');
    expect(stderr).toContain('5, in part-….raw.gz');
    expect(linesOf(audit, '.jsonl.gz')).toEqual([...NORMAL, ...TIMELESS]);
    expect(linesOf(audit, '.raw.gz')).toEqual([...RAW, ...RAW_TIMELESS]);
    expect(await svcHere(['logs', 'verify', audit, '-o', 'jsonl'])).toMatchObject({ code: 0 });
    const again = await svcHere(['logs', 'archive', audit], { baseUrl });
    expect(JSON.parse(again.stdout)).toMatchObject({ entries: 0 });
  });

  it('R60: an archive keeps the bytes of entries that are not UTF-8, and warns of them', async () => {
    // Each character is one byte. The first two entries differ in nothing but a byte that is not UTF-8.
    const damaged = [
      `{"message":"gr\u00fcn","entity_id":"e-1",${AT}1:00Z"}`,
      `{"message":"gr\u00f6n","entity_id":"e-1",${AT}1:00Z"}`,
      `{"tenant_id":"t-\u00ff","a\u0080":"\u00c3\u00bc",${AT}2:00Z"}`,
    ];
    const whole = [`{"message":"gr\u00c3\u00bcn",${AT}1:30Z"}`, `{"message":"plain",${AT}3:00Z"}`];
    const { url: baseUrl } = await serveTexts([...damaged, ...whole], undefined, 'latin1');
    const audit = place();
    const { code, stdout, stderr } = await svcHere(['logs', 'archive', audit, ...SINCE], { baseUrl });
    expect([code, JSON.parse(stdout)], stderr).toEqual([0, expect.objectContaining({ entries: 5, raw: 3 })]);
    expect(stderr.match(/bytes that are not UTF-8; each is shown as U\+FFFD/g)).toHaveLength(1);
    expect(stderr).toContain('or bytes that are not UTF-8: 3, in part-….raw.gz');
    expect(bytesOf(audit, '.raw.gz').toSorted()).toEqual(damaged.toSorted());
    expect(bytesOf(audit, '.jsonl.gz')).toEqual(whole);
    expect(await svcHere(['logs', 'verify', audit, '-o', 'jsonl'])).toMatchObject({ code: 0 });
    const again = await svcHere(['logs', 'archive', audit], { baseUrl });
    expect(JSON.parse(again.stdout)).toMatchObject({ entries: 0 });
    for (const words of [['--live'], ['--entity-id', 'e-1'], []]) {
      const found = await svcHere(['logs', 'search', audit, '-o', 'jsonl', ...words], { baseUrl });
      const lines = found.stdout.trimEnd().split('\n');
      expect([found.code, lines.length], `${words.join(' ')}\n${found.stdout}`).toEqual([0, words[1] ? 2 : 5]);
      expect(lines.filter((line) => line.includes('gr\uFFFDn'))).toHaveLength(2);
    }
    expect(await svcHere(['logs', 'stats', audit, ...SINCE])).toMatchObject({ code: 0 });
  });

  it('R60, R61: a search returns archived entries as sent, with card numbers masked, and a query engine reads them', async () => {
    const { url: baseUrl } = await serveTexts(ALL);
    const audit = place();
    await svcHere(['logs', 'archive', audit, ...SINCE], { baseUrl });
    const { code, stdout } = await svcHere(['logs', 'search', audit, '-o', 'jsonl']);
    expect(code).toBe(0);
    const shown = ALL.map((entry) =>
      entry.replace(':4111111111111111', ':"4111111111111111"').replaceAll('4111111111111111', '411111••••••1111'),
    );
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual(shown.toSorted());
    const found = await svcHere(['logs', 'search', audit, '--since', '2026-01-02T00:02:35Z', '-o', 'jsonl']);
    expect(found.stdout.split('\n')[0]).toBe(RAW[2]);
    expect(await svcHere(['logs', 'stats', audit, ...SINCE])).toMatchObject({ code: 0 });
    const engine = await (await DuckDBInstance.create(':memory:')).connect();
    const glob = `${audit}/tenant=*/date=*/*.jsonl.gz`;
    const counted = await engine.runAndReadAll(`SELECT count(*) FROM read_json('${glob}', union_by_name = true)`);
    expect(counted.getRowsJson()).toEqual([[String(NORMAL.length + TIMELESS.length)]]);
  });

  it('R60: an archive keeps the exact text of any entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(objectText, { minLength: 1, maxLength: 30 }), async (entries) => {
        const { url: baseUrl } = await serveTexts(entries.map(({ spaced }) => spaced));
        const audit = place();
        await svcHere(['logs', 'archive', audit, ...SINCE], { baseUrl });
        expect(linesOf(audit, '.gz').toSorted()).toEqual(entries.map(({ plain }) => plain).toSorted());
        expect(await svcHere(['logs', 'verify', audit, '-o', 'jsonl'])).toMatchObject({ code: 0 });
      }),
      { numRuns: 25 },
    );
  });

  it('R33: verify finds a changed raw segment', async () => {
    const { url: baseUrl } = await serveTexts(RAW);
    const audit = place();
    await svcHere(['logs', 'archive', audit, ...SINCE], { baseUrl });
    const files = readdirSync(audit, { recursive: true, encoding: 'utf8' });
    const file = files.find((one) => one.endsWith('.raw.gz')) ?? '';
    const bytes = readFileSync(path.join(audit, file));
    bytes[bytes.length - 9] = (bytes.at(-9) ?? 0) ^ 1;
    writeFileSync(path.join(audit, file), bytes);
    const { code, stdout } = await svcHere(['logs', 'verify', audit, '-o', 'jsonl']);
    expect(code).toBe(12);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ problem: 'changed', path: file });
  });
});
