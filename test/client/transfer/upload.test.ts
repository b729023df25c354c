import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileSource } from '../../../src/client/transfer/source.ts';
import type { TimeLimits } from '../../../src/client/http/watchdog.ts';
import { AddressRefused, UploadUnclear } from '../../../src/client/transfer/store-errors.ts';
import { requireKnownHeaders } from '../../../src/client/transfer/address.ts';
import { SIGNATURE, signedAddress, type StoreScript, takeObject } from '../../support/fault-store.ts';
import { content, failure, sha256, SHORT, store, TINY } from './support.ts';
import { LARGE, SMALL, setup } from './uploading.ts';
import { temporaryDirectory } from '../../support/directory.ts';

describe('an upload', () => {
  it('R34: an upload sends the exact length, never chunked, and arrives byte for byte', async () => {
    let arrived: Buffer | undefined;
    const { send, target } = await setup(async (call) => {
      arrived = await takeObject(call);
    }, LARGE);
    await expect(send()).resolves.toEqual({ bytes: LARGE.length, sha256: sha256(LARGE), attempts: 1 });
    expect(arrived?.equals(LARGE)).toBe(true);
    expect(target.ledger[0]?.headers['transfer-encoding']).toBeUndefined();
  });

  it('R03 and R34: an upload sends only the headers that the address needs: no key, no agent, no type', async () => {
    const { send, target } = await setup(async (call) => void (await takeObject(call)));
    await send();
    expect(Object.keys(target.ledger[0]?.headers ?? {}).toSorted()).toEqual(['connection', 'content-length', 'host']);
  });

  it('R34: an upload names the blob type where the address is of the Azure type', async () => {
    const { send, target } = await setup(async (call) => void (await takeObject(call)));
    const url = signedAddress(target);
    url.search = `?sv=2024-01-01&sig=${SIGNATURE}`;
    await send({ url });
    expect(target.ledger[0]?.headers['x-ms-blob-type']).toBe('BlockBlob');
    expect(target.ledger[0]?.path).toBe(`/bucket/key?sv=2024-01-01&sig=${SIGNATURE}`);
  });

  it.each(['X-Amz-SignedHeaders', 'X-Goog-SignedHeaders'])(
    'R34: an upload names its type where %s is for the type',
    async (name) => {
      const { send, target } = await setup(async (call) => void (await takeObject(call)));
      const url = signedAddress(target);
      url.searchParams.set(name, 'content-type;host');
      await send({ url });
      expect(target.ledger[0]?.headers['content-type']).toBe('text/csv');
    },
  );

  it('R94: an upload address that is signed for headers that svc does not send is refused', () => {
    const url = new URL('https://store.example/key?X-Amz-SignedHeaders=host%3Bif-none-match%3Bx-amz-checksum-crc32');
    expect(() => requireKnownHeaders(url, 'j1')).toThrow(
      'job j1 is signed for headers that svc does not send: if-none-match, x-amz-checksum-crc32',
    );
    url.search = '?X-Amz-SignedHeaders=content-length;content-type;host';
    requireKnownHeaders(url, 'j1');
  });

  it('an upload sends a part of a file behind a prefix, and an empty file with length 0', async () => {
    const arrived: (Buffer | undefined)[] = [];
    const { send, file } = await setup(async (call) => void arrived.push(await takeObject(call)));
    await send({ source: await fileSource(file, { prefix: Buffer.from('head\n'), start: 10, end: 5_000 }) });
    expect(arrived[0]).toEqual(Buffer.concat([Buffer.from('head\n'), SMALL.subarray(10, 5_000)]));
    fs.writeFileSync(file, '');
    await send({ source: await fileSource(file) });
    expect(arrived[1]).toEqual(Buffer.alloc(0));
  });
});

