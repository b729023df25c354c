import { expect, it } from 'vitest';
import { type Script, serve } from '../../support/fault-server.ts';
import { answer, json, reset } from '../../support/fault-steps.ts';
import { SETTING_VALUES } from '../../../src/tenant/values.ts';
import { ended, errorIn, type HereOptions, KEY, startSandboxHere, succeeded, svcHere } from '../../support/run-here.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

async function api(argv: readonly string[], script: Script = [json({ ok: true })], options: HereOptions = {}) {
  const server = await serve(script);
  const result = await svcHere(['api', ...argv], { baseUrl: server.url, ...options });
  expect(result.stdout + result.stderr).not.toContain(KEY);
  return { ...result, server, sent: server.ledger };
}

function methods({ sent }: Awaited<ReturnType<typeof api>>): string[] {
  return sent.map(({ method }) => method);
}

it('svc api sends the typed path and query, and prints every value of the response unchanged', async () => {
  const body = { b: [1, { c: null }], a: 'é\u202e', __n: 1.5 };
  const { code, stdout, stderr, sent } = await api(
    ['get', '/logs?x=1', '--query', 'y=a b&c', '--query', 'x=2'],
    [json(body)],
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toEqual(body);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ method: 'GET', path: '/logs?x=1&x=2&y=a+b%26c', bodyBytes: 0 });
  expect(sent[0]?.headers['svc-api-key']).toBe(KEY);
});

it('svc api reads a path that is typed alone with GET', async () => {
  const { code, sent } = await api(['/logs?size=1']);
  expect([code, sent[0]?.method, sent[0]?.path]).toEqual([0, 'GET', '/logs?size=1']);
  const wrong = await api(['logs/1']);
  expect([wrong.code, errorIn(wrong)['message'], wrong.sent]).toEqual([2, expect.stringMatching(/slash/), []]);
  expect(errorIn(await api(['gte', '/logs']))).toMatchObject({
    message: '<method> must be one of GET, POST, PUT, PATCH, DELETE, not "gte"',
    hint: "Did you mean 'GET'?",
  });
  ended(await api(['GET']), 2);
  ended(await api(['/x/4111111111111111']), 13);
});

it.each(['GET', 'POST'])('R62: svc api %s --dry-run shows the request and sends nothing', async (method) => {
  const { code, stdout, sent } = await api([method, '/logs?x=1', '--key', 'management', '--dry-run', '-o', 'json']);
  expect([code, sent]).toEqual([0, []]);
  expect(JSON.parse(stdout)).toMatchObject({ method, url: expect.stringMatching(/\/logs\?x=1$/) });
});

it('svc api merges the values of --set and --set-json into the body from --file', async () => {
  const argv = [
    'POST',
    '/3ds/sessions',
    '--file',
    '-',
    '--set',
    'type=customer',
    '--set',
    'deep.id=007',
    '--set-json',
    'n=[1]',
  ];
  const { code, sent } = await api(argv, [json({}, 201)], { input: '{"type":"merchant","token_id":"t"}' });
  expect(code).toBe(0);
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ type: 'customer', token_id: 't', deep: { id: '007' }, n: [1] });
  expect(sent[0]?.headers['content-type']).toBe('application/json');
});

