import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { ended, errorIn, KEY, succeeded, svcHere } from '../../support/run-here.ts';
import { type AnyTenant, methods, TENANT, tenantServer } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

const EXPORTED = { id: TENANT.id, type: 'test', name: 'Acme QA', settings: TENANT.settings };

async function tenant(line: string, present: AnyTenant = TENANT, input = '') {
  const server = await tenantServer({ reads: [present] });
  const result = await svcHere(['tenant', ...line.split(' ')], { baseUrl: server.url, input });
  expect(result.stdout + result.stderr).not.toContain(KEY);
  return { ...result, server };
}

describe('svc tenant export', () => {
  it('svc tenant export writes YAML into a pipe, whatever format is set for other commands, and the format that the line asks for', async () => {
    const { stdout } = await tenant('export');
    expect(stdout).toContain('name: Acme QA\nsettings:\n  fingerprint_tokens: "true"\n');
    expect(parse(stdout)).toEqual(EXPORTED);
    const server = await tenantServer();
    const env = { SVC_OUTPUT: 'json' };
    expect((await svcHere(['tenant', 'export'], { baseUrl: server.url, env })).stdout).toBe(stdout);
    expect(JSON.parse((await tenant('export -o json')).stdout)).toEqual(EXPORTED);
    expect((await tenant('export --jq .name')).stdout).toBe('Acme QA\n');
  });

  it('svc tenant export leaves out what changes by itself, settings without a value, and writes booleans as the service takes them', async () => {
    const settings = { fingerprint_tokens: true, deduplicate_tokens: null, odd: 'yes' };
    const { stdout } = await tenant('export', { ...TENANT, settings });
    expect(parse(stdout)).toMatchObject({ settings: { fingerprint_tokens: 'true', odd: 'yes' } });
    expect(stdout).not.toMatch(/modified|deduplicate/);
  });
});

