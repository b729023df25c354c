import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../au/commands/support.ts';
import { finished } from '../support/svc.ts';
import { until } from '../support/until.ts';
import { succeeded } from '../support/run-here.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
/** Rows whose tokens are this long soon make a file that is larger than the buffers between two processes. */
const TOKEN_LENGTH = 1_000;
const LARGE = 13_000;
const SMALL = 100;
const AU_SUBMIT = 'au submit tokens.csv --wait';

function request(rows: number): string {
  return HEADER + Array.from({ length: rows }, (_, row) => `${String(row).padStart(TOKEN_LENGTH, 't')},,,\n`).join('');
}

/** A gate that keeps requests of one method back until it is opened, from the beginning or once it is closed. */
class Gate {
  readonly #method: 'PUT' | 'POST';
  #open: (() => void)[] | undefined;

  constructor(method: 'PUT' | 'POST', { isOpen = false } = {}) {
    this.#method = method;
    this.#open = isOpen ? undefined : [];
  }

  readonly intercept = (incoming: IncomingMessage, _: ServerResponse, proceed: () => void): void => {
    if (this.#open === undefined || incoming.method !== this.#method) proceed();
    else this.#open.push(proceed);
  };

  get holds(): boolean {
    return this.#open !== undefined && this.#open.length > 0;
  }

  close(): void {
    this.#open = [];
  }

  open(): void {
    for (const proceed of this.#open ?? []) proceed();
    this.#open = undefined;
  }
}

function spooled({ home }: Desk): string[] {
  const spool = home.file('.local/state/svc/spool');
  return existsSync(spool) ? readdirSync(spool) : [];
}

/** Submits a file and, during its upload, changes that file or the copy that the machine keeps. */
async function changedMeanwhile(rows: number, change: (desk: Desk) => void) {
  const gate = new Gate('PUT');
  const desk = await openDesk({ intercept: gate.intercept });
  writeFileSync(desk.home.file('tokens.csv'), request(rows));
  const ended = finished(desk.start(AU_SUBMIT));
  await until(() => gate.holds);
  change(desk);
  gate.open();
  return { desk, ...(await ended) };
}

describe('a request file that changes while it goes out', () => {
  it.each([
    ['grows', (file: string) => appendFileSync(file, 'one-more,,,\n')],
    ['is another of the same size', (file: string) => writeFileSync(file, request(SMALL).replaceAll('t', 'u'))],
    ['shrinks', (file: string) => truncateSync(file, HEADER.length + TOKEN_LENGTH + 6)],
    ['is removed', (file: string) => rmSync(file)],
  ])('R80: a request file that changes while it goes out is taken as it was checked when it %s', async (_, change) => {
    const { desk, stderr } = succeeded(await changedMeanwhile(SMALL, ({ home }) => change(home.file('tokens.csv'))));
    expect(desk.uploads()).toBe(1);
    const results = readFileSync(desk.home.file('tokens.results.csv'), 'utf8').trimEnd().split('\n');
    expect(results).toHaveLength(SMALL + 1);
    expect(results[1]).toContain('0'.padStart(TOKEN_LENGTH, 't'));
    expect(stderr).not.toContain('not compared');
  });

  it('R35: rows that change on the disk while they go out are not taken, and go up once when the file is submitted again', async () => {
    const { desk, code, stderr } = await changedMeanwhile(LARGE, ({ home }) => {
      truncateSync(home.file('tokens.csv'), HEADER.length + TOKEN_LENGTH + 6);
    });
    expect([0, 12, 13], stderr).toContain(code);
    writeFileSync(desk.home.file('tokens.csv'), request(LARGE));
    succeeded(await desk.svc(AU_SUBMIT));
    expect(desk.uploads()).toBe(1);
  });
});

describe('a store that answers before it has read the file', () => {
  it.each([
    [403, '<Error><Code>AccessDenied</Code><Message>no</Message></Error>', /AccessDenied/],
    [413, '<Error><Code>EntityTooLarge</Code></Error>', /EntityTooLarge/],
  ])(
    'R38: a store that answers before it has read the file with %i is reported in its words, not as a broken pipe',
    async (status, body, words) => {
      const intercept = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void): void => {
        if (incoming.method !== 'PUT') return proceed();
        outgoing.writeHead(status, { 'content-type': 'application/xml', connection: 'close' }).end(body);
      };
      const desk = await openDesk({ intercept });
      writeFileSync(desk.home.file('tokens.csv'), request(LARGE));
      const { code, stderr } = await desk.svc(AU_SUBMIT);
      expect(code).not.toBe(0);
      expect(stderr).toContain(String(status));
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/EPIPE|ECONNRESET|broken pipe|socket/i);
      expect(desk.uploads()).toBe(0);
    },
  );
});

describe('standard input of several parts', () => {
  it('R41 and R80: standard input of several parts leaves no copy in the spool when it is killed before its first job, and is sent once when it is submitted again', async () => {
    const gate = new Gate('POST', { isOpen: true });
    const desk = await openDesk({ intercept: gate.intercept });
    // The list of jobs then names the tenant, so that no job is created to find it.
    await desk.svc('au create', { SVC_PRIVATE_API_KEY: 'sandbox-private-key-account-updater-only' });
    gate.close();
    // A job takes 30 MB.
    const rows = 30_000;
    const input = request(rows);
    const child = desk.start('au submit - --wait --out results.csv');
    child.stdin.end(input);
    const killed = finished(child);
    await until(() => gate.holds);
    child.kill('SIGKILL');
    await killed;
    gate.open();
    succeeded(await desk.svc('au submit - --wait --out results.csv', {}, input));
    expect(spooled(desk)).toEqual([]);
    expect(desk.uploads()).toBe(2);
    expect(readFileSync(desk.home.file('results.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(rows + 1);
  });
});