it("svc api accepts the commented body that 'svc 3ds template' prints", async () => {
  const template = await svcHere(['3ds', 'template', 'add-card']);
  expect(template.stdout).toContain('// ');
  const argv = ['POST', '/3ds/sessions/1/authenticate', '--file', '-'];
  const { code, sent } = await api(argv, [json({})], { input: template.stdout });
  expect(code).toBe(0);
  expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({ authentication_type: 'add-card' });
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('svc api sends %s without a body', async (method) => {
  const { code, stdout, stderr, sent } = await api([method, '/3ds/x'], [answer(204)]);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(new RegExp(`^UNKNOWN TENANT .*\\n${method} /3ds/x: 204, without a body\\n$`));
  expect(sent[0]?.headers['content-type']).toBeUndefined();
});

it('R09: svc api chooses the key by --key or by the path, and sends nothing if neither decides', async () => {
  const env = { SVC_API_KEY: '', SVC_MANAGEMENT_API_KEY: 'key_management_1', SVC_PRIVATE_API_KEY: 'key_private_22' };
  const key = async (...argv: string[]) => (await api(argv, [json({})], { env })).sent[0]?.headers['svc-api-key'];
  expect(await key('GET', '/logs')).toBe('key_management_1');
  expect(await key('GET', '/account-updater/jobs')).toBe('key_private_22');
  expect(await key('GET', '/proxies', '--key', 'private')).toBe('key_private_22');
  expect(await key('GET', '/3ds/sessions/1', '--key', 'management')).toBe('key_management_1');
  const unknown = await api(['GET', '/proxies']);
  expect([unknown.code, unknown.sent.length]).toEqual([2, 0]);
  expect(errorIn(unknown)['hint']).toContain('--key');
});

it('R09: svc api never tries the other key after a refusal', async () => {
  const { code, sent } = await api(['GET', '/logs'], [answer(403)]);
  expect([code, sent.length]).toEqual([4, 1]);
});

it.each([
  ['a full address', ['GET', 'https://elsewhere.example/logs']],
  ['a path with dots', ['GET', '/logs/../tenants']],
  ['an unknown method', ['TRACE', '/logs']],
  ['a body on GET', ['GET', '/logs', '--set', 'a=b']],
  ['--paginate with POST', ['POST', '/logs', '--paginate']],
  ['--query without a value', ['GET', '/logs', '--query', 'a']],
  ['the deletion of the tenant', ['DELETE', '/tenants/self']],
  ['the deletion of the tenant at an encoded path', ['delete', '/tenants//%73elf/?x=1', '--yes']],
])('svc api refuses %s before anything is sent', async (_, argv) => {
  const result = await api(argv);
  expect([result.code, result.server.connections]).toEqual([2, 0]);
  expect(errorIn(result)['code']).toBe('usage');
});

it.each([
  ['--set', ['--set', 'name=Acme'], ''],
  ['--file', ['--file', '-'], '{"name":"Acme","settings":null}'],
  ['--file', ['--file', '-'], '{"name":"Acme","settings":{"deduplicate_tokens":true}}'],
])(
  'R56: svc api PUT asks before a tenant loses settings to a body from %s that leaves them out',
  async (_, body, input) => {
    const put = (...argv: string[]) => api(['PUT', '/tenants//self', ...body, ...argv], undefined, { input });
    const asked = await put();
    ended(asked, 2, "('svc tenant update' keeps them)?", { error: { code: 'input_needed', hint: 'Pass --yes.' } });
    expect(methods(asked)).toEqual(['GET']);
    expect(methods(await put('--yes'))).toEqual(['GET', 'PUT']);
    ended(await put('--dry-run'), 0, /the body leaves out .*token_deduplication_behavior: the tenant would lose them/);
  },
);

const WHOLE = JSON.stringify({
  name: 'Acme',
  settings: Object.fromEntries([...SETTING_VALUES].map(([name, [value]]) => [name, value])),
});

it('R56: svc api PUT asks before a tenant loses a setting that svc does not know', async () => {
  const tenant = [json({ settings: { foo_bar: 1 } })];
  const asked = await api(['PUT', '/tenants/self', '--file', '-'], tenant, { input: WHOLE });
  ended(asked, 2, 'Replace the tenant by a body without foo_bar, so that it loses them', {
    error: { code: 'input_needed' },
  });
  expect(methods(asked)).toEqual(['GET']);
});

it.each([
  ['/tenants/self', WHOLE, ['GET', 'PUT']],
  ['/3ds/x', '{"name":"Acme"}', ['PUT']],
])('svc api PUT %s sends %s without a question', async (path, input, sent) => {
  expect(methods(await api(['PUT', path, '--file', '-'], undefined, { input }))).toEqual(sent);
});

it.each([
  ['the path', ['GET', '/tokens/4111111111111111', '--key', 'private']],
  ['the path, encoded', ['GET', '/tokens/4111%3111111111111', '--key', 'private']],
  ['the query of the path, encoded', ['GET', '/logs?q=4111+1111%201111+1111']],
  ['--query', ['GET', '/logs', '--query', 'q=4111 1111 1111 1111']],
  ['a name of --query', ['GET', '/logs', '--query', '4111111111111111=q']],
  ['--set', ['POST', '/3ds/sessions', '--set', 'a.b=5555-5555-5555-4444']],
  ['--set-json', ['POST', '/3ds/sessions', '--set-json', 'a=378282246310005']],
])('R05 and R40: svc api refuses a card number in %s, because other users can see command lines', async (_, argv) => {
  const result = await api(argv);
  expect([result.code, result.server.connections]).toEqual([13, 0]);
  expect(result.stderr).not.toMatch(SHOWN_DIGITS);
  expect(result.stderr).not.toMatch(/5555-5555|378282/);
  // A file can take it only where the endpoint has a place for it.
  expect(/--file/.test(result.stderr)).toBe(argv[1]?.startsWith('/tokens'));
});

it.each([
  ['POST', '/3ds/sessions', '{"data":{"number":"4111111111111111"}}'],
  ['POST', '/3ds/sessions', '{"pan":4111111111111111}'],
  ['POST', '/3ds//sessions/5f0c/authenticate', '{"a":["4111 1111 1111 1111"]}'],
  ['PUT', '/tenants/self', '"4111111111111111"'],
  ['PUT', '/tenants/self', '{"name":"4111-1111-1111-1111"}'],
  ['PUT', '/%74enants/self', '{"name":"x","settings":{"4111111111111111":"true"}}'],
  ['POST', '/applications', '{"x":"4111111111111111"}'],
  ['POST', '/account-updater/jobs', '{"x":"ＰＡＮ ４１１１１１１１１１１１１１１１"}'],
])('R40: svc api refuses a card number in the body from --file: %s %s %s', async (method, path, input) => {
  const result = await api([method, path, '--file', '-'], undefined, { input });
  expect([result.code, result.server.connections]).toEqual([13, 0]);
  expect(result.stderr).toContain('the body contains what looks like a card number');
  expect(result.stderr).not.toMatch(SHOWN_DIGITS);
  expect(result.stderr).not.toContain('４１１１');
});

it('svc api sends a card number from --file to create a token', async () => {
  const input = '{"type":"card","data":{"number":"4111111111111111"}}';
  const { code, sent } = await api(['POST', '/tokens', '--file', '-'], [json({}, 201)], { input });
  expect([code, sent[0]?.body]).toEqual([0, input]);
});

it('svc api sends assigned ids and phone numbers that look like a card number to 3ds', async () => {
  const body = {
    merchant_info: { mid: '4111111111111111' },
    cardholder_info: { phone_number: { number: '378282246310005' } },
  };
  const input = JSON.stringify(body);
  const { code, sent } = await api(['POST', '/3ds/sessions/5f0c/authenticate', '--file', '-'], [json({})], { input });
  expect([code, sent[0]?.body]).toEqual([0, input]);
});

it.each([
  ['not JSON', '{"a":'],
  ['empty', ''],
  ['nested too deeply', '['.repeat(5000)],
  ['ten megabytes', ' '.repeat(10_000_000)],
  ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
  ['a number that would lose digits', '{"a":[{"id":12345678901234567890}]}'],
  ['a number out of range', '{"a":1e999}'],
])('svc api refuses an invalid body before anything is sent: %s', async (_, input) => {
  const result = await api(['POST', '/3ds/sessions', '--file', '-'], undefined, { input });
  expect([result.code, result.server.connections]).toEqual([13, 0]);
});

it('svc api refuses a number that would lose digits in --set-json before anything is sent', async () => {
  const result = await api(['POST', '/3ds/sessions', '--set-json', 'a=[12345678901234567890]']);
  expect([result.code, result.server.connections]).toEqual([13, 0]);
});

it('R15 and R20: svc api retries GET, but no other method whose outcome is unknown', async () => {
  const get = await api(['GET', '/logs'], (_, index) => (index < 2 ? answer(503) : json({ done: true })));
  expect([get.code, get.sent.length]).toEqual([0, 3]);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const step of [answer(503), reset('request')]) {
      const other = await api([method, '/3ds/x'], [step]);
      expect([other.code, other.sent.length]).toEqual([9, 1]);
      expect(errorIn(other)).toMatchObject({
        code: 'outcome_unknown',
        next: expect.stringContaining('api GET /3ds/x'),
      });
    }
  }
});

