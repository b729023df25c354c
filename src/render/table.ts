import { measureCells } from './cells.ts';
import { chooseFields } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';
import { drawBlock, drawRow, type Cell, type Pen } from './grid.ts';
import { ColumnPlan } from './plan.ts';
import { drawRecord } from './record.ts';
import { columnFor, plainPalette, type Column } from './view.ts';

/**
 * A streaming table: two spaces between columns, no borders, no spaces at a line's end. On a terminal text
 * shrinks first, then columns of low priority drop, and when even that does not fit each row becomes a block of
 * `field: value` lines, as each does where the table is to be plain. Elsewhere nothing is cut.
 */
export function tableRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width = Infinity, palette = plainPalette, plain = false } = options;
  const chosen = chooseFields(view, options.fields);
  const columns = chosen?.map((path) => columnFor(view, path)) ?? view.columns;
  const names = columns.map(({ header, path }) => header ?? path);
  const plan = new ColumnPlan(columns, width, chosen === undefined);
  let begun = false;

  return {
    begin: () => '',
    end: () => '',
    record: (value) => drawRecord(value, chosen, options),
    rows: async (batch) => {
      if (batch.length === 0) return '';
      const { lines, ruler } = await measureCells(batch, columns, options);
      const pen: Pen = { ruler, palette };
      const header = headerOf(columns, names);
      const widths = plain ? undefined : plan.widthsFor(begun ? lines : [header, ...lines]);
      const first = !begun;
      begun = true;
      if (widths === undefined) {
        const room = plain ? Infinity : width;
        const blocks = lines.map((line) => drawBlock(names, line, room, pen));
        return (first ? '' : '\n') + blocks.join('\n');
      }
      const drawn = (first ? [header, ...lines] : lines).map((line) =>
        drawRow(
          plan.shown.flatMap((at) => line[at] ?? []),
          widths,
          pen,
        ),
      );
      return drawn.join('');
    },
    get dropped() {
      return columns.filter((_, at) => !plan.shown.includes(at)).map(({ path }) => path);
    },
  };
}

// A heading over identifiers or times is as wide as it is; over text it may shrink, over numbers it moves right.
function headerOf<T>(columns: readonly Column<T>[], names: readonly string[]): Cell[] {
  return columns.map(({ kind }, at) => {
    const text = names[at] ?? '';
    return { text, width: text.length, kind, tone: 'strong' };
  });
}
