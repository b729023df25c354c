import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { baseUrlText, parseBaseUrl } from '../../../src/cli/config/values.ts';

const FLAG = { kind: 'flag', name: '--base-url' } as const;
const VARIABLE = { kind: 'environment', name: 'SVC_BASE_URL' } as const;

describe('a base URL', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://API.example.com:443/', 'https://api.example.com'],
    ['  https://api.example.com/v1//  ', 'https://api.example.com/v1'],
    ['https://api.example.com:8443/a/b/', 'https://api.example.com:8443/a/b'],
    ['http://localhost:4010', 'http://localhost:4010'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1'],
    ['http://127.9.8.7', 'http://127.9.8.7'],
    ['http://[::1]:80/x', 'http://[::1]/x'],
  ])('the base URL %j is read as %s', (text, normal) => {
    expect(baseUrlText(parseBaseUrl(text, FLAG))).toBe(normal);
  });

  it.each([
    ['http://api.example.com', 'is not encrypted'],
    ['http://127.0.0.1.example.com', 'is not encrypted'],
    ['http://localhost.example.com', 'is not encrypted'],
    ['http://evil.localhost', 'is not encrypted'],
    ['http://10.0.0.1', 'is not encrypted'],
    ['ftp://api.example.com', 'is neither https nor http'],
    ['file:///etc/passwd', 'is neither https nor http'],
    ['api.example.com', 'is not a valid URL'],
    ['/v1', 'is not a valid URL'],
    ['"https://api.example.com"', 'begins and ends with a quote'],
    ["'https://api.example.com'", 'begins and ends with a quote'],
    ['', 'is not a valid URL'],
    ['https://', 'is not a valid URL'],
    ['https://canary:canary@api.example.com', 'must not contain a user name or password'],
    ['https://canary@api.example.com', 'must not contain a user name or password'],
    ['https://canary:canary@ bad host/', 'is not a valid URL'],
    ['https://api.example.com/?canary=1', 'must not contain a query'],
    ['https://api.example.com/?', 'must not contain a query'],
    ['https://api.example.com/#canary', 'must not contain a fragment'],
    ['https://api.example.com/#', 'must not contain a fragment'],
  ])('R04: %j is no base URL, and is not echoed', (text, words) => {
    for (const origin of [FLAG, VARIABLE]) {
      const error = failure(() => parseBaseUrl(text, origin));
      if (!isSvcError(error)) throw new Error('no SvcError');
      expect(error.code).toBe(origin === FLAG ? 'usage' : 'config');
      expect(error.message).toContain(`the base URL from ${origin.name} ${words}`);
      expect(`${error.stack} ${error.hint} ${String(error.cause)}`).not.toContain('canary');
    }
  });
});

function failure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