it.each([
  ['/x/1', ['--key', 'private'], ['api', 'GET', '/x/1', '--key', 'private']],
  ['/account-updater/jobs', [], ['api', 'GET', '/account-updater/jobs']],
  ['/3ds/sessions/5f0c/authenticate', [], ['api', 'GET', '/3ds/sessions/5f0c']],
  ['/3ds/sessions', [], undefined],
])('R20: svc api prints the command that shows what a POST to %s has done', async (path, options, next) => {
  const unclear = errorIn(await api(['POST', path, ...options], [reset('request')]));
  expect(unclear['exit_code']).toBe(9);
  const words = unclear['next_words'] as string[] | undefined;
  expect(words?.slice(words.indexOf('api'))).toEqual(next);
});

it('R01: svc api follows no redirect', async () => {
  const other = await serve([json({})]);
  const { code, sent } = await api(['GET', '/logs'], [answer(302, '', { location: other.url.href })]);
  expect([code, sent.length, other.connections]).toEqual([8, 1, 0]);
});

it.each([
  ['GET', '<html>', 8, 'bad_response'],
  ['GET', '{"a":', 8, 'bad_response'],
  ['POST', 'done', 9, 'outcome_unknown'],
])('R21: svc api fails when the response to %s is not JSON: %j', async (method, body, exit, code) => {
  ended(await api([method, '/3ds/x'], [answer(200, body)]), exit, { stdout: '', error: { code } });
});

