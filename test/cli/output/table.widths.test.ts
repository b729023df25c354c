import { expect, it } from 'vitest';
import { tableRenderer } from '../../../src/cli/output/table.ts';
import { entryView, listText } from './views.ts';

const ROWS = [
  ['a5f1b1c2-0000-4000-8000-000000000001', 'update', 'the limit of the tenant was raised by an operator', 12],
  ['a5f1b1c2-0000-4000-8000-000000000002', 'delete', '上限はテナントの管理者によって引き上げられました', 1234],
  ['a5f1b1c2-0000-4000-8000-000000000003', '削除', 'भुगतान 🫠 👩🏽‍🚀 e\u0301', 1_000_000],
  ['日本語の識別子', 'create', 'short', 0],
].map(([id, operation, message, count]) => ({ id, created_at: '2026-11-21T11:44:56Z', operation, message, count }));

it('R50: lists and objects at 40, 80 and 200 columns show every identifier whole', async () => {
  let drawn = '';
  for (const width of [40, 80, 200]) {
    const options = { view: entryView, width };
    const list = await listText(tableRenderer(options), ROWS);
    for (const { id } of ROWS) expect(list).toContain(id);
    const [object] = ROWS.slice(1);
    drawn += `${width} columns\n${'-'.repeat(width)}\n${list}\n${await tableRenderer(options).record(object ?? {})}\n`;
  }
  await expect(drawn).toMatchFileSnapshot('table.widths.txt');
});
