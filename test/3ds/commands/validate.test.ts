import { Readable } from 'node:stream';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { changed, fullBody } from '../bodies.ts';
import { Place } from './support.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';

const place = new Place();

/** Returns the error object that a failed run wrote to stderr. */
function errorOf(stderr: string): Record<string, unknown> {
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

describe('3ds validate', () => {
  it('R57: svc 3ds validate takes a right body from a file and from standard input, and says which sessions it is for', async () => {
    const file = place.file('right.json', fullBody('payment', 'recurring-transaction'));
    ended(await place.svc(['3ds', 'validate', file]), 0, {
      row: { valid: true, session_types: ['customer', 'merchant'] },
    });
    ended(
      await place.svc(['3ds', 'validate', '-', '--session-type', 'merchant'], {
        input: JSON.stringify(fullBody('payment', 'top-up')),
      }),
      0,
      { row: { file: 'standard input', session_types: ['merchant'] } },
    );
  });

  it.each([
    ['USD', 0],
    ['eur', 0],
    ['840', 0],
    ['USX', 13],
    ['US', 13],
    ['84', 13],
    [840, 13],
  ])('R57: the currency %j ends in exit %i', async (currency, code) => {
    const body = changed(fullBody(), 'purchase_info.currency', currency);
    ended(await place.svc(['3ds', 'validate', '-'], { input: JSON.stringify(body) }), code);
  });

  it('svc 3ds validate says which currencies svc sends as numbers, and nothing where none is changed', async () => {
    const both = changed(
      changed(fullBody(), 'purchase_info.currency', 'USD'),
      'merchant_info.risk_info.gift_card_currency',
      'eur',
    );
    ended(
      await place.svc(['3ds', 'validate', '-'], { input: JSON.stringify(both) }),
      0,
      'purchase_info.currency is not sent as given: svc sends its ISO 4217 number, 840',
      'gift_card_currency is not sent as given: svc sends its ISO 4217 number, 978',
    );
    const plain = await place.svc(['3ds', 'validate', '-'], { input: JSON.stringify(fullBody()) });
    expect(plain.stderr).not.toContain('ISO 4217');
  });

  it('R57: svc 3ds validate refuses with every violation as data and in words', async () => {
    const file = place.file('bad.json', { ...fullBody('payment', 'top-up'), challenge_preference: 'no-chalenge' });
    const machine = ended(await place.svc(['3ds', 'validate', file, '--session-type', 'customer']), 13, { stdout: '' });
    expect(errorOf(machine.stderr)).toMatchObject({
      code: 'refused_input',
      violations: [{ path: 'authentication_type' }, { path: 'challenge_preference', suggestion: 'no-challenge' }],
    });
    const person = await place.svc(['3ds', 'validate', file, '--session-type', 'customer', '-o', 'table']);
    expect(person.stderr).toContain('bad.json: 2 validation errors');
    expect(person.stderr).toContain('challenge_preference must be one of');
    expect(person.stderr).toContain("Did you mean 'no-challenge'?");
  });

  it('svc 3ds validate shows no more than fifty violations, and how many there are', async () => {
    const body = { ...fullBody(), ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x${at}`, 1])) };
    const { stderr } = await place.svc(['3ds', 'validate', place.file('many.json', body)]);
    const { message, violations } = errorOf(stderr);
    expect(message).toContain('many.json: 300 validation errors (the first 50 are shown)');
    expect(violations).toHaveLength(50);
  });
});

describe('contradictions', () => {
  const yen = changed(changed(fullBody(), 'purchase_info.currency', 'JPY'), 'purchase_info.amount', '500000');

  it('R95: svc 3ds validate refuses an exponent that contradicts the currency, and names the option that sends it', async () => {
    const input = JSON.stringify(yen);
    const { stderr } = ended(await place.svc(['3ds', 'validate', '-'], { input }), 13, { stdout: '' });
    const { violations, hint } = errorOf(stderr) as { violations: unknown[]; hint: string };
    const found = { rule: 'exponent', path: 'purchase_info.exponent', severity: 'error' };
    expect({ violations, hint }).toMatchObject({
      violations: [found],
      hint: expect.stringMatching(/accepts the body as is: --allow exponent\.$/),
    });
    ended(await place.svc(['3ds', 'validate', '-', '--allow', 'exponent'], { input }), 0, {
      row: { amount_text: '5,000.00 JPY', violations: [found] },
    });
  });

  it('svc 3ds validate warns of what many servers refuse, and has each warning as data', async () => {
    const body = changed(changed(fullBody(), 'purchase_info.currency', 'BGN'), 'merchant_info.country_code', '983');
    const { stdout, stderr } = succeeded(await place.svc(['3ds', 'validate', '-'], { input: JSON.stringify(body) }));
    expect((JSON.parse(stdout) as { violations: unknown[] }).violations).toMatchObject([
      { rule: 'historic-currency', path: 'purchase_info.currency', severity: 'warning' },
      { rule: 'country', path: 'merchant_info.country_code', severity: 'warning' },
    ]);
    expect(stderr).toContain('is BGN, which ISO 4217 lists as historic since 2026-01-01; EUR replaced it');
  });

  it('R95: --set of a currency sets its exponent too and says so, unless the exponent is set or allowed to differ', async () => {
    const input = JSON.stringify(fullBody());
    const set = (...words: string[]) =>
      place.svc(['3ds', 'validate', '-', '--set', 'purchase_info.currency=JPY', ...words], { input });
    const plain = await set('--set', 'purchase_info.amount=500000');
    expect(plain.stderr).toContain('purchase_info.exponent is set to 0 too, the minor units of JPY');
    expect(JSON.parse(plain.stdout)).toMatchObject({ amount_text: '500,000 JPY' });
    ended(await set('--set', 'purchase_info.exponent=2'), 13);
    const allowed = await set('--allow', 'exponent');
    expect(JSON.parse(allowed.stdout)).toMatchObject({ amount_text: '10.00 JPY' });
    expect(allowed.stderr).not.toContain('is set to');
  });

  it('--allow takes the name of a rule that can be lifted', async () => {
    for (const [rule, words] of [
      ['exponnt', "Did you mean 'exponent'?"],
      ['card-number', 'must be one of unknown-field'],
    ] as const) {
      ended(await place.svc(['3ds', 'validate', '-', '--allow', rule], { input: '{}' }), 2, words);
    }
  });
});

/** Returns a body with fields that the interface does not have, at the top level and nested. */
function unknownBody(): unknown {
  const body = changed(fullBody(), 'purchase_info.new_rate', { deep: ['x', 1] });
  return changed(body, 'newThing', 'kept');
}

it('--allow unknown-field allows unknown fields and lists them', async () => {
  const input = JSON.stringify(unknownBody());
  ended(await place.svc(['3ds', 'validate', '-'], { input }), 13);
  const run = await place.svc(['3ds', 'validate', '-', '--allow', 'unknown-field'], { input });
  expect({ code: run.code, valid: JSON.parse(run.stdout) as unknown }).toMatchObject({
    code: 0,
    valid: { valid: true, session_types: ['customer'] },
  });
  expect(run.stderr).toContain('allowed (unknown-field): purchase_info.new_rate is not a field of the interface');
  expect(run.stderr).toContain('allowed (unknown-field): newThing is not');
});

it('R57: --allow unknown-field lifts no other rule', async () => {
  const broken = changed(changed(unknownBody(), 'purchase_info.amount', '1.00'), 'cardholder_info.name', 7);
  const { code, stderr } = await place.svc(['3ds', 'validate', '-', '--allow', 'unknown-field'], {
    input: JSON.stringify(broken),
  });
  const { violations } = errorOf(stderr) as { violations: { path: string }[] };
  expect({ code, paths: violations.map(({ path }) => path) }).toEqual({
    code: 13,
    paths: ['purchase_info.amount', 'cardholder_info.name'],
  });
});

it.each([
  ['purchase_info.new_rate', { deep: [{ list: '4111 1111 1111 1111' }] }],
  ['merchant_info.new_mid', 4_111_111_111_111_111],
  ['cardholder_info.new_phone_number', { number: '4111111111111111' }],
  ['broadcast_info', { '4111111111111111': true }],
  ['new_thing', { '4111-1111-1111-1111': {} }],
])('R40: --allow unknown-field finds a card number below %s', async (path, content) => {
  ended(
    await place.svc(['3ds', 'validate', '-', '--allow', 'unknown-field'], {
      input: JSON.stringify(changed(fullBody(), path, content)),
    }),
    13,
    'looks like a card number',
    { stdout: '', unsaid: SHOWN_DIGITS },
  );
});

it('--allow unknown-field keeps the bounds on size and depth', async () => {
  const deep = `${'{"new":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  for (const input of [deep, `"${'x'.repeat(1_000_000)}"`])
    expect(await place.svc(['3ds', 'validate', '-', '--allow', 'unknown-field'], { input })).toMatchObject({
      code: 13,
    });
});

it('--allow unknown-field lets --set put strings into unknown fields, and names no odd path', async () => {
  const input = JSON.stringify(fullBody());
  const set = (path: string): ReturnType<Place['svc']> =>
    place.svc(['3ds', 'validate', '-', '--allow', 'unknown-field', '--set', `${path}=1`], { input });
  expect((await set('purchase_info.new_rate')).stderr).toContain('purchase_info.new_rate');
  for (const path of ['__proto__.x', 'a..b', 'key canary', '4111111111111111', 'cardholder_info.name.x']) {
    const { code, stderr } = await set(path);
    expect([2, 13]).toContain(code);
    expect(stderr).not.toMatch(/canary|4111/);
  }
});

function validateWith(setting: string) {
  return place.svc(['3ds', 'validate', '-', '--set', setting], { input: '{}' });
}

it('--set of an object names one of its members that --set can change', async () => {
  const { stderr } = ended(await validateWith('cardholder_info=1'), 2, 'cardholder_info is an object, not a value');
  const [, member = ''] = /such as (\S+)\.$/m.exec(stderr) ?? [];
  expect((await validateWith(`${member}=x`)).stderr).not.toMatch(/is an object|unknown/);
  expect((await validateWith('message_extensions=1')).stderr).toContain('such as message_extensions.0.id.');
});

describe('a body that cannot be read', () => {
  const deep = `${'{"broadcast_info":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const secret = 'Zebulon Quist';

  it.each<[string, string | Buffer, RegExp]>([
    ['empty', '', /is empty/],
    ['blank', ' \n', /is empty/],
    ['cut', `{"cardholder_info": {"name": "${secret}`, /line 1, column 30/],
    ['trailing garbage', `{} ${secret}`, /line 1, column 4/],
    ['two values', '{}\n{}', /line 2, column 1/],
    ['deep', deep, /nested too deeply/],
    ['NUL', '{"a": "\0"}', /line 1, column 7/],
    ['NUL bytes', Buffer.alloc(100), /line 1, column 1/],
    ['Latin-1', Buffer.from(`{"a": "M\xfcller"}`, 'latin1'), /not UTF-8/],
    ['UTF-16', Buffer.from('{"a": 1}', 'utf16le'), /line 1, column 2/],
    ['a name twice', '{"a": 1, "a": 2}', /a name is given twice/],
    ['__proto__', '{"__proto__": {}}', /__proto__/],
    ['single quotes', "{'a': 1}", /line 1, column 2/],
    ['a comma too many', '{"a": 1,}', /line 1, column 9/],
    ['a comment that does not end', '{"a": 1 /* b }', /line 1, column 9/],
    ['YAML', 'authentication_category: payment', /line 1, column 1/],
    ['10 MB', Buffer.alloc(10_000_000, ' '), /longer than 1000000 bytes/],
  ])('a body that cannot be read (%s) ends in exit 13, from a file and from a pipe', async (_, content, words) => {
    const file = place.file('odd.json', content);
    for (const run of [
      await place.svc(['3ds', 'validate', file]),
      await place.svc(['3ds', 'validate', '-'], { input: content }),
    ]) {
      expect(run).toMatchObject({ code: 13, stdout: '' });
      expect(run.stderr).toMatch(words);
      expect(run.stderr).not.toContain('Zebulon');
    }
  });

  it.each(['null', '[]', '"text"', '7'])('R57: the JSON value %s is no body', async (text) => {
    const { stderr } = ended(await place.svc(['3ds', 'validate', '-'], { input: text }), 13);
    expect(errorOf(stderr)).toMatchObject({
      violations: [{ path: '(body)', rule: 'format', message: 'must be an object' }],
      problems: ['(body) must be an object'],
    });
  });

  it('a body that cannot be read takes a byte order mark and comments, and keeps slashes in texts', async () => {
    const text = `\uFEFF// mine\n${JSON.stringify(fullBody(), undefined, 1).replaceAll(',\n', ', // why "so"\n')}// end`;
    expect(text).toContain('https://shop.example');
    succeeded(await place.svc(['3ds', 'validate', '-'], { input: text }));
  });

  it.each(['12345678901234567890', '-9007199254740993', '1e400'])(
    'a body that cannot be read is one with the number %s, which svc would send as another',
    async (number) => {
      const body = JSON.stringify({ ...fullBody(), broadcast_info: { reference: '#' } }).replace('"#"', number);
      const { code, stderr } = await place.svc(['3ds', 'validate', '-'], { input: body });
      expect([code, errorOf(stderr)['message']]).toEqual([
        13,
        'standard input contains a number that is too large to be sent exactly',
      ]);
    },
  );

  it('a body that cannot be read names what is wrong with the file itself', async () => {
    mkdirSync(join(place.path, 'dir'));
    expect((await place.svc(['3ds', 'validate', 'gone.json'])).stderr).toContain('gone.json does not exist');
    expect((await place.svc(['3ds', 'validate', 'dir'])).stderr).toContain('dir is a directory');
  });

  it('R54: a body that cannot be read does not wait for a terminal, nor for a pipe after an interrupt', async () => {
    const terminal = Object.assign(new Readable({ read: () => undefined }), { isTTY: true });
    ended(await place.svc(['3ds', 'validate', '-'], { input: terminal }), 2);
    const interrupt = new AbortController();
    const { SvcError } = await import('../../../src/base/errors.ts');
    setTimeout(() => interrupt.abort(new SvcError('interrupted', 'interrupted')), 50);
    const silent = new Readable({ read: () => undefined });
    ended(await place.svc(['3ds', 'validate', '-'], { input: silent, signal: interrupt.signal }), 130);
  });
});

/** Validates a body with values from `--set`. */
function validate(set: readonly string[], body: unknown = fullBody()): ReturnType<Place['svc']> {
  const options = set.flatMap((one) => ['--set', one]);
  return place.svc(['3ds', 'validate', '-', ...options], { input: JSON.stringify(body) });
}

describe('--set', () => {
  it('R57: --set puts values in with the type of their field, several, also where nothing was', async () => {
    const sets = [
      'purchase_info.amount=2500',
      'request_decoupled_challenge=true',
      'decoupled_challenge_max_time=30',
      'merchant_info.risk_info.reordered_purchase=false',
      'broadcast_info.a.b=1=2',
      'message_extensions.0.id=x',
      'message_extensions.0.critical=true',
      'cardholder_info.billing_address.line2=',
    ];
    succeeded(await validate(sets));
    const { stderr } = await validate(['purchase_info.amount=2,500']);
    expect(errorOf(stderr)).toMatchObject({ violations: [{ path: 'purchase_info.amount' }] });
  });

  it.each([
    ['purchase_info.amont=1', /purchase_info\.amount/],
    ['amount=1', /purchase_info\.amount/],
    ['request_decoupled_challenge=yes', /must be true or false/],
    ['decoupled_challenge_max_time=soon', /must be a number/],
    ['purchase_info=1', /is an object/],
    ['broadcast_info=1', /is an object/],
    ['message_extensions.__proto__.id=x', /unknown field/],
    ['nothing', /a name, =, and a value/],
    ['=1', /a name, =, and a value/],
  ])('the option --set %s is a usage error', async (set, words) => {
    ended(await validate([set]), 2, words);
  });

  it('--set does not hide a body that is wrong', async () => {
    ended(await validate(['purchase_info.amount=1'], []), 13);
    ended(await validate(['purchase_info.amount=1'], { ...fullBody(), purchase_info: 'x' }), 13);
    ended(await validate(['message_extensions.0.id=1'], { ...fullBody(), message_extensions: {} }), 13);
    ended(await validate(['message_extensions.5.id=1'], fullBody()), 13);
  });
});