it('R21: svc api reports the status and the invalid fields of an error response', async () => {
  ended(await api(['POST', '/3ds/x'], [json({ title: 'Bad', errors: { type: ['is wrong'] } }, 422)]), 6, {
    error: { status: 422, fields: { type: ['is wrong'] } },
  });
});

it('svc api --include prints the status and the headers to stderr, without secrets', async () => {
  const headers = { 'x-request-id': 'r-1', 'set-cookie': ['a=cookie-secret-1', 'b=cookie-secret-2'], 'x-echo': KEY };
  ended(
    await api(['GET', '/logs', '--include'], [json({}, 200, headers)]),
    0,
    'HTTP 200\n',
    'x-request-id: r-1\n',
    'x-echo: (the key)',
    { stdout: '{}\n', unsaid: 'cookie-secret' },
  );
});

const JOB = {
  id: 'j',
  upload_url: 'https://s.example/u?sig=secret-1',
  deep: [{ download_url: 'https://s.example/d?sig=secret-2' }],
};

it('R06: the output of svc api hides signed URLs at any depth, unless --show-urls is given', async () => {
  for (const format of ['json', 'jsonl', 'yaml', 'csv', 'table']) {
    for (const body of [JOB, [JOB], { data: [JOB] }, { a: { b: { uploadUrl: JOB.upload_url } } }]) {
      const { stdout } = succeeded(await api(['GET', '/logs', '-o', format], [json(body)]));
      expect(stdout).toContain('(hidden)');
      expect(stdout).not.toContain('secret');
    }
  }
  const { stdout } = await api(['GET', '/logs', '--show-urls'], [json(JOB)]);
  expect(JSON.parse(stdout)).toEqual(JOB);
});

it('the output of svc api contains the rows of a page in table and CSV, and the whole response in JSON', async () => {
  const page = {
    pagination: { next: 'c', page_size: 2 },
    data: [
      { id: 'a', n: { x: 1 } },
      { id: 'b', more: true },
    ],
  };
  const table = await api(['GET', '/logs', '-o', 'table'], [json(page)]);
  expect(table.stdout).toBe('ID  N X  MORE\na   1    -\nb   -    true\n');
  expect(table.stderr).toContain('--paginate');
  const csv = await api(['GET', '/logs', '-o', 'csv'], [json(page)]);
  expect(csv.stdout).toBe('id,n.x,more\na,1,\nb,,true\n');
  const dotted = await api(
    ['GET', '/dots', '--key', 'management', '-o', 'csv'],
    [json({ 'a.b': 1, c: { 'd.e': 'x' } })],
  );
  expect(dotted.stdout).toBe('a.b,c.d.e\n1,x\n');
  expect(JSON.parse((await api(['GET', '/logs', '-o', 'json'], [json(page)])).stdout)).toEqual(page);
});

it('the output of svc api contains the fields named by --fields, without missing ones', async () => {
  const { stdout } = await api(['GET', '/logs', '--fields', 'b.c,nope'], [json({ a: 1, b: { c: 2 } })]);
  expect(JSON.parse(stdout)).toEqual({ b: { c: 2 } });
});

