// Finds elements in the XML of object stores, without a full parser.

import { ownMember } from '../../schema/own-member.ts';

/** Returns the decoded text of the first element of this name, with any namespace prefix; undefined if there is none. */
export function elementText(xml: string, name: string): string | undefined {
  const text = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>([^<]{1,8000})`, 'i').exec(xml)?.[1];
  return text?.trim().replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|quot|apos|amp));/gi, decodedEntity);
}

function decodedEntity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ownMember(ENTITIES, name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Returns the content of all elements of this name, with any namespace prefix. */
export function elements(xml: string, name: string): string[] {
  const begin = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>`, 'g');
  const end = new RegExp(`</(?:\\w{1,32}:)?${name}\\s{0,10}>`, 'g');
  const contents: string[] = [];
  for (;;) {
    const opened = begin.exec(xml);
    end.lastIndex = begin.lastIndex;
    const closed = opened && end.exec(xml);
    if (!closed) return contents;
    contents.push(xml.slice(begin.lastIndex, closed.index));
    begin.lastIndex = end.lastIndex;
  }
}
