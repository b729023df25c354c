/** Prints the given number of rows, in pages of a hundred, then writes the number of rows that were read to stderr. */
import { createRenderer } from '../../../../src/cli/app/print.ts';
import { printList } from '../../../../src/cli/output/output.ts';
import { runProgram } from './system.ts';

const [count = '1000', format = 'jsonl'] = process.argv.slice(2);
let read = 0;

async function* pages(): AsyncGenerator<{ id: string; message: string }[]> {
  while (read < Number(count)) {
    yield Array.from({ length: 100 }, (_, at) => ({ id: `row-${read + at}`, message: 'x'.repeat(80) }));
    read += 100;
  }
}

await runProgram(async ({ out }) => {
  const view = {
    name: 'row',
    fields: ['id', 'message'],
    columns: [
      { path: 'id', kind: 'id' },
      { path: 'message', kind: 'text' },
    ],
  } as const;
  const renderer = await createRenderer(format === 'table' ? 'table' : 'jsonl', {
    view,
    width: out.isTerminal ? out.width : undefined,
  });
  await printList(out, renderer, pages());
});
process.stderr.write(`read ${read}\n`);
