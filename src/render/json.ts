import { escapeInJson } from './clean.ts';
import { chooseFields, projection } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';

/** Any value as JSON on one line, safe for a terminal, without a newline at the end. */
export function jsonLine(value: unknown): string {
  return escapeInJson(JSON.stringify(value) ?? 'null');
}

/** One array, streamed; a single object indented by two. */
export function jsonRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const project = projector(options);
  let count = 0;
  const element = (row: T): string => {
    count += 1;
    const text = indented(project(row)).replaceAll('\n', '\n  ');
    return `${count === 1 ? '\n' : ',\n'}  ${text}`;
  };
  return {
    begin: () => '[',
    rows: (batch) => Promise.resolve(batch.map((row) => element(row)).join('')),
    end: () => (count === 0 ? ']\n' : '\n]\n'),
    record: (value) => Promise.resolve(`${indented(project(value))}\n`),
    dropped: [],
  };
}

/** One object a line. */
export function jsonLinesRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const project = projector(options);
  const line = (value: T): string => `${jsonLine(project(value))}\n`;
  return {
    begin: () => '',
    rows: (batch) => Promise.resolve(batch.map((row) => line(row)).join('')),
    end: () => '',
    record: (value) => Promise.resolve(line(value)),
    dropped: [],
  };
}

function projector<T>(options: RenderOptions<T>): (row: T) => unknown {
  return projection(options.view, chooseFields(options.view, options.fields), options.showUrls ?? false);
}

function indented(value: unknown): string {
  return escapeInJson(JSON.stringify(value, undefined, 2) ?? 'null');
}
