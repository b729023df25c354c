import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doneEntry, readResultsFile } from '../../../src/au/results/reading.ts';
import { keyOfClosedAccount } from '../../../src/au/ledger/row-set.ts';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { PUBLISHED_TEST_CARDS } from '../../support/card-numbers.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CYCLE = '--cycle 2026-12';

/** Makes the store send only the first results of each job. */
function firstResults(machine: Machine, rows: number): void {
  changeResults(machine, (lines) => lines.slice(0, rows + 1));
}

/** Changes the lines of results that the store sends. */
function changeResults(machine: Machine, change: (lines: readonly string[]) => readonly string[]): void {
  machine.fault = (incoming, outgoing, proceed) => {
    if (incoming.url?.startsWith('/store/results/')) {
      const setHeader = outgoing.setHeader.bind(outgoing);
      captureResponse(outgoing, (body) => {
        const text = `${change(body.toString().trimEnd().split('\n')).join('\n')}\n`;
        outgoing.removeHeader('etag');
        outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
      });
      outgoing.setHeader = (name, value) => (name.toLowerCase() === 'etag' ? outgoing : setHeader(name, value));
    }
    proceed();
  };
}

interface DoneOnDisk {
  readonly kind: string;
  readonly results?: { readonly rows: number };
  readonly closed?: string;
}

/** Returns the paths of the entries of a ledger, in their order. */
function entryFiles(place: string): string[] {
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => /\d{8}\.json$/.test(name));
  return names.toSorted().map((name) => join(place, name));
}

/** Returns the entries of a ledger that say what was read. */
function donesIn(place: string): DoneOnDisk[] {
  return entryFiles(place)
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as DoneOnDisk)
    .filter(({ kind }) => kind === 'done');
}

/** A job whose first four results a runner read, and a laptop that shares the ledger. */
async function openGrowing() {
  const machine = await openMachine();
  mkdirSync(machine.path('shared'));
  const on = (name: string) => ({ SVC_LEDGER: machine.path('shared'), SVC_STATE_DIR: machine.path(name) });
  const svc = (name: string, line: string) => machine.svc(line, on(name));
  firstResults(machine, 4);
  const sent = succeeded(await svc('runner', `au submit tokens.csv ${CYCLE} --wait --out first.csv`));
  machine.fault = undefined;
  const { job } = JSON.parse(sent.stdout) as { readonly job: string };
  const read = (name: string): string[] =>
    readFileSync(machine.path(`work/${name}`), 'utf8')
      .trimEnd()
      .split('\n');
  /** Returns the numbers of rows in what was read, by the entries that say so. */
  const rowsRead = (): (number | undefined)[] => donesIn(machine.path('shared')).map(({ results }) => results?.rows);
  return { machine, svc, read, job, rowsRead };
}

/** Writes a request file of tokens that results made. */
function writeMade(machine: Machine, made: readonly string[]): void {
  const [header = ''] = exampleRequestFile().split('\n');
  writeFileSync(machine.path('work/made.csv'), `${[header, ...made.map((token) => `${token},,,`)].join('\n')}\n`);
}

/** The new tokens in a file of results. */
function newTokens([header = '', ...rows]: readonly string[]): string[] {
  const column = header.split(',').indexOf('new_token');
  return rows.flatMap((row) => row.split(',')[column] || []);
}

it('rows of a job that have the same new token are warned of once, before anybody has the results', async () => {
  const machine = await openMachine();
  changeResults(machine, ([header = '', ...rows]) => [
    header,
    ...rows.map((row) => row.replace(/^([^,]*,[^,]*,[^,]*),[^,]+,/, '$1,same,')),
  ]);
  const line = `au submit tokens.csv ${CYCLE} --wait --out`;
  const { stderr } = succeeded(await machine.svc(`${line} first.csv`));
  expect(stderr).toMatch(/^warning: \d+ rows of the results of job \S+ have new tokens that another row has too/m);
  ended(await machine.svc(`${line} second.csv`), 0, { unsaid: 'another row has too' });
});

