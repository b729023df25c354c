import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { logFromLine } from '../../../src/client/api/logs.ts';
import { Pending } from '../../../src/logs/archive/segment.ts';

let directory: string;

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-segment-'));
});

afterEach(() => {
  fs.rmSync(directory, { recursive: true, force: true });
});

const CLEAN = 'Token created';
const PLAIN = 'for 4111 1111 1111 1111';
const ESCAPED = String.raw`for \u0034111111111111111`;
const BROKEN = String.raw`a \"quoted\" word`;

it.each([
  { messages: [CLEAN, CLEAN], count: 0 },
  { messages: [CLEAN, PLAIN, CLEAN, PLAIN], count: 2 },
  { messages: [CLEAN, ESCAPED, PLAIN], count: 2 },
  { messages: [BROKEN, CLEAN, PLAIN], count: 1 },
])('an archive counts the entries of a batch with a card number: $messages', async ({ messages, count }) => {
  const pending = new Pending(directory, 'a-tenant', 0, { entries: 100, characters: 100_000 });
  await pending.add(
    messages.map((message) => logFromLine(`{"created_at":"2026-01-05T12:00:00Z","message":"${message}"}`)),
  );
  expect(pending).toMatchObject({ entries: messages.length, cardNumbers: count });
  pending.abandon();
});
