import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/base/errors.ts';
import type { Finding } from '../../../src/general/doctor/check.ts';
import { verdictOf } from '../../../src/general/doctor/verdict.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';

const ok = (check: string, found: string): Finding => ({ check, result: 'ok', found, fix: null, code: null });
const skipped = (check: string, found: string): Finding => ({ ...ok(check, found), result: 'skipped' });
const warning = (check: string, found: string, fix: string): Finding => ({
  ...ok(check, found),
  result: 'warning',
  fix,
});
const failed = (check: string, found: string, fix: string, code: ErrorCode): Finding => ({
  ...ok(check, found),
  result: 'failed',
  fix,
  code,
});

const WORKS = [ok('connect', 'open'), ok('tls', 'TLSv1.3'), ok('service', 'requires a key'), ok('clock', 'matches')];
const READ_FAILS = failed('log:read', 'the service failed (503).', 'Later', 'server');
const KEY_FAILS = (found: string, code: ErrorCode) => failed('private key', found, 'Fix it', code);
const LEDGER_FAILS = (code: ErrorCode) => failed('ledger', 'not there', 'Mount it', code);
const CLOCK = warning('clock', "60 min behind the service's", 'Set it');

describe('the verdict of svc doctor', () => {
  it.each([
    [[failed('config', 'no JSON', 'Fix it', 'config'), READ_FAILS], 'config: no JSON; it is your move', 'you'],
    [
      [
        failed('connect', 'a.example could not be resolved', 'Check', 'network'),
        KEY_FAILS('none is stored', 'key_missing'),
      ],
      'connect: a.example could not be resolved; whether service or network cannot be told from here',
      'unknown',
    ],
    [
      [ok('connect', 'open'), failed('service', 'responds with 503', 'Later', 'server'), LEDGER_FAILS('timeout')],
      'service: responds with 503; the service has to fix this',
      'service',
    ],
    [
      [failed('service', 'redirects (302)', 'Check', 'bad_response')],
      'service: redirects (302); check the base URL',
      'you',
    ],
    [
      [warning('service', 'limits requests (429)', 'Wait'), KEY_FAILS('none is stored', 'key_missing')],
      'private key: none is stored; it is your move',
      'you',
    ],
    [
      [warning('service', 'responds with 200 without a key', 'Check'), ok('private key', 'accepted')],
      'service: responds with 200 without a key; it is your move',
      'you',
    ],
    [
      [...WORKS, KEY_FAILS('the key is not valid', 'unauthorized')],
      'private key: the key is not valid; it is your move',
      'you',
    ],
    [
      [...WORKS, KEY_FAILS('no response within 8 s', 'timeout')],
      'private key: no response within 8 s; the service is slow, or something else uses up the rate limit',
      'unknown',
    ],
    [
      [...WORKS, KEY_FAILS('the service limits requests', 'rate_limited')],
      'private key: the service limits requests; whatever else uses this key has to slow down',
      'other',
    ],
    [[...WORKS, CLOCK, READ_FAILS], 'log:read: the service failed (503); the service has to fix this', 'service'],
    [[...WORKS, CLOCK, LEDGER_FAILS('config')], 'ledger: not there; it is your move', 'you'],
    [
      [...WORKS, LEDGER_FAILS('network')],
      'ledger: not there; the store of the ledger has to be fixed, or the network',
      'other',
    ],
    [[...WORKS, CLOCK], "clock: 60 min behind the service's; it is your move", 'you'],
    [
      [...WORKS, warning('management key', 'valid (k), but has no read permission', 'Give it')],
      'management key: valid (k), but has no read permission; it is your move',
      'you',
    ],
    [[...WORKS, warning('3ds:session:read', 'not allowed (403)', 'If you need it')], 'nothing failed', 'nobody'],
    [[skipped('network', 'the sandbox is embedded')], 'nothing failed; no service was contacted', 'nobody'],
  ])('the verdict names what decides, and whose move it is (%#)', (findings, text, move) => {
    expect(verdictOf(findings)).toEqual({ text, move });
  });

  it('the verdict is the first row for programs, with whose move it is, and the first line for people', async () => {
    const server = await FaultServer.start([answer(503)]);
    const { stdout } = await svcHere(['doctor', '-o', 'json'], { baseUrl: server.url });
    const people = await svcHere(['doctor', '-o', 'table'], { baseUrl: server.url });
    await server.close();
    const [verdict, ...others] = JSON.parse(stdout) as { check: string; move: string | null }[];
    const found = 'service: responds with 503; the service has to fix this';
    expect(verdict).toMatchObject({ check: 'verdict', result: 'failed', found, move: 'service' });
    expect(new Set(others.map(({ move }) => move))).toEqual(new Set([null]));
    expect([people.code, people.stdout.split('\n')[0]]).toEqual([8, found]);
  });
});
