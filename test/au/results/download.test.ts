import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptUnproven,
  countResults,
  flawsOf,
  invalidateResults,
  refetchResults,
} from '../../../src/au/results/download.ts';
import { type PartResults, type PartState, partOf } from '../../../src/au/run/part.ts';
import type { RunRecord } from '../../../src/au/run/record.ts';
import { RunDirectory } from '../../../src/au/run/run-directory.ts';
import { hashIfReadable } from '../../../src/client/transfer/source.ts';

const HEADER = 'token,result_code';
const RIGHT = `${HEADER}\nt,UPD_PAN\n`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-results-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(directory, 'results.csv');
  writeFileSync(path, text);
  return path;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('what speaks against a result file', () => {
  it.each([
    ['framing', `${RIGHT}u,X`, ['end']],
    ['none', `${RIGHT}u,X`, ['end']],
    ['length', `${RIGHT}u,X`, []],
    ['md5', `${RIGHT}u,X`, []],
    ['none', RIGHT, []],
    ['none', RIGHT.replaceAll('\n', '\r'), []],
    ['none', '', ['columns']],
    ['md5', '<html></html>\n', ['columns']],
    ['none', '<html></html>', ['columns', 'end']],
    ['none', `${HEADER}\n"t,UPD_PAN\n`, ['columns']],
  ] as const)('R59: a flaw of a result file where %s proves its length, of %j, is %j', async (proof, text, rules) => {
    expect((await flawsOf(file(text), proof, {})).map(({ rule }) => rule)).toEqual(rules);
  });

  it('R59: a flaw of a result file is a row more than were sent, and no row less', async () => {
    const path = file(`${HEADER}\nt,A\nu,B\n`);
    expect(await flawsOf(path, 'none', { rowsSent: 1 })).toEqual([
      { rule: 'row_count', problem: 'has 2 rows, more than the 1 that were sent' },
    ]);
    for (const rowsSent of [2, 3, undefined]) expect(await flawsOf(path, 'none', { rowsSent })).toEqual([]);
    expect(await countResults(path, 5)).toMatchObject({ rows: 2, unchanged: 3 });
    expect(await countResults(path, 1)).toMatchObject({ rows: 2, unchanged: 0 });
  });

  it('a flaw of a result file is nothing that hides a file that cannot be read', async () => {
    await expect(flawsOf(join(directory, 'none.csv'), 'none', { rowsSent: 1 })).rejects.toThrow('none.csv');
    expect(await hashIfReadable(join(directory, 'none.csv'))).toBeUndefined();
  });
});

/** Creates a run whose only part has these results, with `there` as its results file. */
function runOf(state: PartState, results?: Partial<PartResults>, there = RIGHT): RunDirectory {
  const whole: PartResults = {
    file: 'results-0001.csv',
    bytes: RIGHT.length,
    sha256: sha256(RIGHT),
    job: 'job-1',
    proof: 'md5',
    compared: true,
  };
  const known = results && { ...whole, ...results };
  const part = { number: 1, first_row: 1, rows: 1, start: 50, end: 90, bytes: 90, sha256: 'b', state, job: 'job-1' };
  const record: RunRecord = {
    version: 2,
    id: 'run-20260105-0a1b2c3d-4e5f',
    created_at: '2026-01-05T12:00:00.000Z',
    profile: 'default',
    base_url: 'https://service.example',
    input: { name: 't.csv', rows: 1, bytes: 90, sha256: 'a', header_bytes: 50 },
    parts: [partOf({ ...part, ...(known && { results: known }) })],
    results: { file: '/merged.csv', bytes: 1, sha256: 'm' },
  };
  const request = join(directory, 'request-copy.csv');
  writeFileSync(request, 'token,expiration_year,expiration_month,merchant_id\n');
  const run = RunDirectory.create(join(directory, 'run'), record, request);
  writeFileSync(run.resultsFile({ number: 1 }), there);
  return run;
}

/** Returns the record that a later command would read. */
function saved(run: RunDirectory): RunRecord {
  return JSON.parse(readFileSync(join(run.path, 'run.json'), 'utf8')) as RunRecord;
}

