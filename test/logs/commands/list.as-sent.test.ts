import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { systemClock } from '../../../src/base/system.ts';
import { objectText } from '../../support/json-text.ts';
import { startSandboxHere, svcHere } from '../../support/run-here.ts';
import { serveTexts } from './log-server.ts';
import { cases } from '../../support/cases.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const DEEP = '['.repeat(3_000) + ']'.repeat(3_000);
const ENTRIES = [
  '{"seq":9007199254740993,"amount":1.10,"message":"a","created_at":"2026-01-02T00:00:00Z"}',
  '{"message":"b","message":"c","created_at":"2026-01-02T00:00:01Z","__proto__":{"x":-0}}',
  `{"created_at":"2026-01-02T00:00:02Z","message":"deep","nested":${DEEP}}`,
  '{"message":"no time"}',
  '{"message":5,"tenant_id":{"a":1},"created_at":"2026-01-02T00:00:03Z"}',
  '"a text"',
  '{"message":"d","created_at":"2026-01-02T00:00:04Z"}',
];

describe('entries as they were sent', () => {
  it('R60, R61: svc logs lists entries token for token, whatever their form', async () => {
    const { url: baseUrl } = await serveTexts(ENTRIES);
    const { code, stdout, stderr } = await svcHere(['logs', '-o', 'jsonl'], { baseUrl });
    expect(code).toBe(0);
    expect(stdout).toBe(ENTRIES.map((entry) => `${entry}\n`).join(''));
    for (const words of ['nested more than 200 levels deep: 1', 'other types than documented: 1'])
      expect(stderr).toContain(words);
    for (const words of ['without a readable time (created_at): 1', 'that are not objects: 1'])
      expect(stderr).toContain(words);
    const json = await svcHere(['logs', '-o', 'json'], { baseUrl });
    expect(json.stdout).toBe(`[\n${ENTRIES.map((entry) => `  ${entry}`).join(',\n')}\n]\n`);
    for (const format of ['table', 'csv', 'yaml'])
      expect(await svcHere(['logs', '-o', format], { baseUrl })).toMatchObject({ code: 0 });
  });

  it('R60, R61: svc logs tail prints entries token for token, whatever their form, each once', async () => {
    const { url: baseUrl } = await serveTexts(ENTRIES);
    const tail = ['logs', 'tail', '--since', '2026-01-02', '--idle-exit', '30s', '-o', 'jsonl'];
    const { code, stdout, stderr } = await svcHere(tail, { baseUrl });
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').toSorted()).toEqual(ENTRIES.toSorted());
    expect(stderr).toContain('without a readable time (created_at): 1');
  });

  it('R60: entries of any tokens are printed token for token', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(objectText, { minLength: 1, maxLength: 20 }), async (entries) => {
        const { url: baseUrl } = await serveTexts(entries.map(({ spaced }) => spaced));
        const { stdout } = await svcHere(['logs', '-o', 'jsonl'], { baseUrl });
        expect(stdout).toBe(entries.map(({ plain }) => `${plain}\n`).join(''));
      }),
      { numRuns: cases(100) },
    );
  });

  it('R60: numbers keep their digits in CSV, YAML, chosen fields and --jq', async () => {
    const { url: baseUrl } = await serveTexts(ENTRIES.slice(0, 1));
    const csv = await svcHere(['api', 'GET', '/logs', '--paginate', '-o', 'csv'], { baseUrl });
    expect(csv.stdout).toBe('seq,amount,message,created_at\n9007199254740993,1.10,a,2026-01-02T00:00:00Z\n');
    const yaml = await svcHere(['logs', '-o', 'yaml'], { baseUrl });
    expect(yaml.stdout).toContain('- seq: 9007199254740993\n  amount: 1.10\n');
    expect(parseYaml(yaml.stdout, { intAsBigInt: true })).toMatchObject([{ seq: 9007199254740993n }]);
    const fields = await svcHere(['api', 'GET', '/logs', '--paginate', '--fields', 'seq,amount'], { baseUrl });
    expect(fields.stdout).toBe('{"seq":9007199254740993,"amount":1.10}\n');
    const table = await svcHere(['api', 'GET', '/logs', '--paginate', '-o', 'table'], { baseUrl });
    expect(table.stdout).toContain('9007199254740993');
  });

  it('R06, R60: a number that looks like a card number is shown as a masked text', async () => {
    const { url: baseUrl } = await serveTexts([
      '{"seq":4111111111111111,"n":1.10,"created_at":"2026-01-02T00:00:00Z"}',
    ]);
    const masked = '{"seq":"411111••••••1111","n":1.10,"created_at":"2026-01-02T00:00:00Z"}';
    expect((await svcHere(['logs', '-o', 'jsonl'], { baseUrl })).stdout).toBe(`${masked}\n`);
    expect((await svcHere(['logs', '-o', 'json'], { baseUrl })).stdout).toBe(`[\n  ${masked}\n]\n`);
    expect((await svcHere(['logs', '--jq', '.'], { baseUrl })).stdout).toContain('"seq":"411111••••••1111"');
  });
});

describe('svc api', () => {
  it('R60: svc api prints a response token for token, formatted, with its addresses hidden', async () => {
    const text = '{"a":1.10,"a":2,"list":[9007199254740993],"job":{"upload_url":"https://x/?sig=1","upload_url":null}}';
    const { url: baseUrl } = await serveTexts(text);
    const { stdout } = await svcHere(['api', 'GET', '/tenants/self', '-o', 'jsonl'], { baseUrl });
    expect(stdout).toBe(
      '{"a":1.10,"a":2,"list":[9007199254740993],"job":{"upload_url":"(hidden)","upload_url":null}}\n',
    );
    const laidOut = await svcHere(['api', 'GET', '/tenants/self', '-o', 'json'], { baseUrl });
    expect(laidOut.stdout).toContain('{\n  "a": 1.10,\n  "a": 2,\n  "list": [\n    9007199254740993\n  ],');
    const items = await svcHere(['api', 'GET', '/logs', '--paginate', '-o', 'jsonl'], {
      baseUrl: (await serveTexts('[1.0, {"upload_url":"x","b":-0}, "s"]')).url,
    });
    expect(items.stdout).toBe('1.0\n{"upload_url":"(hidden)","b":-0}\n"s"\n');
  });

  it('R21: svc api refuses a response that is nested too deep, and explains why', async () => {
    const { url: deep } = await serveTexts(`{"data":[],"more":${DEEP}}`);
    for (const words of [['api', 'GET', '/logs'], ['logs'], ['tenant', 'show']]) {
      const { code, stderr, stdout } = await svcHere([...words, '-o', 'table'], { baseUrl: deep });
      expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
      expect(stderr).toContain('nested more than 200 levels deep');
    }
  });
});

it('a table in a pipe names actors as a terminal does, beside their ids, and leaves out no read', async () => {
  const on = { ...(await startSandboxHere({ logCount: 40 })), home: temporaryDirectory(), clock: systemClock };
  const argv = ['logs', '--limit', '20', '-o', 'table'];
  // The names may come too late for the first table.
  await svcHere(argv, on);
  const { stdout } = await svcHere(argv, on);
  expect(stdout).toMatch(/ read +log +Sandbox management key +/);
  expect(stdout).toMatch(/ (?:card|token|bank) +Sandbox private key +[0-9a-f]{8}-\S+ +[0-9a-f]{8}-\S+/);
});
