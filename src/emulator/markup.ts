// Writes HTML and XML in which all texts are escaped.

import { ownMember } from '../schema/own-member.ts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Markup, whose texts are escaped. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Html = Markup;

/** Returns HTML with the values as texts, in double quotes if they are attributes. A value that is false is left out. */
export function html(parts: TemplateStringsArray, ...values: readonly (Html | string | number | false)[]): Html {
  const texts = values.map((value) =>
    value instanceof Markup ? value.text : value === false ? '' : escaped(String(value)),
  );
  return new Markup(String.raw({ raw: parts }, ...texts));
}

export function xmlElement(name: string, text: string): string {
  return `<${name}>${escaped(text)}</${name}>`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"\r\n]/g, (sign) => ownMember(ESCAPES, sign) ?? `&#${sign.charCodeAt(0)};`);
}