describe('an upload that is refused', () => {
  const BODIES = [
    [
      'AWS',
      403,
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message><RequestId>R1</RequestId></Error>',
      'AccessDenied',
    ],
    ['Ceph', 403, '<Error><Code>AccessDenied</Code><RequestId>tx0001</RequestId></Error>', 'AccessDenied'],
    [
      'Azure',
      403,
      `<Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.</Message><AuthenticationErrorDetail>Signature not valid: ${SIGNATURE}</AuthenticationErrorDetail></Error>`,
      'AuthenticationFailed',
    ],
    [
      'GCS',
      400,
      `<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message><StringToSign>${SIGNATURE}</StringToSign></Error>`,
      'ExpiredToken',
    ],
    ['R2', 403, '<Error><Code>ExpiredRequest</Code><Message>Request has expired</Message></Error>', 'ExpiredRequest'],
    ['an empty body', 401, '', undefined],
  ] as const;

  it.each(BODIES)(
    'R37 and R07: an upload that is refused tells an expired address of %s apart',
    async (_name, status, body, code) => {
      const { send, target } = await setup(async (call) => {
        await call.body();
        call.reply(status, { 'content-type': 'application/xml' }, body);
      });
      const error = await failure(send());
      expect(error).toBeInstanceOf(AddressRefused);
      expect(error).toMatchObject({ storeCode: code, status, code: status === 400 ? 'rejected' : 'forbidden' });
      expect(error.message).toContain(`${status}`);
      expect(target.ledger).toHaveLength(1);
    },
  );

  it('R36: an upload that is refused sends again after 429 and a slow-body 400: there the file was not taken', async () => {
    const answers: [number, string][] = [
      [429, '<Error><Code>SlowDown</Code></Error>'],
      [429, ''],
      [400, '<Error><Code>RequestTimeout</Code></Error>'],
    ];
    const arrived: (Buffer | undefined)[] = [];
    const { send, target } = await setup(async (call, index) => {
      const answer = answers[index];
      if (!answer) return void arrived.push(await takeObject(call));
      await call.body();
      call.reply(answer[0], {}, answer[1]);
    });
    await expect(send()).resolves.toMatchObject({ attempts: 4 });
    expect(arrived[0]?.equals(SMALL)).toBe(true);
    expect(target.ledger).toHaveLength(4);
  });

  it('R17: an upload that is refused waits as long as the store asks, and gives up when that is too long', async () => {
    const { send, slept } = await setup(async (call, index) => {
      if (index === 1) return void (await takeObject(call));
      await call.body();
      call.reply(429, { 'retry-after': '7' });
    });
    await send();
    expect(slept[0]).toBeGreaterThanOrEqual(7_000);
    const other = await setup((call) => call.reply(429, { 'retry-after': '600' }));
    expect(await failure(other.send())).toMatchObject({ code: 'rate_limited', facts: { retry_after_s: 600 } });
  });

  it('R34: an upload that is refused says what a store without mercy says about the request', async () => {
    const { send } = await setup((call) => call.reply(411, {}, '<Error><Code>MissingContentLength</Code></Error>'));
    expect(await failure(send())).toMatchObject({ code: 'rejected', status: 411 });
    const other = await setup((call) => call.reply(501, {}, '<Error><Code>NotImplemented</Code></Error>'));
    expect((await failure(other.send())).message).toContain('501');
  });

  const PAGE = '<!doctype html><html><head><title>Blocked by DLP</title></head></html>';
  it('R94: an upload that a proxy refuses says so, with the title of its page, and is not sent again', async () => {
    const { send, target } = await setup(async (call) => {
      await call.body();
      call.reply(403, { 'content-type': 'text/html' }, PAGE);
    });
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'forbidden', facts: { not_from_store: true } });
    expect(error).not.toBeInstanceOf(AddressRefused);
    expect(error.message).toContain('a proxy between this machine and the store');
    expect(error.message).toContain('(403: Blocked by DLP)');
    expect(target.ledger).toHaveLength(1);
  });

  it.each([
    ['a 413 page of a proxy', 413, '<html><title>413 Request Entity Too Large</title></html>', 'a proxy between'],
    ['a 413 of the store', 413, '', 'a file of 20.0 MB is too large'],
    ['a 411', 411, '<Error><Code>MissingContentLength</Code></Error>', 'MissingContentLength'],
    [
      'EntityTooLarge',
      400,
      '<Error><Code>EntityTooLarge</Code><MaxSizeAllowed>5242880</MaxSizeAllowed></Error>',
      'it takes at most 5.2 MB',
    ],
  ])('R94: an upload that is refused with %s advises on its size', async (_, status, body, words) => {
    const { send, target } = await setup((call) => call.reply(status, {}, body), LARGE);
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'rejected', hint: expect.stringContaining('smaller files') });
    expect(error.message).toContain(words);
    expect(target.ledger).toHaveLength(1);
  });

  it('R94: an upload that breaks off twice with 502 stops and asks about the limit of a proxy', async () => {
    const { send, target } = await setup(async (call) => {
      await call.body(1_000_000);
      call.socket.pause();
      call.reply(502, { connection: 'close' });
    }, LARGE);
    const error = await failure(send());
    expect(error).toMatchObject({ code: 'server', status: 502, retryable: false });
    expect(error.message).toMatch(
      /broke off twice with 502 after at most \d+\.\d MB of 20\.0 MB: is this the limit of a proxy/,
    );
    expect(target.ledger).toHaveLength(2);
  });

  const ADVICE: readonly (readonly [code: string, status: number, expired: boolean])[] = [
    ['SignatureDoesNotMatch', 403, false],
    ['AuthorizationHeaderMalformed', 400, false],
    ['BadDigest', 400, false],
    ['ExpiredToken', 400, true],
    ['AccessDenied', 403, true],
  ];
  it.each(ADVICE)(
    'R94: an upload that is refused with %s (%i) may be due to an expired address: %s',
    async (code, status, expired) => {
      const { send } = await setup((call) => call.reply(status, {}, `<Error><Code>${code}</Code></Error>`));
      const { hint = '' } = await failure(send());
      expect(hint.includes('may have expired')).toBe(expired);
    },
  );

  it('R94: an upload that is refused because its address names the checksum of an empty file says so', async () => {
    const { send, target } = await setup((call) => call.reply(400, {}, '<Error><Code>BadDigest</Code></Error>'));
    const url = signedAddress(target);
    url.searchParams.set('x-amz-checksum-crc32', 'AAAAAA==');
    expect(await failure(send({ url }))).toMatchObject({ hint: expect.stringContaining('(x-amz-checksum-crc32)') });
  });

  it('R94: an upload is refused by a 200 that contains the error AccessDenied', async () => {
    const shares: string[] = [];
    const { send, target } = await setup(storeError('AccessDenied'));
    const error = await failure(send({ onSent: (share) => shares.push(share) }));
    expect(error.code).toBe('forbidden');
    expect(error.message).toContain('200 AccessDenied');
    expect(shares).toEqual(['some', 'all', 'some']);
    expect(target.ledger).toHaveLength(1);
  });

  it.each([
    ['the code of a store', 'AccessDenied'],
    ['a status', 403],
  ])('R94: an upload is refused by a 200 that contains an error in JSON with %s', async (_, code) => {
    const { send, target } = await setup(jsonError({ error: { code, message: 'No.' } }));
    expect(await failure(send())).toMatchObject({ code: 'forbidden', message: expect.stringContaining(`200 ${code}`) });
    expect(target.ledger).toHaveLength(1);
  });

  it('an upload is stored where a 200 contains JSON without an error', async () => {
    const { send } = await setup(jsonError({ kind: 'storage#object', error: null }));
    await expect(send()).resolves.toMatchObject({ attempts: 1 });
  });

  it.each([301, 302, 307, 308])(
    'R01: an upload that is refused follows no redirect (%i) and names its host only',
    async (status) => {
      const other = await store((call) => call.reply(200));
      const { send } = await setup((call) => call.reply(status, { location: signedAddress(other).href }));
      const error = await failure(send());
      expect(error).toMatchObject({ code: 'bad_response', status });
      expect(error.message).toContain(signedAddress(other).host);
      expect(other.ledger).toHaveLength(0);
    },
  );
});

