import { describe, expect, it } from 'vitest';
import { answer, json, reset } from '../../support/fault-steps.ts';
import { errorIn, KEY, svcHere } from '../../support/run-here.ts';
import { bodyOf } from '../../support/request-reader.ts';
import { type AnyTenant, methods, TENANT, tenantServer, type TenantScript } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

async function update(argv: readonly string[], script: TenantScript = {}, input?: string | Uint8Array) {
  const server = await tenantServer(script);
  const result = await svcHere(['tenant', 'update', ...argv], {
    baseUrl: server.url,
    ...(input === undefined ? {} : { input }),
  });
  expect(result.stdout + result.stderr).not.toContain(KEY);
  const puts = server.ledger.filter(({ method }) => method === 'PUT');
  return { ...result, server, puts };
}

describe('svc tenant update', () => {
  it('R56: merges: all settings go back, those that are unknown too, as texts', async () => {
    const { code, stdout, puts, server } = await update(['--set', 'deduplicate_tokens=true', '--yes']);
    expect(code).toBe(0);
    expect(methods(server)).toBe('GET GET PUT');
    expect(puts[0]?.path).toBe('/tenants/self');
    expect(bodyOf(puts[0])).toEqual({ name: 'Acme QA', settings: { ...TENANT.settings, deduplicate_tokens: 'true' } });
    expect(JSON.parse(stdout)).toMatchObject({ settings: { deduplicate_tokens: 'true' }, plan: 'gold' });
  });

  it('R56: svc tenant update sends settings that came as booleans as texts, leaves out those without a value, and alters nothing else', async () => {
    const settings = { fingerprint_tokens: true, deduplicate_tokens: null, odd: { deep: [1] }, limit: 5 };
    const { code, puts } = await update(['--name', 'B', '--yes'], { reads: [{ ...TENANT, settings }] });
    expect(code).toBe(0);
    expect(bodyOf(puts[0])).toEqual({
      name: 'B',
      settings: { fingerprint_tokens: 'true', odd: { deep: [1] }, limit: 5 },
    });
  });

  it('svc tenant update keeps a tenant without settings without settings', async () => {
    const bare = { id: 'x', type: 'test', name: 'A', settings: null };
    const { puts } = await update(['--name', 'B', '--yes'], {
      reads: [bare],
      put: (body) => json({ ...bare, ...body }),
    });
    expect(bodyOf(puts[0])).toEqual({ name: 'B' });
  });

  it('svc tenant update shows each field that changes, old and new, beside the mark', async () => {
    const { stderr } = await update(['--name', 'Acme\u202eQ', '--set', 'brand_new_setting=8', '--dry-run']);
    expect(stderr).toBe(
      [
        'TEST Acme QA (4c0a2f6e-0000-4000-8000-000000000001)',
        '  name',
        '  - "Acme QA"',
        String.raw`  + "Acme\u202eQ"`,
        '  settings.brand_new_setting',
        '  - "seven"',
        '  + "8"',
        'dry run: nothing was sent',
        '',
      ].join('\n'),
    );
  });

  it('svc tenant update colors the difference, and the signs say the same', async () => {
    const { stderr } = await update(['--name', 'B', '--dry-run', '--color', 'always']);
    expect(stderr).toContain('\u001b[31m  - "Acme QA"\u001b[39m\n\u001b[32m  + "B"\u001b[39m');
  });

  it('svc tenant update with --dry-run prints the tenant as it would be and writes nothing', async () => {
    const { code, stdout, server } = await update(['--name', 'B', '--dry-run']);
    expect(code).toBe(0);
    expect(methods(server)).toBe('GET');
    expect(JSON.parse(stdout)).toEqual({ ...TENANT, name: 'B' });
  });

  it('svc tenant update says when there is nothing to change, and writes nothing', async () => {
    const argv = ['--name', 'Acme QA', '--set', 'fingerprint_tokens=true', '--yes'];
    const { code, stderr, server } = await update(argv, {
      reads: [{ ...TENANT, settings: { ...TENANT.settings, fingerprint_tokens: true } }],
    });
    expect([code, methods(server)]).toEqual([0, 'GET']);
    expect(stderr).toContain('nothing to change');
  });

  it.each([
    ['modified_at', { ...TENANT, modified_at: '2026-02-02T03:04:06Z' }, ['modified_at']],
    ['the name', { ...TENANT, name: 'Other' }, ['name']],
    [
      'a setting',
      { ...TENANT, settings: { ...TENANT.settings, brand_new_setting: '8' } },
      ['settings.brand_new_setting'],
    ],
    ['a new setting', { ...TENANT, settings: { ...TENANT.settings, more: 'x' } }, ['settings.more']],
    ['the tenant itself', { ...TENANT, id: 'other' }, ['id']],
  ])('R56: svc tenant update refuses when %s changed meanwhile', async (_, second, fields) => {
    const result = await update(['--name', 'B', '--yes'], { reads: [TENANT, second] });
    expect(result.code).toBe(6);
    expect(methods(result.server)).toBe('GET GET');
    expect(errorIn(result)).toMatchObject({ code: 'conflict', fields, exit_code: 6 });
  });

  it('R56: svc tenant update is not disturbed by members in another order', async () => {
    const second = Object.fromEntries(Object.entries(TENANT).toReversed());
    const { code } = await update(['--name', 'B', '--yes'], { reads: [TENANT, second] });
    expect(code).toBe(0);
  });

  it.each([
    ['ignores a setting', () => json(TENANT), ['settings.deduplicate_tokens']],
    [
      'loses a setting',
      (body: AnyTenant) => json({ ...TENANT, ...body, settings: { deduplicate_tokens: 'true' } }),
      ['settings.brand_new_setting'],
    ],
  ])('svc tenant update says so when the service %s', async (_, put, fields) => {
    const result = await update(['--set', 'deduplicate_tokens=true', '--yes'], { put });
    expect(result.code).toBe(12);
    const error = errorIn(result);
    expect(error['code']).toBe('checksum_mismatch');
    expect(error['fields']).toEqual(expect.arrayContaining(fields));
    expect(JSON.parse(result.stdout)).toHaveProperty('id');
  });

  it.each([
    ['a 500', () => answer(500, 'oops')],
    ['a 503', () => answer(503)],
    ['a 408', () => answer(408)],
    ['a reset', () => reset('request')],
    ['a reset amid the answer', () => reset('answer')],
    ['an answer that makes no sense', () => answer(200, '<html>')],
    ['an empty answer', () => answer(200)],
  ])('R20: svc tenant update leaves the outcome open after %s and writes once', async (_, put) => {
    const result = await update(['--name', 'B', '--yes'], { put });
    expect(result.code).toBe(9);
    expect(result.puts).toHaveLength(1);
    const error = errorIn(result);
    expect(error['code']).toBe('outcome_unknown');
    expect(error['next']).toContain('tenant show');
  });

  it('R20: svc tenant update writes again after a 429, which had no effect', async () => {
    let count = 0;
    const put = (body: AnyTenant) => ((count += 1) === 1 ? answer(429) : json({ ...TENANT, ...body }));
    const { code, puts } = await update(['--name', 'B', '--yes'], { put });
    expect([code, puts.length]).toEqual([0, 2]);
  });

  it('R56: svc tenant update refuses when the tenant changed during the pause after a 429', async () => {
    const reads = [TENANT, TENANT, { ...TENANT, name: 'Other' }];
    const result = await update(['--name', 'B', '--yes'], { reads, put: () => answer(429) });
    expect([result.code, methods(result.server)]).toEqual([6, 'GET GET PUT GET']);
    expect(errorIn(result)).toMatchObject({ code: 'conflict', fields: ['name'] });
  });

  it('R17 and R20: svc tenant update ends with 7 after five refusals, or a longer pause than allowed', async () => {
    const five = await update(['--name', 'B', '--yes'], { put: () => answer(429) });
    expect([five.code, five.puts.length]).toEqual([7, 5]);
    // No pause was too long, so allowing a longer one would change nothing.
    expect(errorIn(five)['hint']).toBe('Wait a little and run the command again.');
    const long = await update(['--name', 'B', '--yes'], { put: () => answer(429, '', { 'retry-after': '3600' }) });
    expect([long.code, long.puts.length]).toEqual([7, 1]);
    expect(errorIn(long)['hint']).toContain('add --max-wait 3600s');
  });

  it('svc tenant update shows what the service says against it', async () => {
    const refusal = json({ title: 'Bad', errors: { name: ['is taken'] } }, 400);
    const result = await update(['--name', 'B', '--yes'], { put: () => refusal });
    expect(result.code).toBe(6);
    expect(errorIn(result)['message']).toContain('name: is taken');
  });

  it('R54: svc tenant update fails before anything is sent when nobody can confirm', async () => {
    for (const argv of [
      ['--name', 'B'],
      ['--file', '-'],
    ]) {
      const result = await update(argv, {}, '{"name":"B"}');
      expect(result.code).toBe(2);
      expect(result.server.connections).toBe(0);
      expect(errorIn(result)).toMatchObject({ code: 'input_needed', hint: expect.stringContaining('--yes') });
    }
  });

  it.each([
    [['--name', 'Acme QA'], "tenant update --name 'Acme QA' --dry-run"],
    [
      ['--set', 'deduplicate_tokens=true', '--name', 'B'],
      'tenant update --name B --set deduplicate_tokens=true --dry-run',
    ],
    [['--file', '-'], 'tenant update --file - --dry-run'],
    [['--set', 'brand_new_setting=on'], 'tenant update --set brand_new_setting=on --dry-run'],
    [['--name', KEY], 'tenant update --name <name> --dry-run'],
    [['--set', `brand_new_setting=${KEY}`], 'tenant update --set <setting=value> --dry-run'],
  ])('R54: an update %j that nobody can confirm is printed as a dry run', async (argv, next) => {
    const result = await update(argv, {}, '{"name":"B"}');
    expect(result.code).toBe(2);
    expect(errorIn(result)['next']).toBe(`svc ${next}`);
    expect(result.stderr).not.toContain(KEY);
    expect(result.puts).toEqual([]);
  });

  it.each([
    ['--name', 'Acme QA'],
    ['--set', 'brand_new_setting=on'],
    ['--file', '-'],
  ])('R54: the printed dry run of an update %s %s runs as printed', async (...argv) => {
    const { code, puts } = await update([...argv, '--dry-run'], {}, '{"name":"B"}');
    expect([code, puts]).toEqual([0, []]);
  });

  it('a file that does not exist is named although nobody can confirm', async () => {
    const result = await update(['--file', 'nope.yaml']);
    expect([result.code, errorIn(result)['message']]).toEqual([1, 'nope.yaml does not exist']);
  });

  it('a misspelled setting is named even where the update could not be confirmed', async () => {
    const misspelled = await update(['--set', 'dedup=true']);
    expect(errorIn(misspelled)).toMatchObject({
      code: 'usage',
      message: 'unknown setting "dedup"; nothing was sent',
      hint: expect.stringContaining('deduplicate_tokens'),
    });
    const known = await update(['--set', 'brand_new_setting=1']);
    expect([known.code, errorIn(known)['code']]).toEqual([2, 'input_needed']);
    for (const { server } of [misspelled, known])
      expect(server.ledger.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('what can be asked for', () => {
  it.each([
    ['200 characters', 'x'.repeat(200)],
    ['200 characters outside the basic plane', '𝒳'.repeat(200)],
    ['other scripts', '東京 – prüfung'],
  ])('a name of %s goes through', async (_, name) => {
    const { code, puts } = await update(['--name', name, '--yes']);
    expect(code).toBe(0);
    expect(bodyOf(puts[0])['name']).toBe(name);
  });

  it.each([
    ['201 characters', 'x'.repeat(201), 'at most 200'],
    ['nothing', '', 'must not be empty'],
    ['spaces', '  ', 'must not be empty'],
    ['a line break', 'a\nb', 'control characters'],
  ])('a name of %s is refused before anything is sent', async (_, name, words) => {
    const result = await update(['--name', name, '--yes']);
    expect([result.code, result.server.connections]).toEqual([2, 0]);
    expect(errorIn(result)['message']).toContain(words);
  });

  it.each(['4111 1111 1111 1111', 'Acme 4111111111111111', '4111-1111-1111-1111'])(
    'R06: a name with a card number, %s, is refused before anything is sent',
    async (name) => {
      const typed = await update(['--name', name, '--yes']);
      const inFile = await update(['--file', '-', '--yes'], {}, `type: test\nname: "${name}"\n`);
      for (const { code, server, stderr } of [typed, inFile]) {
        expect([code, server.connections]).toEqual([13, 0]);
        expect(stderr).not.toMatch(SHOWN_DIGITS);
      }
      const said = 'the name of the tenant contains what looks like a card number';
      expect(errorIn(typed)['message']).toBe(`${said}; nothing was sent`);
      expect(errorIn(inFile)['message']).toBe(`${said} (line 2); nothing was sent`);
    },
  );

  it.each([
    ['fingerprint_tokens', 'yes'],
    ['disable_ephemeral_proxy', 'TRUE'],
    ['deduplicate_tokens', ''],
    ['token_deduplication_behavior', 'update'],
  ])('%s does not take "%s"', async (name, value) => {
    const result = await update(['--set', `${name}=${value}`, '--yes']);
    expect([result.code, result.server.connections]).toEqual([2, 0]);
    expect(errorIn(result)['message']).toContain(`${name} must be`);
  });

  it.each([
    ['fingerprint_tokens', 'false'],
    ['disable_ephemeral_proxy', 'true'],
    ['deduplicate_tokens', 'true'],
    ['token_deduplication_behavior', 'update_existing'],
    ['brand_new_setting', 'a=b'],
  ])('%s takes "%s"', async (name, value) => {
    const { code, puts } = await update(['--set', `${name}=${value}`, '--yes']);
    expect(code).toBe(0);
    expect(bodyOf(puts[0])['settings']).toHaveProperty(name, value);
  });

  it('an unknown setting is refused with the nearest one, unless the tenant has it', async () => {
    const result = await update(['--set', 'dedupe_tokens=true', '--set', 'fingerprint_token=true', '--yes']);
    expect(result.code).toBe(2);
    expect(result.puts).toEqual([]);
    const near = await update(['--set', 'fingerprint_token=true', '--yes']);
    expect(errorIn(near)['hint']).toContain("'fingerprint_tokens'");
  });

  it('a setting that nobody knows is sent as a string with --allow-unknown, once that was confirmed', async () => {
    const file = JSON.stringify({ settings: { from_file: true } });
    const argv = ['--allow-unknown', '--set', 'new_rule=on', '--file', '-', '--yes'];
    const { code, stderr, puts } = await update(argv, {}, file);
    expect(code).toBe(0);
    expect(bodyOf(puts[0])['settings']).toEqual({ ...TENANT.settings, from_file: 'true', new_rule: 'on' });
    expect(stderr).toContain('unknown settings (from_file, new_rule)');
    const known = await update(['--allow-unknown', '--set', 'brand_new_setting=8', '--yes']);
    expect(known.stderr).not.toContain('unknown settings');
  });

  it.each([
    [['--set', 'deduplicate_tokens=maybe'], 2],
    [['--set', 'new_rule=4111 1111 1111 1111'], 13],
    [['--set', '4111111111111111=x'], 13],
    [['--set', '__proto__=x'], 2],
    [['--set', 'two words=x'], 2],
    [['--file', '-'], 13, '{"settings": {"new_rule": {"deep": "x"}}}'],
    [['--file', '-'], 13, '{"settings": {"new_rule": 7}}'],
    [['--file', '-'], 13, '{"settings": {"new_rule": "4111111111111111"}}'],
    [['--file', '-'], 13, '{"nmae": "B"}'],
  ])('--allow-unknown lifts no other rule: %j ends in exit %i', async (argv, code, file?: string) => {
    const result = await update(['--allow-unknown', ...argv, '--yes'], {}, file);
    expect([result.code, result.puts]).toEqual([code, []]);
    expect(result.stderr).not.toMatch(SHOWN_DIGITS);
  });

  it('nothing at all is a usage error', async () => {
    const result = await update(['--yes']);
    expect([result.code, result.server.connections]).toEqual([2, 0]);
  });
});

describe('a change from a file', () => {
  it('a change from a file takes a part of a tenant, a flag goes above it', async () => {
    const file = JSON.stringify({
      name: 'From file',
      settings: { deduplicate_tokens: true, fingerprint_tokens: 'false' },
    });
    const { code, puts } = await update(['--file', '-', '--set', 'fingerprint_tokens=true', '--yes'], {}, file);
    expect(code).toBe(0);
    expect(bodyOf(puts[0])).toEqual({
      name: 'From file',
      settings: { ...TENANT.settings, deduplicate_tokens: 'true' },
    });
  });

  it('a change from a file takes an edited answer of tenant show', async () => {
    const { code, puts } = await update(
      ['--file', '-', '--yes'],
      {},
      `\uFEFF${JSON.stringify({ ...TENANT, name: 'Edited' })}`,
    );
    expect(code).toBe(0);
    expect(bodyOf(puts[0])).toEqual({ name: 'Edited', settings: TENANT.settings });
  });

  it.each([
    ['another tenant', { id: 'other', name: 'B' }, 3, 'about another tenant'],
    ['a production tenant', { type: 'production', name: 'B' }, 13, 'what cannot be changed'],
    ['another plan', { plan: 'lead' }, 13, 'what cannot be changed'],
    ['no tenant at all', { nmae: 'B' }, 13, '"nmae"'],
    ['an earlier state', { modified_at: '2025-01-01T00:00:00Z', name: 'B' }, 6, 'changed since'],
  ])('a change from a file of %s is refused after the read', async (_, file, code, words) => {
    const result = await update(['--file', '-', '--yes'], {}, JSON.stringify(file));
    expect([result.code, methods(result.server)]).toEqual([code, 'GET']);
    expect(errorIn(result)['message']).toContain(words);
  });

  it.each([
    ['no JSON', '{"name": ', 'is not JSON'],
    ['nothing', '', 'standard input is empty'],
    ['a list', '[]', 'must be an object'],
    ['text as settings', '{"settings": "x"}', 'settings must be an object'],
    ['a number as name', '{"name": 5}', 'name must be a string'],
    ['a number as setting', '{"settings": {"deduplicate_tokens": 1}}', 'must be a string'],
    ['a wrong value', '{"settings": {"deduplicate_tokens": "no"}}', 'must be true or false'],
    ['a long name', JSON.stringify({ name: 'x'.repeat(201) }), 'at most 200'],
    ['deep nesting', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'nested too deeply'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not UTF-8'],
    ['ten megabytes', ' '.repeat(10_000_000), 'longer than'],
  ])('a change from a file of %s is refused before anything is sent', async (_, file, words) => {
    const result = await update(['--file', '-', '--yes'], {}, file);
    expect([result.code, result.server.connections]).toEqual([13, 0]);
    expect(errorIn(result)['message']).toContain(words);
  });

  it('a change from a file that does not exist is named', async () => {
    const result = await update(['--file', 'missing.json', '--yes']);
    expect([result.code, result.server.connections]).toEqual([1, 0]);
    expect(errorIn(result)['message']).toContain('missing.json does not exist');
  });
});