describe('svc tenant diff', () => {
  it('svc tenant diff finds nothing in what was exported, and update has nothing to change', async () => {
    const { stdout: yaml } = await tenant('export');
    const same = await tenant('diff -', TENANT, yaml);
    expect([same.code, same.stdout, methods(same.server)]).toEqual([0, '', 'GET']);
    expect(same.stderr).toContain('the tenant is as standard input says');
    const update = await tenant('update --file - --yes', TENANT, yaml);
    expect([update.code, methods(update.server)]).toEqual([0, 'GET']);
    expect(update.stderr).toContain('nothing to change');
  });

  it('svc tenant diff shows drift as the difference of an update, and ends with 10', async () => {
    const present = { ...TENANT, name: 'Renamed', settings: { ...TENANT.settings, deduplicate_tokens: 'true' } };
    const yaml = 'name: Acme QA\nsettings:\n  deduplicate_tokens: false\n  fingerprint_tokens: "true"\n';
    const shown = await tenant('diff - -o table', present, yaml);
    expect([shown.code, methods(shown.server)]).toEqual([10, 'GET']);
    expect(shown.stdout).toBe(
      [
        'TEST Renamed (4c0a2f6e-0000-4000-8000-000000000001)',
        '  name',
        '  - "Renamed"',
        '  + "Acme QA"',
        '  settings.deduplicate_tokens',
        '  - "true"',
        '  + "false"',
        '',
      ].join('\n'),
    );
    const piped = await tenant('diff - -o jsonl', present, yaml);
    expect(piped.stdout.split('\n').slice(0, 2)).toEqual([
      '{"field":"name","tenant":"Renamed","file":"Acme QA"}',
      '{"field":"settings.deduplicate_tokens","tenant":"true","file":"false"}',
    ]);
    expect(errorIn(piped)).toMatchObject({ code: 'threshold', fields: ['name', 'settings.deduplicate_tokens'] });
  });

  it('svc tenant diff takes a setting that the tenant has lost for a difference', async () => {
    const file = 'settings:\n  lost_setting: "x"\n  fingerprint_token: "true"\n';
    const result = await tenant('diff - -o json', TENANT, file);
    expect(result.code).toBe(10);
    expect(JSON.parse(result.stdout)).toEqual([
      { field: 'settings.lost_setting', file: 'x' },
      { field: 'settings.fingerprint_token', file: 'true' },
    ]);
    expect(errorIn(result)).toMatchObject({
      hint: expect.stringContaining("Did you mean 'fingerprint_tokens'?"),
      next: 'svc tenant update --file <file> --allow-unknown --dry-run',
    });
    const lost = await tenant('diff -', TENANT, 'settings:\n  lost_setting: "x"\n');
    expect([lost.code, errorIn(lost)['hint']]).toEqual([
      10,
      expect.stringContaining('The tenant has no setting lost_setting (line 2), and svc does not know it. To'),
    ]);
  });

  it('svc tenant diff compares a tenant as the service sent it too, without the time of its last change', async () => {
    const sent = JSON.stringify({ ...TENANT, modified_at: '2020-01-01T00:00:00Z', plan: 'lead' });
    const { code, stdout } = await tenant('diff - -o json', TENANT, sent);
    expect([code, JSON.parse(stdout)]).toEqual([10, [{ field: 'plan', tenant: 'gold', file: 'lead' }]]);
  });

  it.each([
    ['type: production\nname: Acme QA\n', ['type'], 'has type.'],
    ['modified_at: "2020-01-01T00:00:00Z"\nname: B\n', ['name'], 'has modified_at.'],
  ])('svc tenant diff suggests no update that would be refused: %j', async (file, fields, hint) => {
    expect(errorIn(await tenant('diff -', TENANT, file))).toMatchObject({
      fields,
      hint: expect.stringContaining(hint),
      next: 'svc tenant export',
    });
  });

  it('svc tenant diff finds nothing in what svc tenant show printed, whatever the form of its numbers', async () => {
    const sent = JSON.stringify({ ...TENANT, ratio: 7, big: 8 });
    const step = answer(200, sent.replace('"ratio":7', '"ratio":1.0').replace('"big":8', '"big":12345678901234567890'));
    const server = await serve([step, step, step, step]);
    for (const format of ['json', 'yaml']) {
      const { stdout } = await svcHere(['tenant', 'show', '-o', format], { baseUrl: server.url });
      ended(await svcHere(['tenant', 'diff', '-'], { baseUrl: server.url, input: stdout }), 0);
    }
  });

  it('svc tenant diff takes what was exported of a tenant whose name and settings are not as documented', async () => {
    const settings = { fingerprint_tokens: 'maybe', max: 5, odd: 'yes' };
    for (const name of [null, 7, '']) {
      const present = { ...TENANT, name, settings };
      const exported = await tenant('export', present);
      expect(parse(exported.stdout)).toEqual({ id: TENANT.id, type: 'test', settings: { odd: 'yes' } });
      expect(exported.stderr).toContain('settings.fingerprint_tokens, settings.max\n');
      succeeded(await tenant('diff -', present, exported.stdout));
    }
    succeeded(await tenant('diff -', { ...TENANT, name: null }, 'name: null\nplan: gold\n'));
  });

  it.each([
    ['another tenant', 'id: other\nname: B\n', 3, 'about another tenant', 'GET'],
    [
      'an unknown member',
      'id: 4c0a2f6e-0000-4000-8000-000000000001\n\nnmae: B\n',
      13,
      '"nmae" in the file (line 3)',
      'GET',
    ],
    ['an unknown member of JSON', '{\n  // name\n  "nmae": "B"\n}', 13, '"nmae" in the file (line 3)', 'GET'],
    ['an odd setting', 'settings:\n  ded+upe: "true"\n', 2, 'unknown setting (not shown', 'GET'],
    ['a wrong value', 'name: B\nsettings:\n  deduplicate_tokens: "no"\n', 13, 'must be true or false (line 3)', ''],
    ['a number', 'settings:\n  deduplicate_tokens: 1\n', 13, 'true or false (line 2)', ''],
    ['a member that is given twice', 'name: A\ntype: test\nname: B\n', 13, 'line 3: a member is given twice', ''],
    ['tabs', 'settings:\n\tdeduplicate_tokens: "true"\n', 13, 'line 2: ', ''],
    ['an alias', 'name: &a B\ntype: *a\n', 13, 'aliases are not read', ''],
    ['a tag', 'name: !!binary aGk=\nid: !mine x\n', 13, 'line ', ''],
    ['two documents', 'name: A\n---\nname: B\n', 13, 'line 2: a second document', ''],
    ['a list', '- name: A\n', 13, 'the file must be an object', ''],
    ['nothing but comments', '# later\n', 13, 'the file must be an object', ''],
    ['nothing', '', 13, 'standard input is empty', ''],
    ['deep nesting', `${'- '.repeat(20_000)}a`, 13, '', ''],
    ['deep nesting of flows', `a: ${'['.repeat(20_000)}`, 13, '', ''],
  ])('svc tenant diff refuses %s by line', async (_, file, code, words, requests) => {
    const result = await tenant('diff -', TENANT, file);
    expect([result.code, methods(result.server)], result.stderr).toEqual([code, requests]);
    expect(errorIn(result)['message']).toContain(words);
  });

  it.each(['{}', 'settings: {}\n', 'settings:\n  deduplicate_tokens: null\n'])(
    'svc tenant diff and update refuse a file that names nothing to compare: %j',
    async (file) => {
      for (const line of ['diff -', 'update --file - --yes']) {
        const result = await tenant(line, TENANT, file);
        expect([result.code, methods(result.server)]).toEqual([13, '']);
        expect(errorIn(result)['message']).toMatch(/^standard input names nothing to compare/);
      }
    },
  );

  it('svc tenant diff names the file, its tenant and that of the key', async () => {
    const other = '4c0a2f6e-0000-4000-8000-000000000009';
    const ours = `this key belongs to the TEST tenant "Acme QA" (${TENANT.id})`;
    const compared = await tenant('diff -', TENANT, `id: ${other}\nname: B\n`);
    expect(errorIn(compared)['message']).toBe(`standard input is about another tenant (${other}); ${ours}`);
    const odd = await tenant('update --file - --yes', TENANT, `id: ${KEY}\nname: B\n`);
    expect(errorIn(odd)['message']).toBe(`standard input is about another tenant; ${ours}; nothing was changed`);
  });

  it('R06: svc tenant diff shows no card number and no key that stands in a file', async () => {
    const file = 'settings:\n  brand_new_setting: "4111111111111111"\n4111111111111111: x\n';
    const { code, stdout, stderr } = await tenant('diff -', TENANT, file);
    expect(code).toBe(13);
    expect(stdout + stderr).not.toMatch(SHOWN_DIGITS);
  });
});
