import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { openQuickDesk, type QuickDesk, type Workplace } from '../au/commands/support.ts';

/** A function that changes the rows of a result file, without its header. It adds no rows. */
type Change = (rows: readonly string[]) => readonly string[];

const ofAnotherTenant = (row: string): string => row.replace(/^[^,]*/, (token) => `other-${token}`);

const CHANGES: Readonly<Record<string, Change>> = {
  'wholly another tenant’s': (rows) => rows.map(ofAnotherTenant),
  'half another tenant’s': (rows) => rows.map((row, index) => (index % 2 === 0 ? row : ofAnotherTenant(row))),
  'one row twice': (rows) => rows.map((row, index) => (index === 1 ? (rows[0] ?? row) : row)),
};

function sending(change: Change): Interceptor {
  return (incoming, outgoing, proceed) => {
    const isResult = incoming.method === 'GET' && (incoming.url ?? '').startsWith('/store/results/');
    if (isResult)
      captureResponse(outgoing, (body) => {
        const [header = '', ...rows] = body.toString().trimEnd().split('\n');
        const changed = [header, ...change(rows), ''].join('\n');
        outgoing.removeHeader('etag');
        outgoing.setHeader('content-length', Buffer.byteLength(changed)).end(changed);
      });
    proceed();
  };
}

/** A command that writes results to the file `out`; the command line `before` runs first. */
interface Command {
  readonly before?: string;
  readonly words: (desk: QuickDesk) => readonly string[];
  readonly out: string;
}

const jobOf = (desk: Workplace): string => desk.jobs()[0] ?? '';

const COMMANDS: Readonly<Record<string, Command>> = {
  'au submit --wait': { words: () => ['au', 'submit', 'tokens.csv', '--wait'], out: 'tokens.results.csv' },
  'au submit - --wait': { words: () => ['au', 'submit', '-', '--wait'], out: 'results.csv' },
  'au resume <cycle> --wait': {
    before: 'au submit tokens.csv --cycle month',
    words: () => ['au', 'resume', 'month', '--wait'],
    out: 'month.results.csv',
  },
  'au resume': { before: 'au submit tokens.csv', words: () => ['au', 'resume'], out: 'tokens.results.csv' },
  'au download <job>': {
    before: 'au submit tokens.csv',
    words: (desk) => ['au', 'download', jobOf(desk), '--out', 'job.csv'],
    out: 'job.csv',
  },
};

async function play(change: Change, { before, words, out }: Command) {
  const desk = await openQuickDesk({ pickupMs: 0, intercept: sending(change) });
  const input = readFileSync(desk.home.file('tokens.csv'));
  if (before !== undefined) await desk.svc(before);
  const refused = await desk.svc(words(desk), {}, input);
  const isThere = existsSync(desk.home.file(out));
  const accepted = await desk.svc(`au download ${jobOf(desk)} --accept-unproven --out all.csv`);
  return {
    refused: refused.code,
    names: /tokens that were (not requested|returned more often than requested)/.test(refused.stderr),
    isThere,
    accepted: accepted.code,
    compared: (JSON.parse(accepted.stdout) as { compared: boolean }).compared,
  };
}

describe('results of other tokens than the request', () => {
  it.each(Object.entries(COMMANDS))(
    'R71: results of other tokens than the request are refused by %s with exit code 12, kept, and taken with --accept-unproven',
    async (_, command) => {
      for (const change of Object.values(CHANGES)) {
        const outcome = { refused: 12, names: true, isThere: false, accepted: 0, compared: false };
        expect(await play(change, command)).toEqual(outcome);
      }
    },
  );

  const LOST: [string, (desk: QuickDesk) => void][] = [
    ['moved', (desk) => renameSync(desk.home.file('tokens.csv'), desk.home.file('moved.csv'))],
    ['changed', (desk) => writeFileSync(desk.home.file('tokens.csv'), 'token\n')],
    ['gone', (desk) => rmSync(desk.home.file('tokens.csv'))],
  ];

  it.each(LOST)(
    'R71 and R80: results of other tokens than the request are refused although the request was %s, since the machine keeps the rows that it sent',
    async (_, change) => {
      const desk = await openQuickDesk({ pickupMs: 0, intercept: sending((rows) => rows.map(ofAnotherTenant)) });
      await desk.svc('au submit tokens.csv --cycle month');
      change(desk);
      expect(await desk.svc('au resume month --wait')).toMatchObject({ code: 12 });
    },
  );

  it('R71: results of other tokens than the request are taken with a line where this machine has no request to compare', async () => {
    const desk = await openQuickDesk({ pickupMs: 0, intercept: sending((rows) => rows.map(ofAnotherTenant)) });
    await desk.svc('au submit tokens.csv --cycle month');
    rmSync(desk.files(jobOf(desk)).request);
    const waited = await desk.svc('au resume month --wait');
    expect(waited).toMatchObject({ code: 0, stderr: expect.stringContaining('were not compared with') });
    expect(JSON.parse(waited.stdout)).toMatchObject({ results: { compared: false } });
    // The submission has the file, and compares.
    const submitted = await desk.svc('au submit tokens.csv --cycle month --wait');
    expect(submitted).toMatchObject({ code: 12 });
  });
});

describe('results of the tokens of the request', () => {
  it('R71: results of the tokens of the request are completed results, also where the request quotes its tokens or ends its lines otherwise', async () => {
    const desk = await openQuickDesk({ pickupMs: 0 });
    const [header, ...rows] = readFileSync(desk.home.file('tokens.csv'), 'utf8').trimEnd().split('\n');
    const quoted = rows.map((row, index) => (index % 2 === 0 ? row.replace(/^[^,]*/, '"$&"') : row));
    // A token that occurs twice in the request may occur twice in the results.
    writeFileSync(desk.home.file('tokens.csv'), [header, ...quoted, quoted[0], ''].join('\r\n'));
    const done = await desk.svc('au submit tokens.csv --wait -o json');
    expect(done).toMatchObject({ code: 0 });
    expect(JSON.parse(done.stdout)).toMatchObject({ results: { compared: true } });
  });
});
