import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/base/errors.ts';
import { failed, ok, skipped, warning } from '../../../src/general/doctor/finding.ts';
import { verdictOf } from '../../../src/general/doctor/verdict.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';

const PLACE = 'api.example.com:443';
const UP_TO_TLS = [ok('dns', 'found'), ok('connect', 'open'), ok('tls', 'TLSv1.3')];
const WORKS = [...UP_TO_TLS, ok('service', 'responds and requires a key (401)'), ok('clock', 'matches')];
const UNASKED = 'responds with 200 without a key; expected 401';
const NO_KEY_ASKED = [...UP_TO_TLS, warning('service', UNASKED, 'Check the base URL'), ok('clock', 'matches')];
const LIMITED = [...UP_TO_TLS, warning('service', 'responds, but limits requests (429)', 'Wait a minute.')];
const LOG_READ_FAILS = failed('log:read', 'the service failed (503).', 'Later', 'server');
const LEDGER_FAILS = (code: ErrorCode) => failed('ledger', 'not there', 'Mount it', code);

describe('the verdict of svc doctor', () => {
  it.each([
    [
      [failed('dns', 'api.example.com could not be resolved (ENOTFOUND)', 'Check', 'network')],
      `no answer from ${PLACE}: name not resolved; whether service or network cannot be told from here`,
    ],
    [
      [ok('dns', 'found'), failed('connect', 'refused (ECONNREFUSED)', 'Check', 'network')],
      `no answer from ${PLACE}: name resolved, TCP refused; whether service or network cannot be told from here`,
    ],
    [
      [...UP_TO_TLS, failed('service', 'responds with 503', 'Later', 'server')],
      'TCP and TLS work, the service answers 503: the service has to fix this',
    ],
    [
      [ok('connect', 'open'), skipped('tls', 'plain http'), failed('service', 'responds with 500', 'Later', 'server')],
      'TCP works, the service answers 500: the service has to fix this',
    ],
    [
      [...WORKS, failed('management key', 'the key is not valid', 'Replace', 'unauthorized')],
      'the service works, this key does not: it is your move',
    ],
    [
      [...WORKS, failed('management key', 'no response within 8 s', 'Later', 'timeout')],
      'the service answers, but not for this key (no response within 8 s): the service is slow, or something else uses up the rate limit',
    ],
    [
      [...WORKS, failed('private key', 'no response; the service is limiting requests', 'Later', 'timeout')],
      'the service works, but limits the requests of this key: whatever else uses this key has to slow down',
    ],
    [
      [...WORKS, failed('private key', 'stored for https://a.example and not sent', 'Use', 'key_refused')],
      'the service works, but the stored private key is for another base URL: it is your move',
    ],
    [
      [...WORKS, failed('private key', 'the key file k (SVC_API_KEY_FILE) is empty', 'Store', 'config')],
      'the service works, but the private key cannot be used (the key file k (SVC_API_KEY_FILE) is empty): it is your move',
    ],
    [
      [...WORKS, failed('management key', 'refused', 'Replace', 'unauthorized'), LOG_READ_FAILS],
      'the service answers, but refuses the management key: it is your move',
    ],
    [
      [...NO_KEY_ASKED, failed('private key', 'stored for https://a.example and not sent', 'Use', 'key_refused')],
      'the server at the base URL may not be the service (responds with 200 without a key; expected 401): check the base URL',
    ],
    [
      [...NO_KEY_ASKED, failed('private key', 'none is stored', 'Store one', 'key_missing')],
      'the server at the base URL may not be the service (responds with 200 without a key; expected 401): check the base URL',
    ],
    [
      [...NO_KEY_ASKED, ok('private key', 'accepted'), ok('3ds:session:read', 'allowed')],
      'the service works, and so does all that was checked here',
    ],
    [
      [...LIMITED, failed('private key', 'none is stored', 'Store one', 'key_missing')],
      'the service answers, but no key is stored: it is your move',
    ],
    [
      [...WORKS, warning('clock', "60 min behind the service's", 'Set it'), LOG_READ_FAILS],
      'the service answers, but log:read fails (the service failed (503)): the service has to fix this',
    ],
    [
      [...WORKS, warning('clock', "60 min behind the service's", 'Set it'), LEDGER_FAILS('config')],
      'the service works; ledger: not there: it is your move',
    ],
    [
      [LEDGER_FAILS('network'), ...WORKS],
      'the service works; ledger: not there: the store of the ledger has to be fixed, or the network',
    ],
    [
      [LEDGER_FAILS('config'), ...WORKS, LOG_READ_FAILS],
      'the service answers, but log:read fails (the service failed (503)): the service has to fix this',
    ],
    [
      [...WORKS, failed('log:read', 'too many requests', 'Wait', 'rate_limited')],
      'the service works, but log:read fails (too many requests): whatever else uses this key has to slow down',
    ],
    [
      [...WORKS, ok('private key', 'accepted'), warning('tenant', 'the private key belongs to tenant 7', 'Store')],
      'the service works, but the keys belong to two tenants: it is your move',
    ],
    [
      [...WORKS, warning('clock', "700000 h behind the service's", 'Set it')],
      "the service works; the clock of this machine is 700000 h behind the service's: it is your move, unless the service's Date header is wrong",
    ],
    [
      [...UP_TO_TLS, ok('service', 'responds'), warning('clock', "7 min ahead of the service's", 'Set it')],
      "the service works; the clock of this machine is 7 min ahead of the service's: it is your move",
    ],
    [
      [...WORKS, warning('management key', 'valid (SVC_MANAGEMENT_API_KEY), but has no read permission', 'Give')],
      'the service works, but the management key may read nothing: it is your move, or that of whoever manages the keys',
    ],
    [
      [...WORKS, ok('private key', 'accepted'), warning('3ds:session:read', 'not allowed (403)', 'If you need it')],
      'the service works, but does not allow these keys 3ds:session:read',
    ],
    [WORKS, 'the service works, and so does all that was checked here'],
  ])('the verdict names whose move it is, with its basis (%#)', (findings, text) => {
    expect(verdictOf(findings, PLACE).text).toBe(text);
  });

  it('the verdict is the first row for programs, with whose move it is', async () => {
    const server = await FaultServer.start([answer(503)]);
    const { stdout } = await svcHere(['doctor', '-o', 'json'], { baseUrl: server.url });
    await server.close();
    const [verdict, ...others] = JSON.parse(stdout) as { check: string; move: string | null }[];
    const found = 'TCP works, the service answers 503: the service has to fix this';
    expect(verdict).toMatchObject({ check: 'verdict', result: 'failed', found, move: 'service' });
    expect(new Set(others.map(({ move }) => move))).toEqual(new Set([null]));
  });

  it('the verdict is the first line for people, and nothing but the service was contacted', async () => {
    const server = await FaultServer.start([answer(503)]);
    const { stdout, code } = await svcHere(['doctor', '-o', 'table'], { baseUrl: server.url });
    await server.close();
    expect(code).toBe(8);
    expect(stdout.split('\n')[0]).toBe('TCP works, the service answers 503: the service has to fix this');
  });
});
