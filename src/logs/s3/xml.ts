/** The content of all elements of this name, whatever their namespace prefix; nothing for text that is no XML. */
export function elements(xml: string, name: string): string[] {
  const begin = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>`, 'g');
  const end = new RegExp(`</(?:\\w{1,32}:)?${name}\\s{0,10}>`, 'g');
  const found: string[] = [];
  for (;;) {
    const opened = begin.exec(xml);
    end.lastIndex = begin.lastIndex;
    const closed = opened && end.exec(xml);
    if (!closed) return found;
    found.push(xml.slice(begin.lastIndex, closed.index));
    begin.lastIndex = end.lastIndex;
  }
}

/** The text of the first element of this name, with its entities decoded; undefined where there is none. */
export function elementText(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name);
  return first === undefined ? undefined : decodeEntities(first.trim());
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|quot|apos|amp));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
