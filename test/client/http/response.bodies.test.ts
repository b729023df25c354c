import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { answer, head, json } from '../../support/fault-steps.ts';
import { CANARY, expectClean, failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const HTML = { 'content-type': 'text/html' };
const JSON_TYPE = { 'content-type': 'application/problem+json' };
const PAGE = '<!DOCTYPE html>\n<html><head>\n<title>\n 502 Bad\n Gateway </title></head><body><h1>nginx</h1>';

/** Bodies of a 400 response, each with the required end of the error message. */
const ERRORS: readonly (readonly [what: string, body: string | Buffer, end: string, type?: typeof HTML])[] = [
  ['a problem', '{"title":"Bad","detail":"size too big","status":400,"type":"about:blank"}', ': Bad – size too big'],
  ['a problem nested under error', '{"error":{"title":"Bad","detail":"size"}}', ': Bad – size'],
  ['a text under error', '{"error":"invalid_size","error_description":"too big"}', ': too big – invalid_size'],
  [
    'a map of errors',
    '{"title":"Validation","errors":{"name":["is long","is odd"],"x.y":"bad"}}',
    ': Validation – name: is long; is odd – x.y: bad',
  ],
  ['a list of errors', '{"errors":[{"message":"one"},"two",{"detail":"three"},4]}', ': one; two; three'],
  ['a map of errors nested under error', '{"error":{"errors":{"name":["is long"]}}}', ': name: is long'],
  ['a list alone', '["one",{"message":"two"}]', ': one; two'],
  ['other JSON', '{"code":"E-17","data":[1,2]}', ': E-17'],
  ['JSON that says nothing', '{"a":{"b":{"c":1}}}', ''],
  ['null', 'null', ''],
  ['a text as JSON', '"not today"', ': not today'],
  ['a page', PAGE, ': a web page instead of JSON: «502 Bad Gateway»', HTML],
  ['a page that says it is JSON', PAGE, ': a web page instead of JSON: «502 Bad Gateway»', JSON_TYPE],
  ['a page without a title', '<html>', ': a web page instead of JSON', HTML],
  ['nothing', '', ''],
  ['space', ' \r\n\t ', ''],
  ['a long space before a text', `${' '.repeat(6_000)}Error: bad`, ': Error: bad'],
  ['a long space within a text', `size${' '.repeat(6_000)}is 7`, ': size is 7'],
  ['a text before more space than is read', `size is${' '.repeat(200_000)}7`, ': size is'],
  ['plain text', 'size\r\n  is\ttoo big\n', ': size is too big'],
  ['cut JSON', '{"title":"Bad","detail":"si', ': a JSON body that is cut off or damaged'],
  ['5 MB of JSON', JSON.stringify({ title: 'x'.repeat(5_000_000) }), ': a JSON body that is cut off or damaged'],
  ['5 MB of text', 'word '.repeat(1_000_000), `: ${'word '.repeat(59)}word…`],
  ['JSON after a byte order mark', '\uFEFF{"title":"Bad"}', ': Bad'],
  ['bytes', Buffer.from(Array.from({ length: 999 }, (_, n) => (n * 37) % 256)), ': a body that is not text'],
  ['Latin-1', Buffer.from('schon zu groß', 'latin1'), ': schon zu gro\uFFFD'],
  ['control characters', '{"title":"a\\u001b[31mred\\u0000\\u202e\\u200b\\ud800"}', ': a [31mred'],
  [
    'the key',
    JSON.stringify({ title: `key ${CANARY} is odd`, errors: { [CANARY]: ['x'] } }),
    ': key (the key) is odd – (the key): x',
  ],
  [
    'the key in base64 at the end of the line',
    JSON.stringify({ title: `${'x '.repeat(140)}${btoa(CANARY)} more` }),
    `: ${'x '.repeat(140)}(the key)${btoa('Lm')} more`,
  ],
  ['a signed address', '{"title":"see https://s.example/a?sig=abc&x=1 there"}', ': see https://s.example/a?… there'],
  ['a card number', '{"title":"pan 4242 4242 4242 4242 is bad"}', ': pan 424242••••••4242 is bad'],
  ['a prototype', '{"__proto__":{"title":"evil"},"constructor":"x","errors":{"__proto__":["y"]}}', ': __proto__: y'],
  ['a deep nest', '['.repeat(30_000) + ']'.repeat(30_000), ''],
];

const CASES = ERRORS.map(([what, body, end, type = JSON_TYPE]) => ({ what, body, end, type }));

describe('an error body that holds', () => {
  it.each(CASES)('R21: $what gives one clean line with status and request id', async ({ body, end, type }) => {
    const server = await serve([answer(400, body, { ...type, 'x-request-id': 'req-1' })]);
    const error = await failureOf(makeCore(server.url).call({ ...READ, subject: 'the logs' }));
    expect(error).toMatchObject({ code: 'rejected', exitCode: 6, status: 400, requestId: 'req-1' });
    const start = 'the service rejected the request (400): the logs';
    expect(error.message).toBe(start + end);
  });

  it('R21: a trace id of its own names it where no header does', async () => {
    for (const [body, id] of [
      ['{"title":"x","trace_id":"t-1"}', 't-1'],
      ['{"error":{"traceId":"t-2"}}', 't-2'],
      [`{"request_id":"${'x'.repeat(200)}"}`, undefined],
      ['{"request_id":"a b"}', undefined],
      [`{"request_id":"${CANARY}"}`, undefined],
    ] as const) {
      const server = await serve([answer(422, body)]);
      expect((await failureOf(makeCore(server.url).call(READ))).requestId).toBe(id);
    }
  });

  it('R06 and R21: headers that echo the key never bring it into an error', async () => {
    for (const status of [302, 400, 401, 404, 429, 503]) {
      const server = await serve([
        answer(status, CANARY, {
          'x-request-id': CANARY,
          location: `https://${CANARY}.example/`,
          'retry-after': CANARY,
        }),
      ]);
      const error = await failureOf(makeCore(server.url).call(READ));
      expect(error.requestId).not.toBe(CANARY);
    }
  });

  it('R21: fields of a validation are given apart for scripts, at most twenty', async () => {
    const errors = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, ['bad', 7, '']]));
    const server = await serve([json({ errors }, 422)]);
    const error = await failureOf(makeCore(server.url).call(READ));
    const fields = error.facts?.['fields'] as Record<string, string[]>;
    expect(Object.keys(fields)).toHaveLength(20);
    expect(fields['f0']).toEqual(['bad']);
    expectClean(error);
  });

  it('R21: a huge error body is not read to its end', async () => {
    let sent = 0;
    function* endless(): Generator<string> {
      yield head(403, { 'content-length': '500000000' });
      for (const piece = 'x'.repeat(65_536); sent < 500_000_000; sent += piece.length) yield piece;
    }
    const server = await serve([{ on: 'request', act: (socket) => void Readable.from(endless()).pipe(socket) }]);
    await failureOf(makeCore(server.url).call(READ));
    // The limit covers the bytes that were read and the buffers of both sides.
    expect(sent).toBeLessThan(50_000_000);
    await expect.poll(() => server.openConnections).toBe(0);
  });
});

