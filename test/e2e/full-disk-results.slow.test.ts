import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { type Desk, openDesk } from '../au/commands/support.ts';
import { IS_SOAK } from '../support/cases.ts';
import { CAN_MOUNT, NEEDS_MOUNT, onSmallDisk } from '../support/small-disk.ts';

/** The number of rows: their results need eleven pages, and arrive whole before anything reads them. */
const ROWS = 1_200;
const PAGES = IS_SOAK ? [2, 3, 5, 8] : [2, 8];
const REQUEST = [
  'token,expiration_year,expiration_month,merchant_id',
  ...Array.from({ length: ROWS }, (_, row) => `token-${row},27,01,`),
  '',
].join('\n');

/** The pages of the ledger: its settings, the mark of the job, the claim, and the set of its rows with 8 bytes each. */
const LEDGER_PAGES = 3 + Math.ceil((ROWS * 8) / 4096);

/** The pages that a job needs before its results arrive: for what was sent, its request, and the ledger. */
const JOB_PAGES = 3 + Math.ceil(REQUEST.length / 4096) + LEDGER_PAGES;

/** How the store sends a result file. In chunks, nothing in the response shows how long it is. */
const FRAMINGS: Readonly<Record<string, ((outgoing: ServerResponse, body: Buffer) => void) | undefined>> = {
  'with its length': undefined,
  'in chunks of whole lines': (outgoing, body) => {
    for (const name of ['content-length', 'etag']) outgoing.removeHeader(name);
    for (const line of body.toString().split(/(?<=\n)/)) outgoing.write(line);
    outgoing.end();
  },
};

interface Command {
  /** A command line that runs first, with enough room on the disk. */
  readonly before?: string;
  readonly pages: readonly number[];
  readonly command: (desk: Desk) => string;
  /** Whether the state directory is on the disk, too. */
  readonly hasStateOnDisk?: boolean;
  readonly codes?: number[];
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'au download': {
    before: 'au submit tokens.csv',
    pages: PAGES,
    command: (desk) => `au download ${desk.jobs()[0]} --out disk/out.csv -o json`,
  },
  'au submit --wait, where the files of jobs are': {
    pages: PAGES.map((pages) => JOB_PAGES + pages),
    command: () => 'au submit tokens.csv --wait --out disk/out.csv -o json',
    hasStateOnDisk: true,
  },
  'au submit --wait, where the results go': {
    pages: [2, 8],
    command: () => 'au submit tokens.csv --wait --out disk/out.csv -o json',
  },
  'au resume, where the files of jobs are': {
    before: 'au submit tokens.csv --out out.csv',
    pages: PAGES.map((pages) => JOB_PAGES + pages),
    command: () => 'au resume -o json',
    hasStateOnDisk: true,
    codes: [1],
  },
};

function intercept(send: (typeof FRAMINGS)[string]): Interceptor {
  return (incoming, outgoing, proceed) => {
    if (send && (incoming.url ?? '').startsWith('/store/results/'))
      captureResponse(outgoing, (body) => send(outgoing, body));
    proceed();
  };
}

/** Runs a command on a disk of `pages` pages, and returns how it ended. */
async function play(
  send: (typeof FRAMINGS)[string],
  { before, command, hasStateOnDisk = false }: Command,
  pages: number,
) {
  const desk = await openDesk({ intercept: intercept(send) });
  writeFileSync(desk.home.file('tokens.csv'), REQUEST);
  mkdirSync(desk.home.file('disk'));
  // The small disk starts with the files of `before`.
  const stateIn = (place: string) => (hasStateOnDisk ? { SVC_STATE_DIR: desk.home.file(`${place}/state`) } : undefined);
  if (before !== undefined) await desk.svc(before, stateIn('before'));
  const argv = command(desk).split(' ');
  const env = { ...desk.env, ...stateIn('disk') };
  const { code, stdout, stderr } = await onSmallDisk(desk.home, pages, argv, env);
  const file = ['left/out.csv', 'out.csv'].map((name) => desk.home.file(name)).find((name) => existsSync(name));
  const sha256 = file && createHash('sha256').update(readFileSync(file)).digest('hex');
  return { code, stdout, stderr, sha256 };
}

describe.skipIf(!CAN_MOUNT)(`results on a disk that becomes full${NEEDS_MOUNT}`, () => {
  const cases = Object.entries(FRAMINGS).flatMap(([framing, send]) =>
    Object.entries(COMMANDS).map(([name, command]) => ({ framing, send, name, command })),
  );

  it.each(cases)(
    'R70: results on a full disk are not delivered, and the disk is named: $name, sent $framing',
    async ({ send, command }) => {
      const played = await Promise.all(command.pages.map((pages) => play(send, command, pages)));
      const code = expect.toBeOneOf(command.codes ?? [1]);
      const full = { code, stderr: expect.stringContaining('the disk is full (ENOSPC)'), sha256: undefined };
      expect(played).toEqual(command.pages.map(() => expect.objectContaining(full)));
    },
  );

  it('R70: results on a full disk are not the only files that name a full disk: an archive of logs does, with exit code 1', async () => {
    const desk = await openDesk({ logCount: 3_000 });
    for (const pages of PAGES) {
      const argv = ['logs', 'archive', 'disk/archive', '--since', '2d'];
      const env = { ...desk.env, SVC_MANAGEMENT_API_KEY: 'sandbox-management-key' };
      const { code, stderr } = await onSmallDisk(desk.home, pages, argv, env);
      expect({ pages, code, stderr }).toEqual({ pages, code: 1, stderr: expect.stringContaining('the disk is full') });
    }
  });

  it('R70: results on a full disk are delivered with the hash that is printed when there is room', async () => {
    const { 'au download': download } = COMMANDS;
    for (const send of Object.values(FRAMINGS)) {
      const { code, stdout, sha256 } = await play(send, download as Command, 40);
      expect({ code, sha256 }).toEqual({ code: 0, sha256: (JSON.parse(stdout) as { sha256: string }).sha256 });
    }
  });
});
