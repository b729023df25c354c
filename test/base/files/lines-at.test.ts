import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LinesAt } from '../../../src/base/files/lines-at.ts';

it('lines are read by their offset, in any order, the last one without its line end too', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-lines-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const lines = Array.from({ length: 50 }, (_, number) => `${number} ü`.padEnd((number * 7) % 20, 'x'));
  const file = join(directory, 'lines.txt');
  writeFileSync(file, lines.join('\n'));
  const at = new LinesAt(file, 24);
  onTestFinished(() => at.close());
  const offsets = lines.map((_, number) =>
    Buffer.byteLength(
      lines
        .slice(0, number)
        .map((line) => `${line}\n`)
        .join(''),
    ),
  );
  const orders = [offsets, offsets.toReversed(), offsets.toSorted((a, b) => (a % 17) - (b % 17))];
  for (const order of orders)
    expect(order.map((offset) => at.lineAt(offset))).toEqual(order.map((offset) => lines[offsets.indexOf(offset)]));
});
