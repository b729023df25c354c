import { getNodeValue, stripComments } from 'jsonc-parser';
import type * as Yaml from 'yaml';
import { SvcError } from '../../../base/errors.ts';
import { ownMember } from '../../../schema/own-member.ts';
import { JsonFault, positionOf, readJson } from '../../config/json-text.ts';
import type { Context } from '../command.ts';
import { refuseInexactNumber } from '../inexact-number.ts';
import { readTextFile } from './text-file.ts';

/** The value in a file, and the line where each member begins. */
export interface DataFile {
  /** The name of the file in messages. */
  readonly name: string;
  readonly value: unknown;
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/**
 * Reads YAML, or JSON with `//` comments, in UTF-8 from a file or from standard input for `-`. Messages never quote the
 * content.
 * @throws SvcError `refused_input` with the line of a syntax error; `local` if the file cannot be read
 */
export async function readDataFile(context: Context, typed: string): Promise<DataFile> {
  const { name, text } = await readTextFile(context, typed);
  // Comments become spaces, so that line numbers do not change.
  const json = stripComments(text, ' ');
  const isJson = /^\s*(?:[[{]|$)/.test(json);
  // The JSON reader explains syntax errors better; only the YAML reader knows the line of each member.
  const value = isJson ? jsonIn(text, name) : undefined;
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(isJson ? json : text, { lineCounter: lines, prettyErrors: false });
  const lineOf: DataFile['lineOf'] = (path) => {
    const at = offsetOf(yaml, document, path);
    return at === undefined ? undefined : lines.linePos(at).line;
  };
  return { name, value: isJson ? value : valueOf(document, lines, name), lineOf };
}

/**
 * Reads JSON in UTF-8 from a file, or from standard input for `-`; `//` comments are allowed. Messages never quote the
 * content.
 * @throws SvcError `refused_input` with the line of a syntax error, or for a number that cannot be sent exactly; `local` if
 *   the file cannot be read
 */
export async function readJsonBody(context: Context, typed: string): Promise<unknown> {
  const { name, text } = await readTextFile(context, typed);
  const body = jsonIn(text, name);
  refuseInexactNumber(body, name);
  return body;
}

function jsonIn(text: string, name: string): unknown {
  try {
    return getNodeValue(readJson(text, 'comments'));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { line, column } = positionOf(text, error.at);
    const isEmpty = text.trim() === '';
    const problem = isEmpty ? 'is empty' : `is not JSON: line ${line}, column ${column}: ${error.message}`;
    throw new SvcError('refused_input', `${name} ${problem}`, {
      hint: isEmpty ? 'Check that it is the right file.' : 'Fix it there and run the command again.',
      facts: { line, column },
    });
  }
}

function valueOf(document: Yaml.Document.Parsed, lines: Yaml.LineCounter, name: string): unknown {
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined)
    throw notYaml(name, ownMember(PROBLEMS, problem.code) ?? 'not valid YAML', lines.linePos(problem.pos[0]).line);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError) throw notYaml(name, 'aliases are not read: write the value out');
    throw error;
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'a member is given twice',
  MULTIPLE_DOCS: 'a second document begins',
  TAB_AS_INDENT: 'indented with a tab',
  BAD_INDENT: 'wrong indentation',
};

function notYaml(name: string, what: string, line?: number): SvcError {
  const where = line === undefined ? '' : `line ${line}: `;
  return new SvcError('refused_input', `${name} cannot be read: ${where}${what}`, {
    hint: 'Fix it there and run the command again.',
    ...(line !== undefined && { facts: { line } }),
  });
}

/** Finds where a member begins: at its name, or at the item of a list. */
function offsetOf(
  { isMap, isNode, isScalar, isSeq }: typeof Yaml,
  document: Yaml.Document,
  path: readonly (string | number)[],
): number | undefined {
  let node: unknown = document.contents;
  let start: number | undefined;
  for (const part of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === part) : undefined;
    if (isSeq(node)) node = node.items[Number(part)];
    else node = pair?.value;
    const named = pair === undefined ? node : pair.key;
    start = isNode(named) ? named.range?.[0] : undefined;
  }
  return start;
}
