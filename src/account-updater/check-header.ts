import { REQUEST_COLUMNS } from '../schema/account-updater-files.ts';
import { CARD_NUMBER, checkForCards, describeBytes, foreignFormat, hasByteOrderMark } from './check-row.ts';
import { type Finding, REQUEST_HEADER } from './request-file.ts';

/** What the first line tells. */
export interface CheckedHeader {
  readonly findings: readonly Finding[];
  /** What can be made of the lines below: rows in the known columns, cells of unknown meaning, or nothing at all. */
  readonly below: 'rows' | 'cells' | 'nothing';
}

/** Checks the first line of a request file, given without its line end. */
export function checkHeader(line: Uint8Array): CheckedHeader {
  const format = foreignFormat(line);
  if (format !== undefined)
    return {
      findings: [{ rule: 'encoding', problem: `the file is ${format}: save it as CSV in UTF-8` }],
      below: 'nothing',
    };
  const marked = hasByteOrderMark(line);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(marked ? line.subarray(3) : line);
  const header = checkNames(text, line);
  return marked ? { ...header, findings: [BYTE_ORDER_MARK, ...header.findings] } : header;
}

const BYTE_ORDER_MARK: Finding = {
  rule: 'byte_order_mark',
  problem: 'the file starts with a byte order mark (EF BB BF): save it as UTF-8 without one',
};

function checkNames(text: string, line: Uint8Array): CheckedHeader {
  if (text === REQUEST_HEADER) return { findings: [], below: 'rows' };
  if (checkForCards(line).findings.length > 0) return { findings: [CARD_NUMBER], below: 'cells' };
  if (text.includes('\uFFFD'))
    return { findings: [{ rule: 'encoding', problem: `the header ${describeBytes(line)}` }], below: 'cells' };
  if (text.includes('\r')) return { findings: [BARE_RETURNS], below: 'nothing' };
  const slip = SLIPS.find((known) => known.fixed(text) === REQUEST_HEADER);
  if (slip !== undefined) return { findings: [slip.finding], below: 'rows' };
  return checkColumns(text);
}

const BARE_RETURNS: Finding = {
  rule: 'control_character',
  problem: 'lines end with carriage returns alone: end them with line feeds',
};

const EXACTLY = `write exactly ${REQUEST_HEADER}`;

// Each slip includes those above it: the first that fixes the header names it.
const SLIPS: readonly { readonly finding: Finding; readonly fixed: (text: string) => string }[] = [
  { finding: { rule: 'header_quoted', problem: `the header is quoted: ${EXACTLY}` }, fixed: unquoted },
  {
    finding: { rule: 'header_spacing', problem: `the header holds spaces: ${EXACTLY}` },
    fixed: (text) => unquoted(withoutSpaces(text)),
  },
  {
    finding: { rule: 'header_case', problem: `the header is in other letters: ${EXACTLY}` },
    fixed: (text) => unquoted(withoutSpaces(text)).toLowerCase(),
  },
];

function withoutSpaces(text: string): string {
  return text.replaceAll(/[ \t\u00a0]/g, '');
}

function unquoted(text: string): string {
  return text.replaceAll(/"([^",]*)"/g, '$1');
}

function checkColumns(text: string): CheckedHeader {
  const delimiter = [';', '\t', '|'].find(
    (sign) => namesIn(text.split(sign)).length > namesIn(text.split(',')).length,
  );
  if (delimiter !== undefined)
    return {
      findings: [
        {
          rule: 'header_delimiter',
          problem: `columns are parted by ${DELIMITERS[delimiter] ?? 'another sign'}: use commas`,
        },
      ],
      below: 'cells',
    };
  const names = text.split(',').map(plainName);
  if (namesIn(names).length === 0)
    return {
      findings: [
        { rule: 'header_absent', problem: `the first line is no header: put ${REQUEST_HEADER} above it` },
      ],
      below: names.length === REQUEST_COLUMNS.length ? 'rows' : 'cells',
    };
  return { findings: wrongColumns(names), below: 'cells' };
}

const DELIMITERS: Readonly<Record<string, string>> = { ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

function plainName(cell: string): string {
  return unquoted(cell).trim().toLowerCase();
}

function namesIn(cells: readonly string[]): string[] {
  const names = new Set(cells.map(plainName));
  return REQUEST_COLUMNS.filter((column) => names.has(column));
}

function wrongColumns(names: readonly string[]): Finding[] {
  const known: ReadonlySet<string> = new Set(REQUEST_COLUMNS);
  const missing = REQUEST_COLUMNS.filter((column) => !names.includes(column));
  const repeated = [...new Set(names.filter((name, at) => known.has(name) && names.indexOf(name) !== at))];
  const unknown = names.filter((name) => !known.has(name));
  const findings: Finding[] = [];
  if (missing.length > 0)
    findings.push({ rule: 'header_missing_column', problem: `the header lacks ${missing.join(', ')}` });
  if (repeated.length > 0)
    findings.push({
      rule: 'header_repeated_column',
      problem: `the header names ${repeated.join(', ')} twice`,
    });
  if (unknown.length > 0)
    findings.push({
      rule: 'header_unknown_column',
      problem: `the header has ${unknownNames(unknown)}: only ${REQUEST_HEADER} may stand there`,
    });
  if (findings.length === 0)
    findings.push({
      rule: 'header_order',
      problem: `the columns stand as ${names.join(', ')}: the order must be ${REQUEST_HEADER}`,
    });
  return findings;
}

/** Names are told only where they are plain words, since anything may stand in a file without a header. */
function unknownNames(names: readonly string[]): string {
  const plain = names.filter((name) => /^[a-z][a-z_ -]{0,30}$/.test(name)).slice(0, 5);
  const others = names.length - plain.length;
  const rest = others === 0 ? [] : [others === 1 ? '1 other column' : `${others} other columns`];
  return [...plain.map((name) => `the column ${name}`), ...rest].join(', ');
}
