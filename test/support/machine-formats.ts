import { parse as parseCsv } from 'csv-parse/sync';
import { parseDocument } from 'yaml';
import type { Command } from '../../src/cli/app/command.ts';

/** The parser of each format, which throws if a text is malformed. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text) as unknown,
  jsonl: (text) => lines(text).map((line) => JSON.parse(line) as unknown),
  csv: (text) => parseCsv(text, { columns: true }),
  yaml: (text) => {
    const document = parseDocument(text);
    if (document.errors[0] !== undefined) throw document.errors[0];
  },
};

export const MACHINE_FORMATS = Object.keys(PARSERS);

/** Returns why output is malformed; undefined if it is not. A command without fields prints no data to parse. */
export function faultIn({ fields }: Command, format: string, text: string): unknown {
  if (text === '' || fields === undefined) return undefined;
  try {
    PARSERS[format]?.(text);
    return undefined;
  } catch (error) {
    return { format, text, error };
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
