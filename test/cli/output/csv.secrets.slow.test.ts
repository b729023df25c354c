import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';

describe('cells that contain secrets', () => {
  const KEY = 'ab+c/d=EFghij"k';
  const MESSAGES = [
    'plain',
    'Exported to https://b.example/x?X-Amz-Signature=abc',
    'rejected header cookie: sid=1',
    'Authorization: Bearer abc',
    'https://shop.example',
    `the key is ${KEY}`,
  ];
  const HIDDEN = [
    'plain',
    'Exported to https://b.example/x?…',
    'rejected header cookie: [hidden]',
    'Authorization: [hidden]',
    'https://shop.example',
    'the key is [hidden]',
  ];

  async function printed(...options: string[]): Promise<string> {
    const data = MESSAGES.map((message) => ({ message, operation: 'read', actor_id: 'ann@shop.example' }));
    const server = await serve([json({ pagination: { next: null, page_size: 20 }, data })]);
    const { code, stdout } = await svcHere(['logs', ...options], { baseUrl: server.url, env: { SVC_API_KEY: KEY } });
    expect(code).toBe(0);
    return stdout;
  }

  const FIELDS = ['--fields', 'message,operation,actor_id'];
  const ROWS = HIDDEN.map((message) => [message, 'read', 'ann@shop.example']);

  it.each([
    ['CSV', ['-o', 'csv', ...FIELDS], ','],
    ['CSV for a spreadsheet', ['-o', 'csv', '--excel-safe', ...FIELDS], ','],
    ['@tsv of jq', ['--jq', '[.message,.operation,.actor_id]|@tsv'], '\t'],
    ['@csv of jq', ['--jq', '[.message,.operation,.actor_id]|@csv'], ','],
  ])('R06: a secret in a cell takes no other cell with it, in %s', async (_, options, delimiter) => {
    const stdout = await printed(...options);
    expect(parse(stdout, { delimiter }).slice(-MESSAGES.length)).toEqual(ROWS);
  });

  it('R06: a secret in a cell takes no other cell with it, in a table', async () => {
    const [, ...lines] = (await printed('-o', 'table', ...FIELDS)).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual(ROWS);
  });

  it('R06: a secret with a tab, or after a line break, is hidden whole', async () => {
    const data = ['Authorization: Bearer\tcanary', 'line\nauthorization: canary'].map((message) => ({ message }));
    const server = await serve([json({ pagination: { next: null, page_size: 20 }, data })]);
    for (const options of [
      ['-o', 'csv'],
      ['-o', 'table'],
      ['--jq', '.message'],
      ['--jq', '[.message]|@tsv'],
    ]) {
      const { code, stdout } = await svcHere(['logs', ...options], { baseUrl: server.url });
      expect([code, stdout.includes('canary')], stdout).toEqual([0, false]);
    }
  });

  it.each([
    ['-o csv'],
    ['-o csv --excel-safe'],
    ['-o yaml'],
    ['-o json'],
    ['-o table'],
    ['-o table --plain'],
    ['-o table', 20],
    ['--fields +authorization,+nested -o table', 20],
  ] as const)(
    'R06: a member whose name says that it is secret is hidden with %s',
    async (options, columns?: number) => {
      const secrets = { authorization: 'canary "one"', cookie: 'sid=canary', 'svc-api-key': 'canary' };
      const server = await serve([json({ ...secrets, nested: { ...secrets, other: 'shown' } })]);
      const argv = ['api', '/x', '--key', 'private', ...options.split(' ')];
      const { code, stdout } = await svcHere(argv, { baseUrl: server.url, columns });
      expect([code, stdout.includes('hidden'), stdout.includes('canary')], stdout).toEqual([0, true, false]);
    },
  );
});