it.each([
  ['a string', '"x"', 'json', '"x"\n'],
  ['null', 'null', 'table', 'null\n'],
  ['an empty list', '[]', 'json', '[]\n'],
  ['an empty list', '[]', 'jsonl', ''],
  ['an empty list', '[]', 'csv', ''],
  ['an empty object', '{}', 'json', '{}\n'],
  ['a list of texts', '["a","b"]', 'jsonl', '"a"\n"b"\n'],
  ['a list of texts', '["a","b"]', 'csv', 'value\na\nb\n'],
])('the output of svc api shows %s (%s) as valid %s', async (_, body, format, stdout) => {
  ended(await api(['GET', '/logs', '-o', format], [answer(200, body)]), 0, { stdout });
});

it('the output of svc api is a bad_response error for a response with 20,000 nested lists', async () => {
  ended(await api(['GET', '/logs'], [answer(200, '['.repeat(20_000) + ']'.repeat(20_000))]), 8, {
    error: { code: 'bad_response' },
  });
});

function query(path: string): URLSearchParams {
  return new URL(path, 'http://x').searchParams;
}

const NUMBERED: Script = ({ path }) => {
  const page = Number(query(path).get('page') ?? 1);
  return json({ pagination: { page_number: page, total_pages: 3 }, data: [{ page }] });
};

const WITHOUT_TOTAL: Script = ({ path }) => {
  const page = Number(query(path).get('page') ?? 1);
  return json({ pagination: { page_number: page }, data: page < 3 ? [{ page }] : [] });
};

const WITH_A_COUNT: Script = ({ path }) => {
  const page = Number(query(path).get('page') ?? 1);
  return json({
    pagination: { total_items: 3, page_size: 2 },
    data: [[{ n: 1 }, { n: 2 }], [{ n: 3 }]][page - 1] ?? [],
  });
};

const REFUSED_LATER: Script = (_, index) =>
  index === 0 ? json({ pagination: { next: 'x' }, data: [{ n: 1 }] }) : answer(403);

it('R26: svc api --paginate sends each cursor back byte for byte, and continues after an empty page', async () => {
  const pages = [
    { pagination: { next: 'a+/= é' }, data: [{ n: 1 }] },
    { pagination: { next: 'b' }, data: [] },
    { pagination: { next: null }, data: [{ n: 2 }] },
  ];
  const { code, stdout, sent } = await api(['GET', '/logs', '--paginate', '--query', 'size=1'], (_, index) =>
    json(pages[index]),
  );
  expect([code, stdout]).toEqual([0, '{"n":1}\n{"n":2}\n']);
  expect(sent.map(({ path }) => [query(path).get('start'), query(path).get('size')])).toEqual([
    [null, '1'],
    ['a+/= é', '1'],
    ['b', '1'],
  ]);
});

it('R26: svc api --paginate follows page numbers to the last page', async () => {
  const all = await api(['GET', '/apps', '--key', 'management', '--paginate', '-o', 'json'], NUMBERED);
  expect(JSON.parse(all.stdout)).toEqual([{ page: 1 }, { page: 2 }, { page: 3 }]);
  const rest = await api(['GET', '/apps?page=3', '--key', 'management', '--paginate'], NUMBERED);
  expect([rest.stdout, rest.sent.length]).toEqual(['{"page":3}\n', 1]);
});

it.each([
  ['a page without items', [[{ n: 1 }], [], [{ n: 3 }]], [3, 3, 3]],
  ['a smaller number of pages', [[{ n: 1 }], []], [3, 1]],
])(
  'R26: svc api --paginate fails where numbered pages have less than the number of items: %s',
  async (_, data, total) => {
    const pages = data.map((items, at) => ({
      pagination: { page_number: at + 1, total_pages: total[at], total_items: 5 },
      data: items,
    }));
    const result = await api(['GET', '/apps', '--key', 'management', '--paginate'], (__, index) => json(pages[index]));
    const read = data.flat().length;
    ended(result, 8, { error: { message: `the list of GET /apps ended after ${read} of its 5 items` } });
    expect(result.stdout.split('\n')).toHaveLength(read + 1);
    // The number of items may be that of the whole tenant, also for a filter.
    const filtered = ['GET', '/apps', '--key', 'management', '--paginate', '--query', 'status=active'];
    expect((await api(filtered, (__, index) => json(pages[index]))).code).toBe(0);
  },
);

