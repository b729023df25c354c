import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { openQuickDesk } from '../commands/support.ts';
import { ended, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

/** Opens a desk whose jobs take an hour, and on which a command can be interrupted at its fourth poll of a job. */
async function openInterrupted() {
  const interrupt = new AbortController();
  let polls = -Infinity;
  const desk = await openQuickDesk({
    processingMs: 3_600_000,
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method === 'GET' && /\/jobs\/[^/]+$/.test(incoming.url ?? '') && (polls += 1) === 4)
        interrupt.abort(new SvcError('interrupted', 'interrupted'));
      proceed();
    },
  });
  const interrupted = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<HereResult> => {
    polls = 0;
    const all = desk.home.environment({ ...desk.env, ...env });
    return svcHere(words, { home: desk.home.path, env: all, signal: interrupt.signal });
  };
  return { desk, interrupted };
}

/** Opens a desk with a cycle and a job, and interrupts a command at its first request. */
async function openFirstRead() {
  let interrupt: AbortController | undefined;
  const desk = await openQuickDesk({
    processingMs: 3_600_000,
    intercept: (_incoming, _outgoing, proceed) => {
      interrupt?.abort(new SvcError('interrupted', 'interrupted'));
      proceed();
    },
  });
  const sent = await desk.svc('au submit tokens.csv --cycle 2026-12');
  const { jobs } = JSON.parse(sent.stdout) as { readonly jobs: readonly string[] };
  const interrupted = (words: readonly string[]): Promise<HereResult> => {
    interrupt = new AbortController();
    const { path } = desk.home;
    return svcHere(words, { home: path, env: desk.home.environment(desk.env), signal: interrupt.signal });
  };
  return { desk, job: jobs[0] ?? '', interrupted };
}

it.each([
  'au submit tokens.csv --cycle 2026-12',
  'au submit tokens.csv --accept merchants --pay-again --wait --out r.csv --cycle 2027-01',
  'au refresh tokens.csv --cycle 2026-12',
  'au resume',
  'au resume --wait',
  'au resume --dry-run',
  'au resume 2026-12 --wait --out r.csv',
  'au resume JOB',
  'au resume JOB --wait',
  'au download JOB --out results.csv --force --accept-unproven',
  'au upload JOB tokens.csv --pay-again',
])('R43: an interrupt of the first read of svc %s prints the same command again', async (line) => {
  const { desk, job, interrupted } = await openFirstRead();
  const typed = line.replaceAll('tokens.csv', desk.home.file('tokens.csv')).replace('JOB', job);
  ended(await interrupted(typed.split(' ')), 130, { error: { next: `svc ${typed}` } });
});

const OF_CYCLE = 'au resume 2026-12 --wait --out all.csv --fail-on err=5%';

it.each([
  {
    line: 'au resume --wait --fail-on err=5%',
    again: 'au resume --wait --fail-on err=5%',
    on: 'the machine that sent the file',
  },
  { line: 'au resume --wait', again: 'au resume --wait', on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'the machine that sent the file' },
  { line: OF_CYCLE, again: OF_CYCLE, on: 'another machine' },
])('R43: an interrupt of svc $line prints the same command again on $on', async ({ line, again, on }) => {
  const { desk, interrupted } = await openInterrupted();
  const shared = sharedLedger(desk.home.file('ledger'));
  const elsewhere = on === 'another machine' ? { SVC_STATE_DIR: desk.home.file('elsewhere') } : {};
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12', shared));
  ended(await interrupted(line.split(' '), { ...shared, ...elsewhere }), 130, { error: { next: `svc ${again}` } });
});

it.each([
  'au submit other.csv --wait --fail-on err=5%',
  'au submit tokens.csv --wait --out r.csv --force --fail-on err=5%',
  'au resume JOB --wait',
])('R43: an interrupt of the wait of svc %s prints the same command again', async (line) => {
  const { desk, interrupted } = await openInterrupted();
  const { job } = JSON.parse((await desk.svc('au submit tokens.csv')).stdout) as { readonly job: string };
  writeFileSync(desk.home.file('other.csv'), 'token,expiration_year,expiration_month,merchant_id\nother,,,\n');
  const typed = line.replaceAll(/\b\w+\.csv\b/g, (name) => desk.home.file(name)).replace('JOB', job);
  ended(await interrupted(typed.split(' ')), 130, { error: { next: `svc ${typed}` } });
});
