import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { newListProgress, takePage } from '../../../src/cli/app/paging.ts';
import { createRenderer } from '../../../src/cli/app/print.ts';
import type { OutputFormat } from '../../../src/cli/config/values.ts';
import { printList, printRecord } from '../../../src/cli/output/output.ts';
import type { View } from '../../../src/cli/output/view.ts';
import { svcHere } from '../../support/run-here.ts';
import { outputOver, Sink } from '../output/streams.ts';

interface Row {
  readonly id: string;
}

const view: View<Row> = { name: 'row', fields: ['id'], columns: [{ path: 'id', kind: 'id' }] };

async function* source(failAfter: number): AsyncGenerator<readonly Row[]> {
  for (let at = 0; at < failAfter; at += 1) yield [{ id: `r${at}` }];
  if (failAfter < 3) throw new SvcError('network', 'the connection broke');
}

async function printed(format: OutputFormat, failAfter = 3): Promise<{ text: string; rows: number | string }> {
  const sink = new Sink();
  const renderer = await createRenderer(format, { view });
  const rows = await printList(outputOver(sink), renderer, source(failAfter)).catch(String);
  return { text: sink.text, rows };
}

describe('printList', () => {
  it('a page without items does not end a list, and one of which no item is wanted does', () => {
    const pages = [[], ['unwanted']].map((items) => ({ items, next: 'more' }));
    const taken = pages.map((page) => takePage(page, { limit: undefined }, newListProgress(), () => false));
    expect(taken.map(({ isLast }) => isLast)).toEqual([false, true]);
  });

  it('printList names a member that CSV has no column for once', async () => {
    const named: (readonly string[])[] = [];
    const renderer = await createRenderer<Row>('csv', { view, onLeftOut: (paths) => void named.push(paths) });
    const rows = ['r0', 'r1', 'r2'].map((id) => ({ id, extra: 1 }));
    await printList(
      outputOver(new Sink()),
      renderer,
      (async function* () {
        yield rows;
        yield rows;
      })(),
    );
    expect(named).toEqual([['extra']]);
  });

  it('printList writes all rows and counts them', async () => {
    expect(await printed('csv')).toEqual({ text: 'id\nr0\nr1\nr2\n', rows: 3 });
    expect(JSON.parse((await printed('json')).text)).toHaveLength(3);
  });

  it('R52: printList leaves what can be parsed when the source fails halfway', async () => {
    const { text, rows } = await printed('json', 2);
    expect(JSON.parse(text)).toEqual([{ id: 'r0' }, { id: 'r1' }]);
    expect(rows).toContain('the connection broke');
    expect((await printed('yaml', 1)).text).toBe('- id: r0\n');
  });

  it('printList writes nothing when the source fails before the first row', async () => {
    expect((await printed('json', 0)).text).toBe('');
  });

  it('printList takes a batch only after the one before was written', async () => {
    const events: string[] = [];
    const sink = new Sink();
    sink._write = (chunk: string, _encoding, taken) => {
      events.push(`write ${chunk.trim()}`);
      setImmediate(taken);
    };
    async function* noted(): AsyncGenerator<readonly Row[]> {
      for (const id of ['a', 'b']) {
        events.push(`read ${id}`);
        yield [{ id }];
      }
    }
    await printList(outputOver(sink), await createRenderer('jsonl', { view }), noted());
    expect(events).toEqual(['read a', 'write {"id":"a"}', 'read b', 'write {"id":"b"}']);
  });
});

describe('printRecord', () => {
  it('printRecord writes one object', async () => {
    const sink = new Sink();
    await printRecord(outputOver(sink), await createRenderer('table', { view }), { id: 'x' });
    expect(sink.text).toBe('id  x\n');
  });
});

describe('colors on a terminal', () => {
  it('colors on a terminal are in tables, and never in formats for programs', async () => {
    const [table, jsonl] = await Promise.all(
      ['table', 'jsonl'].map((output) => svcHere(['profile', 'list', '-o', output], { columns: 80 })),
    );
    expect(table?.stdout).toContain('\u001b[');
    expect(jsonl?.stdout).not.toContain('\u001b[');
  });
});
