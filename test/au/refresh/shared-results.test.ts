import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ResultSource, SharedResults } from '../../../src/au/refresh/shared-results.ts';
import { readResults } from '../../../src/au/result-codes.ts';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';

const [A, B] = ['11111111-2222-4333-8444-555555555555', '22222222-2222-4333-8444-555555555555'];
const REQUEST = 'token,expiration_year,expiration_month,merchant_id';
const UPDATED = `${A},28,05,${B},31,02,UPD_PAN`;
const WRONG = `${A},28,05,,,,ERR_INVALID_CONFIG`;

it('an equal result of a token with several merchants counts once where the requests of a file do not have all of its merchants', async () => {
  const write = writer();
  // The second request was joined to the job of the first one, so that its file has the results of both merchants.
  const sources: ResultSource[] = [
    {
      file: write(RESULT_COLUMNS.join(), UPDATED, WRONG),
      requests: [write(REQUEST, `${A},28,05,`, `${A},28,05,shop`)],
    },
    {
      file: write(RESULT_COLUMNS.join(), UPDATED, WRONG),
      requests: [write(REQUEST, `${A},28,05,`), write(REQUEST, `${B},28,05,`)],
      mayHaveMore: true,
    },
  ];
  expect(await counted(sources)).toEqual([0, 2]);
});

it('the results of a token with several merchants count by their rows where each file has one request', async () => {
  const write = writer();
  const sources: ResultSource[] = [
    {
      file: write(RESULT_COLUMNS.join(), UPDATED, WRONG),
      requests: [write(REQUEST, `${A},28,05,`, `${A},28,05,shop`)],
    },
    { file: write(RESULT_COLUMNS.join(), `${A},28,05,,,,`), requests: [write(REQUEST, `${A},28,05,shop`)] },
  ];
  expect(await counted(sources)).toEqual([1, 1]);
});

/** Returns a function that writes lines to a new file, and returns its path. */
function writer(): (...lines: readonly string[]) => string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-shared-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  let number = 0;
  return (...lines) => {
    number += 1;
    const path = join(directory, `${number}.csv`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
}

/** Returns how many results of each file count. */
async function counted(sources: readonly ResultSource[]): Promise<number[]> {
  const shared = await SharedResults.of(sources);
  const counts: number[] = [];
  for (const [index, { file }] of sources.entries()) {
    const isCounting = shared.counting(index);
    let count = 0;
    for await (const rows of readResults((await fileSource(file)).open())) count += rows.filter(isCounting).length;
    counts.push(count);
  }
  return counts;
}