describe('results that are kept', () => {
  it('R59: kept results stay as they are when they were proven and are unchanged', async () => {
    const run = runOf('downloaded', { proof: 'md5' });
    await invalidateResults(run);
    expect(saved(run)).toMatchObject({ parts: [{ state: 'downloaded', results: { proof: 'md5' } }], results: {} });
  });

  it('R59: kept results that were changed since are downloaded again, and are known no more', async () => {
    const run = runOf('downloaded', { proof: 'md5' }, `${RIGHT}u,X\n`);
    await invalidateResults(run);
    expect(saved(run).parts).toEqual([expect.not.objectContaining({ results: expect.anything() })]);
    expect(saved(run)).toMatchObject({ parts: [{ state: 'completed' }] });
  });

  it('R59: kept results of several parts are checked each, and the merged file stays known as the run’s own', async () => {
    const run = runOf('downloaded', { proof: 'md5' });
    const [one] = run.record.parts;
    const two = partOf({ ...one!, number: 2, results: { ...one!.results!, file: 'results-0002.csv' } });
    Object.assign(run.record, { parts: [one, two] });
    writeFileSync(run.resultsFile({ number: 1 }), 'changed');
    await invalidateResults(run);
    expect(saved(run)).toMatchObject({
      parts: [{ state: 'completed' }, { state: 'completed' }],
      writing: { file: '/merged.csv' },
    });
  });

  it('R59: kept results are no concern of a part that is not downloaded', async () => {
    const run = runOf('completed', {}, 'changed');
    await invalidateResults(run);
    expect(saved(run)).toMatchObject({ parts: [{ state: 'completed', results: {} }], results: {} });
  });

  it('kept results are fetched again where that is wished, and others are left as they are', () => {
    const run = runOf('downloaded', { proof: 'md5' });
    refetchResults(run);
    expect(run.record.parts).toMatchObject([{ state: 'completed', results: { proof: 'md5' } }]);
    Object.assign(run.record.parts[0]!, { state: 'uploaded' });
    refetchResults(run);
    expect(run.record.parts).toMatchObject([{ state: 'uploaded' }]);
  });
});

describe('results that are not proven', () => {
  function unprovenRun(state: PartState, there = RIGHT): RunDirectory {
    const run = runOf(state, undefined, 'old');
    const kept = { file: 'results-0001.csv.unproven', bytes: RIGHT.length, sha256: sha256(RIGHT), job: 'job-1' };
    Object.assign(run.record.parts[0]!, { unproven: kept });
    run.save();
    writeFileSync(join(run.path, kept.file), there);
    return run;
  }

  it.each(['completed', 'downloaded', 'failed'] as const)(
    'R59: unproven results of a part that is %s are taken when the operator vouches for them',
    async (state) => {
      const run = unprovenRun(state);
      await acceptUnproven(run, async () => undefined);
      expect(readFileSync(run.resultsFile({ number: 1 }), 'utf8')).toBe(RIGHT);
      const results = { file: 'results-0001.csv', bytes: RIGHT.length, sha256: sha256(RIGHT), proof: 'operator' };
      expect(saved(run).parts).toMatchObject([{ state: 'downloaded', results }]);
      expect(saved(run).parts[0]).not.toHaveProperty('unproven');
    },
  );

  it('R59: unproven results of another job are not taken for those of the present job', async () => {
    const run = unprovenRun('completed');
    const [part] = run.record.parts;
    if (part?.unproven) Object.assign(part.unproven, { job: 'job-0' });
    run.save();
    await acceptUnproven(run, async () => undefined);
    expect(saved(run).parts).toMatchObject([{ state: 'completed' }]);
    expect(readFileSync(run.resultsFile({ number: 1 }), 'utf8')).toBe('old');
  });

  it.each([
    ['of a part under way', 'uploaded', RIGHT],
    ['that were changed since', 'completed', `${RIGHT}u,X\n`],
  ] as const)('R59: %s are not taken', async (_, state, there) => {
    const run = unprovenRun(state, there);
    await acceptUnproven(run, async () => undefined);
    expect(saved(run).parts).toMatchObject([{ state, unproven: {} }]);
    expect(readFileSync(run.resultsFile({ number: 1 }), 'utf8')).toBe('old');
    expect(existsSync(join(run.path, 'results-0001.csv.unproven'))).toBe(true);
  });
});