/** Confirms a write with 200 and then reports an error, as S3 does. */
function storeError(code: string): StoreScript {
  return async (call) => {
    await call.body();
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Please try again.</Message></Error>`;
    call.reply(200, { 'content-type': 'application/xml' }, body);
  };
}

function jsonError(error: unknown): StoreScript {
  return async (call) => (await call.body(), call.reply(200, {}, JSON.stringify(error)));
}

describe('an upload whose end is unclear', () => {
  const HTML = { 'content-type': 'text/html; charset=utf-8' };
  const UNCLEAR: [string, StoreScript, TimeLimits?][] = [
    ['a reset after the body', async (call) => (await call.body(), call.reset())],
    ['a close after the body', async (call) => (await call.body(), call.close())],
    ['silence after the body', async (call) => void (await call.body()), TINY],
    ['a 500', async (call) => (await call.body(), call.reply(500))],
    ['a 503', async (call) => (await call.body(), call.reply(503))],
    ['a 504', async (call) => (await call.body(), call.reply(504))],
    ['a 502', async (call) => (await call.body(), call.reply(502))],
    ['a 200 with a web page', async (call) => (await call.body(), call.reply(200, HTML, '<html>Sign in</html>'))],
    [
      'the head of a web page',
      async (call) => (
        await call.body(),
        call.raw('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n'),
        call.close()
      ),
    ],
    ['nonsense', async (call) => (await call.body(), call.raw('NONSENSE\r\n\r\n'))],
    ['half a head', async (call) => (await call.body(), call.raw('HTTP/1.1 200 OK\r\nx:'), call.close())],
    ['a 303', async (call) => (await call.body(), call.reply(303, { location: 'https://elsewhere.example/' }))],
    ['a 202', async (call) => (await call.body(), call.reply(202))],
    ['a page without a type', async (call) => (await call.body(), call.reply(200, {}, '<!doctype html><p>Sign in'))],
    [
      'a success that breaks off before its body',
      async (call) => (await call.body(), call.raw('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n'), call.close()),
    ],
    ['a 200 with InternalError', storeError('InternalError')],
    ['a 200 with SlowDown', storeError('SlowDown')],
    ['a 200 with an error that nobody knows', storeError('OutOfCheese')],
    ['a 200 with an error in JSON', jsonError({ error: { code: 503, message: 'Backend Error' } })],
    ['a 200 with an error in JSON without a code', jsonError({ error: 'quota' })],
    ['a 200 with an error without a code', async (call) => (await call.body(), call.reply(200, {}, '<Error/>'))],
    ['a 412, which a repeated copy gets', async (call) => (await call.body(), call.reply(412))],
    ['a 409, which a repeated copy gets', async (call) => (await call.body(), call.reply(409))],
  ];

  it.each(UNCLEAR)('R36: an upload whose end is unclear is not sent again after %s', async (_name, script, limits) => {
    const { send, target } = await setup(script);
    const error = await failure(send({ limits: limits ?? SHORT }));
    expect(error).toBeInstanceOf(UploadUnclear);
    expect(error).toMatchObject({ code: 'outcome_unknown', retryable: false, facts: { bytes: SMALL.length } });
    expect(target.ledger).toHaveLength(1);
  });

  it('an upload is confirmed by a success of type text/html that has no page', async () => {
    const { send } = await setup(async (call) => (await call.body(), call.reply(200, HTML)));
    await expect(send()).resolves.toMatchObject({ attempts: 1 });
  });

  it('R15: an upload whose end is unclear tries again when nobody listens, and says so in the end', async () => {
    const { send, target, slept } = await setup(() => undefined);
    const url = signedAddress(target);
    await target.close().catch(() => undefined);
    const error = await failure(send({ url }));
    expect(error).toMatchObject({ code: 'network', retryable: true });
    expect(error.message).toContain('refused the connection');
    expect(slept).toHaveLength(4);
  });

  it('R19: an upload whose end is unclear ends at once when the signal aborts', async () => {
    const controller = new AbortController();
    const { send } = await setup((call) => void call.socket.pause(), LARGE);
    const reason = new Error('stop');
    setTimeout(() => controller.abort(reason), 100);
    await expect(send({ signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('a file that changes', () => {
  const CHANGES: [string, (file: string) => void][] = [
    ['grew', (file) => fs.appendFileSync(file, 'x')],
    ['shrank', (file) => fs.truncateSync(file, 99_000)],
    ['changed in place', (file) => fs.writeFileSync(file, Buffer.from(SMALL).fill(7, 50_000, 50_001))],
    ['was replaced', (file) => (fs.rmSync(file), fs.writeFileSync(file, content(SMALL.length, 2)))],
  ];

  it.each(CHANGES)('R35: a file that changes is not uploaded when it %s after the check', async (_name, change) => {
    const { send, target, file } = await setup(async (call) => void (await takeObject(call)));
    const source = await fileSource(file, { sha256: sha256(SMALL) });
    change(file);
    expect(await failure(send({ source }))).toMatchObject({ code: 'checksum_mismatch', exitCode: 12 });
    expect(target.ledger).toHaveLength(0);
  });

  it.each(CHANGES.slice(0, 2))(
    'R35: a file that changes is not uploaded when it %s, even when nobody hashed it before',
    async (_name, change) => {
      const { send, target, file } = await setup(async (call) => void (await takeObject(call)));
      const source = await fileSource(file);
      change(file);
      expect(await failure(send({ source }))).toMatchObject({ code: 'checksum_mismatch' });
      expect(target.ledger).toHaveLength(0);
    },
  );

  it('R35: a file that changes must be the same at the next attempt, even when nobody hashed it before', async () => {
    const { send, file, target } = await setup(async (call, index) => {
      if (index === 1) return void (await takeObject(call));
      await call.body();
      fs.writeFileSync(file, content(SMALL.length, 2));
      call.reply(429);
    });
    expect(await failure(send({ source: await fileSource(file) }))).toMatchObject({ code: 'checksum_mismatch' });
    expect(target.ledger).toHaveLength(1);
  });

  it('a file that changes is not taken from a pipe, a directory or nowhere', async () => {
    expect(await failure(fileSource(temporaryDirectory()))).toMatchObject({ code: 'local' });
    expect(await failure(fileSource(path.join(temporaryDirectory(), 'none')))).toMatchObject({ code: 'local' });
  });
});
