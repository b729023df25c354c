import { cut, describeText, plainLine } from './service-text.ts';

/** What an error answer says, whatever its form. Every part is optional: bodies lie. */
export interface Problem {
  /** One line for people: title, detail and field messages. */
  readonly summary: string | undefined;
  /** Messages by field, as a validation problem has them; under the empty name those of no field. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly requestId: string | undefined;
  /** Whether the body is a JSON object that says something, as the service's own errors are: no page of a gateway. */
  readonly isProblem: boolean;
}

const MAX_FIELDS = 20;
const SAYING = ['title', 'message', 'detail', 'error_description', 'reason', 'msg', 'description'];
const NAMING = ['code', 'error_code', 'errorCode', 'type'];

/**
 * Reads an error body: problem JSON (RFC 9457), the same nested under `error` (twice in a 424), other JSON, HTML,
 * text, cut off or empty. Never throws, never gives more than a few hundred characters.
 */
export function readProblem(body: string, contentType: string | undefined): Problem {
  const json = parse(body);
  const record = Array.isArray(json) ? { errors: json as unknown } : asRecord(json);
  if (!record) {
    const summary = summaryOfOther(json, body, contentType);
    return { summary, fields: {}, requestId: undefined, isProblem: false };
  }
  // The innermost first: it says most, and the end may be cut.
  const levels = levelsOf(record).toReversed();
  const fields = readFields(levels.find((level) => level['errors'] !== undefined)?.['errors']);
  const lines = linesOf(levels.flatMap((level) => [...SAYING.map((name) => level[name]), level['error']]));
  const messages = Object.entries(fields).map(([name, texts]) =>
    name === '' ? texts.join('; ') : `${name}: ${texts.join('; ')}`,
  );
  const said = [...lines, ...messages];
  const summary = cut(
    (said.length > 0 ? said : linesOf(levels.flatMap((level) => NAMING.map((name) => level[name])))).join(
      ' – ',
    ),
  );
  return {
    summary: summary === '' ? undefined : summary,
    fields,
    requestId: levels.map(readId).find((id) => id !== undefined),
    isProblem: summary !== '' && !Array.isArray(json),
  };
}

const MAX_LEVELS = 3;

/** An error body and what is nested under its `error`. */
function levelsOf(record: Record<string, unknown>): Record<string, unknown>[] {
  const levels = [record];
  let inner = asRecord(record['error']);
  for (; inner !== undefined && levels.length < MAX_LEVELS; inner = asRecord(inner['error']))
    levels.push(inner);
  return levels;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function summaryOfOther(json: unknown, body: string, contentType: string | undefined): string | undefined {
  if (json === null) return undefined;
  return describeText(typeof json === 'string' ? json : body, contentType);
}

function linesOf(values: readonly unknown[]): string[] {
  const lines = values.filter((value) => typeof value === 'string').map(plainLine);
  return [...new Set(lines)].filter((line) => line !== '' && line !== 'about:blank');
}

function readFields(value: unknown): Record<string, string[]> {
  if (Array.isArray(value)) {
    const list = texts(value);
    return list.length > 0 ? { '': list } : {};
  }
  const entries = Object.entries(asRecord(value) ?? {}).slice(0, MAX_FIELDS);
  return Object.fromEntries(
    entries
      .map(([name, said]) => [plainLine(name), texts(said)] as const)
      .filter(([, said]) => said.length > 0),
  );
}

function texts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .slice(0, MAX_FIELDS)
    .map(messageOf)
    .filter((text) => text !== '');
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return plainLine(value);
  const record = asRecord(value) ?? {};
  return linesOf(SAYING.map((name) => record[name])).join(' – ');
}

function readId(record: Record<string, unknown>): string | undefined {
  const id = record['trace_id'] ?? record['traceId'] ?? record['request_id'] ?? record['requestId'];
  return typeof id === 'string' && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}
