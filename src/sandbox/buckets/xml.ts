const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** An element that holds text. */
export function element(name: string, text: string): string {
  return `<${name}>${escape(text)}</${name}>`;
}

/** A document, of elements that are XML already. */
export function xmlDocument(name: string, inner: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${NAMESPACE}">${inner.join('')}</${name}>`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\r\n]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