describe('results that another machine read before', () => {
  it('results that have grown since another machine read them are said, entered, and none of their new tokens is sent', async () => {
    const { machine, svc, read, job, rowsRead } = await openGrowing();
    expect(read('first.csv')).toHaveLength(5);
    const before = newTokens(read('first.csv'));
    ended(
      await svc('laptop', `au download ${job} --out whole.csv`),
      0,
      `the results of job ${job} are others than when`,
    );
    const made = newTokens(read('whole.csv')).filter((token) => !before.includes(token));
    expect(made.length).toBeGreaterThan(3);
    writeMade(machine, made);
    ended(await svc('runner', `au submit made.csv ${CYCLE}`), 0, { uploads: 1, row: { status: 'nothing_new' } });
    expect(rowsRead()).toEqual([4, undefined, read('whole.csv').length - 1]);
  });

  it('a machine whose kept results are older than those that another machine read downloads them again', async () => {
    const { svc, read, job } = await openGrowing();
    succeeded(await svc('laptop', `au download ${job} --out whole.csv`));
    succeeded(await svc('runner', `au submit tokens.csv ${CYCLE} --wait --out second.csv`));
    expect(read('second.csv')).toEqual(read('whole.csv'));
    succeeded(await svc('runner', 'au resume 2026-12 --out cycle.csv'));
    expect(read('cycle.csv')).toEqual(read('whole.csv'));
  });

  it('results of which an earlier build entered only the new tokens are entered once more, without a warning', async () => {
    const { machine, svc, read, job, rowsRead } = await openGrowing();
    const [claim = '', ...dones] = entryFiles(machine.path('shared'));
    let previous = sha256Of(readFileSync(claim));
    for (const file of dones) {
      const { results: _results, closed: _closed, ...entry } = JSON.parse(readFileSync(file, 'utf8')) as DoneOnDisk;
      const text = `${JSON.stringify({ ...entry, previous })}\n`;
      writeFileSync(file, text);
      previous = sha256Of(text);
    }
    expect(rowsRead()).toEqual([undefined, undefined]);
    ended(await svc('laptop', `au download ${job} --out whole.csv`), 0, { unsaid: 'others than' });
    expect(rowsRead()).toEqual([undefined, undefined, read('whole.csv').length - 1]);
  });

  it('results that have lost rows since another machine read them are refused, until the operator accepts them', async () => {
    const { machine, svc, read, job, rowsRead } = await openGrowing();
    succeeded(await svc('laptop', `au download ${job} --out whole.csv`));
    firstResults(machine, 6);
    ended(await svc('laptop', `au download ${job} --out fewer.csv`), 12, {
      error: { message: expect.stringMatching(/has \d+ rows? with \w+, and had \d+ when /) },
    });
    succeeded(await svc('laptop', `au download ${job} --out fewer.csv --accept-unproven`));
    expect(rowsRead()).toEqual([4, undefined, read('whole.csv').length - 1, 6]);
    succeeded(await svc('laptop', `au download ${job} --out again.csv`));
  });
});

it('what the ledger has of results names closed accounts and counts rows by code, without any token or card number', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'results.csv');
  const [card, token] = [PUBLISHED_TEST_CARDS[0] ?? '', '00000000-0000-4000-8000-00000000000'];
  const codes = ['WRN_CLOSED_ACCOUNT', 'ERR_INVALID_PAN', 'UPD_PAN', `UPD_${card}`, card];
  const rows = codes.map((code, at) => `${token}${at},27,01,${code === 'UPD_PAN' ? `${token}9` : ''},,,${code}\n`);
  writeFileSync(file, `${RESULT_COLUMNS.join(',')}\n${rows.join('')}`);
  const reading = await readResultsFile('salt', file);
  const closed = [0, 1].map((at) => keyOfClosedAccount('salt', `${token}${at}`));
  expect([reading?.rows, reading?.born.size]).toEqual([5, 1]);
  expect([...(reading?.closed.keys ?? [])]).toEqual(closed.toSorted((a, b) => (a < b ? -1 : 1)));
  const done = await doneEntry({ createRowSet: async (set) => set.name() }, 'job-1', reading);
  expect(done.results?.codes.map(({ code }) => code).toSorted()).toEqual(codes.slice(0, 3).toSorted());
  expect(JSON.stringify(done)).not.toContain(token);
});