const SHAPE = z.looseObject({ id: z.string() });

describe('a good answer that holds', () => {
  it.each([
    ['a page', PAGE, 'a web page instead of JSON: «502 Bad Gateway»'],
    ['nothing', '', 'an empty body'],
    ['cut JSON', '{"id": "', 'a JSON body that is cut off or damaged'],
    ['text', 'ok', 'ok'],
    ['bytes', Buffer.alloc(100, 3), 'a body that is not text'],
    ['null', 'null', 'the whole body: Invalid input: expected object, received null'],
    ['a list', '[]', 'the whole body: Invalid input: expected object, received array'],
    ['an object without a needed field', '{"ID":"x"}', 'id is missing'],
    ['a needed field of another type', '{"id":7}', 'id: Invalid input: expected string, received number'],
    ['the key', `gone ${CANARY}`, 'gone (the key)'],
    ['the key at the end of the line', `${'x '.repeat(145)}${CANARY}`, `${'x '.repeat(145)}(the key)`],
    ['a hundred thousand addresses', 'http://'.repeat(100_000), `${'http://'.repeat(50).slice(0, 299)}…`],
    [
      'a card number where reading ends',
      `${'x '.repeat(100)}${' '.repeat(99_790)}4242 4242 4242 4242`,
      `${'x '.repeat(99)}x`,
    ],
    [
      'a card number where a line with a long address ends',
      `http://a/?${'q'.repeat(4_970)} is 4242 4242 4242 4242`,
      'http://a/?… is',
    ],
  ])('R21: %s is one clean line with status and request id', async (_, body, end) => {
    const server = await serve([answer(200, body, { 'x-request-id': 'req-1' })]);
    const error = await failureOf(makeCore(server.url).call({ ...READ, shape: SHAPE }));
    expect(error).toMatchObject({ code: 'bad_response', exitCode: 8, status: 200, requestId: 'req-1' });
    expect(error.message).toBe(
      `the response of http://127.0.0.1:${server.port} to GET /logs is malformed (200): ${end}`,
    );
    expect(server.ledger).toHaveLength(1);
  });

  it('R21: a byte order mark before good JSON is an answer', async () => {
    const server = await serve([answer(200, '\uFEFF{"id":"x"}')]);
    await expect(makeCore(server.url).call({ ...READ, shape: SHAPE })).resolves.toEqual({ id: 'x' });
  });

  it('the error of a refused request is that of the refusal, also where the expected shape does not load', async () => {
    const server = await serve([answer(400), json({})]);
    const core = makeCore(server.url);
    const request = { ...READ, shape: noShape };
    expect(await failureOf(core.call(request))).toMatchObject({ code: 'rejected', status: 400 });
    await expect(core.call(request)).rejects.toThrow('it does not load');
  });

  it('R21: a body that is not expected may be any JSON', async () => {
    const server = await serve([json({ deleted: [true] }), answer(204)]);
    const core = makeCore(server.url);
    await core.call(READ);
    await core.call(READ);
    expect(server.connections).toBe(1);
  });

  it('R87: a page where no body is expected is not from the service, so that nothing is known of a change', async () => {
    const server = await serve([answer(200, PAGE)]);
    const core = makeCore(server.url);
    expect(await failureOf(core.call({ ...READ, method: 'DELETE' }))).toMatchObject({ code: 'outcome_unknown' });
  });
});

it('R20: a long body of spaces and a text is no confirmation of a change', async () => {
  const server = await serve([answer(200, `${' '.repeat(300_000)}"no"`)]);
  const core = makeCore(server.url);
  expect(await failureOf(core.call({ ...READ, method: 'DELETE' }))).toMatchObject({ code: 'outcome_unknown' });
});

function noShape(): Promise<never> {
  return Promise.reject(new Error('it does not load'));
}
