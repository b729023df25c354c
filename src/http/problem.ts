/** What an error answer says, whatever its form. Every part is optional: bodies lie. */
export interface Problem {
  /** One line for people: title, detail and field messages. */
  readonly summary: string | undefined;
  /** Messages by field, as a validation problem has them. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly requestId: string | undefined;
}

const MAX_SUMMARY = 300;
const MAX_FIELDS = 20;

/**
 * Reads an error body: problem JSON (RFC 9457), the same nested under `error`, other JSON, HTML, text,
 * cut off or empty. Never throws, never gives more than a few hundred characters.
 */
export function readProblem(body: string, contentType: string | undefined): Problem {
  const record = asRecord(parse(body));
  if (!record) return { summary: summaryOfText(body, contentType), fields: {}, requestId: undefined };
  const nested = asRecord(record['error']);
  const problem = nested ?? record;
  const fields = readFields(problem['errors'] ?? record['errors']);
  const said = [
    problem['title'],
    problem['detail'],
    problem['message'],
    problem['error_description'],
    record['error'],
  ];
  const lines = said
    .filter((part) => typeof part === 'string' && part.trim() !== '')
    .map((part) => oneLine(String(part)));
  const messages = Object.entries(fields).map(([name, texts]) =>
    name === '' ? texts.join('; ') : `${name}: ${texts.join('; ')}`,
  );
  const summary = cut([...new Set(lines), ...messages].join(' – '));
  return {
    summary: summary === '' ? undefined : summary,
    fields,
    requestId: readId(problem) ?? readId(record),
  };
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

function readFields(value: unknown): Record<string, string[]> {
  if (Array.isArray(value)) return { '': texts(value) };
  const entries = Object.entries(asRecord(value) ?? {}).slice(0, MAX_FIELDS);
  return Object.fromEntries(
    entries
      .map(([name, said]) => [cut(oneLine(name)), texts(said)] as const)
      .filter(([, said]) => said.length > 0),
  );
}

function texts(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .map(messageOf)
    .filter((text) => text !== '')
    .slice(0, MAX_FIELDS);
}

function messageOf(value: unknown): string {
  if (typeof value === 'string') return cut(oneLine(value));
  const message = asRecord(value)?.['message'];
  return typeof message === 'string' ? cut(oneLine(message)) : '';
}

function readId(record: Record<string, unknown>): string | undefined {
  const id = record['trace_id'] ?? record['traceId'] ?? record['request_id'] ?? record['requestId'];
  return typeof id === 'string' && /^[\w.:|-]{1,128}$/.test(id) ? id : undefined;
}

function summaryOfText(body: string, contentType: string | undefined): string | undefined {
  const isHtml = /html/i.test(contentType ?? '') || /^\s*<(!doctype|html)/i.test(body);
  if (isHtml) {
    const title = /<title[^>]{0,100}>([^<]{1,200})/i.exec(body.slice(0, 20_000))?.[1];
    return title === undefined
      ? 'a web page instead of JSON'
      : `a web page instead of JSON: «${oneLine(title)}»`;
  }
  const looksCut = /^\s*[[{]/.test(body);
  if (looksCut) return 'a JSON body that is cut off or damaged';
  const text = cut(oneLine(body.slice(0, 1_000)));
  return text === '' ? undefined : text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function cut(text: string): string {
  return text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY - 1)}…` : text;
}