it('R26: svc api --paginate stops at an empty page when the service gives no total', async () => {
  const { stdout, sent } = await api(['GET', '/logs', '--paginate'], WITHOUT_TOTAL);
  expect([stdout, sent.length]).toEqual(['{"page":1}\n{"page":2}\n', 3]);
});

it('R26: svc api --paginate reads all pages when the service gives only the number of items', async () => {
  const { stdout } = await api(['GET', '/logs', '--paginate'], WITH_A_COUNT);
  expect(stdout).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  const whole = await api(['GET', '/logs'], [json({ pagination: { total_items: 1 }, data: [{ n: 1 }] })]);
  expect(whole.stderr).not.toContain('--paginate');
});

it.each([
  ['cursor', { pagination: { next: 'same' }, data: [{ n: 1 }] }],
  ['page', { pagination: { page_number: 1, total_pages: 9 }, data: [{ n: 1 }] }],
])('R26: svc api --paginate fails when the service returns the same %s twice', async (_, page) => {
  const result = await api(['GET', '/logs', '--paginate'], [json(page)]);
  expect([result.code, result.sent.length]).toEqual([12, 2]);
});

it.each([
  [{ next: 17 }, 'next'],
  [{ next: { after: 'a' } }, 'next'],
  [{ page_number: '1', total_pages: '3' }, 'page_number'],
  [{ page_number: 1, total_pages: '3' }, 'total_pages'],
])('R26: svc api --paginate fails when it cannot tell whether the list goes on: %j', async (pagination, member) => {
  const result = await api(['GET', '/logs', '--paginate'], [json({ pagination, data: [{ n: 1 }] })]);
  expect([result.code, result.sent.length, result.stdout]).toEqual([8, 1, '']);
  expect(errorIn(result)['message']).toContain(`pagination.${member} of another type`);
  ended(
    await api(['GET', '/logs', '-o', 'csv'], [json({ pagination, data: [{ n: 1 }] })]),
    0,
    'more results: use --paginate',
    { stdout: 'n\n1\n' },
  );
});

it('svc api --paginate reads a bare array as one page, and refuses a response without a list', async () => {
  const { stdout } = await api(['GET', '/logs', '--paginate'], [json([1, 2])]);
  expect(stdout).toBe('1\n2\n');
  const wrong = await api(['GET', '/logs', '--paginate'], [json({ id: 1 })]);
  expect([wrong.code, wrong.sent.length]).toEqual([8, 1]);
});

it('R52: svc api --paginate prints complete JSON with the entries read when a later page fails', async () => {
  const { code, stdout } = await api(['GET', '/logs', '--paginate', '-o', 'json'], REFUSED_LATER);
  expect([code, JSON.parse(stdout)]).toEqual([4, [{ n: 1 }]]);
});

it('svc api against the sandbox creates a job, reads it and lists entity types', async () => {
  const service = await startSandboxHere();
  const api = (...argv: string[]) => svcHere(['api', ...argv], service);
  const created = await api('POST', '/account-updater/jobs', '--fields', 'id,upload_url');
  const { id, upload_url } = JSON.parse(created.stdout) as Record<string, string>;
  expect(upload_url).toBe('(hidden)');
  const job = await api('GET', `/account-updater/jobs/${id}`);
  expect(JSON.parse(job.stdout)).toMatchObject({ id, status: 'pending' });
  const types = await api('GET', '/logs/entity-types', '--fields', 'value');
  expect(types.stdout).toContain('{"value":"card"}\n');
});

it('svc api against the sandbox returns the same entries with --paginate as svc logs --all', async () => {
  const service = await startSandboxHere();
  const fields = ['--fields', 'entity_id,created_at'];
  const fromApi = await svcHere(['api', 'GET', '/logs?entity_type=card&size=25', '--paginate', ...fields], service);
  const fromLogs = await svcHere(['logs', '--all', '--entity-type', 'card', ...fields], service);
  expect(fromApi.stdout).toBe(fromLogs.stdout);
  expect(fromApi.stdout.split('\n').length).toBeGreaterThan(20);
});
