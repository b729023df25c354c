import { measureCells } from './cells.ts';
import { cleanText } from './clean.ts';
import type { RenderOptions } from './format.ts';
import { drawBlock, drawPairs } from './grid.ts';
import { leafPaths } from './paths.ts';
import { columnFor, plainPalette } from './view.ts';

/**
 * One object as aligned `field  value` lines: the chosen fields, or else the known ones that it has and then
 * those that are new to us.
 */
export async function drawRecord<T>(
  value: T,
  chosen: readonly string[] | undefined,
  options: RenderOptions<T>,
): Promise<string> {
  const columns = (chosen ?? pathsOf(value, options)).map((path) => columnFor(options.view, path));
  const { lines, ruler } = await measureCells([value], columns, options);
  const labels = columns.map(({ path }) => cleanText(path));
  const pen = { ruler, palette: options.palette ?? plainPalette };
  const cells = lines[0] ?? [];
  return options.plain
    ? drawBlock(labels, cells, Infinity, pen)
    : drawPairs(labels, cells, options.width ?? Infinity, pen);
}

function pathsOf<T>(value: T, { view }: RenderOptions<T>): readonly string[] {
  const present = leafPaths(value);
  const has = new Set(present);
  return [...new Set([...view.fields.filter((field) => has.has(field)), ...present])];
}
