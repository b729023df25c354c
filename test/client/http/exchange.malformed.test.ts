import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { array, looseObject, string } from 'zod/mini';
import { head, json, raw } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const BODY = '{"id":"x"}';
const SHAPE = z.looseObject({ id: z.string() });

const SENSELESS: readonly (readonly [string, string | Buffer])[] = [
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a status line without a number', 'HTTP/1.1 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n'],
  ['an unknown version', 'HTTP/9.7 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
  ['a header with a control character in its name', 'HTTP/1.1 200 OK\r\nx\x01y: 1\r\n\r\n'],
  ['a NUL in a header', 'HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n'],
  ['a length that is no number', `HTTP/1.1 200 OK\r\ncontent-length: ten\r\n\r\n${BODY}`],
  ['a negative length', `HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n${BODY}`],
  ['chunks of nonsense', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${BODY}\r\n0\r\n\r\n`],
  [
    'a chunk that is longer than it says',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
  ['one huge header', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`],
  ['an upgrade that nobody asked for', 'HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
  ['a go-ahead that nobody asked for', `${head(100)}${head(200, { 'content-length': '10' })}${BODY}`],
  ['TLS', Buffer.from([21, 3, 3, 0, 2, 2, 40])],
];

const CUT: readonly (readonly [string, string])[] = [
  ['half a status line', 'HTTP/1.1 20'],
  ['half a header', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['fewer bytes than its length', `HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n${BODY}`],
  ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-length: 11\r\n\r\n${BODY}`],
  ['a length and chunks', `HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n${BODY}`],
  [
    'fewer bytes than its length before it closes',
    `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 11\r\n\r\n${BODY}`,
  ],
  ['chunks without end', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n${BODY}\r\n`],
];

const GOOD: readonly (readonly [string, string])[] = [
  [
    'interim answers first',
    `${head(102)}${head(103, { link: '</x>' })}HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${BODY}`,
  ],
  ['no words in its status line', `HTTP/1.1 200\r\ncontent-length: 10\r\n\r\n${BODY}`],
  ['HTTP/1.0, ended by closing', `HTTP/1.0 200 OK\r\n\r\n${BODY}`],
  [
    'chunks of odd sizes',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=y\r\n{\r\n9\r\n"id":"x"}\r\n0\r\nt: v\r\n\r\n`,
  ],
  ['more bytes than its length', `HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${BODY}trailing`],
];

describe('an answer with', () => {
  it.each(SENSELESS)('R22: %s is exit 8 in plain words, asked for once', async (_, bytes) => {
    const server = await serve([raw(bytes)]);
    const error = await failureOf(makeCore(server.url).call({ ...READ, shape: SHAPE }));
    expect(error).toMatchObject({ code: 'network', exitCode: 8 });
    expect(error.message).toMatch(
      /^no response from http:\/\/127\.0\.0\.1:\d+: (its response was not valid HTTP|the headers of its response are too long)$/,
    );
    expect(server.ledger).toHaveLength(1);
  });

  it.each(CUT)('R22: %s is exit 8 in plain words, after five attempts', async (_, bytes) => {
    const server = await serve([raw(bytes)]);
    const error = await failureOf(makeCore(server.url).call({ ...READ, shape: SHAPE }));
    expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: true });
    expect(error.message).toMatch(
      /it closed the connection before the response was complete|its response was shorter or longer than announced/,
    );
    expect(server.ledger).toHaveLength(5);
  });

  it.each([...SENSELESS, ...CUT])('R20 and R22: %s leaves the outcome of a creation unknown', async (_, bytes) => {
    const server = await serve([raw(bytes)]);
    const error = await failureOf(makeCore(server.url).call({ ...CREATE, shape: SHAPE }));
    expect(error).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
    expect(server.ledger).toHaveLength(1);
  });

  it.each(GOOD)('R22: %s is a good answer', async (_, bytes) => {
    const server = await serve([raw(bytes)]);
    await expect(makeCore(server.url).call({ ...READ, shape: SHAPE })).resolves.toEqual({ id: 'x' });
  });

  it('R22: bytes after the end of a response do not become the next answer', async () => {
    const bytes = `HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${BODY}`;
    const evil = bytes.replace('"x"', '"y"');
    const server = await serve([raw(bytes + evil, true), json({ id: 'z' })]);
    const core = makeCore(server.url);
    await expect(core.call({ ...READ, shape: SHAPE })).resolves.toEqual({ id: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(core.call({ ...READ, shape: SHAPE })).resolves.toEqual({ id: 'z' });
  });

  it('R22: more wrong values than the shape can gather is exit 8 too', async () => {
    const shape = looseObject({ data: array(looseObject({ id: string() })) });
    const server = await serve([json({ data: Array.from({ length: 150_000 }, () => 3) })]);
    const error = await failureOf(makeCore(server.url).call({ ...READ, shape }));
    expect(error).toMatchObject({ code: 'bad_response', exitCode: 8 });
    expect(error.message).toContain('the whole body: far too many wrong values');
  });
});
