import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  explainResultCode,
  groupOf,
  type GroupCounts,
  ROW_GROUPS,
  type RowGroup,
} from '../../../src/au/result-codes.ts';
import { parseThreshold } from '../../../src/au/results/fail-on.ts';
import { checkThreshold, type Results } from '../../../src/au/results/submission.ts';
import { svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { RESULT_CODES } from '../../../src/schema/account-updater-files.ts';

/** Results with every code of the interface, with unknown codes, and with an update that lacks a new token. */
const ROWS: readonly (readonly [code: string, newToken?: string])[] = [
  ...RESULT_CODES.flatMap((code, at) =>
    Array.from(
      { length: at + 1 },
      (_, copy) => [code, explainResultCode(code).class === 'updated' ? `new-${at}-${copy}` : ''] as const,
    ),
  ),
  ['UPD_BRAND_CONV'],
  ['UPD_LATER', 'new-later'],
  ['WRN_LATER'],
  ['ERR_LATER'],
  ['LATER'],
];
const UNCHANGED = 7;

it('counts the same groups with the same names in the report, its page, the files of a split and the next request', async () => {
  const cwd = temporaryDirectory();
  const asked = Array.from({ length: ROWS.length + UNCHANGED }, (_, at) => `t${at},,,\n`).join('');
  writeFileSync(join(cwd, 'q.csv'), `token,expiration_year,expiration_month,merchant_id\n${asked}`);
  const rows = ROWS.map(([code, token = ''], at) => `t${at},${token},${code}\n`).join('');
  writeFileSync(join(cwd, 'r.csv'), `token,new_token,result_code\n${rows}`);
  const svc = (line: string) => svcHere(['au', ...line.split(' ')], { cwd });
  const read = (name: string): string => readFileSync(join(cwd, name), 'utf8');

  const reported = await svc('report r.csv --request q.csv --split-into todo --html r.html');
  const made = await svc('next q.csv r.csv --out n.csv --excluded x.csv --fail-on err=100%');
  const drawn = await svc('report r.csv --request q.csv -o table');
  const report = JSON.parse(reported.stdout) as { groups: GroupCounts; codes: { count: number; share: number }[] };
  const next = JSON.parse(made.stdout) as { groups: GroupCounts; rows: number; unchanged: number };

  const { groups } = report;
  expect(Object.values(groups).every((count) => count > 0)).toBe(true);
  expect(next).toMatchObject({ groups, unchanged: UNCHANGED, rows: ROWS.length + UNCHANGED - groups.exclude });
  const files = readdirSync(join(cwd, 'todo')).map((name) => [
    name,
    read(`todo/${name}`).trimEnd().split('\n').length - 1,
  ]);
  expect(Object.fromEntries(files)).toEqual(
    Object.fromEntries(Object.entries(groups).map(([group, count]) => [`${group}.csv`, count])),
  );
  expect(read('x.csv').trimEnd().split('\n')).toHaveLength(groups.exclude + 1);
  expect(report.codes.reduce((sum, { share }) => sum + share, UNCHANGED / (ROWS.length + UNCHANGED))).toBeCloseTo(1);

  const words = [
    ...Object.entries(ROW_GROUPS).map(([group, name]) => [name, groups[group as RowGroup]] as const),
    ['unchanged', UNCHANGED] as const,
  ];
  const described = /<desc id="steps-desc">([^<]*)</.exec(read('r.html'))?.[1];
  const share = (count: number): string => `${((count / (ROWS.length + UNCHANGED)) * 100).toFixed(1)}%`;
  expect(described).toBe(words.map(([name, count]) => `${name}: ${count} (${share(count)})`).join('; '));
  for (const [name, count] of words) {
    expect(drawn.stdout).toMatch(new RegExp(`^ {2}${name} +${count} +${share(count)}$`, 'm'));
    expect(made.stderr).toMatch(new RegExp(`[:,] ${name} ${count}(?:,| \\(|\n|$)`));
  }
});

const RESULTS: Results = {
  file: 'r.csv',
  bytes: 1,
  sha256: '',
  compared: true,
  updated: 0,
  warned: 0,
  errors: 29,
  unknown: 0,
  unchanged: 71,
  codes: [],
};

const COUNTED = { results: RESULTS, nextFile: 'r.csv', rows: 100 };

it('--fail-on with a share allows exactly that share of the rows', () => {
  expect(() => checkThreshold(COUNTED, parseThreshold('err=29%'))).not.toThrow();
  expect(() => checkThreshold(COUNTED, parseThreshold('err=28.999999%'))).toThrow('29 rows met --fail-on');
});

it('R94: a row with a result code that nobody knows is left as it is, unless it has a new token', () => {
  expect(explainResultCode('NO_UPDATE')).toMatchObject({
    class: 'unknown',
    meaning: 'an unknown result code',
    group: 'keep',
  });
  expect(groupOf('NO_UPDATE', false, new Map())).toBe('keep');
  expect(groupOf('NO_UPDATE', true, new Map())).toBe('support');
});

it('--fail-on wrn counts errors, warnings and unknown codes', () => {
  const counted = { ...COUNTED, results: { ...RESULTS, errors: 1, warned: 2, unknown: 4 } };
  expect(() => checkThreshold(counted, parseThreshold('wrn=6%'))).toThrow('7 rows met --fail-on');
  expect(() => checkThreshold(counted, parseThreshold('err=1%'))).not.toThrow();
});
