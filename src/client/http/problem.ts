// Reads the bodies of error responses.

import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import { cut, describeText, plainId, plainLine } from './foreign-text.ts';

/** The content of an error response. */
export interface Problem {
  /** One line for people: title, detail and the messages about fields. */
  readonly summary: string | undefined;
  /** The messages about each field. Messages about no field have an empty name. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly requestId: string | undefined;
  /** Whether the body is an error of the service, not a page of a gateway. */
  readonly isFromService: boolean;
}

const MAX_FIELDS = 20;
const MAX_LEVELS = 3;
const MESSAGES = ['title', 'message', 'detail', 'error_description', 'reason', 'msg', 'description'];
const CODES = ['code', 'error_code', 'errorCode', 'type'];

/**
 * Reads an error body: problem JSON (RFC 9457), also nested under `error` (twice in a 424), other JSON, HTML or text, whether
 * complete, cut off or empty. Never throws. The summary has at most 300 characters.
 */
export function readProblem(body: string, contentType: string | undefined): Problem {
  const json = parsedJson(body);
  const record = Array.isArray(json) ? { errors: json as unknown } : objectOrUndefined(json);
  if (!record) {
    const summary = json === null ? undefined : describeText(typeof json === 'string' ? json : body, contentType);
    return { summary, fields: {}, requestId: undefined, isFromService: false };
  }
  // The innermost error comes first: it is the most specific, and the end of the summary may be cut off.
  const levels = levelsOf(record).toReversed();
  const fields = readFields(levels.find((level) => level['errors'] !== undefined)?.['errors']);
  const lines = distinctLines(levels.flatMap((level) => [...MESSAGES.map((name) => level[name]), level['error']]));
  const fieldLines = Object.entries(fields).map(([name, list]) => (name === '' ? '' : `${name}: `) + list.join('; '));
  const messages = [...lines, ...fieldLines];
  const codes = distinctLines(levels.flatMap((level) => CODES.map((name) => level[name])));
  const summary = cut((messages.length > 0 ? messages : codes).join(' – '));
  return {
    summary: summary === '' ? undefined : summary,
    fields,
    requestId: levels.map(requestIdIn).find((id) => id !== undefined),
    isFromService: summary !== '' && !Array.isArray(json),
  };
}

/** Returns an error body and the bodies nested under its `error`. */
function levelsOf(record: Record<string, unknown>): Record<string, unknown>[] {
  const levels = [record];
  let inner = objectOrUndefined(record['error']);
  for (; inner !== undefined && levels.length < MAX_LEVELS; inner = objectOrUndefined(inner['error']))
    levels.push(inner);
  return levels;
}

function distinctLines(values: readonly unknown[]): string[] {
  const lines = values.filter((value) => typeof value === 'string').map(plainLine);
  return [...new Set(lines)].filter((line) => line !== '' && line !== 'about:blank');
}

function readFields(errors: unknown): Record<string, string[]> {
  const lists = Array.isArray(errors)
    ? [['', errors] as const]
    : Object.entries(objectOrUndefined(errors) ?? {}).slice(0, MAX_FIELDS);
  const fields = lists.map(([name, value]) => [plainLine(name), messagesIn(value)] as const);
  return Object.fromEntries(fields.filter(([, messages]) => messages.length > 0));
}

function messagesIn(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .slice(0, MAX_FIELDS)
    .map(messageOf)
    .filter((text) => text !== '');
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return plainLine(value);
  const record = objectOrUndefined(value) ?? {};
  return distinctLines(MESSAGES.map((name) => record[name])).join(' – ');
}

function requestIdIn(record: Record<string, unknown>): string | undefined {
  return plainId(record['trace_id'] ?? record['traceId'] ?? record['request_id'] ?? record['requestId']);
}
