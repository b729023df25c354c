import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logFromLine, logText } from '../../../src/client/api/logs.ts';
import { readSegment } from '../../../src/logs/archive/read-segment.ts';
import { SegmentIndex } from '../../../src/logs/archive/segment-index.ts';
import { SegmentFile } from '../../../src/logs/archive/segment.ts';
import type { Log } from '../../../src/schema/log.ts';
import { MemoryStore } from './memory-store.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Writes a segment with these lines, raw or not, and returns the entries read from it. */
async function read(lines: readonly string[], { among, isRaw = false }: { among?: string[]; isRaw?: boolean } = {}) {
  const store = new MemoryStore('');
  const bytes = gzipSync(lines.map((line) => `${line}\n`).join(''));
  const path = `tenant=t/date=2026-01-05/part-00000001-0.${isRaw ? 'raw' : 'jsonl'}.gz`;
  store.files.set(path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const segment = { path, sha256, bytes: bytes.length, entries: lines.length };
  const logs: Log[] = [];
  for await (const batch of readSegment(store, segment, { among })) logs.push(...batch);
  return logs;
}

/** A string of JSON in which any character may be escaped, as a service may write it. */
function written(text: string, escapes: readonly number[]): string {
  const characters = Array.from({ length: text.length }, (_, index) => {
    const character = text.charAt(index);
    const code = `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
    const choices = [JSON.stringify(character).slice(1, -1), code, code.toUpperCase().replace('U', 'u')];
    if (character === '/') choices.push(String.raw`\/`);
    return choices[(escapes[index % escapes.length] ?? 0) % choices.length] ?? '';
  });
  return `"${characters.join('')}"`;
}

const IDS = ['a1-b2', 'a/b', '', 'x"y', String.raw`x\y`, 'ü', '\u{1f600}', 'a', '\ufffd', 'né/"', ' '];
const id = fc.constantFrom(...IDS);
const escapes = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3), { minLength: 1, maxLength: 4 });
const value = fc.oneof(
  fc.tuple(id, escapes).map(([text, how]) => written(text, how)),
  fc.tuple(fc.string({ unit: anyCharacter }), escapes).map(([text, how]) => written(text, how)),
  fc.constantFrom('null', '12345678901234567890', '-0', '1e400', 'true', '{"entity_id":"a1-b2"}', '["a1-b2"]'),
);
const member = fc
  .tuple(fc.constantFrom('entity_id', 'entity_id', 'actor_id', 'message', '__proto__', 'a1-b2'), escapes, value)
  .map(([name, how, text]) => `${written(name, how)}:${text}`);
const line = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(',')}}`);

/** Writes a segment in which each entry is so long that it has a column of its own. */
async function segmentOfColumns(count: number) {
  const kind = { tenantId: 't', day: '2026-01-05', supplementary: false, isRaw: false };
  const segment = new SegmentFile(path.join(temporaryDirectory(), 'segment'), kind);
  for (let at = 0; at < count; at += 1) {
    const log = { created_at: 'unknown', entity_id: `id-${at}`, message: 'x'.repeat(4 * 1024 * 1024) };
    await segment.add({ log, at: undefined });
  }
  return segment.close();
}

describe('a segment read for some values', () => {
  it('R69: of the columns of a segment only those are read that the index does not rule out', async () => {
    const { file, entries, index } = await segmentOfColumns(4);
    const store = new MemoryStore('');
    store.files.set('segment', readFileSync(file.path));
    const [found, read]: [Log[], number[]] = [[], []];
    const segment = { path: 'segment', sha256: file.sha256, bytes: file.bytes, entries };
    const all = SegmentIndex.of(index ?? Buffer.alloc(0), segment)?.columns ?? [];
    const columns = { columns: all, wanted: [1, 3] };
    const options = { columns, onBytes: (bytes: number) => void read.push(bytes) };
    for await (const batch of readSegment(store, segment, options)) found.push(...batch);
    expect(found.map((log) => log.entity_id)).toEqual(['id-1', 'id-3']);
    expect(read).toEqual([1, 3].map((at) => all[at]?.[0]));
  });

  it('R69: reading for some values returns every entry with one of them, however it is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (lines, among, isRaw) => {
          const isWanted = ({ entity_id: found }: Log): boolean => among.includes(found ?? 'none');
          const found = await read(lines, { among, isRaw });
          expect(found.filter(isWanted).map(logText)).toEqual(lines.map(logFromLine).filter(isWanted).map(logText));
        },
      ),
      { numRuns: process.env['SOAK'] === '1' ? 20_000 : 120 },
    );
  });

  it('reading for some values returns almost no other entries', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `{"entity_id":"id-${index}","message":"a \\"b\\" \\n"}`);
    const found = await read(lines, { among: ['id-7', 'id-49999'] });
    expect(found.map(({ entity_id: one }) => one)).toEqual(['id-7', 'id-49999']);
  });

  it('reading for some values works for lines longer than a decompressed chunk', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => {
      const message = `${index} `.repeat(60_000 * (index % 4));
      return JSON.stringify({ entity_id: `id-${index % 3}`, message, created_at: '' });
    });
    expect((await read(lines)).map(logText)).toEqual(lines);
    const found = await read(lines, { among: ['id-2'] });
    expect(found.map(logText)).toEqual(lines.filter((_, index) => index % 3 === 2));
  });

  it('R61: an entry that takes a whole response of 64 MiB is read, and a longer line ends the command', async () => {
    const entry = JSON.stringify({ entity_id: 'id-1', message: 'x'.repeat(64 * 1024 * 1024 - 100), created_at: '' });
    expect((await read([entry])).map(({ message }) => message?.length)).toEqual([64 * 1024 * 1024 - 100]);
    await expect(read([entry + ' '.repeat(1024 * 1024)])).rejects.toThrow('a line that is too long for an entry');
  });
});
