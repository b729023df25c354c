import { describe, expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { methods, tenantServer } from './support.ts';

const REPORT = {
  token_report: {
    metrics_by_type: {
      card: { count: 300, last_created_at: '2026-03-01T10:00:00.1234567+00:00' },
      token: { count: 1234567 },
      'new\u001b[31mkind': { count: 0, last_created_at: null, extra: 1 },
    },
    included_monthly_active_tokens: 10_000,
    monthly_active_tokens: 8000,
    extra: 'kept',
  },
};

async function usage(argv: readonly string[], report: unknown = REPORT) {
  const server = await tenantServer({ usage: report });
  const result = await svcHere(['tenant', 'usage', ...argv], { baseUrl: server.url });
  expect(methods(server)).toBe('GET');
  expect(server.ledger[0]?.path).toBe('/tenants/self/reports/usage');
  return result;
}

function withActive(active: unknown, included: unknown): unknown {
  return { token_report: { monthly_active_tokens: active, included_monthly_active_tokens: included } };
}

describe('svc tenant usage', () => {
  it('svc tenant usage draws counts by type, the largest first, and the share of the included tokens', async () => {
    const { code, stdout } = await usage(['-o', 'table']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        String.raw`TYPE                 COUNT  SHARE                     LAST CREATED`,
        String.raw`token            1,234,567  ████████████████████████  -`,
        String.raw`card                   300  ▏                         2026-03-01 10:00:00Z`,
        String.raw`new\x1b[31mkind          0  -                         -`,
        '',
        'monthly active tokens: 8,000 of 10,000 included',
        '████████████████████████░░░░░░ 80%',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [80, ['24', '3']],
    [50, []],
  ])('svc tenant usage on %i columns draws bars to scale, or none', async (columns, lengths) => {
    const metrics_by_type = { customer_card: { count: 400 }, token: { count: 40 } };
    const server = await tenantServer({ usage: { token_report: { metrics_by_type } } });
    const env = { NO_COLOR: '1', SVC_PAGER: 'cat' };
    const { stdout } = await svcHere(['tenant', 'usage'], { baseUrl: server.url, columns, env });
    expect(stdout).toContain('customer_card    400');
    expect((stdout.match(/[█▏▎▍▌▋▊▉…]+/g) ?? []).map((bar) => String(bar.length))).toEqual(lengths);
  });

  it('svc tenant usage draws with plain characters where the terminal has no others', async () => {
    const server = await tenantServer({ usage: REPORT });
    const { stdout } = await svcHere(['tenant', 'usage', '-o', 'table'], { baseUrl: server.url, env: { LANG: 'C' } });
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(stdout).toContain('########################......');
  });

  it('svc tenant usage gives the report as the service sent it to programs', async () => {
    expect(JSON.parse((await usage([])).stdout)).toEqual(REPORT);
    const { stdout } = await usage(['--fields', 'token_report.monthly_active_tokens']);
    expect(JSON.parse(stdout)).toEqual({ token_report: { monthly_active_tokens: 8000 } });
  });

  it('svc tenant usage writes a row of CSV for each token type', async () => {
    const report = {
      token_report: { ...REPORT.token_report, metrics_by_type: { card: { count: 3 }, token: { count: 12, extra: 7 } } },
    };
    expect((await usage(['-o', 'csv'], report)).stdout).toBe(
      'type,count,last_created_at,monthly_active_tokens,included_monthly_active_tokens\ntoken,12,,8000,10000\ncard,3,,8000,10000\n',
    );
    expect((await usage(['-o', 'csv', '--fields', 'count,type,+extra'], report)).stdout).toBe(
      'count,type,extra\n12,token,7\n3,card,kept\n',
    );
    expect((await usage(['-o', 'csv', '--fields', 'token_report.monthly_active_tokens'])).stdout).toBe(
      'token_report.monthly_active_tokens\n8000\n',
    );
    expect((await usage(['-o', 'csv'], { token_report: {} })).stdout).toMatch(/^type,[^\n]*\n$/);
  });

  it.each([
    [{ token_report: {} }, 'not reported'],
    [withActive(5, undefined), 'monthly active tokens: 5\n'],
    [withActive(null, 7), 'not reported of 7 included'],
    [withActive(0, 0), '0 of 0 included\n░'],
    [withActive(5, 0), 'none are included'],
    [withActive(30, 10), '30 of 10 included\n██████████████████████████████ 300%'],
  ])('svc tenant usage draws %j', async (report, words) => {
    const { code, stdout } = await usage(['-o', 'table'], report);
    expect(code).toBe(0);
    expect(stdout).toContain(words);
  });

  it.each([
    ['80%', 8000, 10_000, 10],
    ['80', 8000, 10_000, 10],
    ['80%', 7999, 10_000, 0],
    ['80.01%', 8000, 10_000, 0],
    ['33.3%', 333, 1000, 10],
    ['16.1%', 161, 1000, 10],
    ['16.1%', 160, 1000, 0],
    ['150%', 15, 10, 10],
    ['80%', 1, 0, 10],
    ['80%', 0, 0, 0],
    ['1%', 0, 100, 0],
  ])('R55: --warn-at %s with %d of %d ends with %i', async (warnAt, active, included, code) => {
    const result = await usage(['--warn-at', warnAt], withActive(active, included));
    expect(result.code).toBe(code);
    expect(JSON.parse(result.stdout)).toEqual(withActive(active, included));
    const told = result.stderr === '' ? {} : errorIn(result);
    expect([told['code'], told['monthly_active_tokens']]).toEqual(
      code === 10 ? ['threshold', active] : [undefined, undefined],
    );
  });

  it.each([
    [withActive(undefined, 5), 'monthly_active_tokens'],
    [withActive(5, null), 'included_monthly_active_tokens'],
  ])('R23: --warn-at with %j names what is missing, after the data', async (report, name) => {
    const result = await usage(['--warn-at', '80%'], report);
    expect(result.code).toBe(8);
    expect(result.stdout).not.toBe('');
    expect(errorIn(result)['message']).toContain(`has no ${name}`);
  });

  it.each(['0', '0%', '-1%', '80 %', 'x', '', '0.8', '1e2%', '99999%'])(
    '--warn-at does not take "%s"',
    async (warnAt) => {
      const server = await tenantServer({ usage: REPORT });
      const { code } = await svcHere(['tenant', 'usage', `--warn-at=${warnAt}`], { baseUrl: server.url });
      expect([code, server.connections]).toEqual([2, 0]);
    },
  );
});
