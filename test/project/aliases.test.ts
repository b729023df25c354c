import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const bundle = new URL('../../dist/cli/', import.meta.url);

/** The text of a package's file. */
function source(file: string): string {
  return readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
}

describe('the module aliases of rolldown.config.ts', () => {
  it('give the very classes that undici exports', () => {
    const whole = require('undici') as Record<string, unknown>;
    expect(require('undici/lib/dispatcher/client.js')).toBe(whole['Client']);
    expect(require('undici/lib/core/connect.js')).toBe(whole['buildConnector']);
  });

  it('empty modules that the packages still load', () => {
    expect(source('undici/lib/dispatcher/client-h2.js')).toContain("require('node:http2')");
    expect(source('commander/lib/command.js')).toContain("require('node:child_process')");
  });

  it('keep what they leave out of the bundle', () => {
    const chunks = readdirSync(bundle).filter((name) => name.endsWith('.cjs'));
    const text = chunks.map((name) => readFileSync(new URL(name, bundle), 'utf8')).join('\n');
    expect(text).toContain('UND_ERR_SOCKET');
    expect(text).not.toMatch(/require\([`'"]node:http2[`'"]\)/);
    expect(text).not.toMatch(/MockAgent|WebSocketStream|EnvHttpProxyAgent/);
  });
});
