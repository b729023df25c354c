import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LinesAt } from '../../../src/base/files/lines-at.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('lines are read by their offset, in any order, the last one without its line end too', () => {
  const directory = temporaryDirectory();
  const lines = Array.from({ length: 500 }, (_, number) => `${number} ü`.padEnd((number * 37) % 12_000, 'x'));
  const file = join(directory, 'lines.txt');
  writeFileSync(file, lines.join('\n'));
  const at = new LinesAt(file, 12_002);
  onTestFinished(() => at.close());
  const offsets: number[] = [];
  let offset = 0;
  for (const line of lines) {
    offsets.push(offset);
    offset += Buffer.byteLength(line) + 1;
  }
  const orders = [offsets, offsets.toReversed(), offsets.toSorted((a, b) => (a % 17) - (b % 17))];
  for (const order of orders)
    expect(order.map((offset) => at.lineAt(offset))).toEqual(order.map((offset) => lines[offsets.indexOf(offset)]));
});
