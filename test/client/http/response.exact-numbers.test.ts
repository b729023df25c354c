import { describe, expect, it } from 'vitest';
import { type FaultServer, serve } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';
import { bodyOf, textOf } from '../../support/request-reader.ts';
import { methods } from '../../tenant/commands/support.ts';

const LONG = '9007199254740993';
const JSON_TYPE = { 'content-type': 'application/json' };

const USAGE = `{"token_report":{"metrics_by_type":{"card":{"count":${LONG}}},"monthly_active_tokens":${LONG},"included_monthly_active_tokens":9007199254740995}}`;
const TENANT = `{"id":"1","type":"test","name":"Acme","settings":{"limit":${LONG}},"quota":${LONG}}`;
const JOB_ID = '5f0c1d2e-0000-4000-8000-000000000001';
const JOB = `{"id":"${JOB_ID}","status":"completed","tenant_id":"1","rows":${LONG}}`;
const SESSION = `{"id":"s1","counter":${LONG},"authentication":{"authentication_status":"successful","sequence":${LONG}}}`;

const CASES = [
  ['tenant usage', USAGE],
  ['tenant show', TENANT],
  [`au status ${JOB_ID}`, JOB],
  ['au jobs', `{"data":[${JOB}]}`],
  ['3ds show s1', SESSION],
  ['3ds challenge-result s1', `{"authentication_status":"successful","sequence":${LONG}}`],
] as const;

function serveBody(body: string): Promise<FaultServer> {
  return serve(() => answer(200, body, JSON_TYPE));
}

describe('a number with 16 digits or more', () => {
  it.each(CASES)('R60: a number with 16 digits or more is shown as it was sent by svc %s', async (command, body) => {
    const { url: baseUrl } = await serveBody(body);
    for (const format of ['json', 'jsonl', 'yaml', 'csv', 'table']) {
      const words = [...command.split(' '), '-o', format, ...(command === 'au jobs' ? ['--fields', 'id,+rows'] : [])];
      const { code, stdout } = await svcHere(words, { baseUrl });
      const digits = stdout.replaceAll(/(?<=\d),(?=\d)/g, '');
      expect([code, digits], format).toEqual([0, expect.stringContaining(LONG)]);
      expect(digits, format).not.toContain('740992');
    }
  });

  it('R60: a number with 16 digits or more in a setting of the tenant is sent back unchanged by an update', async () => {
    const server = await serveBody(TENANT);
    await svcHere(['tenant', 'update', '--name', 'Other', '--yes'], { baseUrl: server.url });
    const sent = server.ledger.find(({ method }) => method === 'PUT');
    expect(textOf(sent)).toBe(`{"name":"Other","settings":{"limit":${LONG}}}`);
  });
});

describe('an update of a tenant', () => {
  it('R88: an update of a tenant sends nothing when the name or settings to keep have another type', async () => {
    for (const [body, words, member] of [
      ['{"id":"1","type":"test","name":"A","settings":"none"}', ['--name', 'B'], 'settings'],
      ['{"id":"1","type":"test","name":7,"settings":{}}', ['--set', 'deduplicate_tokens=true'], 'name'],
    ] as const) {
      const server = await serveBody(body);
      const { code, stderr } = await svcHere(['tenant', 'update', ...words, '--yes', '--allow-unknown'], {
        baseUrl: server.url,
      });
      expect([code, methods(server)], stderr).toEqual([8, 'GET']);
      expect(stderr).toContain(`sent the ${member} of the tenant with another type`);
    }
    const server = await serveBody('{"id":"1","type":"test","name":7,"settings":{"limit":true}}');
    await svcHere(['tenant', 'update', '--name', 'B', '--yes'], { baseUrl: server.url });
    const put = server.ledger.find(({ method }) => method === 'PUT');
    expect(bodyOf(put)).toEqual({ name: 'B', settings: { limit: 'true' } });
  });
});
