import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/system.ts';
import { openStore } from '../../../../src/client/store/open-store.ts';
import { readText, type Store } from '../../../../src/client/store/store.ts';
import { ARCHIVE } from '../../../../src/logs/archive/records/record.ts';
import { logAgo, startLogServer } from '../../../logs/commands/log-server.ts';
import { readBlocks } from '../../../support/readme-blocks.ts';
import { openShellHome } from '../../../support/shell-home.ts';
import { Home } from '../../../support/svc.ts';
import { hasSwift, startSwift, type Swift } from './swift.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

const top = temporaryDirectory();
const warnings: string[] = [];
let swift: Swift;

function env(): Record<string, string> {
  return {
    SVC_STATE_DIR: path.join(top, 'state'),
    AWS_ENDPOINT_URL_S3: swift.url,
    AWS_ACCESS_KEY_ID: swift.accessKeyId,
    AWS_SECRET_ACCESS_KEY: swift.secretAccessKey,
  };
}

function open(more: Record<string, string> = {}): Promise<Store> {
  const host = {
    env: { ...env(), ...more },
    bucketWork: () => path.join(top, 'archives'),
    cwd: top,
    pid: process.pid,
    isAlive: () => true,
    clock: systemClock,
    signal: new AbortController().signal,
    onWarning: (text: string) => void warnings.push(text),
  };
  return openStore(host, 's3://logs/some where', ARCHIVE);
}

async function read(store: Store, file: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.stream(file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns a recipe with values for its placeholders. */
function filledIn(recipe: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [placeholder, value]) => {
    expect(text).toContain(placeholder);
    return text.replaceAll(placeholder, value);
  }, recipe);
}

const why = hasSwift ? '' : ' (skipped: python3-swift is not installed)';

describe.skipIf(!hasSwift)(`a real S3-compatible store, OpenStack Swift${why}`, () => {
  beforeAll(async () => {
    const directory = path.join(top, 'swift');
    fs.mkdirSync(directory);
    swift = await startSwift(directory);
    const made = await new AwsClient({ ...swift, service: 's3', region: 'us-east-1' }).fetch(`${swift.url}/logs`, {
      method: 'PUT',
    });
    if (!made.ok) throw new Error(`no bucket: ${await made.text()}`);
  });
  afterAll(() => swift.stop());

  it('Swift creates, lists, returns and removes files', async () => {
    const store = await open();
    const bytes = randomBytes(3_000_000);
    await store.lock(async () => {
      const made = path.join(store.workDirectory, 'made');
      fs.writeFileSync(made, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const file = { path: made, bytes: bytes.length, sha256 };
      expect(await store.create("tenant=1/date=2026-01-31/it's (a) file+ü.gz", file)).toBe('created');
      expect(await store.create("tenant=1/date=2026-01-31/it's (a) file+ü.gz", file)).toBe('exists');
      expect(await store.create('_manifest/00000000.json', 'one\n')).toBe('created');
      expect(await store.create('_manifest/00000000.json', 'two\n')).toBe('exists');
      await store.put('_manifest/head.json', '1');
      await store.put('_manifest/head.json', '22');
    });
    const found: unknown[] = [];
    for await (const { path, bytes: size } of store.list('')) found.push({ path, bytes: size });
    expect(found).toEqual([
      { path: '_manifest/00000000.json', bytes: 4 },
      { path: '_manifest/head.json', bytes: 2 },
      { path: "tenant=1/date=2026-01-31/it's (a) file+ü.gz", bytes: bytes.length },
    ]);
    expect(bytes.equals(await read(store, "tenant=1/date=2026-01-31/it's (a) file+ü.gz"))).toBe(true);
    expect(await readText(store, '_manifest/00000000.json')).toBe('one\n');
    expect(await readText(store, '_manifest/absent.json')).toBeUndefined();
    for (const _ of [1, 2]) await store.remove("tenant=1/date=2026-01-31/it's (a) file+ü.gz");
    await expect(read(store, "tenant=1/date=2026-01-31/it's (a) file+ü.gz")).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('Swift has no conditional writes, and one warning says so', async () => {
    warnings.length = 0;
    const store = await open();
    for (const name of ['a', 'b']) expect(await store.create(name, name)).toBe('created');
    expect(warnings).toEqual([expect.stringContaining('no conditional writes')]);
  });

  it('Swift refuses wrong settings, and the error names the cause', async () => {
    const wrong = await open({ AWS_SECRET_ACCESS_KEY: 'another' });
    await expect(readText(wrong, 'a')).rejects.toMatchObject({ code: 'unauthorized' });
    const elsewhere = await open({ AWS_REGION: 'eu-west-1' });
    await expect(readText(elsewhere, 'a')).rejects.toMatchObject({ hint: 'Set AWS_REGION=us-east-1.' });
  });

  it.each([1, 2])('Swift works with recipe %i for a bucket in docs/log-archive.md', async (number) => {
    const home = openShellHome();
    const file = fileURLToPath(new URL('../../../../docs/log-archive.md', import.meta.url));
    const recipes = readBlocks(fs.readFileSync(file, 'utf8')).filter(({ marks }) => marks.includes('bucket'));
    expect(recipes).toHaveLength(2);
    const script = filledIn(recipes[number - 1]?.text ?? '', {
      'https://store.example': swift.url,
      'the-key-id': swift.accessKeyId,
      'the-secret': swift.secretAccessKey,
      's3://bucket/': 's3://logs/recipes/',
    });
    const { status, stderr } = await home.run(script, { SVC_PROFILE: 'sandbox' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('no conditional writes') });
  });

  it('Swift keeps an archive that verifies', async () => {
    const [home, server] = [new Home(), await startLogServer()];
    try {
      for (let index = 0; index < 300; index += 1)
        server.logs.push(logAgo(3_600_000 * (1 + (index % 20)), `entry ${index}`, { tenant_id: 't-1' }));
      const environment = {
        ...env(),
        SVC_MANAGEMENT_API_KEY: 'a-management-key',
        SVC_BASE_URL: server.url,
        SVC_PACING: 'off',
      };
      for (const entries of [300, 0]) {
        const argv = ['logs', 'archive', '--to', 's3://logs/audit', '-o', 'json'];
        const { code, stdout, stderr } = await home.svc(argv, { env: environment });
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(JSON.parse(stdout)).toMatchObject({ entries });
      }
      const verified = await home.svc(['logs', 'verify', 's3://logs/audit'], { env: environment });
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('300 entries') });
      const found = await home.svc(['logs', 'search', 's3://logs/audit', '--grep', '^entry 7$'], { env: environment });
      expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('"entry 7"') });
    } finally {
      await server.close();
    }
  });
});
